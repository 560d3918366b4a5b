"""Reading order: words to lines, lines to blocks; columns before rows."""

from collections.abc import Iterator, Sequence
from itertools import chain, pairwise
from typing import TypeVar

import numpy as np

from vit_str.pages.arrange.tables import Grid

BoxArray = np.ndarray
"""Left, top, right, bottom."""

_COLUMN_GAP = 1.0  # white between two columns, over the height of a line
_ROW_GAP = 0.9  # white between two blocks, over the height of a line
_FIRST_GAP = 0.5  # white below lines that are above all columns, over the same
_MOST_FIRST = 3  # such lines,
_MOST_FIRST_ROWS = 2  # or such rows, of
_MOST_IN_ROWS = 6  # lines
_SET_RIGHT = 3.0  # white before such lines that are set to the right, over the same
_GAP_BELOW_RIGHT = 0.3  # white below these, over the same
_UNEVEN = 1.5  # difference of the tops of the columns below these, over the same
_TEXT_WIDTH = 6.0  # a column of text has lines at least so wide, over their height
_LEAST_BESIDE = 0.5  # share of the lines of a column beside those of the next one
# Addresses beside each other at the top of a page: they look like a table of two columns, which
# has more white between its rows, less between its columns, or a title above it.
_ADDRESS_GAP = 5.0  # white between them, over the height of a line
_LINES_OF_ADDRESS = range(3, 9)
_MOST_ABOVE = 2  # lines above them
_PITCH = 1.5  # from the top of a line to that of the next one, over the same, at most
# By which the places where lines begin differ, over the same, at most
_SAME_START = 0.5
# Of most lines, over their height, at least: numbers are less wide
_ADDRESS_WIDTH = 4.0
_SAME_ROW = 0.5  # share of the lower one of two lines that is beside the other
_OPEN_ROWS = 3  # the last rows that a box may still belong to
_MOST_ACROSS = 0.25  # of the lines may lie across columns
_EDGE_GAP = 1.5  # white between running text and the page, over the height of a line
_HEAD_GAP = 1.2  # white above a heading of lines across columns, over the same; less is below it

Word = TypeVar("Word")


def arranged(
    lines: Sequence[Sequence[Word]],
    line_boxes: Sequence[BoxArray],
    word_boxes: Sequence[Sequence[BoxArray]],
    grids: Sequence[Grid],
) -> list[list[list[Word]]]:
    """Blocks of rows of words in reading order; a table between rules is a block of its rows.

    Args:
        lines: words of each line.
        line_boxes: of each line, level.
        word_boxes: of each word of each line.
        grids: tables between rules.
    """
    in_grids: list[list[tuple[Word, BoxArray]]] = [[] for _ in grids]
    outside: list[list[Word]] = []
    sides: list[BoxArray] = []
    for line, line_box, boxes in zip(lines, line_boxes, word_boxes, strict=True):
        left = []
        for word, box in zip(line, boxes, strict=True):
            grid = _grid_of(box, grids)
            if grid is None:
                left.append((word, box))
            else:
                in_grids[grid].append((word, box))
        if not left:
            continue
        outside.append([word for word, _ in left])
        parts = np.array([box for _, box in left])
        around = np.r_[parts[:, :2].min(0), parts[:, 2:].max(0)]
        if len(left) == len(line):
            around[1::2] = line_box[1::2]
        sides.append(around)
    filled = [number for number, words in enumerate(in_grids) if words]
    sides += [np.array(grids[number].box, float) for number in filled]
    blocks = []
    for block in reading_order(sides):
        for part in _without_tables(block, len(outside)):
            first = part[0][0]
            if first >= len(outside):
                number = filled[first - len(outside)]
                blocks.append(_rows_of_table(in_grids[number], grids[number]))
            else:
                rows = ((outside[index] for index in row) for row in part)
                blocks.append([list(chain.from_iterable(row)) for row in rows])
    return blocks


def _grid_of(box: BoxArray, grids: Sequence[Grid]) -> int | None:
    x = (box[0] + box[2]) / 2
    y = (box[1] + box[3]) / 2
    for number, grid in enumerate(grids):
        if grid.holds(x, y):
            return number
    return None


