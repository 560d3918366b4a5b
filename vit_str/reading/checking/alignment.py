"""Words of a text -> words of pages, in whatever order the text has them.

Runs of the same words are found first, wherever they are, the longest first. What lies between two
runs is aligned word by word, also one word with several: a word that is cut at the end of a line,
or a gap that one of both did not see. What is left over is looked for anywhere. Time grows with the
number of words, not with its square: only between runs is every word compared with every other,
and no more than a few dozen of each.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from heapq import heapify, heappop, heappush
from itertools import pairwise
from typing import NamedTuple

from vit_str.reading.checking.spelling import key, plain, similarity

_MOST_PLACES = 64  # pairs of places of two words that a run may begin with
_SHORT = 4  # words up to which a run may be what was exchanged
_WINDOW = 6  # words between longer runs in which something was exchanged
_ROOM = 40  # words of a page that are compared with those of a gap, beside as many as it has
_GAP = 120  # words of a text that are aligned at once, at either end of a gap
_DROPPED = 0.55  # cost of a word without a partner
_UNLIKE = 0.9  # cost of two words that have nothing in common
_JOINED = 0.06  # cost of a word that is cut or joined
ALIKE = 0.4  # similarity from which on words count as misread, not as others
_ALONE = 4  # letters from which on a word is found alone anywhere
_COPY = 4  # words from which on a run that stands once too often is a copy
# Words of the text that go together with so many of the page
_MOVES = ((1, 1), (1, 2), (1, 3), (2, 1), (3, 1))


class Group(NamedTuple):
    """Words of the text that stand for words of the page, one of both, or one and several."""

    text: range
    page: range


class _Run(NamedTuple):
    text: int
    page: int
    length: int

    @property
    def text_end(self) -> int:
        return self.text + self.length

    @property
    def page_end(self) -> int:
        return self.page + self.length


def align(
    text: Sequence[str], page: Sequence[str], lines: Sequence[int] | None = None
) -> list[Group]:
    """Which words of a text stand for which of a page; words without a partner are in no group.

    Args:
        text: words in the order of the text.
        page: words in reading order, of all pages.
        lines: the line of each word of the pages, in which words keep their order; None for one.
    """
    return _Alignment(text, page, lines or [0] * len(page)).groups()


class _Alignment:
    def __init__(
        self, text: Sequence[str], page: Sequence[str], lines: Sequence[int]
    ) -> None:
        self.lines = lines
        self.text = list(map(plain, text))
        self.page = list(map(plain, page))
        self.text_keys = list(map(key, text))
        self.page_keys = list(map(key, page))
        self.text_used = [False] * len(text)
        self.page_used = [False] * len(page)
        self.copies: set[int] = set()  # words of the text that are one too many
        self.found: list[Group] = []

    def groups(self) -> list[Group]:
        candidates = self._candidates()
        runs = self._without_exchanges(self._placed(candidates))
        for run in runs:
            for place in range(run.length):
                self._note(run.text + place, 1, run.page + place, 1)
        self.copies = self._copied(candidates)
        self._fill(runs)
        self._find_alone()
        self._absorb()
        return sorted(self.found, key=lambda group: group.text.start)

    def _note(self, text: int, texts: int, page: int, pages: int) -> None:
        group = Group(range(text, text + texts), range(page, page + pages))
        self.found.append(group)
        for place in group.text:
            self.text_used[place] = True
        for place in group.page:
            self.page_used[place] = True

    def _candidates(self) -> list[_Run]:
        """All runs of the same words that begin with two rare ones, or are one rare word."""
        runs: dict[tuple[int, int], _Run] = {}
        seen: set[tuple[int, int]] = set()
        for size in (2, 1):
            places = _places(self.text_keys, size)
            of_page = _places(self.page_keys, size)
            most = _MOST_PLACES if size > 1 else 1
            for words, starts in places.items():
                ends = of_page.get(words, ())
                if not ends or len(starts) * len(ends) > most:
                    continue
                if size == 1 and len(words[0]) < _ALONE:
                    continue
                for start in starts:
                    for end in ends:
                        if (start, end) not in seen:
                            run = self._extended(start, end)
                            runs[run.text, run.page] = run
                            diagonal = range(run.length)
                            seen.update((run.text + n, run.page + n) for n in diagonal)
        return list(runs.values())

    def _extended(self, text: int, page: int) -> _Run:
        start, begin = text, page
        while start and begin and self._is_equal(start - 1, begin - 1):
            start -= 1
            begin -= 1
        while (
            text < len(self.text)
            and page < len(self.page)
            and self._is_equal(text, page)
        ):
            text += 1
            page += 1
        return _Run(start, begin, text - start)

    def _is_equal(self, text: int, page: int) -> bool:
        return self.text_keys[text] == self.page_keys[page]

    def _placed(self, candidates: Sequence[_Run]) -> list[_Run]:
        """Runs that share no words, the longest first; what is taken is cut off the others."""
        waiting = [(-run.length, run.text, run.page) for run in candidates]
        heapify(waiting)
        text_used = [False] * len(self.text)
        page_used = [False] * len(self.page)
        placed = []
        while waiting:
            length, text, page = heappop(waiting)
            free = [
                n
                for n in range(-length)
                if not (text_used[text + n] or page_used[page + n])
            ]
            if len(free) == -length:
                run = _Run(text, page, -length)
                placed.append(run)
                text_used[text : run.text_end] = [True] * run.length
                page_used[page : run.page_end] = [True] * run.length
                continue
            for part in _stretches(free):
                long = len(part) > 1 or len(self.text_keys[text + part[0]]) >= _ALONE
                if long:
                    heappush(waiting, (-len(part), text + part[0], page + part[0]))
        return sorted(placed)

    def _copied(self, candidates: Sequence[_Run]) -> set[int]:
        """Words of the text that stand for nothing, in runs that other words of it stand for."""
        copied: set[int] = set()
        for run in candidates:
            own = [
                run.text + n
                for n in range(run.length)
                if self.page_used[run.page + n] and not self.text_used[run.text + n]
            ]
            if 2 * len(own) >= run.length >= _COPY:
                copied.update(own)
        return copied

    def _without_exchanges(self, runs: list[_Run]) -> list[_Run]:
        """Runs without short ones that cross each other in one line, between two long ones.

        Two words that were exchanged would else be found where they are on the page.
        """
        kept = []
        for first, between, last in _windows(runs):
            room = last.page - first.page_end
            inside = [first.page_end <= run.page < last.page for run in between]
            words = last.text - first.text_end
            is_small = words <= _WINDOW and room <= 2 * _WINDOW and room >= 0
            is_small &= len({*self.lines[first.page_end : last.page]}) <= 1
            moved = any(one.page > other.page for one, other in pairwise(between))
            if is_small and room and (moved or not all(inside)):
                between = []
            elif not room and words <= _WINDOW:
                between = [
                    run for run, is_in in zip(between, inside, strict=True) if is_in
                ]
            kept += [first, *between]
        return [run for run in kept if run.length]

    def _fill(self, runs: Sequence[_Run]) -> None:
        """Align what lies between runs."""
        ends = [_Run(0, 0, 0), *runs, _Run(len(self.text), len(self.page), 0)]
        for before, after in pairwise(ends):
            gap = range(before.text_end, after.text)
            if not gap:
                continue
            follows = self._free_after(before.page_end, len(gap))
            self._align(gap[:_GAP], follows)
            rest = [place for place in gap if not self.text_used[place]]
            leads = self._free_before(after.page, len(rest))
            for part in list(_stretches(rest))[-1:]:
                last = part[-_GAP:]
                self._align(range(last[0], last[-1] + 1), leads)

    def _free_after(self, place: int, count: int) -> range:
        end = place
        most = min(len(self.page), place + min(count, _GAP) + _ROOM)
        while end < most and not self.page_used[end]:
            end += 1
        return range(place, end)

    def _free_before(self, place: int, count: int) -> range:
        start = place
        least = max(0, place - min(count, _GAP) - _ROOM)
        while start > least and not self.page_used[start - 1]:
            start -= 1
        return range(start, place)

    def _align(self, text: range, page: range) -> None:
        """Pair words of a gap, with the least cost; notes what has a partner."""
        page = range(
            page.start,
            next((p for p in page if self.page_used[p]), page.stop),
        )
        if not text or not page:
            return
        one = [self.text[place] for place in text]
        other = [self.page[place] for place in page]
        copies = {place - text.start for place in text if place in self.copies}
        for texts, pages in paired(one, other, copies):
            self._note(
                text.start + texts.start,
                len(texts),
                page.start + pages.start,
                len(pages),
            )

    def _absorb(self) -> None:
        """Let groups that are not right take what is left over beside them, if that is better."""
        for index, group in enumerate(self.found):
            alike = self._similarity(group)
            best = group
            for other in self._larger(group) if alike < 1 else ():
                if self._similarity(other) > alike:
                    best = other
                    alike = self._similarity(other)
            self.found[index] = best
            for place in best.text:
                self.text_used[place] = True
            for place in best.page:
                self.page_used[place] = True

    def _larger(self, group: Group) -> Iterator[Group]:
        """The group with a word more, of the text or of the page, that nothing stands for."""
        text, page = group
        if len(page) == 1:
            if text.start and not self.text_used[text.start - 1]:
                yield Group(range(text.start - 1, text.stop), page)
            if text.stop < len(self.text) and not self.text_used[text.stop]:
                yield Group(range(text.start, text.stop + 1), page)
        if len(text) == 1:
            if page.start and not self.page_used[page.start - 1]:
                yield Group(text, range(page.start - 1, page.stop))
            if page.stop < len(self.page) and not self.page_used[page.stop]:
                yield Group(text, range(page.start, page.stop + 1))

    def _similarity(self, group: Group) -> float:
        one = "".join(self.text[place] for place in group.text)
        return similarity(one, joined([self.page[place] for place in group.page]))

    def _find_alone(self) -> None:
        """Pair words that are left over with the same words elsewhere on the pages."""
        free = defaultdict(list)
        for place, used in enumerate(self.page_used):
            if not used:
                free[self.page_keys[place]].append(place)
        expected = 0
        partner = {group.text[0]: group.page[0] for group in self.found}
        for place, used in enumerate(self.text_used):
            expected = partner.get(place, expected)
            word = self.text_keys[place]
            if used or len(word) < _ALONE or not free.get(word):
                continue
            following = bisect_left(free[word], expected)
            nearest = min(following, len(free[word]) - 1)
            self._note(place, 1, free[word].pop(nearest), 1)


def _places(keys: Sequence[str], size: int) -> dict[tuple[str, ...], list[int]]:
    found = defaultdict(list)
    for start in range(len(keys) - size + 1):
        found[tuple(keys[start : start + size])].append(start)
    return found


def _stretches(places: Sequence[int]) -> Iterator[list[int]]:
    """Numbers that follow each other, together."""
    part: list[int] = []
    for place in places:
        if part and place != part[-1] + 1:
            yield part
            part = []
        part.append(place)
    if part:
        yield part


def _windows(runs: Sequence[_Run]) -> Iterator[tuple[_Run, list[_Run], _Run]]:
    """Long runs, the short ones behind each, and the next long one."""
    if not runs:
        return
    last = _Run(max(run.text_end for run in runs), max(r.page_end for r in runs), 0)
    first = _Run(0, 0, 0)
    between: list[_Run] = []
    for run in [*runs, last]:
        if 0 < run.length <= _SHORT:
            between.append(run)
            continue
        yield first, between, run
        first = run
        between = []


@dataclass(frozen=True, slots=True)
class _Step:
    """The cheapest way to align the beginnings of two gaps."""

    cost: float
    texts: int = 0
    pages: int = 0


def paired(
    text: Sequence[str], page: Sequence[str], copies: Collection[int] = ()
) -> list[tuple[range, range]]:
    """Words of two gaps that go together, in order.

    Args:
        text: words of the text.
        page: words of the page.
        copies: numbers of words of the text that go with none that is unlike them.
    """
    table = [[_Step(0.0)] * (len(page) + 1) for _ in range(len(text) + 1)]
    for i in range(len(text) + 1):
        for j in range(len(page) + 1):
            if i or j:
                ways = _ways(table, text[:i], page[:j], i - 1 in copies)
                table[i][j] = min(ways, key=lambda step: step.cost)
    found = []
    i, j = len(text), len(page)
    while i or j:
        step = table[i][j]
        if step.texts and step.pages:
            found.append((range(i - step.texts, i), range(j - step.pages, j)))
        i -= step.texts
        j -= step.pages
    return found[::-1]


def _ways(
    table: Sequence[Sequence[_Step]],
    text: Sequence[str],
    page: Sequence[str],
    is_copy: bool,
) -> Iterator[_Step]:
    """How the beginnings of two gaps may end: with words that go together, or with one alone."""
    i, j = len(text), len(page)
    if i:
        yield _Step(table[i - 1][j].cost + _DROPPED, 1, 0)
    if j:
        yield _Step(table[i][j - 1].cost + _DROPPED, 0, 1)
    for texts, pages in _MOVES:
        if texts <= i and pages <= j:
            cost = _cost(tuple(text[i - texts :]), tuple(page[j - pages :]))
            if cost is not None and not (is_copy and cost >= _UNLIKE):
                before = table[i - texts][j - pages].cost
                yield _Step(before + cost, texts, pages)


@lru_cache(maxsize=1 << 16)
def _cost(text: tuple[str, ...], page: tuple[str, ...]) -> float | None:
    """How unlike words are, 0 to 1; None for several that are not one."""
    one = "".join(text)
    other = joined(page)
    if len(text) == len(page) == 1:
        if one == other:
            return 0.0
        if not any(map(str.isalnum, one + other)):
            return None  # a mark is no misread bullet
        if min(len(one), len(other)) <= (1 - ALIKE) * max(len(one), len(other)) / 2:
            return _UNLIKE
        alike = similarity(one.casefold(), other.casefold())
        return 1 - alike if alike >= ALIKE else _UNLIKE
    longest = max(len(one), len(other))
    if abs(len(one) - len(other)) > (1 - ALIKE) * longest:
        return None
    alike = similarity(one.casefold(), other.casefold())
    # As much alike as two words that were joined by mistake are
    return 1 - alike + _JOINED if alike >= 0.7 else None


def joined(words: Sequence[str]) -> str:
    """Words of a page as one, without the hyphens that cut it."""
    parts = [
        word[:-1] if len(word) > 1 and word[-1] == "-" else word for word in words[:-1]
    ]
    return "".join([*parts, words[-1]])
