"""Words that a text has in each other's place, such as two cells of a table.

Words are found wherever they are on the page, so that texts may have them in any order. Two amounts
that stand in each other's row would be found too, but for what is done here. A text goes from word
to word in steps: to the next in reading order, to the right, down a column, to a new line; seldom
anywhere else. How probable each step is comes from texts that were right, and from what the text
does nearby: one that goes down columns, or has them in another order, does so again and again. Two
short stretches of words count as exchanged where the steps of the text are less probable than
those of the text with both exchanged, by more than exchanges are rare. Within a line of the text,
which may be a row of a table, other steps are usual than from line to line.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache
from math import log

import numpy as np

from vit_str.reading.checking.alignment import Group, paired
from vit_str.reading.checking.places import PageWord
from vit_str.reading.checking.spelling import key

_SAME_ROW = 0.5  # heights of a word from the middle of its row to that of others on it
_LONGEST = 4  # words of a stretch
_TOGETHER = 16  # stretches of which any two may be exchanged
_NEARBY = 40  # words before and behind a step, in which the text does the like
_RARE = 0.1  # probability of a step below which what it leads to may be exchanged
_EXCHANGE = -log(1e-5)  # cost of exchanging two stretches of a row or column
_ANYWHERE = -log(1e-6)  # and what is added where they are not in one
_NO_DIGITS = -log(0.1)  # or where neither holds a digit
_WEIGHT = 8.0  # steps that what is known of other texts counts for


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
_USUAL = np.array(
    [
        [0.954, 0.02, 0.003, 0.005, 0.003, 0.003, 0.003, 0.006, 0.003],
        [0.74, 0.01, 0.04, 0.1, 0.09, 0.005, 0.005, 0.006, 0.004],
    ]
)
_EASY = frozenset((Step.NEXT, Step.RIGHT))  # within a stretch


def with_exchanges(
    groups: Sequence[Group],
    texts: Sequence[str],
    page_words: Sequence[PageWord],
    begin_lines: Sequence[bool] | None = None,
) -> list[Group]:
    """Groups in which exchanged words stand for what is printed in their place.

    Args:
        groups: of an alignment, in the order of the text.
        texts: all words of the text.
        page_words: all words of the pages.
        begin_lines: whether each word of the text begins a line; None if lines tell nothing.
    """
    if not groups:
        return []
    begin_lines = begin_lines or [True] * len(texts)
    stretches = _Chain(groups, texts, page_words, begin_lines).exchanged()
    return [group for stretch in stretches for group in stretch]


@dataclass(frozen=True, slots=True)
class _Stretch:
    """Groups that follow each other in the text and on the page.

    Attributes:
        first: number of its first group.
        end: number behind its last.
        start: number of its first word on the page.
    """

    first: int
    end: int
    start: int


@dataclass(frozen=True, slots=True)
class _Place:
    """Numbers of words on the page."""

    words: Sequence[int]


class _Chain:
    """The steps of a text."""

    def __init__(
        self,
        groups: Sequence[Group],
        texts: Sequence[str],
        page_words: Sequence[PageWord],
        begin_lines: Sequence[bool],
    ) -> None:
        self._groups = groups
        self._texts = texts
        self._page_words = page_words
        self._geometry = Geometry(page_words)
        self._steps = list(self._all_steps())
        self._begins = [int(begin_lines[group.text[0]]) for group in groups]
        kinds = np.zeros((len(groups) + 1, *_USUAL.shape))
        kinds[np.arange(len(groups)) + 1, self._begins, self._steps] = 1
        self._counts = kinds.cumsum(0)
        self._stretches = list(self._all_stretches())
        self._used = {place for group in groups for place in group.page}

    def exchanged(self) -> Iterator[list[Group]]:
        """The groups of all stretches, exchanged where that is more probable."""
        places = self._new_places()
        for number, stretch in enumerate(self._stretches):
            own = list(self._groups[stretch.first : stretch.end])
            place = places.get(number)
            yield self._paired(own, place.words) if place else own

    def _all_steps(self) -> Iterator[Step]:
        """Of every group, the step that leads to it."""
        before: Group | None = None
        for group in self._groups:
            last = before.page[-1] if before else None
            gap = group.text.start - before.text.stop if before else 0
            yield self._geometry.step(last, group.page[0], gap)
            before = group

    def _all_stretches(self) -> Iterator[_Stretch]:
        first = 0
        for place in range(1, len(self._groups) + 1):
            is_end = place == len(self._groups)
            if is_end or self._steps[place] not in _EASY:
                start = self._groups[first].page[0]
                yield _Stretch(first, place, start)
                first = place

    def _new_places(self) -> dict[int, _Place]:
        """Where stretches are on the page, of those that are not where their words are."""
        able = [
            n for n, stretch in enumerate(self._stretches) if self._may_move(stretch)
        ]
        moves = [self._move_to_free(number) for number in able]
        for index, one in enumerate(able):
            for other in able[index + 1 : index + _TOGETHER]:
                places = {one: self._place(other), other: self._place(one)}
                moves.append(places)
        gains = [(-self._gain(move), sorted(move), move) for move in moves if move]
        found: dict[int, _Place] = {}
        settled: set[int] = set()  # each tells of the steps to its neighbors
        for loss, numbers, move in sorted(gains, key=lambda each: each[:2]):
            if loss < 0 and settled.isdisjoint(numbers):
                found |= move
                settled.update(n + aside for n in numbers for aside in (-1, 0, 1))
        return found

    def _place(self, number: int) -> _Place:
        stretch = self._stretches[number]
        groups = self._groups[stretch.first : stretch.end]
        return _Place([place for group in groups for place in group.page])

    def _move_to_free(self, number: int) -> dict[int, _Place]:
        """A stretch on what is free behind the one before; nothing if that is too much."""
        before = self._place(number - 1).words[-1] if number else -1
        behind = len(self._page_words)
        if number + 1 < len(self._stretches):
            behind = self._stretches[number + 1].start
        words = [*range(before + 1, behind)]
        is_free = not any(word in self._used for word in words)
        return {number: _Place(words)} if 0 < len(words) <= _LONGEST and is_free else {}

    def _may_move(self, stretch: _Stretch) -> bool:
        """Whether a stretch is short, and a rare step leads to it or from it."""
        if stretch.end - stretch.first > _LONGEST:
            return False
        around = [stretch.first]
        if stretch.end < len(self._groups):
            around.append(stretch.end)
        shares = [self._shares(place, around)[self._steps[place]] for place in around]
        return min(shares) < _RARE

    def _shares(self, place: int, without: Sequence[int]) -> np.ndarray:
        """How probable steps are near a group, if some steps are not known."""
        low = max(0, place - _NEARBY)
        high = min(len(self._steps), place + _NEARBY + 1)
        counts = self._counts[high] - self._counts[low]
        for each in without:
            if low <= each < high:
                counts[self._begins[each], self._steps[each]] -= 1
        total: np.ndarray = (counts + _WEIGHT * _USUAL)[self._begins[place]]
        return total / total.sum()

    def _gain(self, move: Mapping[int, _Place]) -> float:
        """By how much the steps are more probable if stretches are elsewhere, and what it costs."""
        around = sorted({*move, *(number + 1 for number in move)})
        around = [n for n in around if n < len(self._stretches)]
        firsts = [self._stretches[n].first for n in around]
        gain = 0.0
        for number in around:
            here = self._stretches[number].first
            shares = self._shares(here, firsts)
            before = (
                (move.get(number - 1) or self._place(number - 1)) if number else None
            )
            now = move.get(number) or self._place(number)
            last = before.words[-1] if before else None
            step = self._geometry.step(last, now.words[0], self._gap(here))
            gain += log(shares[step]) - log(shares[self._steps[here]])
        if all(self._says(number, place) for number, place in move.items()):
            return gain
        places = [self._place(number).words for number in move]
        if len(places) > 1 and not self._geometry.are_aligned(*places):
            gain -= _ANYWHERE
        if not any(map(self._has_digits, move)):
            gain -= _NO_DIGITS
        return gain - _EXCHANGE

    def _has_digits(self, number: int) -> bool:
        stretch = self._stretches[number]
        groups = self._groups[stretch.first : stretch.end]
        words = (self._texts[place] for group in groups for place in group.text)
        return any(map(str.isdigit, "".join(words)))

    def _gap(self, place: int) -> int:
        """Words of the text before a group that have no place."""
        before = self._groups[place - 1].text.stop if place else 0
        return self._groups[place].text.start - before

    def _says(self, number: int, place: _Place) -> bool:
        """Whether a place has the words of a stretch."""
        stretch = self._stretches[number]
        groups = self._groups[stretch.first : stretch.end]
        words = [key(self._texts[place]) for group in groups for place in group.text]
        return words == [key(self._page_words[each].word.text) for each in place.words]

    def _paired(self, own: Sequence[Group], page: Sequence[int]) -> list[Group]:
        """Words of a stretch with words on the page."""
        text = [place for group in own for place in group.text]
        is_whole = page[-1] - page[0] + 1 == len(page)
        if len(text) == len(page) or not is_whole:
            pairs = zip(text, page, strict=False)
            return [Group(range(a, a + 1), range(b, b + 1)) for a, b in pairs]
        words = [self._texts[place] for place in text]
        printed = [self._page_words[place].word.text for place in page]
        return [
            Group(_moved(one, text[0]), _moved(other, page[0]))
            for one, other in paired(words, printed)
        ]


def _moved(places: range, by: int) -> range:
    return range(places.start + by, places.stop + by)


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
        self.step = lru_cache(maxsize=1 << 16)(self._step)

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


def steps_of(
    groups: Sequence[Group],
    page_words: Sequence[PageWord],
    begin_lines: Sequence[bool],
) -> list[tuple[bool, Step]]:
    """The steps of a text, and whether they are from line to line: to see what is usual."""
    chain = _Chain(groups, [], page_words, begin_lines)
    return list(zip(map(bool, chain._begins), chain._steps, strict=True))
