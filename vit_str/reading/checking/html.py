"""A page of HTML that shows a text and the pages beside it; nothing is loaded from elsewhere."""

from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import Any

from vit_str.reading.checking.checked import Checked, CheckedWord, MissingWord

_FILES = Path(__file__).parents[2] / "web"  # which the page of the server has too
_POLICY = (
    "default-src 'none'; img-src data:; style-src 'unsafe-inline'; "
    "script-src 'unsafe-inline'"
)


def html_of(checked: Checked, pictures: Mapping[int, str], title: str) -> str:
    """A whole page; what it shows is its only element ``article``.

    Args:
        checked: what was found.
        pictures: URLs of the pages by number, see `vit_str.pages.write.previews.data_url`.
        title: name of what was checked.
    """
    low, high = checked.interval
    expected = f"{checked.expected_errors:.1f} ({low:.1f} to {high:.1f})"
    counts = {
        verdict: checked.count(verdict)
        for verdict in ("confirmed", "doubtful", "contradicted", "absent", "missing")
    }
    keys = "".join(
        f'<li class="{verdict}"><b>{count:,}</b> {verdict}</li>'
        for verdict, count in counts.items()
    )
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{_POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title>{escape(title)}</title>
<style>
body {{ margin: 0 }}
{_content("checking.css")}
</style>
</head>
<body>
<article class="checked">
<header>
<h1>{escape(title)}</h1>
<ul class="counts">{keys}</ul>
<p>Words that are probably wrong: {expected}. <kbd>n</kbd> and <kbd>p</kbd> go to the next and the
previous doubt.</p>
</header>
<main>
<section class="pages" aria-label="Pages">
{_pages(checked, pictures)}
</section>
<section class="text" aria-label="Text">
<pre>{marked_text(checked)}</pre>
</section>
</main>
<output aria-live="polite"></output>
</article>
<script type="module">
{_content("checking.js")}
activate(document.querySelector(".checked"));
</script>
</body>
</html>
"""


def marked_text(checked: Checked) -> str:
    """The text as it came, its words and those that it lacks marked."""
    parts = []
    before = 0
    waiting = sorted(enumerate(checked.missing), key=lambda each: each[1].after)
    for number, word in enumerate(checked.words):
        while waiting and waiting[0][1].after <= number:
            parts.append(_gap(*waiting.pop(0)))
        parts.append(escape(checked.text[before : word.start], quote=False))
        parts.append(_word(number, word, checked.text[word.start : word.end]))
        before = word.end
    parts += [_gap(*each) for each in waiting]
    return "".join([*parts, escape(checked.text[before:], quote=False)])


def _word(number: int, word: CheckedWord, written: str) -> str:
    stop = "" if word.verdict == "confirmed" else ' tabindex="0"'
    name = f'id="w{number}" class="word {word.verdict}"{stop}'
    return f'<span {name} data-said="{escape(_said(word))}">{escape(written)}</span>'


def _gap(number: int, word: MissingWord) -> str:
    said = f"missing: {word.text}"
    name = f'id="m{number}" class="word missing" tabindex="0"'
    return f'<span {name} data-said="{escape(said)}">{escape(word.text)} </span>'


def _said(word: CheckedWord) -> str:
    said = f"{word.verdict}, {word.probability:.1%}"
    if word.found and word.found != word.text:
        said += f"; the page says {word.found}"
        if word.found_likelihood is not None and word.likelihood is not None:
            said += f" ({word.found_likelihood:.1%}, the text {word.likelihood:.1%})"
    return said


def _pages(checked: Checked, pictures: Mapping[int, str]) -> str:
    boxes: dict[int, list[dict[str, Any]]] = {}
    for number, word in enumerate(checked.words):
        for box in word.boxes:
            assert word.page is not None
            row = {"id": f"w{number}", "verdict": word.verdict, "box": box}
            boxes.setdefault(word.page, []).append(row)
    for number, missing in enumerate(checked.missing):
        row = {"id": f"m{number}", "verdict": "missing", "box": missing.box}
        boxes.setdefault(missing.page, []).append(row)
    parts = []
    for page in checked.pages:
        drawn = "".join(map(_box, boxes.get(page.number, ())))
        size = f'viewBox="0 0 {page.width} {page.height}"'
        picture = pictures.get(page.number, "")
        shown = f'<img src="{picture}" alt="">' if picture else ""
        parts.append(
            f'<figure aria-label="Page {page.number}">{shown}<svg {size}>{drawn}</svg>'
            "</figure>"
        )
    return "\n".join(parts)


def _box(row: Mapping[str, Any]) -> str:
    left, top, right, bottom = row["box"]
    place = (
        f'x="{left:.1f}" y="{top:.1f}" width="{right - left:.1f}" '
        f'height="{bottom - top:.1f}"'
    )
    return f'<rect class="{row["verdict"]}" data-word="{row["id"]}" {place}/>'


def _content(name: str) -> str:
    return (_FILES / name).read_text(encoding="utf-8")
