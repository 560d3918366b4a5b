"""Every family of pages: the same numbers make the same page, and a browser can set it."""

from collections import Counter

import numpy as np
import pytest

from vit_str.synthesis.pages.choices import Choices
from vit_str.synthesis.pages.drawing import design_page, draw_page, trained_families
from vit_str.synthesis.pages.families import FAMILIES, HELD_OUT
from vit_str.synthesis.pages.texts import Texts, labels

pytestmark = pytest.mark.filterwarnings("ignore:pkg_resources")


def test_there_are_many_families_and_some_are_held_out():
    assert len(FAMILIES) >= 40
    assert len(HELD_OUT) >= 8
    assert set(HELD_OUT) <= set(FAMILIES)
    assert not set(HELD_OUT) & set(trained_families())


def test_the_same_numbers_make_the_same_page():
    assert design_page(3, 14) == design_page(3, 14)
    assert len({design_page(3, number).html for number in range(5)}) == 5
    assert design_page(3, 0).html != design_page(4, 0).html


def test_pages_are_in_the_language_that_is_asked_for():
    assert {design_page(1, number, language="pl").language for number in range(3)} == {
        "pl"
    }


@pytest.mark.parametrize("name", FAMILIES)
def test_a_browser_sets_it(browser, name):
    page = draw_page(browser, design_page(5, 0, [name], "en"))
    truth = page.truth
    assert len(truth.words) > 3
    assert set(truth.block_of.tolist()) == set(range(len(truth.blocks)))
    # Words are in the order of blocks, and on the page
    assert (np.diff(truth.line_of) >= 0).all()
    assert (truth.boxes[:, 3] <= truth.height + 1).all()
    assert (truth.boxes[:, 0] > -60).all()
    places = [tuple(b[2:5]) for b in truth.blocks if b.table >= 0]
    assert max(Counter(places).values(), default=1) == 1
    for table in {block.table for block in truth.blocks} - {-1}:
        cells = [block for block in truth.blocks if block.table == table]
        assert max(cell.column + cell.columns for cell in cells) >= 2


@pytest.mark.parametrize("name", HELD_OUT)
def test_headings_of_one_level_look_alike_by_which_networks_are_measured(browser, name):
    for number in range(2):
        truth = draw_page(browser, design_page(5, number, [name], "en")).truth
        sizes: dict[int, set[float]] = {}
        for word, block in enumerate(truth.block_of.tolist()):
            if truth.blocks[block].role == "heading":
                size = float(truth.sizes[word])
                sizes.setdefault(truth.blocks[block].level, set()).add(size)
        assert all(max(own) <= 1.05 * min(own) for own in sizes.values()), sizes


@pytest.mark.parametrize("language", labels())
def test_every_language_has_all_labels(language):
    assert labels()[language].keys() == labels()["en"].keys()
    texts = Texts(Choices(1), language)
    for kind in labels()["en"]:
        if kind != "weight":
            assert "{" not in texts.exact(kind)
    assert texts.text(2, 2).count(" ") > 8


def test_unknown_values_are_named():
    with pytest.raises(
        ValueError, match="unknown kind 'colour', expected one of integer"
    ):
        Texts(Choices(1), "en").value("colour")
