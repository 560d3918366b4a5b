"""Rows of signs between the lines of a page, and rules that run through them.

Tills and typewriters print rows of dashes and stars. Rows of dashes and the like are rules, those
of stars and dots neither rules nor text. They stand as close to text as there: networks take them
for words, and join them with the digits beside them. What is typed into a ruled form stands on its
rules, and across them: networks cut such lines to pieces.
"""

from dataclasses import replace
from typing import NamedTuple

import cv2
import numpy as np
from jaxtyping import Bool, Float, UInt8

from vit_str.synthesis.places import Places

Pixels = UInt8[np.ndarray, "row column 3"]
Boxes = Float[np.ndarray, "word 4"]

_FIXED = 4  # bits of fractions of a pixel in OpenCV
_MOST = 5  # rows on a picture
_TRIED = 12  # places, as most are taken
_TOUCHES = 0.12  # of the height of type, by which a row may reach into a line
_LEAST_WORDS = 3
_SMALLEST = 5.0  # pixels of the height of type beside which a row is drawn


_PITCH = (0.9, 2.6)  # of the rules of a form, over the height of type


class _Row(NamedTuple):
    """A row of signs: from left to right, around a middle, in the size and color of a word."""

    left: float
    right: float
    middle: float
    size: float
    word: int


def with_separators(
    random: np.random.Generator, image: Pixels, places: Places
) -> tuple[Pixels, Places]:
    """A page with rows of signs where there is room between its lines.

    Args:
        random: decides.
        image: of a page as it is drawn.
        places: what is where on it; text on its side is left alone.
    """
    boxes, sizes = upright_words(places)
    if len(boxes) < _LEAST_WORDS:
        return image, places
    sign = _SIGNS[random.integers(len(_SIGNS))]
    pixels = image.copy()
    rows: list[_Row] = []
    most = int(random.integers(1, _MOST + 1))
    for _ in range(_TRIED):
        row = _beside(random, boxes, sizes, image.shape[0])
        if row is None:
            continue
        boxes = np.concatenate([boxes, [_around(row)]])
        sizes = np.append(sizes, 0.0)
        _draw(random, pixels, row, sign, ink_of(image, boxes[row.word]))
        rows.append(row)
        if len(rows) == most:
            break
    if sign in _NO_RULES:
        return pixels, places
    return pixels, _with_rules(places, rows, _HEIGHTS[sign])


def with_ruling(
    random: np.random.Generator, image: Pixels, places: Places
) -> tuple[Pixels, Places]:
    """A page with rules at equal distances over all of it or a part, wherever its lines are.

    Args:
        random: decides.
        image: of a page as it is drawn.
        places: what is where on it.
    """
    boxes, sizes = upright_words(places)
    if len(boxes) < _LEAST_WORDS:
        return image, places
    size = max(_SMALLEST, float(np.median(sizes)))
    left, right = boxes[:, 0].min() - size, boxes[:, 2].max() + size
    top, bottom = boxes[:, 1].min(), boxes[:, 3].max() + 2 * size
    if random.random() < 0.6:
        left, right = np.sort(random.uniform(left, right, 2))
        top, bottom = np.sort(random.uniform(top, bottom, 2))
    pitch = size * random.uniform(*_PITCH)
    wide = max(1, round(size * random.uniform(0.03, 0.12)))
    ink = ink_of(image, boxes[int(random.integers(len(boxes)))])
    pixels = image.copy()
    rows = []
    for middle in np.arange(top + random.uniform(0, pitch), bottom, pitch):
        start, end = _fixed((left, middle)), _fixed((right, middle))
        cv2.line(pixels, start, end, ink, wide, cv2.LINE_AA, _FIXED)
        rows.append(_Row(float(left), float(right), float(middle), size, 0))
    return pixels, _with_rules(places, rows, wide / size)


def _with_rules(places: Places, rows: list[_Row], high: float) -> Places:
    """Places with rows that are rules, so high over the size of type."""
    ends = [[(row.left, row.middle), (row.right, row.middle)] for row in rows]
    widths = [max(1.0, high * row.size) for row in rows]
    return replace(
        places,
        rules=np.concatenate([places.rules, np.reshape(ends, (-1, 2, 2))]),
        rule_widths=np.concatenate([places.rule_widths, widths]),
    )


