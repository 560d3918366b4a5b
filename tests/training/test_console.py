"""What a run tells people: one log, the time left, and mistakes in one line."""

import csv
import os
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from vit_str.characters.charset import charset_of
from vit_str.machine import THREADS
from vit_str.training import RecognizerTraining, cli, command_line, console, exports
from vit_str.training.cli import main
from vit_str.training.configuration import duration
from vit_str.training.console import RunProgress
from vit_str.training.exports import RunLog

pytestmark = pytest.mark.filterwarnings("default")


def test_a_resumed_run_appends_to_the_log_and_replaces_repeated_steps(tmp_path):
    first = RunLog(tmp_path)
    second = RunLog(tmp_path)
    for step in range(4):
        first.log_metrics({"loss": 1.0}, step)
    first.finalize("failed")
    second.log_metrics({"loss": 0.5, "rendered/word_accuracy_36": 0.1}, 2)
    second.save()
    with (tmp_path / "log" / "metrics.csv").open() as file:
        names = ("step", "loss", "rendered/word_accuracy_36")
        rows = [tuple(row[name] for name in names) for row in csv.DictReader(file)]
    assert rows == [("0", "1.0", ""), ("1", "1.0", ""), ("2", "0.5", "0.1")]


def test_the_log_is_written_seldom_and_at_the_end(tmp_path, monkeypatch):
    now = SimpleNamespace(monotonic=lambda: 100.0)
    monkeypatch.setattr(exports, "time", now)
    log = RunLog(tmp_path)

    def lines() -> int:
        return len(log.path.read_text().splitlines())

    found = []
    for step, seconds in enumerate([100.0, 101.0, 104.0, 105.0, 106.0]):
        now.monotonic = lambda seconds=seconds: seconds
        log.log_metrics({"loss": 1.0}, step)
        log.save()
        found.append(lines())
    log.finalize("success")
    assert [*found, lines()] == [2, 2, 2, 5, 5, 6]


def test_the_bar_shows_the_loss(monkeypatch, capsys):
    monkeypatch.setattr(console.sys.stderr, "isatty", lambda: True, raising=False)
    bar = RunProgress()
    trainer: Any = SimpleNamespace(
        max_steps=40, global_step=10, callbacks=[], callback_metrics={}
    )
    bar.on_train_start(trainer, SimpleNamespace())
    bar.on_train_batch_end(trainer)
    assert "loss" not in capsys.readouterr().err
    trainer.callback_metrics = {"loss": torch.tensor(1.25)}
    monkeypatch.setattr(console, "_REFRESH_SECONDS", 0)
    bar.on_train_batch_end(trainer)
    bar.on_train_end(trainer, SimpleNamespace())
    shown = capsys.readouterr().err
    assert "| time left unknown, loss 1.250" in shown
    assert "| ," not in shown


def test_the_time_left_goes_by_the_share_that_is_done(monkeypatch, capsys):
    now = SimpleNamespace(monotonic=lambda: 100.0)
    bar = RunProgress()
    monkeypatch.setattr(console, "time", now)
    trainer: Any = SimpleNamespace(
        max_steps=40, global_step=10, callbacks=[], sanity_checking=False
    )
    bar.on_train_start(trainer, SimpleNamespace())
    assert bar.left(trainer) == "time left unknown"
    now.monotonic = lambda: 160.0
    trainer.global_step = 20
    trainer.callback_metrics = {
        "loss": 1.25,
        "svt/word_accuracy_36": 0.5,
        "svt/word_accuracy_full": 0.25,
        "svt/one_minus_ned": 1,
    }
    said = (
        "vit-str train: step 20, 50% done, 02:00 left: loss 1.250, svt/word_accuracy_"
    )
    # 36 characters say little of an alphabet that has more than ASCII
    for charset, value in (("ascii", "36 0.500\n"), ("latin", "full 0.250\n")):
        model = SimpleNamespace(charset=charset_of(charset))
        bar.on_validation_end(trainer, model)
        assert capsys.readouterr().err == said + value


@pytest.mark.parametrize(
    ("given", "meant"),
    [("3h", "00:03:00:00"), ("1d 90m", "01:01:30:00"), ("00:01:42:00", "00:01:42:00")],
)
def test_durations(given, meant):
    assert duration(given) == meant


@pytest.mark.parametrize("given", ["9999999999d", "9999999999:00:00:00"])
def test_a_duration_without_end_is_told(given):
    with pytest.raises(ValueError, match=f"max_time {given} is longer"):
        duration(given)


def test_a_command_without_a_configuration_is_one_line(capsys):
    with pytest.raises(SystemExit) as stopped:
        main([])
    assert stopped.value.code == 2
    line = "vit-str train: no model given: name a configuration, as in --config FILE.yaml, or "
    assert capsys.readouterr().err.startswith(line)


@pytest.mark.parametrize("recipe", [False, True])
def test_a_configuration_that_is_not_utf8_is_named(recipe, tmp_path, capsys):
    path = tmp_path / "caf\xe9.yaml"
    path.write_bytes(b"folder: caf\xe9\n")
    given = tmp_path / "given.yaml"
    given.write_text(f"recipe: {path.name}\n", encoding="utf-8")
    assert main(["--config", str(given if recipe else path)]) == 2
    line = f"vit-str train: configuration {path}: not UTF-8 text; save it as UTF-8\n"
    assert capsys.readouterr().err == line


def test_training_has_the_threads_that_are_asked_for(run, monkeypatch):
    monkeypatch.setenv(THREADS, "1")  # put back at the end
    before = torch.get_num_threads()
    threads = []
    monkeypatch.setattr(
        RecognizerTraining,
        "on_train_batch_end",
        lambda *_: threads.append((torch.get_num_threads(), os.environ[THREADS])),
    )
    try:
        run("threads", "--threads", str(before + 1), "--trainer.max_steps", "2")
    finally:
        torch.set_num_threads(before)
    assert threads == 2 * [(before + 1, str(before + 1))]


def test_a_busy_machine_gets_fewer_threads_and_is_told(monkeypatch, capsys):
    asked = []
    monkeypatch.setattr(command_line, "threads_for_load", lambda: 1)
    monkeypatch.setattr(command_line, "use_threads", asked.append)
    run: Any = SimpleNamespace(config=SimpleNamespace(threads=None))
    cli.TrainingCLI.set_threads(run)
    line = "vit-str train: this machine is busy, threads that compute: 1 (--threads N)"
    assert capsys.readouterr().err == f"{line}\n"
    run.config.threads = 2
    cli.TrainingCLI.set_threads(run)
    assert capsys.readouterr().err == ""
    assert asked == [1, 2]
