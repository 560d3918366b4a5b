"""Image files -> pixels as the model gets them, without margins, in threads ahead of it."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from math import ceil, floor
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from PIL import Image

from vit_str.images.headers import announced
from vit_str.images.line_cutting import spans
from vit_str.images.loading import (
    IN_FLIGHT,
    BinaryFile,
    ImageSource,
    file_bytes,
    load_sized_image,
    source_name,
)
from vit_str.images.preprocessing import Preprocessing
from vit_str.images.refusals import MAX_PIXELS, UnreadableImage, reported_in_one_line
from vit_str.machine import thread_count

if TYPE_CHECKING:
    from threading import Event

    from jaxtyping import UInt8

    from vit_str.images.limited_process import ProcessLimits

    Pixels = UInt8[np.ndarray, "height width channel"]

Source = (
    Path | str | bytes | bytearray | memoryview | BinaryFile | Image.Image | np.ndarray
)
"""One image: a path, the bytes of a file, an open file, a Pillow image, or an array or tensor:
gray (height, width), RGB or RGBA, channels first or last, in uint8 or in floats from 0 to 1."""

Window = tuple[int, int, int, int]
"""Left, top, right, bottom of a part of an image, in whole pixels."""
Sides = tuple[float, float, float, float]
"""Left, top, right, bottom of a part of an image, in pixels."""

DECODING_PROGRAM = Path(__file__).with_name("decoding_program.py")
_CHANNELS = (1, 3, 4)
_MOST_WORKERS = 64  # threads that decode
# An image stays as it is with ink of a larger share of its length, and of its height across the
# line; or with lower ink, in pixels, which may be a mark in a line as high as the image.
_NARROW = 0.85
_FLAT = 0.2
_LOWEST = 10
# Times smaller than where there is most are steps between pixels that are no ink
_EMPTY = 10
_INK = 30  # of 255, the least step that counts as ink
# Around the line, over its height; a lone 1 is not tall so
_MARGIN_ALONG = 0.75
_MARGIN_ACROSS = 0.5
_FLATTEST = 8  # width over height that ink is taken to have at most
_CUTS = 3  # what is small is seen better in what is left


class DecodedImage(NamedTuple):
    """An image as the model gets it; a line that is too long for it also in parts."""

    pixels: UInt8[np.ndarray, "channel height width"]
    size: tuple[int, int]
    window: Window
    parts: tuple[LinePart, ...] = ()


class LinePart(NamedTuple):
    """A part of a line as the model gets it, and between which cuts it is asked for."""

    image: DecodedImage
    start: float  # pixels from the left end of the line
    stop: float


def decode(source: Source, preprocessing: Preprocessing) -> DecodedImage:
    """Decode one image and bring it, or its only word amid nothing, to the size of the model."""
    source = without_array(source)
    loaded, size = load_sized_image(source)
    with reported_in_one_line(source_name(source)):
        pixels, window = without_margins(loaded, preprocessing)
        whole = _decoded(pixels, window, loaded.size, size)
        return whole._replace(parts=_parts(loaded, window, size, preprocessing))


def _parts(
    image: Image.Image,
    window: Window,
    size: tuple[int, int],
    preprocessing: Preprocessing,
) -> tuple[LinePart, ...]:
    """The parts of a long line; ``size`` is that of the image before it may have been reduced."""
    left, top, _, bottom = window
    across = size[1] / image.width
    parts = []
    for span in spans(image.crop(window), preprocessing):
        part = (left + span.left, top, left + span.right, bottom)
        pixels = preprocessing.array(image.crop(part))
        line_part = LinePart(
            image=_decoded(pixels, part, image.size, size),
            start=across * (left + span.start),
            stop=across * (left + span.stop),
        )
        parts.append(line_part)
    return tuple(parts)


def _decoded(
    pixels: Pixels, window: Window, reduced: tuple[int, int], size: tuple[int, int]
) -> DecodedImage:
    channels_first = np.ascontiguousarray(pixels.transpose(2, 0, 1))
    return DecodedImage(channels_first, size, _full(window, reduced, size))


def decode_apart(
    source: Path | str | bytes,
    preprocessing: Preprocessing,
    limits: ProcessLimits | None = None,
    stop: Event | None = None,
) -> DecodedImage:
    """Decode as `decode` does, in a process with limits, which ends when ``stop`` is set.

    For files that are large: those that were made to do harm may take hours to decode. Without
    limits given, they are those of `ProcessLimits`.
    """
    # What starts processes is slow to import, and small files never need it
    from vit_str.images.limited_process import (
        DEFAULT_LIMITS,
        ProcessEnded,
        ProcessNotStarted,
        answers,
    )

    path = None
    data = b""
    if isinstance(source, bytes):
        data = source
    else:
        path = os.fspath(source)
    wanted = {"path": path, "preprocessing": preprocessing.to_dict()}
    name = source_name(source)
    try:
        answered = list(
            answers(DECODING_PROGRAM, wanted, data, limits or DEFAULT_LIMITS, stop)
        )
    except ProcessNotStarted as failed:
        reason = f"{failed.reason('decode')}; raise the limits of the system, or close programs"
        raise UnreadableImage(name, reason) from None
    except ProcessEnded as ended:
        reason = f"{ended.reason('decode')}; save it again, smaller or as PNG"
        raise UnreadableImage(name, reason) from None
    (header, pixels), *parts = answered
    if "error" in header:
        raise UnreadableImage(name, header["error"])
    line_parts = []
    for part, pixels_of_part in parts:
        image = _received(part, pixels_of_part)
        line_parts.append(LinePart(image, part["start"], part["stop"]))
    return _received(header, pixels)._replace(parts=tuple(line_parts))


def _received(header: dict[str, Any], pixels: bytes) -> DecodedImage:
    array = np.frombuffer(bytearray(pixels), np.uint8).reshape(header["shape"])
    return DecodedImage(array, tuple(header["size"]), tuple(header["window"]))


def _decode_within_limits(source: Source, preprocessing: Preprocessing) -> DecodedImage:
    """Decode as `decode` does; files of large pictures in a process with limits."""
    name = source_name(source)
    if isinstance(source, BinaryFile):
        source = file_bytes(source, name)
    if isinstance(source, bytearray | memoryview):
        source = bytes(source)
    try:
        if not isinstance(source, str | Path | bytes):
            return decode(source, preprocessing)
        pixels, is_large = announced(source)
        if not is_large:
            return decode(source, preprocessing)
        with IN_FLIGHT.reserve(min(pixels, MAX_PIXELS)):
            return decode_apart(source, preprocessing)
    except UnreadableImage as error:
        raise UnreadableImage(name, error.reason) from None


def _full(window: Window, reduced: tuple[int, int], size: tuple[int, int]) -> Window:
    """A part of a photograph that may have been reduced, in pixels of the whole."""
    height, width = size
    across = width / reduced[0]
    down = height / reduced[1]
    left, top, right, bottom = window
    return (
        round(left * across),
        round(top * down),
        round(right * across),
        round(bottom * down),
    )


def without_margins(
    image: Image.Image,
    preprocessing: Preprocessing,
) -> tuple[Pixels, Window]:
    """Pixels for the model of an RGB image, or of its only word, and the part that they show.

    Models write words that are not there into what is left blank beside a word: `Museum 41`.
    """
    window = (0, 0, *image.size)
    pixels = preprocessing.array(image)
    for _ in range(_CUTS):
        is_turned = preprocessing.turns(image.height, image.width)
        upright = np.rot90(pixels, -1) if is_turned else pixels
        ink = _ink(upright, image.size)
        part = None if ink is None else _around(ink, image.size, is_turned)
        if part is None:
            break
        image = image.crop(part)
        pixels = preprocessing.array(image)
        left = window[0] + part[0]
        top = window[1] + part[1]
        window = (left, top, left + image.width, top + image.height)
    return pixels, window


def _ink(pixels: Pixels, size: tuple[int, int]) -> Sides | None:
    """Where the ink is in an image of a width and height; None if there is none.

    Shades of light are no ink: only steps between neighbors in a column or row count.
    """
    width, height = size
    seen_height, seen_width, channels = pixels.shape
    lines = pixels.reshape(seen_height, seen_width * channels)
    values = _steps(lines[:-1], lines[1:]).max(0, initial=0)
    columns = values.reshape(-1, channels).max(1)
    rows = _steps(lines[:, :-channels], lines[:, channels:]).max(1, initial=0)
    if min(columns.max(), rows.max()) < _INK:
        return None
    left, right = (place * width / seen_width for place in _extent(columns))
    top, bottom = (place * height / seen_height for place in _extent(rows))
    return left, top, right, bottom


def _around(ink: Sides, size: tuple[int, int], runs_down: bool) -> Window | None:
    """The part of an image with its ink and a margin; None where the ink fills the image."""
    width, height = size
    left, top, right, bottom = ink
    length = right - left
    line = bottom - top
    longest = width
    highest = height
    if runs_down:
        length = bottom - top
        line = right - left
        longest = height
        highest = width
    is_small = length < _NARROW * longest or line < _FLAT * highest
    if not is_small or line < _LOWEST:
        return None
    tall = max(line, length / _FLATTEST)
    along = _MARGIN_ALONG * tall
    across = _MARGIN_ACROSS * tall
    beside, above = (across, along) if runs_down else (along, across)
    return (
        max(0, floor(left - beside)),
        max(0, floor(top - above)),
        min(width, ceil(right + beside)),
        min(height, ceil(bottom + above)),
    )


def _steps(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    return np.maximum(one, other) - np.minimum(one, other)


def _extent(steps: np.ndarray) -> tuple[int, int]:
    """The first place with ink, and the one behind the last."""
    places = np.flatnonzero(_EMPTY * steps.astype(int) >= steps.max())
    return int(places[0]), int(places[-1]) + 1


def decode_batches(
    sources: Iterable[Source],
    preprocessing: Preprocessing,
    batch_size: int,
    workers: int | None,
) -> Generator[list[tuple[Source, DecodedImage | UnreadableImage]], None, None]:
    """Batches of images, in order; at most two batches and one image per worker are ahead.

    Workers are threads, at most 64: None for as many as compute, up to 4; 1 for none beside the
    caller's.
    """

    def outcome(source: Source) -> DecodedImage | UnreadableImage:
        try:
            return _decode_within_limits(source, preprocessing)
        except UnreadableImage as error:
            return error

    workers = min(4, thread_count()) if workers is None else min(workers, _MOST_WORKERS)
    remaining = iter(sources)
    if workers == 1:  # one thread more would only take its time from the model
        while group := list(islice(remaining, batch_size)):
            yield [(source, outcome(source)) for source in group]
        return
    pool = ThreadPoolExecutor(workers, thread_name_prefix="decode")
    waiting: deque[tuple[Source, Future[DecodedImage | UnreadableImage]]] = deque()
    try:
        while True:
            ahead = 2 * batch_size + workers - len(waiting)
            for source in islice(remaining, ahead):
                waiting.append((source, pool.submit(outcome, source)))
            if not waiting:
                return
            count = min(batch_size, len(waiting))
            batch = [waiting.popleft() for _ in range(count)]
            yield [(source, job.result()) for source, job in batch]
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def without_array(source: Source) -> ImageSource:
    """An array or tensor as a picture; all else as it is.

    Raises:
        ValueError: for an array of another shape or type than an image has.
    """
    if isinstance(source, bytearray | memoryview):
        return bytes(source)
    if hasattr(source, "__array__") and not isinstance(source, Image.Image):
        return _from_array(source)
    assert not isinstance(source, np.ndarray)
    return source


def _from_array(values: Any) -> Image.Image:
    """An array or tensor as a picture; channels may come first."""
    array = np.asarray(values.detach().cpu() if hasattr(values, "detach") else values)
    shape = array.shape
    if array.ndim == 3 and shape[2] not in _CHANNELS and shape[0] in _CHANNELS:
        array = array.transpose(1, 2, 0)
    if array.ndim == 3 and array.shape[2] == 1:
        array = array[..., 0]
    if array.ndim not in (2, 3) or array.shape[2:] not in ((), (3,), (4,)):
        raise ValueError(
            "an image as an array is (height, width), or with 1, 3 or 4 channels first "
            f"or last, found {shape}; give several images as a list"
        )
    if not array.size:
        raise ValueError(f"an image without pixels, found an array of {shape}")
    is_float = np.issubdtype(array.dtype, np.floating)
    if is_float and array.min() >= 0 and array.max() <= 1:
        array = np.rint(array * 255).astype(np.uint8)
    elif array.dtype == np.bool_:
        array = array.astype(np.uint8) * np.uint8(255)
    elif array.dtype == np.uint16 and array.ndim == 2:
        return Image.fromarray(np.ascontiguousarray(array))  # deep gray, as of a file
    elif array.dtype == np.uint16:
        array = (array >> 8).astype(np.uint8)
    if array.dtype != np.uint8:
        raise ValueError(
            "an image as an array holds uint8, uint16, bool, or floats from 0 to 1, found "
            f"{array.dtype} from {array.min()} to {array.max()}; convert it first"
        )
    return Image.fromarray(np.ascontiguousarray(array))
