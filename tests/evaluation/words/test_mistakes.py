import numpy as np
import pytest

from vit_str.datasets import open_words
from vit_str.evaluation.words.mistakes import (
    Mistake,
    fitting_protocol,
    picture_sheet,
    surest_mistakes,
)
from vit_str.evaluation.words.results import ReadWords


@pytest.mark.parametrize(
    ("label", "protocol"),
    [
        ("Hotel", 36),
        ("a-b", 36),
        ("é", 36),
        ("...", "full"),
        ("한글24", "full"),
        ("", "full"),
    ],
)
def test_protocol_that_fits(label, protocol):
    assert fitting_protocol(label) == protocol


def test_the_surest_come_first():
    words = {
        "one": ReadWords(
            ["Hotel", "hotel", "bar", "damaged", "!"],
            ["hotel!", "motel", "baz", "", "?"],
            [0.99, 0.8, 0.9, None, 0.7],
            places=[0, 2, 3, 5, 6],
        ),
        "two": ReadWords(
            ["한글", "", "서울"], ["한굴", "x", "서울"], [0.85, 0.99, 0.99]
        ),
    }
    found = surest_mistakes(words)
    assert [(each.set, each.place, each.text) for each in found] == [
        ("one", 3, "baz"),
        ("two", 0, "한굴"),
        ("one", 2, "motel"),
        ("one", 6, "?"),
    ]
    assert surest_mistakes(words, 2) == found[:2]
    assert Mistake("set", 0, "a\tb", "", 0.5).caption() == (
        r"0.500 labeled a\tb, read (nothing), set"
    )


def test_sheet(tmp_path, labeled_set, word_image):
    folder = labeled_set(
        tmp_path / "set", {"1.png": "first", "2.png": "second", "3.png": "x"}
    )
    word_image("tall", size=(20, 200)).save(folder / "images" / "2.png")
    (folder / "images" / "3.png").write_text("damaged since it was read")
    sets = {"set": open_words(folder)}
    picture = picture_sheet({("set", place): "caption" for place in (0, 1, 2)}, sets)
    assert picture.width > 3 * 256
    pixels = np.asarray(picture.convert("L"))[:64]
    first, second, third = (
        pixels[:, 262 * column : 262 * column + 256] for column in range(3)
    )
    # The frame is gray, words are black on white: as wide, as high, and not there.
    white = [
        (each > 250).any(axis).sum() for each in (first, second) for axis in (0, 1)
    ]
    assert white == [256, 64, 6, 64]
    assert not (third > 250).any()
    assert picture_sheet({}, sets) is None
