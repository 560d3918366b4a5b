"""``vit-str read --page``: the text of whole pictures."""

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from vit_str import console
from vit_str.files import one_line, write_atomically

if TYPE_CHECKING:
    from PIL import Image

    from vit_str.reading.pages.page import Page
    from vit_str.reading.pages.reader import PageReader

FORMATS = {"text": ".txt", "jsonl": ".jsonl", "hocr": ".hocr"}
"""What pages can be written as, and how the names of such files end."""


def run_pages(options: argparse.Namespace) -> int:
    """Read whole pictures and print their text, or write a file for each of them."""
    from vit_str.images import UnreadableImage
    from vit_str.reading.command import report
    from vit_str.reading.inputs import find_inputs
    from vit_str.reading.pages.pictures import PAGE_SUFFIXES, pictures_in

    name = options.format or "text"
    if name not in FORMATS:
        raise ValueError(f"--page writes --format {', '.join(FORMATS)}, found {name}")
    inputs = find_inputs(options.paths, PAGE_SUFFIXES)
    report(inputs.problems)
    if not inputs.paths:
        return 2
    targets = dict(zip(inputs.paths, _targets(inputs.paths, options, name), strict=True))
    waiting = [path for path, target in targets.items() if not (target and target.exists())]
    if len(waiting) < len(targets):
        console.complain(f"{len(targets) - len(waiting):,} files are read already")
    reader = load_page_reader(options)
    unreadable = len(inputs.problems)
    with console.Progress(len(waiting)) as progress:
        for path in waiting:
            pages: list[Page] = []
            for number, picture in enumerate(pictures_in(path), 1):
                if isinstance(picture, UnreadableImage):
                    unreadable += 1
                    progress.complain(str(picture))
                    continue
                page = reader.read(picture, boxes=name == "jsonl")
                pages.append(page)
                if options.overlay:
                    _write_overlay(Path(options.overlay), path, number, picture, page)
            if pages:
                _write(path, pages, name, targets[path], len(targets) > 1)
            progress.advance()
    return 1 if unreadable else 0


def load_page_reader(options: argparse.Namespace, model: str | None = None) -> "PageReader":
    """The page reader that the options name."""
    from vit_str.reading.command import search_of
    from vit_str.reading.pages.reader import MINIMUM_CONFIDENCE, load_page

    least = getattr(options, "min_confidence", None)
    return load_page(
        model or options.model,
        options.device,
        backend=options.backend,
        care=options.care,
        search=search_of(options),
        minimum_confidence=MINIMUM_CONFIDENCE if least is None else least,
    )


def _targets(paths: list[str], options: argparse.Namespace, name: str) -> Iterator[Path | None]:
    """The file that each picture's text goes to, if a folder was given."""
    if options.out is None:
        yield from [None] * len(paths)
        return
    out, seen = Path(options.out), set()
    for path in paths:
        relative = Path(path).name
        if relative in seen:  # the same name in another folder
            relative = str(Path(path)).strip("/").replace("/", "__")
        seen.add(relative)
        yield out / (relative + FORMATS[name])


def _write(path: str, pages: "list[Page]", name: str, target: Path | None, several: bool) -> None:
    from vit_str.reading.pages.output import hocr, page_row

    if name == "hocr":
        text = hocr([(one_line(path), page) for page in pages])
    elif name == "jsonl":
        rows = [page_row(path, page) | {"page": n} for n, page in enumerate(pages, 1)]
        text = "\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    else:
        text = "\f".join(page.text + "\n" for page in pages)
    if target is not None:
        with write_atomically(target) as temporary:
            temporary.write_text(text.rstrip("\n") + "\n", encoding="utf-8")
    elif several and name == "text":
        console.write(f"==> {one_line(path)} <==\n{text}")
    else:
        console.write(text.rstrip("\n"))


def _write_overlay(
    folder: Path, path: str, number: int, picture: "Image.Image", page: "Page"
) -> None:
    from vit_str.reading.pages.output import overlay

    suffix = f"-{number}" if number > 1 else ""
    with write_atomically(folder / f"{Path(path).stem}{suffix}.png") as temporary:
        overlay(picture, page).save(temporary)
