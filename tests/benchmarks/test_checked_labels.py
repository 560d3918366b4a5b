"""Labels that are trusted least."""

import sys
from pathlib import Path

import pytest

from vit_str.evaluation.pages.labels import Label
from vit_str.pages.find.geometry import rectangle
from vit_str.pages.page import Page, Word

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
import checked_labels


@pytest.mark.parametrize(
    ("label", "found", "expected"),
    [
        ("TOTAL", "Total", "Total"),
        ("TOTAL", "Tota1.", "Total"),
        ("WWW.A.COM", "www.a.con", "www.a.com"),
        ("TOTAL", "TOTAI", "TOTAL"),
        ("Total", "TOTAL", "Total"),
        ("12", None, "12"),
    ],
)
def test_capitals_count_as_the_letters_that_are_printed(label, found, expected):
    assert checked_labels.cased(label, found) == expected


def test_labels_come_in_the_order_in_which_their_places_are_read():
    boxes = {"a": (0, 0), "b": (100, 0), "c": (0, 40), "d": (100, 40)}
    corners = {t: rectangle(x, y, x + 80, y + 20) for t, (x, y) in boxes.items()}
    lines = [["a", "b"], ["c", "d"]]
    words = [[Word(t, 1.0, tuple(map(tuple, corners[t]))) for t in ts] for ts in lines]
    page = Page(200, 60, [words])
    labels = [Label(corners[text] + 3, text) for text in "dbca"]
    ordered = checked_labels.in_reading_order(labels, page)
    assert [label.text for label in ordered] == ["a", "b", "c", "d"]
