"""Flat OpenDocument files say what the HTML says that they are made of."""

import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
import office_pages
from page_structure import has_own_style
from structure_scores import structure_of_html, words_of

PAGES = [
    path
    for path in sorted(Path(office_pages.__file__).parent.glob("documents*/*.html"))
    if not has_own_style(path.read_text("utf-8"))
]
SPACES = "urn:oasis:names:tc:opendocument:xmlns"
PARAGRAPHS = {f"{{{SPACES}:text:1.0}}{name}" for name in "ph"}
ROW = f"{{{SPACES}:table:1.0}}table-row"


def words_in(root):
    """The words of all paragraphs and headings, without the numbers of notes behind them."""
    found = set()
    for element in root.iter():
        if element.tag in PARAGRAPHS:
            words = words_of("".join(element.itertext()))
            found |= {part for word in words for part in (word, word.rstrip("123"))}
    return found


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_all_words_and_tables_are_there(path):
    html = path.read_text("utf-8")
    ending, text = office_pages.flat_document(html, "DejaVu Serif", 10)
    assert ending == (".fods" if 'class="sheet"' in html else ".fodt")
    text = text.replace("<text:tab/>", " ").replace("<text:line-break/>", " ")
    root = ElementTree.fromstring(text)  # noqa: S314
    truth = structure_of_html(html)
    expected = {
        word.rstrip("123") for word in truth.text if not word.rstrip(".").isdigit()
    }
    assert {word for word in expected if "." not in word} <= words_in(root)
    rows = [list(row) for row in root.iter(ROW)]
    cells = [row for table in truth.tables for row in table]
    assert sum(len(row) for row in rows if len(row) > 1) == sum(map(len, cells))


def test_a_cell_of_several_rows_and_columns_covers_its_neighbors():
    row = '<tr><th rowspan="2">Line</th><th colspan="2">Sold</th></tr><tr><td>1</td><td>2</td></tr>'
    table = ElementTree.fromstring(f"<table>{row}</table>")  # noqa: S314
    places = [tuple(cell[1:]) for cell in office_pages.placed_cells(table)]
    assert places == [(0, 0, 2, 1), (0, 1, 1, 2), (1, 1, 1, 1), (1, 2, 1, 1)]
    rows = office_pages.cells_of_rows(table, lambda _: "Ruled", lambda cell: cell.text)
    covered = [["covered" in cell for cell in each] for each in rows]
    assert covered == [[False, False, True], [True, False, False]]
