"""Facts about image files from their headers, before anything is decoded."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from PIL import ImageFile

from vit_str.images.decoding_costs import may_take_more
from vit_str.images.loading import (
    ANIMATIONS,
    PAGED_FORMATS,
    ImageSize,
    is_single,
    open_file,
    open_image,
)
from vit_str.images.rgb import QUARTER_TURNS, orientation_of

LARGE = 2_000_000
"""Pixels above which a picture is decoded in a process with limits, see `decode_apart`."""


class Announced(NamedTuple):
    """The description of an image file by its header."""

    pixels: int = 0  # 0 where only decoding can tell
    # Whether it is decoded in a process with limits, see `decode_apart`
    is_large: bool = False


def announced(source: Path | str | bytes) -> Announced:
    """The header of an image file; nothing where only decoding can tell."""
    with open_header(source) as image:
        if image is None:
            return Announced()
        return Announced(math.prod(image.size), _is_large(image))


def upright_size(source: Path | str | bytes) -> ImageSize | None:
    """The size of an image file as it is shown, by its header; None where that says nothing."""
    with open_header(source) as image:
        if image is None:
            return None
        width, height = image.size
        # To ask a PNG file for more than its header says would decode it. TIFF is upright.
        stored = "exif" in image.info and image.format != "TIFF"
        is_turned = stored and orientation_of(image) in QUARTER_TURNS
    return (width, height) if is_turned else (height, width)


def is_costly(source: Path | str | bytes) -> bool:
    """Whether a file with a picture to read as a page is large, or has several pages."""
    with open_header(source) as image:
        if image is None:
            return False
        is_paged = image.format in PAGED_FORMATS
        has_pages = is_paged and getattr(image, "is_animated", False)
        return has_pages or _is_large(image)


def is_animation(source: Path | str | bytes) -> bool:
    """Whether a file holds several frames that show one after the other."""
    with open_header(source) as image:
        if image is None or image.format not in ANIMATIONS:
            return False
        return not is_single(image)


def _is_large(image: ImageFile.ImageFile) -> bool:
    return math.prod(image.size) > LARGE or may_take_more(image)


@contextmanager
def open_header(
    source: Path | str | bytes,
) -> Iterator[ImageFile.ImageFile | None]:
    """An image that is not decoded; None for what is none, is damaged or can be read only once."""
    with ExitStack() as opened:
        image = None
        # Damage makes Pillow raise anything; decoding reports it
        with suppress(Exception):
            if isinstance(source, bytes) or Path(source).is_file():
                file = open_file(source, "")
                opened.enter_context(file)
                image = opened.enter_context(open_image(file, ""))
        yield image
