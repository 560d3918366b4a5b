"""How two detectors are compared on labelled pictures."""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from vit_str.evaluation.pages.labels import Label
from vit_str.synthesis.places import no_places, upright_strips

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
from finding import Counts, compared, confidence_table, labels_of


def box(left: float, top: float, right: float, bottom: float) -> np.ndarray:
    return np.array([(left, top), (right, top), (right, bottom), (left, bottom)], float)


LABELS = [
    Label(box(10, 10, 50, 20), "some"),
    Label(box(56, 10, 90, 20), "words"),
    Label(box(10, 40, 50, 50), "below"),
    Label(box(200, 0, 300, 100), "###"),
]


def test_what_is_right_counts_fully():
    lines = [box(10, 10, 90, 20), box(10, 40, 50, 50)]
    words = [label.polygon for label in LABELS[:3]]
    counts = compared(lines, words, LABELS)
    assert (counts.labels, counts.covered, counts.lines, counts.right) == (3, 3, 2, 2)
    assert (counts.words, counts.matched) == (3, 3)
    assert counts.ends == pytest.approx([0, 0, 0, 0])


def test_confidences_are_kept_with_what_is_right():
    lines = [box(10, 10, 90, 20), box(0, 80, 100, 90), box(210, 10, 290, 30)]
    counts = compared(lines, None, LABELS, [0.9, 0.4, 0.8])
    assert counts.sure == [(0.9, True), (0.4, False)]
    told = confidence_table([(0.2, False)] * 5 + [(0.9, True)] * 5, parts=2)
    assert "0.200" in told and "0.900" in told and "off by 15.0 points" in told


def test_words_of_drawn_pictures_that_are_small_or_cut_are_not_judged():
    boxes = np.array([[10, 10, 50, 22], [10, 30, 50, 35]], float)
    strips = upright_strips(boxes, np.array([12.0, 5.0]), np.zeros(2, np.int32))
    cut = box(90, 10, 120, 22)[None]
    places = replace(
        no_places(), strips=strips, lines=np.arange(2, dtype=np.int32), unclear=cut
    )
    assert [label.is_judged for label in labels_of(places)] == [True, False, False]


def test_grown_lines_have_ends_beyond_their_words():
    counts = compared([box(5, 10, 100, 20)], None, LABELS)
    assert counts.ends == pytest.approx([0.5, 1.0])
    assert (counts.covered, counts.words) == (2, 0)
    assert np.isnan(counts.figures()["word precision"])


def test_what_is_not_judged_is_neither_right_nor_wrong():
    counts = compared([box(210, 10, 290, 30)], [box(210, 10, 290, 30)], LABELS)
    assert (counts.lines, counts.words, counts.covered) == (0, 0, 0)


def test_a_box_around_all_finds_no_words_and_junk_is_wrong():
    counts = compared([box(0, 0, 100, 60), box(0, 80, 100, 90)], None, LABELS)
    assert counts.covered == 0
    assert counts.right == 0
    assert counts.lines == 2


def test_joined_words_match_none_and_each_label_matches_once():
    joined = [box(10, 10, 90, 20)]
    assert compared(joined, joined, LABELS).matched == 0
    twice = [box(10, 10, 50, 20), box(11, 10, 50, 20)]
    counts = compared(twice, twice, LABELS)
    assert (counts.matched, counts.words) == (1, 2)


def test_counts_of_pictures_add_up():
    whole = sum([Counts(labels=2, covered=1), Counts(labels=2, covered=2)], Counts())
    assert whole.figures()["recall"] == 75
