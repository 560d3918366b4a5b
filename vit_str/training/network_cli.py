"""``vit-str train`` for networks that read no words: they find, or arrange."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from lightning.fabric.utilities.exceptions import MisconfigurationException

from vit_str.training.checkpoints import CheckpointFiles
from vit_str.training.command_line import CommandLine
from vit_str.training.console import report
from vit_str.training.networks import NetworkData, NetworkTraining

_STOPPED = 130  # saved, and to be resumed


class NetworkCLI(CommandLine):
    """Trains a network on its data."""

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
        self.report_beginning(self.model.network)
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


def network_cli(kind: str, arguments: Sequence[str]) -> NetworkCLI:
    """Model, data and trainer as the arguments describe them.

    Args:
        kind: one of `NETWORKS`.
        arguments: of the command.
    """
    model, data = NETWORKS[kind]()
    return NetworkCLI(
        model,
        data,
        save_config_kwargs={"overwrite": True},
        args=list(arguments),
        parser_kwargs={"prog": "vit-str train"},
        seed_everything_default=1,
        run=False,
    )


def _arranger() -> "Parts":
    from vit_str.training.pages import ArrangerTraining, DrawnPages

    return ArrangerTraining, DrawnPages


def _finder() -> "Parts":
    from vit_str.training.find import DrawnPictures, FinderTraining

    return FinderTraining, DrawnPictures


Parts = tuple[type[NetworkTraining[Any, Any]], type[NetworkData]]

NETWORKS: Mapping[str, Callable[[], Parts]] = {
    "arranger": _arranger,
    "finder": _finder,
}
"""By the name in ``model`` of a configuration: what trains it, and its data."""
