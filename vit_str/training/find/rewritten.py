"""Lines of a page written anew: identifiers, rows of signs and groups of digits in their place.

Drawn pages have few lines of low lines, angle brackets or digits, which look like rules, or come
apart. What stands around them and beside them is as usual.
"""

from dataclasses import replace

import numpy as np
from jaxtyping import Float, UInt8

from vit_str.synthesis.glyphs import GlyphAtlas
from vit_str.synthesis.places import Places
from vit_str.training.find.separators import Boxes, ink_of, is_upright
from vit_str.training.find.typesetting import (
    CODES,
    Placed,
    box_from,
    drawn_string,
    paint,
    with_lines,
)

Pixels = UInt8[np.ndarray, "row column 3"]

_SMALLEST = 6.0  # pixels of the height of type that is written anew
_MOST = 6  # lines of a picture
_TRIED = 20  # as many are too short, or not on an even ground
_ROOM = 0.12  # of the height of type around a line, where nothing else may be
_EVEN = 60.0  # shades of three times 255 by which grounds may differ


def with_codes(
    random: np.random.Generator, image: Pixels, places: Places, atlas: GlyphAtlas
) -> tuple[Pixels, Places]:
    """A page some of whose lines are other texts, in one other font.

    Args:
        random: decides.
        image: of a page as it is drawn.
        places: what is where on it; text on its side is left alone.
        atlas: of the characters.
    """
    shown = is_upright(places)
    numbers = np.unique(places.lines[shown])
    if not len(numbers):
        return image, places
    points = places.strips.reshape(len(places.strips), -1, 2)
    boxes = np.concatenate([points.min(1), points.max(1)], 1)
    font = int(random.integers(len(atlas)))
    pixels = image.astype(np.float32)
    most = int(random.integers(1, _MOST + 1))
    written: list[Placed] = []
    gone: list[int] = []
    for number in random.permutation(numbers)[:_TRIED].tolist():
        own = np.flatnonzero(places.lines == number)
        if not shown[own].all():
            continue
        string = drawn_string(random, atlas, font, str(random.choice(CODES)))
        if string is None:
            continue
        strips = places.strips[own]
        size = float(np.linalg.norm(strips[:, 0, 1] - strips[:, 0, 0], axis=-1).mean())
        around = np.concatenate([boxes[own, :2].min(0), boxes[own, 2:].max(0)])
        box = box_from(string, around[0], float(around[1::2].mean()), size)
        others = np.delete(boxes, own, axis=0)
        if size < _SMALLEST or not _fits(box, others, size, image.shape[1]):
            continue
        ink = ink_of(image, around)
        if not _erase(pixels, around, size):
            continue
        gone.append(number)
        placed = Placed(string, box, ink)
        if paint(pixels, placed):
            written.append(placed)
        boxes = np.concatenate([boxes, [box]])
        if len(written) == most:
            break
    if not gone:
        return image, places
    kept = ~np.isin(places.lines, gone)
    left = replace(places, strips=places.strips[kept], lines=places.lines[kept])
    return pixels.clip(0, 255).astype(np.uint8), with_lines(left, written)


def _fits(box: Float[np.ndarray, " 4"], others: Boxes, size: float, width: int) -> bool:
    """Whether a box is within the picture and meets no word of other lines."""
    left, top, right, bottom = box.tolist()
    meets = (others[:, 0] < right + size) & (others[:, 2] > left)
    meets &= (others[:, 1] < bottom) & (others[:, 3] > top)
    return right < width and not meets.any()


def _erase(
    pixels: Float[np.ndarray, "row column 3"],
    box: Float[np.ndarray, " 4"],
    size: float,
) -> bool:
    """Paint over a line, in place, if all around it is of one color."""
    room = _ROOM * size
    left, top = np.floor(box[:2] - room).astype(int).tolist()
    right, bottom = np.ceil(box[2:] + room).astype(int).tolist()
    part = pixels[max(0, top) : bottom, max(0, left) : right]
    if min(part.shape[:2], default=0) < 3:
        return False
    edge = np.concatenate([part[0], part[-1], part[:, 0], part[:, -1]])
    ground = np.median(edge, axis=0)
    if np.abs(edge - ground).sum(1).max() > _EVEN:
        return False
    part[:] = ground
    return True
