"""One variant of a configuration, trained as ``vit-str train`` in a process of its own.

Part of equal_budget.py. Everything of a run is in one folder: the arguments, the log, the
checkpoint, the weights as trained and their moving average. A run that was stopped goes on where
it was; one that is finished is not repeated.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import yaml
from measuring import REPOSITORY

from vit_str import configuration
from vit_str.torch_runtime.weights_file import load_weights, save_weights

WEIGHTS = ("trained", "averaged")
"""The model as it was trained, and its moving average, which lags behind in a short run."""

_CHECKPOINT = "last.ckpt"
_STOPPED = 130


class RunFailedError(Exception):
    """The training ended with an error; one line that names the log."""


@dataclass(frozen=True, slots=True)
class Budget:
    """What every variant gets.

    Attributes:
        config: YAML file of the model and its data.
        images: number of images to train on.
        decay: last share of the budget over which the learning rate falls to zero.
        common: arguments of ``vit-str train`` for all variants.
        start: checkpoint that all variants go on from; from nothing if None.
        code: folder to import vit_str from.
    """

    config: Path
    images: int
    decay: float
    common: tuple[str, ...] = ()
    start: Path | None = None
    code: Path = REPOSITORY


@dataclass(frozen=True, slots=True)
class VariantRun:
    """A variant with one seed.

    Attributes:
        folder: of everything that belongs to it.
        overrides: arguments of ``vit-str train`` that make the variant; ``--config=FILE``, with
            the path from the top of the repository, takes the place of the common configuration.
        seed: of the weights at the start and of the rendered words.
    """

    folder: Path
    overrides: tuple[str, ...]
    seed: int

    @property
    def finished(self) -> bool:
        """Whether there is nothing left to train."""
        return (self.folder / "finished.json").is_file()

    def weights(self, kind: str) -> Path:
        """The weights file of one of `WEIGHTS`."""
        return self.folder / f"{kind}.safetensors"

    def summary(self) -> dict[str, Any]:
        """Steps, images and minutes of a finished run."""
        found: dict[str, Any] = json.loads((self.folder / "finished.json").read_text())
        return found

    def train(self, budget: Budget) -> None:
        """Train, or go on, unless it is finished.

        Raises:
            ValueError: the folder holds a run with other arguments.
            RunFailedError: the training failed.
            KeyboardInterrupt: it was stopped; the same call goes on.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        self._claim(budget)
        if self.finished:
            return
        arguments = self._arguments(budget)
        checkpoint = self.folder / _CHECKPOINT
        if budget.start is not None and not checkpoint.is_file():
            partial = checkpoint.with_suffix(".partial")
            shutil.copyfile(budget.start, partial)
            partial.replace(checkpoint)
        command = [sys.executable, "-m", "vit_str", "train", *arguments]
        exit_code, seconds = _call(command, budget.code, self.folder / "train.log")
        seconds += self._seconds_before()
        (self.folder / "seconds.txt").write_text(f"{seconds:.1f}\n")
        if exit_code not in (0, _STOPPED):
            raise RunFailedError(f"a training failed, see {self.folder / 'train.log'}")
        if not self._export_trained():
            raise KeyboardInterrupt
        summary = {"images": budget.images, "minutes": round(seconds / 60, 2)}
        (self.folder / "finished.json").write_text(json.dumps(summary) + "\n")

    def _arguments(self, budget: Budget) -> list[str]:
        """Of ``vit-str train``; writes the configuration that they name."""
        given = [*budget.common, *self.overrides]
        config = self._config(budget)
        given = [a for a in given if not _names_config(a)]
        values = _settings(given)
        if budget.start is not None and "model.weight_decay" in values:
            raise ValueError(
                "weight decay is part of the optimizer's state in a checkpoint: "
                "compare it without --from"
            )
        first = _step(budget.start) if budget.start else 0
        steps = budget.images // _batch_size(config, values)
        file = self.folder / "run.yaml"
        settings = self._settings(first + steps, budget.decay * steps / (first + steps))
        file.write_text(yaml.safe_dump(settings, sort_keys=False), encoding="utf-8")
        seeds = [f"--seed_everything={self.seed}", f"--data.init_args.seed={self.seed}"]
        return [f"--config={config}", f"--config={file}", *seeds, *given]

    def _config(self, budget: Budget) -> Path:
        """The configuration of this variant: its own, or that of all."""
        own = [
            argument.partition("=")[2]
            for argument in filter(_names_config, self.overrides)
        ]
        return REPOSITORY / own[-1] if own else budget.config

    def _settings(self, steps: int, decay_share: float) -> dict[str, Any]:
        """Where everything goes and when it ends, in place of what the configuration says."""
        # A relative one is taken from that of the configuration
        folder = self.folder.resolve()
        checkpoint = {"dirpath": str(folder), "save_last": True, "save_top_k": 0}
        checkpoint["enable_version_counter"] = False
        keep = "lightning.pytorch.callbacks.ModelCheckpoint"
        callbacks = [
            (keep, checkpoint | {"train_time_interval": "0:03:00"}),
            (keep, checkpoint | {"every_n_train_steps": steps}),
            ("vit_str.training.StopCleanly", {"path": str(folder / _CHECKPOINT)}),
            (
                "vit_str.training.WeightsExport",
                {"path": str(folder / "averaged.safetensors")},
            ),
            ("vit_str.training.RandomStates", {}),
        ]
        trainer = {
            "max_steps": steps,
            "max_time": None,
            "limit_val_batches": 0,
            "enable_progress_bar": False,
            "logger": [
                _part(
                    "lightning.pytorch.loggers.CSVLogger",
                    save_dir=str(folder),
                    name="log",
                )
            ],
            "callbacks": [_part(path, **arguments) for path, arguments in callbacks],
        }
        schedule = {"decay_share": decay_share}
        return {
            "ckpt_path": "last",
            "trainer": trainer,
            "model": {"schedule": schedule},
        }

    def _claim(self, budget: Budget) -> None:
        """Note what is trained here, and refuse to go on with anything else."""
        wanted = {
            "config": configuration.load(self._config(budget)),
            "arguments": [*budget.common, *self.overrides],
            "seed": self.seed,
            "images": budget.images,
            "decay": budget.decay,
            "from": str(budget.start.resolve()) if budget.start else None,
        }
        file = self.folder / "claim.json"
        if not file.is_file():
            file.write_text(json.dumps(wanted, indent=1) + "\n", encoding="utf-8")
        elif json.loads(file.read_text(encoding="utf-8")) != wanted:
            raise ValueError(
                f"{self.folder} holds a run with other arguments: delete it or give "
                "another --out"
            )

    def _seconds_before(self) -> float:
        file = self.folder / "seconds.txt"
        return float(file.read_text()) if file.is_file() else 0.0

    def _export_trained(self) -> bool:
        """Write the weights as trained, out of the last checkpoint, if that is of the end."""
        settings = configuration.load(self.folder / "run.yaml")
        file = self.folder / _CHECKPOINT
        if not file.is_file() or _step(file) < settings["trainer"]["max_steps"]:
            return False
        weights = load_weights(self.weights("averaged"))
        prefix = "recognizer."
        tensors = {
            name.removeprefix(prefix): tensor
            for name, tensor in _load(file)["state_dict"].items()
            if name.startswith(prefix)
        }
        weights.recognizer.load_state_dict(tensors)
        parts = (
            weights.recognizer,
            weights.charset,
            weights.preprocessing,
            weights.provenance,
        )
        save_weights(self.weights("trained"), *parts)
        return True


