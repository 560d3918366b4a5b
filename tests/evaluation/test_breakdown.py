import json
import math
import random

import pytest

from vit_str.evaluation.breakdown import COVERAGES, SHOWN, breakdown, rejection
from vit_str.evaluation.kinds import RULES
from vit_str.evaluation.words import ReadWords
from vit_str.metrics import word_accuracy
from vit_str.statistics import wilson_interval


def random_words(n: int = 400, seed: int = 0) -> ReadWords:
    """Labels of several kinds; the surer, the more often right."""
    numbers = random.Random(seed)
    labels, texts, confidences, sizes = [], [], [], []
    for _ in range(n):
        label = "".join(numbers.choices("abcABC12-한", k=numbers.randint(0, 9)))
        sure = numbers.random()
        labels.append(label)
        texts.append(label if numbers.random() < sure else label[:-1])
        confidences.append(None if numbers.random() < 0.05 else sure)
        size = numbers.randint(5, 90), numbers.randint(5, 300)
        sizes.append(None if confidences[-1] is None else size)
    return ReadWords(labels, texts, confidences, sizes=sizes)


def test_groups_against_judging_each_on_its_own() -> None:
    words = random_words()
    for dimension, groups in breakdown(words).items():
        rule, order = RULES[dimension]
        kinds = list(rule(words))
        assert [group.name for group in groups] == [name for name in order if name in kinds]
        assert sum(group.n for group in groups) == sum(kind is not None for kind in kinds)
        for group in groups:
            chosen = [place for place, kind in enumerate(kinds) if kind == group.name]
            texts, labels = (
                [column[place] for place in chosen] for column in (words.texts, words.labels)
            )
            assert group.n == len(chosen)
            for metric, protocol in zip(SHOWN, (36, 94, "full"), strict=True):
                share = group.shares[metric]
                expected = word_accuracy(texts, labels, protocol)
                assert share.value == pytest.approx(expected, nan_ok=True)
                if share.n:
                    right = round(expected * share.n)
                    assert share.interval == wilson_interval(right, share.n)


def test_the_least_sure_are_rejected_first() -> None:
    words = random_words()
    kept = rejection(words)
    assert [each.coverage for each in kept] == list(COVERAGES)
    assert [each.n for each in kept] == [round(400 * coverage) for coverage in COVERAGES]
    assert kept[0].shares["word_accuracy_full"].value == word_accuracy(
        words.texts, words.labels, "full"
    )
    assert math.isnan(kept[0].confidence), "damaged images are the least sure"
    ranked = sorted((each for each in words.confidences if each is not None), reverse=True)
    for each in kept[1:]:
        assert each.confidence == ranked[each.n - 1]
        at_least = [
            place
            for place, sure in enumerate(words.confidences)
            if sure is not None and sure >= each.confidence
        ]
        texts, labels = (
            [column[place] for place in at_least] for column in (words.texts, words.labels)
        )
        assert each.shares["word_accuracy_36"].value == pytest.approx(word_accuracy(texts, labels))
    assert kept[-1].shares["word_accuracy_36"].value > kept[1].shares["word_accuracy_36"].value


def test_nothing_to_break_down() -> None:
    nothing = ReadWords([], [], [])
    assert all(groups == [] for groups in breakdown(nothing).values())
    kept = rejection(nothing)
    assert [each.n for each in kept] == [0] * 10
    values = json.loads(json.dumps([each.to_dict() for each in kept], allow_nan=False))
    assert values[0]["confidence"] is None
    assert values[0]["shares"]["word_accuracy_36"]["value"] is None


def test_plain_values() -> None:
    groups = breakdown(ReadWords(["한"], ["한"], [0.3]))
    values = json.loads(json.dumps(groups["length"][0].to_dict(), allow_nan=False))
    assert (values["name"], values["n"]) == ("1", 1)
    assert values["word_accuracy_full"]["value"] == 1
    assert (values["word_accuracy_36"]["n"], values["word_accuracy_36"]["value"]) == (0, None)
    assert groups["height"] == []
