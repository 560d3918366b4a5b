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
from functools import lru_cache
from math import log

import numpy as np
from jaxtyping import Int

from vit_str.reading.checking.alignment import Group, paired
from vit_str.reading.checking.places import PageWord
from vit_str.reading.checking.spelling import key
from vit_str.reading.checking.steps import (
    NEARBY,
    WEIGHT,
    ColumnStep,
    Geometry,
    Step,
    StepShares,
)

_LONGEST = 4  # words of a stretch
_TOGETHER = 16  # stretches of which any two may be exchanged
_RARE = 0.1  # probability of a step below which what it leads to may be exchanged
_EXCHANGE = -log(1e-5)  # cost of exchanging two stretches of a row or column
_ANYWHERE = -log(1e-6)  # and what is added where they are not in one
_NO_DIGITS = -log(0.1)  # or where neither holds a digit
# Shares of the steps down columns
_USUAL_COLUMNS = np.array([0.94, 0.02, 0.02, 0.02])
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
        known = dict(enumerate(zip(self._begins, self._steps, strict=True)))
        self._near = StepShares(known, len(groups)).near
        self._stretches = list(self._all_stretches())
        self._columns = _Columns(groups, self._geometry)
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
            if place == len(self._groups) or self._is_parted(place):
                start = self._groups[first].page[0]
                yield _Stretch(first, place, start)
                first = place

    def _is_parted(self, place: int) -> bool:
        """Whether a group does not follow the one before in a row of the page."""
        if self._begins[place] or self._steps[place] not in _EASY:
            return True
        one, other = self._groups[place - 1].page[-1], self._groups[place].page[0]
        return not self._geometry.are_in_row(one, other)

    def _new_places(self) -> dict[int, _Place]:
        """Where stretches are on the page, of those that are not where their words are."""
        short = [
            n
            for n, stretch in enumerate(self._stretches)
            if stretch.end - stretch.first <= _LONGEST
        ]
        able = {n for n in short if self._is_rare(self._stretches[n])}
        moves = [self._move_to_free(number) for number in sorted(able)]
        for index, one in enumerate(short):
            for other in short[index + 1 : index + _TOGETHER]:
                if one in able or other in able:
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

    def _is_rare(self, stretch: _Stretch) -> bool:
        """Whether a rare step leads to a stretch or from it."""
        around = [stretch.first]
        if stretch.end < len(self._groups):
            around.append(stretch.end)
        shares = [self._shares(place, around)[self._steps[place]] for place in around]
        return min(shares) < _RARE

    def _shares(self, place: int, without: Sequence[int]) -> np.ndarray:
        """How probable steps are near a group, if some steps are not known."""
        return self._near(place, tuple(without))[self._begins[place]]

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
        if gain > 0:
            gain += self._columns.gain(self._moved_words(move))
        if all(self._says(number, place) for number, place in move.items()):
            return gain
        places = [self._place(number).words for number in move]
        if len(places) > 1 and not self._geometry.are_aligned(*places):
            gain -= _ANYWHERE
        if not any(map(self._has_digits, move)):
            gain -= _NO_DIGITS
        return gain - _EXCHANGE

    def _moved_words(self, move: Mapping[int, _Place]) -> dict[int, int]:
        """The groups of stretches that are elsewhere, and the words that each begins with."""
        words = {}
        for number, place in move.items():
            stretch = self._stretches[number]
            for index in range(stretch.first, stretch.end):
                nearest = min(index - stretch.first, len(place.words) - 1)
                words[index] = place.words[nearest]
        return words

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


class _Columns:
    """The steps of a text down columns.

    Args:
        groups: in the order of the text.
        geometry: of the pages.
    """

    def __init__(self, groups: Sequence[Group], geometry: Geometry) -> None:
        self._homes = np.array([group.page[0] for group in groups], int)
        self._geometry = geometry
        self._counts = lru_cache(maxsize=1 << 12)(self._counts_near)

    def gain(self, moved: Mapping[int, int]) -> float:
        """By how much the steps are more probable if some groups are elsewhere.

        Args:
            moved: the words that these groups would begin with.
        """
        ends = [np.arange(each, each + NEARBY + 1) for each in moved]
        places = np.unique(np.concatenate(ends))
        places = places[places < len(self._homes)]
        homes = self._homes.copy()
        homes[list(moved)] = list(moved.values())
        before = self.steps(places)
        after = self._steps(places, homes)
        is_other = before != after
        middle = min(moved)
        is_near = is_other & (places <= middle + NEARBY)
        counts = self._counts(middle) - _counted(before[is_near])
        shares = counts + WEIGHT * _USUAL_COLUMNS
        logs = np.log(shares / shares.sum())
        return float((logs[after] - logs[before]).sum())

    def steps(self, places: Int[np.ndarray, "group"]) -> Int[np.ndarray, "group"]:
        """The steps that lead to some groups."""
        return self._steps(places, self._homes)

    def _steps(
        self, places: Int[np.ndarray, "group"], homes: Int[np.ndarray, "all"]
    ) -> Int[np.ndarray, "group"]:
        """The same if all groups had other words."""
        back = places[:, None] - np.arange(1, NEARBY + 1)
        others = homes[np.maximum(back, 0)]
        words = homes[places]
        is_over = self._geometry.are_in_column(others, words[:, None]) & (back >= 0)
        last = others[np.arange(len(places)), is_over.argmax(1)]
        steps = np.full(len(places), ColumnStep.FIRST, int)
        for index in np.flatnonzero(is_over.any(1)):
            pair = int(last[index]), int(words[index])
            steps[index] = self._geometry.column_step(*pair)
        return steps

    def _counts_near(self, place: int) -> np.ndarray:
        """How often a text takes each step near a group."""
        end = min(len(self._homes), place + NEARBY + 1)
        return _counted(self.steps(np.arange(max(0, place - NEARBY), end)))


def _counted(steps: Int[np.ndarray, "group"]) -> np.ndarray:
    return np.bincount(steps, minlength=len(ColumnStep))


def _moved(places: range, by: int) -> range:
    return range(places.start + by, places.stop + by)


def column_steps_of(
    groups: Sequence[Group], page_words: Sequence[PageWord]
) -> list[ColumnStep]:
    """The steps of a text down columns: to see what is usual."""
    steps = _Columns(groups, Geometry(page_words)).steps(np.arange(len(groups)))
    return list(map(ColumnStep, steps.tolist()))


def steps_of(
    groups: Sequence[Group],
    page_words: Sequence[PageWord],
    begin_lines: Sequence[bool],
) -> list[tuple[bool, Step]]:
    """The steps of a text, and whether they are from line to line: to see what is usual."""
    chain = _Chain(groups, [], page_words, begin_lines)
    return list(zip(map(bool, chain._begins), chain._steps, strict=True))
