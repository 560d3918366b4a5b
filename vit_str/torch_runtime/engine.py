"""Models in torch: on any device, in its fastest number format."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from vit_str.decoding.effort import DecodingOptions
from vit_str.decoding.text_decoding import decode_texts
from vit_str.engines.interface import Interface, Model, Steps
from vit_str.engines.labels import padded
from vit_str.machine import thread_count
from vit_str.models import Decoder, PermutedDecoder, Recognizer
from vit_str.models.blocks import DecoderBlock
from vit_str.models.cross_attention import cross_attention
from vit_str.models.decoders.autoregressive import AutoregressiveDecoder, DecodingState
from vit_str.torch_runtime.devices import choose_device, fastest_dtype

if TYPE_CHECKING:
    from jaxtyping import Float, Int64
    from torch import Tensor

    from vit_str.torch_runtime.weights_file import WeightsFile

    Features = Float[Tensor, "batch token dim"]


class DecoderScores:
    """Scores of a decoder for encoded images, see `Scorer`."""

    def __init__(self, decoder: Decoder, device: torch.device) -> None:
        self.torch_device = device
        self._decoder: Any = decoder  # of any type

    def begin(self, encoded: Features) -> TorchSteps:
        """See `Scorer`."""
        return TorchSteps(self._decoder, encoded)

    @torch.inference_mode()
    def scores(self, encoded: Features) -> Float[np.ndarray, "batch position symbol"]:
        """See `Scorer`."""
        drafts = self._decoder.loop == "step"
        return _array(
            self._decoder.draft(encoded) if drafts else self._decoder.logits(encoded)
        )

    @torch.inference_mode()
    def verify(
        self, encoded: Features, labels: Int64[np.ndarray, "batch position"]
    ) -> Float[np.ndarray, "batch position_and_end symbol"]:
        """See `Scorer`."""
        known = torch.from_numpy(labels).to(self.torch_device)
        return _array(self._decoder.logits(encoded, known))

    def select(self, encoded: Features, rows: Sequence[int]) -> Features:
        """See `Scorer`."""
        return encoded[list(rows)]

    @torch.inference_mode()
    def refine(
        self, encoded: Features, labels: Int64[np.ndarray, "batch position"]
    ) -> Float[np.ndarray, "batch position_and_end symbol"]:
        """See `Scorer`."""
        known = torch.from_numpy(labels).to(self.torch_device)
        return _array(self._decoder.refine(encoded, known))


class TorchEngine(DecoderScores):
    """Runs a copy of a model; several threads may use it.

    Args:
        weights: of the model.
        device: see ``vit_str.load``.
        dtype: number format to compute in; None for the fastest of the device.
        threads: that compute on a CPU, which torch has for the whole process; None for as many as
            the process may use.
    """

    backend = "torch"

    def __init__(
        self,
        weights: WeightsFile,
        device: str | torch.device = "auto",
        dtype: torch.dtype | None = None,
        threads: int | None = None,
    ) -> None:
        device = choose_device(device)
        self.dtype = dtype or fastest_dtype(device)
        self.device = str(device)
        self.number_format = str(self.dtype).split(".")[-1]
        self.model = Model(
            charset=weights.charset,
            preprocessing=weights.preprocessing,
            temperature=weights.temperature,
            provenance=weights.provenance,
            interface=interface_of(weights.recognizer),
        )
        self.threads = threads or thread_count()
        if self.device == "cpu":
            if threads is None:  # torch knows of no limits of a container
                threads = min(torch.get_num_threads(), self.threads)
            torch.set_num_threads(threads)
        # Converted once: autocast would convert the weights again at every step of the decoder.
        recognizer = copy.deepcopy(weights.recognizer)
        self.recognizer = recognizer.to(device, self.dtype).eval()
        super().__init__(self.recognizer.decoder, device)

    @torch.inference_mode()
    def encode(
        self, images: Float[np.ndarray, "batch channel height width"]
    ) -> Features:
        """See `Engine`."""
        return self.recognizer.encode(
            torch.from_numpy(images).to(self.torch_device, self.dtype)
        )

    @torch.inference_mode()
    def attention(
        self, encoded: Features, labels: Int64[np.ndarray, "batch position"]
    ) -> Float[np.ndarray, "batch position token"]:
        """See `Engine`."""
        known = torch.from_numpy(labels).to(self.torch_device)
        return _array(
            cross_attention(self.recognizer.decoder, encoded, known)[:, -1].mean(1)
        )


class TorchSteps(Steps):
    """Texts that a decoder writes; see `Steps`."""

    @torch.inference_mode()
    def __init__(self, decoder: AutoregressiveDecoder, features: Tensor) -> None:
        self._decoder = decoder
        self._device = features.device
        self._state: DecodingState = decoder.begin(features)

    @torch.inference_mode()
    def step(
        self, symbols: Int64[np.ndarray, " row"], position: int
    ) -> Float[np.ndarray, "row symbol"]:
        written = torch.from_numpy(symbols).to(self._device)
        return _array(self._decoder.step(written, position, self._state))

    @torch.inference_mode()
    def keep(self, rows: Int64[np.ndarray, " row"]) -> None:
        self._state.keep(torch.from_numpy(rows).to(self._device))


@dataclass(frozen=True, slots=True)
class Hypotheses:
    """The most probable text of each image."""

    # Ids of the characters, `PADDING` after the end
    labels: Int64[Tensor, "batch position"]
    # Probability of each character, given the image and those before it; 1 after the end
    confidences: Float[Tensor, "batch position"]
    # Probability of the whole text: every character, then the end
    word_confidences: Float[Tensor, " batch"]


def generate(
    decoder: Decoder,
    features: Float[Tensor, "batch token dim"],
    temperature: float = 1.0,
    decoding: str | None = None,
    refinements: int | None = None,
) -> Hypotheses:
    """Write the text of encoded images greedily, with the search that reads.

    Args:
        decoder: of the features.
        features: from the encoder.
        temperature: divides scores before they become probabilities.
        decoding: ``autoregressive`` or ``parallel``, if the decoder can refine; None for its own.
        refinements: how often it reads the text again; None for its own.
    """
    own_decoding, own_refinements = _decoding_of(decoder)
    found = decode_texts(
        DecoderScores(decoder, features.device),
        features,
        len(features),
        DecodingOptions(
            loop=decoder.loop,
            end=decoder.charset_size,
            longest=decoder.maximum_length,
            temperature=temperature,
            decoding=decoding or own_decoding,
            refinements=own_refinements if refinements is None else refinements,
        ),
    )
    best = [hypotheses[0] for hypotheses in found]
    labels = padded([hypothesis.ids for hypothesis in best])
    confidences = np.ones(labels.shape)
    for row, hypothesis in zip(confidences, best, strict=True):
        row[: len(hypothesis.ids)] = hypothesis.confidences
    return Hypotheses(
        torch.from_numpy(labels).to(features.device),
        torch.from_numpy(confidences).float().to(features.device),
        torch.tensor(
            [hypothesis.confidence for hypothesis in best], device=features.device
        ),
    )


def interface_of(recognizer: Recognizer) -> Interface:
    """How a model is used."""
    encoder = recognizer.encoder
    decoder = recognizer.decoder
    decoding, refinements = _decoding_of(decoder)
    return Interface(
        decoder=type(decoder).__name__,
        loop=decoder.loop,
        maximum_length=decoder.maximum_length,
        grid=encoder.grid,
        special_tokens=encoder.special_tokens,
        image_size=encoder.image_size,
        has_cross_attention=any(
            isinstance(module, DecoderBlock) for module in decoder.modules()
        ),
        decoding=decoding,
        refinements=refinements,
        drafts=decoder.draft is not None,
    )


def _decoding_of(decoder: Decoder) -> tuple[str, int]:
    """How a decoder writes, and how often it reads again, if nobody says otherwise."""
    if isinstance(decoder, PermutedDecoder):
        return decoder.decoding, decoder.refinements
    return "autoregressive", 0


def _array(tensor: Tensor) -> Float[np.ndarray, "batch ..."]:
    return tensor.float().cpu().numpy()
