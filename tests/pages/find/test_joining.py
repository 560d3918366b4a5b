"""Lines in pieces become whole; what is a line of its own stays one."""

import numpy as np
import pytest

from vit_str.pages.find.joining import joined
from vit_str.pages.find.lines import FoundLine


def line(
    left: float, right: float, middle: float = 50, height: float = 20
) -> FoundLine:
    above, below = middle - height / 2, middle + height / 2
    strip = np.array(
        [[(left, above), (left, below)], [(right, above), (right, below)]], float
    )
    return FoundLine(strip, [strip], height, 0.9)


def upright_piece(left: float, right: float, top: float, bottom: float) -> FoundLine:
    """A piece that was taken for text that runs down, such as a 1."""
    strip = np.array([[(right, top), (left, top)], [(right, bottom), (left, bottom)]])
    return FoundLine(strip.astype(float), [strip], right - left, 0.7)


def around(found: FoundLine) -> list[float]:
    points = found.strip.reshape(-1, 2)
    return [*points.min(0).tolist(), *points.max(0).tolist()]


def turned(found: FoundLine, degrees: float) -> FoundLine:
    angle = np.deg2rad(degrees)
    turn = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    words = [word @ turn for word in found.words]
    return FoundLine(found.strip @ turn, words, found.height, found.confidence)


@pytest.mark.parametrize("degrees", [0, 90, 180, 200])
def test_a_word_in_pieces_becomes_one(degrees):
    pieces = [line(100, 200), line(88, 98), line(203, 220)]
    [whole] = joined([turned(piece, degrees) for piece in pieces])
    assert len(whole.words) == 1
    assert np.allclose(around(turned(whole, -degrees)), (88, 40, 220, 60))
    assert np.allclose(turned(whole, -degrees).strip[0, :, 0], 88)
    ends = turned(whole, -degrees).words[0][[0, -1], :, 0]
    assert np.allclose(ends, [[88, 88], [220, 220]])


def test_words_beside_each_other_stay_words():
    [whole] = joined([line(100, 200), line(206, 300)])
    assert [word[0, 0, 0] for word in whole.words] == [100, 206]


def test_a_digit_on_its_side_goes_with_its_number():
    for one in (upright_piece(90, 97, 40, 58), upright_piece(203, 210, 42, 60)):
        [whole] = joined([one, line(100, 200)])
        low, high = sorted([around(one)[0], 100])[0], max(around(one)[2], 200)
        assert np.allclose(around(whole), (low, 40, high, 60))
        assert len(whole.words) == 1


def test_other_lines_and_specks_stay_apart():
    others = [line(210, 300), line(100, 200, middle=72), line(202, 208, height=4)]
    others.append(line(202, 230, middle=58))
    found = joined([line(100, 200), *others])
    assert len(found) == 5
    assert joined([]) == []
