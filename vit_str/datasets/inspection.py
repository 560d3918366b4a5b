"""What a data set holds, and what of it can be used."""

from collections.abc import Iterator
from itertools import chain, islice
from typing import Any

from tqdm import tqdm

from vit_str.datasets.rules import Rules, judged
from vit_str.datasets.skip_report import SkipReport
from vit_str.datasets.source import WordSource
from vit_str.datasets.summary import BUNDLED, QUANTILES, Summary, properties

_BAR, _LONGEST = 40, 30  # of the histogram of lengths: its width, and the last length with a row
_MOST_CHARACTERS = 40
_MOST_EXAMPLES = 10


def inspect(
    source: WordSource, rules: Rules, report: SkipReport, limit: int | None = None
) -> dict[str, Any]:
    """Look at every word and say what they are like, as plain values for JSON.

    Args:
        source: the words.
        rules: which of them can be used.
        report: gets those that cannot.
        limit: look at the first ones only.
    """
    summary = Summary()
    total = source.known_length
    total = limit if total is None else min(total, limit or total)
    entries = islice(source, limit)
    bar = tqdm(entries, total=total, unit="word", disable=None, leave=False, delay=2)
    for word in chain.from_iterable(judged(bar, rules, properties, report)):
        summary.add(word)
    skipped = {
        str(reason): {
            "count": count,
            "examples": [word.name for word in report.words[reason][:_MOST_EXAMPLES]],
        }
        for reason, count in report.counts.items()
    }
    return {
        "path": str(source.path),
        "format": source.format,
        "entries": len(summary) + report.total,
        "skipped": skipped,
        "usable": summary.to_dict(),
    }


def as_text(values: dict[str, Any], report: SkipReport) -> Iterator[str]:
    """What `inspect` returns as lines for a terminal."""
    usable = values["usable"]
    yield f"{values['path']}: {values['format']}, {values['entries']:,} words"
    yield f"{usable['words']:,} can be used, {report.total:,} are left out"
    yield from (f"  {line}" for line in report.table())
    if usable["words"]:
        yield from _lines_of_lengths({int(key): n for key, n in usable["lengths"].items()})
        yield from _lines_of_characters(usable["characters"])
        yield from _lines_of_images(usable["images"], usable["repeated"])


def _lines_of_lengths(lengths: dict[int, int]) -> Iterator[str]:
    rows = [(str(length), lengths.get(length, 0)) for length in range(1, _LONGEST + 1)]
    rows = rows[: max((length for length in lengths if length <= _LONGEST), default=0)]
    beyond = sum(count for length, count in lengths.items() if length > _LONGEST)
    if beyond:
        rows.append((f"{_LONGEST + 1}+", beyond))
    most = max(count for _, count in rows)
    yield from ("", "characters in a label")
    for length, count in rows:
        bar = "#" * round(_BAR * count / most)
        yield f"  {length:>3} {count:>11,} {bar}".rstrip()


def _lines_of_characters(characters: dict[str, Any]) -> Iterator[str]:
    classes = ", ".join(f"{number:,} {name}" for name, number in characters["kinds"].items())
    yield from ("", f"{characters['different']:,} different characters; {classes}")
    known = f"the {len(BUNDLED)} of the bundled weights"
    outside = characters["outside_bundled"]
    if not outside:
        yield f"all are among {known}"
        return
    shown = " ".join(map(_visible, list(characters["most_outside_bundled"])[:_MOST_CHARACTERS]))
    more = " ..." if outside > _MOST_CHARACTERS else ""
    yield f"{outside:,} are not among {known}: {shown}{more}"


def _visible(character: str) -> str:
    """A character as it is, or what to call it where it would not be seen."""
    if character == " ":
        return "space"
    return character if character.isprintable() else f"U+{ord(character):04X}"


def _lines_of_images(images: dict[str, Any], repeated: dict[str, int]) -> Iterator[str]:
    types = ", ".join(f"{number:,} {suffix[1:]}" for suffix, number in images["kinds"].items())
    heads = ["least", *(f"{quantile:.0%}" for quantile in QUANTILES[1:-1]), "most"]
    yield from ("", f"images: {types}", f"  {'':14}" + "".join(f"{head:>9}" for head in heads))
    for title, name, digits in (
        ("height", "height", 0),
        ("width", "width", 0),
        ("width / height", "aspect", 2),
    ):
        yield f"  {title:14}" + "".join(f"{value:>9.{digits}f}" for value in images[name])
    yield f"{images['tall']:,} are so tall that they are turned to the left before they are read"
    yield (
        f"{repeated['images']:,} are the same file as one before; "
        f"{repeated['with_other_labels']:,} files come with different labels"
    )
