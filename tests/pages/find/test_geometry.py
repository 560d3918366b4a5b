"""Strips of an image inside quadrilaterals."""

import numpy as np
import pytest
from PIL import Image, ImageDraw

from vit_str.pages.find.geometry import (
    Strip,
    corners_from,
    homography,
    leveled,
    project,
    rectangle,
    upright,
)

SQUARE = rectangle(0, 0, 1, 1)


def test_a_homography_takes_corners_to_corners():
    target = np.array([[3, 1], [40, 5], [38, 22], [1, 15]], float)
    np.testing.assert_allclose(
        project(homography(SQUARE, target), SQUARE), target, atol=1e-9
    )


def test_three_corners_on_one_line_are_refused():
    with pytest.raises(np.linalg.LinAlgError):
        homography(np.array([[0, 0], [1, 0], [2, 0], [0, 1]], float), SQUARE)


@pytest.mark.parametrize("roll", range(4))
@pytest.mark.parametrize("flip", [1, -1])
def test_upright_corners_begin_at_the_top_left_and_run_clockwise(roll, flip):
    box = rectangle(2, 3, 50, 20)
    np.testing.assert_array_equal(upright(np.roll(box, roll, 0)[::flip]), box)


@pytest.mark.parametrize("quarters", range(4))
def test_a_strip_undoes_the_turn_of_its_text(quarters):
    image = Image.new("RGB", (80, 40), "white")
    ImageDraw.Draw(image).rectangle((0, 0, 19, 39), fill="red")  # where the text begins
    page = image.rotate(-90 * quarters, expand=True)
    corners = corners_from(rectangle(0, 0, *page.size), quarters)
    strip = Strip(page, corners).image
    assert strip.size == (80, 40)
    difference = np.abs(np.asarray(strip, int) - np.asarray(image, int)).mean()
    assert difference < 3


def test_boxes_of_a_strip_lie_where_they_were_in_the_image():
    corners = np.array([[10, 20], [110, 40], [105, 70], [5, 50]], float)
    strip = Strip(Image.new("RGB", (200, 100)), corners)
    np.testing.assert_allclose(
        strip.polygons(np.array([[0, 0, *strip.image.size]]))[0], corners, atol=1e-6
    )


def test_a_strip_of_a_corner_outside_the_image_is_padded():
    strip = Strip(Image.new("RGB", (20, 20), "white"), rectangle(-10, -10, 10, 10))
    assert strip.image.size == (20, 20)
    assert strip.image.getpixel((15, 15)) == (255, 255, 255)


def test_lines_of_a_tilted_page_are_leveled():
    angle = np.radians(8)
    tilt = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    boxes = [rectangle(20, 30 * row, 220, 30 * row + 20) for row in range(3)]
    crooked = rectangle(300, 0, 320, 20) @ tilt @ tilt
    result = leveled([*(box @ tilt for box in boxes), crooked])
    np.testing.assert_allclose(result[:3], boxes, atol=1e-9)
