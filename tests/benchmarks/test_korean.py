"""What the benchmark of Korean counts as the same, and its scores."""

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from korean import compared, labeled_files, scored


@pytest.mark.parametrize(
    ("printed", "expected"),
    [
        ("₩ 8,000", "W8,000"),
        ("전골·수육 ㆍ 무침", "전골·수육·무침"),
        ("５～７세", "5~7세"),
        ("“답변” ‘예’ – …", "\"답변\"'예'-..."),
        ("▪ 배경 ☐", "■배경□"),
        ("\u1112\u1161\u11ab글", "한글"),
        ("大 〈표〉 《책》", "大〈표〉《책》"),
    ],
)
def test_marks_of_one_kind_are_the_same(printed, expected):
    assert compared(printed) == expected


def test_shares_are_of_characters_and_by_kind(tmp_path):
    rows = "images/menu-1.jpg\t차림상\nimages/pdf-2.jpg\t상태 정보(a)\n"
    (tmp_path / "labels.tsv").write_text(rows, "utf-8")
    files, labels = labeled_files(tmp_path)
    assert files[1] == tmp_path / "images" / "pdf-2.jpg"
    wanted = list(map(compared, labels))
    scores = scored(np.array([0.0, 2.0]), wanted, ["menu", "pdf"])
    assert scores["wrong"] == pytest.approx(2 / 10)
    assert scores["kinds"] == {"menu": 0.0, "pdf": pytest.approx(2 / 7)}
    assert scores["right"] == 0.5
