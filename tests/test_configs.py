"""Every configuration builds its model, data and trainer, and takes a training step."""

import re
from pathlib import Path

import pytest
import yaml

from vit_str.models import build
from vit_str.training.cli import main

FOLDER = Path(__file__).parents[1] / "configs"
NOT_RECOGNIZERS = ("recipe", "arrange", "find")  # tests/training tests the last two
CONFIGS = sorted(
    path for path in FOLDER.glob("*.yaml") if path.stem not in NOT_RECOGNIZERS
)


ALWAYS = ("crnn_ctc", "finetune", "vit_permuted", "vit_tiny_transformer")


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize(
    "config",
    [
        pytest.param(
            path, marks=[] if path.stem in ALWAYS else pytest.mark.slow, id=path.stem
        )
        for path in CONFIGS
    ],
)
def test_it_trains(config, two_fonts, tmp_path, monkeypatch):
    monkeypatch.setenv("VIT_STR_CACHE", str(two_fonts.parent))
    monkeypatch.setattr("sys.argv", ["vit-str"])
    monkeypatch.chdir(tmp_path)
    arguments = ["--config", str(config), "--data.init_args.fonts", f"[{two_fonts}]"]
    arguments += ["--trainer.max_steps", "1", "--data.init_args.batch_size", "2"]
    if "OwnWords" in config.read_text():
        arguments += ["--init", "tiny"]
        samples = Path(__file__).parents[1] / "data" / "samples"
        arguments += ["--data.init_args.sources", f"[{samples}]"]
        arguments += ["--data.init_args.validation_share", "0"]
    if "charset: korean" in config.read_text():  # the fonts of the tests have no Hangul
        arguments += ["--charset", "european"]
    arguments += ["--trainer.limit_val_batches", "0", "--trainer.accelerator", "cpu"]
    assert main(arguments) == 0
    assert (tmp_path / "runs" / config.stem / "last.ckpt").exists()


@pytest.mark.filterwarnings("default")
def test_own_words_train_from_scratch_without_fonts(tmp_path, monkeypatch):
    """As docs/data.md says, for data sets such as MJSynth and SynthText."""
    monkeypatch.setattr("sys.argv", ["vit-str"])
    monkeypatch.chdir(tmp_path)
    samples = FOLDER.parent / "data" / "samples"
    arguments = ["--config", str(FOLDER / "vit_tiny_transformer.yaml")]
    arguments += ["--data", "vit_str.training.OwnWords"]
    arguments += ["--data.init_args.sources", f"[{samples}]"]
    arguments += ["--data.init_args.fonts", f"[{tmp_path / 'nowhere'}]"]
    arguments += ["--data.init_args.validation_share", "0"]
    arguments += ["--data.init_args.batch_size", "2", "--charset", "ascii"]
    arguments += ["--trainer.max_steps", "1", "--trainer.accelerator", "cpu"]
    assert main(arguments) == 0
    assert (tmp_path / "runs/vit_tiny_transformer/weights.safetensors").is_file()


def test_documented_runs_validate_at_least_three_times():
    recipe, finetuning = (
        yaml.safe_load((FOLDER / f"{name}.yaml").read_text())["trainer"]
        for name in ("recipe", "finetune")
    )
    documents = [
        *FOLDER.parent.glob("docs/*.md"),
        FOLDER.parent / "README.md",
        *CONFIGS,
    ]
    steps = {
        int(count)
        for path in documents
        for count in re.findall(r"max_steps:? (\d+)", path.read_text(encoding="utf-8"))
    }
    assert {150, 400, 1500} <= steps
    for count in steps:  # fine-tuning is for few steps
        trainer = finetuning if count <= finetuning["max_steps"] else recipe
        assert count >= 3 * trainer["val_check_interval"], count


@pytest.mark.parametrize(
    ("name", "millions"),
    [
        ("vit_tiny", 5.9),
        ("vit_base", 14.9),
        ("vit_small", 23.6),
        ("vit_deep", 3.9),
        ("conv", 6.4),
    ],
)
def test_models_have_the_size_they_are_said_to_have(name, millions):
    path = next(path for path in CONFIGS if path.stem == f"{name}_transformer")
    arguments = yaml.safe_load(path.read_text())["model"]["recognizer"]["init_args"]
    arguments["decoder"]["init_args"]["charset_size"] = 173
    description = {
        part: {
            "class": given["class_path"].rpartition(".")[2],
            "arguments": given["init_args"],
        }
        for part, given in arguments.items()
    }
    count = sum(parameter.numel() for parameter in build(description).parameters())
    assert count / 1e6 == pytest.approx(millions, abs=0.06)
    assert f"{millions} M parameters" in path.read_text()