def copy_code(folder: Path) -> Path:
    """Keep a copy of vit_str there, if there is none: runs must not see edits between them."""
    package = folder / "vit_str"
    if not package.is_dir():
        partial = folder / "vit_str.partial"
        shutil.rmtree(partial, ignore_errors=True)
        ignored = shutil.ignore_patterns("__pycache__", "*.safetensors")
        shutil.copytree(REPOSITORY / "vit_str", partial, ignore=ignored)
        partial.rename(package)
    return folder


def _names_config(argument: str) -> bool:
    return argument.startswith("--config=")


def _part(class_path: str, **arguments: Any) -> dict[str, Any]:
    return {"class_path": class_path, "init_args": arguments}


def _settings(arguments: Sequence[str]) -> dict[str, str]:
    """Name -> value of ``--name=value`` and ``--name value``; ``init_args`` left out of names."""
    values: dict[str, str] = {}
    for place, argument in enumerate(arguments):
        if argument.startswith("--"):
            name, equals, value = argument[2:].partition("=")
            following = arguments[place + 1] if place + 1 < len(arguments) else ""
            values[name.replace(".init_args", "")] = value if equals else following
    return values


def _batch_size(config: Path, values: Mapping[str, str]) -> int:
    """Images in a step, from the arguments or the configuration."""
    own = (
        configuration.load(config)
        .get("data", {})
        .get("init_args", {})
        .get("batch_size", 64)
    )
    return int(values.get("data.batch_size", own))


def _load(checkpoint: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = torch.load(
        checkpoint,
        map_location="cpu",
        weights_only=True,
    )
    return loaded


def _step(checkpoint: Path) -> int:
    return int(_load(checkpoint)["global_step"])


def _call(command: Sequence[str], code: Path, log: Path) -> tuple[int, float]:
    """Exit code and seconds of a command whose output goes to a log; it ends as this one does."""
    start = time.monotonic()
    # Without the second, Python imports from the working folder before anything else.
    environment = os.environ | {"PYTHONPATH": str(code), "PYTHONSAFEPATH": "1"}
    with log.open("a", encoding="utf-8") as file:
        file.write(f"$ {' '.join(command)}\n")
        file.flush()
        with subprocess.Popen(
            command, stdout=file, stderr=file, env=environment
        ) as process:
            before = signal.signal(signal.SIGTERM, lambda *_: process.terminate())
            try:
                exit_code = process.wait()
            # The training hears of it too, saves and ends by itself
            except KeyboardInterrupt:
                exit_code = process.wait()
            finally:
                signal.signal(signal.SIGTERM, before)
    return exit_code, time.monotonic() - start
