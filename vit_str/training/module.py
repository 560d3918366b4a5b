"""One training step, and what is measured between steps."""

from typing import Any, cast

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int64, UInt8
from lightning.pytorch import LightningModule
from torch import Tensor, nn
from torch.nn.utils import clip_grad_norm_
from torch.optim import AdamW, Optimizer
from torch.optim.swa_utils import AveragedModel

from vit_str.characters.charset import PADDING, PRINTABLE_ASCII, Charset
from vit_str.decoding.effort import DOUBTFUL
from vit_str.evaluation.metrics import (
    FULL,
    character_accuracy,
    one_minus_ned,
    word_accuracy,
)
from vit_str.images.preprocessing import TALL, Preprocessing
from vit_str.models import Encoder, Recognizer
from vit_str.models.auxiliary import TokenClassifier
from vit_str.models.decoders.ctc import ctc_loss
from vit_str.synthesis.renderer import RenderedBatch
from vit_str.torch_runtime.engine import generate
from vit_str.training.console import report
from vit_str.training.data import LabeledPixels
from vit_str.training.muon import MuonAdamW, has_matrices, make_optimizer
from vit_str.training.resuming import (
    StepCount,
    align_batches,
    check_charset,
    check_optimizer,
    check_together,
)
from vit_str.training.schedule import WarmupStableDecay, progress

_PROTOCOLS = (36, 62, 94, FULL)  # of word accuracy
_FADING = 0.9  # share of the weights of auxiliary losses that is gone at the end


