"""A line goes on to a dash that the network half sees, and no farther."""

import numpy as np
import pytest

from vit_str.pages.find.faint_ends import with_faint_ends
from vit_str.pages.find.lines import CELL, FoundLine
from vit_str.pages.find.maps import MAPS

INK, GAP, ACROSS, DOWN = map(MAPS.index, ("ink", "gap", "across", "down"))
HEIGHT = 4  # cells of letters
LEFT, RIGHT, MIDDLE = 30, 70, 20
"""Of a line, in cells."""


def maps_of(*parts: tuple[int, int, int, float]) -> np.ndarray:
    """Maps with the core of a line and with parts of its row: map, start, end, share."""
    maps = np.zeros((len(MAPS), 40, 100), np.float32)
    for number, start, end, share in [(INK, LEFT, RIGHT, 0.9), *parts]:
        maps[number, MIDDLE - 1 : MIDDLE + 1, start:end] = share
    return maps


def line() -> FoundLine:
    above, below = MIDDLE - HEIGHT / 2, MIDDLE + HEIGHT / 2
    strip = [[(LEFT, above), (LEFT, below)], [(RIGHT, above), (RIGHT, below)]]
    pixels = np.array(strip, float) * CELL
    return FoundLine(pixels, [pixels], HEIGHT * CELL, 0.9)


def ends(maps: np.ndarray) -> list[float]:
    """Where the line starts and ends, in cells."""
    [found] = with_faint_ends([line()], maps)
    return (found.strip[:, 0, 0] / CELL).tolist()


@pytest.mark.parametrize("named", [INK, ACROSS])
def test_a_dash_behind_a_space_is_of_the_line(named):
    maps = maps_of((GAP, RIGHT, RIGHT + 2, 0.4), (named, RIGHT + 2, RIGHT + 6, 0.2))
    start, end = ends(maps)
    assert start == LEFT
    assert abs(end - (RIGHT + 6)) <= 0.5


def test_a_dash_before_a_line_is_of_it_too():
    start, end = ends(maps_of((INK, LEFT - 5, LEFT, 0.2)))
    assert abs(start - (LEFT - 5)) <= 0.5
    assert end == RIGHT


@pytest.mark.parametrize(("upright", "aside"), [(INK, INK), (ACROSS, DOWN)])
def test_a_line_on_its_side_goes_on_likewise(upright, aside):
    part = RIGHT, RIGHT + 6, 0.2
    maps, others = maps_of((upright, *part)), maps_of((aside, *part))
    own = line()
    turned = FoundLine(own.strip[:, :, ::-1], own.words, own.height, own.confidence)
    [found] = with_faint_ends([turned], others.transpose(0, 2, 1))
    [level] = with_faint_ends([own], maps)
    assert np.allclose(found.strip[:, :, ::-1], level.strip)
    assert found.strip[-1, 0, 1] > turned.strip[-1, 0, 1]


@pytest.mark.parametrize(
    "part",
    [
        pytest.param((INK, RIGHT, RIGHT + 1, 0.2), id="the blurred edge of a letter"),
        pytest.param((ACROSS, RIGHT, 100, 0.8), id="a rule up to the edge"),
        pytest.param((DOWN, RIGHT + 1, RIGHT + 4, 0.8), id="a rule between columns"),
        pytest.param((INK, RIGHT, RIGHT + 15, 0.3), id="what goes on far"),
        pytest.param((INK, RIGHT + 5, RIGHT + 8, 0.3), id="what is apart"),
        pytest.param((INK, RIGHT, RIGHT + 6, 0.06), id="hardly anything"),
    ],
)
def test_other_things_are_not(part):
    assert ends(maps_of(part)) == [LEFT, RIGHT]


def test_a_line_at_the_edge_of_a_picture_stays():
    maps = maps_of()[:, :, LEFT:RIGHT]
    own = line()
    moved = FoundLine(own.strip - [LEFT * CELL, 0], own.words, own.height, 0.9)
    [found] = with_faint_ends([moved], maps)
    assert np.array_equal(found.strip, moved.strip)


def test_a_line_to_write_on_is_not_of_the_text_before_it():
    maps = maps_of()
    maps[ACROSS, MIDDLE + 1 : MIDDLE + 3, RIGHT + 1 : RIGHT + 7] = 0.9
    assert ends(maps) == [LEFT, RIGHT]
