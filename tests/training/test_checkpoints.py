"""Checkpoints are written atomically; damaged, foreign and hostile ones end in one line."""

import errno
import os
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from vit_str.files import exclusive, write_atomically
from vit_str.synthesis import materials
from vit_str.training.checkpoints import (
    LAST,
    PREVIOUS,
    CannotStart,
    CheckpointFiles,
    _link,
)
from vit_str.training.cli import main
from vit_str.training.module import RecognizerTraining

pytestmark = pytest.mark.filterwarnings("default")

WHOLE = {
    "epoch": 0,
    "global_step": 4,
    "state_dict": {"weight": torch.ones(1000)},
    "optimizer_states": [{}],
    "lr_schedulers": [],
    "loops": {},
    "callbacks": {},
    "images_seen": 16,
    "unfinished_batches": 0,
    "charset": "abc",
    "started_from": None,
}


def test_a_checkpoint_replaces_the_one_before_only_when_it_is_whole(
    tmp_path, monkeypatch
):
    path = tmp_path / "new folder" / "last.ckpt"
    previous = tmp_path / "new folder" / "previous.ckpt"
    files = CheckpointFiles()
    files.save_checkpoint(WHOLE | {"global_step": 1}, path)

    def full_disk(_, file):
        file.write(b"half of it")
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(torch, "save", full_disk)
        with pytest.raises(OSError, match="No space left"):
            files.save_checkpoint(WHOLE | {"global_step": 2}, path)
    assert files.load_checkpoint(path)["global_step"] == 1
    files.save_checkpoint(WHOLE | {"global_step": 3}, path)
    files.save_checkpoint(WHOLE, path.with_name("before_decay.ckpt"))
    assert files.load_checkpoint(path)["global_step"] == 3
    assert files.load_checkpoint(previous)["global_step"] == 1
    assert len(list(path.parent.iterdir())) == 3


class Code:
    """Pickled, it runs a program when it is loaded."""

    def __reduce__(self) -> tuple[Callable[..., None], tuple[str]]:
        return Path.touch, (Path("/tmp/the-code-in-a-checkpoint-was-run"),)  # noqa: S108


def saved(content: Any, path: Path) -> bytes:
    torch.save(content, path)
    return path.read_bytes()


DAMAGES: dict[str, tuple[Callable[[Path], bytes], str]] = {
    "empty": (lambda _: b"", "not a checkpoint, or cut short"),
    "text": (lambda _: b"some\ntext", "not a checkpoint, or cut short"),
    "cut": (lambda path: saved(WHOLE, path)[:3000], "not a checkpoint, or cut short"),
    "code": (
        lambda path: saved(WHOLE | {"x": Code()}, path),
        "more than tensors and plain values",
    ),
    "a list": (lambda path: saved([1], path), "not a checkpoint of vit-str train"),
    "weights": (
        lambda path: saved({"weight": torch.ones(3)}, path),
        "not a checkpoint of vit-str train",
    ),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_checkpoint_is_refused(damage, tmp_path):
    path = tmp_path / "last.ckpt"
    make, reason = DAMAGES[damage]
    path.write_bytes(make(path))
    with pytest.raises(CannotStart, match=f"last.ckpt: .*{reason}") as caught:
        CheckpointFiles().load_checkpoint(path, weights_only=False)
    assert str(caught.value).endswith("or move it away to start anew")
    assert "\n" not in str(caught.value)
    assert not Path("/tmp/the-code-in-a-checkpoint-was-run").exists()  # noqa: S108


def test_a_flipped_bit_is_refused_wherever_it_is(tmp_path):
    path = tmp_path / "last.ckpt"
    whole = saved(WHOLE, path)
    with zipfile.ZipFile(path) as parts:
        sizes = {part.filename: part.file_size for part in parts.infolist()}
    assert CheckpointFiles().load_checkpoint(path)["images_seen"] == 16
    largest = max(sizes, key=lambda name: sizes[name])
    assert sizes[largest] == 4000
    values = whole.index(torch.ones(100).numpy().tobytes())
    for place in (values + 3, values + 2001, whole.index(b"images_seen") + 2):
        damaged = bytearray(whole)
        damaged[place] ^= 0x40
        path.write_bytes(damaged)
        with pytest.raises(CannotStart, match=r"damaged.*previous\.ckpt"):
            CheckpointFiles().load_checkpoint(path)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 4.6e36])