class RecognizerTraining(LightningModule):
    """Trains a recognizer on rendered words and keeps a moving average of it, which is validated.

    Args:
        recognizer: the model.
        charset: the characters that it writes.
        learning_rate: highest rate of AdamW.
        muon_learning_rate: highest rate of Muon, which then takes the matrices of attention and
            feed-forward over from AdamW; without it, AdamW trains everything.
        weight_decay: of both, on all matrices but those of embeddings.
        schedule: of the learning rate.
        dense_weight: of the loss of naming the character under each token, at the start; it
            fades linearly to a tenth.
        draft_weight: of the loss of the draft, where the decoder has one, see
            ``TransformerDecoder.draft_grid``; it fades in the same way.
        averaging: share of the average that stays at each step.
        compile_model: compile the losses with ``torch.compile`` (on a GPU, and for images of one
            size).

    Raises:
        ValueError: the charset and the decoder differ in their number of characters.
    """

    def __init__(
        self,
        recognizer: Recognizer,
        charset: str = PRINTABLE_ASCII,
        learning_rate: float = 1e-3,
        muon_learning_rate: float | None = None,
        weight_decay: float = 0.05,
        schedule: WarmupStableDecay | None = None,
        dense_weight: float = 1.0,
        draft_weight: float = 0.3,
        averaging: float = 0.999,
        compile_model: bool = True,
    ) -> None:
        super().__init__()
        self.charset = Charset(charset)
        if recognizer.decoder.charset_size != len(self.charset):
            raise ValueError(
                f"the charset has {len(self.charset)} characters, the decoder "
                f"{recognizer.decoder.charset_size}: set "
                f"decoder.init_args.charset_size to {len(self.charset)}"
            )
        self.recognizer = recognizer
        encoder = recognizer.encoder
        self.image_size = encoder.image_size
        self.grid = encoder.grid
        self.width_step = encoder.width_step
        self.maximum_length = recognizer.decoder.maximum_length
        self.preprocessing = _preprocessing(encoder)
        self.token_classifier = TokenClassifier(encoder.dim, len(self.charset))
        self.average = MovingAverage(recognizer, averaging)
        for parameter in recognizer.parameters():
            if not parameter.numel():
                # No gradient will come, for which several devices would wait.
                parameter.requires_grad_(False)
        self.learning_rate = learning_rate
        self.muon_learning_rate = muon_learning_rate
        self.weight_decay = weight_decay
        self.schedule = schedule or WarmupStableDecay()
        self.dense_weight = dense_weight
        self.draft_weight = draft_weight
        self.compile_model = compile_model
        self._losses = self.losses
        self.count = StepCount()
        # Step of the checkpoint that this session of the run has resumed from.
        self.resumed_at = 0
        # A checkpoint, if there is one, is restored by then.
        self.training_began = False
        # The weights file, for the provenance.
        self.started_from: dict[str, Any] | None = None
        self._readings: dict[str, list[tuple[str, str]]] = {}

    def configure_model(self) -> None:
        """Compile where it pays: on a GPU, elementwise work costs as much as the products.

        Not for an encoder of several widths: each would be a graph of its own to compile, and from
        the ninth on torch computes without one. Where the graph of a model has no end within, one
        that ends is an error, not a step that takes longer.
        """
        on_gpu = self.trainer.strategy.root_device.type == "cuda"
        if self.compile_model and on_gpu and not self.width_step:
            self._losses = torch.compile(
                self._losses_of_one_length,
                dynamic=False,
                fullgraph=not has_recurrent_layers(self.recognizer),
            )

    def configure_optimizers(self) -> AdamW:
        """AdamW, without decay on norms, biases and embeddings; Muon if it has a learning rate."""
        trained = [
            (name, parameter)
            for name, parameter in self.named_parameters()
            if not name.startswith("average.")
        ]
        return make_optimizer(
            self.recognizer,
            trained,
            learning_rate=self.learning_rate,
            muon_learning_rate=self.muon_learning_rate,
            weight_decay=self.weight_decay,
        )

    def losses(
        self,
        images: UInt8[Tensor, "batch 3 height width"],
        labels: Int64[Tensor, "batch position"],
        token_characters: Int64[Tensor, "batch token"],
    ) -> tuple[Float[Tensor, ""], Float[Tensor, ""]]:
        """The decoder's loss per character, and the weighted auxiliary losses, in nats."""
        features = self.recognizer.encode(self.preprocessing.normalize(images))
        tokens = features[:, self.recognizer.encoder.special_tokens :]
        of_tokens = self.token_classifier.loss(tokens, token_characters)
        auxiliary = self.dense_weight * of_tokens
        decoder = self.recognizer.decoder
        if decoder.draft is not None:
            of_draft = ctc_loss(decoder.draft(features), labels)
            auxiliary = auxiliary + self.draft_weight * of_draft
        return decoder.loss(features, labels), auxiliary

    def _losses_of_one_length(
        self,
        images: UInt8[Tensor, "batch 3 height width"],
        labels: Int64[Tensor, "batch position"],
        token_characters: Int64[Tensor, "batch token"],
    ) -> tuple[Float[Tensor, ""], Float[Tensor, ""]]:
        """The same with labels as long as can be: compiled once, not for every length."""
        missing = self.maximum_length - labels.shape[1]
        longest = F.pad(labels, (0, missing), value=PADDING)
        return self.losses(images, longest, token_characters)

    def on_train_start(self) -> None:
        """Forget what an earlier session left unfinished."""
        self.count.drop_step()
        check_together(self.trainer, self.count.images_seen)
        self.training_began = True
        if self.resumed_at:
            seen = self.count.images_seen
            report(f"resuming at step {self.resumed_at:,}, after {seen:,} images")

    def on_train_batch_start(self, batch: RenderedBatch, batch_idx: int) -> None:
        """Set the learning rate."""
        factor = self.schedule.factor(self.global_step, progress(self.trainer))
        optimizer = self.trainer.optimizers[0]
        for group in optimizer.param_groups:
            group["lr"] = self.learning_rate * factor
        if isinstance(optimizer, MuonAdamW):
            optimizer.param_groups[0]["lr"] = (
                cast(float, self.muon_learning_rate) * factor
            )

    def training_step(self, batch: RenderedBatch, batch_idx: int) -> Float[Tensor, ""]:
        """The decoder's loss and the fading auxiliary losses.

        Logged are means over the step so far, over all its batches and devices. None of them is
        for Lightning's progress bar: for that it reads every number in every step, and waits.
        """
        loss, auxiliary = self._losses(
            batch.images, batch.labels, batch.token_characters
        )
        losses = {"loss": loss.detach(), "auxiliary_loss": auxiliary.detach()}
        means = self.count.add(len(batch), losses)
        several = self.trainer.world_size > 1
        self.log_dict(means, batch_size=len(batch), sync_dist=several)
        # As tensors of the CPU: of mere numbers Lightning makes some on the device, and waits.
        values = {
            "learning_rate": self.trainer.optimizers[0].param_groups[-1]["lr"],
            "images": float(self.count.images_seen),
        }
        here = {name: torch.tensor(value) for name, value in values.items()}
        self.log_dict(here, batch_size=len(batch))
        return loss + (1 - _FADING * progress(self.trainer)) * auxiliary

    def on_save_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        """Keep what a run needs to resume with other devices, with other batches or not at all."""
        checkpoint["images_seen"] = self.count.images_seen
        checkpoint["unfinished_batches"] = self.count.unfinished_batches
        checkpoint["charset"] = self.charset.characters
        checkpoint["started_from"] = self.started_from

    def check_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        """Refuse a checkpoint that this run cannot resume from."""
        check_charset(self.charset, checkpoint)
        muon = self.muon_learning_rate is not None and has_matrices(self.recognizer)
        check_optimizer(muon, checkpoint)

    def on_load_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        """Resume after the last finished step. What counts is the configuration of this run."""
        self.check_checkpoint(checkpoint)
        self.count.images_seen = checkpoint["images_seen"]
        self.started_from = checkpoint["started_from"]
        self.resumed_at = checkpoint["global_step"]
        align_batches(checkpoint, self.trainer.accumulate_grad_batches)

    @property
    def averaged(self) -> Recognizer:
        """The moving average: the model that is validated and published."""
        return cast(Recognizer, self.average.module)

    def configure_gradient_clipping(
        self,
        optimizer: Optimizer,
        gradient_clip_val: int | float | None = None,
        gradient_clip_algorithm: str | None = None,
    ) -> None:
        """Clip by norm. Lightning's own refuses fused optimizers, for a scaler bfloat16 lacks."""
        if gradient_clip_val:
            clip_grad_norm_(self.parameters(), gradient_clip_val)

    def optimizer_step(self, *args: Any, **kwargs: Any) -> None:
        """Step, then move the average and count: before any checkpoint of this step is written."""
        super().optimizer_step(*args, **kwargs)
        self.average.update(self.recognizer)
        self.count.finish_step(self.trainer.world_size)

    def validation_step(  # type: ignore[override]
        self, batch: LabeledPixels, batch_idx: int, dataloader_idx: int = 0
    ) -> list[str]:
        """Read a batch with the average; returns what it reads."""
        images = self.preprocessing.normalize(batch.images)
        hypotheses = generate(self.averaged.decoder, self.averaged.encode(images))
        texts = [self.charset.decode(row) for row in hypotheses.labels.tolist()]
        readings = self._readings.setdefault(batch.source, [])
        readings.extend(zip(texts, batch.labels, strict=True))
        return texts

    def on_validation_epoch_end(self) -> None:
        """Log accuracies of every set."""
        for source, pairs in self._readings.items():
            texts, labels = zip(*pairs, strict=True)
            values = {
                f"word_accuracy_{protocol}": word_accuracy(texts, labels, protocol)
                for protocol in _PROTOCOLS
            }
            values["character_accuracy"] = character_accuracy(texts, labels)
            values["one_minus_ned"] = one_minus_ned(texts, labels)
            # Every process has read all words; the mean over them changes nothing.
            named = {f"{source}/{name}": value for name, value in values.items()}
            self.log_dict(named, sync_dist=self.trainer.world_size > 1)
        self._readings.clear()


