"""Grounds are found by their shade, however much text is on them."""

import numpy as np
import pytest
from PIL import Image, ImageDraw

from vit_str.pages.find.grounds import find_grounds

SIDEBAR = (0, 0, 240, 1000)
BOX = (300, 600, 700, 760)


@pytest.fixture
def page() -> Image.Image:
    image = Image.new("RGB", (760, 1000), "white")
    draw = ImageDraw.Draw(image)
    draw.rectangle(SIDEBAR, fill=(40, 50, 70))
    draw.rectangle(BOX, fill=(235, 235, 228))
    for top in range(40, 960, 40):
        draw.text((20, top), "light text in the sidebar", fill="white", font_size=17)
        draw.text((310, top), "dark text on the paper and a box", "black", font_size=17)
    return image


def boxes(image: Image.Image) -> np.ndarray:
    return np.array([ground[:4] for ground in find_grounds(image)])


def test_a_sidebar_and_a_box_are_found(page):
    found = find_grounds(page)
    assert len(found) == 2
    np.testing.assert_allclose([found[0][:4], found[1][:4]], [SIDEBAR, BOX], atol=8)
    assert found[0].lightness < 80 < 200 < found[1].lightness < 250


def test_they_are_where_they_were_on_a_larger_picture(page):
    larger = page.resize((1520, 2000))
    np.testing.assert_allclose(boxes(larger), 2 * np.array([SIDEBAR, BOX]), atol=16)


def test_noise_of_a_scanner_hides_none_that_is_dark(page):
    random = np.random.default_rng(0)
    pixels = np.asarray(page, float) + random.normal(0, 8, (1000, 760, 1))
    noisy = Image.fromarray(pixels.clip(0, 255).astype(np.uint8))
    np.testing.assert_allclose(boxes(noisy)[:1], [SIDEBAR], atol=8)


@pytest.mark.parametrize("size", [(760, 1000), (9, 9), (1, 1)])
def test_plain_paper_has_none(size):
    assert find_grounds(Image.new("RGB", size, (250, 248, 240))) == []
