"""From what a network says of pieces of lines to blocks in the order of reading, and tables."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import TYPE_CHECKING

import numpy as np

from vit_str.pages.arrange.likelihood import (
    PAIRS_OF_PIECE,
    Labels,
    kind_of,
    negative_log_likelihood,
)
from vit_str.pages.arrange.scores import (
    CELLS,
    NOTHING,
    RELATIONS,
    RUNNING,
    Scores,
)

__all__ = ["CELLS", "NOTHING", "RELATIONS", "Arranged", "Scores", "arranged"]

if TYPE_CHECKING:
    from jaxtyping import Float

_LEAST_OF_CELL = (0.3, 0.02)
"""Probabilities of a cell from which on what lies within a table is tried as one."""
_FEWEST_CELLS = 4  # of such a table
_ROUNDS = 10  # in which an order gets better
_DOUBTFUL = 8.0  # nats, up to which a cell may fall short of two and be tried as these
_MOST_TRIED = 12  # cells of a page, the most doubtful ones
# Nats of a page for two cells in place of one, chosen on held-out families
_LEAST_GAIN = 5.0
_COST_OF_RUNNING = 2.0
"""Nats a piece by which a running head or foot must be more probable than text: it is left out of
Markdown, so text taken for one is lost, and one taken for text is only in the way. Chosen on 120
development pages."""
_NEAR = 5.0  # lines: rows of a table that are farther apart say less of each other


@dataclass(frozen=True)
class Arranged:
    """A block of a page, or a cell of a table.

    Attributes:
        role: such as ``heading``.
        pieces: their numbers, in the order of reading.
        level: of a heading or an item, from 1; else 0.
        table: number of its table on the page, -1 outside of tables.
        row: its first row.
        column: its first column.
        rows: that it covers.
        columns: that it covers.
    """

    role: str
    pieces: tuple[int, ...]
    level: int = 0
    table: int = -1
    row: int = -1
    column: int = -1
    rows: int = 1
    columns: int = 1


@dataclass
class _Groups:
    """Groups of pieces that become fewer."""

    pieces: dict[int, list[int]]
    sums: np.ndarray
    of: list[int] = field(default_factory=list)

    def join(self, first: int, second: int) -> None:
        """Make one of two groups."""
        self.sums[first] += self.sums[second]
        self.sums[:, first] += self.sums[:, second]
        self.pieces[first] += self.pieces.pop(second)
        self.of = [first if group == second else group for group in self.of]


def arranged(
    scores: Scores,
    places: "Float[np.ndarray, 'piece 4']",
    *,
    with_cells_apart: bool = True,
) -> list[Arranged]:
    """Blocks in the order of reading; cells of a table row by row.

    Args:
        scores: of the pieces.
        places: left, top, right, bottom of the pieces, in lines.
        with_cells_apart: part cells that rows and columns say are two.
    """
    if not len(places):
        return []
    blocks = _blocks(scores)
    candidates = [blocks]
    for least in _LEAST_OF_CELL:
        with_cells = _with_cells_within(blocks, scores, places, least)
        if with_cells != candidates[-1]:
            candidates.append(with_cells)
    found = [_Decoded.of(blocks, scores, places) for blocks in candidates]
    best = min(found, key=lambda each: each.doubt)
    if with_cells_apart:
        best = _with_cells_apart(best, scores, places)
    return best.arranged


@dataclass(frozen=True)
class _Decoded:
    """Blocks, what comes of them, and how improbable that is, in nats a piece."""

    blocks: Sequence[Arranged]
    arranged: list[Arranged]
    doubt: float

    @classmethod
    def of(
        cls, blocks: Sequence[Arranged], scores: Scores, places: np.ndarray
    ) -> "_Decoded":
        found = _in_tables(blocks, scores, places)
        return cls(blocks, found, doubt(scores, found))


def _with_cells_apart(best: _Decoded, scores: Scores, places: np.ndarray) -> _Decoded:
    """Cells of which those are two that make all more probable so.

    Whether pieces are one cell is decided by their pairs; that two were taken for one is told by
    the rows and columns of all others.
    """
    for cell, parts in _doubtful_cells(best.blocks, scores):
        others = [each for each in best.blocks if each is not cell]
        found = _Decoded.of([*others, *parts], scores, places)
        if (best.doubt - found.doubt) * len(places) > _LEAST_GAIN:
            best = found
    return best


def _doubtful_cells(
    blocks: Sequence[Arranged], scores: Scores
) -> list[tuple[Arranged, list[Arranged]]]:
    """Cells that may be two, most doubtful first, with these."""
    found = []
    for block in blocks:
        if block.role in CELLS and len(block.pieces) > 1:
            price, place = _cut(scores.of("block"), block.pieces)
            found.append((price, block, place))
    found = sorted((each for each in found if each[0] < _DOUBTFUL), key=itemgetter(0))
    return [(cell, _parts(cell, place)) for _, cell, place in found[:_MOST_TRIED]]


def _cut(scores: np.ndarray, pieces: Sequence[int]) -> tuple[float, int]:
    """The least cost of making two blocks of pieces that are in order, and where they part."""
    own = scores[np.ix_(pieces, pieces)]
    own = own + own.T
    prices = [float(own[:end, end:].sum()) for end in range(1, len(pieces))]
    place = int(np.argmin(prices))
    return prices[place] / PAIRS_OF_PIECE, place + 1


def _parts(block: Arranged, place: int) -> list[Arranged]:
    return [
        Arranged(block.role, pieces)
        for pieces in (block.pieces[:place], block.pieces[place:])
    ]


def _blocks(scores: Scores) -> list[Arranged]:
    """Pieces that are one block, with its most probable role."""
    count = len(scores.roles)
    chances = _log_softmax(scores.roles)
    chances -= _COST_OF_RUNNING * np.isin(scores.names, RUNNING)
    blocks = []
    for pieces in _clusters(scores.of("block"), [[k] for k in range(count)]):
        order = _in_order(scores.of("before"), [[k] for k in pieces])
        role = scores.names[int(chances[pieces].sum(0).argmax())]
        blocks.append(Arranged(role, tuple(pieces[k] for k in order)))
    return [block for block in blocks if block.role != NOTHING]


def _with_cells_within(
    blocks: Sequence[Arranged], scores: Scores, places: np.ndarray, least: float
) -> list[Arranged]:
    """Blocks of which those that lie within a table, and may be cells, are cells.

    Args:
        blocks: with their roles.
        scores: of the pieces.
        places: of the pieces.
        least: probability of a cell, from which on a block may be one.
    """
    cells = [block for block in blocks if block.role in CELLS]
    tables = [
        _around([k for cell in table for k in cell.pieces], places)
        for table in _tables(cells, scores, places)
        if len(table) >= _FEWEST_CELLS
    ]
    chances = np.exp(_log_softmax(scores.roles))
    columns = [scores.names.index(name) for name in CELLS]
    found = []
    for block in blocks:
        chance = float(chances[np.ix_(block.pieces, columns)].sum(1).mean())
        box = _around(block.pieces, places)
        if chance >= least and any(_share_within(box, table) > 0.5 for table in tables):
            role = CELLS[int(chances[np.ix_(block.pieces, columns)].sum(0).argmax())]
            block = Arranged(role, block.pieces)
        found.append(block)
    return found


def _around(pieces: Sequence[int], places: np.ndarray) -> np.ndarray:
    """Left, top, right and bottom of some pieces together."""
    own = places[list(pieces)]
    return np.concatenate([own[:, :2].min(0), own[:, 2:].max(0)])


def _share_within(box: np.ndarray, other: np.ndarray) -> float:
    """The share of a box that lies within another one."""
    sides = np.minimum(box[2:], other[2:]) - np.maximum(box[:2], other[:2])
    area = np.prod(np.maximum(box[2:] - box[:2], 1e-3))
    return float(np.prod(np.maximum(sides, 0)) / area)


def _in_tables(
    blocks: Sequence[Arranged], scores: Scores, places: np.ndarray
) -> list[Arranged]:
    """Blocks in the order of reading, cells with their places in tables."""
    texts = [block for block in blocks if block.role not in CELLS]
    parts = [[block] for block in _with_levels(texts, scores, places)]
    cells = [block for block in blocks if block.role in CELLS]
    for number, table in enumerate(_tables(cells, scores, places)):
        parts.append(_with_places(table, number, scores, places))
    members = [[k for block in part for k in block.pieces] for part in parts]
    order = _in_order(scores.of("before"), members)
    return [block for place in order for block in parts[place]]


def doubt(scores: Scores, found: Sequence[Arranged]) -> float:
    """How improbable blocks are, see `negative_log_likelihood`."""
    return negative_log_likelihood(scores, _labels(found, len(scores.roles)))


def _labels(found: Sequence[Arranged], count: int) -> Labels:
    """Labels of the pieces of a page from its blocks; what is in none is no text."""
    kinds = ["running"] * count
    table = np.full((count, 8), -1)
    table[:, 2] = len(found) + np.arange(count)  # each a block of its own
    for number, block in enumerate(found):
        kind = kind_of(block.role)
        rows = block.row, block.row + block.rows
        columns = block.column, block.column + block.columns
        for place, piece in enumerate(block.pieces):
            kinds[piece] = kind
            table[piece] = (
                number * count + place,
                block.level,
                number,
                block.table,
                *rows,
                *columns,
            )
    return Labels(
        kinds=kinds,
        levels=np.maximum(table[:, 1], 0),
        place=table[:, 0],
        block=table[:, 2],
        table=table[:, 3],
        rows=table[:, 4:6],
        columns=table[:, 6:8],
    )


def _log_softmax(scores: np.ndarray) -> np.ndarray:
    scores = scores - scores.max(1, keepdims=True)
    return scores - np.log(np.exp(scores).sum(1, keepdims=True))


def _membership(
    count: int, groups: Sequence[Sequence[int]]
) -> "Float[np.ndarray, 'group piece']":
    has = np.zeros((len(groups), count))
    for number, group in enumerate(groups):
        has[number, list(group)] = 1
    return has


def _clusters(scores: np.ndarray, members: Sequence[list[int]]) -> list[list[int]]:
    """Groups of members that are one on the average of all their pairs, surest pairs first."""
    has = _membership(len(scores), members)
    sums = has @ scores @ has.T
    mean = sums / np.outer(has.sum(1), has.sum(1))
    pieces = {number: list(member) for number, member in enumerate(members)}
    groups = _Groups(pieces, sums, list(range(len(members))))
    first, second = np.where(np.triu(mean > 0, 1))
    for place in np.argsort(-mean[first, second]):
        one, other = groups.of[first[place]], groups.of[second[place]]
        if one != other and groups.sums[one, other] > 0:
            groups.join(one, other)
    return list(groups.pieces.values())


def _in_order(before: np.ndarray, members: Sequence[Sequence[int]]) -> list[int]:
    """Numbers of groups of pieces in the order of reading that is most probable.

    It begins with how many others are before each, and moves one after the other to where most
    agree with it (Kemeny's order, by local search).
    """
    has = _membership(len(before), members)
    has /= np.maximum(1, has.sum(1, keepdims=True))
    chance = has @ (1 / (1 + np.exp(-before))) @ has.T
    mean = has @ before @ has.T
    np.fill_diagonal(chance, 0)
    np.fill_diagonal(mean, 0)
    order = [int(place) for place in np.argsort(chance.sum(0), kind="stable")]
    for _ in range(_ROUNDS):
        is_moved = False
        for member in order:
            place = order.index(member)
            others = order[:place] + order[place + 1 :]
            behind = np.cumsum([0.0, *mean[others, member]])
            ahead = np.cumsum([0.0, *mean[member, others][::-1]])[::-1]
            best = int((behind + ahead).argmax())
            if best != place:
                order = [*others[:best], member, *others[best:]]
                is_moved = True
        if not is_moved:
            break
    return order


def _with_levels(
    blocks: Sequence[Arranged], scores: Scores, places: np.ndarray
) -> list[Arranged]:
    """Headings and items with their levels; those of headings leave none out."""
    chances = _log_softmax(scores.levels)
    found = []
    for block in blocks:
        has_level = block.role in ("heading", "item")
        level = (
            int(chances[list(block.pieces)].mean(0).argmax()) + 1 if has_level else 0
        )
        found.append(Arranged(block.role, block.pieces, level))
    levels = sorted({block.level for block in found if block.role == "heading"})
    return [
        Arranged(block.role, block.pieces, 1 + levels.index(block.level))
        if block.role == "heading"
        else block
        for block in found
    ]


def _tables(
    cells: Sequence[Arranged], scores: Scores, places: np.ndarray
) -> list[list[Arranged]]:
    """Cells that are of one table."""
    if not cells:
        return []
    middle = places[:, [1, 3]].mean(1)
    near = np.exp(-np.abs(middle[:, None] - middle) / _NEAR)
    owner = {piece: cell for cell in cells for piece in cell.pieces}
    groups = _clusters(scores.of("table") * near, [list(cell.pieces) for cell in cells])
    return [list(dict.fromkeys(owner[piece] for piece in group)) for group in groups]


def _with_places(
    cells: Sequence[Arranged], number: int, scores: Scores, places: np.ndarray
) -> list[Arranged]:
    """Cells of a table with the rows and columns that they cover, row by row.

    What has but one row or column is no table: its cells become paragraphs.
    """
    members = [list(cell.pieces) for cell in cells]
    rows = _lanes(scores.of("row"), members, places[:, [1, 3]].mean(1))
    columns = _lanes(scores.of("column"), members, places[:, [0, 2]].mean(1))
    if max(end for _, end in rows) < 2 or max(end for _, end in columns) < 2:
        order = _in_order(scores.of("before"), members)
        return [Arranged("paragraph", cells[place].pieces) for place in order]
    found = [
        Arranged(
            role=cell.role,
            pieces=cell.pieces,
            table=number,
            row=top,
            column=left,
            rows=bottom - top,
            columns=right - left,
        )
        for cell, (top, bottom), (left, right) in zip(cells, rows, columns, strict=True)
    ]
    return sorted(found, key=lambda cell: (cell.row, cell.column))


def _lanes(
    scores: np.ndarray, members: Sequence[list[int]], middle: np.ndarray
) -> list[tuple[int, int]]:
    """For each cell the first row or column that it covers, and the first behind them.

    Cells that cover one are grouped; one that covers several is like cells of several groups.
    """
    groups = _clusters(scores, members)
    groups.sort(key=lambda group: float(np.median(middle[group])))
    has = _membership(len(scores), members)
    lanes = _membership(len(scores), groups)
    shared = has @ lanes.T
    pairs = np.outer(has.sum(1), lanes.sum(1)) - shared
    total = has @ (scores * (1 - np.eye(len(scores)))) @ lanes.T
    is_in = (total / np.maximum(1, pairs) > 0) | (shared > 0)
    found = []
    for own, in_group in zip(shared.argmax(1).tolist(), is_in, strict=True):
        start, end = own, own + 1
        while start > 0 and in_group[start - 1]:
            start -= 1
        while end < len(groups) and in_group[end]:
            end += 1
        found.append((start, end))
    return found
