"""Words without a place -> what tells whether a page has them all the same.

A word that was invented is seldom alone, and there is no room for it on the page. A word that a
page has was not read, or as another, where its neighbors are. How probable either is was fitted,
see `vit_str.reading.checking.judging`.
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from vit_str.reading.checking.alignment import Group
from vit_str.reading.checking.places import PageWord
from vit_str.reading.checking.spelling import key, similarity

_AROUND = 10  # words of the text before and behind, that tell how well it is read
# Words of a page before and behind, among which one may be the word, misread
_NEAR = 12
_ENOUGH = 0.8  # of the width that words should have


class Absence(NamedTuple):
    """What is known of a word that has no place; all are larger the more tells for the word.

    Attributes:
        alone: one over the number of words beside each other that have no place.
        around: share of the words of the text nearby that a page has as they are.
        room: whether there is room on the page between the words before and behind, 0 or 1; 0.5
            where these do not follow each other in one line.
        near: similarity of the most similar word there that no word of the text stands for.
        short: one over the number of its letters.
    """

    alone: float
    around: float
    room: float
    near: float
    short: float


def absences(
    groups: Sequence[Group], texts: Sequence[str], page_words: Sequence[PageWord]
) -> dict[int, Absence]:
    """What is known of each word of a text that is in no group, by its number; not of marks.

    Args:
        groups: of an alignment.
        texts: all words of the text.
        page_words: all words of the pages.
    """
    return dict(_Text(groups, texts, page_words).absences())


class _Text:
    def __init__(
        self,
        groups: Sequence[Group],
        texts: Sequence[str],
        page_words: Sequence[PageWord],
    ) -> None:
        self._texts = texts
        self._page_words = page_words
        self._keys = list(map(key, texts))
        self._printed = [key(each.word.text) for each in page_words]
        self._homes = {place: group for group in groups for place in group.text}
        used = {place for group in groups for place in group.page}
        self._free = [n for n in range(len(page_words)) if n not in used]
        self._found = [self._is_found(place) for place in range(len(texts))]

    def absences(self) -> Iterator[tuple[int, Absence]]:
        """All words that have no place, with their numbers."""
        places = range(len(self._texts))
        for has_place, run in groupby(places, lambda place: place in self._homes):
            if not has_place:
                yield from self._of_run(list(run))

    def _of_run(self, run: Sequence[int]) -> Iterator[tuple[int, Absence]]:
        before = self._homes.get(run[0] - 1)
        behind = self._homes.get(run[-1] + 1)
        room = self._room(run, before, behind)
        free = self._free_beside(before, behind)
        for place in run:
            text = self._texts[place]
            if any(map(str.isalnum, text)):
                near = max(
                    (similarity(self._keys[place], each) for each in free), default=0.0
                )
                around = self._around(place)
                yield place, Absence(1 / len(run), around, room, near, 1 / len(text))

    def _is_found(self, place: int) -> bool:
        group = self._homes.get(place)
        if group is None:
            return False
        own = "".join(self._keys[each] for each in group.text)
        return own == "".join(self._printed[each] for each in group.page)

    def _around(self, place: int) -> float:
        start = max(0, place - _AROUND)
        near = self._found[start : place + _AROUND + 1]
        return sum(near) / max(1, len(near) - 1)

    def _room(
        self, run: Sequence[int], before: Group | None, behind: Group | None
    ) -> float:
        if before is None or behind is None:
            return 0.5
        last, first = before.page[-1], behind.page[0]
        one, other = self._page_words[last], self._page_words[first]
        if first != last + 1 or one.line != other.line:
            return 0.5
        letters = len(" ".join(self._texts[place] for place in run))
        width = letters * one.width / len(one.word.text)
        return float(one.room[1] >= _ENOUGH * width)

    def _free_beside(self, before: Group | None, behind: Group | None) -> list[str]:
        """Words of pages near two groups, that no word of the text stands for."""
        ends = [before.page[-1]] if before else []
        ends += [behind.page[0]] if behind else []
        places: set[int] = set()
        for end in ends:
            first = bisect_left(self._free, end - _NEAR)
            places.update(self._free[first : bisect_left(self._free, end + _NEAR + 1)])
        return [self._printed[place] for place in sorted(places)]
