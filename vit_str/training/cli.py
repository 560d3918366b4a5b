"""``vit-str train``: Lightning's command line over the parts of this project."""

import logging
import sys
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NoReturn, cast

import torch
from jsonargparse import ActionConfigFile  # type: ignore[attr-defined]
from lightning.fabric.plugins import TorchCheckpointIO
from lightning.pytorch import Callback, LightningDataModule
from lightning.pytorch.callbacks import ModelCheckpoint
from lightning.pytorch.cli import LightningArgumentParser, LightningCLI

from vit_str.charset import CHARSETS, charset_of
from vit_str.training.allocator import keep_freed_memory
from vit_str.training.callbacks import StopCleanly
from vit_str.training.module import RecognizerTraining
from vit_str.training.resuming import CannotStart, WholeFiles
from vit_str.training.starting import StartFromWeights

_PLACES = ("dirpath", "path", "folder", "save_dir")


class OneLineParser(LightningArgumentParser):
    """Says what is wrong in one line, without the list of all options."""

    def error(self, message: str, ex: Exception | None = None) -> NoReturn:
        """Leave with exit code 2."""
        # Where several types would do, the reason of each is an item; the first is ours.
        reasons = [line[4:] for line in message.splitlines() if line.startswith("  - ")]
        reason = " ".join((reasons or [message])[0].split())
        sys.stderr.write(f"vit-str train: {reason}; see vit-str train --help\n")
        raise SystemExit(2)


class TrainingCLI(LightningCLI):
    """Ties what model and data must agree on, so that a configuration says it once."""

    def init_parser(self, **kwargs: Any) -> LightningArgumentParser:
        """A parser for the command, and one for each subcommand."""
        parser = OneLineParser(**kwargs)
        parser.add_argument(
            "-c", "--config", action=ActionConfigFile, help="configuration file in YAML"
        )
        return parser

    def add_arguments_to_parser(self, parser: LightningArgumentParser) -> None:
        """Options of this project, and the data linked to the model."""
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
            f"{', '.join(CHARSETS)}, several joined by +, a text file that holds them, or the "
            "characters themselves",
        )
        parser.add_argument(
            "--folder",
            type=Path | None,
            help="where the run is kept, instead of the folder in the configuration",
        )
        parser.link_arguments("model.charset", "data.init_args.charset")
        for name in ("image_size", "grid", "maximum_length"):
            parser.link_arguments(f"model.{name}", f"data.init_args.{name}", apply_on="instantiate")

    def before_instantiate_classes(self) -> None:
        """Let the rest of the configuration follow the options of this project."""
        config = self.config.fit
        if config.get("weights_only", True) is None:
            config.weights_only = True  # a checkpoint is data: nothing in it is run
        try:
            if config.charset is not None:
                _write(config, charset_of(config.charset).characters)
            if config.folder is not None:
                _move(config.trainer, config.folder)
        except ValueError as error:
            self.parser.error(str(error))

    def instantiate_classes(self) -> None:
        """Build model, data and trainer; a mistake in the configuration is one line."""
        try:
            super().instantiate_classes()
            if type(self.trainer.strategy.checkpoint_io) is TorchCheckpointIO:
                self.trainer.strategy.checkpoint_io = WholeFiles()
            self._add_start()
        except ValueError as error:
            self.parser.error(str(error))

    def _add_start(self) -> None:
        """Make a run start from weights; look at them at once, not after fonts are drawn."""
        config = self.config.fit
        if config.init is None:
            return
        start = StartFromWeights(config.init)
        if config.ckpt_path is None or (config.ckpt_path == "last" and not any(_last(self))):
            start.load(self.model)
        callbacks(self).insert(0, start)


def _means_something(record: logging.LogRecord) -> bool:
    """Whether a message is for users: not the one about an argument that only Lightning can set."""
    return "`weights_only` was not set" not in record.getMessage()


def _write(config: Any, characters: str) -> None:
    """Make model and data write these characters."""
    config.model.charset = config.data.init_args.charset = characters
    config.model.recognizer.init_args.decoder.init_args.charset_size = len(characters)


def _move(trainer: Any, folder: Path) -> None:
    """Put everything that is kept in the folder of checkpoints into another folder."""
    parts = [*(trainer.callbacks or []), *_loggers(trainer)]
    arguments = [part.init_args for part in parts if "init_args" in part]
    homes = [given.dirpath for given in arguments if given.get("dirpath")]
    if not homes:
        raise ValueError(
            "--folder takes the place of the dirpath of a ModelCheckpoint, but the configuration "
            "has none; add one to trainer.callbacks, or leave out --folder"
        )
    for given in arguments:
        for name in _PLACES:
            if given.get(name) and Path(given[name]).is_relative_to(homes[0]):
                moved = folder / Path(given[name]).relative_to(homes[0])
                given[name] = type(given[name])(moved)


def _loggers(trainer: Any) -> list[Any]:
    logger = trainer.logger
    return logger if isinstance(logger, list) else [logger] if hasattr(logger, "init_args") else []


def _last(cli: LightningCLI) -> Iterator[Path]:
    """Checkpoints that ``ckpt_path: last`` would go on from."""
    for callback in callbacks(cli):
        if isinstance(callback, ModelCheckpoint) and callback.dirpath:
            name = callback.CHECKPOINT_NAME_LAST
            yield from Path(callback.dirpath).glob(f"{name}*{callback.FILE_EXTENSION}")


def main(arguments: Sequence[str]) -> int:
    """Train as the arguments say; returns the exit code."""
    keep_freed_memory()
    torch.set_float32_matmul_precision("medium")
    warnings.filterwarnings("ignore", "The '.*_dataloader' does not have many workers")
    warnings.filterwarnings("ignore", "GPU available but not used")
    warnings.filterwarnings("ignore", "LightningCLI's args parameter")
    warnings.filterwarnings("ignore", ".*LeafSpec.* is deprecated")  # Lightning's use of torch
    logging.getLogger("lightning.pytorch").setLevel(logging.INFO)
    connector = logging.getLogger("lightning.pytorch.trainer.connectors.checkpoint_connector")
    connector.addFilter(_means_something)
    try:
        cli = TrainingCLI(
            RecognizerTraining,
            LightningDataModule,
            subclass_mode_data=True,
            save_config_kwargs={"overwrite": True},
            args=["fit", *arguments],
            parser_kwargs={"prog": "vit-str train"},
            seed_everything_default=1,
        )
    except CannotStart as error:
        sys.stderr.write(f"vit-str train: {error}\n")
        return 2
    if any(isinstance(callback, StopCleanly) and callback.asked for callback in callbacks(cli)):
        # Who leaves first with this code makes launchers end the others, whatever they still write.
        cli.trainer.strategy.barrier("stopped")
        if cli.trainer.is_global_zero:
            step = cli.trainer.global_step
            sys.stderr.write(f"vit-str train: stopped at step {step}; the same command goes on\n")
        return 130
    return 0


def callbacks(cli: LightningCLI) -> list[Callback]:
    """Those of the trainer."""
    return cast(list[Callback], getattr(cli.trainer, "callbacks", []))
