"""Images in tar archives, from any place in them on: WebDataset shards and others."""

import tarfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO

from vit_str.bulk.item import Item, Stretch
from vit_str.images import SUFFIXES

_NO_IMAGES = "an archive without images; their names end in .jpg, .png, .webp and the like"
_NO_ARCHIVE = "no tar archive, or a damaged or compressed one; pack it again without compression"


class DamagedError(Exception):
    """The archive cannot be read, or not to its end."""


def stretches(path: Path, size: int) -> Iterator[Stretch]:
    """Places of ``size`` images each. Only headers are read, in memory that does not grow.

    Raises:
        DamagedError: after the last place that can be had.
        OSError: the file cannot be read.
    """
    start = stop = count = total = 0
    trouble = ""
    with path.open("rb") as file:
        try:
            for member in filter(_is_image, _members(file)):
                if count == size:
                    yield Stretch(start, stop, count)
                    count = 0
                if not count:
                    start = member.offset
                stop, count = member.offset_data + member.size, count + 1
                total += 1
            trouble = "" if total else _NO_IMAGES
        except tarfile.TarError:
            after = f"damaged or cut short after {total} images; make it again"
            trouble = after if total else _NO_ARCHIVE
    if count:
        yield Stretch(start, stop, count)
    if trouble:
        raise DamagedError(trouble)


def items(name: str, path: Path, stretch: Stretch) -> Iterator[Item]:
    """The images of a stretch, as ``archive/member``.

    Raises:
        OSError: the file cannot be read, or is not as it was when it was divided.
    """
    with path.open("rb") as file:
        file.seek(stretch.start)
        members = filter(_is_image, _members(file, to_the_end=False))
        try:
            for _ in range(stretch.count):
                member = next(members)
                file.seek(member.offset_data)
                yield Item(f"{name}/{member.name}", file.read(member.size))
        except (StopIteration, tarfile.TarError):
            raise OSError(f"{name} was changed since it was divided; use a new --out") from None


def _members(file: BinaryIO, to_the_end: bool = True) -> Iterator[tarfile.TarInfo]:
    """Entries from the present place on.

    Raises:
        tarfile.TarError: something else than entries is there; ``to_the_end`` also if something
            follows them.
    """
    end = file.tell()
    archive: Any
    with tarfile.open(fileobj=file, mode="r:") as archive:
        while (member := archive.next()) is not None:
            archive.members = []  # it would keep every one
            yield member
            end = member.offset_data + -(-member.size // tarfile.BLOCKSIZE) * tarfile.BLOCKSIZE
    if to_the_end:
        file.seek(end)
        if file.read(tarfile.BLOCKSIZE).strip(b"\0"):  # tarfile takes damage for the end
            raise tarfile.ReadError("no entry after the last")


def _is_image(member: tarfile.TarInfo) -> bool:
    name = PurePosixPath(member.name).name
    hidden = name.startswith(".")  # such as the ._ files that macOS leaves
    return member.isreg() and not hidden and name.lower().endswith(SUFFIXES)
