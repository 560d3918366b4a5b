"""Lines that run another way than their page are pieces along their own direction."""

import numpy as np
import pytest

from vit_str.pages.arrange.leveling import Found, leveled, pieces_of, turned_pieces
from vit_str.pages.arrange.pieces import quarters_of, text_angle, turned

PAGE = [[10, 10, 60, 30], [66, 10, 120, 30], [10, 40, 90, 60]]
LABEL = [[300, 100, 360, 124], [368, 100, 430, 124], [440, 100, 520, 124]]
"""As it is read where it is upright."""


def corners(boxes: list[list[float]]) -> np.ndarray:
    left, top, right, bottom = np.array(boxes, float).T
    sides = [left, top, right, top, right, bottom, left, bottom]
    return np.stack(sides, 1).reshape(-1, 4, 2)


def on_page(quarters: int) -> np.ndarray:
    """Words of a page, and a line in it that is turned by quarters to the right."""
    label = corners(LABEL)
    middle = label.reshape(-1, 2).mean(0)
    there = turned(label - middle, -quarters * np.pi / 2) + middle
    return np.concatenate([corners(PAGE), there])


@pytest.mark.parametrize("quarters", [1, 2, 3])
def test_a_turned_line_is_one_piece_as_it_is_read(quarters):
    polygons = on_page(quarters)
    assert quarters_of(polygons, 0.0).tolist() == [0, 0, 0, *[quarters] * 3]
    shuffled = polygons[[5, 0, 3, 1, 4, 2]]
    assert [piece.tolist() for piece in turned_pieces(shuffled, 0.0)] == [[2, 4, 0]]
    assert turned_pieces(corners(PAGE), 0.0) == []


def test_lines_of_a_stamp_are_pieces_each():
    other = on_page(1)[3:] + np.array([60, 0])
    two = np.concatenate([on_page(1), other])
    assert [piece.tolist() for piece in turned_pieces(two, 0.0)] == [
        [3, 4, 5],
        [6, 7, 8],
    ]


def found(polygons: np.ndarray, quarters: int | None = None) -> Found:
    """Words and nothing else."""
    count = len(polygons)
    none = np.zeros((0, 5))
    return Found(
        texts=[str(number) for number in range(count)],
        polygons=polygons,
        sizes=np.full(count, 10.0),
        weights=np.ones(count),
        rules=none[:, :4],
        grounds=none,
        pictures=none[:, :4],
        checks=none,
        quarters=quarters,
    )


@pytest.mark.parametrize("page", range(4))
def test_a_page_is_level_as_it_was_decided_however_much_text_is_turned(page):
    polygons = turned(on_page(2), -page * np.pi / 2)
    told = found(polygons, page)
    level, shapes = leveled(told)
    pieces = [piece.tolist() for piece in pieces_of(told, level, shapes)]
    assert pieces == [[0, 1], [2], [3, 4, 5]]
    assert level.boxes[0, 0] < level.boxes[1, 0], "from left to right"
    assert level.boxes[0, 1] < level.boxes[2, 1], "from the top"
    most = text_angle(polygons) / (np.pi / 2) % 4
    assert round(most) % 4 == (page + 2) % 4, "the turned line has more of it"
    assert text_angle(corners(PAGE), 3) == pytest.approx(3 * np.pi / 2)
