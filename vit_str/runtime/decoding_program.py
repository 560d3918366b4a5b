"""Decodes large pictures, and the pages of TIFF and GIF files, as a program with limits.

See `limited_process`. It takes the ``path`` of a file, or null for the data that follow. With
``preprocessing`` it answers with the pixels as a model gets them, and ``shape``, ``size`` and
``window``, then so with each part of a long line, with its ``start`` and ``stop``; with ``ranges``
of pages, with each page in RGB, and its ``size``. What cannot be decoded is an ``error``. It
imports no more than it needs, to start fast.
"""

from collections.abc import Iterator
from typing import Any

from PIL import Image

from vit_str.runtime.image_decoding import DecodedImage, decode
from vit_str.runtime.images import UnreadableImage, page_numbers, readable_pages
from vit_str.runtime.limited_process import answer, limit_time, receive
from vit_str.runtime.preprocessing import Preprocessing


def main() -> None:
    """Answer one question."""
    wanted, data = receive()
    source = data if wanted["path"] is None else wanted["path"]
    try:
        if "preprocessing" in wanted:
            _decode(source, wanted)
        else:
            _decode_pages(source, wanted)
    except UnreadableImage as error:
        answer({"error": error.reason})


def _decode(source: str | bytes, wanted: dict[str, Any]) -> None:
    limit_time(wanted)
    image = decode(source, Preprocessing.from_dict(wanted["preprocessing"]))
    _answer_image(image)
    for part in image.parts:
        _answer_image(part.image, start=part.start, stop=part.stop)


def _answer_image(image: DecodedImage, **place: float) -> None:
    header: dict[str, Any] = {
        "shape": image.pixels.shape,
        "size": image.size,
        "window": image.window,
    }
    answer(header | place, image.pixels.tobytes())


def _decode_pages(source: str | bytes, wanted: dict[str, Any]) -> None:
    pages = readable_pages(source, page_numbers(wanted["ranges"]))
    while picture := _next_page(pages, wanted):
        if isinstance(picture, UnreadableImage):
            answer({"error": picture.reason})
        else:
            answer({"size": picture.size}, picture.tobytes())


def _next_page(
    pages: Iterator[Image.Image | UnreadableImage], wanted: dict[str, Any]
) -> Image.Image | UnreadableImage | None:
    limit_time(wanted)
    return next(pages, None)


if __name__ == "__main__":
    main()
