"""Fonts that come with matplotlib, and a run of a small model that takes a second."""

import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

from vit_str.training.cli import main

Run = Callable[..., Path]


CONFIGURATION = """
seed_everything: 1
folder: FOLDER
ckpt_path: last
trainer:
  accelerator: cpu
  devices: 1
  max_steps: 6
  gradient_clip_val: 1.0
  val_check_interval: 3
  check_val_every_n_epoch: null
  num_sanity_val_steps: 0
  log_every_n_steps: 1
  enable_progress_bar: false
  logger: {class_path: vit_str.training.RunLog, init_args: {save_dir: .}}
  callbacks:
    - class_path: lightning.pytorch.callbacks.ModelCheckpoint
      init_args:
        dirpath: .
        save_last: true
        enable_version_counter: false
        save_top_k: 0
        every_n_train_steps: 1
    - {class_path: vit_str.training.StopCleanly, init_args: {path: last.ckpt}}
    - {class_path: vit_str.training.WeightsExport, init_args: {path: weights.safetensors}}
    - {class_path: vit_str.training.PredictionSheet, init_args: {folder: readings}}
    - class_path: vit_str.training.RandomStates
model:
  averaging: 0.9
  muon_learning_rate: 0.002
  schedule:
    class_path: vit_str.training.WarmupStableDecay
    init_args: {warmup_steps: 2, decay_share: 0.5}
  recognizer:
    class_path: vit_str.models.Recognizer
    init_args:
      encoder:
        class_path: vit_str.models.VisionTransformer
        init_args: {dim: 32, depth: 1, heads: 2, patch_size: [8, 8]}
      decoder:
        class_path: vit_str.models.TransformerDecoder
        init_args: {dim: 32, depth: 1, heads: 2, dropout: 0.1}
data:
  class_path: vit_str.training.RenderedWords
  init_args: {batch_size: 4, fonts: [FONTS], rendered_limit: 8}
"""


def write_configuration(path: Path, folder: Path, fonts: Path) -> list[str]:
    """Arguments of a command that trains in a folder."""
    path.write_text(
        CONFIGURATION.replace("FOLDER", str(folder)).replace("FONTS", str(fonts))
    )
    return ["--config", str(path)]


@pytest.fixture
def run(two_fonts, tmp_path, monkeypatch) -> Run:
    """Train in the folder of a name, with further arguments; returns the folder."""
    monkeypatch.setenv("VIT_STR_CACHE", str(two_fonts.parent))
    monkeypatch.setattr("sys.argv", ["vit-str"])

    def start(name: str, *arguments: str, code: int = 0) -> Path:
        return train_in(tmp_path / name, two_fonts, *arguments, code=code)

    return start


def train_in(folder: Path, fonts: Path, *arguments: str, code: int = 0) -> Path:
    folder.mkdir(exist_ok=True)
    given = write_configuration(folder / "config-in.yaml", folder, fonts)
    assert main([*given, *arguments]) == code
    return folder


@pytest.fixture(scope="session")
def uncut(two_fonts, tmp_path_factory) -> Path:
    """The folder of a run that was never cut."""
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        patch.setenv("VIT_STR_CACHE", str(two_fonts.parent))
        patch.setattr("sys.argv", ["vit-str"])
        return train_in(tmp_path_factory.mktemp("runs") / "uncut", two_fonts)


@pytest.fixture
def arguments(two_fonts, tmp_path, monkeypatch) -> list[str]:
    """Of a command that trains in the folder ``run``."""
    monkeypatch.setenv("VIT_STR_CACHE", str(two_fonts.parent))
    monkeypatch.setattr("sys.argv", ["vit-str"])
    return write_configuration(tmp_path / "config.yaml", tmp_path / "run", two_fonts)
