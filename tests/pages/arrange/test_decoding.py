"""Sure scores of pieces and pairs give just the blocks and tables that they tell of."""

import numpy as np
import pytest

from vit_str.pages.arrange.decoding import RELATIONS, Arranged, Scores, arranged

NAMES = ("paragraph", "heading", "item", "cell", "head cell", "nothing")
SURE = 6.0

BLOCKS = [
    Arranged("heading", (3,), level=1),
    Arranged("paragraph", (0, 5)),
    Arranged("head cell", (1,), table=0, row=0, column=0, rows=2),
    Arranged("head cell", (2,), table=0, row=0, column=1, columns=2),
    Arranged("head cell", (4,), table=0, row=1, column=1),
    Arranged("head cell", (6,), table=0, row=1, column=2),
    Arranged("cell", (7, 9), table=0, row=2, column=0),
    Arranged("cell", (8,), table=0, row=2, column=1),
    Arranged("cell", (10,), table=0, row=2, column=2),
    Arranged("item", (12,), level=2),
]
JUNK = 11
COUNT = 13


def places() -> np.ndarray:
    """Where the pieces are; cells in the middle of what they cover."""
    found = np.zeros((COUNT, 4))
    for number, block in enumerate(BLOCKS):
        for line, piece in enumerate(block.pieces):
            x, y = 0.0, 3.0 * number + line
            if block.table >= 0:
                x = 10 * (block.column + block.columns / 2)
                y = 8 + 2 * (block.row + block.rows / 2) + 0.5 * line
            found[piece] = x, y, x + 4, y + 1
    return found


def sure_scores() -> Scores:
    """What a network would say that knows the blocks."""
    roles = np.full((COUNT, len(NAMES)), -SURE)
    levels = np.zeros((COUNT, 3))
    relations = np.full((len(RELATIONS), COUNT, COUNT), -SURE)
    roles[JUNK, NAMES.index("nothing")] = SURE
    order = [piece for block in BLOCKS for piece in block.pieces]
    rank = {piece: place for place, piece in enumerate(order)} | {JUNK: 99}
    for first in range(COUNT):
        for second in range(COUNT):
            if rank[first] < rank[second]:
                relations[RELATIONS.index("before"), first, second] = SURE
    for block in BLOCKS:
        for piece in block.pieces:
            roles[piece, NAMES.index(block.role)] = SURE
            levels[piece, max(0, block.level - 1)] = SURE
            for other in BLOCKS:
                same = {
                    "block": block is other,
                    "table": block.table == other.table >= 0,
                    "row": block.row < other.row + other.rows
                    and other.row < block.row + block.rows,
                    "column": block.column < other.column + other.columns
                    and other.column < block.column + block.columns,
                }
                for name, value in same.items():
                    number = RELATIONS.index(name)
                    relations[number, piece, list(other.pieces)] = (
                        SURE if value else -SURE
                    )
    return Scores(roles, levels, relations, NAMES)


def test_sure_scores_are_followed():
    assert arranged(sure_scores(), places()) == BLOCKS


def test_single_doubts_do_not_change_the_order():
    scores = sure_scores()
    before = scores.relations[RELATIONS.index("before")]
    before[3, 12], before[12, 3] = -0.5, 0.5
    assert arranged(scores, places()) == BLOCKS


def test_two_cells_that_pairs_take_for_one_are_told_by_their_columns():
    scores = sure_scores()
    block = scores.relations[RELATIONS.index("block")]
    block[8, 10] = block[10, 8] = 0.5
    assert arranged(scores, places()) == BLOCKS
    assert arranged(scores, places(), with_cells_apart=False) != BLOCKS


@pytest.mark.parametrize("kept", [(1, 4), (2,)])
def test_one_row_or_column_is_no_table(kept):
    scores = sure_scores()
    others = [piece for piece in range(COUNT) if piece not in kept]
    scores.roles[others] = -SURE
    scores.roles[others, NAMES.index("nothing")] = SURE
    found = arranged(scores, places())
    assert found == [Arranged("paragraph", (piece,)) for piece in kept]


def test_a_page_without_pieces_has_no_blocks():
    none = np.zeros((0, 0))
    empty = Scores(np.zeros((0, 6)), np.zeros((0, 3)), np.zeros((6, 0, 0)), NAMES)
    assert arranged(empty, none) == []


@pytest.mark.parametrize(("surer", "role"), [(1.0, "paragraph"), (3.0, "foot")])
def test_text_is_a_foot_only_if_that_is_much_more_probable(surer, role):
    names = (*NAMES, "foot")
    roles = np.full((1, len(names)), -SURE)
    roles[0, [names.index("paragraph"), names.index("foot")]] = 0, surer
    relations = np.zeros((len(RELATIONS), 1, 1))
    scores = Scores(roles, np.zeros((1, 1)), relations, names)
    [block] = arranged(scores, np.array([[0.0, 0.0, 9.0, 1.0]]))
    assert block.role == role
