"""Pictures of pages know where on the page each of their pixels is."""

import numpy as np
import pytest
from PIL import Image, ImageDraw

from vit_str.synthesis.pages.capture import (
    WAYS,
    sample_capture,
    take_picture,
    to_page_places,
)


def page_with_a_dot(place: tuple[float, float], scale: float) -> Image.Image:
    """A white page with a black dot; the place is in pixels of CSS."""
    image = Image.new("RGB", (round(400 * scale), round(600 * scale)), "white")
    x, y = (value * scale for value in place)
    ImageDraw.Draw(image).ellipse((x - 9, y - 9, x + 9, y + 9), fill="black")
    return image


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("seed", range(6))
def test_places_of_the_picture_are_those_of_the_page(way, seed):
    capture = sample_capture(np.random.default_rng(seed), way)
    place = (90.0, 210.0)
    picture = take_picture(page_with_a_dot(place, capture.scale), capture)
    gray = np.asarray(picture.image.convert("L"), float)
    inner = to_page_places(
        picture.to_page,
        np.stack(
            np.meshgrid(np.arange(gray.shape[1]), np.arange(gray.shape[0])), -1
        ).astype(float),
    )
    is_page = ((inner > 20) & (inner < (380, 580))).all(-1)
    is_dark = is_page & (gray < gray[is_page].min() + 30)
    found = inner[is_dark].mean(0)
    assert found == pytest.approx(place, abs=3.0)


def test_turned_pages_are_among_them():
    quarters = {
        sample_capture(np.random.default_rng(n), "scan").quarters for n in range(300)
    }
    assert quarters == {0, 1, 2, 3}


def test_the_same_capture_takes_the_same_picture():
    capture = sample_capture(np.random.default_rng(2), "photo")
    page = page_with_a_dot((50, 50), 1.0)
    first, second = (np.asarray(take_picture(page, capture).image) for _ in range(2))
    assert (first == second).all()
