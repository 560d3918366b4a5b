"""The protocols of ICDAR 2015, on cases that can be counted by hand."""

import pytest

from vit_str.evaluation.pages.labels import Label
from vit_str.evaluation.pages.scores import same_text, score_page, scores
from vit_str.pages.find.geometry import rectangle
from vit_str.pages.page import Page, Word


def _word(text: str, left: float, right: float) -> Word:
    return Word(text, 1.0, tuple(map(tuple, rectangle(left, 0, right, 10).tolist())))


def _page(*words: Word) -> Page:
    return Page(200, 20, ((tuple(words),),))


def _label(text: str, left: float, right: float) -> Label:
    return Label(rectangle(left, 0, right, 10), text)


@pytest.mark.parametrize(
    ("left", "right", "outcome"),
    [(0, 40, "read"), (0, 21, "read"), (0, 20, "cut wrong"), (0, 100, "cut wrong"),
     (60, 90, "not found")],
)  # fmt: skip
def test_a_word_is_found_from_half_overlap_on(left, right, outcome):
    score = score_page(_page(_word("open", left, right)), [_label("open", 0, 40)])
    assert score.label_outcomes[0].outcome == outcome


def test_corners_that_are_not_given_around_a_word_enclose_the_same():
    label = _label("open", 0, 40)
    crossed = Label(label.polygon[[0, 1, 3, 2]], "open")
    score = score_page(_page(_word("open", 0, 40)), [crossed])
    assert score.label_outcomes[0].outcome == "read"


def test_two_words_do_not_match_one_label():
    score = score_page(
        _page(_word("a", 0, 40), _word("a", 0, 41)), [_label("a", 0, 40)]
    )
    assert (score.words, score.detected) == (2, 1)


def test_words_in_regions_that_are_not_judged_do_not_count():
    labels = [_label("###", 0, 100), _label("open", 120, 160)]
    words = _word("junk", 40, 60), _word("half", 70, 129), _word("open", 120, 160)
    score = score_page(_page(*words), labels)
    assert (score.labels, score.words, score.read) == (1, 1, 1)


@pytest.mark.parametrize(
    ("label", "text", "same"),
    [("Open!", "open", True), ("(Open", "OPEN", True), ("'Open'", "open", True),
     ("open", "open!", False), ("O'pen", "open", False), ("open", "opens", False)],
)  # fmt: skip
def test_texts_are_compared_without_case_and_marks_at_the_ends_of_the_label(
    label, text, same
):
    assert same_text(label, text) is same


def test_scores_over_pages():
    labels = [_label("one", 0, 40), _label("two", 50, 90)]
    pages = [
        score_page(_page(_word("one", 0, 40), _word("twa", 50, 90)), labels),
        score_page(_page(), labels),
    ]
    found = scores(pages)
    assert list(found["detection"].values())[:3] == [1.0, 0.5, pytest.approx(2 / 3)]
    assert list(found["end_to_end"].values())[:3] == [0.5, 0.25, pytest.approx(1 / 3)]
    low, high = found["end_to_end"]["interval"]
    assert 0 <= low <= 1 / 3 <= high <= 1


def test_bags_of_words_need_no_places():
    page = score_page(_page(_word("total", 150, 190)), [_label("TOTAL 5.00", 0, 90)])
    assert page.bag == (1, 1, 2)
    marked = score_page(
        _page(_word("total:", 150, 190)), [_label("TOTAL - 5.00", 0, 90)]
    )
    assert (marked.bag, marked.plain_bag) == ((0, 1, 3), (1, 1, 2))
    assert scores([page])["bag_of_words"]["recall"] == 0.5