def _without_tables(block: list[list[int]], tables: int) -> Iterator[list[list[int]]]:
    """Parts of a block; each table, whose numbers begin with ``tables``, is one of its own."""
    part: list[list[int]] = []
    for row in block:
        found = [index for index in row if index >= tables]
        rest = [index for index in row if index < tables]
        if rest:
            part.append(rest)
        if found and part:
            yield part
            part = []
        for index in found:
            yield [[index]]
    if part:
        yield part


def _rows_of_table(
    words: Sequence[tuple[Word, BoxArray]], grid: Grid
) -> list[list[Word]]:
    boxes = [tuple(box) for _, box in words]
    rows = (list(chain.from_iterable(cells)) for cells in grid.cells(boxes))
    return [[words[index][0] for index in row] for row in rows if row]


def reading_order(boxes: Sequence[BoxArray]) -> list[list[list[int]]]:
    """Blocks of rows of indices, in the order in which a person would read them.

    Recursive X-Y cut (Nagy and Seth 1984): the page is cut at white columns if what lies on both
    sides is running text, even if a few lines such as headings lie across, else at white rows.
    Short pieces on both sides of a white column, as names and prices on a receipt, belong to the
    same rows.
    """
    if not len(boxes):
        return []
    sides = np.asarray(boxes, float)
    height = float(np.median(sides[:, 3] - sides[:, 1]))
    head, body, foot = _without_edges(sides, np.arange(len(sides)), _EDGE_GAP * height)
    blocks = [head, *_blocks(sides, body, height), foot]
    return [_rows(sides, block) for block in blocks if len(block)]


