"""From maps to lines: on maps that are drawn as they should be found."""

from dataclasses import replace

import numpy as np
import pytest

from vit_str.pages.find.lines import FoundLine, find_boxes, find_lines
from vit_str.pages.find.maps import MAPS
from vit_str.synthesis.places import corners_of, no_places, upright_strips
from vit_str.training.find.truth import true_maps

SIZE = 256, 320


def maps_of(strips: np.ndarray, lines: list[int]) -> np.ndarray:
    """What a network should say of lines."""
    empty = no_places(strips.shape[1])
    places = replace(empty, strips=strips, lines=np.array(lines, np.int32))
    return true_maps(places, SIZE).maps


def of_boxes(
    boxes: list[tuple[float, ...]], lines: list[int], size: float, turn: int = 0
) -> list[FoundLine]:
    count = len(boxes)
    strips = upright_strips(
        np.array(boxes, float), np.full(count, size), np.full(count, turn)
    )
    return find_lines(maps_of(strips, lines))


def around(strip: np.ndarray) -> np.ndarray:
    points = strip.reshape(-1, 2)
    return np.concatenate([points.min(0), points.max(0)])


def arc(start: float, end: float, radius: float, size: float, count: int) -> np.ndarray:
    """A strip along a circle around the middle, read clockwise; angles in degrees."""
    angle = np.deg2rad(np.linspace(start, end, count))
    outward = np.stack([np.cos(angle), np.sin(angle)], 1)[:, None]
    radii = radius + np.array([size, -size])[None, :, None] / 2
    return np.array([SIZE[1] / 2, SIZE[0] / 2]) + outward * radii


def test_words_of_a_line_end_where_they_end():
    boxes = [(20, 40, 80, 60), (90, 40, 140, 60), (152, 40, 161, 60)]
    [line] = of_boxes(boxes, [0, 0, 0], 20)
    assert line.height == pytest.approx(20, rel=0.05)
    assert line.direction == pytest.approx(0, abs=1)
    assert line.confidence > 0.8
    assert np.abs(around(line.strip) - (20, 40, 161, 60)).max() < 4
    assert len(line.words) == 3
    for word, box in zip(line.words, boxes, strict=True):
        assert np.abs(around(word) - box).max() < 4


@pytest.mark.parametrize("turn", [90, 180, 270])
def test_lines_begin_where_they_are_read_from(turn):
    box = (100, 40, 220, 60) if turn == 180 else (100, 40, 120, 200)
    [line] = of_boxes([box], [0], 18, turn)
    assert (line.direction - turn) % 360 == pytest.approx(0, abs=1)
    start = line.polygon[0]
    expected = {90: (119, 40), 180: (220, 59), 270: (101, 200)}[turn]
    assert np.abs(start - expected).max() < 5


def test_lines_that_touch_are_several():
    boxes = [(20, 20 + 12 * row, 300 - 20 * row, 32 + 12 * row) for row in range(8)]
    found = of_boxes(boxes, list(range(8)), 12)
    assert len(found) == 8
    tops = sorted(around(line.strip)[1] for line in found)
    assert np.abs(np.array(tops) - [box[1] for box in boxes]).max() < 3


def test_cores_that_have_grown_together_are_parted():
    strips = upright_strips(
        np.array([(20, 20, 200, 32), (20, 33, 200, 45)], float),
        np.full(2, 12.0),
        np.zeros(2, np.int32),
    )
    maps = maps_of(strips, [0, 1])
    between = slice(28 // 4, 36 // 4)
    maps[0, between, 20:40] = np.maximum(maps[0, between, 20:40], 0.55)
    for name, value in (("cos", 1.0), ("height", np.log2(12 / 16))):
        maps[MAPS.index(name), between, 20:40] = value
    assert len(find_lines(maps)) == 2


@pytest.mark.parametrize(("start", "end"), [(200, 340), (160, 380), (-170, 170)])
def test_bent_lines_are_followed(start, end):
    strip = arc(start, end, radius=80, size=24, count=40)
    [line] = find_lines(maps_of(strip[None], [0]))
    middle = line.strip.mean(1)
    off = np.linalg.norm(middle - (SIZE[1] / 2, SIZE[0] / 2), axis=1) - 80
    assert np.abs(off[1:-1]).max() < 5
    length = np.linalg.norm(np.diff(middle, axis=0), axis=1).sum()
    assert length == pytest.approx(np.deg2rad(end - start) * 80, rel=0.12)
    assert np.linalg.norm(middle[0] - strip[0].mean(0)) < 16
    above = line.strip[:, 0] - (SIZE[1] / 2, SIZE[0] / 2)
    assert (np.linalg.norm(above, axis=1) > 86).all()


def test_words_along_a_curve():
    parts = [arc(*ends, 80, 24, 12) for ends in ((180, 225), (233, 290), (298, 350))]
    [line] = find_lines(maps_of(np.array(parts), [0, 0, 0]))
    assert len(line.words) == 3
    for word, part in zip(line.words, parts, strict=True):
        assert np.linalg.norm(word[0].mean(0) - part[0].mean(0)) < 10
        assert np.linalg.norm(word[-1].mean(0) - part[-1].mean(0)) < 10


def test_a_ring_is_one_line_once_around():
    strip = arc(0, 360, radius=80, size=24, count=60)
    [line] = find_lines(maps_of(strip[None], [0]))
    middle = line.strip.mean(1)
    length = np.linalg.norm(np.diff(middle, axis=0), axis=1).sum()
    assert length == pytest.approx(2 * np.pi * 80, rel=0.12)


def test_a_slope_is_kept():
    x = np.array([20.0, 150.0, 280.0])
    middle = np.stack([x, 40 + 0.3 * (x - 20)], 1)
    below = np.array([-0.287, 0.958]) * 9
    strip = np.stack([middle - below, middle + below], 1)
    [line] = find_lines(maps_of(strip[None], [0]))
    assert line.direction == pytest.approx(np.rad2deg(np.arctan(0.3)), abs=1)
    assert np.abs(line.strip[0] - strip[0]).max() < 5
    assert np.abs(line.strip[-1] - strip[-1]).max() < 5


def test_single_digits_are_found_and_specks_are_not():
    found = of_boxes([(100, 100, 106, 114)], [0], 14)
    assert len(found) == 1
    assert np.abs(around(found[0].strip) - (100, 100, 106, 114)).max() < 5
    maps = np.zeros((len(MAPS), 20, 20), np.float32)
    assert find_lines(maps) == []
    maps[0, 4, 4] = 1
    maps[MAPS.index("height")] = np.log2(64 / 16)
    assert find_lines(maps) == []


def test_boxes_are_where_their_map_says():
    empty = no_places()
    corners = corners_of(np.array([[20, 20, 36, 36], [60, 20, 76, 36]], float))
    places = replace(empty, checks=corners, is_ticked=np.array([True, False]))
    maps = true_maps(places, SIZE).maps
    boxes = find_boxes(maps, "box")
    assert np.abs(boxes[:, :4] - corners[:, [0, 2]].reshape(-1, 4)).max() < 4.1
    assert len(find_boxes(maps, "ticked")) == 1
    assert (boxes[:, 4] > 0.8).all()
