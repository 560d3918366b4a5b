"""Tables: rows whose words leave the same columns of white between them, and cells between rules.

All places are in the frame in which a page is read: rows are level, and run from the left.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, pairwise, product
from statistics import median
from typing import NamedTuple

from vit_str.decoding.boxes import Box
from vit_str.pages.page import Word

Cell = tuple[Word, ...]
"""Words in reading order; none in an empty cell."""

Sides = tuple[float, float, float, float]
"""Left, top, right and bottom."""

# Over the height of the rows, by eye on letters, forms, invoices and reports.
_NARROWEST_GAP = {2: 1.2, 3: 0.8}
"""White between columns of tables of so many rows; chance leaves less of it in few rows."""
_NARROW_GAP = 0.6  # the same of more rows
ALIGNED_GAP = 0.4  # the same where what is right of it begins at one place in all rows
_ALIGNED = 0.25  # by how much the places differ at most
_FEWEST_ALIGNED = 3  # rows with words on both sides
_MOST_APART = 3.5  # white between two rows of a table
_ALIKE = 0.6, 1.7  # between which the height of the next row lies
_MOST_OF_ROW = 0.75  # quantile of the heights of its words that is the height of a row
_TIGHT = 0.45  # white between the lines of one cell, at most
# Times the white between rows: other columns below that are another table
_OTHER_TABLE = 1.5
_WIDER = 1.8  # times the white between words of a cell is that between columns
_ROOM_TO_WRITE = 1.0  # least width and height of a cell that is there to be filled in
_WHITE_IN_CELL = 1.2  # between two words of a cell that covers several columns, at most
_ROOM = 0.3  # white before a word that a line had no room for
_TEXT = 3  # words of a line that the next one of its cell goes on with, at least
# Times that between rows that are lines of one cell is that between other rows
_LOOSER = 1.6


_MARK = re.compile(r"[-–—•·°*+▪■●○□☐☑☒→✓]|\[x\]|\(?(?:\d{1,3}|[a-z])[.)]|\(?[A-Z]\)")
"""A bullet, a dash, a number or a letter before an item of a list."""


class Span(NamedTuple):
    """A cell that covers several rows or columns."""

    row: int  # the first
    column: int  # the first
    rows: int
    columns: int


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells; all rows have as many.

    Attributes:
        rows: the cells; the words of one that covers several are in the first of them.
        spans: cells that cover several.
    """

    rows: tuple[tuple[Cell, ...], ...]
    spans: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True)
class Row:
    """Words beside each other."""

    words: tuple[Word, ...]
    left: float
    top: float
    right: float
    bottom: float
    height: float  # of most of it, in pixels
    size: float  # of its type, in pixels
    weight: float  # of its strokes, to compare with others; 0 if not known

    @classmethod
    def of(cls, words: Sequence[Word]) -> "Row":
        """A row of words, from the left."""
        boxes = [word.box for word in words]
        height = _high(sorted(box.bottom - box.top for box in boxes))
        return cls(
            words=tuple(sorted(words, key=lambda word: word.box.left)),
            left=min(box.left for box in boxes),
            top=min(box.top for box in boxes),
            right=max(box.right for box in boxes),
            bottom=max(box.bottom for box in boxes),
            height=height,
            size=median(word.size for word in words) or height,
            weight=median(word.weight for word in words),
        )


def _high(heights: Sequence[float]) -> float:
    """The height of most of a row: small letters alone make a word low."""
    return heights[int(_MOST_OF_ROW * (len(heights) - 1) + 0.5)]


@dataclass(slots=True)
class _Columns:
    """Where some rows have words: what is white between them in all rows parts the columns."""

    taken: list[tuple[float, float]] = field(default_factory=list)

    def with_row(self, row: Row) -> "_Columns":
        """The same with one more row."""
        own = [(word.box.left, word.box.right) for word in row.words]
        spans = sorted([*self.taken, *own])
        merged = [spans[0]]
        for left, right in spans[1:]:
            if left <= merged[-1][1]:
                merged[-1] = merged[-1][0], max(merged[-1][1], right)
            else:
                merged.append((left, right))
        return _Columns(merged)

    def gaps(self, least: float) -> list[float]:
        """Middles of the white of at least a width."""
        return [
            (before[1] + after[0]) / 2
            for before, after in pairwise(self.taken)
            if after[0] - before[1] >= least
        ]


