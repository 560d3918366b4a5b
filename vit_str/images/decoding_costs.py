"""The cost of decoding a file, told from how it is built.

Few bytes may stand for hours, and few pixels for gigabytes.
"""

import math
import os
import re
import struct
from typing import BinaryIO

from PIL import Image

MOST_SCANS = 100
"""Scans of a JPEG; encoders write about ten. Each takes as long as the picture is large."""

MOST_COMPOSED = 2_000_000_000
"""Pixels of the screen of a GIF, times its frames up to the one that is wanted: each frame is laid
on those before it."""

MOST_PARTS = 10_000
"""Parts of a JPEG or PNG before its pixels; cameras and programs write up to a few hundred."""

MOST_VALUES = 200_000
"""Values of a tag of TIFF: where the strips of a picture are, of which there may be one a row, or
tables of three times 65,536. Pillow keeps hundreds of bytes for each strip, of which the file has
two."""

# What follows a byte 255 in the coded pixels is 0, or one of the marks that divide them.
_MARKER = re.compile(rb"\xff+([^\x00\xff\xd0-\xd7])")
_START = 0xD8
_END = 0xD9
_START_OF_SCAN = 0xDA
_WITHOUT_LENGTH = 0x01
_MOST_OF_JPEG2000 = 20_000  # pixels, of a word or a short line
_BLOCK = 1 << 16  # bytes that are looked through at once
_PNG = b"\x89PNG\r\n\x1a\n"
_HEADS = {b"\xff\xd8\xff": "JPEG", _PNG: "PNG", b"II": "TIFF", b"MM": "TIFF"}
_TILE_WIDTH = 322  # tag of TIFF
# Bytes of a number, by its type; other types are bytes that stay together, as a profile of colors
_SIZES = {3: 2, 4: 4, 5: 8, 6: 1, 8: 2, 9: 4, 10: 8, 11: 4, 12: 8, 13: 4, 16: 8}
_BIG_TIFF = 43
_MOST_TAGS = 0xFFFF


def may_take_more(image: Image.Image) -> bool:
    """Whether decoding may take far more memory than the pixels of a picture do.

    The tiles of a TIFF file may be larger than the picture. JPEG 2000 may divide every two pixels
    from others, and keeps a kilobyte for each such part.
    """
    if image.format == "JPEG2000":
        return math.prod(image.size) > _MOST_OF_JPEG2000
    return image.format == "TIFF" and _TILE_WIDTH in getattr(image, "tag_v2", ())


def has_many_parts(file: BinaryIO) -> bool:
    """Whether an image file has more parts than ``MOST_PARTS``, or values than ``MOST_VALUES``.

    They take Pillow long, and memory, before it knows more of the picture than that it is one.
    """
    file.seek(0)
    start = file.read(16)
    kind = next((kind for head, kind in _HEADS.items() if start.startswith(head)), "")
    if kind == "JPEG":
        return _has_many_segments(file)
    if kind == "PNG":
        return _has_many_chunks(file)
    return kind == "TIFF" and _has_many_values(file, start)


def _has_many_segments(file: BinaryIO) -> bool:
    """Whether a JPEG has many before its first scan."""
    file.seek(2)
    for _ in range(MOST_PARTS):
        code = _next_code(file)
        if code in (None, _START_OF_SCAN):
            return False
        if code not in (_START, _END, _WITHOUT_LENGTH):
            length = int.from_bytes(file.read(2))
            file.seek(max(0, length - 2), os.SEEK_CUR)
    return True


def _next_code(file: BinaryIO) -> int | None:
    """The code of the next marker of a JPEG, behind bytes that fill space; None at the end."""
    size = 16  # enough where nothing does
    while True:
        block = file.read(size)
        found = _MARKER.search(block)
        if found:
            file.seek(found.end() - len(block), os.SEEK_CUR)
            return found[1][0]
        if len(block) < size:
            return None
        if block.endswith(b"\xff"):
            file.seek(-1, os.SEEK_CUR)
        size = _BLOCK


def _has_many_chunks(file: BinaryIO) -> bool:
    """Whether a PNG has many before its pixels."""
    file.seek(len(_PNG))
    for _ in range(MOST_PARTS):
        length = file.read(4)
        if len(length) < 4 or file.read(4) == b"IDAT":
            return False
        file.seek(int.from_bytes(length) + 4, os.SEEK_CUR)  # and its checksum
    return True


def _has_many_values(file: BinaryIO, start: bytes) -> bool:
    """Whether a tag of the first picture of a TIFF has; of a BigTIFF, read as either kind."""
    order = "<" if start.startswith(b"II") else ">"
    counts = _counts_of_values(file, start[4:8], order, "H", "HHI4x")
    if _BIG_TIFF in start[2:4]:
        counts += _counts_of_values(file, start[8:16], order, "Q", "HHQ8x")
    return max(counts, default=0) > MOST_VALUES


def _counts_of_values(
    file: BinaryIO, place: bytes, order: str, number: str, entry: str
) -> list[int]:
    """How many values the tags have that are lists of numbers.

    Not those for which the file has no room, which Pillow passes over.
    """
    end = file.seek(0, os.SEEK_END)
    is_little = order == "<"
    file.seek(min(end, int.from_bytes(place, "little" if is_little else "big")))
    size = struct.calcsize(order + number)
    tags = file.read(size)
    if len(tags) < size:
        return []
    (most,) = struct.unpack(order + number, tags)
    each = struct.Struct(order + entry)
    found = file.read(each.size * min(most, _MOST_TAGS))
    whole = found[: len(found) // each.size * each.size]
    return [
        count
        for _, kind, count in each.iter_unpack(whole)
        if count * _SIZES.get(kind, end) <= end
    ]


def has_many_scans(data: bytes) -> bool:
    """Whether a JPEG has more scans than ``MOST_SCANS``."""
    if data.count(b"\xff\xda") <= MOST_SCANS:  # which metadata may hold by chance too
        return False
    scans = 0
    place = 0
    while (found := _MARKER.search(data, place)) and scans <= MOST_SCANS:
        code = found[1][0]
        place = found.end()
        if code == _END:
            break
        if code == _START_OF_SCAN:
            scans += 1
        if code not in (_START, _WITHOUT_LENGTH):
            place += int.from_bytes(data[place : place + 2])
    return scans > MOST_SCANS
