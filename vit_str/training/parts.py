"""The parts of a configuration, built as ``vit-str train`` builds them, without training."""

import warnings
from dataclasses import dataclass

from lightning.pytorch import LightningDataModule

from vit_str.configuration import Settings
from vit_str.training.cli import TrainingCLI
from vit_str.training.module import RecognizerTraining
from vit_str.training.process import quiet_lightning


@dataclass(frozen=True, slots=True)
class TrainingParts:
    """The parts of a configuration besides the trainer.

    Attributes:
        training: the model with its losses, optimizer and moving average, on the CPU.
        data: the words, linked to the model.
    """

    training: RecognizerTraining
    data: LightningDataModule


def build_parts(settings: Settings) -> TrainingParts:
    """Model and data of what `vit_str.configuration.load` returns; the random seed is set too.

    Raises:
        SystemExit: a mistake in the configuration, with exit code 2 after a line that says so.
    """
    quiet_lightning()
    trainer = {
        "accelerator": "cpu",
        "devices": 1,
        "logger": False,
        "enable_progress_bar": False,
    }
    with warnings.catch_warnings():
        # That this process has arguments of its own, and that a GPU is left to others.
        warnings.filterwarnings("ignore", "LightningCLI's args parameter")
        warnings.filterwarnings("ignore", "GPU available but not used")
        command = TrainingCLI(
            RecognizerTraining,
            LightningDataModule,
            subclass_mode_data=True,
            save_config_callback=None,
            args=settings | {"trainer": trainer},
            parser_kwargs={"prog": "vit-str train"},
            seed_everything_default=1,
            run=False,
        )
    return TrainingParts(command.model, command.datamodule)
