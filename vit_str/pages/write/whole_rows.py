"""Rows that programs would take apart, and copy in mixed order, if they were set as printed.

White between two words may be so wide that programs see columns there, see `text_layer`: in a
justified line, and where cells of a row of a table are empty. The words before it are then set so
wide that their row stays whole. Rows of a table that lie close to each other would become blocks of
columns: they are set so too, in a smaller font. Of a row whose cells have several lines, the line
with most cells is set so; what is below it is copied after it.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice, pairwise

from vit_str.pages.arrange.frame import text_quarters
from vit_str.pages.arrange.tables import is_mark
from vit_str.pages.page import Word
from vit_str.pages.write.printed_lines import baseline, printed_lines

Line = tuple[Word, ...]
Span = tuple[float, float]
"""Left and right."""

# Over the size of a font
_SPACE = 0.6  # white that keeps two words on one line
_LEAST_SPACE = 0.46  # between two words of one letter
_MARK_WHITE = 2.5  # most between the mark of an item and its text
_CELL = 1.05  # white from which on they are in two cells
_NEAR = 5.0  # most between the baselines of two rows of a table
_OTHER_ROW = 0.5  # least between them
_BLOCK = 1.55  # most between the baselines of a block, with a little to spare
_SAME_START = 0.5  # by which the places may differ where lines of a paragraph begin
_WIDEST_SPACE = 2.0  # between words of a justified line

_BESIDE = 2  # rows above and below that may show that a cell is empty
_SHOWN = 2  # of these that have something in its place
_JUSTIFIED = 5  # words of such a line
_EVEN = 1.6  # times its narrowest space that its widest one is, at most


@dataclass(frozen=True, slots=True)
class _Row:
    """A row of a page.

    Attributes:
        lines: as they are printed, each with one baseline.
        cells: where it has words, with no white between them as that between columns.
        baseline: the highest of its lines where the page is level, in pixels from the top.
        last_baseline: of the lowest one.
        size: of its font, in pixels.
    """

    lines: tuple[Line, ...]
    cells: tuple[Span, ...]
    baseline: float
    last_baseline: float
    size: float

    @property
    def has_cells(self) -> bool:
        """Whether it has several cells, as the rows of tables have."""
        return len(self.cells) > 1

    @property
    def ends(self) -> Span:
        """Where it begins and ends."""
        return self.cells[0][0], self.cells[-1][1]

    def distance(self, other: "_Row") -> float:
        """Distance from the last baseline of the upper row to the first one of the lower row."""
        below = other.baseline - self.last_baseline
        above = self.baseline - other.last_baseline
        return max(below, above)

    def is_near(self, other: "_Row") -> bool:
        """Whether both may be of one table."""
        size = max(self.size, other.size)
        return _OTHER_ROW * size < self.distance(other) < _NEAR * size

    def has_within(self, white: Span) -> bool:
        """Whether one of its cells lies within some white."""
        return any(white[0] <= left and right <= white[1] for left, right in self.cells)


def whole_rows(
    blocks: Sequence[Sequence[Line]], size_of: Callable[[Line], float], slope: float
) -> list[list[Line]]:
    """The lines of the blocks of a page, so wide and in such sizes that rows stay whole.

    Args:
        blocks: of rows, in reading order.
        size_of: the size of the font of a line, in pixels.
        slope: of the lines.
    """
    rows = [_row(words, size_of, slope) for words in chain.from_iterable(blocks)]
    found = []
    for place, row in enumerate(rows):
        above = rows[max(0, place - _BESIDE) : place][::-1]
        below = rows[place + 1 : place + 1 + _BESIDE]
        near = [*_near(row, above), *_near(row, below)]
        font = _font(row, near, [*above[:1], *below[:1]])
        lines = _whole(row, near, font, slope)
        spaced = (_with_spaces(line, font, slope) for line in lines)
        found.append([_scaled(line, font / row.size) for line in spaced])
    of_rows = iter(found)
    return [list(chain.from_iterable(islice(of_rows, len(each)))) for each in blocks]


def _font(row: _Row, near: Sequence[_Row], next_to_it: Sequence[_Row]) -> float:
    """The size in which a row is set: a row of cells is in no block with those next to it."""
    if not row.has_cells or _is_justified(row, near):
        return row.size
    distances = (row.distance(other) for other in next_to_it if other.has_cells)
    close = [each for each in distances if each > _OTHER_ROW * row.size]
    return min([row.size, *(each / _BLOCK for each in close)])


def _scaled(line: Line, factor: float) -> Line:
    """A line whose letters are larger."""
    return tuple(replace(word, size=factor * word.size) for word in line)


def _row(words: Line, size_of: Callable[[Line], float], slope: float) -> _Row:
    lines = tuple(printed_lines(words))
    size = size_of(lines[0])
    cells: list[Span] = []
    for left, right in sorted(map(_span, words)):
        if cells and left < cells[-1][1] + _CELL * size:
            cells[-1] = cells[-1][0], max(cells[-1][1], right)
        else:
            cells.append((left, right))
    bottoms = []
    for line in lines:
        _, (x, y) = baseline(line)
        bottoms.append(y - slope * x)
    return _Row(lines, tuple(cells), min(bottoms), max(bottoms), size)


def _near(row: _Row, others: Sequence[_Row]) -> Iterator[_Row]:
    """The rows from one on that may be of one table with it."""
    for before, other in pairwise((row, *others)):
        if not other.is_near(before):
            return
        yield other


def _whole(
    row: _Row, near: Sequence[_Row], font: float, slope: float
) -> tuple[Line, ...]:
    """The lines of a row beside others of its table."""
    first, *others = row.lines
    if text_quarters(first):
        return row.lines
    ends = _with_empty_cells(row, near)
    has_empty = ends != row.ends or _has_empty_cells(row, near)
    is_close = font < row.size
    if not has_empty and not is_close and not _is_justified(row, near):
        return row.lines
    if others:
        first, *others = _fullest_first(row, slope)
    return _without_white(first, ends, font, slope), *others


def _fullest_first(row: _Row, slope: float) -> list[Line]:
    """The lines of a row, those of one baseline joined; first the one with words in most cells."""
    joined: list[tuple[float, Line]] = []
    for line in row.lines:
        _, (x, y) = baseline(line)
        y -= slope * x
        beside = (
            n
            for n, (other, _) in enumerate(joined)
            if abs(other - y) < _OTHER_ROW * row.size
        )
        place = next(beside, None)
        if place is None:
            joined.append((y, line))
        else:
            other, words = joined[place]
            joined[place] = other, tuple(sorted((*words, *line), key=_span))
    lines = [line for _, line in joined]
    return sorted(
        lines, key=lambda line: -_filled(row, line)
    )  # which keeps others in order


def _filled(row: _Row, line: Line) -> int:
    """The number of cells of its row in which a line has words."""
    spans = list(map(_span, line))
    return sum(
        any(left <= start and end <= right for start, end in spans)
        for left, right in row.cells
    )


def _with_empty_cells(row: _Row, near: Sequence[_Row]) -> Span:
    """The ends of a row with its empty cells at both of them."""
    left, right = row.ends
    of_table = [other for other in near if other.has_cells]
    first = min((other.cells[0][0] for other in of_table), default=left)
    last = max((other.cells[-1][1] for other in of_table), default=right)
    if _is_empty_cell((first, left), near):
        left = first
    if _is_empty_cell((right, last), near):
        right = last
    return left, right


def _has_empty_cells(row: _Row, near: Sequence[_Row]) -> bool:
    """Whether there are some between two cells of a row."""
    whites = ((before[1], after[0]) for before, after in pairwise(row.cells))
    return any(_is_empty_cell(white, near) for white in whites)


def _is_empty_cell(white: Span, near: Sequence[_Row]) -> bool:
    """Whether other rows of a table have something where a row has only white."""
    shown = (other.has_cells and other.has_within(white) for other in near)
    return sum(shown) >= _SHOWN


def _is_justified(row: _Row, near: Sequence[_Row]) -> bool:
    """Whether the spaces of a row are even, and it begins where one beside it does."""
    line, *others = row.lines
    spaces = [after[0] - before[1] for before, after in pairwise(map(_span, line))]
    if others or len(line) < _JUSTIFIED or max(spaces) > _EVEN * min(spaces):
        return False
    room = _SAME_START * row.size
    is_text = max(spaces) < _WIDEST_SPACE * row.size
    return is_text and any(abs(other.ends[0] - row.ends[0]) < room for other in near)


def _without_white(line: Line, ends: Span, font: float, slope: float) -> Line:
    """A line from end to end, each of its words so wide that the next one follows it."""
    left, right = ends
    starts = [left, *(word.box.left for word in line[1:])]
    stops = [*(start - _SPACE * font for start in starts[1:]), right]
    return tuple(
        _set(word, (start, max(stop, word.box.right)), slope)
        for word, start, stop in zip(line, starts, stops, strict=True)
    )


def _with_spaces(line: Line, font: float, slope: float) -> Line:
    """A line without white so narrow that programs take words of one letter for one word.

    Nor so wide that they part the mark of an item from its text.
    """
    words = []
    first, *others = line
    if others and is_mark(first.text):
        left, right = _span(first)
        end = others[0].box.left - _SPACE * font
        if right < end < right + _MARK_WHITE * font:
            line = _set(first, (left, end), slope), *others
    for word, following in zip(line, (*line[1:], None), strict=True):
        if following and len(word.text) == len(following.text) == 1:
            left, right = _span(word)
            end = following.box.left - _LEAST_SPACE * font
            if left < end < right:
                word = _set(word, (left, end), slope)
        words.append(word)
    return tuple(words)


def _span(word: Word) -> Span:
    box = word.box
    return box.left, box.right


def _set(word: Word, sides: Span, slope: float) -> Word:
    """A word between other sides, on the same line."""
    left, right = sides
    first, second, third, fourth = (
        (to, y + slope * (to - x))
        for (x, y), to in zip(word.polygon, (left, right, right, left), strict=True)
    )
    return replace(word, polygon=(first, second, third, fourth))
