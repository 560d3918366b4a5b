"""Tables in looks of their own: high cells, figures on one line, both ways to draw them."""

import re

import pytest

from vit_str.synthesis.pages.choices import Choices
from vit_str.synthesis.pages.design import Design
from vit_str.synthesis.pages.drawing import PageDesign, draw_page
from vit_str.synthesis.pages.parts import grids
from vit_str.synthesis.pages.parts.tables import Cell
from vit_str.synthesis.pages.style import Style
from vit_str.synthesis.pages.texts import Texts

pytestmark = pytest.mark.filterwarnings("ignore:pkg_resources")


@pytest.fixture
def design():
    random = Choices("grids")
    return Design(random, Style(random), Texts(random, "en"))


def classes(html, text):
    """The classes of the cell that holds a text."""
    return re.search(f'class="([^"]*)"[^>]*>{re.escape(text)}<', html)[1].split()


def test_cells_beside_a_high_one_are_set_as_their_own_columns(design):
    body = [
        [Cell("kind", rows=2), Cell("red"), Cell("7")],
        [Cell("blue"), Cell("8")],
        [Cell("other"), Cell("green"), Cell("9")],
    ]
    html = grids.grid(design, [], body, "clr", "some")
    assert {
        text: classes(html, text)[0] for text in ("kind", "blue", "8", "other")
    } == {
        "kind": "center",
        "blue": "left",
        "8": "right",
        "other": "center",
    }


def test_figures_stay_on_one_line_and_words_do_not(design):
    html = grids.grid(
        design, [], [[Cell("12 345 kg"), Cell("12 red houses")]], "ll", "some"
    )
    assert "exact" in classes(html, "12 345 kg")
    assert "exact" not in classes(html, "12 red houses")


def test_a_table_of_boxes_has_the_cells_of_one_of_rows(design, browser):
    heads = [grids.head_row("Name", "Price")]
    body = [
        grids.group_row("Fruit", 2),
        [Cell("Apple"), Cell("1.20")],
        grids.sum_row("All", "1.20", 2),
    ]
    found = set()
    for make in (grids.grid, lambda *given: grids._of_boxes(*given[1:], (2, 1), "")):
        table = make(design, heads, body, "lr", "some")
        page = PageDesign(design.html(table), 600, 400, "", "en")
        truth = draw_page(browser, page).truth
        found.add((truth.words, tuple(block[2:] for block in truth.blocks)))
    assert len(found) == 1
    assert found.pop()[1][2] == (0, 1, 0, 1, 2)


def test_every_look_has_a_name_and_rules_of_its_own(design):
    names = [grids.look(design) for _ in range(3)]
    assert len(set(names)) == 3
    assert all(f".{name} td" in "".join(design.added_css) for name in names)
