"""Bent pages with straight lines, for text that is set behind their pictures."""

from dataclasses import replace
from statistics import median

import numpy as np

from vit_str.pages.page import Page, Word

_FARTHEST = 3.0  # heights of words by which a word may be set beside where it is seen


def straightened(page: Page) -> Page:
    """A page whose lines are those of the flat one, in the middle between where they are seen.

    Text that follows a bend is copied in pieces. A page that is bent by more than three lines to
    either side is left as it is: words would be marked too far from where they are seen.
    """
    if page.flat is None or not page.words:
        return page
    seen = np.array([word.polygon for word in page.words])
    flat = np.array([word.polygon for word in page.flat.words])
    moves = (seen - flat).mean(1)
    low, high = moves.min(0), moves.max(0)
    heights = [word.box.bottom - word.box.top for word in page.flat.words]
    if (high - low).max() / 2 > _FARTHEST * median(heights):
        return page
    places = iter((flat + (low + high) / 2).tolist())

    def moved(word: Word) -> Word:
        first, second, third, fourth = (tuple(point) for point in next(places))
        return replace(word, polygon=(first, second, third, fourth))

    blocks = tuple(tuple(tuple(map(moved, line)) for line in b) for b in page.blocks)
    return replace(page, blocks=blocks)
