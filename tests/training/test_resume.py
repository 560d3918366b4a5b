"""A run that is cut and resumed equals one that was never cut, in everything that matters."""

import csv
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest
import torch
from lightning.pytorch.callbacks import ModelCheckpoint

import vit_str
from vit_str.files import exclusive
from vit_str.torch_runtime.weights_file import load_weights
from vit_str.training.callbacks import StopCleanly
from vit_str.training.data import RenderedWords
from vit_str.training.module import RecognizerTraining

# What Lightning and jsonargparse warn about in each other is theirs to mend.
pytestmark = pytest.mark.filterwarnings("default")


# From inside: on a busy computer nobody outside would be in time.
KILLED_AFTER_A_CHECKPOINT = """
import os, signal, sys, threading, time
from pathlib import Path

def kill():
    while not Path(sys.argv[1]).exists():
        time.sleep(0.005)
    time.sleep(0.1)
    os.kill(os.getpid(), signal.SIGKILL)

threading.Thread(target=kill, daemon=True).start()
from vit_str.cli import main
sys.exit(main(sys.argv[2:]))
"""


def checkpoint(folder: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = torch.load(folder / "last.ckpt", weights_only=True)
    return loaded


def assert_same(first: Any, second: Any, path: str = "") -> None:
    assert type(first) is type(second), path
    if isinstance(first, torch.Tensor):
        assert torch.equal(first, second), path
    elif isinstance(first, dict):
        assert first.keys() == second.keys(), path
        for key in first:
            assert_same(first[key], second[key], f"{path}/{key}")
    elif isinstance(first, list | tuple):
        assert len(first) == len(second), path
        for index, (a, b) in enumerate(zip(first, second, strict=True)):
            assert_same(a, b, f"{path}/{index}")
    else:
        assert first == second, path


def losses(folder: Path) -> dict[str, str]:
    """Loss by step, from the log of all legs."""
    rows = csv.DictReader((folder / "log" / "metrics.csv").read_text().splitlines())
    return {row["step"]: row["loss"] for row in rows if row.get("loss")}


class Killed(BaseException):
    """What no handler of Lightning's catches as its own."""


def interrupt() -> None:
    signal.raise_signal(signal.SIGINT)


@pytest.fixture
def before_batch(monkeypatch) -> Callable[..., AbstractContextManager[None]]:
    """Does something before one batch of the training that is run inside."""
    step = RecognizerTraining.training_step

    @contextmanager
    def patched(number: int, act: Callable[[], None]) -> Iterator[None]:
        def training_step(self: RecognizerTraining, *batch: Any) -> Any:
            if self.trainer.fit_loop.total_batch_idx == number:
                act()
            return step(self, *batch)

        with monkeypatch.context() as patch:
            patch.setattr(RecognizerTraining, "training_step", training_step)
            yield

    return patched


def test_cut_and_resumed_equals_uncut(run, uncut, tmp_path, before_batch):
    def kill():
        raise Killed

    with before_batch(4, kill), pytest.raises(Killed):
        run("cut")
    before = checkpoint(tmp_path / "cut")
    assert before["global_step"] == 4, "it must have been cut in the middle"
    cut = run("cut")

    assert_same_run(uncut, cut)


def test_killed_at_any_moment_and_resumed_equals_uncut(run):
    """A process that writes a checkpoint in every step, and dies without being asked."""
    arguments = ["--trainer.max_steps", "12", "--trainer.limit_val_batches", "0"]
    uncut = run("uncut", *arguments)
    cut = uncut.parent / "cut"
    cut.mkdir()
    config = cut / "config-in.yaml"
    config.write_text(
        (uncut / "config-in.yaml").read_text().replace(str(uncut), str(cut))
    )
    command = [sys.executable, "-c", KILLED_AFTER_A_CHECKPOINT, str(cut / "last.ckpt")]
    command += ["train", "--config", str(config), *arguments]
    # As many threads as here: sums in another order would differ in the last digit.
    environment = os.environ | {"OMP_NUM_THREADS": str(torch.get_num_threads())}
    killed = subprocess.run(
        command, capture_output=True, text=True, timeout=600, env=environment
    )
    assert killed.returncode == -signal.SIGKILL, killed.stderr[-3000:]
    kept = checkpoint(cut)["global_step"]
    assert 1 <= kept < 12
    # What a library draws when it is first imported, after seeding, moves Python's own numbers.
    resumed = run("cut", *arguments)
    assert_same_run(uncut, resumed, 12, apart_from="python", lost_rows=kept)


def test_in_the_middle_of_a_step_of_several_batches(run, monkeypatch, before_batch):
    """Gradients that have added up are in no checkpoint: the step is done anew, from its start."""
    arguments = [
        "--trainer.accumulate_grad_batches",
        "3",
        "--trainer.val_check_interval",
        "9",
    ]
    uncut = run("uncut", *arguments)

    def saved_and_killed(self, trainer, module, *_):
        trainer.save_checkpoint(self.path)
        if trainer.fit_loop.total_batch_idx == 7:
            raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(StopCleanly, "on_train_batch_end", saved_and_killed)
        with pytest.raises(Killed):
            run("killed", *arguments)
    saved = checkpoint(uncut.parent / "killed")
    assert (
        saved["global_step"],
        saved["images_seen"],
        saved["unfinished_batches"],
    ) == (2, 24, 2)
    assert_same_run(uncut, run("killed", *arguments))

    with before_batch(7, interrupt):
        stopped = checkpoint(run("stopped", *arguments, code=130))
    assert (stopped["global_step"], stopped["images_seen"]) == (3, 36)
    assert stopped["unfinished_batches"] == 0
    assert_same_run(uncut, run("stopped", *arguments))


def assert_same_run(
    uncut: Path, cut: Path, steps: int = 6, apart_from: str = "", lost_rows: int = 0
) -> None:
    """Of the log, the first ``lost_rows`` may not have been on the disk in time."""
    first = checkpoint(uncut)
    second = checkpoint(cut)
    for run in (first, second):
        run["callbacks"]["RandomStates"].pop(apart_from, None)
    assert first["global_step"] == second["global_step"] == steps
    assert first["images_seen"] == second["images_seen"]
    assert_same(first["state_dict"], second["state_dict"])
    assert any(key.startswith("average.") for key in first["state_dict"])
    assert_same(first["optimizer_states"], second["optimizer_states"])
    assert_same(first["callbacks"]["RandomStates"], second["callbacks"]["RandomStates"])
    logged = losses(cut)
    expected = losses(uncut)
    assert logged == {step: expected[step] for step in logged}
    assert len(expected) == steps
    assert logged.keys() >= set(sorted(expected, key=int)[lost_rows:])


def test_ctrl_c_finishes_the_step_and_the_run_resumes(run, uncut, before_batch, capsys):
    with before_batch(2, interrupt):
        stopped = run("cut", code=130)
    assert "stopped at step 3; the same command resumes" in capsys.readouterr().err
    assert checkpoint(stopped)["global_step"] == 3
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert_same_run(uncut, run("cut"))


def test_a_run_that_is_over_when_it_is_stopped_is_finished(run, before_batch, capsys):
    with before_batch(2, interrupt):
        folder = run("over", "--trainer.max_steps=3")
    assert "finished at step 3" in capsys.readouterr().err
    assert checkpoint(folder)["global_step"] == 3
    run("over", "--trainer.max_steps=3")
    assert "already finished at step 3" in capsys.readouterr().err


@pytest.mark.parametrize("second", [signal.SIGINT, signal.SIGTERM])
def test_a_second_signal_stops_at_once(second, run, uncut, before_batch):
    def stop_twice():
        signal.raise_signal(signal.SIGTERM)
        signal.raise_signal(second)

    with before_batch(2, stop_twice), pytest.raises(SystemExit) as stopped:
        run("cut")
    assert stopped.value.code == 128 + second
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
    assert_same_run(uncut, run("cut"), lost_rows=2)


def test_a_signal_before_the_first_step_is_no_success(run, monkeypatch, capsys):
    def stopped_while_fonts_are_drawn(self):
        signal.raise_signal(signal.SIGTERM)

    monkeypatch.setattr(RenderedWords, "prepare_data", stopped_while_fonts_are_drawn)
    with pytest.raises(SystemExit) as stopped:
        run("run")
    assert stopped.value.code == 143
    assert "the same command starts again" in capsys.readouterr().err


def test_two_runs_in_one_folder_are_refused(run, capsys, tmp_path):
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / ".last.1.partial.ckpt").write_bytes(b"left by a killed run")
    with exclusive(folder / ".lock"):
        run("run", code=2)
    assert "another process" in capsys.readouterr().err.splitlines()[-1]
    run("run", "--trainer.max_steps=1")
    assert not list(folder.glob(".*.partial*"))


def test_the_end_is_saved_and_a_finished_run_says_so(run, monkeypatch, capsys):
    monkeypatch.setattr(ModelCheckpoint, "on_train_batch_end", lambda *_: None)
    folder = run("run", "--trainer.max_steps=4")
    assert checkpoint(folder)["global_step"] == 4
    assert "already finished" not in capsys.readouterr().err
    before = checkpoint(folder)
    run("run", "--trainer.max_steps=4")
    assert "already finished at step 4; for more, raise" in capsys.readouterr().err
    assert_same(before["state_dict"], checkpoint(folder)["state_dict"])


@pytest.mark.usefixtures("number_format")
def test_the_exported_weights_are_the_average_and_read(run):
    folder = run("run", "--trainer.max_steps", "3")
    reader = vit_str.load(folder / "weights.safetensors", device="cpu")
    assert reader.provenance["images"] == 12
    average = {
        key.removeprefix("average.module."): value
        for key, value in checkpoint(folder)["state_dict"].items()
        if key.startswith("average.module.")
    }
    assert average
    stored = load_weights(folder / "weights.safetensors").recognizer.state_dict()
    assert_same(dict(stored), average)
    assert list((folder / "readings").glob("*.png"))
