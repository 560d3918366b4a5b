"""``vit-str kit``, and training from what it writes."""

import sys

import pytest
import torch

from vit_str.cli import main
from vit_str.torch_runtime.weights_file import load_weights

# What Lightning and jsonargparse warn about in each other is theirs to mend.
pytestmark = pytest.mark.filterwarnings("default")


@pytest.fixture
def kit(arguments, tmp_path, capsys):
    """A kit of the configuration of ``arguments``."""
    path = tmp_path / "all.kit"
    assert main(["kit", arguments[1], "--out", str(path)]) == 0
    assert capsys.readouterr().out.startswith(f"{path}: ")
    return path


def test_training_from_a_kit_equals_training_from_the_fonts(
    kit, uncut, arguments, tmp_path, monkeypatch
):
    monkeypatch.setenv("VIT_STR_CACHE", str(tmp_path / "nothing"))
    monkeypatch.setattr("vit_str.synthesis.materials.find_fonts", None)
    monkeypatch.setitem(sys.modules, "wordfreq", None)
    assert main(["train", *arguments, f"--data.init_args.kit={kit}"]) == 0
    weights = load_weights(tmp_path / "run" / "weights.safetensors").recognizer
    expected = load_weights(uncut / "weights.safetensors").recognizer.state_dict()
    for name, values in weights.state_dict().items():
        assert torch.equal(values, expected[name]), name


def test_words_are_rendered_from_a_kit_in_its_characters(kit, tmp_path, capsys):
    out = tmp_path / "words"
    assert main(["render", "--kit", str(kit), "--count", "4", "--out", str(out)]) == 0
    assert len((out / "labels.tsv").read_text().splitlines()) == 4


def test_wrong_use_is_one_line(kit, arguments, tmp_path, capsys):
    def said(*command):
        with pytest.raises(SystemExit, match="2"):
            main(command)
        return capsys.readouterr().err.splitlines()[-1]

    from_kit = ["train", *arguments, f"--data.init_args.kit={kit}"]
    assert "write one with the configuration" in said(*from_kit, "--charset", "digits")
    nowhere = str(tmp_path / "nowhere")
    assert nowhere in said("kit", nowhere, "--out", str(tmp_path / "other.kit"))
    no_kit = said("train", *arguments, f"--data.init_args.kit={nowhere}")
    assert "cannot read the kit" in no_kit
