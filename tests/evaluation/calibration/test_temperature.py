import numpy as np
import pytest

from vit_str.evaluation.calibration.temperature import FACTORS, JudgedWords, fit
from vit_str.evaluation.words.results import ReadWords


def read_words(
    temperature: float, count: int = 3000, seed: int = 0
) -> list[JudgedWords]:
    """Words of two symbols, read at every factor; right as often as another temperature says."""
    generator = np.random.default_rng(seed)
    # Of the symbol read, the other's is 0
    scores = generator.exponential(2, size=count)

    def probabilities(of: float) -> np.ndarray:
        return 1 / (1 + np.exp(-scores / of))

    right = generator.random(count) < probabilities(temperature)
    return [JudgedWords(probabilities(factor), right) for factor in FACTORS]


@pytest.mark.parametrize("temperature", [0.6, 1.0, 2.0])
def test_the_temperature_of_the_words_is_found(temperature):
    result = fit(read_words(temperature))
    assert result.interval[0] <= temperature <= result.interval[1]
    assert result.factor == pytest.approx(temperature, rel=0.15)
    assert not result.is_at_edge
    others = read_words(temperature, seed=1)
    before = others[4]
    after = others[int(np.abs(FACTORS - result.factor).argmin())]
    assert after.scores()["error"] < 0.04
    if temperature != 1:
        assert before.scores()["error"] > after.scores()["error"]
        assert before.scores()["loss"] > after.scores()["loss"]


@pytest.mark.parametrize("temperature", [0.1, 30.0])
def test_a_temperature_beyond_those_tried_is_at_the_edge(temperature):
    assert fit(read_words(temperature)).is_at_edge


def test_words_that_say_nothing_are_refused():
    tried = read_words(1.0, 60)
    for right in (np.ones(60, bool), np.zeros(60, bool)):
        words = [JudgedWords(each.confidences, right) for each in tried]
        with pytest.raises(
            ValueError, match="some read right and some wrong, found 60"
        ):
            fit(words)
    with pytest.raises(ValueError, match="needs 50 words or more, some"):
        fit([each.select(np.arange(20)) for each in tried])


def test_what_has_no_label_or_cannot_be_read_is_left_out():
    words = ReadWords(
        ["one", "", "two", "four"], ["one", "!", "", "for"], [0.9, 0.8, None, 1.0]
    )
    judged = JudgedWords.of(words)
    np.testing.assert_array_equal(judged.confidences, [0.9, 1.0])
    np.testing.assert_array_equal(judged.right, [True, False])
    np.testing.assert_allclose(judged.losses, [-np.log(0.9), -np.log(1e-12)], rtol=1e-4)
