import math
import random

import pytest
import torch

from vit_str.characters.distances import edit_distance
from vit_str.evaluation.metrics import (
    FULL,
    METRICS,
    cer,
    character_accuracy,
    normalize_label,
    one_minus_ned,
    right_words,
    score,
    word_accuracy,
)

# Characters of one, two, three and four bytes, of both cases, combining, and outside the alphabet.
ALPHABET = "abAB01-' éÉß한글漢😀e\u0301"


def random_texts(
    n: int, seed: int, shortest: int = 0, alphabet: str = ALPHABET
) -> tuple[list[str], list[str]]:
    """Readings and labels, some of which are alike."""
    numbers = random.Random(seed)

    def text() -> str:
        return "".join(numbers.choices(alphabet, k=numbers.randint(shortest, 12)))

    labels = [text() for _ in range(n)]
    readings = []
    for label in labels:
        place = numbers.randint(0, len(label))
        changed = label[:place] + numbers.choice(alphabet) + label[place + 1 :]
        readings.append(numbers.choice([label, label, changed, label[:place], text()]))
    return readings, labels


@pytest.mark.parametrize("seed", range(3))
def test_measures_against_torchmetrics(seed):
    """An implementation of others, with an edit distance of its own, on texts in all scripts."""
    text = pytest.importorskip("torchmetrics.functional.text")
    readings, labels = random_texts(200, seed)
    distances = text.edit_distance(readings, labels, reduction="none").tolist()
    assert [
        edit_distance(*pair) for pair in zip(readings, labels, strict=True)
    ] == distances
    pairs = [
        (normalize_label(reading, FULL), normalize_label(label, FULL))
        for reading, label in zip(readings, labels, strict=True)
    ]
    judged = [pair for pair in pairs if pair[1]]
    known_readings, known_labels = ([pair[side] for pair in judged] for side in (0, 1))
    rate = float(text.char_error_rate(known_readings, known_labels))
    assert cer(readings, labels, FULL) == pytest.approx(rate, rel=1e-6)
    scores = score(readings, labels)
    assert scores.values["character_accuracy_full"] == pytest.approx(
        max(0, 1 - rate), rel=1e-6
    )
    known = text.edit_distance(known_readings, known_labels, reduction="none")
    longest = torch.tensor([max(map(len, pair)) for pair in judged])
    expected = float((1 - known / longest).mean())
    assert one_minus_ned(readings, labels, FULL) == pytest.approx(expected, rel=1e-6)
    assert scores.left_out["word_accuracy_full"] == sum(
        not label.strip() for label in labels
    )


def test_word_accuracy_against_torchmetrics():
    """One word against one word: the word error rate is the share of wrong words."""
    text = pytest.importorskip("torchmetrics.functional.text")
    readings, labels = random_texts(300, 7, 1, "abAB01-'éÉß한글漢😀")
    readings = [reading or "-" for reading in readings]
    right = 1 - float(text.word_error_rate(readings, labels))
    assert 0.2 < right < 0.8
    assert word_accuracy(readings, labels, FULL) == pytest.approx(right, rel=1e-6)


@pytest.mark.parametrize(
    ("label", "normalized"),
    [
        ("Café-24 ", {36: "cafe24", 62: "Cafe24", 94: "Cafe-24"}),
        ("①ﬁ", {36: "1fi", 62: "1fi", 94: "1fi"}),
        (
            "Genaxis Theatre",
            {36: "genaxistheatre", 62: "GenaxisTheatre", 94: "GenaxisTheatre"},
        ),
        ("[06]", {36: "06", 62: "06", 94: "[06]"}),
        ("...", {36: "", 62: "", 94: "..."}),
        ("“don’t” 5′–…", {36: "dont5", 62: "dont5", 94: "\"don't\"5'-..."}),
        ("한글", {36: "", 62: "", 94: ""}),
    ],
)
def test_normalize_label(label, normalized):
    assert {
        protocol: normalize_label(label, protocol) for protocol in (36, 62, 94)
    } == normalized
    assert normalize_label(label, FULL) == label.strip()


