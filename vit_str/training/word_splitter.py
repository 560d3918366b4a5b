"""Training of the word splitter: ``python -m vit_str.training.word_splitter --config FILE``."""

import sys
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Float, UInt8
from lightning.pytorch import Callback, LightningDataModule, LightningModule, Trainer
from lightning.pytorch.cli import LightningCLI
from torch import Tensor
from torch.optim import Optimizer
from torch.utils.data import DataLoader, IterableDataset

from vit_str import console
from vit_str.files import write_atomically
from vit_str.models.word_splitter import HEIGHT, STRIDE, WordSplitter
from vit_str.runtime.charset import charset_of
from vit_str.synthesis.glyphs import GlyphAtlas
from vit_str.synthesis.pictures import load_pictures
from vit_str.synthesis.text_lines import LineBatch, LineRenderer
from vit_str.training.data import VALIDATION_SEED_OFFSET
from vit_str.training.muon import make_optimizer
from vit_str.training.schedule import WarmupStableDecay

_GAP_WEIGHT = 3.0
"""Of columns between words, which are fewer, and each of which decides about two words."""
_EXTENT_WEIGHT = 2.0


class SplitterTraining(LightningModule):
    """Trains a word splitter.

    Args:
        splitter: the model.
        learning_rate: highest rate of AdamW.
        muon_learning_rate: highest rate of Muon for the matrices of its blocks; None for AdamW
            everywhere.
        weight_decay: of both.
        schedule: of the learning rates.
    """

    def __init__(
        self,
        splitter: WordSplitter | None = None,
        learning_rate: float = 1e-3,
        muon_learning_rate: float | None = 2e-3,
        weight_decay: float = 0.05,
        schedule: WarmupStableDecay | None = None,
    ) -> None:
        super().__init__()
        self.splitter = splitter or WordSplitter()
        self.learning_rate, self.muon_learning_rate = learning_rate, muon_learning_rate
        self.weight_decay = weight_decay
        self.schedule = schedule or WarmupStableDecay(decay_share=0.3)

    def configure_optimizers(self) -> Optimizer:
        """Muon and AdamW, whose rates follow the schedule."""
        optimizer = make_optimizer(
            self.splitter,
            self.named_parameters(),
            self.learning_rate,
            self.muon_learning_rate,
            self.weight_decay,
        )
        self._highest_rates = [group["lr"] for group in optimizer.param_groups]
        return optimizer

    def training_step(self, batch: LineBatch, index: int) -> Tensor:
        """Binary cross-entropy of "in a word", and distance of tops and bottoms within words."""
        share = self.global_step / self.trainer.max_steps
        factor = self.schedule.factor(self.global_step, share)
        groups = self.trainer.optimizers[0].param_groups
        for group, highest in zip(groups, self._highest_rates, strict=True):
            group["lr"] = highest * factor
        wanted = batch.in_word.float()
        found = self(batch.images)
        weight = 1 + (_GAP_WEIGHT - 1) * (1 - wanted)
        loss = F.binary_cross_entropy_with_logits(found[:, 0], wanted, weight)
        loss = loss + _EXTENT_WEIGHT * _extent_error(found, batch)
        self.log("loss", loss, prog_bar=True)
        return loss

    def validation_step(self, batch: LineBatch, index: int) -> None:
        """Share of columns that are right, and of lines with the right number of words."""
        found = self(batch.images)
        in_word = found[:, 0] > 0
        right = {
            "columns": (in_word == batch.in_word).float().mean(),
            "lines": (_starts(in_word) == _starts(batch.in_word)).float().mean(),
            "extent_error": _extent_error(found, batch),
        }
        self.log_dict(right, prog_bar=True, batch_size=len(found))

    def forward(
        self, images: UInt8[Tensor, "batch 3 height width"]
    ) -> Float[Tensor, "batch 3 column"]:
        """See `WordSplitter.forward`."""
        found: Tensor = self.splitter(images.float() / 127.5 - 1)
        return found


def _extent_error(found: Tensor, batch: LineBatch) -> Tensor:
    """Mean distance of tops and bottoms within words, over the height of the line."""
    distances: Tensor = (found[:, 1:] - batch.extents).abs().mean(1)
    return distances[batch.in_word].mean()


def _starts(in_word: Tensor) -> Tensor:
    """Number of words in each line."""
    return (in_word[:, 1:] & ~in_word[:, :-1]).sum(1) + in_word[:, 0]


