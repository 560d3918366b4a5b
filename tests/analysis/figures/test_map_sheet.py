import numpy as np
import torch

from vit_str.analysis.map_sheet import MappedWord, map_sheet


def make_word(text: str) -> MappedWord:
    maps = torch.zeros(len(text), 2, 4)
    for place in range(len(text)):
        maps[place, 0, place % 4] = 1.0
    pixels = torch.full((3, 16, 64), 255, dtype=torch.uint8)
    return MappedWord(f"{text} (image.png)", pixels, text, {"one": maps, "other": maps})


def test_a_row_for_each_character_and_a_block_for_each_word() -> None:
    one, both = map_sheet([make_word("ab")]), map_sheet([make_word("ab"), make_word("abc")])
    row = map_sheet([make_word("abc")]).height - one.height
    assert row > 16
    assert both.height == 2 * one.height + row
    assert one.width == both.width


def test_long_words_are_cut() -> None:
    assert map_sheet([make_word("a" * 12)]).height == map_sheet([make_word("a" * 25)]).height


def test_the_largest_token_is_the_darkest() -> None:
    """The second of three columns is the first method; its first token is the left top eighth."""
    sheet = np.asarray(map_sheet([make_word("a")]).convert("L"), dtype=float)
    dark = (sheet < 90).mean(0)
    assert dark.argmax() > sheet.shape[1] / 3, "not in the picture itself"
    assert (sheet[60:100] < 90).any()


def test_without_words_there_is_an_empty_sheet() -> None:
    assert map_sheet([]).height == 1