def find_tables(rows: Sequence[Row]) -> list[tuple[range, Table]]:
    """Tables without rules among rows from the top, and which of the rows they are made of."""
    tables = []
    first = 0
    while first < len(rows):
        count, table = _table_from(rows[first:])
        if table is not None:
            tables.append((range(first, first + count), table))
        first += max(1, count)
    return tables


def _table_from(rows: Sequence[Row]) -> tuple[int, Table | None]:
    """The table that begins with the first of some rows, and of how many of them it is made."""
    count = _count_in_columns(rows)
    if not count:
        return 0, None
    chosen = rows[:count]
    gaps = _gaps_between_columns(chosen)
    cells = [_cells(row.words, gaps) for row in chosen]
    several = [of_row for of_row in cells if sum(map(bool, of_row)) > 1]
    if not gaps or len(several) < 2 or _is_list(cells):
        return 0, None
    return count, Table(tuple(_with_lines_of_cells(chosen, cells)))


def _count_in_columns(rows: Sequence[Row]) -> int:
    """How many rows from the first on leave white between the same columns."""
    least = _NARROW_GAP * rows[0].height
    columns = _Columns().with_row(rows[0])
    gaps = columns.gaps(least)
    if not gaps:
        return 0
    count = 1
    farthest = 0.0
    for before, row in pairwise(rows):
        if not _follows(before, row):
            break
        wider = columns.with_row(row)
        left = wider.gaps(least)
        distance = row.top - before.bottom
        is_apart = distance > _OTHER_TABLE * max(farthest, _TIGHT * rows[0].height)
        is_other = len(left) < len(gaps) or (is_apart and len(left) > len(gaps))
        is_heading = is_apart and _is_set_in(row, rows[:count], left)
        if not left or (count > 1 and (is_other or is_heading)):
            break
        columns = wider
        gaps = left
        farthest = max(farthest, distance)
        count += 1
    while count > 1 and _is_alone(rows[count - 1], gaps):
        distance = rows[count - 1].top - rows[count - 2].bottom
        is_line = _LOOSER * max(distance, 1.0) < farthest
        if is_line and not _is_alone(rows[count - 2], gaps):
            break  # of what the row above it names, as in a menu
        count -= 1
    return count


def _gaps_between_columns(rows: Sequence[Row]) -> list[float]:
    """Middles of the white between the columns of a table, from the left."""
    height = median(row.height for row in rows)
    least = narrowest_gap(len(rows)) * height
    columns = _Columns()
    for row in rows:
        columns = columns.with_row(row)
    space = _word_space(rows, columns.gaps(least))
    gaps = columns.gaps(max(least, _WIDER * space))
    if not gaps:
        return []
    boxes = [[word.box for word in row.words] for row in rows]
    narrow = [gap for gap in columns.gaps(ALIGNED_GAP * height) if gap not in gaps]
    gaps += [gap for gap in narrow if is_aligned(boxes, gap, height)]
    return sorted(gaps)


def _word_space(rows: Sequence[Row], gaps: Sequence[float]) -> float:
    """The median white between the words of one cell: in justified text it may be wide."""
    spaces: list[float] = []
    for row in rows:
        for cell in _cells(row.words, gaps):
            pairs = pairwise(cell)
            spaces += [after.box.left - before.box.right for before, after in pairs]
    return median(spaces) if spaces else 0.0


def _follows(before: Row, row: Row) -> bool:
    """Whether a row may be the next of a table."""
    apart = row.top - before.bottom
    is_below = row.top + row.bottom > before.top + before.bottom
    is_beside = row.left < before.right and row.right > before.left
    low, high = _ALIKE
    alike = low < row.height / before.height < high
    return is_below and is_beside and alike and apart <= _MOST_APART * before.height


def _is_set_in(row: Row, above: Sequence[Row], gaps: Sequence[float]) -> bool:
    """Whether a row is alone and begins farther right than those above, as a heading amid them."""
    start = min(other.left for other in above)
    return row.left > start + row.height and _is_alone(row, gaps)


def _is_alone(row: Row, gaps: Sequence[float]) -> bool:
    """Whether all words of a row are in one column."""
    return sum(map(bool, _cells(row.words, gaps))) < 2


