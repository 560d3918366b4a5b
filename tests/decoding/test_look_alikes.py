"""Signs of one kind are judged together, and told apart by what stands around them."""

from types import SimpleNamespace

import numpy as np
import pytest

from vit_str.characters.charset import charset_of
from vit_str.decoding.ctc import best_alignments
from vit_str.decoding.drafts import greedy_from_drafts
from vit_str.decoding.hypotheses import Hypothesis
from vit_str.decoding.look_alikes import DASHES, LookAlikes

CHARSET = charset_of("latin")
BLANK = len(CHARSET)


def read(*columns: dict[str, float]) -> tuple[str, Hypothesis]:
    """What columns say, each with the shares of some signs, and blanks between them."""
    shares = np.full((1, 2 * len(columns) + 1, BLANK + 1), 1e-9)
    shares[:, ::2, BLANK] = 1
    for place, signs in enumerate(columns):
        shares[0, 2 * place + 1, BLANK] = 1 - sum(signs.values()) + 1e-9
        for sign, share in signs.items():
            index = BLANK if sign == "_" else CHARSET.encode(sign)[0]
            shares[0, 2 * place + 1, index] = share
    ((found,),) = best_alignments(np.log(shares), 20, LookAlikes(CHARSET))
    return CHARSET.decode(found.ids), found


def spelled(text: str) -> list[dict[str, float]]:
    return [{letter: 1.0} for letter in text]


def test_a_minus_is_as_sure_as_all_dashes_together():
    text, found = read({"–": 0.5, "—": 0.3, "-": 0.2}, *spelled("100"))
    assert text == "-100"
    assert found.confidence == pytest.approx(1, abs=1e-3)
    assert found.confidences == pytest.approx([1] * 4, abs=1e-3)


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("", "5", "-"),
        ("(", ".5", "-"),
        ("a ", "7", "-"),
        ("19", "20", "–"),
        ("9", "W", "-"),
        ("407-64", "3484", "-"),
        ("a ", " b", "–"),
    ],
)
def test_a_dash_is_a_minus_in_front_of_a_number(before, after, expected):
    text, _ = read(*spelled(before), {"–": 0.8, "-": 0.2}, *spelled(after))
    assert text == before + expected + after


@pytest.mark.parametrize(("space", "expected"), [(0.6, "-100"), (0.95, "– 100")])
def test_a_minus_stands_at_its_number_unless_a_space_is_seen(space, expected):
    text, found = read(
        {"–": 0.9, "-": 0.1}, {" ": space, "_": 1 - space}, *spelled("100")
    )
    assert text == expected
    assert found.confidence > 0.5


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("", "", "0"),
        ("5 ", " 7", "0"),
        ("1", "5", "0"),
        ("", " one", "○"),
        ("L", "OP", "O"),
        ("", ".", "O"),
        ("", ".5", "0"),
        ("A", "7", "○"),
    ],
)
def test_a_nought_is_what_stands_at_its_place(before, after, expected):
    shares = {"0": 0.3, "O": 0.3, "○": 0.4}
    if expected == "○" and before:
        shares = {"○": 1.0}
    text, _ = read(*spelled(before), shares, *spelled(after))
    assert text == before + expected + after


def test_a_nought_alone_is_judged_with_all_that_is_round():
    text, found = read(
        {"0": 0.42, "○": 0.32, "•": 0.08, "o": 0.06, "O": 0.04, "°": 0.04}
    )
    assert text == "0"
    assert found.confidence > 0.8
    text, found = read({"•": 0.9, "0": 0.05})
    assert text == "•"
    assert found.confidence > 0.8


def test_a_letter_and_a_digit_that_look_alike_stay_in_doubt():
    _, found = read({"O": 0.5, "0": 0.5}, *spelled("2"))
    assert found.confidence < 0.7
    assert found.confidences[0] == pytest.approx(found.confidence, abs=1e-3)


def test_texts_without_such_signs_are_as_ever():
    columns = spelled("Haus")
    text, found = read(*columns)
    shares = np.full((1, 9, BLANK + 1), 1e-9)
    shares[:, ::2, BLANK] = 1
    shares[0, range(1, 9, 2), CHARSET.encode("Haus")] = 1
    ((same,),) = best_alignments(np.log(shares), 20)
    assert text == "Haus"
    assert found.ids == same.ids
    assert found.confidence == pytest.approx(same.confidence)


def test_decoders_that_check_drafts_sum_dashes_too():
    dashes = LookAlikes(CHARSET, (DASHES,))
    columns = [{"–": 0.4, "-": 0.2, "1": 0.39}, *spelled("7")]
    shares = np.full((1, 3, BLANK + 1), 1e-9)
    for place, signs in enumerate(columns):
        for sign, share in signs.items():
            shares[0, place, CHARSET.encode(sign)[0]] = share
    shares[0, 2, BLANK] = 1
    draft = np.full((1, 5, BLANK + 1), 1e-9)
    draft[0, [0, 2, 4], BLANK] = 1
    draft[0, [1, 3]] = shares[0, :2]
    drawn = SimpleNamespace(
        scores=lambda encoded: np.log(draft),
        verify=lambda encoded, labels: np.log(shares),
    )
    ((found,),) = greedy_from_drafts(drawn, [0], 1, BLANK, 5, look_alikes=dashes)
    assert CHARSET.decode(found.ids) == "-7"
    assert found.confidences == pytest.approx([0.6 / 0.99, 1], abs=1e-3)
    assert dashes.alone(CHARSET.encode("0")) is None, "of other kinds"
