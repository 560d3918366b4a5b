"""``vit-str train``: Lightning's command line over the parts of this project."""

from collections.abc import Sequence
from pathlib import Path

from jsonargparse import Namespace
from lightning.fabric.plugins import TorchCheckpointIO
from lightning.fabric.utilities.exceptions import MisconfigurationException
from lightning.pytorch import LightningDataModule
from lightning.pytorch.cli import LightningArgumentParser
from safetensors import SafetensorError

from vit_str.characters.charset import CHARSETS, charset_of
from vit_str.training.callbacks import StopCleanly, StopIfDiverged
from vit_str.training.checkpoints import (
    CannotStart,
    CheckpointFiles,
    Diverged,
    unusable,
)
from vit_str.training.command_line import CommandLine
from vit_str.training.configuration import completed, network_of
from vit_str.training.console import report
from vit_str.training.initialization import StartFromWeights
from vit_str.training.module import RecognizerTraining
from vit_str.training.network_cli import NETWORKS, network_cli
from vit_str.training.process import prepare_process
from vit_str.training.starting import stop_at_once

_STOPPED = 130  # saved, and to be resumed, whichever signal asked for it


class TrainingCLI(CommandLine):
    """Ties what model and data must agree on, so that a configuration says it once."""

    def add_arguments_to_parser(self, parser: LightningArgumentParser) -> None:
        """Options of this project, and the data linked to the model."""
        super().add_arguments_to_parser(parser)
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
            "--pattern",
            type=str | None,
            metavar="REGEX",
            help="draw only texts that match this expression, such as '[A-Z]{2}[0-9]{6}'; "
            "several, with shares: data.init_args.texts",
        )
        parser.add_argument(
            "--only-words",
            type=Path | None,
            metavar="FILE",
            help="draw only the lines of this text file, as they are",
        )
        parser.link_arguments("model.charset", "data.init_args.charset")
        for name in ("image_size", "grid", "maximum_length", "width_step"):
            parser.link_arguments(
                f"model.{name}",
                f"data.init_args.{name}",
                apply_on="instantiate",
            )

    def follow_options(self) -> None:
        """Let model and data follow ``--charset``, ``--pattern`` and ``--only-words``."""
        config = self.config
        if config.charset is not None:
            characters = charset_of(config.charset).characters
            config.model.charset = characters
            config.data.init_args.charset = characters
            decoder = config.model.recognizer.init_args.decoder
            decoder.init_args.charset_size = len(characters)
        if config.pattern is not None or config.only_words is not None:
            config.data.init_args.texts = Namespace(  # type: ignore[no-untyped-call]
                pattern=config.pattern, words=config.only_words, usual=0.0
            )

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

    def train(self) -> int:
        """Train, and say how it begins and ends; returns the exit code.

        Raises:
            CannotStart: for a checkpoint that does not fit the configuration.
        """
        trainer = self.trainer
        checkpoint = self.checkpoint
        self.report_beginning(self.model.recognizer)
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
        kind = network_of(arguments, NETWORKS)
        if kind is not None:
            return network_cli(kind, completed(arguments)).datamodule
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
    kind = network_of(arguments, NETWORKS)
    if kind is not None:
        return network_cli(kind, completed(arguments)).train()
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
    """The reason of an error, with the name of the file if that is known."""
    reason = getattr(error, "strerror", None) or error
    file = getattr(error, "filename", None)
    return f"{file}: {reason}" if file else str(reason)