def is_upright(places: Places) -> Bool[np.ndarray, " word"]:
    """Which words are read to the right."""
    along = places.strips[:, -1].mean(1) - places.strips[:, 0].mean(1)
    found: Bool[np.ndarray, " word"] = along[:, 0] > np.abs(along[:, 1]) * 10
    return found


def upright_words(places: Places) -> tuple[Boxes, Float[np.ndarray, " word"]]:
    """Boxes of words that are read to the right, and the heights of their type."""
    strips = places.strips[is_upright(places)]
    points = strips.reshape(len(strips), 2 * strips.shape[1], 2)
    if not len(points):
        return np.zeros((0, 4)), np.zeros(0)
    boxes = np.concatenate([points.min(1), points.max(1)], 1)
    return boxes, np.linalg.norm(strips[:, 0, 1] - strips[:, 0, 0], axis=-1)


def _beside(
    random: np.random.Generator, boxes: Boxes, sizes: np.ndarray, height: int
) -> _Row | None:
    """A row above or below a word, over the width of the page or a part, if there is room."""
    chosen = int(random.integers(len(boxes)))
    size = float(sizes[chosen])
    if size < _SMALLEST:
        return None
    away = random.uniform(0.0, 0.7) * size
    is_below = random.random() < 0.5
    middle = boxes[chosen, 3] + away if is_below else boxes[chosen, 1] - away
    left, right = float(boxes[:, 0].min()), float(boxes[:, 2].max())
    if random.random() < 0.35:
        left, right = np.sort(random.uniform(left, right, 2)).tolist()
    row = _Row(left, max(right, left + 4 * size), float(middle), size, chosen)
    own = _around(row)
    room = _TOUCHES * sizes
    meets = (boxes[:, 0] < own[2]) & (boxes[:, 2] > own[0])
    meets &= (boxes[:, 1] + room < own[3]) & (boxes[:, 3] - room > own[1])
    is_inside = size < middle < height - size
    return row if is_inside and not meets.any() else None


def _around(row: _Row) -> Float[np.ndarray, " 4"]:
    half = row.size * 0.14
    return np.array([row.left, row.middle - half, row.right, row.middle + half])


def ink_of(image: Pixels, box: Float[np.ndarray, " 4"]) -> list[float]:
    """The color of letters in a box: the one farthest from what is there mostly."""
    left, top, right, bottom = np.round(box).astype(int).clip(0).tolist()
    near = image[top : bottom + 1, left : right + 1].reshape(-1, 3).astype(float)
    if not len(near):
        return [0.0] * 3
    away = np.abs(near - np.median(near, axis=0)).sum(1)
    color: list[float] = near[away.argmax()].tolist()
    return color


def _draw(
    random: np.random.Generator, pixels: Pixels, row: _Row, sign: str, ink: list[float]
) -> None:
    wide = max(1, round(row.size * random.uniform(0.04, 0.09)))
    step = row.size * random.uniform(0.4, 0.65)
    long = step * random.uniform(0.3, 0.75)
    for left in np.arange(row.left, row.right - long, step):
        for start, end in _strokes(sign, left, long, row):
            points = _fixed(start), _fixed(end)
            cv2.line(pixels, *points, ink, wide, cv2.LINE_AA, _FIXED)


def _strokes(
    sign: str, left: float, long: float, row: _Row
) -> list[tuple[tuple[float, float], tuple[float, float]]]:
    """Those of one sign."""
    y, right, middle = row.middle, left + long, left + long / 2
    half = row.size * 0.09
    if sign == "-":
        return [((left, y), (right, y))]
    if sign == "=":
        return [
            ((left, y - half), (right, y - half)),
            ((left, y + half), (right, y + half)),
        ]
    if sign == ".":
        return [((middle, y), (middle + 0.5, y))]
    lean = long * 0.3
    crossed = [((middle, y - half * 1.3), (middle, y + half * 1.3))]
    if sign == "+":
        return [*crossed, ((left, y), (right, y))]
    crossed.append(((middle - lean, y - half * 0.7), (middle + lean, y + half * 0.7)))
    return [
        *crossed,
        ((middle - lean, y + half * 0.7), (middle + lean, y - half * 0.7)),
    ]


def _fixed(point: tuple[float, float]) -> list[int]:
    return [round(value * (1 << _FIXED)) for value in point]


_SIGNS = ("-", "-", "-", "-", "=", "*", "*", ".", "+")
_NO_RULES = ("*", ".", "+")
_HEIGHTS = {"-": 0.08, "=": 0.26}
"""Of rows that are rules, over the size of type."""
