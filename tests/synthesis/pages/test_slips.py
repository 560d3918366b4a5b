"""Slips of a till: rows of signs are no words, and rules where they look like them."""

import numpy as np
import pytest

from vit_str.synthesis.pages.drawing import (
    design_page,
    draw_page,
    families_to_find,
    trained_families,
)
from vit_str.synthesis.pages.families import HELD_OUT
from vit_str.synthesis.pages.families.slips import SLIPS
from vit_str.synthesis.pages.parts.text import sign_row
from vit_str.synthesis.pages.truth import truth_of

_SIZE = 30


def _shown(browser, sign):
    row = (
        f"<div style='overflow: hidden; white-space: nowrap'>{sign_row(sign, 90)}</div>"
    )
    css = f"body {{ margin: 20px; width: 300px; font: {_SIZE}px monospace }}"
    browser.show(f"<!DOCTYPE html><style>{css}</style><p>Total</p>{row}", 400, 200)
    return truth_of(browser, 200), np.asarray(browser.picture().convert("L"))


@pytest.mark.parametrize("sign", ["-", "- ", "=", "_", "–"])
def test_rows_of_dashes_are_rules_where_their_ink_is(browser, sign):
    truth, pixels = _shown(browser, sign)
    assert truth.words == ("Total",)
    [rule] = truth.rules
    below = int(truth.boxes[0, 3])
    rows = below + np.flatnonzero((pixels[below:] < 128).any(1))
    assert abs(rule.y0 - (rows.min() + rows.max() + 1) / 2) < 0.1 * _SIZE
    assert rule.y0 == rule.y1
    assert (rule.x0, rule.x1) == (20, 320)
    assert abs(rule.width - (np.ptp(rows) + 1)) < 0.12 * _SIZE


@pytest.mark.parametrize("sign", ["*", ".", "#"])
def test_other_rows_of_signs_are_neither_words_nor_rules(browser, sign):
    truth, pixels = _shown(browser, sign)
    assert (pixels[int(truth.boxes[0, 3]) :] < 128).any()
    assert truth.words == ("Total",) and not truth.rules


def test_slips_have_words_and_the_same_numbers_draw_the_same(browser):
    drawn = [
        draw_page(browser, design_page(4, number, ["till slip"]), with_picture=True)
        for number in (0, 0, 1, 2)
    ]
    assert np.array_equal(drawn[0].truth.boxes, drawn[1].truth.boxes)
    for page in drawn:
        assert page.truth.width <= 400
        signs = [word for word in page.truth.words if len(word) > 20]
        assert not [word for word in signs if len(set(word)) < 3]


def test_slips_are_drawn_often_for_the_network_that_finds():
    often = families_to_find()
    assert set(often) == set(trained_families())
    assert not set(often) & set(HELD_OUT)
    share = np.mean([name in SLIPS for name in often])
    assert 0.1 < share < 0.25
