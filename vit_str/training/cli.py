"""``vit-str train``: Lightning's command line over the parts of this project."""

import logging
import sys
import warnings
from collections.abc import Sequence
from typing import Any, NoReturn, cast

import torch
from jsonargparse import ActionConfigFile  # type: ignore[attr-defined]
from lightning.pytorch import Callback, LightningDataModule
from lightning.pytorch.cli import LightningArgumentParser, LightningCLI

from vit_str.training.allocator import keep_freed_memory
from vit_str.training.callbacks import StopCleanly
from vit_str.training.module import RecognizerTraining


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
        """Link the data to the model."""
        parser.link_arguments("model.charset", "data.init_args.charset")
        for name in ("image_size", "grid", "maximum_length"):
            parser.link_arguments(f"model.{name}", f"data.init_args.{name}", apply_on="instantiate")

    def instantiate_classes(self) -> None:
        """Build model, data and trainer; a mistake in the configuration is one line."""
        try:
            super().instantiate_classes()
        except ValueError as error:
            self.parser.error(str(error))


def main(arguments: Sequence[str]) -> int:
    """Train as the arguments say; returns the exit code."""
    keep_freed_memory()
    torch.set_float32_matmul_precision("medium")
    warnings.filterwarnings("ignore", "The '.*_dataloader' does not have many workers")
    warnings.filterwarnings("ignore", "GPU available but not used")
    warnings.filterwarnings("ignore", "LightningCLI's args parameter")
    logging.getLogger("lightning.pytorch").setLevel(logging.INFO)
    cli = TrainingCLI(
        RecognizerTraining,
        LightningDataModule,
        subclass_mode_data=True,
        save_config_kwargs={"overwrite": True},
        args=["fit", *arguments],
        parser_kwargs={"prog": "vit-str train"},
        seed_everything_default=1,
    )
    if any(isinstance(callback, StopCleanly) and callback.asked for callback in callbacks(cli)):
        step = cli.trainer.global_step
        sys.stderr.write(f"vit-str train: stopped at step {step}; the same command goes on\n")
        return 130
    return 0


def callbacks(cli: LightningCLI) -> list[Callback]:
    """Those of the trainer."""
    return cast(list[Callback], getattr(cli.trainer, "callbacks", []))
