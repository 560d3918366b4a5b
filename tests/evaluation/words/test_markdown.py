import re

import pytest

from vit_str.evaluation.words.markdown import report_markdown
from vit_str.evaluation.words.report import Report
from vit_str.evaluation.words.results import ReadWords

SUBJECT = ("my_model", "vit-str evaluate a b", "read in float32 on cpu")


@pytest.fixture
def report() -> Report:
    first = ReadWords(
        ["Hotel", "a|b", "`x`", "HOTEL"],
        ["hotel", "a|c", "", "H0TEL"],
        [0.9, 0.8, None, 0.95],
        damaged=["x.png: damaged"],
        sizes=[(32, 100), (90, 30), None, (20, 40)],
    )
    return Report({"first_set": first, "second": ReadWords(["한글"], ["한굴"], [0.7])})


def tables(page: str) -> list[list[list[str]]]:
    """Cells of all tables; what is between pipes that are not escaped."""
    found = re.findall(r"(?:^\|.*\n)+", page, re.MULTILINE)
    return [
        [re.split(r"(?<!\\)\|", row)[1:-1] for row in table.splitlines()]
        for table in found
    ]


def test_page(report):
    page = report_markdown(report, *SUBJECT)
    headings = re.findall(r"^#+ (.*)$", page, re.MULTILINE)
    assert headings == [
        *(r"How well my\_model reads", "Accuracy", "Confidence", "By kind of word"),
        "Characters taken for others",
        "Surest mistakes",
    ]
    assert "5 words of 2 sets, read in float32 on cpu. Made by" in page
    assert "```text\nvit-str evaluate a b\n```" in page
    for table in tables(page):
        assert len({len(row) for row in table}) == 1, table
        assert all(set(mark.strip()) <= {"-", ":"} for mark in table[1])
    assert r"| first\_set | 4 | " in page
    assert "* 1 damaged images: counted as read wrong" in page
    assert "| `O` | `0` | 1 | 1 | 100.0 % |" in page
    assert page.index("| `HOTEL` | `H0TEL` |") < page.index("| `한글` | `한굴` |")
    assert r"| `a\|b` | `a\|c` | first\_set | 0.8000 |" in page
    assert page.endswith("|\n")
    assert "\n\n\n" not in page


def test_page_about_nothing():
    page = report_markdown(Report({"x": ReadWords([], [], [])}), *SUBJECT)
    assert page.count("\nNone.") == 2
    assert "nan" not in page
