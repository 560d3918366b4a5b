import json
import math
import random

import pytest

from vit_str.evaluation.metrics import word_accuracy
from vit_str.evaluation.statistics import plain_values, wilson_interval
from vit_str.evaluation.words.breakdown import (
    COVERAGES,
    SHOWN,
    breakdown,
    case_of,
    rejection,
)
from vit_str.evaluation.words.results import ReadWords


def random_words(n: int = 400, seed: int = 0) -> ReadWords:
    """Labels of several kinds; the surer, the more often right."""
    numbers = random.Random(seed)
    labels = []
    texts = []
    confidences = []
    sizes = []
    for _ in range(n):
        label = "".join(numbers.choices("abcABC12-한", k=numbers.randint(0, 9)))
        sure = numbers.random()
        labels.append(label)
        texts.append(label if numbers.random() < sure else label[:-1])
        confidences.append(None if numbers.random() < 0.05 else sure)
        size = numbers.randint(5, 90), numbers.randint(5, 300)
        sizes.append(None if confidences[-1] is None else size)
    return ReadWords(labels, texts, confidences, sizes=sizes)


def groups_of(dimension: str, words: ReadWords) -> list[str | None]:
    """The group of each word, seen alone."""
    columns = zip(
        words.labels, words.texts, words.confidences, words.sizes, strict=True
    )
    alone = (
        breakdown(ReadWords([label], [text], [sure], sizes=[size]))[dimension]
        for label, text, sure, size in columns
    )
    return [groups[0].name if groups else None for groups in alone]


def test_groups_against_judging_each_on_its_own():
    words = random_words(120)
    for dimension, groups in breakdown(words).items():
        kinds = groups_of(dimension, words)
        assert {group.name for group in groups} == set(kinds) - {None}
        for group in groups:
            chosen = [place for place, kind in enumerate(kinds) if kind == group.name]
            texts, labels = (
                [column[place] for place in chosen]
                for column in (words.texts, words.labels)
            )
            assert group.n == len(chosen)
            for metric, protocol in zip(SHOWN, (36, 94, "full"), strict=True):
                share = group.shares[metric]
                expected = word_accuracy(texts, labels, protocol)
                assert share.value == pytest.approx(expected, nan_ok=True)
                if share.n:
                    right = round(expected * share.n)
                    assert share.interval == wilson_interval(right, share.n)


def test_the_least_sure_are_rejected_first():
    words = random_words()
    kept = rejection(words)
    assert [each.coverage for each in kept] == list(COVERAGES)
    assert [each.n for each in kept] == [
        round(400 * coverage) for coverage in COVERAGES
    ]
    assert kept[0].shares["word_accuracy_full"].value == word_accuracy(
        words.texts, words.labels, "full"
    )
    assert math.isnan(kept[0].confidence), "damaged images are the least sure"
    ranked = sorted(
        (each for each in words.confidences if each is not None), reverse=True
    )
    for each in kept[1:]:
        assert each.confidence == ranked[each.n - 1]
        at_least = [
            place
            for place, sure in enumerate(words.confidences)
            if sure is not None and sure >= each.confidence
        ]
        texts, labels = (
            [column[place] for place in at_least]
            for column in (words.texts, words.labels)
        )
        assert each.shares["word_accuracy_36"].value == pytest.approx(
            word_accuracy(texts, labels)
        )
    assert (
        kept[-1].shares["word_accuracy_36"].value
        > kept[1].shares["word_accuracy_36"].value
    )


def test_nothing_to_break_down():
    nothing = ReadWords([], [], [])
    assert all(groups == [] for groups in breakdown(nothing).values())
    kept = rejection(nothing)
    assert [each.n for each in kept] == [0] * 10
    values = json.loads(json.dumps(plain_values(kept), allow_nan=False))
    assert values[0]["confidence"] is None
    assert values[0]["shares"]["word_accuracy_36"]["value"] is None


@pytest.mark.parametrize(
    ("case", "labels"),
    [
        ("lower case", ["hotel", "e\u0301te\u0301"]),
        ("upper case", ["HOTEL", "A"]),
        ("capitalized", ["Hotel", "École", "Ошибка"]),
        ("mixed case", ["McDonald", "iPhone"]),
        ("digits", ["1984"]),
        ("letters and digits", ["42nd", "B2", "서울24"]),
        ("with symbols or spaces", ["$9.50", "a b"]),
        ("letters without case", ["한글", "हिन्दी"]),
    ],
)
def test_cases_of_labels(case, labels):
    assert {case_of(label) for label in labels} == {case}


def test_lengths():
    labels = [
        "",
        "a",
        "한글",
        "x" * 8,
        "x" * 9,
        "x" * 10,
        "x" * 11,
        "x" * 15,
        "x" * 16,
        "x" * 99,
    ]
    words = ReadWords(labels, labels, [0.5] * len(labels))
    assert groups_of("length", words) == [
        None,
        "1",
        "2",
        "8",
        "9 to 10",
        "9 to 10",
        "11 to 12",
        "13 to 15",
        "16 and more",
        "16 and more",
    ]


def test_sizes():
    sizes = [
        None,
        (32, 128),
        (90, 40),
        (60, 40),
        (61, 40),
        (40, 40),
        (10, 20),
        (10, 21),
        (9, 99),
    ]
    words = ReadWords(["x"] * 9, ["x"] * 9, [0.5] * 9, sizes=list(sizes))
    tall = "tall: height over 1.5 times the width"
    wide = "wide"
    assert groups_of("orientation", words) == [
        None,
        wide,
        tall,
        wide,
        tall,
        wide,
        wide,
        wide,
        wide,
    ]
    two = "width up to 2 times the height"
    three = two.replace("2", "3")
    five = two.replace("2", "5")
    square = "about square: up to as wide as high"
    assert groups_of("aspect", words) == [
        None,
        five,
        tall,
        square,
        tall,
        square,
        two,
        three,
        "wider",
    ]
    assert groups_of("height", words) == [
        None,
        "32 to 47",
        "32 to 47",
        "48 to 63",
        "32 to 47",
        "32 to 47",
        "1 to 11",
        "1 to 11",
        "1 to 11",
    ]


def test_confidences():
    sure = [None, 0.0, 0.05, 0.1, 0.100001, 0.5, 0.95, 1.0, 1.0000001]
    words = ReadWords(["x"] * 9, ["x"] * 9, sure)
    assert groups_of("confidence", words) == [
        None,
        "0.0 to 0.1",
        "0.0 to 0.1",
        "0.0 to 0.1",
        "0.1 to 0.2",
        "0.4 to 0.5",
        "0.9 to 1.0",
        "0.9 to 1.0",
        "0.9 to 1.0",
    ]
