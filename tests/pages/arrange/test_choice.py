"""A page goes from words to blocks with roles, as a network says, or stays as rules have it."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from vit_str.pages.arrange.blocks import Shapes, arrange_words
from vit_str.pages.arrange.choice import arrange_page, doubt_of
from vit_str.pages.arrange.features import Tokens
from vit_str.pages.arrange.scores import RELATIONS, Scores
from vit_str.pages.page import BlockRole, Cell, Page, Word
from vit_str.pages.write.markdown import markdown

NAMES = ("paragraph", "heading", "item", "cell", "head cell", "head", "nothing")


@dataclass(frozen=True)
class Truth:
    """What a piece is."""

    role: str
    block: int
    level: int = 0
    row: int = -1
    column: int = -1


# By the first word of each piece, in the order of reading
TRUTHS = {
    "Running": Truth("head", 0),
    "Title": Truth("heading", 1, level=1),
    "left": Truth("paragraph", 2),
    "goes": Truth("paragraph", 2),
    "right": Truth("paragraph", 3),
    "ends": Truth("paragraph", 3),
    "1.": Truth("item", 4, level=2),
    "Name": Truth("head cell", 5, row=0, column=0),
    "Price": Truth("head cell", 6, row=0, column=1),
    "Tea": Truth("cell", 7, row=1, column=0),
    "2.50": Truth("cell", 8, row=1, column=1),
    "~": Truth("nothing", 9),
}
LINES = [
    ("Running head", 0, 0),
    ("Title here", 0, 40),
    ("left column", 0, 80),
    ("right column", 300, 80),
    ("goes on", 0, 104),
    ("ends here", 300, 104),
    ("1. one item", 30, 150),
    ("Name", 0, 200),
    ("Price", 300, 200),
    ("Tea", 0, 230),
    ("2.50", 300, 230),
    ("~", 500, 400),
]


def word(text: str, left: float, top: float) -> Word:
    right, bottom = left + 10 * len(text), top + 18
    corners = ((left, top), (right, top), (right, bottom), (left, bottom))
    return Word(text, 0.9, corners, size=12.0, weight=2.0)


def words() -> list[Word]:
    found = []
    for text, left, top in LINES:
        x = float(left)
        for part in text.split():
            found.append(word(part, x, top))
            x += 10 * len(part) + 8
    return found


class Network:
    """Says what `TRUTHS` says, with one certainty."""

    roles = NAMES

    def __init__(self, sure: float) -> None:
        self.sure = sure
        self.firsts: list[str] = []

    def scores(self, tokens: Tokens) -> Scores:
        order = list(TRUTHS)
        truths = [TRUTHS[first] for first in self.firsts]
        ranks = [order.index(first) for first in self.firsts]
        count = tokens.pieces
        assert count == len(truths)
        roles = np.full((count, len(NAMES)), -self.sure)
        levels = np.full((count, 4), -self.sure)
        relations = np.full((len(RELATIONS), count, count), -self.sure)
        for one, first in enumerate(truths):
            roles[one, NAMES.index(first.role)] = self.sure
            levels[one, max(0, first.level - 1)] = self.sure
            for two, second in enumerate(truths):
                both = first.row >= 0 and second.row >= 0
                is_true = {
                    "before": ranks[one] < ranks[two],
                    "block": first.block == second.block,
                    "table": both,
                    "row": both and first.row == second.row,
                    "column": both and first.column == second.column,
                }
                for name, value in is_true.items():
                    relations[RELATIONS.index(name), one, two] *= -1 if value else 1
        return Scores(roles, levels, relations, NAMES)


@pytest.fixture
def network(monkeypatch):
    """A network that is told by which words the pieces begin, as the one in use sees them."""
    from vit_str.pages.arrange import blocks

    told = Network(6.0)
    pieces_of = blocks.pieces_of

    def watched(found, level, shapes):
        pieces = pieces_of(found, level, shapes)
        told.firsts = [level.texts[piece[0]] for piece in pieces]
        return pieces

    monkeypatch.setattr(blocks, "pieces_of", watched)
    monkeypatch.setattr("vit_str.pages.arrange.choice._FEWEST", 3)
    return told


@pytest.fixture
def by_rules() -> Page:
    """A page read across its columns."""
    lines = [[]]
    for each in words():
        if lines[-1] and lines[-1][-1].polygon[0][1] != each.polygon[0][1]:
            lines.append([])
        lines[-1].append(each)
    return Page(600, 450, (tuple(map(tuple, lines)),))


def texts(page: Page) -> list[str]:
    return [
        " / ".join(" ".join(each.text for each in line) for line in block)
        for block in page.blocks
    ]


def test_words_become_blocks_with_roles(network, by_rules):
    found = arrange_words(network, by_rules.words, Shapes())
    page = Page(600, 450, found.blocks, roles=found.roles)
    assert texts(page) == [
        "Running head",
        "Title here",
        "left column / goes on",
        "right column / ends here",
        "1. one item",
        "Name Price / Tea 2.50",
        "~",
    ]
    assert [role.name for role in found.roles] == [
        "head",
        "heading",
        "paragraph",
        "paragraph",
        "item",
        "table",
        "nothing",
    ]
    assert found.roles[4] == BlockRole("item", level=2)
    assert found.roles[5].cells == (
        Cell(1, 0, 0),
        Cell(1, 0, 1),
        Cell(1, 1, 0),
        Cell(1, 1, 1),
    )
    assert {id(each) for each in page.words} == {id(each) for each in by_rules.words}


def test_roles_are_written(network, by_rules):
    found = arrange_words(network, by_rules.words, Shapes())
    page = Page(600, 450, found.blocks, roles=found.roles)
    assert markdown([page]) == (
        "# Title here\n\nleft column goes on\n\nright column ends here\n\n"
        "    1. one item\n\n"
        "| Name | Price |\n|---|---|\n| Tea | 2.50 |\n"
    )


def test_any_way_up_is_arranged_alike(network, by_rules):
    def turned(each: Word) -> Word:
        corners = tuple((450 - y, x) for x, y in each.polygon)
        return Word(each.text, 0.9, corners, size=12.0, weight=2.0)

    upright = arrange_words(network, by_rules.words, Shapes())
    found = arrange_words(network, list(map(turned, by_rules.words)), Shapes())
    assert texts(Page(1, 1, found.blocks)) == texts(Page(1, 1, upright.blocks))
    assert found.roles == upright.roles


@pytest.mark.parametrize(("prior", "is_followed"), [(5.0, True), (50.0, False)])
def test_rules_are_kept_where_they_are_about_as_probable(
    network, by_rules, monkeypatch, prior, is_followed
):
    monkeypatch.setattr("vit_str.pages.arrange.choice._PRIOR_OF_RULES", prior)
    page = arrange_page(network, by_rules, Shapes())
    assert (page is not by_rules) == is_followed
    if is_followed:
        assert texts(page)[2] == "left column / goes on"


def test_a_bullet_that_is_no_text_is_the_mark_of_its_item(network, by_rules):
    bullet = word("•", 5, 150)
    page = replace(by_rules, blocks=((*by_rules.blocks[0], (bullet,)),))
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(TRUTHS, "•", Truth("nothing", 10))
        found = arrange_words(network, page.words, Shapes())
    assert texts(Page(1, 1, found.blocks))[4] == "• 1. one item"


def test_what_the_network_says_itself_is_the_most_probable(network, by_rules):
    found = arrange_words(network, by_rules.words, Shapes())
    doubt = doubt_of(found, by_rules)
    assert doubt.of_network < 0.1
    assert doubt.of_rules > 1


def test_a_page_without_words_stays(network):
    empty = Page(10, 10, ())
    assert arrange_page(network, empty, Shapes()) is empty


def test_a_page_of_few_words_stays(network, by_rules, monkeypatch):
    monkeypatch.setattr("vit_str.pages.arrange.choice._FEWEST", 25)
    assert arrange_page(network, by_rules, Shapes()) is by_rules


@pytest.mark.parametrize(("gap", "is_one"), [(20, True), (300, False)])
def test_a_box_to_tick_begins_the_text_behind_it(gap, is_one):
    from vit_str.pages.arrange.blocks import _with_boxes_to_tick
    from vit_str.pages.arrange.pieces import Words

    starts = np.array([0.0, 18 + gap, 95 + gap])
    boxes = np.stack(
        [starts, 0 * starts, starts + np.array([18, 70, 40]), 0 * starts + 18], 1
    )
    words = Words(["☐", "not", "married"], boxes, np.ones(3), np.ones(3))
    pieces = [np.array([0]), np.array([1, 2])]
    found = [piece.tolist() for piece in _with_boxes_to_tick(words, pieces)]
    assert found == ([[0, 1, 2]] if is_one else [[0], [1, 2]])
