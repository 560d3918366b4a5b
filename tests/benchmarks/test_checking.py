"""Texts with errors that are known."""

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
import checking

WORDS = [
    "The",
    "report",
    "of",
    "Schneider",
    "was",
    "published",
    "on",
    "14.03.2021",
    "and",
    "shows",
    "12,580.50",
    "of",
    "profit",
    "in",
    "Robertson",
    "where",
    "people",
    "came",
    "together",
    "17.25",
    "and",
    "nobody",
    "knew",
    "what",
    "happened",
    "then",
]


@pytest.fixture
def sheet() -> checking.Sheet:
    """A page of one block with a misspelled word."""
    words = [*WORDS, "libarry"]
    return checking.Sheet(
        name="a",
        state="printed",
        picture=Path("a.png"),
        pdf=Path("a.pdf"),
        words=words,
        blocks=[0] * len(words),
        misspelled={len(WORDS): "library"},
        parts=["line", *[""] * len(WORDS)],
        cells=[checking.Cell(1, row, 2, (place,)) for row, place in ((1, 7), (2, 10))],
    )


@pytest.mark.parametrize("kind", checking.ALTERATIONS)
def test_every_kind_of_error_alters_what_it_says(sheet, kind, monkeypatch):
    alter = checking.ALTERATIONS[kind]
    monkeypatch.setattr(checking, "ALTERATIONS", {kind: alter})
    for seed in range(40):
        text = checking.altered(sheet, np.random.default_rng(seed))
        unaltered = [w for w, k in zip(text.words, text.kinds, strict=True) if not k]
        if text.left_out or {*text.kinds} - {""}:
            break
    assert text.words != sheet.words
    assert len(unaltered) < len(sheet.words) or kind == "invented"
    assert all(word in sheet.words for word in unaltered)
    assert {*text.kinds} <= {"", kind}


def test_of_two_copies_the_one_that_is_found_counts():
    text = {
        "words": ["a", "b", "a", "b"],
        "kinds": ["line twice"] * 4,
        "probabilities": [0.9, 0.1, 0.1, 0.9],
    }
    assert checking._counted(text).tolist() == [False, True, True, False]


def test_an_absent_copy_is_wrong_if_the_other_one_has_a_place():
    text = {
        "kinds": ["line twice", "line twice", "line twice", "line twice", "", "digit"],
        "absences": [None, [0.1], [0.2], [0.3], [0.4], [0.5]],
    }
    assert checking.absent_words(text) == [
        ([0.2], False),
        ([0.4], True),
        ([0.5], False),
    ]


def test_texts_of_a_page_differ_and_are_the_same_again(sheet):
    texts = [checking.text_of(sheet, 7, version)[0].words for version in range(12)]
    again = [checking.text_of(sheet, 7, version)[0].words for version in range(12)]
    assert texts == again
    assert len(set(map(tuple, texts))) > 6


def result(probabilities: list[float], kinds: list[str]) -> dict:
    """What was found on a page with one text."""
    text = {
        "words": ["a"] * len(kinds),
        "kinds": kinds,
        "probabilities": probabilities,
        "verdicts": ["confirmed" if p > 0.5 else "contradicted" for p in probabilities],
    }
    return {"name": "a", "texts": [text]}


def test_thresholds_are_chosen_on_other_pages():
    """On the own half all words are below what is usual on the other."""
    low = result([0.3, 0.4, 0.1], ["", "", "digit"])
    high = result([0.8, 0.9, 0.7], ["", "", "digit"])
    words = checking.Outcomes.of([low] * 4 + [high] * 4)
    assert words.below(0.01).tolist() == [True] * 12 + [False] * 12
    alone = checking.Outcomes.of([low])
    assert alone.below(0.01).tolist() == [False, False, True]


def test_shares_have_intervals_over_pages():
    pages = [result([0.1, 0.9], ["", "digit"]), result([0.9, 0.9], ["", "digit"])]
    words = checking.Outcomes.of(pages)
    assert words.share(words.doubted, ~words.altered) == "50.0 [0.0, 100.0]"
    assert words.share(words.doubted, words.altered) == "0.0 [0.0, 0.0]"


