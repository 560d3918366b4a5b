"""Tables with level rules only: rules or lines are their rows, white is between their columns."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from statistics import median

from vit_str.decoding.boxes import Box
from vit_str.pages.arrange.tables import (
    ALIGNED_GAP,
    Grid,
    Sides,
    continues_cell,
    is_aligned,
    lines_of,
    narrowest_gap,
)

_FEWEST_RULES = 3  # above and below the head and below the body
_RULED_ROWS = 4  # from which on rules are taken to be between all rows,
_LINES_OF_ROW = 2  # if most have no more lines
_RUNNING_TEXT = 4  # words of a line from which on a column may be one of running text
_LINES_OF_TEXT = 5  # of a column of running text, at least


def level_grids(
    rules: Sequence[Box], words: Sequence[Sides], near: float
) -> Iterator[Grid]:
    """Tables whose level rules begin and end at the same places.

    Args:
        rules: level ones of a page that is level.
        words: boxes of all words of the page.
        near: rules whose ends are no farther apart than that end at the same place.
    """
    for stack in _stacks(rules, near):
        if len(stack) < _FEWEST_RULES:
            continue
        run: list[_Band] = []
        for above, below in pairwise(stack):
            band = _Band.of(above, below, words)
            if run and not _goes_on(run, band, words):
                yield from _grid(run, words)
                run = []
            if band.inside:
                run.append(band)
        yield from _grid(run, words)


@dataclass(frozen=True, slots=True)
class _Band:
    """The band between a rule and the next one below it."""

    box: Box
    inside: list[int]  # words

    @classmethod
    def of(cls, above: Box, below: Box, words: Sequence[Sides]) -> "_Band":
        box = Box(
            left=min(above.left, below.left),
            top=(above.top + above.bottom) / 2,
            right=max(above.right, below.right),
            bottom=(below.top + below.bottom) / 2,
        )
        inside = [number for number, word in enumerate(words) if _holds(box, word)]
        return cls(box, inside)


def _holds(box: Box, word: Sides) -> bool:
    """Whether the middle of a word is inside a box."""
    left, top, right, bottom = word
    x = (left + right) / 2
    y = (top + bottom) / 2
    return box.left < x < box.right and box.top < y < box.bottom


def _stacks(rules: Sequence[Box], near: float) -> list[list[Box]]:
    """Rules that begin and end at the same places, from the top."""
    stacks: list[list[Box]] = []
    for rule in sorted(rules, key=lambda box: box.top):
        for stack in stacks:
            last = stack[-1]
            begins_there = abs(rule.left - last.left) < near
            ends_there = abs(rule.right - last.right) < near
            if begins_there and ends_there:
                if rule.top - last.bottom > near / 2:  # else it is one double rule
                    stack.append(rule)
                break
        else:
            stacks.append([rule])
    return stacks


def _goes_on(run: Sequence[_Band], band: _Band, words: Sequence[Sides]) -> bool:
    """Whether a band has columns with those above it, and text across them takes none away."""
    together = len(_columns([*run, band], words))
    is_known = len(run) >= _FEWEST_RULES - 1  # by a head and a body
    return together >= (len(_columns(run, words)) if is_known else 1)


def _columns(bands: Sequence[_Band], words: Sequence[Sides]) -> list[float]:
    """Middles of the white that all words of some bands leave between columns."""
    chosen = list(chain.from_iterable(band.inside for band in bands))
    if not chosen:
        return []
    numbers = chain.from_iterable(lines_of(band.inside, words) for band in bands)
    lines = [[words[number] for number in line] for line in numbers]
    height = median(words[number][3] - words[number][1] for number in chosen)
    first, *others = sorted(words[number] for number in chosen)
    middles = []
    reach = first[2]
    for left, _, right, _ in others:
        middle = (reach + left) / 2
        white = left - reach
        is_wide = white >= narrowest_gap(len(lines)) * height
        may_part = white >= ALIGNED_GAP * height
        if is_wide or (may_part and is_aligned(lines, middle, height)):
            middles.append(middle)
        reach = max(reach, right)
    return middles


def _grid(bands: Sequence[_Band], words: Sequence[Sides]) -> Iterator[Grid]:
    """The table that some bands are, if they are one."""
    gaps = _columns(bands, words)
    chosen = list(bands)
    for end in (0, -1):
        while chosen and _most_filled(chosen[end], words, gaps) < 2:
            del chosen[end]
    gaps = _columns(chosen, words)
    if not gaps or len(chosen) < _FEWEST_RULES - 1:
        return
    if _is_running_text(chosen, words, gaps):
        return
    lines = median(len(lines_of(band.inside, words)) for band in chosen)
    is_ruled = len(chosen) >= _RULED_ROWS and lines <= _LINES_OF_ROW
    rows = [chosen[0].box.top]
    for band in chosen:
        if not is_ruled:
            rows += _ends_of_rows(band, words, gaps)
        rows.append(band.box.bottom)
    left = min(band.box.left for band in chosen)
    right = max(band.box.right for band in chosen)
    yield Grid(Box(left, rows[0], right, rows[-1]), (left, *gaps, right), tuple(rows))


def _cells(
    line: Sequence[int], words: Sequence[Sides], gaps: Sequence[float]
) -> dict[int, list[Sides]]:
    """The words of a line by their columns."""
    cells: dict[int, list[Sides]] = {}
    for number in line:
        box = words[number]
        middle = (box[0] + box[2]) / 2
        column = sum(gap < middle for gap in gaps)
        cells.setdefault(column, []).append(box)
    return cells


def _most_filled(band: _Band, words: Sequence[Sides], gaps: Sequence[float]) -> int:
    """The most columns in which a line of a band has words."""
    lines = lines_of(band.inside, words)
    return max((len(_cells(line, words, gaps)) for line in lines), default=0)


def _is_running_text(
    bands: Sequence[_Band], words: Sequence[Sides], gaps: Sequence[float]
) -> bool:
    """Whether two of the columns or more are such as those of an article."""
    for band in bands:
        counts: dict[int, list[int]] = {}
        for line in lines_of(band.inside, words):
            for column, cell in _cells(line, words, gaps).items():
                counts.setdefault(column, []).append(len(cell))
        texts = [
            column
            for column, lengths in counts.items()
            if len(lengths) >= _LINES_OF_TEXT and median(lengths) >= _RUNNING_TEXT
        ]
        if len(texts) > 1:
            return True
    return False


def _ends_of_rows(
    band: _Band, words: Sequence[Sides], gaps: Sequence[float]
) -> Iterator[float]:
    """Middles between the rows of a band: its lines but those that go on with cells above them."""
    edges = [*gaps, max((words[number][2] for number in band.inside), default=0.0)]
    lines = lines_of(band.inside, words)
    for before, line in pairwise(lines):
        above = _cells(before, words, gaps)
        cells = _cells(line, words, gaps)
        if not continues_cell(above, cells, edges):
            bottom = max(words[number][3] for number in before)
            yield (bottom + min(words[number][1] for number in line)) / 2
