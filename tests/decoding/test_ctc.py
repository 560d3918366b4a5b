"""What columns spell: probabilities of beginnings, and which columns a character has."""

import numpy as np
import pytest

from vit_str.characters.charset import PADDING
from vit_str.decoding.beam_search import log_softmax
from vit_str.decoding.ctc import (
    CtcSteps,
    alignment,
    collapse,
    column_boxes,
    prefix_probabilities,
    symbol_shares,
)
from vit_str.engines.labels import teacher_forcing_scores


@pytest.fixture
def scores() -> np.ndarray:
    return np.random.default_rng(1).normal(size=(3, 14, 5)).astype(np.float32) * 2


def test_all_beginnings_at_once_are_those_step_by_step(scores):
    labels = np.array([[0, 0, 1, 3], [2, 1, PADDING, PADDING], [3, 3, 3, PADDING]])
    begins, exactly = prefix_probabilities(symbol_shares(scores), labels)
    steps = teacher_forcing_scores(CtcSteps(scores), labels, 4)
    for row, label in enumerate(labels):
        length = (label >= 0).sum()
        for place in range(length + 1):
            logs = log_softmax(steps[row, place][None])[0]
            if place < length:
                share = begins[row, place + 1] / begins[row, place]
                assert np.log(share) == pytest.approx(logs[label[place]], abs=1e-6)
            else:
                share = exactly[row, place] / begins[row, place]
                assert np.log(share) == pytest.approx(logs[4], abs=1e-6)


def test_the_best_way_to_spell_what_columns_say_is_theirs(scores):
    labels = collapse(scores, 14)
    owners = alignment(scores, labels)
    best = scores.argmax(2)
    for row, label in enumerate(labels):
        named = np.where(owners[row] >= 0, label[owners[row].clip(0)], 4)
        assert (named == best[row]).all()


def test_another_text_is_aligned_where_it_fits_best():
    scores = np.zeros((2, 6, 4), np.float32)
    scores[:, range(6), [3, 0, 3, 1, 3, 3]] = 5
    scores[:, [1, 3, 4], [3, 3, 2]] = 4
    labels = np.array([[0, 1, PADDING], [0, 1, 2]])
    assert alignment(scores, labels).tolist() == [
        [-1, 0, -1, 1, -1, -1],
        [-1, 0, -1, 1, 2, -1],
    ]
    assert alignment(scores, np.array([[0], [2]])).tolist() == [
        [-1, 0, -1, -1, -1, -1],
        [-1, -1, -1, -1, 0, -1],
    ]


def test_boxes_follow_each_other_over_the_line():
    scores = np.zeros((2, 8, 4), np.float32)
    for row, spelled in enumerate([(3, 0, 3, 1, 1, 3, 2, 3), (3, 3, 3, 3, 2, 3, 3, 3)]):
        scores[row, np.arange(8), spelled] = 9
    labels = np.array([[0, 1, 2], [2, PADDING, PADDING]])
    boxes = column_boxes(scores, labels, (32, 80))
    assert boxes[0].tolist() == [
        [2.5, 0, 27.5, 32],
        [27.5, 0, 52.5, 32],
        [52.5, 0, 77.5, 32],
    ]
    assert boxes[1].tolist() == [[37, 0, 53, 32], [0, 0, 0, 0], [0, 0, 0, 0]]
    assert column_boxes(scores[1:], labels[1:, :0], (32, 80)).shape == (1, 0, 4)
