"""The command line that all trainings share."""

from pathlib import Path
from typing import Any, NoReturn

from jsonargparse import ActionConfigFile  # type: ignore[attr-defined]
from jsonargparse.typing import PositiveInt
from lightning.pytorch import Callback
from lightning.pytorch.callbacks import ModelCheckpoint
from lightning.pytorch.cli import LightningArgumentParser, LightningCLI
from torch import nn

from vit_str import console
from vit_str.machine import threads_for_load, use_threads
from vit_str.training.configuration import duration, emulates_bfloat16, move
from vit_str.training.console import RunProgress, report


class OneLineParser(LightningArgumentParser):
    """Says what is wrong in one line, without the list of all options."""

    def error(self, message: str, ex: Exception | None = None) -> NoReturn:
        """Leave with exit code 2."""
        # Where several types would do, the reason of each is an item; the first is ours.
        reasons = [line[4:] for line in message.splitlines() if line.startswith("  - ")]
        reason = " ".join((reasons or [message])[0].split())
        if "required" in reason and "model.recognizer" in reason:
            reason = (
                "no model given: name a configuration, as in --config FILE.yaml, or "
                "the weights to start from, as in --init tiny"
            )
        console.warn(f"{reason}; see vit-str train --help", "train")
        raise SystemExit(2)


class CommandLine(LightningCLI):
    """Lightning's command line with the options that all models have."""

    def init_parser(self, **kwargs: Any) -> LightningArgumentParser:
        """A parser for the command."""
        parser = OneLineParser(**kwargs)
        parser.add_argument(
            "-c", "--config", action=ActionConfigFile, help="configuration file in YAML"
        )
        return parser

    def add_arguments_to_parser(self, parser: LightningArgumentParser) -> None:
        """Options of this project."""
        parser.add_argument(
            "--ckpt_path",
            type=str | None,
            metavar="last|FILE",
            help="resume from this checkpoint; last: that of the folder of the run, if any",
        )
        parser.add_argument(
            "--folder",
            type=Path | None,
            help="where the run is kept: paths of callbacks and loggers are relative to it",
        )
        parser.add_argument(
            "--threads", type=PositiveInt | None, help="that compute, in each process"
        )
        parser.add_argument(
            "--recipe",
            type=str | None,
            help="in a configuration: the file with what it leaves out, relative to it",
        )

    def before_instantiate_classes(self) -> None:
        """Let trainer and configuration follow the options of this project."""
        trainer = self.config.trainer
        self.set_threads()
        if emulates_bfloat16(trainer):
            trainer.precision = "32-true"
            report("this CPU has no bfloat16 instructions: training in float32")
        if trainer.enable_progress_bar is not False:
            self.trainer_defaults["callbacks"] = [RunProgress()]
        # It counts the moving average as part of the model.
        trainer.enable_model_summary = False
        try:
            if isinstance(trainer.max_time, str):
                trainer.max_time = duration(trainer.max_time)
            self.follow_options()
            if self.config.folder is not None:
                move(trainer, self.config.folder)
        except ValueError as error:
            self.parser.error(str(error))

    def follow_options(self) -> None:
        """Let the configuration of one kind of model follow its own options.

        Raises:
            ValueError: an option is wrong; the command ends with this line.
        """

    def report_beginning(self, model: nn.Module) -> None:
        """Say how large a model is, and what trains it."""
        size = sum(parameter.numel() for parameter in model.parameters())
        device = self.trainer.strategy.root_device
        precision = self.trainer.precision
        report(f"{size / 1e6:.1f} M parameters, {device}, {precision}")

    def set_threads(self) -> None:
        """Compute with as many threads as asked for, or fewer than usual on a busy machine."""
        if self.config.threads is not None:
            use_threads(self.config.threads)
            return
        fewer = threads_for_load()
        if fewer:
            use_threads(fewer)
            report(f"this machine is busy, threads that compute: {fewer} (--threads N)")

    @property
    def checkpoint(self) -> Path | None:
        """The checkpoint to resume from, if there is one."""
        asked: str | None = self.config.ckpt_path
        if asked != "last":
            return Path(asked) if asked else None
        checkpoints: list[Path] = []
        for callback in self.callbacks:
            if isinstance(callback, ModelCheckpoint) and callback.dirpath:
                pattern = f"{callback.CHECKPOINT_NAME_LAST}*.ckpt"
                checkpoints += Path(callback.dirpath).glob(pattern)
        return max(checkpoints, key=lambda path: path.stat().st_mtime, default=None)

    @property
    def callbacks(self) -> list[Callback]:
        """The callbacks of the trainer."""
        callbacks: list[Callback] = getattr(self.trainer, "callbacks", [])
        return callbacks
