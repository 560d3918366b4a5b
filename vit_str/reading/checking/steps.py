"""Steps from word to word of a page, along its lines and down its columns."""

from collections.abc import Mapping, Sequence
from enum import IntEnum
from functools import lru_cache

import numpy as np
from jaxtyping import Bool, Float, Int

from vit_str.reading.checking.places import PageWord

_SAME_ROW = 0.5  # heights of a word from the middle of its row to that of others on it


class Step(IntEnum):
    """Where a text goes from one word to the next."""

    NEXT = 0  # in reading order
    RIGHT = 1  # to the next word of the row
    DOWN = 2  # to the next word below it
    UNDER = 3  # to another word below, with nothing between
    START = 4  # to the first word of another line
    OVER = 5  # to the right in the row, over other words
    BACK = 6  # to the left in the row
    ABOVE = 7  # to a row above
    FAR = 8  # to a row below, over other words, or to another page


# Shares within lines of a text, and from line to line: rounded from 26 pages of the fit, with
# tables in three orders; what was never seen counts as 3 to 6 in 1,000
USUAL = np.array(
    [
        [0.954, 0.02, 0.003, 0.005, 0.003, 0.003, 0.003, 0.006, 0.003],
        [0.74, 0.01, 0.04, 0.1, 0.09, 0.005, 0.005, 0.006, 0.004],
    ]
)
NEARBY = 40
"""Words before and behind a step, in which the text does the like."""
WEIGHT = 8.0
"""Steps that what is known of other texts counts for."""


class ColumnStep(IntEnum):
    """Where a text goes from the last word that stands over or under one, to this one."""

    DOWN = 0  # to the next below it
    SKIP = 1  # further down, over others
    UP = 2  # to one above it
    FIRST = 3  # there was none, not so long ago


class StepShares:
    """How probable each step is near each place of a text.

    Args:
        steps: that are known, by their places: whether they lead to a new line, and what they are.
        count: of all places.
    """

    def __init__(self, steps: Mapping[int, tuple[int, Step]], count: int) -> None:
        self._steps = steps
        counts = np.zeros((count + 1, *USUAL.shape))
        for place, (begins, step) in steps.items():
            counts[place + 1, begins, step] = 1
        self._counts = counts.cumsum(0)
        self.near = lru_cache(maxsize=1 << 12)(self._near)

    def _near(
        self, place: int, without: tuple[int, ...] = ()
    ) -> Float[np.ndarray, "begins step"]:
        """Shares within lines of the text, and from line to line.

        Args:
            place: near which they are counted.
            without: places whose steps do not count.
        """
        low = max(0, place - NEARBY)
        high = min(len(self._counts) - 1, place + NEARBY + 1)
        counts = self._counts[high] - self._counts[low] + WEIGHT * USUAL
        for each in without:
            if low <= each < high:
                counts[self._steps[each]] -= 1
        shares: np.ndarray = counts / counts.sum(1, keepdims=True)
        return shares


