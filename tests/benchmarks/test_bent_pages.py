"""Photographs of pages that are bent in software."""

import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("cv2")
sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from bent_pages import photograph


def middle_rows(moves: np.ndarray) -> np.ndarray:
    """Where a rule across a page is seen at its ends and in its middle, in pixels."""
    paper = np.full((300, 400, 3), 255, np.uint8)
    paper[148:152] = 0
    seen = photograph(paper, moves, np.random.default_rng(1))
    assert seen.size == (480, 360)
    shades = np.asarray(seen.convert("L"), float)
    columns = [70, 240, 410]
    inside = shades[120:240, columns]  # without the table above and below the page
    return 120 + inside.argmin(0)


def test_a_bent_page_is_seen_bent():
    along = np.linspace(0, 1, 400)
    flat = middle_rows(np.zeros(400))
    bent = middle_rows(40 * np.sin(np.pi * along) - 20)
    tilt = (flat[0] + flat[2]) / 2
    assert abs(flat[1] - tilt) <= 2
    assert (bent - flat)[1] > 15
    assert ((bent - flat)[[0, 2]] < 0).all()
