"""Scores of structure, against pages worked out by hand."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
import structure_scores as scores

PAGES = sorted(Path(scores.__file__).parent.glob("documents*/*.html"))

HTML = """<html lang="en"><body>
<div class="head"><span>Harbour</span><span>Volume 7</span></div>
<h1>The <em>tide</em> tables</h1>
<p>One two<sup>1</sup> three,<br>four &amp; five.</p>
<ol><li>Ask.</li><li>Pay now.</li></ol><ul><li>Go</li></ul>
<table><tr><th>Day</th><th class="number">Hours</th></tr><tr><td>Monday</td><td></td></tr></table>
<div class="foot">12</div></body></html>"""


def test_html_says_what_is_there_to_find():
    found = scores.structure_of_html(HTML)
    assert found.headings == [("The tide tables", 1)]
    assert found.tables == [[["Day", "Hours"], ["Monday", ""]]]
    body = "The tide tables One two1 three, four five. 1. Ask. 2. Pay now. Go Day Hours Monday"
    assert " ".join(found.body) == body
    assert " ".join(found.text) == f"Harbour Volume 7 {body} 12"


def test_what_a_cell_covers_beside_and_below_it_is_empty():
    head = '<tr><th rowspan="2">Line</th><th colspan="2">Sold</th><th rowspan="2">Left</th></tr>'
    body = "<tr><th>May</th><th>June</th></tr><tr><td>a</td><td>1</td><td>2</td><td>3</td></tr>"
    found = scores.structure_of_html(f"<table>{head}{body}</table>")
    rows = [["Line", "Sold", "", "Left"], ["", "May", "June", ""], ["a", "1", "2", "3"]]
    assert found.tables == [rows]


ROLES = """<!DOCTYPE html><html lang="en"><head><title>No text</title><meta charset="utf-8"></head>
<body><header><span>Harbour</span><span>7</span></header>
<table role="presentation"><tr><td><p role="heading" aria-level="2">Tides</p></td>
<td><div role="table">
<div role="row"><div role="columnheader">Day</div><div role="columnheader">m</div></div>
<div role="row"><div role="rowheader">1</div><div role="cell">2.4</div></div>
</div></td></tr></table>
<dl><div><dt>Berth</dt><dd>C 14</dd></div><div>Depth: 3 m</div></dl>
<svg><text x="1">deep</text><text x="2">shallow</text></svg>
<div role="doc-footnote"><sup>1</sup> At noon.</div><p role="complementary">COPY</p>
<footer>Page <b>3</b></footer></body></html>"""


def test_roles_say_what_elements_are():
    found = scores.structure_of_html(ROLES)
    assert found.headings == [("Tides", 1)]
    assert found.tables == [[["Day", "m"], ["1", "2.4"]]]
    body = "Tides Day m 1 2.4 Berth C 14 Depth: 3 m deep shallow 1 At noon."
    assert " ".join(found.body) == body
    assert " ".join(found.text) == f"Harbour 7 {body} COPY Page 3"


def test_items_hold_their_lines_without_what_is_in_them():
    inner = "<ul><li><i></i>on foot</li><li>by bus</li></ul>"
    html = f'<ol start="4"><li>How far?{inner}</li><li>Why?<p>Two lines.</p></li></ol>'
    found = scores.structure_of_html(html)
    items = [("4. How far?", 1), ("on foot", 2), ("by bus", 2), ("5. Why?", 1)]
    assert found.items == items
    markdown = (
        "4. How far?\n    - [ ] on foot\n    - [x] by bus\n5. Why?\n\nTwo lines.\n"
    )
    read = scores.structure_of_markdown(markdown)
    assert read.items == items
    assert read.text == found.text
    assert scores.heading_hits(read.items[1:], found.items) == (3, 3, 4)


@pytest.mark.parametrize("path", PAGES)
def test_the_documents_hold_what_they_are_for(path):
    found = scores.structure_of_html(path.read_text("utf-8"))
    assert len(found.body) > 60
    assert all(len({len(row) for row in table}) == 1 for table in found.tables)


def test_markdown_is_taken_apart_alike():
    found = scores.structure_of_markdown(
        "# The tide\n\nOne \\*two\\*\n\n- Go\n\n"
        "| a | b \\| c |\n|---|---|\n|  | 5 |\n\n---\n\n## x\n"
    )
    assert found.headings == [("The tide", 1), ("x", 2)]
    assert found.tables == [[["a", "b | c"], ["", "5"]]]
    assert found.text == ["The", "tide", "One", "*two*", "Go", "a", "b", "c", "5", "x"]


def test_a_cell_with_a_box_to_tick_is_empty():
    found = scores.structure_of_markdown("| Early | □ | \\[x\\] |\n|---|---|---|\n")
    assert found.tables == [[["Early", "", ""]]]


def test_word_errors_count_order():
    truth = ["one", "two", "three", "four"]
    assert scores.word_errors(truth, truth) == 0
    assert scores.word_errors(["three", "four", "one", "two"], truth) == 1
    assert scores.word_errors(["one", "two", "three"], truth) == 0.25
    assert scores.words_of("• m² – 5") == ["m2", "5"]


def test_levels_are_those_of_a_page_and_styles_are_no_text():
    html = "<style>p { margin: 0 }</style><h2>Tides</h2><h4>Why</h4><h2>Bells</h2>"
    found = scores.structure_of_html(html)
    assert found.headings == [("Tides", 1), ("Why", 2), ("Bells", 1)]
    assert found.text == ["Tides", "Why", "Bells"]


def test_headings_count_if_most_of_them_is_right():
    truth = [scores.Heading("Loans by branch", 2)]
    found = [scores.Heading("Loans by brunch", 1), scores.Heading("Prices", 2)]
    assert scores.heading_hits(found, truth) == (1, 2, 1)
    assert scores.heading_hits(found, truth, of_one_level=True) == (0, 2, 1)
    assert scores.heading_hits(truth, truth, of_one_level=True) == (1, 1, 1)
    assert scores.heading_hits([*truth, *truth], truth) == (1, 2, 1)
    assert scores.f1([(1, 2, 1), (0, 0, 1)]) == pytest.approx(2 * 1 / (2 + 2))


def test_cells_count_in_rows_that_hold_them_together():
    truth = [[["a", "1"], ["b", "2"]]]
    assert scores.cell_hits(truth, truth) == (4, 4, 4)
    assert scores.cell_hits([[["a", "2"], ["b", "1"]]], truth) == (2, 4, 4)
    assert scores.cell_hits([[["a 1"], ["b 2"]]], truth) == (0, 2, 4)
    assert scores.cell_hits([], truth) == (0, 0, 4)
    assert scores.cell_hits(truth, []) == (0, 4, 0)


def test_teds_is_that_of_its_definition():
    pytest.importorskip("apted")
    table = [["a", "b"], ["c", "d"]]
    assert scores.teds(table, table) == 1
    # One of seven nodes is missing; a text with half of its letters wrong costs half of a node.
    assert scores.teds([["a", "b"], ["c"]], table) == pytest.approx(1 - 1 / 7)
    assert scores.teds([["ab", "b"], ["c", "d"]], table) == pytest.approx(1 - 0.5 / 7)
    assert scores.table_similarity([table, table], [table]) == [1, 0]
    assert scores.table_similarity([], [table]) == [0]
