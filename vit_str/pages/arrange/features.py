"""Features for the network that arranges pages: of pieces of lines, rules, grounds, pictures.

Each is a token with a place. Lengths are in heights of the usual line of the page.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np

from vit_str.pages.arrange.pieces import Words

if TYPE_CHECKING:
    from jaxtyping import Float, Int64

KINDS = ("piece", "level rule", "upright rule", "ground", "picture", "check")
"""Of tokens; the pieces come first."""
BUCKETS = 4096
"""Numbers of n-grams of characters, 0 for none."""
NGRAMS = 24
"""Of a piece, at most: of its first and last words."""
NO_RULE = 1e4
"""Where there is no rule on a side of a piece."""
PLACES = 11
"""Columns of `Tokens.places`."""

_WAVES = (2.0, 4.0, 9.0, 20.0, 45.0, 100.0)  # lengths of waves, in lines
_CHARACTERS = 8  # kinds of characters, see `_character`
_FIRST, _LAST = 4, 2  # characters whose kinds are told
_BULLETS = frozenset("•–-*◦▪■□✓—·●▶→○+☐☒☑")
_MONEY = frozenset("€$£%")
_NEAR = 0.4  # lines by which edges that are alike may differ
_WORDS = 2  # whose n-grams are told, at both ends
_LEAST = 1e-3


@dataclass(frozen=True)
class Tokens:
    """A page for a network.

    Attributes:
        features: numbers of each token; `feature_count` columns.
        places: left, top, right, bottom; size and weight of type as logarithms over the usual; the
            nearest rules above, below, left and right, `NO_RULE` without; the number of the
            smallest ground behind it, -1 without.
        ngrams: numbers of n-grams of the words of pieces.
        pieces: how many of the tokens are pieces, at the start.
        unit: of lengths, in pixels.
    """

    features: "Float[np.ndarray, 'token feature']"
    places: "Float[np.ndarray, 'token 11']"
    ngrams: "Int64[np.ndarray, 'token 24']"
    pieces: int
    unit: float


@dataclass(frozen=True)
class Shapes:
    """Rules, grounds, pictures and boxes to tick of a page, level.

    Attributes:
        rules: left, top, right, bottom, along one of the sides.
        grounds: with their lightness from 0 to 255.
        pictures: left, top, right, bottom.
        checks: left, top, right, bottom, and 1 if ticked.
    """

    rules: "Float[np.ndarray, 'rule 4']"
    grounds: "Float[np.ndarray, 'ground 5']"
    pictures: "Float[np.ndarray, 'picture 4']"
    checks: "Float[np.ndarray, 'check 5']"


def tokens_of(
    words: Words, pieces: "Sequence[Int64[np.ndarray, ' word']]", shapes: Shapes
) -> Tokens:
    """The tokens of a page.

    Args:
        words: of the page.
        pieces: of lines, see `grouped`.
        shapes: what else there is.
    """
    boxes, height, size, weight, letters = _measures(words, pieces)
    unit = _usual(height, letters)
    origin = (
        np.array([boxes[:, 0].min(), boxes[:, 1].min()]) if len(boxes) else np.zeros(2)
    )
    move = np.concatenate([origin, origin])
    boxes = (boxes - move) / unit
    # All pieces of a line are as high as the line: what is read in them is not
    middle = (boxes[:, 1] + boxes[:, 3]) / 2
    boxes[:, 1] = middle - height / unit / 2
    boxes[:, 3] = middle + height / unit / 2
    size = np.log(np.maximum(size, _LEAST) / max(_LEAST, _usual(size, letters)))
    weight = np.log(np.maximum(weight, _LEAST) / max(_LEAST, _usual(weight, letters)))
    rules = (shapes.rules - move) / unit
    grounds = (shapes.grounds[:, :4] - move) / unit
    area = _area(boxes, grounds)
    light = np.where(area >= 0, np.append(shapes.grounds[:, 4], 255)[area] / 255, 1.0)
    sides, lengths = _nearest_rules(boxes, rules)
    others, kinds, lightness = _others(rules, grounds, shapes, move, unit)
    every = np.concatenate([boxes, others])
    count, added = len(boxes), len(others)
    texts = [" ".join(words.texts[k] for k in piece) for piece in pieces]
    page = _page_numbers(every, boxes, count)
    own = [
        size,
        weight,
        light,
        *np.exp(-_gaps(boxes, sides) / 2).T,
        *np.log1p(lengths).T,
    ]
    own += [np.log1p((np.abs(v[:, None] - v) < _NEAR).sum(1)) for v in _edges(boxes)]
    told = np.concatenate([np.stack(own, 1), _text_numbers(texts)], 1)
    told = np.concatenate([told, np.zeros((added, told.shape[1]))])
    told[count:, 2] = lightness
    is_kind = np.eye(len(KINDS))[np.concatenate([np.zeros(count, int), kinds])]
    places = np.full((count + added, PLACES), NO_RULE)
    places[:, :4] = every
    places[:, 4:6] = 0.0
    places[:count, 4] = size
    places[:count, 5] = weight
    places[:count, 6:10] = sides
    places[:, 10] = np.concatenate([area, _area(others, grounds)])
    ngrams = np.zeros((count + added, NGRAMS), np.int64)
    for number, text in enumerate(texts):
        found = _ngrams(text)[:NGRAMS]
        ngrams[number, : len(found)] = found
    features = np.concatenate([is_kind, page, told], 1)
    return Tokens(
        features.astype(np.float32), places.astype(np.float32), ngrams, count, unit
    )


def feature_count() -> int:
    """Columns of `Tokens.features`."""
    words = Words(["a"], np.array([[0.0, 0, 1, 1]]), np.ones(1), np.ones(1))
    none = np.zeros((0, 5))
    shapes = Shapes(none[:, :4], none, none[:, :4], none)
    return tokens_of(words, [np.array([0])], shapes).features.shape[1]


def _measures(words: Words, pieces: "Sequence[np.ndarray]") -> tuple[np.ndarray, ...]:
    """Of pieces: boxes, heights, sizes and weights of type, and numbers of letters."""
    boxes, numbers = [], []
    long = np.array([max(1, len(text)) for text in words.texts])
    for piece in pieces:
        own = words.boxes[piece]
        share = long[piece] / long[piece].sum()
        boxes.append(
            [own[:, 0].min(), own[:, 1].min(), own[:, 2].max(), own[:, 3].max()]
        )
        height = max(1.0, float(np.median(own[:, 3] - own[:, 1])))
        size = float(np.median(words.sizes[piece]))
        weight = float((words.weights[piece] * share).sum())
        numbers.append([height, size, weight, long[piece].sum()])
    table = np.array(numbers, float).reshape(-1, 4)
    return np.array(boxes, float).reshape(-1, 4), *table.T


def _usual(values: np.ndarray, letters: np.ndarray) -> float:
    """The median over letters."""
    if not len(values):
        return 1.0
    order = values.argsort()
    counted = letters[order].cumsum()
    return float(values[order][np.searchsorted(counted, counted[-1] / 2)])


def _area(boxes: np.ndarray, grounds: np.ndarray) -> np.ndarray:
    """The smallest ground behind the middle of each box, -1 without."""
    if not len(grounds) or not len(boxes):
        return np.full(len(boxes), -1)
    middle = (boxes[:, None, :2] + boxes[:, None, 2:]) / 2
    is_behind = ((middle > grounds[:, :2]) & (middle < grounds[:, 2:])).all(2)
    size = (grounds[:, 2:] - grounds[:, :2]).prod(1)
    sizes = np.where(is_behind, size, np.inf)
    return np.where(is_behind.any(1), sizes.argmin(1), -1)


def _nearest_rules(
    boxes: np.ndarray, rules: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Places of the nearest rules above, below, left, right, and lengths of the first two."""
    sides = np.full((len(boxes), 4), NO_RULE)
    lengths = np.zeros((len(boxes), 2))
    left, top, right, bottom = boxes.T
    x, y = (left + right) / 2, (top + bottom) / 2
    for x0, y0, x1, y1 in rules:
        if x1 - x0 > y1 - y0:
            is_near = (x0 < right) & (x1 > left)
            at = (y0 + y1) / 2
            above = is_near & (at < y) & ((sides[:, 0] == NO_RULE) | (at > sides[:, 0]))
            below = is_near & (at >= y) & (at < sides[:, 1])
            for side, better in ((0, above), (1, below)):
                sides[better, side] = at
                lengths[better, side] = x1 - x0
            continue
        is_near = (y0 < bottom) & (y1 > top)
        at = (x0 + x1) / 2
        before = is_near & (at < x) & ((sides[:, 2] == NO_RULE) | (at > sides[:, 2]))
        sides[before, 2] = at
        sides[is_near & (at >= x) & (at < sides[:, 3]), 3] = at
    return sides, lengths


