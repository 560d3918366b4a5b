"""Words and shapes of a page -> blocks of lines in the order of reading, and what each block is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, groupby
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from vit_str.pages.arrange.decoding import Arranged, Scores, arranged
from vit_str.pages.arrange.features import tokens_of
from vit_str.pages.arrange.leveling import Found, leveled, pieces_of
from vit_str.pages.arrange.pieces import Words
from vit_str.pages.arrange.scores import NOTHING
from vit_str.pages.arrange.tables import is_mark
from vit_str.pages.page import BlockRole, Cell, Word

if TYPE_CHECKING:
    from jaxtyping import Float

    from vit_str.pages.arrange.network import ArrangerNetwork

TABLE = "table"
"""The name of the role of blocks that are tables."""

_SAME_LINE = 0.5  # share of the lower of two pieces that both have of a line
_BEFORE = 5.0  # lines, from the mark of an item to its text at most
_BEHIND_BOX = 3.0  # heights of a text, from a box to tick to it at most
_SIGNS = {"□": "☐", "[x]": "☒"}  # as drawn pages have boxes to tick

Line = tuple[Word, ...]
Block = tuple[Line, ...]


class Shapes(NamedTuple):
    """Rules, grounds and boxes to tick of a page, in pixels.

    Attributes:
        rules: ends of ruled lines: x0, y0, x1, y1.
        grounds: left, top, right, bottom, lightness from 0 to 255.
        checks: boxes to tick: left, top, right, bottom, 1 if ticked.
        quarters: by how many the page is turned to the right; None for what most words say.
    """

    rules: Sequence[Sequence[float]] = ()
    grounds: Sequence[Sequence[float]] = ()
    checks: Sequence[Sequence[float]] = ()
    quarters: int | None = None


class ArrangedPage(NamedTuple):
    """The blocks of a page in the order of reading, and what they are.

    Attributes:
        blocks: of lines; a table is one, with a line for each of its rows.
        roles: of the blocks.
        words: of the page, as they were given.
        pieces: of lines, the numbers of the words of each.
        places: left, top, right, bottom of the pieces, level, in lines.
        scores: what the network says of the pieces.
    """

    blocks: tuple[Block, ...]
    roles: tuple[BlockRole, ...]
    words: Sequence[Word]
    pieces: Sequence[np.ndarray]
    places: Float[np.ndarray, "piece 4"]
    scores: Scores

    def with_cells_apart(self) -> ArrangedPage:
        """The same page with two cells where rows and columns say that one is two."""
        found = arranged(self.scores, self.places)
        return _page(self.words, self.pieces, self.places, self.scores, found)


def arrange_words(
    network: ArrangerNetwork, words: Sequence[Word], shapes: Shapes
) -> ArrangedPage:
    """Blocks of words.

    What the network takes for no text, such as specks, is kept: at the end, in blocks of that role.

    Args:
        network: says how pieces of lines belong together.
        words: of the page, at least one; a box to tick before its text, else in any order.
        shapes: what else is on it.
    """
    found_words = _found(words, shapes)
    level, level_shapes = leveled(found_words)
    pieces = pieces_of(found_words, level, level_shapes)
    pieces = _with_boxes_to_tick(level, pieces)
    tokens = tokens_of(level, pieces, level_shapes)
    places = tokens.places[: len(pieces), :4]
    scores = network.scores(tokens)
    found = arranged(scores, places, with_cells_apart=False)
    return _page(words, pieces, places, scores, found)


def _page(
    words: Sequence[Word],
    pieces: Sequence[np.ndarray],
    places: np.ndarray,
    scores: Scores,
    found: Sequence[Arranged],
) -> ArrangedPage:
    blocks = []
    roles = []
    for block, role in _Pieces(words, pieces, places).blocks(found):
        blocks.append(block)
        roles.append(role)
    return ArrangedPage(tuple(blocks), tuple(roles), words, pieces, places, scores)


def _found(words: Sequence[Word], shapes: Shapes) -> Found:
    def table(rows: Sequence[Sequence[float]], columns: int) -> np.ndarray:
        return np.array(rows, float).reshape(-1, columns)

    return Found(
        texts=[_SIGNS.get(word.text, word.text) for word in words],
        polygons=np.array([word.polygon for word in words], float),
        sizes=np.array([word.size for word in words], float),
        weights=np.array([word.weight for word in words], float),
        rules=table(shapes.rules, 4),
        grounds=table(shapes.grounds, 5),
        pictures=table((), 4),
        checks=table(shapes.checks, 5),
        quarters=shapes.quarters,
    )


def _with_boxes_to_tick(words: Words, pieces: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Pieces of which a box to tick begins the one right behind it."""
    kept = {int(piece[0]): piece for piece in pieces}
    for piece in pieces:
        sign = int(piece[-1])
        following = kept.get(sign + 1)
        if words.texts[sign] not in _SIGNS.values() or following is None:
            continue
        box, text = words.boxes[sign], words.boxes[sign + 1]
        height = text[3] - text[1]
        shared = min(box[3], text[3]) - max(box[1], text[1])
        is_near = 0 <= text[0] - box[2] < _BEHIND_BOX * height
        if is_near and shared > _SAME_LINE * min(box[3] - box[1], height):
            first = next(key for key, other in kept.items() if other[-1] == sign)
            del kept[sign + 1]
            kept[first] = np.concatenate([kept[first], following])
    return list(kept.values())


