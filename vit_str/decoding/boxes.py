"""Boxes of characters: from where the decoder looked to pixels of the image as it was given.

A Transformer decoder is never told where the characters are, yet the heads of its last block look
at the one they are about to write. The middle of that attention is the middle of the character,
its spread is the height, and half of the way to the neighbors is the width. It needs no fonts, no
language and no training of its own. How good the boxes of a model are is measured, not promised:
``vit-str analyze characters``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import ceil
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from vit_str.characters.charset import PADDING
from vit_str.decoding.ctc import column_boxes

if TYPE_CHECKING:
    from jaxtyping import Bool, Float, Int, Int64

    from vit_str.engines.interface import Engine

# Chosen on rendered words in the fonts of training, to be measured on words in others. An even
# spread over a side of length 1 has the deviation 1 / sqrt(12) = 1 / 3.46; attention has tails.
_HEIGHT = 2.2  # of a character, in standard deviations of the attention to it
_NARROWEST = 0.3  # that it reaches to either side at least, in the same
_WIDEST = 4.0  # that it reaches at most


AttentionMap = tuple[tuple[float, ...], ...]
"""Shares of 1 in rows and columns that cover an image, turned upright."""


class Box(NamedTuple):
    """Where a character is, in pixels from the left and the top of the image, turned upright."""

    left: float
    top: float
    right: float
    bottom: float


class Place(NamedTuple):
    """Where a character is, and where the decoder looked while it wrote it."""

    box: Box | None = None
    attention: AttentionMap | None = None


class Frame(NamedTuple):
    """The part of an image that the model saw, upright, and how it was turned."""

    height: int  # in pixels
    width: int  # in pixels
    turned: bool  # by a quarter, since it was tall
    upside_down: bool = False  # by half after that
    left: int = 0  # pixels of the image to the left of it
    top: int = 0  # pixels of the image above it
    # Height and width of the image; the same as seen if None
    size: tuple[int, int] | None = None


def locate_characters(
    engine: Engine,
    encoded: Any,
    labels: Int64[np.ndarray, "batch position"],
    frames: Sequence[Frame],
    size: tuple[int, int],
    with_attention: bool = False,
) -> list[list[Place]]:
    """Places of the characters of texts, one pass of the decoder later.

    Args:
        engine: of a model that tells where characters are, see `Interface.has_boxes`.
        encoded: images.
        labels: the texts, padded.
        frames: what the model saw of each image.
        size: height and width of the images as the model got them.
        with_attention: hand out maps of attention too, of a decoder with cross-attention.
    """
    interface = engine.model.interface
    if interface.loop == "ctc":
        sides = column_boxes(engine.scores(encoded), labels, size)
        located = boxes_in(frames, sides, size)
        return [list(map(Place, boxes)) for boxes in located]
    attention = engine.attention(encoded, labels)
    maps = attention_maps(attention, interface.grid, interface.special_tokens)
    sides = character_boxes(maps, labels != PADDING, size)
    located = boxes_in(frames, sides, size)
    if not with_attention:
        return [list(map(Place, boxes)) for boxes in located]
    places = []
    for boxes, over_image in zip(located, maps_in(frames, maps), strict=True):
        pairs = zip(boxes, over_image, strict=True)
        places.append([Place(box, seen) for box, seen in pairs])
    return places


def attention_maps(
    attention: Float[np.ndarray, "batch position token"],
    grid: tuple[int, int],
    special_tokens: int,
) -> Float[np.ndarray, "batch position row column"]:
    """Attention over a grid of tokens: without the special tokens, every map sums to 1."""
    seen = attention[..., special_tokens:]
    sums = seen.sum(-1, keepdims=True)
    seen = seen / np.maximum(sums, np.finfo(seen.dtype).tiny)
    return seen.reshape(*seen.shape[:2], *grid)


def character_boxes(
    maps: Float[np.ndarray, "batch position row column"],
    mask: Bool[np.ndarray, "batch position"],
    image_size: tuple[int, int],
) -> Float[np.ndarray, "batch position side"]:
    """Left, top, right, bottom of every character in pixels; zero where there is none.

    Args:
        maps: attention to each character; every map sums to 1.
        mask: True where there is a character, up to the length of a word.
        image_size: height and width of the image under the maps.
    """
    height, width = image_size
    y, deviation_y = _moments(maps.sum(3), height)
    x, deviation_x = _moments(maps.sum(2), width)
    reach_left, reach_right = _reach(x, mask)
    narrowest = _NARROWEST * deviation_x
    widest = _WIDEST * deviation_x
    left = np.clip(reach_left, narrowest, widest)
    right = np.clip(reach_right, narrowest, widest)
    tall = _steady_height(deviation_y, mask) * np.float32(_HEIGHT / 2)
    y = _steady_line(y, mask)
    sides = (x - left, y - tall, x + right, y + tall)
    ends = np.array([width, height, width, height], np.float32)
    boxes = np.clip(np.stack(sides, -1), 0, ends)
    return boxes * mask[..., None]


def boxes_in(
    frames: Sequence[Frame],
    boxes: Float[np.ndarray, "batch position side"],
    size: tuple[int, int],
) -> Iterator[list[Box]]:
    """Boxes in pixels of the images, of boxes in pixels of model images of a height and width."""
    height, width = size
    shares = boxes / np.array([width, height, width, height], boxes.dtype)
    for word, frame in zip(shares, frames, strict=True):
        yield [Box(*box) for box in _in_frame(word, frame).tolist()]


def maps_in(
    frames: Sequence[Frame], maps: Float[np.ndarray, "batch position row column"]
) -> Iterator[list[AttentionMap]]:
    """Maps over the images, of maps over what the model saw; with more rows where that is less."""
    for word, frame in zip(maps, frames, strict=True):
        seen = word[:, ::-1, ::-1] if frame.upside_down else word
        if frame.turned:
            seen = np.rot90(seen, -1, (1, 2))
        seen = _over_image(seen, frame)
        yield [tuple(map(tuple, rows)) for rows in seen.tolist()]


def _in_frame(
    boxes: Float[np.ndarray, "position side"], frame: Frame
) -> Float[np.ndarray, "position side"]:
    """Boxes in shares of what the model saw to pixels of the image as it was given."""
    left, top, right, bottom = boxes.T
    if frame.upside_down:
        left, right = _mirrored(left, right)
        top, bottom = _mirrored(top, bottom)
    if frame.turned:
        across = (left, right)
        left, right = _mirrored(top, bottom)
        top, bottom = across
    sides = [
        frame.left + left * frame.width,
        frame.top + top * frame.height,
        frame.left + right * frame.width,
        frame.top + bottom * frame.height,
    ]
    return np.stack(sides, -1)


def _mirrored(
    start: Float[np.ndarray, " position"], stop: Float[np.ndarray, " position"]
) -> tuple[Float[np.ndarray, " position"], Float[np.ndarray, " position"]]:
    """A stretch of a side, in shares of it, counted from the other end."""
    return 1 - stop, 1 - start


def _over_image(
    maps: Float[np.ndarray, "position row column"], frame: Frame
) -> Float[np.ndarray, "position row column"]:
    """Maps over the whole image, of maps over a part of it: zero where the model saw nothing."""
    if frame.size in (None, (frame.height, frame.width)):
        return maps
    height, width = frame.size
    rows = _cells(maps.shape[1], frame.top, frame.height, height)
    columns = _cells(maps.shape[2], frame.left, frame.width, width)
    padded = np.pad(maps, ((0, 0), (0, 1), (0, 1)))
    spread = padded[:, rows[:, None], columns]
    total = spread.sum((1, 2), keepdims=True)
    return spread / np.maximum(total, np.finfo(maps.dtype).tiny)


def _cells(count: int, start: int, length: int, whole: int) -> Int[np.ndarray, place]:
    """Which cell of a part lies in the middle of each cell of the whole; ``count`` for none."""
    places = count * ceil(whole / length)
    middles = (np.arange(places) + 0.5) / places * whole
    cells = np.floor((middles - start) / length * count)
    return np.where((cells < 0) | (cells > count), count, cells).astype(int)


def _moments(
    shares: Float[np.ndarray, "batch position place"], length: int
) -> tuple[Float[np.ndarray, "batch position"], Float[np.ndarray, "batch position"]]:
    """Mean and standard deviation of shares that lie evenly over patches side by side."""
    side = length / shares.shape[-1]
    places = (np.arange(shares.shape[-1], dtype=shares.dtype) + 0.5) * side
    mean = shares @ places.astype(shares.dtype)
    squares = np.square(places - mean[..., None])
    within = side**2 / 12  # of an even share over one patch
    variance = (shares * squares).sum(-1) + within
    return mean, np.sqrt(variance)


def _reach(
    x: Float[np.ndarray, "batch position"], mask: Bool[np.ndarray, "batch position"]
) -> tuple[Float[np.ndarray, "batch position"], Float[np.ndarray, "batch position"]]:
    """Half of the way to the neighbors on the left and right, without limit where there is none.

    Words may run in both directions.
    """
    steps = np.diff(x, axis=1)
    halves = np.where(mask[:, 1:], np.abs(steps) / 2, np.inf)
    unlimited = np.full_like(x[:, :1], np.inf)
    before = np.hstack([unlimited, halves])
    after = np.hstack([halves, unlimited])
    backwards = (steps * mask[:, 1:]).sum(1, keepdims=True) < 0
    return np.where(backwards, after, before), np.where(backwards, before, after)


def _steady_height(
    deviation: Float[np.ndarray, "batch position"],
    mask: Bool[np.ndarray, "batch position"],
) -> Float[np.ndarray, "batch position"]:
    """Halfway between each and the mean of the word: letters of a word are about as tall."""
    count = np.maximum(mask.sum(1, keepdims=True), 1).astype(deviation.dtype)
    return (deviation + (deviation * mask).sum(1, keepdims=True) / count) / 2


def _steady_line(
    y: Float[np.ndarray, "batch position"], mask: Bool[np.ndarray, "batch position"]
) -> Float[np.ndarray, "batch position"]:
    """Halfway between each and the mean of its two neighbors, which keeps slopes as they are."""
    if y.shape[1] < 3:
        return y
    between = (y[:, :-2] + y[:, 2:]) / 2
    steady = y.copy()
    own = y[:, 1:-1]
    steady[:, 1:-1] = np.where(mask[:, 2:], (own + between) / 2, own)
    return steady
