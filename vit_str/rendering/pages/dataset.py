"""A folder of records of pages, made by several processes; the same command goes on with it."""

import json
import multiprocessing
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict
from pathlib import Path
from typing import Any

from vit_str import console
from vit_str.datasets.page_records import (
    ABOUT,
    SHARD_SIZE,
    pages_of_shard,
    write_shard,
)
from vit_str.datasets.picture_records import pictures_of_shard, write_picture_shard
from vit_str.files import exclusive, write_atomically
from vit_str.rendering.pages.making import PageOptions, make_page
from vit_str.rendering.pages.picture_making import make_picture
from vit_str.synthesis.pages.browser import Browser
from vit_str.synthesis.pages.truth import ROLES

_LOCK = ".pages.lock"


def write_pages(
    folder: Path, count: int, options: PageOptions, start: int = 0, processes: int = 1
) -> None:
    """Make what is missing of the pages from ``start`` on, a file for each hundred.

    Args:
        folder: to write to.
        count: number of pages.
        options: what they are; the same for all pages of the folder.
        start: number of the first page, a multiple of a hundred.
        processes: that make pages, each with a browser.

    Raises:
        ValueError: the folder holds other pages, or ``start`` is no multiple.
        OSError: a file cannot be written.
    """
    if start % SHARD_SIZE:
        raise ValueError(f"--start: expected a multiple of {SHARD_SIZE}, found {start}")
    folder.mkdir(parents=True, exist_ok=True)
    _note(folder, options)
    first = start // SHARD_SIZE
    pages_there = pictures_of_shard if options.find else pages_of_shard
    missing = []
    for shard in range(-(-count // SHARD_SIZE)):
        size = min(SHARD_SIZE, count - shard * SHARD_SIZE)
        if pages_there(folder, first + shard) < size:
            missing.append((first + shard, size))
    left = sum(size for _, size in missing)
    if left < count:
        console.warn(f"{folder}: {count - left:,} of {count:,} pages are there")
    with console.Progress(
        count, alone=True, unit="page", done=count - left
    ) as progress:
        for size in _made(folder, missing, options, processes):
            progress.advance(size)


def _made(
    folder: Path, missing: list[tuple[int, int]], options: PageOptions, processes: int
) -> Iterator[int]:
    """The sizes of files, when they are written."""
    if processes == 1 or len(missing) < 2:
        for shard, size in missing:
            yield _make_shard(folder, shard, size, options)
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(min(processes, len(missing)), context) as pool:
        jobs = [pool.submit(_make_shard, folder, *each, options) for each in missing]
        try:
            for job in as_completed(jobs):
                yield job.result()
        except BaseException:
            pool.shutdown(wait=True, cancel_futures=True)
            raise


def _make_shard(folder: Path, shard: int, size: int, options: PageOptions) -> int:
    with Browser() as browser:
        first = shard * SHARD_SIZE
        numbers = range(first, first + size)
        if options.find:
            pictures = [make_picture(browser, number, options) for number in numbers]
            write_picture_shard(folder, shard, pictures)
        else:
            pages = [make_page(browser, number, options) for number in numbers]
            write_shard(folder, shard, pages)
    return size


def _note(folder: Path, options: PageOptions) -> None:
    """Note what the pages of a folder are; refuse one that holds others."""
    path = folder / ABOUT
    now: dict[str, Any] = json.loads(json.dumps(asdict(options) | {"roles": ROLES}))
    with exclusive(folder / _LOCK):
        if not path.exists():
            if any(file.name != _LOCK for file in folder.iterdir()):
                raise ValueError(f"{folder} holds other files; give a new folder")
            with write_atomically(path) as temporary:
                temporary.write_text(json.dumps(now, indent=1) + "\n", "utf-8")
            return
        before = json.loads(path.read_text("utf-8"))
    other = sorted(
        name
        for name in {*now, *before}
        if (before.get(name) or None) != (now.get(name) or None)
    )
    if other:
        raise ValueError(
            f"{folder} was begun with other {' and '.join(other)}; give the same, "
            "or a new folder"
        )