class Geometry:
    """Where words of pages lie to each other.

    Args:
        page_words: of all pages, in reading order.
    """

    def __init__(self, page_words: Sequence[PageWord]) -> None:
        corners = np.array([each.word.polygon for each in page_words], float)
        self._corners = corners.reshape(-1, 4, 2)
        self._middles = self._corners.mean(1)
        self._pages = np.array([each.page for each in page_words], int)
        self._lines = np.array([each.line for each in page_words], int)
        self._upright = self._turned_upright()
        self.step = lru_cache(maxsize=1 << 16)(self._step)
        self.column_step = lru_cache(maxsize=1 << 16)(self._column_step)

    def _step(self, one: int | None, other: int, gap: int = 0) -> Step:
        """From one word to another.

        Args:
            one: the number of the first; None at the beginning.
            other: that of the second.
            gap: words between them that have no place.
        """
        if one is None:
            return Step.START
        if one < other <= one + 1 + gap:
            return Step.NEXT
        if self._pages[one] != self._pages[other]:
            return Step.START if self._starts(other) else Step.FAR
        near, words = self._seen_from(one)
        left, right, across = words[other - near.start]
        width = float(np.linalg.norm(self._corners[one][1] - self._corners[one][0]))
        if abs(across) < _SAME_ROW:
            if left + right < width:
                return Step.BACK
            middles = (words[:, 0] + words[:, 1]) / 2
            is_beside = np.abs(words[:, 2]) < _SAME_ROW
            is_over = (is_beside & (middles > width) & (middles < left)).any()
            return Step.OVER if is_over else Step.RIGHT
        if across > 0:
            is_between = (words[:, 2] > _SAME_ROW) & (words[:, 2] < across - _SAME_ROW)
            between = words[is_between]
            is_in_way = (between[:, 0] < right) & (between[:, 1] > left)
            is_in_way |= (between[:, 0] < width) & (between[:, 1] > 0)
            if not is_in_way.any():
                return Step.DOWN if left < width and right > 0 else Step.UNDER
        if self._starts(other):
            return Step.START
        return Step.FAR if across > 0 else Step.ABOVE

    def are_in_row(self, one: int, other: int) -> bool:
        """Whether two words stand beside each other."""
        middle, height = self._upright[2:]
        apart = abs(middle[one] - middle[other])
        is_same_page = self._pages[one] == self._pages[other]
        return bool(
            is_same_page and apart < _SAME_ROW * min(height[one], height[other])
        )

    def are_in_column(
        self, some: Int[np.ndarray, "*many"], others: Int[np.ndarray, "*many"]
    ) -> Bool[np.ndarray, "*many"]:
        """Which words stand over or under others.

        Args:
            some: numbers of words.
            others: numbers of as many, or of a shape that goes with them.
        """
        left, right, middle, height = self._upright
        is_over = np.minimum(right[some], right[others]) > np.maximum(
            left[some], left[others]
        )
        apart = np.abs(middle[some] - middle[others])
        is_aside = apart < _SAME_ROW * np.minimum(height[some], height[others])
        is_same_page = self._pages[some] == self._pages[others]
        found: np.ndarray = is_over & ~is_aside & is_same_page
        return found

    def _column_step(self, one: int, other: int) -> ColumnStep:
        """From a word to another of its column."""
        middle, height = self._upright[2:]
        if middle[other] < middle[one]:
            return ColumnStep.UP
        page = self._pages[one]
        words = np.arange(*np.searchsorted(self._pages, [page, page + 1]))
        reach = _SAME_ROW * min(height[one], height[other])
        is_between = middle[words] > middle[one] + reach
        is_between &= middle[words] < middle[other] - reach
        between = words[is_between]
        is_in_way = self.are_in_column(between, np.array(one))
        is_in_way &= self.are_in_column(between, np.array(other))
        return ColumnStep.SKIP if is_in_way.any() else ColumnStep.DOWN

    def _turned_upright(self) -> np.ndarray:
        """Left and right ends, middles and heights of all words, each page along its lines."""
        along = self._corners[:, 1] - self._corners[:, 0]
        found = np.zeros((4, len(along)))
        for page in np.unique(self._pages):
            own = self._pages == page
            usual = np.median(
                along[own] / np.linalg.norm(along[own], axis=1)[:, None], 0
            )
            usual /= np.linalg.norm(usual) or 1.0
            across = np.array([-usual[1], usual[0]])
            ends = self._corners[own] @ usual
            heights = self._corners[own] @ across
            found[:, own] = [
                ends.min(1),
                ends.max(1),
                heights.mean(1),
                np.ptp(heights, axis=1),
            ]
        return found

    def are_aligned(self, some: Sequence[int], others: Sequence[int]) -> bool:
        """Whether words are in one row, or one column, with others."""
        first = some[0]
        if len({*self._pages[[*some, *others]].tolist()}) > 1:
            return False
        near, words = self._seen_from(first)
        own = words[[word - near.start for word in some]]
        theirs = words[[word - near.start for word in others]]
        is_row = abs(theirs[0, 2]) < _SAME_ROW
        left = max(own[:, 0].min(), theirs[:, 0].min())
        right = min(own[:, 1].max(), theirs[:, 1].max())
        return bool(is_row or left < right)

    def _starts(self, word: int) -> bool:
        """Whether a word is the first of its line."""
        return not word or self._lines[word - 1] != self._lines[word]

    def _seen_from(self, one: int) -> tuple[range, np.ndarray]:
        """Words of a page: left and right end along a word, and heights below it."""
        page = self._pages[one]
        start, stop = np.searchsorted(self._pages, [page, page + 1])
        along, height = self._frame(one)
        across = np.array([-along[1], along[0]])
        corners = self._corners[start:stop] - self._corners[one][0]
        down = (self._middles[start:stop] - self._middles[one]) @ across / height
        ends = corners @ along
        return range(start, stop), np.stack([ends.min(1), ends.max(1), down], 1)

    def _frame(self, one: int) -> tuple[np.ndarray, float]:
        """The direction of the line of a word, and the height of the word."""
        first, end = np.searchsorted(self._lines, self._lines[one] + np.arange(2))
        along = self._corners[end - 1][1] - self._corners[first][0]
        down = self._corners[one][3] - self._corners[one][0]
        length = float(np.linalg.norm(along)) or 1.0
        return along / length, float(np.linalg.norm(down)) or 1.0
