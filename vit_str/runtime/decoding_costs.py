"""What decoding a file would take, told from how it is built.

Few bytes may stand for hours, and few pixels for gigabytes.
"""

import math
import re

from PIL import Image

MOST_SCANS = 100
"""Scans of a JPEG; encoders write about ten. Each takes as long as the picture is large."""

MOST_COMPOSED = 2_000_000_000
"""Pixels of the screen of a GIF, times its frames up to the one that is wanted: each frame is laid
on those before it."""

# What follows a byte 255 in the coded pixels is 0, or one of the marks that divide them.
_MARKER = re.compile(rb"\xff+([^\x00\xff\xd0-\xd7])")
_START = 0xD8
_END = 0xD9
_START_OF_SCAN = 0xDA
_WITHOUT_LENGTH = 0x01
_MOST_OF_JPEG2000 = 20_000  # pixels, of a word or a short line
_TILE_WIDTH = 322  # tag of TIFF


def may_take_more(image: Image.Image) -> bool:
    """Whether decoding may take far more memory than the pixels of a picture do.

    The tiles of a TIFF file may be larger than the picture. JPEG 2000 may divide every two pixels
    from others, and keeps a kilobyte for each such part.
    """
    if image.format == "JPEG2000":
        return math.prod(image.size) > _MOST_OF_JPEG2000
    return image.format == "TIFF" and _TILE_WIDTH in getattr(image, "tag_v2", ())


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
