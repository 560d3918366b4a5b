"""What is read from the DOM is what docs/structure.md asks for."""

import numpy as np
import pytest

from vit_str.synthesis.pages.browser import Browser
from vit_str.synthesis.pages.truth import Truth, truth_of

STYLE = "<style>body { margin: 0; padding: 20px; width: 800px; font: 16px serif;"
STYLE += " box-sizing: border-box }</style>"


def truth(browser: Browser, html: str, height: int = 1000) -> Truth:
    browser.show(f"<!DOCTYPE html>{STYLE}{html}", 800, height)
    return truth_of(browser, height)


def texts(found: Truth) -> list[tuple[str, str]]:
    """Roles and texts of blocks."""
    return [
        (
            block.role,
            " ".join(
                word
                for word, own in zip(found.words, found.block_of, strict=True)
                if own == number
            ),
        )
        for number, block in enumerate(found.blocks)
    ]


def test_tags_and_roles_say_what_blocks_are(browser):
    found = truth(
        browser,
        """<header><span>Book</span><span>7</span></header>
        <h2>One</h2><p>Text with <b>bold</b>, and more.</p>
        <ul><li>a<ul><li>b</li></ul></li></ul><dl><div><div>Name</div><div>Ann</div></div></dl>
        <figure><svg role="img"><text y="9">axis</text></svg>
        <figcaption>Fig. 1</figcaption></figure>
        <pre>x = 1</pre><p role="doc-footnote">1 Note</p><footer>page 3</footer>
        <div role="complementary">PAID</div><p aria-hidden="true">.....</p>""",
    )
    assert texts(found) == [
        ("head", "Book"),
        ("head", "7"),
        ("heading", "One"),
        ("paragraph", "Text with bold, and more."),
        ("item", "• a"),
        ("item", "◦ b"),
        ("fact", "Name Ann"),
        ("figure", "axis"),
        ("caption", "Fig. 1"),
        ("code", "x = 1"),
        ("note", "1 Note"),
        ("foot", "page 3"),
        ("margin", "PAID"),
    ]
    assert [b.level for b in found.blocks if b.role == "item"] == [1, 2]


def test_levels_of_headings_begin_with_one_and_leave_none_out(browser):
    found = truth(browser, "<h2>a</h2><h4>b</h4><h2>c</h2>")
    assert [block.level for block in found.blocks] == [1, 2, 1]


def test_cells_know_their_places_and_spans(browser):
    found = truth(
        browser,
        """<table><tr><th rowspan="2">a</th><th colspan="2">b</th></tr>
        <tr><th>c</th><th>d</th></tr><tr><td>e</td><td></td><td>f</td></tr></table>
        <table role="presentation"><tr><td><p>left</p></td><td><p>right</p></td></tr></table>
        <div role="table"><div role="row"><div role="rowheader">k</div><div role="cell">v</div>
        </div><div role="row"><div role="cell">m</div><div role="cell">n</div></div></div>
        <table><tr><td>alone</td><td>in a row</td></tr></table>""",
    )
    assert [(b.role, *b[2:]) for b in found.blocks] == [
        ("head cell", 0, 0, 0, 2, 1),
        ("head cell", 0, 0, 1, 1, 2),
        ("head cell", 0, 1, 1, 1, 1),
        ("head cell", 0, 1, 2, 1, 1),
        ("cell", 0, 2, 0, 1, 1),
        ("cell", 0, 2, 2, 1, 1),
        ("paragraph", -1, -1, -1, 1, 1),
        ("paragraph", -1, -1, -1, 1, 1),
        ("head cell", 1, 0, 0, 1, 1),
        ("cell", 1, 0, 1, 1, 1),
        ("cell", 1, 1, 0, 1, 1),
        ("cell", 1, 1, 1, 1, 1),
        ("paragraph", -1, -1, -1, 1, 1),
        ("paragraph", -1, -1, -1, 1, 1),
    ]