def _cells(words: Sequence[Word], gaps: Sequence[float]) -> list[Cell]:
    """Words by columns, which gaps part."""
    cells: list[list[Word]] = [[] for _ in range(len(gaps) + 1)]
    for word in words:
        middle = (word.box.left + word.box.right) / 2
        cells[sum(gap < middle for gap in gaps)].append(word)
    return [tuple(cell) for cell in cells]


def narrowest_gap(rows: int) -> float:
    """White between columns of a table of so many rows, at least, over their height."""
    return _NARROWEST_GAP.get(rows, _NARROW_GAP)


def is_aligned(lines: Sequence[Sequence[Sides]], gap: float, height: float) -> bool:
    """Whether words begin at one place behind some white, in all lines that have some before it.

    So begins a column of text behind one of numbers, however near it is.
    """
    starts = []
    for line in lines:
        places = [box[0] for box in line]
        if places and min(places) < gap < max(places):
            starts.append(min(place for place in places if place > gap))
    if len(starts) < _FEWEST_ALIGNED:
        return False
    return max(starts) - min(starts) <= _ALIGNED * height


def continues_cell(
    above: Mapping[int, Sequence[Sides]],
    below: Mapping[int, Sequence[Sides]],
    edges: Sequence[float],
) -> bool:
    """Whether a line goes on with cells of the line above it, in which it had no room.

    Args:
        above: the words of each column that has some.
        below: the same of the next line.
        edges: where columns end at the right, at most.
    """

    def had_no_room(column: int) -> bool:
        last = above[column][-1]
        left, top, right, bottom = below[column][0]
        room = _ROOM * (bottom - top)
        return last[2] + (right - left) + room > edges[column]

    is_beside = len(below) < len(above) and set(below) <= set(above)
    is_text = any(len(above[column]) >= _TEXT for column in below if column in above)
    return is_beside and is_text and all(map(had_no_room, below))


def _is_list(rows: Sequence[Sequence[Cell]]) -> bool:
    """Whether the first column holds the marks of the items of a list."""
    if len(rows[0]) != 2:
        return False
    marks = [row[0] for row in rows if row[0]]
    return all(len(cell) == 1 and is_mark(cell[0].text) for cell in marks)


def is_mark(text: str) -> bool:
    """Whether a word begins an item of a list."""
    return _MARK.fullmatch(text) is not None


def _with_lines_of_cells(
    rows: Sequence[Row], cells: Sequence[Sequence[Cell]]
) -> list[tuple[Cell, ...]]:
    """Rows of cells; what is only a further line of a cell is joined to the row above it."""
    apart = [after.top - before.bottom for before, after in pairwise(rows)]
    tight = _TIGHT * median(row.height for row in rows)
    loosest = max(apart, default=0.0)
    joined: list[list[Cell]] = []
    for number, of_row in enumerate(cells):
        distance = apart[number - 1] if number else 0.0
        is_line = (
            number > 0
            and not of_row[0]
            and sum(map(bool, of_row)) == 1
            and distance <= tight
            and loosest > _LOOSER * max(distance, 1.0)
        )
        if is_line:
            pairs = zip(joined[-1], of_row, strict=True)
            joined[-1] = [above + below for above, below in pairs]
        else:
            joined.append(list(of_row))
    return [tuple(row) for row in joined]