class _Pieces:
    """The words of a page in pieces of lines.

    Args:
        words: of the page.
        pieces: the numbers of the words of each.
        places: left, top, right, bottom of the pieces, level.
    """

    def __init__(
        self, words: Sequence[Word], pieces: Sequence[np.ndarray], places: np.ndarray
    ) -> None:
        self._words = words
        self._pieces = pieces
        self._places = places

    def blocks(self, found: Sequence[Arranged]) -> Iterator[tuple[Block, BlockRole]]:
        """Blocks with their roles; cells of one table are one."""
        kept = set(chain.from_iterable(block.pieces for block in found))
        left_out = [k for k in range(len(self._pieces)) if k not in kept]
        marks = self._marks(found, left_out)
        for number, group in groupby(found, lambda block: block.table):
            if number >= 0:
                yield self._table(list(group))
                continue
            for block in group:
                mark = marks.pop(block.pieces[0], None)
                pieces = block.pieces if mark is None else (mark, *block.pieces)
                left_out = [piece for piece in left_out if piece != mark]
                yield tuple(self._lines(pieces)), BlockRole(block.role, block.level)
        for piece in left_out:
            yield (self._line([piece]),), BlockRole(NOTHING)

    def _marks(
        self, found: Sequence[Arranged], left_out: Sequence[int]
    ) -> dict[int, int]:
        """The marks of items that are no text of theirs, by the first pieces of these."""
        marks = {}
        for mark in left_out:
            if not is_mark(" ".join(word.text for word in self._line([mark]))):
                continue
            right = self._places[mark, 2]
            beside = [
                block.pieces[0]
                for block in found
                if block.table < 0
                and self._are_beside(mark, block.pieces[0])
                and self._places[block.pieces[0], 0] - right < _BEFORE
            ]
            if beside:
                marks[min(beside, key=lambda piece: self._places[piece, 0])] = mark
        return marks

    def _table(self, found: Sequence[Arranged]) -> tuple[Block, BlockRole]:
        cells = []
        rows = []
        for _, row in groupby(found, lambda cell: cell.row):
            line: list[Word] = []
            for cell in row:
                words = list(chain.from_iterable(self._lines(cell.pieces)))
                line += words
                cells.append(
                    Cell(len(words), cell.row, cell.column, cell.rows, cell.columns)
                )
            rows.append(tuple(line))
        return tuple(rows), BlockRole(TABLE, cells=tuple(cells))

    def _lines(self, pieces: Sequence[int]) -> Iterator[Line]:
        """Pieces that are in the order of reading, those beside each other as one line."""
        line: list[int] = []
        for piece in pieces:
            if line and not self._are_beside(line[-1], piece):
                yield self._line(line)
                line = []
            line.append(piece)
        if line:
            yield self._line(line)

    def _are_beside(self, first: int, second: int) -> bool:
        """Whether the second of two pieces goes on at the right of the first."""
        left, top, _, bottom = self._places[[first, second]].T
        shared = bottom.min() - top.max()
        return bool(shared > _SAME_LINE * (bottom - top).min() and left[1] > left[0])

    def _line(self, pieces: Sequence[int]) -> Line:
        numbers = chain.from_iterable(self._pieces[piece].tolist() for piece in pieces)
        return tuple(self._words[number] for number in numbers)