def has_recurrent_layers(model: nn.Module) -> bool:
    """Whether a compiled graph ends within the model: torch does not compile their kernels."""
    recurrent = nn.RNNBase, nn.RNNCellBase
    return any(isinstance(module, recurrent) for module in model.modules())


def _preprocessing(encoder: Encoder) -> Preprocessing:
    """Preprocessing of lines for an encoder of several widths, else of words."""
    if encoder.width_step:
        return Preprocessing(*encoder.image_size, width_step=encoder.width_step)
    return Preprocessing(*encoder.image_size, turn_above=TALL, reread_below=DOUBTFUL)


class MovingAverage(AveragedModel):
    """Exponential moving average of the parameters of a model, and of its running statistics.

    Unlike `AveragedModel.update_parameters`, `update` looks only once at the counter, which is a
    tensor on the device: a GPU would be waited for in every step. Before the first update the
    average is a copy of the model.
    """

    def __init__(self, model: nn.Module, decay: float) -> None:
        super().__init__(model)
        self.decay = decay  # share of the average that stays at each update
        self.requires_grad_(False)
        self._started: bool | None = None

    @torch.no_grad()
    def update(self, model: nn.Module) -> None:
        """Move the average towards the model; the first update copies it."""
        if self._started is None:
            self._started = bool(self.n_averaged > 0)
        averages = _averaged(self.module)
        parameters = _averaged(model)
        if self._started:
            torch._foreach_lerp_(averages, parameters, 1 - self.decay)
        else:
            torch._foreach_copy_(averages, parameters)
        self.n_averaged += 1
        self._started = True

    @torch.no_grad()
    def start(self, model: nn.Module) -> None:
        """Take a model as the average so far."""
        torch._foreach_copy_(_averaged(self.module), _averaged(model))
        self.n_averaged.fill_(1)


def _averaged(model: nn.Module) -> list[Tensor]:
    """Parameters, and statistics of normalization over batches."""
    means = ("running_mean", "running_var")
    statistics = [
        buffer
        for name, buffer in model.named_buffers()
        if name.rpartition(".")[2] in means
    ]
    return [*model.parameters(), *statistics]