def test_words_are_as_they_are_seen(browser):
    found = truth(
        browser,
        """<p style="text-transform: uppercase">abc</p>
        <p style="width: 60px">un&shy;believ&shy;able</p><p>a<sup>1</sup> b</p>
        <div role="complementary" style="writing-mode: vertical-rl">down</div>
        <div style="transform: rotate(180deg)"><p style="writing-mode: vertical-rl">up</p></div>""",
    )
    assert found.words[0] == "ABC"
    split = found.words[1 : found.words.index("a1")]
    assert len(split) > 1
    assert all(part.endswith("-") for part in split[:-1])
    assert "".join(part.rstrip("-") for part in split) == "unbelievable"
    assert found.words[-4:] == ("a1", "b", "down", "up")
    assert found.turns.tolist()[-4:] == [0, 0, 90, 270]
    boxes = found.boxes
    assert (boxes[:, 2] > boxes[:, 0]).all()
    assert (boxes[:, 3] > boxes[:, 1]).all()


def test_a_value_below_its_label_is_another_word(browser):
    found = truth(
        browser,
        "<dl><div style='line-height: 1'><div>Name</div><div>Ann</div></div></dl>",
    )
    assert found.words == ("Name", "Ann")
    assert found.line_of.tolist() == [0, 1]


def test_shapes_have_their_places(browser):
    found = truth(
        browser,
        """<div style="position: absolute; left: 100px; top: 200px; width: 300px; height: 50px;
        border-bottom: 2px solid #000; background: #808080; box-sizing: border-box">x</div>
        <div data-picture="photo" style="position: absolute; left: 10px; top: 400px;
        width: 200px; height: 100px"></div>
        <ul><li><svg role="checkbox" aria-checked="true"
        style="width: 12px; height: 12px"></svg>yes</li></ul>""",
    )
    assert found.rules == ((100, 249, 400, 249, 2, "solid"),)
    assert found.grounds.tolist() == [[100, 200, 400, 250, 128]]
    assert found.pictures.tolist() == [[10, 400, 210, 500]]
    ((left, _, right, _, is_ticked, block),) = found.checks.tolist()
    assert right - left == pytest.approx(12)
    assert is_ticked == 1
    assert found.blocks[int(block)].role == "item"
    assert found.words[-2:] == ("☒", "yes")


def test_what_does_not_fit_is_left_out_at_the_end(browser):
    paragraph = "<p>" + "word " * 60 + "</p>"
    html = f"<main class='flow'>{'<h2>head</h2>' + paragraph * 3}</main><footer>end</footer>"
    whole, cut = truth(browser, html, 2000), truth(browser, html, 180)
    assert len(whole.words) > len(cut.words) > 30
    assert cut.height <= 182
    assert cut.words[-1] == "end"
    assert (cut.boxes[:, 3] <= 182).all()


def test_columns_are_read_one_after_the_other(browser):
    html = "<div style='column-count: 2; column-rule: 1px solid #000'>"
    html += "".join(f"<p>{n}</p>" for n in range(10)) + "</div>"
    found = truth(browser, html)
    assert found.words == tuple(map(str, range(10)))
    assert np.unique(found.boxes[:, 0]).size == 2
    ((x0, _, x1, _, _, _),) = found.rules
    assert x0 == x1


def test_a_table_that_is_too_wide_is_set_smaller(browser):
    cells = "".join(
        f"<td style='white-space: nowrap'>{'wide ' * 6}{n}</td>" for n in range(2)
    )
    rows = f"<tr>{cells}</tr><tr><td>c</td><td>d</td></tr>"
    found = truth(
        browser, f"<div style='width: 300px'><table>{rows}</table></div><p>text</p>"
    )
    assert (found.boxes[:, 2] <= 320).all()
    assert found.sizes[-1] == pytest.approx(16)
    assert (found.sizes[:-1] < 15).all()
    heights = found.boxes[:, 3] - found.boxes[:, 1]
    assert heights[0] / heights[-1] == pytest.approx(found.sizes[0] / 16, rel=0.15)


def test_marks_of_style_sheets_are_words(browser):
    found = truth(
        browser,
        """<style>.dash li { list-style: none } .dash li::before { content: "–"; margin-right: 6px }
        .bare { list-style: none }</style>
        <ol start="4"><li>four</li><li>five</li></ol>
        <ol style="list-style: upper-roman"><li>one</li></ol>
        <ul class="dash"><li>dash</li></ul><ul class="bare"><li>bare</li></ul>""",
    )
    assert texts(found) == [
        ("item", "4. four"),
        ("item", "5. five"),
        ("item", "I. one"),
        ("item", "– dash"),
        ("item", "bare"),
    ]
    marks = [found.words.index(mark) for mark in ("4.", "–")]
    # Before the text, and apart from it
    assert all(found.boxes[mark, 2] < found.boxes[mark + 1, 0] for mark in marks)
