"""Our own detector: from the maps of a picture to its lines."""

from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from vit_str.pages.find.lines import FoundLine
from vit_str.pages.find.own_detector import FinderDetector, with_room
from vit_str.synthesis.places import no_places, upright_strips
from vit_str.training.find.truth import true_maps


class Known(FinderDetector):
    """Finds two lines in a picture that is seen at half its size."""

    def __init__(self, height: float = 16.0) -> None:
        self.closer = 1.0
        boxes = np.array([(20, 20, 300, 36), (20, 60, 100, 76)], float)
        strips = upright_strips(boxes, np.full(2, height), np.zeros(2, np.int32))
        lines = np.arange(2, dtype=np.int32)
        places = replace(no_places(), strips=strips, lines=lines)
        self._maps = true_maps(places, (128, 320)).maps

    def maps(
        self, image: Image.Image, closer: float = 1.0
    ) -> tuple[np.ndarray, np.ndarray]:
        self.closer = closer
        return self._maps, np.array([2.0, 2.0]) / closer


def test_lines_are_in_pixels_of_the_picture():
    image = Image.new("RGB", (640, 256))
    first, second = sorted(Known().lines(image), key=lambda line: line[0, 1])
    room = 0.2 * 32, 0.1 * 32
    low, high = np.subtract((40, 40), room), np.add((600, 72), room)
    assert np.abs(first[[0, 2]] - [low, high]).max() < 6
    assert np.abs(second[0] - np.subtract((40, 120), room)).max() < 6


def test_words_and_lines_that_are_told_are_as_large_as_their_letters():
    first, _ = sorted(
        Known().find(Image.new("RGB", (640, 256))), key=lambda line: line.strip[0, 0, 1]
    )
    corners = first.quadrilateral
    assert np.abs(corners - [(40, 40), (600, 40), (600, 72), (40, 72)]).max() < 6
    roomy = with_room(first)
    assert roomy.words is first.words and roomy.height == first.height


def test_small_letters_are_looked_at_once_more():
    image = Image.new("RGB", (640, 256))
    middling, small = Known(), Known(height=8)
    middling.find(image)
    small.find(image)
    assert middling.closer == 1
    assert small.closer == pytest.approx(2, rel=0.05)


def test_long_lines_tell_how_a_page_is_bent():
    quadrilaterals, middles = Known().lines_and_middles(Image.new("RGB", (640, 256)))
    assert len(quadrilaterals) == 2
    [middle] = middles
    assert middle.height == pytest.approx(32, rel=0.05)
    assert np.abs(middle.points[:, 1] - 56).max() < 4


def test_a_bent_line_has_a_box_around_it():
    x = np.linspace(0, 100, 9)
    middle = np.stack([x, 40 - 30 * np.sin(np.pi * x / 100)], 1)
    below = np.array([0, 8])
    strip = np.stack([middle - below, middle + below], 1)
    corners = FoundLine(strip, [strip], 16, 1.0).quadrilateral
    low, high = corners.min(0), corners.max(0)
    assert (strip.reshape(-1, 2) >= low - 0.5).all()
    assert (strip.reshape(-1, 2) <= high + 0.5).all()
