"""Pages as the formats that other programs take."""

import csv
import io
import math
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image

from vit_str.pages.arrange.frame import text_quarters
from vit_str.pages.page import Page, Word
from vit_str.pages.write.hocr import hocr
from vit_str.pages.write.markdown import markdown
from vit_str.pages.write.overlay import overlay
from vit_str.pages.write.tsv import tsv


def word(
    text: str, left: float, top: float, width: float, height: float, turn: float = 0
) -> Word:
    """A word whose text is turned to the right by some degrees about its top left."""
    corners = [(0, 0), (width, 0), (width, height), (0, height)]
    cos, sin = math.cos(math.radians(turn)), math.sin(math.radians(turn))
    polygon = tuple(
        (left + x * cos - y * sin, top + x * sin + y * cos) for x, y in corners
    )
    return Word(text, 0.905, polygon)


PAGE = Page(
    200,
    100,
    (
        (
            (word("One", 10, 10, 30, 10), word("<two>", 45, 10, 40, 12)),
            (word("3", 10, 30, 8, 10),),
        ),
    ),
)


def elements(page: Page, css: str) -> list[ElementTree.Element]:
    document = hocr("a.png", {1: page}).partition("?>")[2].partition(">")[2]
    return [e for e in ElementTree.fromstring(document).iter() if e.get("class") == css]  # noqa: S314


def test_hocr_has_the_elements_of_tesseract():
    counts = {
        "ocr_page": 1,
        "ocr_carea": 1,
        "ocr_par": 1,
        "ocr_line": 2,
        "ocrx_word": 3,
    }
    assert {css: len(elements(PAGE, css)) for css in counts} == counts
    (paragraph,) = elements(PAGE, "ocr_par")
    assert paragraph.tag.endswith("p") and paragraph.get("title") == "bbox 10 10 85 40"
    assert [line.tag.rpartition("}")[2] for line in paragraph] == ["span", "span"]
    found = elements(PAGE, "ocrx_word")[1]
    assert (found.text, found.get("title")) == ("<two>", "bbox 45 10 85 22; x_wconf 90")


def test_a_row_of_a_table_is_a_line_for_each_line_of_its_cells():
    """On a tilted page too, where what stands far to the right stands lower."""
    slope = math.tan(math.radians(1))
    places = ("1", 10, 10), ("oak", 40, 10), ("wood", 70, 10), ("panels", 40, 24)
    places += ("9.50", 180, 10), ("each", 180, 24)
    row = [
        word(text, x, y + slope * x, 8 * len(text), 10, turn=1) for text, x, y in places
    ]
    lines = elements(Page(300, 60, ((tuple(row),),)), "ocr_line")
    texts = [[found.text for found in line] for line in lines]
    assert texts == [["1", "oak", "wood"], ["panels"], ["9.50"], ["each"]]
    assert all("baseline 0.017" in str(line.get("title")) for line in lines)


@pytest.mark.parametrize(
    ("texts", "turn", "expected"),
    [
        (("nun", "aus"), 0, "baseline 0.000 0"),
        (("nun", "aus"), 3, "baseline 0.052 -6"),
        # The word that stands on the line says where
        (("gut", "aus"), 0, "baseline 0.000 0"),
        (("gut", "jung"), 0, "baseline 0.000 -4"),
        (("nun", "aus"), 90, "textangle 270"),
        (("nun", "aus"), 180, "textangle 180"),
        (("nun", "aus"), 269, "textangle 90"),
    ],
)
def test_hocr_says_how_a_line_lies(texts, turn, expected):
    cos, sin = math.cos(math.radians(turn)), math.sin(math.radians(turn))
    places = [(100 + 60 * n * cos, 100 + 60 * n * sin) for n in range(2)]
    line = tuple(
        word(text, *place, 50, 20, turn)
        for text, place in zip(texts, places, strict=True)
    )
    (found,) = elements(Page(300, 300, ((line,),)), "ocr_line")
    assert found.get("title", "").partition("; ")[2] == expected
    assert text_quarters(line) == round(turn / 90) % 4


def test_labels_of_overlays_hide_nothing():
    """Ink above a word, as of letters that reach below the line above, is still told from white."""
    page = Page(200, 100, (((word("dddddddd", 20, 55, 60, 20),),),))
    white = Image.new("RGB", (200, 100), "white")
    inked = white.copy()
    inked.paste("black", (20, 42, 40, 54))
    on_white, on_ink = (
        np.asarray(overlay(each, page), int)[44:53, 22:38] for each in (white, inked)
    )
    assert np.ptp(on_white, axis=2).max() > 60  # the label, in color
    assert (on_white - on_ink).mean() > 60


def test_the_table_is_that_of_tesseract():
    rows = list(csv.DictReader(io.StringIO(tsv({1: PAGE, 2: PAGE})), delimiter="\t"))
    columns = "level page_num block_num par_num line_num word_num left top width height conf text"
    assert list(rows[0]) == columns.split()
    assert [row["level"] for row in rows[:8]] == [
        "1",
        "2",
        "3",
        "4",
        "5",
        "5",
        "4",
        "5",
    ]
    assert {row["page_num"] for row in rows} == {"1", "2"}
    assert " ".join(rows[5].values()) == "5 1 1 1 1 2 45 10 40 12 90.5 <two>"
    assert [row["conf"] for row in rows[:4]] == 4 * ["-1"]


def line(text: str, left: float, top: float, height: float = 10) -> tuple[Word, ...]:
    """Words as wide as their letters; ``|`` begins a cell 100 further to the right."""
    words = []
    for cell in text.split("|"):
        x = left + 100 * len(words) if words else left
        for each in cell.split():
            words.append(word(each, x, top, 0.5 * height * len(each), height))
            x = words[-1].box.right + 0.4 * height
        left += 150
    return tuple(words)


def test_markdown_has_headings_paragraphs_lists_and_tables():
    blocks = (
        (line("Opening hours", 10, 10, 24),),
        (line("Summer", 10, 50, 15),),
        (
            line("The museum opens every day at nine, but is some-", 10, 70),
            line("times closed for *events* until the afternoon", 10, 85),
            line("of the next day.", 10, 100),
            line("Ask at the desk, which is in the hall behind it.", 10, 115),
            line("• one", 10, 130),
            line("b) two", 10, 145),
        ),
        (
            line("Child|2.50", 10, 170),
            line("Adult|5.00", 10, 185),
            line("a|b", 300, 200),
        ),
    )
    assert markdown([Page(900, 300, blocks)]).split("\n\n") == [
        "# Opening hours",
        "## Summer",
        "The museum opens every day at nine, but is sometimes closed for \\*events\\* until the "
        "afternoon of the next day.",
        "Ask at the desk, which is in the hall behind it.",
        "- one\n- b) two",
        "| Child | 2.50 |\n|---|---|\n| Adult | 5.00 |",
        "a b\n",
    ]
    assert markdown([PAGE, PAGE]).count("\n\n---\n\n") == 1
    assert markdown([Page(10, 10, ())]) == "\n"
