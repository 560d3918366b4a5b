"""``vit-str render --pages``: pages of random designs with what is on them."""

import argparse
from pathlib import Path

from vit_str import console
from vit_str.console import positive, probability
from vit_str.machine import thread_count

_PROCESSES = 4  # more draw faster than most disks take


def add_arguments(group: argparse._ArgumentGroup) -> None:
    """Add the options that pages have and words lack."""
    group.add_argument(
        "--pages",
        type=positive,
        metavar="N",
        help="draw so many whole pages with their structure instead of words; needs Chromium",
    )
    group.add_argument(
        "--read",
        type=probability,
        default=0.0,
        metavar="SHARE",
        help="share of the pages that are scanned or photographed in software and read (0)",
    )
    group.add_argument(
        "--html",
        type=Path,
        metavar="FOLDER",
        help="draw the pages of .html files of your own in turns, labeled by their elements",
    )
    group.add_argument(
        "--find",
        action="store_true",
        help="write pictures of parts of the pages, and what is where on them, to train the "
        "network that finds lines: one file for a hundred pages, 3 MB",
    )
    group.add_argument(
        "--processes",
        type=positive,
        metavar="N",
        help="processes that draw pages (one per CPU, 4 at most)",
    )


def run(options: argparse.Namespace) -> int:
    """Draw pages; returns the exit code.

    Raises:
        ValueError: options of words, an unknown language, no browser, or no place to write to.
    """
    _refuse_options_of_words(options)
    families = _families(options)
    html = _own_pages(options)
    from vit_str.rendering.pages.making import PageOptions, design_of

    made = PageOptions(
        options.seed, families, options.language, options.read, html, options.find
    )
    if options.sheet:
        from vit_str.rendering.pages.sheet import write_page_sheet

        pages = range(options.start, options.start + options.pages)
        write_page_sheet(options.sheet, [design_of(page, made) for page in pages])
        console.write(f"{options.sheet}: {options.pages:,} pages")
        return 0
    from vit_str.rendering.pages.dataset import write_pages

    processes = options.processes or min(_PROCESSES, thread_count())
    write_pages(options.out, options.pages, made, options.start, processes)
    console.write(f"{options.out}: {options.pages:,} pages")
    return 0


def _own_pages(options: argparse.Namespace) -> tuple[tuple[str, str], ...]:
    """Names and texts of the user's own pages."""
    if options.html is None:
        return ()
    if options.held_out:
        raise ValueError("--held-out is of random designs; leave it out with --html")
    from vit_str.synthesis.pages.filling import ENDING

    files = sorted([*options.html.glob("*.html"), *options.html.glob(f"*{ENDING}")])
    if not files:
        raise ValueError(f"{options.html} holds no .html or {ENDING} files")
    names = [file.name.removesuffix(".html") for file in files]
    return tuple(zip(names, map(_text_of, files), strict=True))


def _text_of(file: Path) -> str:
    try:
        return file.read_text("utf-8")
    except UnicodeDecodeError:
        raise ValueError(f"{file} is no text in UTF-8") from None


def _families(options: argparse.Namespace) -> tuple[str, ...]:
    from vit_str.synthesis.pages.drawing import (
        families_to_find,
        held_out_families,
        trained_families,
    )
    from vit_str.synthesis.pages.texts import labels

    if options.language not in (None, *labels()):
        raise ValueError(
            f"--language: pages are written in {', '.join(labels())}, "
            f"found {options.language!r}"
        )
    if options.held_out:
        return tuple(held_out_families())
    return tuple(families_to_find() if options.find else trained_families())


def _refuse_options_of_words(options: argparse.Namespace) -> None:
    names = (
        "words",
        "charset",
        "fonts",
        "kit",
        "pictures",
        "show",
        "format",
        "count",
        "boxes",
        "shard_size",
        "difficulty",
        "ingredients",
    )
    given = [
        "--" + name.replace("_", "-")
        for name in names
        if getattr(options, name) not in (None, False, {})
    ]
    if given:
        raise ValueError(f"--pages takes no {' or '.join(given)}: those are of words")
    if bool(options.out) == bool(options.sheet):
        raise ValueError("say where pages go: --out FOLDER or --sheet FILE.png")
    if options.find and (options.read or options.sheet):
        raise ValueError("--find takes no --read or --sheet: pages are as drawn")
    if options.sheet:
        from vit_str.reports.sheets import check_picture

        check_picture(options.sheet)
    if options.out and Path(options.out).suffix in (".lmdb", ".tar", ".png", ".jpg"):
        raise ValueError(f"{options.out} would be a folder; leave out its ending")
