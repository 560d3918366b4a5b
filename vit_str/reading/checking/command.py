"""``vit-str check``: is this text what the picture says?"""

import argparse
import os
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from vit_str import console
from vit_str.console import one_line, whole_number
from vit_str.decoding.readings import json_line
from vit_str.files import write_atomically
from vit_str.reading.checking.texts import FORMATS, format_of_name, parse_text
from vit_str.words.options import STANDARD_INPUT, add_model_arguments, check_not_read

if TYPE_CHECKING:
    from PIL import Image

    from vit_str.reading.checking.checked import Checked
    from vit_str.reading.checking.checker import PageChecker
    from vit_str.reading.checking.texts import GivenText

_EPILOG = """\
Every word of the text is confirmed; doubtful; contradicted, where the page says something else; or
absent, where no page has it. Words of the pages that the text lacks are missing. Only the pixels
decide: a misspelling that is printed is right. Quotes, dashes, ligatures, small capitals and cuts
at the ends of lines may differ.

The formats: text has a line for each word that is not confirmed: verdict, page, box, probability
that the page says so, the word, and what is read there; then a line that sums up. jsonl has an
object for each word, and one that sums up. html is a page that shows text and pages side by side.

examples:
  vit-str check page.png answer.md
  vit-str check scan.pdf ocr.hocr --pages 2 --format html --out checked.html
  some-model page.png | vit-str check page.png - && echo "nothing wrong"

exit codes: 0 nothing is wrong; 1 something is contradicted, absent or missing, or a page
could not be read; 2 wrong use, or no page could be read; 130 interrupted with Ctrl-C;
143 ended by SIGTERM."""

_MOST_BYTES = 64 << 20  # of a text through a pipe
_PLACES = 3  # of probabilities, after the point


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``vit-str check``."""
    parser.description = (
        "Check a text that something else wrote against a picture, or the pages of a "
        "PDF or TIFF file."
    )
    parser.epilog = _EPILOG
    parser.add_argument("page", metavar="PAGE", help="picture, or PDF or TIFF file")
    parser.add_argument(
        "text", metavar="TEXT", help="file of the text, or - for standard input"
    )
    parser.add_argument(
        "--format", choices=("text", "jsonl", "html"), help="default: text"
    )
    parser.add_argument("--out", metavar="FILE", help="file to write")
    parser.add_argument(
        "--text-format",
        choices=FORMATS,
        help="of TEXT (default: by its name, or by its looks)",
    )
    parser.add_argument(
        "--typography",
        action="store_true",
        help="also list words that differ in typography only",
    )
    parser.add_argument(
        "--pages",
        default="1-",
        metavar="N-M",
        help="pages that the text is of, such as 3-5 or 1,7- (default: all)",
    )
    parser.add_argument(
        "--dpi",
        type=partial(whole_number, least=30, end=1201),
        metavar="N",
        help="resolution at which PDF pages are drawn, in dots per inch (default: that of the "
        "images on them, at least 200)",
    )
    parser.add_argument(
        "--password", metavar="TEXT", help="password of a locked PDF file"
    )
    parser.add_argument(
        "--language",
        metavar="CODES",
        help="language whose letters to read, such as de, en+fr or ru (default: as "
        "the pages look)",
    )
    add_model_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Check a text and print or write what was found."""
    name = options.format or _format_of(options.out)
    if options.out is not None:
        check_not_read("--out", options.out, (options.page, options.text))
    given = _text(options)
    checked, pictures = _checked(options, given, with_pictures=name == "html")
    for error in checked.errors:
        console.warn(f"{one_line(options.page)}: {error}", "check")
    written = _WRITERS[name](checked, pictures, options)
    if options.out is None:
        console.write(written.rstrip("\n"))
    else:
        with write_atomically(options.out) as temporary:
            temporary.write_text(written, encoding="utf-8")
    return 0 if checked.is_right and not checked.errors else 1


