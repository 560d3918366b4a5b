"""Weights name no folder of the machine that they were trained on."""

import pytest

from vit_str.training.origin import train_command


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--config", "/home/ann/runs/a.yaml"], "--config a.yaml"),
        (["--config=/home/ann/a.yaml"], "--config=a.yaml"),
        (["--data.folders", "[/d/pages,/d/more]"], "--data.folders [pages,more]"),
        (["--model.init", "data/models/tiny.safetensors"],
         "--model.init data/models/tiny.safetensors"),
        (["--model.learning_rate", "0.001"], "--model.learning_rate 0.001"),
    ],
)  # fmt: skip
def test_of_absolute_paths_the_names_are_kept(arguments, said):
    assert train_command(arguments) == f"vit-str train {said}"
