"""Spellings that the benchmark of old print makes one."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from old_print import labeled_lines, one_spelling


@pytest.mark.parametrize(
    ("printed", "expected"),
    [
        ("duͤrfte, ſeyn", "dürfte, seyn"),
        ("A\u0364hnlich  du\u0308rfte", "Ähnlich dürfte"),
        ("„Ja“, ,,ja“ und »nein«", '"Ja", "ja" und "nein"'),
        ("‚halb‘", "'halb'"),
        ("Kaiſer⸗", "Kaiser-"),
        ("1801—1805", "1801-1805"),
    ],
)
def test_spellings_of_old_and_new_print_are_one(printed, expected):
    assert one_spelling(printed) == expected


def test_pictures_lie_beside_the_labels_or_in_a_folder(tmp_path):
    (tmp_path / "labels.tsv").write_text("a.png\tone\nb.png\ttwo\twords\n", "utf-8")
    assert labeled_lines(tmp_path) == (
        [tmp_path / "a.png", tmp_path / "b.png"],
        ["one", "two\twords"],
    )
    (tmp_path / "images").mkdir()
    assert labeled_lines(tmp_path)[0][0] == tmp_path / "images" / "a.png"