def _format_of(out: str | None) -> str:
    suffix = Path(out).suffix.lower() if out else ""
    return {".html": "html", ".htm": "html", ".jsonl": "jsonl"}.get(suffix, "text")


def _text(options: argparse.Namespace) -> "GivenText":
    """The words that the pages should say."""
    from vit_str.reading.checking.checker import text_of_file

    path = options.text
    if path == STANDARD_INPUT:
        return parse_text(_piped(), options.text_format)
    try:
        text = text_of_file(path)
    except OSError as error:
        raise ValueError(f"{path}: {error.strerror}; check the path") from None
    format_ = options.text_format or format_of_name(path)
    try:
        return parse_text(text, format_)
    except ValueError as error:
        raise ValueError(f"{one_line(path)}: {error}") from None


def _piped() -> str:
    """The text from standard input."""
    if sys.stdin is None or sys.stdin.isatty():
        raise ValueError("- reads the text from standard input: pipe one into it")
    try:
        return sys.stdin.buffer.read(_MOST_BYTES).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError("standard input: not UTF-8 text; pipe one in UTF-8") from None


def _checked(
    options: argparse.Namespace, given: "GivenText", with_pictures: bool
) -> tuple["Checked", dict[int, str]]:
    """Findings, and the pages as URLs if they are wanted."""
    from vit_str.pages.pictures import PageOptions
    from vit_str.pages.write.previews import data_url

    wanted = PageOptions.of(
        options.pages, resolution=options.dpi, password=options.password
    )
    pictures: dict[int, str] = {}
    with console.Progress() as progress:

        def note(number: int, picture: "Image.Image") -> None:
            progress.note(f"page {number}")
            if with_pictures:
                pictures[number] = data_url(picture)

        checked = _checker(options).check(options.page, given, wanted, note)
    return checked, pictures


def _checker(options: argparse.Namespace) -> "PageChecker":
    from vit_str.decoding.search import Search
    from vit_str.reading.checking.checker import PageChecker, load_checking_reader

    search = Search(language=options.language) if options.language else None
    reader = load_checking_reader(
        options.model,
        options.device,
        backend=options.backend,
        effort=options.effort,
        search=search,
    )
    return PageChecker(reader)


def _as_text(checked: "Checked", _: dict[int, str], options: argparse.Namespace) -> str:
    lines = []
    for row in checked.rows():
        is_listed = options.typography and row["typography"]
        if row["verdict"] == "confirmed" and not is_listed:
            continue
        verdict = row["verdict"]
        if is_listed and verdict == "confirmed":
            verdict = "typography"
        box = row["boxes"][0] if row["boxes"] else ()
        cells = [
            verdict,
            str(row["page"] or ""),
            ",".join(f"{side:.0f}" for side in box),
            f"{row['probability']:.{_PLACES}f}",
            one_line(row["text"]) if row["verdict"] != "missing" else "",
            one_line(row["found"] or ""),
        ]
        lines.append("\t".join(cells))
    return "\n".join([*lines, summary_line(checked)]) + "\n"


def summary_line(checked: "Checked") -> str:
    """Counts of verdicts and the expected number of errors, in one line."""
    from vit_str.reading.checking.checked import VERDICTS

    counts = [f"{checked.count(verdict):,} {verdict}" for verdict in VERDICTS]
    low, high = checked.interval
    expected = f"{checked.expected_errors:.1f} ({low:.1f} to {high:.1f})"
    return f"{len(checked.words):,} words: {', '.join(counts)}; errors expected: {expected}"


def _as_lines(
    checked: "Checked", _: dict[int, str], options: argparse.Namespace
) -> str:
    rows = [*checked.rows(), {"summary": checked.summary()}]
    return "\n".join(map(json_line, rows)) + "\n"


def _as_html(
    checked: "Checked", pictures: dict[int, str], options: argparse.Namespace
) -> str:
    from vit_str.reading.checking.html import html_of

    return html_of(checked, pictures, os.path.basename(options.page))


_WRITERS = {"text": _as_text, "jsonl": _as_lines, "html": _as_html}
