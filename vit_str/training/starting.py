"""The beginning of a run that starts from a weights file: ``vit-str train --init``."""

from lightning.pytorch import Callback, LightningModule, Trainer
from torch import nn

from vit_str.training.checkpoints import CannotStart
from vit_str.training.console import report
from vit_str.training.initialization import check_architecture, start_from
from vit_str.training.module import RecognizerTraining
from vit_str.weights import WeightsFile, load_weights, resolve


class StartFromWeights(Callback):
    """Start a run from a weights file; a run that resumes from a checkpoint leaves it alone.

    The moving average starts there too. The auxiliary heads, which are not in weights files, start
    at zero: while they know nothing, they do not pull at an encoder that does.

    Args:
        source: a ``.safetensors`` file or the name of weights of the package.
    """

    def __init__(self, source: str) -> None:
        self.source = source

    def load(self, module: RecognizerTraining) -> WeightsFile:
        """The weights, checked against the model.

        Raises:
            ValueError: the file cannot be used, or the architectures differ.
        """
        weights = load_weights(resolve(self.source))
        check_architecture(module.recognizer, weights.recognizer, self.source)
        return weights

    def on_fit_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Checkpoints are loaded by now, so it is known whether there is one."""
        assert isinstance(pl_module, RecognizerTraining)
        if trainer.ckpt_path:
            report(f"--init {self.source} is not used, as the run resumes; give another --folder")
            return
        try:
            weights = self.load(pl_module)
        except ValueError as error:
            raise CannotStart(str(error)) from error
        lines = start_from(pl_module.recognizer, pl_module.charset, weights, self.source)
        pl_module.average.start(pl_module.recognizer)
        for head in (pl_module.token_classifier, pl_module.column_speller):
            if head is not None:
                nn.init.zeros_(head.classify.weight)
                nn.init.zeros_(head.classify.bias)
        pl_module.started_from = {
            "weights": self.source,
            "images": weights.provenance.get("images"),
            "language": weights.provenance.get("language"),
        }
        for line in lines + _advice(trainer, pl_module, weights):
            report(line)


def _advice(trainer: Trainer, module: RecognizerTraining, weights: WeightsFile) -> list[str]:
    """What is likely to disappoint."""
    lines = []
    if weights.preprocessing != module.preprocessing:
        lines.append(
            f"preprocessing: {module.preprocessing.to_dict()} here, "
            f"{weights.preprocessing.to_dict()} in the file"
        )
    remembered = round(1 / max(1e-9, 1 - module.average.decay))
    if 0 < trainer.max_steps < 3 * remembered:
        averaging = max(0.0, round(1 - 10 / trainer.max_steps, 3))
        lines.append(
            f"model.averaging {module.average.decay} remembers about {remembered:,} steps, and "
            f"this run has {trainer.max_steps:,}: the weights that it writes will lag behind; "
            f"--model.averaging {averaging} would not"
        )
    return lines