class LineStream(IterableDataset[LineBatch]):
    """Batches of rendered lines, by their indices."""

    def __init__(self, renderer: LineRenderer, batch_size: int, seed: int, indices: range) -> None:
        self.renderer, self.batch_size, self.seed = renderer, batch_size, seed
        self.indices = indices

    def __iter__(self) -> Iterator[LineBatch]:
        for index in self.indices:
            yield self.renderer.batch(self.batch_size, self.seed, index)


class RenderedLines(LightningDataModule):
    """Lines of words: training in most fonts, validation in those that are held out.

    Args:
        batch_size: lines in a step.
        seed: of the stream.
        charset: the characters to write; must hold the space.
        language: of the words, as for ``RenderedWords``.
        fonts: folders of fonts instead of the system's.
        pictures: folders of photographs to use as backgrounds.
        validation_batches: batches to validate on.
    """

    def __init__(
        self,
        batch_size: int = 48,
        seed: int = 1,
        charset: str = "european",
        language: str = "en*40+de+fr+es+it+pt+nl+sv+da+nb+fi",
        fonts: list[Path] | None = None,
        pictures: list[Path] | None = None,
        validation_batches: int = 16,
    ) -> None:
        super().__init__()
        self.batch_size, self.seed, self.charset = batch_size, seed, charset_of(charset)
        self.language, self.fonts, self.validation_batches = language, fonts, validation_batches
        self.pictures = load_pictures(pictures) if pictures else None

    def setup(self, stage: str) -> None:
        """Load the fonts, drawing them if this is the first time."""
        self._atlas = GlyphAtlas.load_or_build(self.charset, self.fonts)

    def _renderer(self, atlas: GlyphAtlas) -> LineRenderer:
        return LineRenderer(atlas, self.language, self.pictures, height=HEIGHT, stride=STRIDE)

    def train_dataloader(self) -> DataLoader[LineBatch]:
        """The endless stream from where the run stands."""
        assert self.trainer is not None
        renderer = self._renderer(self._atlas.training())
        indices = range(self.trainer.global_step, sys.maxsize)
        return DataLoader(LineStream(renderer, self.batch_size, self.seed, indices), None)

    def val_dataloader(self) -> DataLoader[LineBatch]:
        """Lines in fonts that training never sees."""
        renderer = self._renderer(self._atlas.held_out())
        seed = self.seed + VALIDATION_SEED_OFFSET
        stream = LineStream(renderer, self.batch_size, seed, range(self.validation_batches))
        return DataLoader(stream, None)


class ExportSplitter(Callback):
    """Writes the model as an ONNX file, with lines of any width, when training ends.

    Args:
        path: of the file.
    """

    def __init__(self, path: Path = Path("word_splitter.onnx")) -> None:
        self.path = path

    def on_fit_end(self, trainer: Trainer, module: LightningModule) -> None:
        """Write the file atomically."""
        if trainer.is_global_zero:
            assert isinstance(module, SplitterTraining)
            provenance = {"steps": trainer.global_step, "date": date.today().isoformat()}
            export(module.splitter, self.path, provenance)


def export(splitter: WordSplitter, path: Path, provenance: dict[str, Any]) -> None:
    """Write a splitter as an ONNX file that takes ``lines`` and gives ``columns``."""
    import onnx

    from vit_str.export.graphs import remove_traces

    splitter = splitter.cpu().eval()
    batch, width = torch.export.Dim("batch"), torch.export.Dim("quarter_width", min=4)
    with write_atomically(path) as temporary:
        program = torch.onnx.export(
            splitter,
            (torch.zeros(2, 3, HEIGHT, 64),),
            input_names=["lines"],
            output_names=["columns"],
            dynamic_shapes=({0: batch, 3: 4 * width},),
            dynamo=True,
            verbose=False,
        )
        assert program is not None
        model = program.model_proto
        remove_traces(model)
        onnx.helper.set_model_props(model, {key: str(value) for key, value in provenance.items()})
        onnx.save(model, temporary)


def main() -> int:
    """Train as the command line says; returns the exit code."""
    try:
        LightningCLI(
            SplitterTraining,
            RenderedLines,
            args=None,
            seed_everything_default=1,
            save_config_callback=None,
        )
    except (OSError, ValueError) as error:
        return console.fail(" ".join(str(error).split()), 2)
    return 0


if __name__ == "__main__":
    from vit_str.training import word_splitter  # whose classes are those of the configuration

    sys.exit(word_splitter.main())
