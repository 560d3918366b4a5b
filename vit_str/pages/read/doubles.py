"""Ink that two lines claim: where their boxes overlap, a stem of one is a 1 of the other."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from vit_str.decoding.readings import per_character
from vit_str.pages.page import Word
from vit_str.pages.read.pieces import Read

if TYPE_CHECKING:
    from jaxtyping import Bool, Float

_WITHIN = 0.5  # share of a word, beyond which it is a part of another one


def without_doubles(
    lines: Sequence[Sequence[Read]], words: Sequence[Sequence[Word]]
) -> list[list[Word]]:
    """Words of lines, without those that lie within a word of another line that is surer.

    Lines may have none left.

    Args:
        lines: what was read of each word.
        words: the same on the page.
    """
    every = list(chain.from_iterable(words))
    if not every:
        return [list(line) for line in words]
    of_line = np.repeat(np.arange(len(words)), [len(line) for line in words])
    readings = [reading for line in lines for _, reading in line]
    sure = np.array([per_character([reading]) for reading in readings])
    boxes = np.array([word.box for word in every], float)
    low = np.maximum(boxes[:, None, :2], boxes[:, :2])
    high = np.minimum(boxes[:, None, 2:], boxes[:, 2:])
    meets = (low < high).all(2) & (of_line[:, None] != of_line)
    less_sure, surer = np.nonzero(meets & (sure[:, None] < sure))
    polygons = np.array([word.polygon for word in every], float)
    is_within = _are_within(polygons[less_sure], polygons[surer])
    doubles = set(less_sure[is_within].tolist())
    numbers = iter(range(len(every)))
    return [[word for word in line if next(numbers) not in doubles] for line in words]


def _are_within(
    words: Float[np.ndarray, "pair 4 2"], others: Float[np.ndarray, "pair 4 2"]
) -> Bool[np.ndarray, " pair"]:
    """Whether most of each word is within another one, along its line and across it.

    Across, most of the higher of both is shared: small words on a large one, as of a stamp, are
    others. Boxes along the picture would join lines that are tilted.
    """
    along = words[:, 1] - words[:, 0]
    along /= np.maximum(np.linalg.norm(along, axis=1, keepdims=True), 1e-9)
    across = np.stack([-along[:, 1], along[:, 0]], 1)
    axes = np.stack([along, across], 2)
    own = words @ axes
    other = others @ axes
    low = np.maximum(own.min(1), other.min(1))
    high = np.minimum(own.max(1), other.max(1))
    sizes = np.ptp(own, 1)
    sizes[:, 1] = np.maximum(sizes[:, 1], np.ptp(other, 1)[:, 1])
    is_within: Bool[np.ndarray, " pair"] = (high - low > _WITHIN * sizes).all(1)
    return is_within