def test_pages_that_no_font_can_print_are_left_out(monkeypatch):
    monkeypatch.setattr(checking, "has_font", lambda language: language != "ko")
    sources = checking.page_sources(60, fit=False)
    kept = checking.printable(sources)
    left_out = {source.name for source in sources} - {source.name for source in kept}
    assert left_out
    assert all(name.startswith("ko-") for name in left_out)
    assert [source.number for source in sources] == list(range(60))


@pytest.fixture
def table() -> checking.Sheet:
    """A page with a line and a table of three columns."""
    rows = [
        ["Goods", "Date", "Sum"],
        ["Green tea", "1.2.", "5.00"],
        ["Milk", "3.4.", "6.00"],
    ]
    words = ["Bought", "here"]
    parts = ["line", ""]
    columns = [0, 0]
    for row in rows:
        for column, cell in enumerate(row, 1):
            for number, word in enumerate(cell.split()):
                words.append(word)
                parts.append("" if number else "cell" if column > 1 else "row")
                columns.append(column)
    return checking.Sheet(
        name="a",
        state="printed",
        picture=Path("a.png"),
        pdf=Path("a.pdf"),
        words=[*words, "Thanks"],
        blocks=list(range(len(words) + 1)),
        misspelled={},
        parts=[*parts, "line"],
        cells=checking.cells_of([*parts, "line"], [*columns, 0]),
    )


def test_texts_keep_the_rows_of_tables(table, monkeypatch):
    monkeypatch.setattr(checking, "ALTERATIONS", {})
    text = checking.altered(table, np.random.default_rng(0))
    assert checking.plain_text(text).splitlines() == [
        "Bought here",
        "Goods  Date  Sum",
        "Green tea  1.2.  5.00",
        "Milk  3.4.  6.00",
        "Thanks",
    ]
    assert "| Green tea | 1.2. | 5.00 |\n" in checking.markdown(text)
    for version in range(3):
        given = checking.given_text(text, version)
        assert [word.text for word in given.words] == table.words
        assert given.begin_lines() == [part in ("line", "row") for part in table.parts]


def test_tables_are_rearranged(table):
    texts = set()
    for seed in range(20):
        moved = checking.rearranged(table, np.random.default_rng(seed))
        assert sorted(moved.words) == sorted(table.words)
        assert [moved.words[0], moved.words[-1]] == ["Bought", "Thanks"]
        for cell in moved.cells:
            assert moved.words[cell.words[0]] in {
                "Goods",
                "Date",
                "Sum",
                "Green",
                "1.2.",
                "5.00",
                "Milk",
                "3.4.",
                "6.00",
            }
        texts.add(" ".join(moved.words[2:-1]))
    assert "Goods Green tea Milk Date 1.2. 3.4. Sum 5.00 6.00" in texts
    assert "Sum Date Goods 5.00 1.2. Green tea 6.00 3.4. Milk" in texts


def test_cells_beside_and_below_each_other_are_exchanged(table):
    found = set()
    for seed in range(40):
        edits: dict = {}
        checking._exchanged(table, np.random.default_rng(seed), edits)
        found.add(tuple(word for words, _ in edits.values() for word in words))
    assert ("6.00", "5.00") in found
    assert ("5.00", "1.2.") in found
    assert not any("tea" in words for words in found)  # names of rows stay


def test_what_is_measured_goes_on_where_it_was_stopped(tmp_path):
    rows = checking.Rows(tmp_path / "rows.jsonl")
    rows.add({"name": "a", "words": ["é"]})
    with (tmp_path / "rows.jsonl").open("a") as file:
        file.write('{"name": "b", "wor')
    again = checking.Rows(tmp_path / "rows.jsonl")
    assert again.names == {"a"}
    again.add({"name": "c"})
    assert [row["name"] for row in again.rows()] == ["a", "c"]


def test_lists_are_numbered_as_browsers_do():
    html = "<ol><li>a<ul><li>x</ul><li>b</ol><ol><li>c</ol>"
    numbered = "<ol><li>1. a<ul><li>x</ul><li>2. b</ol><ol><li>1. c</ol>"
    assert checking._numbered(html) == numbered


def test_calibration_error():
    right = np.array([True] * 9 + [False])
    assert checking.calibration_error(right, np.full(10, 0.9)) == pytest.approx(0)
    assert checking.calibration_error(right, np.full(10, 0.5)) == pytest.approx(0.4)
