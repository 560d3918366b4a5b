"""Old paper and poor print: letters stay where they are, and can be seen."""

import numpy as np
import pytest

from vit_str.synthesis import paper
from vit_str.synthesis.paper import aged, poorly_printed

LETTERS = slice(40, 56)


def page() -> np.ndarray:
    """White, with black strokes of a line of letters 16 pixels high."""
    pixels = np.full((300, 400, 3), 255, np.float32)
    pixels[LETTERS, 20:100:4] = 0
    pixels[LETTERS, 21:100:4] = 0
    return pixels


def contrast(pixels: np.ndarray) -> float:
    """Of strokes to what is between them, in shades of 255."""
    row = pixels[LETTERS].mean((0, 2))
    return float(row[23:99:4].mean() - row[20:99:4].mean())


@pytest.mark.parametrize("age", sorted(set(paper._AGES), key=repr))
def test_letters_stay_where_they_are_on_old_paper(age):
    for seed in range(5):
        old = age(np.random.default_rng(seed), page())
        assert old.shape == page().shape
        assert not np.array_equal(old, page()), seed
        assert contrast(old) > 80, seed


def test_poor_print_is_faint_and_can_be_seen():
    found = [
        contrast(poorly_printed(np.random.default_rng(seed), page(), 16.0))
        for seed in range(30)
    ]
    assert contrast(page()) == 255
    assert min(found) > 0.3 * 255 and np.median(found) < 0.85 * 255
    white = np.full((40, 60, 3), 255, np.float32)
    assert np.allclose(poorly_printed(np.random.default_rng(1), white, 16.0), 255)


def test_the_same_seed_ages_alike():
    one, other, third = (
        aged(np.random.default_rng(seed), page()) for seed in (5, 5, 6)
    )
    assert np.array_equal(one, other) and not np.array_equal(one, third)
    assert one.min() >= 0 and one.max() <= 255
