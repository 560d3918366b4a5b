"""Decodes large pictures, pages of TIFF files and frames of animations, as a program with limits.

See `limited_process`. It takes the ``path`` of a file, or null for the data that follow. With
``preprocessing`` it answers with the pixels as a model gets them, and ``shape``, ``size`` and
``window``, then so with each part of a long line, with its ``start`` and ``stop``; with ``ranges``
of pages, with each page in RGB, its ``size`` and ``number``; of an animation without those that are
as the one before, within the time of one picture. What cannot be decoded is an ``error``. It
imports no more than it needs, to start fast.
"""

from collections.abc import Iterator
from typing import Any

from PIL import Image

from vit_str.images.headers import is_animation
from vit_str.images.image_decoding import DecodedImage, decode
from vit_str.images.limited_process import answer, limit_time, receive
from vit_str.images.loading import page_numbers, readable_pages
from vit_str.images.preprocessing import Preprocessing
from vit_str.images.refusals import UnreadableImage

Pages = Iterator[tuple[int, Image.Image | UnreadableImage]]

_MOST_FRAMES = 50  # of an animation, that differ, where no last one is asked for


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
    numbers = page_numbers(wanted["ranges"])
    pictures = readable_pages(source, page_numbers(wanted["ranges"]))
    pages: Iterator[tuple[int, Any]] = zip(numbers, pictures, strict=False)
    limit_time(wanted)
    if is_animation(source):
        pages = _changing(pages, has_end=all(last for _, last in wanted["ranges"]))
    else:
        pages = _each_in_time(pages, wanted)
    for number, picture in pages:
        if isinstance(picture, UnreadableImage):
            answer({"error": picture.reason})
        else:
            answer({"size": picture.size, "number": number}, picture.tobytes())


def _each_in_time(pages: Pages, wanted: dict[str, Any]) -> Pages:
    """Pages, each of which may take the time."""
    while page := next(pages, None):
        yield page
        limit_time(wanted)


def _changing(pages: Pages, has_end: bool) -> Pages:
    """The frames that differ from the one before; not endlessly many, unless they are asked for."""
    before: bytes | None = None
    count = 0
    for number, picture in pages:
        if isinstance(picture, UnreadableImage):
            yield number, picture
            continue
        pixels = picture.tobytes()
        if pixels == before:
            continue
        before = pixels
        count += 1
        if count > _MOST_FRAMES and not has_end:
            reason = f"page {number}: over {_MOST_FRAMES} frames differ before it"
            choose = f"name pages to read, such as {number}-{number + 9}"
            yield number, UnreadableImage("", f"{reason}; {choose}")
            return
        yield number, picture


if __name__ == "__main__":
    main()
