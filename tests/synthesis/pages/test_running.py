"""What runs above and below the text: all of it is head or foot, in many ways."""

import pytest

from vit_str.synthesis.pages.choices import Choices
from vit_str.synthesis.pages.design import Design, main
from vit_str.synthesis.pages.parts import running, text
from vit_str.synthesis.pages.style import Style
from vit_str.synthesis.pages.texts import Texts, labels
from vit_str.synthesis.pages.truth import truth_of

pytestmark = pytest.mark.filterwarnings("ignore:pkg_resources")


def designed(seed, language="en"):
    random = Choices(f"running {seed}")
    return Design(random, Style(random), Texts(random, language))


@pytest.mark.parametrize(
    ("make", "role"), [(running.running_head, "head"), (running.running_foot, "foot")]
)
def test_all_words_are_of_the_head_or_foot(browser, make, role):
    lengths = set()
    for seed in range(12):
        design = designed(seed)
        part, body = make(design, 1.0), main(text.text_line("Some text."))
        parts = (part, body) if role == "head" else (body, part)
        browser.show(design.html(*parts), design.style.width, design.style.height)
        found = truth_of(browser, design.style.height)
        roles = [found.blocks[number].role for number in found.block_of]
        order = roles if role == "foot" else roles[::-1]
        assert order[:2] == ["paragraph"] * 2
        assert set(order[2:]) == {role}
        lengths.add(len(order[2:]))
    assert len(lengths) > 4  # from a number to some sentences


def test_some_pages_have_none():
    found = [running.running_foot(designed(seed), 0.5) for seed in range(40)]
    assert 8 < found.count(None) < 32


def test_the_same_seed_makes_the_same_foot():
    first, second = (running.running_foot(designed(3), 1.0) for _ in range(2))
    assert first == second


@pytest.mark.parametrize("language", sorted(labels()))
def test_fields_of_notices_are_filled(language):
    design = designed(1, language)
    for notice in design.texts.all_labels("notices"):
        filled = design.texts.filled(notice)
        assert filled.strip()
        assert "{" not in filled
