"""Models in torch: on any device, in its fastest number format."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import torch

from vit_str.models import CtcDecoder, ParallelDecoder, PermutedDecoder, Recognizer
from vit_str.models.blocks import DecoderBlock
from vit_str.models.cross_attention import cross_attention
from vit_str.models.decoders.autoregressive import AutoregressiveDecoder, DecodingState
from vit_str.runtime.engine import Interface, Model
from vit_str.runtime.search import Steps
from vit_str.torch_runtime.devices import choose_device, fastest_dtype

if TYPE_CHECKING:
    import numpy as np
    from jaxtyping import Float, Int64
    from torch import Tensor

    from vit_str.torch_runtime.weights_file import WeightsFile


class TorchEngine:
    """Runs a copy of a model; several threads may use it.

    Args:
        weights: the model with its charset and preprocessing.
        device: see `choose_device`.
        dtype: number format; None for bfloat16 or float16 where the device computes in it, else
            float32.

    Raises:
        ValueError: no such device.
    """

    backend = "torch"

    def __init__(
        self,
        weights: WeightsFile,
        device: str | torch.device = "auto",
        dtype: torch.dtype | None = None,
    ) -> None:
        self.torch_device = choose_device(device)
        self.dtype = dtype or fastest_dtype(self.torch_device)
        self.device, self.number_format = str(self.torch_device), str(self.dtype).split(".")[-1]
        self.model = Model(
            weights.charset,
            weights.preprocessing,
            weights.temperature,
            weights.provenance,
            interface_of(weights.recognizer),
        )
        # Converted once: autocast would convert the weights again at every step of the decoder.
        recognizer = copy.deepcopy(weights.recognizer)
        self.recognizer = recognizer.to(self.torch_device, self.dtype).eval()
        self._decoder: Any = self.recognizer.decoder  # of any type

    @torch.inference_mode()
    def encode(self, images: Float[np.ndarray, "batch channel height width"]) -> Tensor:
        """See `Engine`."""
        return self.recognizer.encode(torch.from_numpy(images).to(self.torch_device, self.dtype))

    def select(self, encoded: Tensor, rows: Sequence[int]) -> Tensor:
        """See `Engine`."""
        return encoded[list(rows)]

    def begin(self, encoded: Tensor) -> TorchSteps:
        """See `Engine`."""
        return TorchSteps(self._decoder, encoded)

    @torch.inference_mode()
    def scores(self, encoded: Tensor) -> Float[np.ndarray, "batch position symbol"]:
        """See `Engine`."""
        return _array(self._decoder.logits(encoded))

    @torch.inference_mode()
    def refine(
        self, encoded: Tensor, labels: Int64[np.ndarray, "batch position"]
    ) -> Float[np.ndarray, "batch position_and_end symbol"]:
        """See `Engine`."""
        known = torch.from_numpy(labels).to(self.torch_device)
        return _array(self._decoder.refine(encoded, known))

    @torch.inference_mode()
    def attention(
        self, encoded: Tensor, labels: Int64[np.ndarray, "batch position"]
    ) -> Float[np.ndarray, "batch position token"]:
        """See `Engine`."""
        known = torch.from_numpy(labels).to(self.torch_device)
        return _array(cross_attention(self.recognizer.decoder, encoded, known)[:, -1].mean(1))


class TorchSteps(Steps):
    """Texts that a decoder writes; see `Steps`."""

    @torch.inference_mode()
    def __init__(self, decoder: AutoregressiveDecoder, features: Tensor) -> None:
        self._decoder, self._device = decoder, features.device
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


def interface_of(recognizer: Recognizer) -> Interface:
    """How a model is used."""
    encoder, decoder = recognizer.encoder, recognizer.decoder
    loops = {PermutedDecoder: "refine", ParallelDecoder: "scores", CtcDecoder: "ctc"}
    return Interface(
        decoder=type(decoder).__name__,
        loop=loops.get(type(decoder), "step"),
        maximum_length=decoder.maximum_length,
        grid=encoder.grid,
        special_tokens=encoder.special_tokens,
        image_size=encoder.image_size,
        looks=any(isinstance(module, DecoderBlock) for module in decoder.modules()),
        decoding=getattr(decoder, "decoding", "autoregressive"),
        refinements=getattr(decoder, "refinements", 0),
    )


def _array(tensor: Tensor) -> np.ndarray:
    return tensor.float().cpu().numpy()
