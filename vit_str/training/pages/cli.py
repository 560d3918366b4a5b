"""``vit-str train`` for the network that arranges pages."""

from collections.abc import Sequence

from lightning.fabric.utilities.exceptions import MisconfigurationException

from vit_str.training.checkpoints import CheckpointFiles
from vit_str.training.command_line import CommandLine
from vit_str.training.console import report
from vit_str.training.pages.data import DrawnPages
from vit_str.training.pages.module import ArrangerTraining

_STOPPED = 130  # saved, and to be resumed


class ArrangerCLI(CommandLine):
    """Trains an `ArrangerTraining` on `DrawnPages`."""

    def instantiate_classes(self) -> None:
        """Build model, data and trainer; a mistake in the configuration is one line."""
        try:
            super().instantiate_classes()
        except (ValueError, MisconfigurationException) as error:
            self.parser.error(str(error))
        self.trainer.strategy.checkpoint_io = CheckpointFiles()

    def train(self) -> int:
        """Train; returns the exit code."""
        trainer = self.trainer
        self.report_beginning(self.model.arranger)
        checkpoint = self.checkpoint
        try:
            trainer.fit(self.model, datamodule=self.datamodule, ckpt_path=checkpoint)
        except SystemExit:
            if not trainer.interrupted:
                raise
            report(f"stopped at step {trainer.global_step:,}; the same command resumes")
            return _STOPPED
        report(f"finished at step {trainer.global_step:,}")
        return 0


def train_arranger(arguments: Sequence[str]) -> int:
    """Train as the arguments say; returns the exit code."""
    return ArrangerCLI(
        ArrangerTraining,
        DrawnPages,
        save_config_kwargs={"overwrite": True},
        args=list(arguments),
        parser_kwargs={"prog": "vit-str train"},
        seed_everything_default=1,
        run=False,
    ).train()
