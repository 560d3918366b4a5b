"""One part: images in, lines of the output out."""

import os
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from vit_str.bulk.item import Item
from vit_str.bulk.parts import Kind, Part
from vit_str.bulk.rows import Format, Row, encode
from vit_str.images import UnreadableImage
from vit_str.reading import Reader


class PartError(Exception):
    """A part cannot be read now, and it is not for its images."""


@dataclass(frozen=True, slots=True)
class Job:
    """What is to be done with every part.

    Attributes:
        format: of the output.
        characters: whether to write the characters one by one.
        boxes: whether to find out where they are.
        batch_size: images that the model reads at once.
        folder: what relative paths of images start from.
        care: how to read, see ``vit_str.load``.
    """

    format: Format
    characters: bool
    boxes: bool
    batch_size: int
    folder: Path
    care: str | None = None


def read_part(reader: Reader, part: Part, job: Job, threads: int = 1) -> bytes:
    """Read a part into what its file in the output holds.

    Args:
        reader: the model.
        part: the images; those that cannot be read become lines that say why.
        job: how to read and write.
        threads: that decode images.

    Raises:
        PartError: its archive, or every one of its files, cannot be opened from here.
    """
    try:
        rows = list(_rows(reader, part, job, threads))
    except OSError as error:
        raise PartError(f"cannot read {part.names[0]}: {error.strerror or error}") from error
    if rows and all(row.error for row in rows):
        _check_that_they_are_here(part, job.folder)
    if part.trouble:
        rows.append(Row(part.names[0], error=part.trouble))
    return encode(rows, job.format, job.characters)


def _rows(reader: Reader, part: Part, job: Job, threads: int) -> Iterator[Row]:
    waiting: deque[Item] = deque()

    def sources() -> Iterator[str | bytes]:
        for item in part.items(job.folder):
            waiting.append(item)
            yield item.source

    for _, outcome in reader.stream(sources(), job.batch_size, threads, boxes=job.boxes):
        item = waiting.popleft()
        if isinstance(outcome, UnreadableImage):
            yield Row(item.name, error=item.trouble or outcome.trouble)
        else:
            yield Row(item.name, outcome)


def _check_that_they_are_here(part: Part, folder: Path) -> None:
    """Files that this machine does not see must not pass for files that cannot be read."""
    if part.kind is Kind.FILES and not any(os.path.exists(folder / name) for name in part.names):
        raise PartError(
            f"none of {len(part.names)} files is there, such as {part.names[0]}; all machines "
            "must see the images under the same path"
        )
