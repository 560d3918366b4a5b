"""Pieces of lines, and what a network is told of them, do not depend on how a page lies."""

import numpy as np
import pytest

from vit_str.pages.arrange.features import (
    NO_RULE,
    PLACES,
    Shapes,
    Tokens,
    feature_count,
    tokens_of,
)
from vit_str.pages.arrange.pieces import (
    Words,
    around,
    grouped,
    text_angle,
    turned,
    turned_boxes,
)

BOXES = np.array(
    [
        [10, 10, 60, 30],
        [66, 10, 120, 30],  # beside the first
        [200, 10, 260, 30],  # far from them
        [10, 40, 60, 60],
        [66, 40, 90, 60],
    ],
    float,
)
TEXTS = ["Total", "amount", "12.50", "Note", "1:"]


def words(boxes: np.ndarray = BOXES) -> Words:
    return Words(TEXTS, boxes, np.full(5, 10.0), np.array([2.0, 1, 1, 1, 1]))


def corners(boxes: np.ndarray) -> np.ndarray:
    left, top, right, bottom = boxes.T
    return np.stack([left, top, right, top, right, bottom, left, bottom], 1).reshape(
        -1, 4, 2
    )


def shapes() -> Shapes:
    return Shapes(
        rules=np.array([[5.0, 35, 300, 35], [150, 0, 150, 70]]),
        grounds=np.array([[0.0, 38, 100, 70, 51]]),
        pictures=np.array([[0.0, 100, 200, 200]]),
        checks=np.zeros((0, 5)),
    )


def tokens(level: Words, around_them: Shapes) -> Tokens:
    return tokens_of(level, grouped(level, 0.6), around_them)


def test_words_near_each_other_are_one_piece():
    assert [piece.tolist() for piece in grouped(words(), 0.6)] == [[0, 1], [2], [3, 4]]
    assert [piece.tolist() for piece in grouped(words(), 0.2)] == [
        [0],
        [1],
        [2],
        [3],
        [4],
    ]


def test_an_upright_rule_parts_words():
    rule = np.array([[63.0, 0, 63, 35]])
    assert [piece.tolist() for piece in grouped(words(), 0.6, rule)] == [
        [0],
        [1],
        [2],
        [3, 4],
    ]


def test_a_line_may_be_cut():
    cut = np.array([True, False, False, False, False])
    assert grouped(words(), 0.6, None, cut)[0].tolist() == [0]


@pytest.mark.parametrize(
    "angle", [0.0, 0.02, -0.03, np.pi / 2, np.pi, -np.pi / 2 + 0.01]
)
def test_a_turned_page_is_told_as_a_level_one(angle):
    straight = tokens(words(), shapes())
    there = turned(corners(BOXES), -angle)
    assert np.exp(1j * text_angle(there)) == pytest.approx(np.exp(1j * angle))
    back = text_angle(there)
    level = words(around(turned(there, back)))
    moved = shapes()
    turned_there = Shapes(
        rules=moved.rules,
        grounds=moved.grounds,
        pictures=moved.pictures,
        checks=moved.checks,
    )
    again = tokens(level, turned_there)
    assert again.unit == pytest.approx(straight.unit)
    assert again.places[:3, :2] == pytest.approx(straight.places[:3, :2], abs=1e-4)
    assert again.features[:3, :6] == pytest.approx(straight.features[:3, :6])


def test_boxes_turn_with_the_page():
    boxes = np.array([[10.0, 20, 30, 25]])
    quarter = turned_boxes(boxes, np.pi / 2)
    assert quarter == pytest.approx(np.array([[20.0, -30, 25, -10]]))


@pytest.mark.parametrize("scale", [0.5, 3.0])
def test_resolution_does_not_matter(scale):
    one = tokens(words(), shapes())
    large = words(BOXES * scale)._replace(sizes=np.full(5, 10.0 * scale))
    near = shapes()
    other = tokens(
        large,
        Shapes(
            rules=near.rules * scale,
            grounds=near.grounds * (scale, scale, scale, scale, 1),
            pictures=near.pictures * scale,
            checks=near.checks,
        ),
    )
    assert other.features == pytest.approx(one.features, abs=1e-4)
    assert other.places == pytest.approx(one.places, rel=1e-4, abs=1e-4)


def test_rules_grounds_and_ngrams_are_told():
    found = tokens(words(), shapes())
    assert found.pieces == 3
    assert found.features.shape == (3 + 4, feature_count())
    assert found.places.shape == (7, PLACES)
    assert found.features[:, :6].argmax(1).tolist() == [0, 0, 0, 1, 2, 3, 4]
    above, below = found.places[:3, 6], found.places[:3, 7]
    assert (above < NO_RULE).tolist() == [False, False, True]
    assert (below < NO_RULE).tolist() == [True, True, False]
    assert found.places[:3, 10].tolist() == [-1, -1, 0]
    assert (found.ngrams[:3, 0] > 0).all()
    assert (found.ngrams[3:] == 0).all()
    same = tokens(
        words()._replace(texts=["Total", "amount", "99.75", "Note", "1:"]), shapes()
    )
    assert (same.ngrams == found.ngrams).all()  # digits are all alike


def test_a_page_without_words_has_tokens_of_its_shapes():
    none = Words([], np.zeros((0, 4)), np.zeros(0), np.zeros(0))
    found = tokens(none, shapes())
    assert found.pieces == 0
    assert found.features.shape == (4, feature_count())
