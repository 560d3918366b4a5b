"""Templates are filled in as docs/your-pages.md says, and those of the package make good pages."""

import re

import pytest

from vit_str.synthesis.pages.choices import Choices
from vit_str.synthesis.pages.drawing import (
    design_page,
    draw_page,
    fill_template,
    held_out_families,
    trained_families,
)
from vit_str.synthesis.pages.families import FAMILIES
from vit_str.synthesis.pages.filling import is_held_out, size_of, templates
from vit_str.synthesis.pages.other_looks import LOOKS

TABLE = """<html><body>
  <tr><th repeat="c=2-6">{word}</th></tr>
  <tr repeat="3-5"><td repeat="c">{integer}</td></tr>
</body></html>"""


def filled(body: str, seed: int = 1, size: str = "A4") -> str:
    """What is in the body of a page."""
    page = fill_template(
        seed, 0, "own", f'<html size="{size}"><body>{body}</body></html>'
    )
    found = re.search(r"<body[^>]*>(.*)</body>", page.html, re.DOTALL)
    assert found
    return found[1]


def test_the_same_numbers_make_the_same_page():
    one, same, other = (fill_template(1, n, "own", TABLE) for n in (0, 0, 1))
    assert one == same
    assert one != other


def test_named_counts_are_kept():
    counts = set()
    for seed in range(20):
        html = fill_template(seed, 0, "own", TABLE).html
        rows = re.findall(r"<tr>(.*?)</tr>", html, re.DOTALL)
        columns = {len(re.findall(r"<t[hd]>", row)) for row in rows}
        assert len(columns) == 1
        assert 4 <= len(rows) <= 6
        counts |= columns
    assert counts == {2, 3, 4, 5, 6}


def test_choices_are_one_of_what_stands_there():
    found = {filled("<p>[[a|b]] [[3..5]] [[0.5..0.6]]</p>", seed) for seed in range(60)}
    pattern = re.compile(r"<p>[ab] [345] 0\.(5\d|60)</p>")
    assert all(pattern.fullmatch(each.strip()) for each in found)
    assert {each.strip()[3:6] for each in found} == {
        f"{a} {n}" for a in "ab" for n in "345"
    }


def test_pages_of_the_package_are_in_other_looks_and_held_out_ones_are_not():
    def sheets(html: str) -> int:
        return html.count("<style>")

    name = next(filter(is_held_out, templates()))
    for number in range(20):
        kept = fill_template(7, number, name, templates()[name])
        assert design_page(7, number, [name]) == kept
    name = next(name for name in templates() if not is_held_out(name))
    plain = fill_template(7, 0, name, templates()[name])
    more = {sheets(design_page(7, n, [name]).html) for n in range(40)}
    assert more == {sheets(plain.html), sheets(plain.html) + 1}


def test_other_looks_are_rules_without_what_is_open():
    template = "<html><body><p>a</p></body></html>"
    found = {
        fill_template(seed, 0, "own", template, varied=True).html for seed in range(300)
    }
    css = " ".join(html.rpartition("<style>")[2] for html in found)
    for look in LOOKS:
        assert look.partition("{")[0] in css
    assert "[[" not in css


def test_parts_may_be_left_out_and_changed_in_order():
    parts = {
        re.sub(r"\s", "", filled('<p choose=""><b>1</b><b>2</b></p>', seed))
        for seed in range(30)
    }
    assert parts == {"<p><b>1</b></p>", "<p><b>2</b></p>"}
    orders = {
        "".join(
            re.findall(r"<b>(\d)", filled('<p shuffle=""><b>1</b><b>2</b></p>', seed))
        )
        for seed in range(30)
    }
    assert orders == {"12", "21"}
    there = ["<i>" in filled('<i maybe="0.5">x</i>', seed) for seed in range(60)]
    assert 12 < sum(there) < 48


def test_numbers_count():
    text = filled('<p repeat="3">{n} {a} {i} {N:k}</p><p>{N:k} {N:other}</p>')
    assert re.findall(r"<p>(.*?)</p>", text) == [
        "1 a i 1",
        "2 b ii 2",
        "3 c iii 3",
        "4 1",
    ]


def test_running_text_has_so_many_words():
    text = re.search(r"<p>(.*?)</p>", filled("<p>{words:30}</p>"))
    assert text
    assert len(text[1].split()) == 30
    assert text[1].endswith(".")


def test_text_after_an_element_stays_once():
    assert filled('<p>a <b repeat="2">x</b> z</p>').count("z") == 1
    assert "z" in filled('<p>a <b maybe="0">x</b> z</p>')


def test_sizes():
    random = Choices("1")
    sizes = {size_of('<html size="A5 across|300x400"/>', random) for _ in range(20)}
    assert sizes == {(794, 559), (300, 400)}


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("<html><p></html>", "well-formed XML"),
        ('<html size="huge"/>', "size: expected WIDTHxHEIGHT or one of A4"),
        (
            '<html><p repeat="many"/></html>',
            "repeat: expected 3-9 or c=3-9, found 'many'",
        ),
        ("<html><p>{nonsense}</p></html>", "unknown kind 'nonsense'"),
    ],
)
def test_a_wrong_template_is_refused_in_one_line(template, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        fill_template(1, 0, "own", template)


def test_templates_are_trained_on_or_held_out():
    trained, kept = set(trained_families()), set(held_out_families())
    assert not trained & kept
    assert set(templates()) <= trained | kept
    assert 0.02 < len(kept & set(templates())) / len(templates()) < 0.1
    assert not set(templates()) & set(FAMILIES)


def test_all_templates_can_be_filled():
    for name, template in templates().items():
        html = fill_template(3, 0, name, template).html
        assert not re.search(
            r"\[\[|\]\]|\{[a-z]+(:[\d-]+)?\}",
            html.partition("</style>")[2].rpartition("</style>")[2],
        ), name


def test_templates_make_pages_with_blocks(browser):
    for name in sorted(templates())[::25]:
        page = draw_page(browser, fill_template(4, 0, name, templates()[name]))
        assert len(page.truth.words) > 20, name
        assert len(page.truth.blocks) > 2, name
