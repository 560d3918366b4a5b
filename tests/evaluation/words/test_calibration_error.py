import json
import math

import numpy as np
import pytest

from vit_str.evaluation.statistics import plain_values
from vit_str.evaluation.words.calibration_error import BINS, calibrate


def words(n: int, honest: bool = True, seed: int = 0) -> tuple[list[float], list[bool]]:
    """Confidences, and what is right as often as they say, or as their squares say."""
    generator = np.random.default_rng(seed)
    confidences = generator.random(n)
    chance = confidences if honest else confidences**2
    return confidences.tolist(), (generator.random(n) < chance).tolist()


def textbook(confidences: list[float], right: list[bool]) -> float:
    """Expected calibration error bin by bin, as Guo et al. (2017) write it."""
    error = 0.0
    for index in range(15):
        low = index / 15
        high = (index + 1) / 15
        inside = [
            place
            for place, confidence in enumerate(confidences)
            if low < confidence <= high or (index == 0 and confidence == 0)
        ]
        if inside:
            accuracy = sum(right[place] for place in inside) / len(inside)
            confidence = sum(confidences[place] for place in inside) / len(inside)
            error += len(inside) / len(right) * abs(accuracy - confidence)
    return error


@pytest.mark.parametrize("honest", [True, False])
def test_error_against_an_independent_computation(honest):
    confidences, right = words(700, honest)
    assert calibrate(confidences, right).error == pytest.approx(
        textbook(confidences, right)
    )


def test_errors_by_hand():
    # Two bins with words: 0.9 with half of two right, 0.5 with all of two right.
    found = calibrate([0.9, 0.9, 0.5, 0.5], [True, False, True, True])
    assert found.error == pytest.approx((2 * 0.4 + 2 * 0.5) / 4)
    assert found.confidence == pytest.approx(0.7)
    filled = [each for each in found.bins if each.n]
    assert [(each.n, each.confidence, each.accuracy) for each in filled] == [
        (2, pytest.approx(0.5), 1.0),
        (2, pytest.approx(0.9), 0.5),
    ]


def test_every_confidence_has_its_bin():
    found = calibrate([0.0, 1.0, 1 / 15, 1 / 15 + 1e-9], [False, True, False, False])
    assert [each.n for each in found.bins] == [2, 1, *[0] * (BINS - 3), 1]
    assert found.bins[0].low == 0
    assert found.bins[-1].high == 1
    for before, after in zip(found.bins, found.bins[1:], strict=False):
        assert before.high == after.low


def test_the_interval_holds_the_error_and_most_errors_of_other_words():
    found = calibrate(*words(2000, honest=False))
    low, high = found.interval
    assert 0 <= low < found.error < high
    others = [calibrate(*words(2000, False, seed)).error for seed in range(1, 9)]
    assert sum(low <= error <= high for error in others) >= 5
    assert calibrate(*words(2000, honest=False)).interval == found.interval


def test_nothing_to_say():
    found = calibrate([], [])
    assert math.isnan(found.error)
    values = json.loads(json.dumps(plain_values(found), allow_nan=False))
    assert (values["n"], values["error"], values["interval"]) == (0, None, [None, None])
    assert [each["n"] for each in values["bins"]] == [0] * BINS
