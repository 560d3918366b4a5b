"""Words that are left over, found where the way that the text takes over the page would have them.

A text may go down the columns of a table, or have these in another order. A cell such as ``12`` is
then in no run of words that the page has too, and so short that looking for it anywhere would find
too much; alignment may also have put it in place of ``13`` for want of another. Where the page has
such a word elsewhere, and nothing else stands for it, the words around it tell: each step from word
to word has a probability, of texts that were right and of what this text does nearby. Of all ways
through a run of such words the most probable one is taken.
"""

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import groupby
from math import log

from vit_str.reading.checking.alignment import ALIKE, Group
from vit_str.reading.checking.places import PageWord
from vit_str.reading.checking.spelling import key, plain, similarity
from vit_str.reading.checking.steps import Geometry, Step, StepShares

_LEFT_OUT = 10.0  # cost of a word that gets no place although the page has it
_UNLIKE = 8.0  # cost of one that stands for a word unlike it
_MISREAD = 5.0  # or for one that is like it
_ELSEWHERE = 4.0  # and of a step within a line of the text that leaves row and column
_BESIDE = 4  # words beside one without a place, that may be in a wrong one
_NEAR = frozenset((Step.NEXT, Step.RIGHT, Step.OVER, Step.BACK, Step.DOWN))
_LONGEST = 100  # words of a run that are looked at together
_WAYS = 24  # that are followed
_COPIES = 12  # of a word on the page, that are looked at


def with_neighbors(
    groups: Sequence[Group],
    texts: Sequence[str],
    page_words: Sequence[PageWord],
    begin_lines: Sequence[bool] | None = None,
) -> list[Group]:
    """Groups, and those of words that are left over and stand near their neighbors.

    Args:
        groups: of an alignment, in the order of the text.
        texts: all words of the text.
        page_words: all words of the pages.
        begin_lines: whether each word of the text begins a line; None if lines tell nothing.
    """
    begin_lines = begin_lines or [True] * len(texts)
    search = _Search(groups, texts, page_words, begin_lines)
    return search.groups() if search.waiting else list(groups)


@dataclass(frozen=True, slots=True)
class _Way:
    """Places of the words of a run, up to one.

    Attributes:
        cost: negative logarithm of its probability.
        text: number of its last word that has a place; -1 if there is none.
        page: number of the word that this stands for; None if there is none.
        places: of all words of the run that have one.
    """

    cost: float
    text: int
    page: int | None
    places: dict[int, int] = field(default_factory=dict)


