"""Ink that two lines claim: where their boxes overlap, a stem of one is a 1 of the other."""

from collections.abc import Sequence
from itertools import chain

import numpy as np

from vit_str.decoding.readings import per_character
from vit_str.pages.page import Word
from vit_str.pages.read.pieces import Read

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
    sides = np.maximum(boxes[:, 2:] - boxes[:, :2], 1e-3)
    low = np.maximum(boxes[:, None, :2], boxes[:, :2])
    high = np.minimum(boxes[:, None, 2:], boxes[:, 2:])
    shared = np.clip(high - low, 0, None)
    # Along both sides: small words on a large one, as of a stamp, are others
    is_within = shared[..., 0] > _WITHIN * sides[:, None, 0]
    height = np.maximum(sides[:, None, 1], sides[:, 1])
    is_within &= shared[..., 1] > _WITHIN * height
    is_within &= of_line[:, None] != of_line
    is_double = (is_within & (sure[:, None] < sure)).any(1)
    kept = iter(~is_double)
    return [[word for word in line if next(kept)] for line in words]