@pytest.mark.parametrize(
    ("label", "looks_like"),
    [
        (" Museum\t", "Museum"),
        ("Museum\u2028", "Museum"),
        ("nai\u0308ve", "naïve"),
        ("\u1112\u1161\u11ab", "한"),
        ("two  words", "two words"),
        ("two\u00a0words", "two words"),
    ],
)
def test_the_full_protocol_compares_what_a_picture_shows(label, looks_like):
    assert word_accuracy([looks_like], [label], FULL) == 1
    assert word_accuracy([label], [looks_like], FULL) == 1
    assert score([looks_like], [label]).values["one_minus_ned_full"] == 1
    assert word_accuracy(['"Museum"'], ["Museum"], FULL) == 0


def test_unknown_protocol_names_the_known():
    for unknown in (37, "36"):
        with pytest.raises(ValueError, match=r"3[67].*\[36, 62, 94\] or 'full'"):
            normalize_label("a", unknown)


def test_the_full_protocol_judges_every_script():
    labels = ["한글24", "서울", "a b", "é", ""]
    readings = ["한굴24", "서울", "ab", "e\u0301", "x"]
    assert right_words(readings, labels, 94).tolist() == [True, True, True], (
        "ASCII alone is seen"
    )
    assert right_words(readings, labels, FULL).tolist() == [False, True, False, True]
    scores = score(readings, labels)
    assert scores.values["word_accuracy_full"] == 0.5
    assert scores.left_out["word_accuracy_full"] == 1
    assert scores.left_out["word_accuracy_94"] == 2
    assert scores.reduced == 4
    assert score(["a"], ["a"]).reduced == 0


def test_word_accuracy_depends_on_the_protocol():
    predictions = ["sale", "Sale", "Sale!", "x"]
    labels = ["Sale!"] * 4
    assert word_accuracy(predictions, labels, 36) == 0.75
    assert word_accuracy(predictions, labels, 62) == 0.5
    assert word_accuracy(predictions, labels, 94) == 0.25


def test_character_measures():
    predictions = ["ab", "abcdef"]
    labels = ["abcd", "abcdef"]
    assert cer(predictions, labels) == 2 / 10
    assert character_accuracy(predictions, labels) == 1 - 2 / 10
    assert one_minus_ned(predictions, labels) == (0.5 + 1) / 2


def test_long_readings_do_not_make_accuracy_negative():
    assert cer(["abcdef"], ["x"]) == 6
    assert character_accuracy(["abcdef"], ["x"]) == 0
    assert one_minus_ned(["abcdef"], ["x"]) == 0
    assert score(["abcdef", "ab"], ["x", "y"]).interval["character_accuracy"] == (0, 0)


def test_nothing_to_judge_is_not_a_number():
    assert all(
        math.isnan(measure([], []))
        for measure in (word_accuracy, cer, character_accuracy)
    )
    scores = score(["a"], [""])
    assert all(math.isnan(scores.values[metric]) for metric in METRICS)
    assert scores.to_dict()["word_accuracy_36"] is None
    assert scores.to_dict()["interval"]["one_minus_ned"] == [None, None]


def test_one_prediction_for_each_label():
    with pytest.raises(ValueError, match="shorter"):
        word_accuracy(["a", "b"], ["a"])


def test_score_agrees_with_the_single_measures():
    predictions = ["Sale", "open", "C", "12"]
    labels = ["sale", "open!", "C", "13"]
    scores = score(predictions, labels, unreadable=1, missing=2)
    values = scores.to_dict()
    assert values["n"] == 4
    assert (values["unreadable"], values["missing"]) == (1, 2)
    for protocol in (36, 62, 94, FULL):
        name = f"word_accuracy_{protocol}"
        assert values[name] == word_accuracy(predictions, labels, protocol)
    assert (
        list(scores.values)
        == list(scores.interval)
        == list(METRICS)
        == list(scores.left_out)
    )
    assert values["character_accuracy"] == character_accuracy(predictions, labels)
    assert values["one_minus_ned"] == pytest.approx(one_minus_ned(predictions, labels))
    for metric in METRICS:
        low, high = values["interval"][metric]
        assert low <= values[metric] <= high
