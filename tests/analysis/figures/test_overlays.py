import numpy as np
import torch
from vit_str.analysis.characters.overlays import Shown, contact_sheet

from vit_str.analysis.characters.localization import looks_of
from vit_str.analysis.characters.measure import Combination, Word
from vit_str.analysis.geometry import TokenGrid

GRID = TokenGrid(4, 8, (8, 16))


def shown(text: str, label: str | None = None, true_box: bool = False) -> Shown:
    """A gray image; attention to the last row, first column, gradients to the opposite corner."""
    count = len(text)
    maps = torch.zeros(2, count, 4, 8, dtype=torch.float64)
    maps[0, :, 3, 0] = maps[1, :, 0, 7] = 1
    boxes = torch.tensor([[0, 24, 16, 32]] * count, dtype=torch.float64).reshape(-1, 4)
    word = Word(
        "name.png",
        torch.full((3, 32, 128), 128, dtype=torch.uint8),
        text,
        label,
        [0.5] * count,
        {"m": maps[:1, None]},
        {"m": torch.zeros(1, 1, count, dtype=torch.float64)},
        torch.tensor([[64, 0, 96, 16]], dtype=torch.float64) if true_box else None,
    )
    return Shown(word, looks_of(Combination().of(word.attention["m"]), boxes, GRID), maps[1])


def test_maps_lie_over_the_places_they_are_about() -> None:
    sheet = np.asarray(contact_sheet([shown("a")])).astype(int)
    red = (sheet[..., 0] > sheet[..., 1] + 60) & (sheet[..., 0] > sheet[..., 2] + 60)
    rows, columns = np.nonzero(red)
    left, right = columns < 168, columns >= 168  # two maps of 168 x 42 pixels side by side
    assert left.any()
    assert right.any()
    assert columns[left].max() < 168 / 8 + 2
    assert columns[right].min() > 172 + 168 * 7 / 8 - 2
    assert rows[left].min() - rows[right].min() >= 42 * 3 / 4 - 3


def test_true_boxes_are_drawn_where_known() -> None:
    known, unknown = (
        np.asarray(contact_sheet([shown("a", "a", truth)])) for truth in (True, False)
    )
    assert known.shape == unknown.shape
    rows, columns = np.nonzero((known != unknown).any(-1))
    scale = 515 / 128
    assert abs(columns.min() - 64 * scale) < 4
    assert abs(columns.max() - 96 * scale) < 4
    assert rows.max() - rows.min() < 16 * scale + 4


def test_sheets_grow_with_words_and_characters() -> None:
    one, long, two = (
        contact_sheet(words).size
        for words in ([shown("a")], [shown("abcdefg")], [shown("a"), shown("b")])
    )
    assert one[0] == long[0] == two[0]
    assert one[1] < long[1]
    assert two[1] == 2 * one[1]


def test_labels_of_any_script() -> None:
    contact_sheet([shown("ж"), shown("語", "言"), shown("a\n", "$x$")])
