"""From what a network says of pieces of lines to blocks in the order of reading, and tables."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from jaxtyping import Float

RELATIONS = ("next", "before", "block", "table", "row", "column")
"""Of the scores of pairs, in their order."""
CELLS = ("cell", "head cell")
NOTHING = "nothing"
"""The role of what is no text of the page."""

_NEAR = 5.0  # lines: rows of a table that are farther apart say less of each other


@dataclass(frozen=True)
class Scores:
    """What a network says of the pieces of one page, as logits.

    Attributes:
        roles: of each piece.
        levels: of each piece, from 1.
        relations: of pairs, see `RELATIONS`.
        names: of the roles.
    """

    roles: "Float[np.ndarray, 'piece role']"
    levels: "Float[np.ndarray, 'piece level']"
    relations: "Float[np.ndarray, 'relation piece piece']"
    names: Sequence[str]

    def of(self, name: str) -> "Float[np.ndarray, 'piece piece']":
        """The scores of a relation."""
        return self.relations[RELATIONS.index(name)]


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


def arranged(scores: Scores, places: "Float[np.ndarray, 'piece 4']") -> list[Arranged]:
    """Blocks in the order of reading; cells of a table row by row.

    Args:
        scores: of the pieces.
        places: left, top, right, bottom of the pieces, in lines.
    """
    if not len(places):
        return []
    chances = _log_softmax(scores.roles)
    blocks = []
    for pieces in _clusters(scores.of("block"), [[k] for k in range(len(places))]):
        order = _in_order(scores.of("before"), [[k] for k in pieces])
        role = scores.names[int(chances[pieces].sum(0).argmax())]
        blocks.append(Arranged(role, tuple(pieces[k] for k in order)))
    blocks = [block for block in blocks if block.role != NOTHING]
    texts = [block for block in blocks if block.role not in CELLS]
    parts = [[block] for block in _with_levels(texts, scores, places)]
    cells = [block for block in blocks if block.role in CELLS]
    for number, table in enumerate(_tables(cells, scores, places)):
        parts.append(_with_places(table, number, scores, places))
    members = [[k for block in part for k in block.pieces] for part in parts]
    order = _in_order(scores.of("before"), members)
    return [block for place in order for block in parts[place]]


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
    """Numbers of groups of pieces in the order of reading: by how many others are before them."""
    has = _membership(len(before), members)
    has /= np.maximum(1, has.sum(1, keepdims=True))
    chance = has @ (1 / (1 + np.exp(-before))) @ has.T
    np.fill_diagonal(chance, 0)
    return [int(place) for place in np.argsort(chance.sum(0), kind="stable")]


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