def _without_edges(
    sides: np.ndarray, chosen: np.ndarray, gap: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A row at the top and one at the bottom that white parts from the rest: no column has them."""
    none = chosen[:0]
    parts = _cut(sides, chosen, 1, gap)
    head = parts[0] if len(parts) > 2 and _is_row(sides[parts[0]]) else none
    foot = parts[-1] if len(parts) > 2 and _is_row(sides[parts[-1]]) else none
    return head, np.setdiff1d(chosen, np.r_[head, foot]), foot


def _is_row(sides: np.ndarray) -> bool:
    """Whether all boxes are beside each other."""
    return bool(sides[:, 1].max() < sides[:, 3].min())


def _blocks(sides: np.ndarray, chosen: np.ndarray, height: float) -> list[np.ndarray]:
    parts = _columns(sides, chosen, _COLUMN_GAP * height)
    if len(parts) == 1:
        parts = _cut(sides, chosen, 1, _ROW_GAP * height)
    if len(parts) == 1:
        return parts
    blocks = (_blocks(sides, part, height) for part in parts)
    return list(chain.from_iterable(blocks))


def _columns(sides: np.ndarray, chosen: np.ndarray, gap: float) -> list[np.ndarray]:
    """Columns of running text, and the few lines across them, such as headings, where they come."""
    left, _, right, _ = sides[chosen].T
    edge = right[:, None]
    across = (left < edge + gap) & (right > edge)  # the gap beside each line
    counts = across.sum(1)
    fewest_first = np.argsort(counts, kind="stable")
    for index in fewest_first:
        if counts[index] > _MOST_ACROSS * len(chosen):
            break
        columns = _cut(sides, chosen[~across[index]], 0, gap)
        if _are_of_text(sides, columns):
            spanning = _spanning(sides, chosen, across[fewest_first], columns, gap)
            spanning |= across[index]
            columns = _cut(sides, chosen[~spanning], 0, gap)
            height = gap / _COLUMN_GAP
            first, columns = _without_first(sides, columns, height)
            others = chosen[spanning]
            heads = _heads_of(sides, others, columns, _HEAD_GAP * height)
            columns = [np.setdiff1d(column, heads) for column in columns]
            return _in_bands(sides, columns, np.r_[others, first, heads])
    return _addresses(sides, chosen, gap / _COLUMN_GAP)


def _spanning(
    sides: np.ndarray,
    chosen: np.ndarray,
    across: np.ndarray,
    columns: list[np.ndarray],
    gap: float,
) -> np.ndarray:
    """Lines across some of several columns that are above or below all lines of the others.

    So is a box below three columns whose lines reach no farther than to the second one.

    Args:
        sides: of all lines.
        chosen: lines of columns and across them.
        across: for white beside each line, which of the chosen ones lie across it.
        columns: some of the columns; a part may hold several.
        gap: white between columns.
    """
    spanning = np.zeros(len(chosen), bool)
    for lines in across:
        if not lines.any() or lines.sum() > _MOST_ACROSS * len(chosen):
            continue
        parted = _cut(sides, chosen[~lines], 0, gap)
        if len(parted) <= len(columns) or not _are_of_text(sides, parted):
            continue
        if all(_is_at_end(sides, line, parted) for line in chosen[lines]):
            spanning |= lines
            columns = parted
    return spanning


def _is_at_end(sides: np.ndarray, line: int, columns: list[np.ndarray]) -> bool:
    """Whether a line is above or below all lines of each column that it does not touch."""
    left, top, right, bottom = sides[line]
    for column in columns:
        lefts, tops, rights, bottoms = sides[column].T
        touches = lefts.min() < right and left < rights.max()
        is_beside = tops.min() < bottom and top < bottoms.max()
        if is_beside and not touches:
            return False
    return True


def _addresses(
    sides: np.ndarray, chosen: np.ndarray, height: float
) -> list[np.ndarray]:
    """Two addresses beside each other at the top of a page; lines that are none in one part."""
    parts = _cut(sides, chosen, 0, _ADDRESS_GAP * height)
    above = int((sides[:, 3] < sides[chosen, 1].min()).sum())
    are_two = len(parts) == 2 and above <= _MOST_ABOVE
    are_addresses = are_two and all(_is_address(sides[part], height) for part in parts)
    return parts if are_addresses else [chosen]


def _is_address(sides: np.ndarray, height: float) -> bool:
    """Whether some lines are close below each other, and begin at one place."""
    lefts = sides[:, 0]
    tops = np.sort(sides[:, 1])
    return (
        len(sides) in _LINES_OF_ADDRESS
        and bool(np.ptp(lefts) < _SAME_START * height)
        and bool(np.diff(tops).min() > _SAME_ROW * height)
        and float(np.median(np.diff(tops))) < _PITCH * height
        and float(np.median(_flatness(sides))) > _ADDRESS_WIDTH
    )


def _without_first(
    sides: np.ndarray, columns: list[np.ndarray], height: float
) -> tuple[np.ndarray, list[np.ndarray]]:
    """The few lines that white parts from all columns below, such as a name at the right.

    Without them, the columns begin at about the same height.
    """
    lines = np.concatenate(columns)
    lines = lines[np.argsort(sides[lines, 1], kind="stable")]
    for count in range(1, _MOST_IN_ROWS + 1):
        first = lines[:count]
        if count > _MOST_FIRST and len(_rows(sides, first)) > _MOST_FIRST_ROWS:
            break
        rest = [np.setdiff1d(column, first) for column in columns]
        tops = [float(sides[column, 1].min(initial=np.inf)) for column in rest]
        is_right = _are_set_right(sides, first, columns, _SET_RIGHT * height)
        gap = _GAP_BELOW_RIGHT if is_right else _FIRST_GAP
        uneven = _UNEVEN if is_right else _FIRST_GAP
        is_apart = sides[first, 3].max() + gap * height < min(tops)
        if is_apart and max(tops) < min(tops) + uneven * height:
            return first, rest
    return lines[:0], columns


def _are_set_right(
    sides: np.ndarray, first: np.ndarray, columns: list[np.ndarray], white: float
) -> bool:
    """Whether lines begin far from the left side of their columns."""
    starts: dict[int, float] = {}
    for column in columns:
        start = float(sides[column, 0].min(initial=np.inf))
        starts |= dict.fromkeys(column.tolist(), start)
    return all(sides[line, 0] - starts[int(line)] > white for line in first)


def _heads_of(
    sides: np.ndarray, across: np.ndarray, columns: list[np.ndarray], gap: float
) -> np.ndarray:
    """Lines within a column that head lines across columns, as that of a box below all of them.

    They begin where those begin, but for an indent, and are nearer to them than to any column.
    """
    lines = np.concatenate(columns)
    middles = sides[:, 1] + sides[:, 3]
    heads = [lines[:0]]
    for line in across:
        parts = _cut(sides, lines[middles[lines] < middles[line]], 1, gap)
        if len(parts) < 2 or len(parts[-1]) > 1:
            continue
        (head,) = sides[parts[-1]]
        indent = sides[line, 0] - head[0]
        if sides[line, 1] - head[3] < gap and -gap < indent < 2 * gap:
            heads.append(parts[-1])
    return np.unique(np.concatenate(heads))


def _in_bands(
    sides: np.ndarray, columns: list[np.ndarray], across: np.ndarray
) -> list[np.ndarray]:
    """Parts of columns above, between and below the rows across them, and those, from the top."""
    middles = sides[:, 1] + sides[:, 3]
    rows = list(map(np.array, _rows(sides, across)))
    ends = np.maximum.accumulate([middles[row].mean() for row in rows])
    bands = [np.searchsorted(ends, middles[column]) for column in columns]
    parts: list[np.ndarray] = []
    for number in range(len(rows) + 1):
        of_columns = zip(columns, bands, strict=True)
        parts += (column[band == number] for column, band in of_columns)
        parts += rows[number : number + 1]
    return [part for part in parts if len(part)]


def _cut(
    sides: np.ndarray, chosen: np.ndarray, axis: int, gap: float
) -> list[np.ndarray]:
    """Groups of boxes between which a band of at least ``gap`` pixels is white."""
    order = chosen[np.argsort(sides[chosen, axis], kind="stable")]
    reach = np.maximum.accumulate(sides[order, axis + 2])
    cuts = np.flatnonzero(sides[order[1:], axis] - reach[:-1] > gap) + 1
    return np.split(order, cuts)


def _are_of_text(sides: np.ndarray, columns: Sequence[np.ndarray]) -> bool:
    """Whether columns are running text: lines below each other, and beside those of the next one.

    An address at the left and a date at the right of a letter are not.
    """
    if len(columns) < 2 or not all(_is_text(sides[column]) for column in columns):
        return False
    parts = [sides[column] for column in columns]
    wide = [part[_flatness(part) > _TEXT_WIDTH] for part in parts]
    for lines, others in pairwise(wide):
        tops, bottoms = lines[:, 1, None], lines[:, 3, None]
        beside = (others[:, 1] < bottoms) & (tops < others[:, 3])
        fewest = min(len(lines), len(others))
        if min(beside.any(0).sum(), beside.any(1).sum()) < _LEAST_BESIDE * fewest:
            return False
    return True


def _is_text(sides: np.ndarray) -> bool:
    """Whether some lines lie below each other that are wide for their height."""
    return len(sides) > 1 and float(np.median(_flatness(sides))) > _TEXT_WIDTH


def _flatness(sides: np.ndarray) -> np.ndarray:
    """Width of lines over their height."""
    width = sides[:, 2] - sides[:, 0]
    height = sides[:, 3] - sides[:, 1]
    return width / height.clip(1)


def _rows(sides: np.ndarray, chosen: np.ndarray) -> list[list[int]]:
    """Boxes of one block as rows from the top, each from the left."""
    rows: list[list[int]] = []
    for index in chosen[np.argsort(sides[chosen, 1] + sides[chosen, 3], kind="stable")]:
        _, top, _, bottom = sides[index]
        for row in rows[-_OPEN_ROWS:]:
            _, low, _, high = sides[row[-1]]
            shared = min(bottom, high) - max(top, low)
            near = shared > _SAME_ROW * min(bottom - top, high - low)
            if near and not _lie_above_each_other(sides[row], sides[index]):
                row.append(int(index))
                break
        else:
            rows.append([int(index)])
    return [sorted(row, key=lambda index: sides[index, 0]) for row in rows]


def _lie_above_each_other(row: np.ndarray, box: np.ndarray) -> bool:
    """Whether a box shares most of its columns, or of theirs, with one of a row."""
    shared = np.minimum(row[:, 2], box[2]) - np.maximum(row[:, 0], box[0])
    narrower = np.minimum(row[:, 2] - row[:, 0], box[2] - box[0])
    return bool((shared > _SAME_ROW * narrower).any())
