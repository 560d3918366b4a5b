"""Weights files that a run writes along the way and at its end; pictures of what it reads."""

import pytest
import torch

from vit_str.torch_runtime.weights_file import load_weights
from vit_str.training import exports
from vit_str.training.exports import prediction_sheet

pytestmark = pytest.mark.filterwarnings("default")  # Lightning's own


def test_right_readings_are_green_and_wrong_ones_red_in_their_own_cell():
    pixels = torch.full((3, 32, 128), 255, dtype=torch.uint8)
    right = (pixels, "word", "word")
    wrong = (pixels, "W" * 30, "w" * 30)
    colors = []
    for first, second in ((right, right), (wrong, right)):
        sheet = prediction_sheet([first, second])
        assert sheet.size == (6 * 134, 50)
        cells = (sheet.crop((x, 34, x + 134, 50)) for x in (0, 134))
        colors.append([{color for _, color in cell.getcolors(999)} for cell in cells])
    assert (0, 128, 0) in colors[0][0]
    assert (255, 0, 0) in colors[1][0]
    assert colors[0][1] == colors[1][1], (
        "a long caption must not run into the next cell"
    )


def test_weights_along_the_run_and_of_its_last_steps(run, tmp_path):
    history = tmp_path / "history"
    folder = run(
        "run",
        "--trainer.callbacks+=vit_str.training.WeightsHistory",
        f"--trainer.callbacks.folder={history}",
        "--trainer.callbacks.first=1",
        "--trainer.max_steps=5",  # the last validation is at step 3
    )
    files = sorted(history.iterdir())
    assert [file.stem for file in files] == [
        f"step-{step:07d}" for step in (0, 1, 2, 4, 5)
    ]
    last = folder / "weights.safetensors"
    assert files[0].stat().st_size < 0.6 * last.stat().st_size
    start, later, end = (
        load_weights(file).provenance for file in (files[0], files[3], last)
    )
    assert (start["images"], later["images"], end["step"]) == (0, 16, 5)


@pytest.mark.usefixtures("number_format")
def test_the_last_weights_have_ranges_if_there_is_a_graph_that_takes_them(
    run, monkeypatch
):
    assert (
        load_weights(
            run("without", "--trainer.max_steps=2") / "weights.safetensors"
        ).ranges
        == {}
    )
    monkeypatch.setattr(exports, "takes_ranges", lambda description: True)
    file = load_weights(run("with", "--trainer.max_steps=2") / "weights.safetensors")
    low, high = file.ranges["encoder.embed_patches.input"]
    assert -1 <= low < high <= 1
    assert file.ranges["encoder.blocks.0.feed_forward.2.input"][0] == pytest.approx(
        -0.17, abs=0.01
    )
