import torch
from matplotlib.figure import Figure

from vit_str.analysis.map_sheet import MappedWord, map_sheet


def make_word(text: str) -> MappedWord:
    maps = torch.zeros(len(text), 2, 4)
    for index in range(len(text)):
        maps[index, 0, index % 4] = 1.0
    pixels = torch.full((3, 16, 64), 255, dtype=torch.uint8)
    return MappedWord(
        f"{text} (image.png)", pixels, text, {"one": maps, "other": maps}, [], []
    )


def images(sheet: Figure) -> list[int]:
    """Number of pictures in each panel, row by row."""
    return [len(axes.get_images()) for axes in sheet.axes]


def test_a_row_for_each_character_and_a_column_for_each_method():
    assert images(map_sheet([make_word("ab")])) == [1, 2, 2, 0, 2, 2]
    assert len(map_sheet([make_word("ab"), make_word("abc")]).axes) == 5 * 3


def test_the_largest_token_is_the_darkest():
    shares = map_sheet([make_word("ab")]).axes[4].get_images()[1]
    assert shares.get_array().argmax() == 1
    assert shares.get_extent() == [-0.5, 63.5, 15.5, -0.5], "over the whole image"