def _gaps(boxes: np.ndarray, sides: np.ndarray) -> np.ndarray:
    """Distances of boxes to the rules at their sides."""
    left, top, right, bottom = boxes.T
    return np.abs(sides - np.stack([top, bottom, left, right], 1))


def _edges(boxes: np.ndarray) -> tuple[np.ndarray, ...]:
    left, top, right, bottom = boxes.T
    return left, right, (left + right) / 2, (top + bottom) / 2


def _others(
    rules: np.ndarray,
    grounds: np.ndarray,
    shapes: Shapes,
    move: np.ndarray,
    unit: float,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Boxes, kinds and lightness of what is no piece."""
    is_upright = (rules[:, 2] - rules[:, 0]) < (rules[:, 3] - rules[:, 1])
    pictures = (shapes.pictures - move) / unit
    checks = (shapes.checks[:, :4] - move) / unit
    boxes = np.concatenate([rules, grounds, pictures, checks]).reshape(-1, 4)
    counts = [len(grounds), len(pictures), len(checks)]
    kinds = np.concatenate([1 + is_upright, np.repeat([3, 4, 5], counts)]).astype(int)
    light = [np.zeros(len(rules)), shapes.grounds[:, 4] / 255, np.zeros(len(pictures))]
    return boxes, kinds, np.concatenate([*light, shapes.checks[:, 4]])


def _page_numbers(every: np.ndarray, boxes: np.ndarray, count: int) -> np.ndarray:
    """Where each token is on the page, in several ways."""
    left, top, right, bottom = every.T
    wide = max(float(boxes[:, 2].max(initial=1)), 1.0)
    tall = max(float(boxes[:, 3].max(initial=1)), 1.0)
    x, y = (left + right) / 2, (top + bottom) / 2
    whole = np.ones(len(every))
    numbers = [
        np.log(np.maximum(bottom - top, 0.05)),
        *(left / wide, right / wide, x / wide, y / tall, (right - left) / wide),
        *(
            np.log1p(np.maximum(v, 0))
            for v in (right - left, left, wide - right, y, tall - y)
        ),
        *(whole * math.log(value) for value in (wide, tall, count + 1)),
    ]
    waves = [
        f(2 * np.pi * v / w)
        for v in (left, right, y)
        for w in _WAVES
        for f in (np.sin, np.cos)
    ]
    return np.stack([*numbers, *waves], 1)


def _character(character: str) -> int:
    """The kind of a character, from 1."""
    if character.isdigit():
        return 1
    if character.isalpha():
        return 2 if character.isupper() else 3
    if character in ".,:;!?":
        return 4
    if character in "()[]/":
        return 5
    return 6 if character in _BULLETS else 7


def _text_numbers(texts: Sequence[str]) -> np.ndarray:
    """Lengths, shares of digits and the like, kinds of the first and last characters."""
    rows = []
    for text in texts:
        kinds = [_character(character) for character in text if character != " "] or [7]
        count = len(kinds)
        ends = np.zeros((_FIRST + _LAST, _CHARACTERS))
        first = (kinds[:_FIRST] + [0] * _FIRST)[:_FIRST]
        last = ([0] * _LAST + kinds)[-_LAST:]
        ends[np.arange(_FIRST + _LAST), first + last] = 1
        shares = [kinds.count(kind) / count for kind in (1, 2, 3, 4)]
        flags = [
            bool(_MONEY & set(text)),
            text.isupper(),
            ":" in text,
            text.endswith(":"),
        ]
        numbers = [math.log(count), math.log(text.count(" ") + 1), *shares, *flags]
        rows.append(np.concatenate([numbers, ends.ravel()]))
    columns = 2 + 4 + 4 + (_FIRST + _LAST) * _CHARACTERS
    return np.array(rows, float).reshape(-1, columns)


def _ngrams(text: str) -> list[int]:
    """Numbers of the words at both ends of a text, and of three characters in each."""
    words = [
        "".join("0" if c.isdigit() else c for c in word)
        for word in text.lower().split()
    ]
    ends = words[:_WORDS] + words[_WORDS:][-_WORDS:]
    found = []
    for place, word in enumerate(ends):
        marked = f"<{word}>"
        found.append(_bucket(f"{place} {marked}"))
        found += [_bucket(marked[k : k + 3]) for k in range(min(5, len(marked) - 2))]
    return found


def _bucket(text: str) -> int:
    return 1 + crc32(text.encode()) % (BUCKETS - 1)
