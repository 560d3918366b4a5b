import torch

from vit_str.training.callbacks import prediction_sheet


def test_right_readings_are_green_and_wrong_ones_red_in_their_own_cell() -> None:
    pixels = torch.full((3, 32, 128), 255, dtype=torch.uint8)
    right, wrong = (pixels, "word", "word"), (pixels, "W" * 30, "w" * 30)
    colors = []
    for first, second in ((right, right), (wrong, right)):
        sheet = prediction_sheet([first, second])
        assert sheet.size == (6 * 134, 50)
        cells = (sheet.crop((x, 34, x + 134, 50)) for x in (0, 134))
        colors.append([{color for _, color in cell.getcolors(999)} for cell in cells])
    assert (0, 128, 0) in colors[0][0]
    assert (255, 0, 0) in colors[1][0]
    assert colors[0][1] == colors[1][1], "a long caption must not run into the next cell"
