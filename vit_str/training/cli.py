"""``vit-str train``: Lightning's command line over the parts of this project."""

import logging
import warnings
from collections.abc import Sequence

import torch
from lightning.pytorch import LightningDataModule
from lightning.pytorch.cli import LightningArgumentParser, LightningCLI

from vit_str.training.allocator import keep_freed_memory
from vit_str.training.module import RecognizerTraining


class TrainingCLI(LightningCLI):
    """Ties what model and data must agree on, so that a configuration says it once."""

    def add_arguments_to_parser(self, parser: LightningArgumentParser) -> None:
        """Link the data to the model."""
        parser.link_arguments("model.charset", "data.init_args.charset")
        for name in ("image_size", "grid", "maximum_length"):
            parser.link_arguments(f"model.{name}", f"data.init_args.{name}", apply_on="instantiate")


def main(arguments: Sequence[str]) -> int:
    """Train as the arguments say; returns the exit code."""
    keep_freed_memory()
    torch.set_float32_matmul_precision("medium")
    warnings.filterwarnings("ignore", "The '.*_dataloader' does not have many workers")
    warnings.filterwarnings("ignore", "GPU available but not used")
    warnings.filterwarnings("ignore", "LightningCLI's args parameter")
    logging.getLogger("lightning.pytorch").setLevel(logging.INFO)
    TrainingCLI(
        RecognizerTraining,
        LightningDataModule,
        subclass_mode_data=True,
        save_config_kwargs={"overwrite": True},
        args=["fit", *arguments],
        parser_kwargs={"prog": "vit-str train"},
        seed_everything_default=1,
    )
    return 0