@dataclass(frozen=True, slots=True)
class Grid:
    """Cells between rules.

    Attributes:
        box: around all of them.
        columns: where the rules between columns are, from the left, with the outer ones.
        rows: where the rules between rows are, from the top, with the outer ones.
        merged: for each row and column, the first row and column of the cell that is there: a cell
            may cover several. Empty if none does.
    """

    box: Box
    columns: tuple[float, ...]
    rows: tuple[float, ...]
    merged: tuple[tuple[tuple[int, int], ...], ...] = ()

    def holds(self, x: float, y: float) -> bool:
        """Whether a point is in one of the cells."""
        return self.box.left < x < self.box.right and self.box.top < y < self.box.bottom

    def cells(self, boxes: Sequence[Sides]) -> list[list[list[int]]]:
        """Indices of boxes by row and column; those of a cell in reading order.

        What a merged cell holds is in the first row and column that it covers, unless white parts
        it into columns.
        """
        places = [self._place(box) for box in boxes]
        wholes: dict[tuple[int, int], list[int]] = {}
        for index, (row, column) in enumerate(places):
            whole = self.merged[row][column] if self.merged else (row, column)
            wholes.setdefault(whole, []).append(index)
        columns = self.columns[1:]
        rows: list[list[list[int]]] = [[[] for _ in columns] for _ in self.rows[1:]]
        for (row, column), inside in wholes.items():
            lines = lines_of(inside, boxes)
            of_lines = ([boxes[index] for index in line] for line in lines)
            is_parted = any(map(_is_parted, of_lines))
            for index in chain.from_iterable(lines):
                own = places[index][1] if is_parted else column
                rows[row][own].append(index)
        return rows

    def _place(self, box: Sides) -> tuple[int, int]:
        """The row and column of a box, by its middle."""
        x, y = _middle(box)
        row = sum(rule < y for rule in self.rows[1:-1])
        column = sum(rule < x for rule in self.columns[1:-1])
        return row, column

    def table(self, words: Sequence[Word]) -> Table:
        """Words in their cells.

        Rows and columns without words are left out where nobody could write: so narrow, or parts
        of merged cells only.
        """
        boxes = [word.box for word in words]
        places = self.cells(boxes)
        heights = [box.bottom - box.top for box in boxes]
        room = _ROOM_TO_WRITE * median(heights) if heights else 0.0
        rows = [
            number
            for number, (top, bottom) in enumerate(pairwise(self.rows))
            if any(places[number]) or (bottom - top > room and self._begins(row=number))
        ]
        columns = [
            number
            for number, (left, right) in enumerate(pairwise(self.columns))
            if any(row[number] for row in places)
            or (right - left > room and self._begins(column=number))
        ]
        cells = (
            tuple(
                tuple(words[index] for index in places[row][column])
                for column in columns
            )
            for row in rows
        )
        return Table(tuple(cells), self._spans(places, rows, columns))

    def _spans(
        self,
        places: Sequence[Sequence[Sequence[int]]],
        rows: Sequence[int],
        columns: Sequence[int],
    ) -> tuple[Span, ...]:
        """Cells that cover several of the rows and columns of a table, and have one text."""
        if not self.merged:
            return ()
        parts: dict[tuple[int, int], list[tuple[int, int]]] = {}
        for place in product(range(len(rows)), range(len(columns))):
            row, column = place
            whole = self.merged[rows[row]][columns[column]]
            parts.setdefault(whole, []).append(place)
        spans = []
        for covered in parts.values():
            (top, left), (bottom, right) = covered[0], covered[-1]
            span = Span(top, left, bottom - top + 1, right - left + 1)
            is_rectangle = len(covered) == span.rows * span.columns
            others = (places[rows[row]][columns[column]] for row, column in covered[1:])
            if len(covered) > 1 and is_rectangle and not any(others):
                spans.append(span)
        return tuple(spans)

    def _begins(self, row: int | None = None, column: int | None = None) -> bool:
        """Whether a cell begins in a row or a column, and is no part of one that began before."""
        return not self.merged or any(
            (row is None or first == row) and (column is None or start == column)
            for first, start in chain.from_iterable(self.merged)
        )


def _middle(box: Sides) -> tuple[float, float]:
    left, top, right, bottom = box
    return (left + right) / 2, (top + bottom) / 2


def _is_parted(line: Sequence[Sides]) -> bool:
    """Whether white as between columns is between some of the boxes of a line."""
    height = median(box[3] - box[1] for box in line)
    return any(
        after[0] - before[2] > _WHITE_IN_CELL * height
        for before, after in pairwise(line)
    )


def lines_of(cell: Sequence[int], boxes: Sequence[Sides]) -> list[list[int]]:
    """Indices of boxes as lines from the top, each from the left."""
    lines: list[list[int]] = []
    for index in sorted(cell, key=lambda each: _middle(boxes[each])[1]):
        if lines and _middle(boxes[index])[1] < boxes[lines[-1][0]][3]:
            lines[-1].append(index)
        else:
            lines.append([index])
    return [sorted(line, key=lambda each: boxes[each][0]) for line in lines]
