import math

import numpy as np
import pytest

from vit_str.metrics import (
    METRICS,
    bootstrap_interval,
    cer,
    character_accuracy,
    edit_distance,
    normalize_label,
    one_minus_ned,
    right_words,
    score,
    wilson_interval,
    word_accuracy,
)


def levenshtein(first: str, second: str) -> int:
    """The textbook recursion, slow and plain."""
    if not first or not second:
        return len(first) + len(second)
    if first[0] == second[0]:
        return levenshtein(first[1:], second[1:])
    shorter = (first[1:], second), (first, second[1:]), (first[1:], second[1:])
    return 1 + min(levenshtein(*pair) for pair in shorter)


@pytest.mark.parametrize(
    ("first", "second"),
    [("", ""), ("", "abc"), ("kitten", "sitting"), ("한글", "한국"), ("flaw", "lawn"), ("é", "e")],
)
def test_edit_distance(first: str, second: str) -> None:
    assert edit_distance(first, second) == edit_distance(second, first)
    assert edit_distance(first, second) == levenshtein(first, second)


@pytest.mark.parametrize(
    ("label", "normalized"),
    [
        ("Café-24 ", {36: "cafe24", 62: "Cafe24", 94: "Cafe-24"}),
        ("①ﬁ", {36: "1fi", 62: "1fi", 94: "1fi"}),
        ("Genaxis Theatre", {36: "genaxistheatre", 62: "GenaxisTheatre", 94: "GenaxisTheatre"}),
        ("[06]", {36: "06", 62: "06", 94: "[06]"}),
        ("...", {36: "", 62: "", 94: "..."}),
        ("한글", {36: "", 62: "", 94: ""}),
    ],
)
def test_normalize_label(label: str, normalized: dict[int, str]) -> None:
    assert {protocol: normalize_label(label, protocol) for protocol in (36, 62, 94)} == normalized


def test_unknown_protocol_names_the_known() -> None:
    with pytest.raises(ValueError, match=r"37.*\[36, 62, 94\]"):
        normalize_label("a", 37)


def test_word_accuracy_depends_on_the_protocol() -> None:
    predictions, labels = ["sale", "Sale", "Sale!", "x"], ["Sale!"] * 4
    assert word_accuracy(predictions, labels, 36) == 0.75
    assert word_accuracy(predictions, labels, 62) == 0.5
    assert word_accuracy(predictions, labels, 94) == 0.25


def test_labels_that_a_protocol_cannot_judge_are_left_out() -> None:
    assert word_accuracy(["a", "wrong"], ["a", "!?"], 36) == 1
    assert score(["a", "wrong"], ["a", "!?"]).left_out["word_accuracy_36"] == 1
    assert score(["a", "wrong"], ["a", "!?"]).left_out["word_accuracy_94"] == 0


def test_right_words_are_those_of_the_accuracy() -> None:
    predictions, labels = ["Sale", "x", "b", "C!"], ["sale", "!?", "a", "C"]
    assert right_words(predictions, labels).tolist() == [True, False, True]
    assert right_words(predictions, labels, 62).tolist() == [False, False, True]
    for protocol in (36, 62, 94):
        right = right_words(predictions, labels, protocol)
        assert right.mean() == word_accuracy(predictions, labels, protocol)


def test_character_measures() -> None:
    predictions, labels = ["ab", "abcdef"], ["abcd", "abcdef"]
    assert cer(predictions, labels) == 2 / 10
    assert character_accuracy(predictions, labels) == 1 - 2 / 10
    assert one_minus_ned(predictions, labels) == (0.5 + 1) / 2


def test_long_readings_do_not_make_accuracy_negative() -> None:
    assert cer(["abcdef"], ["x"]) == 6
    assert character_accuracy(["abcdef"], ["x"]) == 0
    assert one_minus_ned(["abcdef"], ["x"]) == 0
    assert score(["abcdef", "ab"], ["x", "y"]).interval["character_accuracy"] == (0, 0)


def test_nothing_to_judge_is_not_a_number() -> None:
    assert all(math.isnan(measure([], [])) for measure in (word_accuracy, cer, character_accuracy))
    scores = score(["a"], ["한글"])
    assert all(math.isnan(scores.values[metric]) for metric in METRICS)
    assert scores.to_dict()["word_accuracy_36"] is None
    assert scores.to_dict()["interval"]["one_minus_ned"] == [None, None]


def test_one_prediction_for_each_label() -> None:
    with pytest.raises(ValueError, match="2 predictions for 1 labels"):
        word_accuracy(["a", "b"], ["a"])


def test_wilson_interval_against_published_values() -> None:
    # Newcombe 1998, Table I, method 3 (score): 81 of 263, 15 of 148, 0 of 20, 1 of 29.
    for (successes, n), expected in {
        (81, 263): (0.2553, 0.3662),
        (15, 148): (0.0624, 0.1605),
        (0, 20): (0.0, 0.1611),
        (1, 29): (0.0061, 0.1718),
    }.items():
        assert wilson_interval(successes, n) == pytest.approx(expected, abs=5e-5)
    assert wilson_interval(0, 0) == (0, 1)
    assert wilson_interval(20, 20)[1] == 1


def test_bootstrap_interval_covers_what_wilson_does() -> None:
    right = (np.arange(400) % 4 == 0).astype(float)
    low, high = bootstrap_interval(right, np.ones(400))
    assert (low, high) == pytest.approx(wilson_interval(100, 400), abs=0.01)
    assert bootstrap_interval(right, np.ones(400)) == (low, high)


def test_score_agrees_with_the_single_measures() -> None:
    predictions, labels = ["Sale", "open", "C", "12"], ["sale", "open!", "C", "13"]
    scores = score(predictions, labels, unreadable=1, missing=2)
    values = scores.to_dict()
    assert values["n"] == 4
    assert (values["unreadable"], values["missing"]) == (1, 2)
    for protocol in (36, 62, 94):
        name = f"word_accuracy_{protocol}"
        assert values[name] == word_accuracy(predictions, labels, protocol)
    assert values["character_accuracy"] == character_accuracy(predictions, labels)
    assert values["one_minus_ned"] == pytest.approx(one_minus_ned(predictions, labels))
    for metric in METRICS:
        low, high = values["interval"][metric]
        assert low <= values[metric] <= high
