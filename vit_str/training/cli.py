"""``vit-str train``: Lightning's command line over the parts of this project."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

from jsonargparse import ActionConfigFile  # type: ignore[attr-defined]
from jsonargparse.typing import PositiveInt
from lightning.fabric.plugins import TorchCheckpointIO
from lightning.fabric.utilities.exceptions import MisconfigurationException
from lightning.pytorch import Callback, LightningDataModule
from lightning.pytorch.callbacks import ModelCheckpoint
from lightning.pytorch.cli import LightningArgumentParser, LightningCLI
from safetensors import SafetensorError

from vit_str import console
from vit_str.runtime.charset import CHARSETS, charset_of
from vit_str.runtime.machine import threads_for_load, use_threads
from vit_str.training.callbacks import StopCleanly, StopIfDiverged
from vit_str.training.checkpoints import (
    CannotStart,
    CheckpointFiles,
    Diverged,
    unusable,
)
from vit_str.training.configuration import completed, duration, emulates_bfloat16, move
from vit_str.training.console import RunProgress, report
from vit_str.training.initialization import StartFromWeights
from vit_str.training.module import RecognizerTraining
from vit_str.training.process import prepare_process
from vit_str.training.starting import stop_at_once

_STOPPED = 130  # saved, and to be resumed, whichever signal asked for it


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


class TrainingCLI(LightningCLI):
    """Ties what model and data must agree on, so that a configuration says it once."""

    def init_parser(self, **kwargs: Any) -> LightningArgumentParser:
        """A parser for the command."""
        parser = OneLineParser(**kwargs)
        parser.add_argument(
            "-c", "--config", action=ActionConfigFile, help="configuration file in YAML"
        )
        return parser

    def add_arguments_to_parser(self, parser: LightningArgumentParser) -> None:
        """Options of this project, and the data linked to the model."""
        parser.add_argument(
            "--ckpt_path",
            type=str | None,
            metavar="last|FILE",
            help="resume from this checkpoint; last: that of the folder of the run, if any",
        )
        parser.add_argument(
            "--init",
            type=str | None,
            metavar="NAME|FILE",
            help="start from these weights: of the package, or a .safetensors file",
        )
        parser.add_argument(
            "--charset",
            type=str | None,
            metavar="NAME|FILE|CHARACTERS",
            help=f"characters to read, instead of those of the configuration: "
            f"{', '.join(CHARSETS)}, several joined by +, a text file that holds "
            "them, or the characters themselves",
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
        parser.link_arguments("model.charset", "data.init_args.charset")
        for name in ("image_size", "grid", "maximum_length", "width_step"):
            parser.link_arguments(
                f"model.{name}",
                f"data.init_args.{name}",
                apply_on="instantiate",
            )

    def before_instantiate_classes(self) -> None:
        """Let the rest of the configuration follow the options of this project."""
        config = self.config
        trainer = config.trainer
        self._set_threads()
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
            if config.charset is not None:
                characters = charset_of(config.charset).characters
                config.model.charset = characters
                config.data.init_args.charset = characters
                decoder = config.model.recognizer.init_args.decoder
                decoder.init_args.charset_size = len(characters)
            if config.folder is not None:
                move(trainer, config.folder)
        except ValueError as error:
            self.parser.error(str(error))

    def _set_threads(self) -> None:
        """Compute with as many threads as asked for, or fewer than usual on a busy machine."""
        if self.config.threads is not None:
            use_threads(self.config.threads)
            return
        fewer = threads_for_load()
        if fewer:
            use_threads(fewer)
            report(f"this machine is busy, threads that compute: {fewer} (--threads N)")

    def instantiate_classes(self) -> None:
        """Build model, data and trainer; a mistake in the configuration is one line."""
        try:
            super().instantiate_classes()
            if type(self.trainer.strategy.checkpoint_io) is TorchCheckpointIO:
                self.trainer.strategy.checkpoint_io = CheckpointFiles()
            self.callbacks.insert(0, StopIfDiverged())
            if self.config.init is not None:
                start = StartFromWeights(self.config.init)
                if self.checkpoint is None:
                    # Look at them at once, not after fonts are drawn.
                    start.load(self.model)
                self.callbacks.insert(0, start)
        except (ValueError, MisconfigurationException) as error:
            self.parser.error(str(error))

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

    def train(self) -> int:
        """Train, and say how it begins and ends; returns the exit code.

        Raises:
            CannotStart: for a checkpoint that does not fit the configuration.
        """
        trainer = self.trainer
        checkpoint = self.checkpoint
        size = sum(
            parameter.numel() for parameter in self.model.recognizer.parameters()
        )
        device = trainer.strategy.root_device
        report(f"{size / 1e6:.1f} M parameters, {device}, {trainer.precision}")
        try:
            self._check_before_drawing(checkpoint)
            trainer.fit(self.model, datamodule=self.datamodule, ckpt_path=checkpoint)
        except (CannotStart, Diverged, OSError):
            raise
        except Exception as error:
            files = trainer.strategy.checkpoint_io
            loaded = files.loaded if isinstance(files, CheckpointFiles) else None
            if loaded is None or self.model.training_began:
                raise
            raise CannotStart(unusable(loaded, error)) from error
        return self._finish()

    def _check_before_drawing(self, checkpoint: Path | None) -> None:
        """Refuse at once what would be refused after minutes in which fonts are drawn."""
        if checkpoint is not None:
            files = self.trainer.strategy.checkpoint_io
            self.model.check_checkpoint(files.load_checkpoint(checkpoint))
        for callback in self.callbacks:
            if isinstance(callback, StopCleanly):
                callback.claim_folder(self.trainer)

    def _finish(self) -> int:
        step = self.trainer.global_step
        stopped = any(c.stopped for c in self.callbacks if isinstance(c, StopCleanly))
        if stopped:
            # Who leaves first with this code makes launchers end the others, whatever they still
            # write.
            self.trainer.strategy.barrier("stopped")
            report(f"stopped at step {step:,}; the same command resumes")
        elif step and step == self.model.resumed_at:
            report(
                f"already finished at step {step:,}; for more, raise "
                "--trainer.max_time or --trainer.max_steps"
            )
        else:
            report(f"finished at step {step:,}")
        return _STOPPED if stopped else 0


def main(arguments: Sequence[str]) -> int:
    """Train as the arguments say; returns the exit code."""
    prepare_process()
    try:
        return _train(arguments)
    except CannotStart as error:
        report(str(error))
        return 2
    except Diverged as error:
        report(str(error))
        return 1
    except (OSError, SafetensorError) as error:
        if isinstance(error, SafetensorError) and "os error" not in str(error):
            raise
        report(f"{_reason(error)}; once that is mended, the same command resumes")
        return 1


def configured_data(arguments: Sequence[str]) -> LightningDataModule:
    """The data of a run that the arguments of ``vit-str train`` describe, which does not start.

    Raises:
        ValueError: a configuration cannot be read.
    """
    try:
        return _configured(arguments).datamodule
    except CannotStart as error:
        raise ValueError(str(error)) from None


def _configured(arguments: Sequence[str]) -> TrainingCLI:
    """Model, data and trainer as the arguments describe them."""
    return TrainingCLI(
        RecognizerTraining,
        LightningDataModule,
        subclass_mode_data=True,
        save_config_kwargs={"overwrite": True},
        args=completed(arguments),
        parser_kwargs={"prog": "vit-str train"},
        seed_everything_default=1,
        run=False,
    )


def _train(arguments: Sequence[str]) -> int:
    with stop_at_once() as start:
        training = _configured(arguments)
        start.trainer = training.trainer

        def began() -> bool:
            callbacks = training.callbacks
            stops = [each for each in callbacks if isinstance(each, StopCleanly)]
            return any(stop.hears for stop in stops)

        start.began = began
        return training.train()


def _reason(error: OSError | SafetensorError) -> str:
    """What went wrong with a file, and with which one if that is known."""
    reason = getattr(error, "strerror", None) or error
    file = getattr(error, "filename", None)
    return f"{file}: {reason}" if file else str(reason)