class _Search:
    def __init__(
        self,
        groups: Sequence[Group],
        texts: Sequence[str],
        page_words: Sequence[PageWord],
        begin_lines: Sequence[bool],
    ) -> None:
        self._texts = texts
        self._page_words = page_words
        self._begins = begin_lines
        self._keys = list(map(key, texts))
        self._printed = [key(each.word.text) for each in page_words]
        self._firm: dict[int, Group] = {}
        self._partners: dict[int, int] = {}  # words that alignment has put for others
        self._free: dict[str, list[int]] = {}
        self._sort(groups)
        self.waiting = {
            place
            for place, word in enumerate(self._keys)
            if place not in self._firm and self._free.get(word)
        }

    def _sort(self, groups: Sequence[Group]) -> None:
        """Tell groups that are right from others, and find the words that these leave free."""
        for group in groups:
            own = self._narrowed(group)
            is_one = len(own.text) == len(own.page) == 1
            if is_one and self._keys[own.text[0]] != self._printed[own.page[0]]:
                self._partners[own.text[0]] = own.page[0]
            else:
                self._firm.update(dict.fromkeys(own.text, own))
        self._free = self._left_free()
        self._loosen()
        self._free = self._left_free()

    def _left_free(self) -> dict[str, list[int]]:
        """Words of the page that nothing firm stands for."""
        used = {place for group in self._firm.values() for place in group.page}
        free = defaultdict(list)
        for place, word in enumerate(self._printed):
            if place not in used:
                free[word].append(place)
        return free

    def _loosen(self) -> None:
        """Let words go that the page has twice, beside those that wait for a place."""
        copies = Counter(self._printed)
        waiting = [
            place
            for place, word in enumerate(self._keys)
            if place not in self._firm and self._free.get(word)
        ]
        for place in waiting:
            for other in range(place - _BESIDE, place + _BESIDE + 1):
                group = self._firm.get(other)
                is_one = group and len(group.text) == len(group.page) == 1
                if group and is_one and copies[self._keys[other]] > 1:
                    self._partners[other] = group.page[0]
                    del self._firm[other]

    def _narrowed(self, group: Group) -> Group:
        """A group without what alignment has added to a word that is there as it is."""
        if len(group.page) > 1 and len(group.text) == 1:
            word = self._keys[group.text[0]]
            own = [place for place in group.page if self._printed[place] == word]
            if len(own) == 1:
                return Group(group.text, range(own[0], own[0] + 1))
        return group

    def groups(self) -> list[Group]:
        """All groups, in the order of the text."""
        found = {group.text.start: group for group in self._firm.values()}
        used = {place for group in found.values() for place in group.page}
        for run in self._runs():
            for place, word in self._best_way(run).items():
                if word not in used:
                    found[place] = Group(range(place, place + 1), range(word, word + 1))
                    used.add(word)
                if word in self._free.get(self._printed[word], ()):
                    self._free[self._printed[word]].remove(word)
        return [found[start] for start in sorted(found)]

    def _runs(self) -> Iterator[list[int]]:
        """Words without a place of their own, beside each other."""
        places = range(len(self._texts))
        for is_firm, group in groupby(places, lambda place: place in self._firm):
            run = [] if is_firm else list(group)
            for start in range(0, len(run), _LONGEST):
                yield run[start : start + _LONGEST]

    def _best_way(self, run: Sequence[int]) -> dict[int, int]:
        """Words of the page that those of a run stand for."""
        if self.waiting.isdisjoint(run):
            return {n: self._partners[n] for n in run if n in self._partners}
        before = self._firm.get(run[0] - 1)
        behind = self._firm.get(run[-1] + 1)
        ways = [_Way(0.0, run[0] - 1, before.page[-1] if before else None)]
        expected = before.page[-1] if before else 0
        for place in run:
            costs = self._costs(place, expected)
            further = [each for way in ways for each in self._longer(way, place, costs)]
            ways = sorted(further, key=lambda way: way.cost)[:_WAYS]
        if behind:
            end = run[-1] + 1
            ways = [
                replace(way, cost=way.cost + self._step_cost(way, end, behind.page[0]))
                for way in ways
            ]
        return min(ways, key=lambda way: way.cost).places

    def _longer(
        self, way: _Way, place: int, costs: Mapping[int, float]
    ) -> Iterator[_Way]:
        """A way with one more word: without a place, or with each that it may have."""
        yield replace(way, cost=way.cost + (_LEFT_OUT if costs else 0.0))
        taken = set(way.places.values())
        for word, cost in costs.items():
            if word not in taken:
                total = way.cost + cost + self._step_cost(way, place, word)
                yield _Way(total, place, word, {**way.places, place: word})

    def _copies(self, word: str, expected: int) -> list[int]:
        """Places that a word may have, near one."""
        free = self._free.get(word, [])
        first = max(0, bisect_left(free, expected) - _COPIES // 2)
        return free[first : first + _COPIES]

    def _costs(self, place: int, expected: int) -> dict[int, float]:
        """The words that one may stand for, and what each costs."""
        word = self._keys[place]
        partner = self._partners.get(place)
        costs = dict.fromkeys(self._copies(word, expected), 0.0)
        if partner is not None and self._printed[partner] == word:
            costs[partner] = 0.0
        elif partner is not None:
            one = plain(self._texts[place])
            other = plain(self._page_words[partner].word.text)
            is_misread = similarity(one, other) >= ALIKE
            costs[partner] = _MISREAD if is_misread else _UNLIKE
        return costs

    def _step_cost(self, way: _Way, place: int, word: int) -> float:
        gap = place - way.text - 1
        step = self._geometry.step(way.page, word, gap)
        begins = int(self._begins[place])
        cost = -log(self._shares.near(place)[begins, step])
        return cost if begins or step in _NEAR else cost + _ELSEWHERE

    @cached_property
    def _geometry(self) -> Geometry:
        return Geometry(self._page_words)

    @cached_property
    def _shares(self) -> StepShares:
        """How probable steps are, of those between words that are right."""
        steps = {}
        for place, group in self._firm.items():
            before = self._firm.get(place - 1)
            if before and before is not group:
                step = self._geometry.step(before.page[-1], group.page[0])
                steps[place] = int(self._begins[place]), step
        return StepShares(steps, len(self._texts))