def test_weights_that_are_no_numbers_are_refused(value, tmp_path):
    path = tmp_path / "last.ckpt"
    weight = torch.ones(3)
    weight[1] = value
    torch.save(WHOLE | {"state_dict": {"weight": weight}}, path)
    with pytest.raises(CannotStart, match=r"no numbers.*previous\.ckpt"):
        CheckpointFiles().load_checkpoint(path)


@pytest.mark.parametrize("kind", ["loss", "weights"])
def test_a_run_that_diverges_ends_with_an_error_and_keeps_what_it_has(
    run, kind, capsys, monkeypatch
):
    folder = run("run", "--trainer.max_steps=3")
    kept = {each: each.read_bytes() for each in folder.glob("*.[cs]*t*")}
    assert {"last.ckpt", "weights.safetensors"} <= {each.name for each in kept}
    step = RecognizerTraining.training_step

    def diverging(module, batch, index):
        loss = step(module, batch, index)
        if kind == "loss":
            return loss * float("nan")
        with torch.no_grad():
            module.average.module.decoder.classify.bias.fill_(1e30)
        return loss

    monkeypatch.setattr(RecognizerTraining, "training_step", diverging)
    run("run", "--trainer.max_steps=6", code=1)
    line = capsys.readouterr().err.splitlines()[-1]
    assert "no number" in line and "resume from last.ckpt" in line
    assert kept == {each: each.read_bytes() for each in kept}


def changed(checkpoint: dict[str, Any], path: str, value: Any) -> None:
    *parents, last = path.split("/")
    part: Any = checkpoint
    for name in parents:
        part = part[int(name) if isinstance(part, list) else name]
    if value is None:
        del part[last]
    else:
        part[last] = value


FOREIGN = [
    ("state_dict/recognizer.decoder.classify.bias", None),
    ("state_dict/recognizer.decoder.classify.bias", torch.zeros(3)),
    ("optimizer_states", [3]),
    ("optimizer_states/0/param_groups", []),
    ("loops/fit_loop/epoch_loop.batch_progress", {"current": 3}),
    ("callbacks/RandomStates", {"torch": 3}),
    ("callbacks/WeightsExport", ["seconds"]),
    ("RenderedWords", {"where": 3}),
]


def test_checkpoints_that_do_not_fit_are_one_line(run, capsys):
    last = run("run", "--trainer.max_steps=2") / "last.ckpt"
    whole = last.read_bytes()
    config = ["--config", str(last.parent / "config-in.yaml")]
    for path, value in FOREIGN:
        checkpoint = torch.load(last, weights_only=True)
        changed(checkpoint, path, value)
        torch.save(checkpoint, last)
        capsys.readouterr()
        assert main([*config, "--trainer.max_steps=4"]) == 2, path
        line = capsys.readouterr().err.splitlines()[-1]
        assert line.startswith(f"vit-str train: cannot resume from {last}: "), path
        assert "previous.ckpt" in line and len(line) < 700, path
        last.write_bytes(whole)


def test_what_does_not_fit_is_refused_before_fonts_are_drawn(run, capsys, monkeypatch):
    folder = run("run", "--trainer.max_steps=2")
    config = ["--config", str(folder / "config-in.yaml")]

    def draw(*_):
        raise AssertionError("fonts are drawn")

    monkeypatch.setattr(materials, "load_or_draw_glyphs", draw)
    assert main([*config, "--charset", "digits"]) == 2
    assert "expected the charset of the checkpoint" in capsys.readouterr().err
    with exclusive(folder / ".lock"):
        assert main(config) == 2
    assert "give another --folder" in capsys.readouterr().err
    (folder / "file").touch()
    assert main([*config, "--folder", str(folder / "file" / "run")]) == 1
    assert "Not a directory" in capsys.readouterr().err


@pytest.mark.skipif(os.name != "posix", reason="links need rights on other systems")
def test_behind_a_link_the_one_before_is_kept_too(tmp_path):
    (tmp_path / "elsewhere.ckpt").write_text("first")
    last = tmp_path / LAST
    previous = tmp_path / PREVIOUS
    last.symlink_to("elsewhere.ckpt")
    with write_atomically(last) as temporary:
        temporary.write_text("second")
        _link(last, previous)
    assert last.is_symlink()
    assert (last.read_text(), previous.read_text()) == ("second", "first")
