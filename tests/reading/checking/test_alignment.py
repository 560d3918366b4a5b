"""Words of texts find their words on the page, in any order."""

import time

import numpy as np
import pytest

from vit_str.reading.checking.alignment import align

PAGE = (
    "Invoice number 4711 from the big company in Hamburg Item Price Total apples 5,00 "
    "7,00 pears 6,00 8,00 The sum of all is exam- ple 26,00 paid in cash thank you very "
    "much indeed"
)


def changes(text: str, page: str = PAGE) -> tuple[list[tuple[str, str]], str, str]:
    """Pairs that differ, words of the text without a partner, and those of the page."""
    words = text.split()
    printed = page.split()
    groups = align(words, printed)
    text_used = [place for group in groups for place in group.text]
    page_used = [place for group in groups for place in group.page]
    assert len(set(text_used)) == len(text_used)
    assert len(set(page_used)) == len(page_used)
    pairs = [
        (" ".join(words[n] for n in each.text), " ".join(printed[n] for n in each.page))
        for each in groups
    ]
    absent = [word for n, word in enumerate(words) if n not in text_used]
    missing = [word for n, word in enumerate(printed) if n not in page_used]
    differ = [pair for pair in pairs if pair[0] != pair[1]]
    return differ, " ".join(absent), " ".join(missing)


def test_the_same_words_find_each_other():
    assert changes(PAGE) == ([], "", "")


@pytest.mark.parametrize(
    ("old", "new", "pairs"),
    [
        ("5,00 7,00", "7,00 5,00", [("7,00", "5,00"), ("5,00", "7,00")]),
        ("big", "large", [("large", "big")]),
        ("exam- ple", "example", [("example", "exam- ple")]),
        ("in cash", "incash", [("incash", "in cash")]),
        ("Hamburg", "Ham burg", [("Ham burg", "Hamburg")]),
    ],
)
def test_words_stand_for_what_is_in_their_place(old, new, pairs):
    assert changes(PAGE.replace(old, new)) == (pairs, "", "")


def test_cells_of_two_rows_that_were_exchanged_are_not_found_where_they_belong():
    text = PAGE.replace("7,00", "@").replace("8,00", "7,00").replace("@", "8,00")
    assert changes(text)[0] == [("8,00", "7,00"), ("7,00", "8,00")]


def test_columns_may_come_in_any_order():
    words = PAGE.split()
    assert changes(" ".join(words[20:] + words[:20])) == ([], "", "")


def test_what_one_of_both_lacks_has_no_partner():
    invented = "We love every invented sentence that there is."
    longer = PAGE.replace("26,00 paid", f"26,00 {invented} paid")
    assert changes(longer) == ([], invented, "")
    assert changes(PAGE, longer) == ([], "", invented)
    twice = f"{PAGE} paid in cash thank you"
    assert changes(twice)[1] == "paid in cash thank you"


def test_a_line_that_stands_twice_is_not_put_in_place_of_one_that_was_left_out():
    twice = "number 4711 from the big"
    left_out = "5,00 7,00 pears 6,00 8,00"
    text = PAGE.replace(left_out, twice)
    assert changes(text) == ([], twice, left_out)


def test_a_line_that_the_page_has_twice_is_found_twice_though_it_was_misread():
    line = "Deluxe room with breakfast 40.00"
    page = f"{PAGE} {line} {line.replace('room', 'roon')} {line.replace('with', 'xx')}"
    text = f"{PAGE} {line} {line} {line}"
    assert changes(text, page) == ([("room", "roon"), ("with", "xx")], "", "")


def seconds(text: list[str], page: list[str]) -> float:
    began = time.process_time()
    align(text, page)
    return time.process_time() - began


@pytest.mark.parametrize("kinds", [1, 7, 3000])
def test_time_does_not_grow_with_the_square(kinds):
    random = np.random.default_rng(0)
    words = [f"word{number}" for number in random.integers(kinds, size=10_000)]
    other = [*words[5000:], *(f"{word}x" for word in words[:5000])]
    few = seconds(words[:1250], other[:1250])
    assert seconds(words, other) < 40 * max(few, 0.05)  # of 64 for the square


def test_ten_thousand_words_for_a_page_of_ten():
    page = PAGE.split()[:10]
    text = [f"a{number}" for number in range(5000)] + page + ["and"] * 5000
    groups = align(text, page)
    assert [group.text[0] - 5000 for group in groups] == list(range(10))


def test_a_mark_belongs_to_the_word_before_not_to_the_next_bullet():
    """French has a space before it, which is too narrow to be read."""
    text = ["matière", ";", "équerre", ";", "compas"]
    page = ["matière;", "•", "équerre;", "•", "compas"]
    groups = [(list(group.text), list(group.page)) for group in align(text, page)]
    assert groups == [([0, 1], [0]), ([2, 3], [2]), ([4], [4])]
