"""What a model costs: parameters, arithmetic, and time to read and to train, all side by side.

Part of equal_budget.py.
"""

import copy
import statistics
import time
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Int64, UInt8
from measuring import interleave, pin, synchronize
from torch import Tensor
from torch.optim import AdamW
from torch.utils.flop_counter import FlopCounterMode

from vit_str.datasets.folder import FolderReader
from vit_str.torch_runtime.engine import generate
from vit_str.words.reader import Reader, load

_WORDS = 256
_TRAINED = 64
_BATCH = 32
_COUNTED = 16
_ROUNDS = 7


def costs(
    weights: Mapping[str, Path],
    folder: Path,
    device: str,
) -> dict[str, dict[str, Any]]:
    """Name of a model -> its costs.

    Reading goes from pixels to text at one look, training takes one step of the model's own loss
    for each batch, without other losses and without drawing the words; both 32 at a time, on one
    CPU thread or on the device, medians of rounds in which the models take turns. Arithmetic is
    that of reading, as counted in products of matrices and convolutions: two operations per
    multiplication.

    Args:
        weights: name -> weights file.
        folder: labeled crops, of which 256 are read and 64 trained on.
        device: to read and train with.
    """
    pin()
    readers = {
        name: load(path, device, backend="torch").at_one_look()
        for name, path in weights.items()
    }
    crops = FolderReader(folder).files()
    pixels = {
        name: torch.from_numpy(
            np.stack([reader.pixels(crop) for crop in crops.paths[:_WORDS]])
        )
        for name, reader in readers.items()
    }
    labels = crops.labels[:_TRAINED]
    training = {
        name: _Training(reader, pixels[name], labels)
        for name, reader in readers.items()
    }

    def both(name: str) -> tuple[float, float]:
        read = reading_seconds(readers[name], pixels[name])
        return read, training[name].seconds()

    seconds = interleave({name: partial(both, name) for name in readers}, _ROUNDS + 1)
    # Without the first round, which fills caches.
    medians = {
        name: [statistics.median(column) for column in zip(*rounds[1:], strict=True)]
        for name, rounds in seconds.items()
    }
    return {
        name: {
            "parameters": sum(p.numel() for p in reader.engine.recognizer.parameters()),
            "flops": _flops(reader, pixels[name][:_COUNTED]),
            "read_per_second": len(pixels[name]) / medians[name][0],
            "trained_per_second": len(labels) / medians[name][1],
        }
        for name, reader in readers.items()
    }


def cost_table(found: Mapping[str, Mapping[str, Any]]) -> list[list[str]]:
    """Rows of a table: the titles, then a row for each model and its costs."""
    titles = [
        "variant",
        "parameters",
        "operations to read",
        "reads per second",
        "trains on",
    ]
    rows = [
        [
            name,
            f"{cost['parameters'] / 1e6:.1f} M",
            f"{cost['flops'] / 1e6:,.0f} M",
            f"{cost['read_per_second']:,.0f}",
            f"{cost['trained_per_second']:,.0f} per second",
        ]
        for name, cost in found.items()
    ]
    return [titles, *rows]


class _Training:
    """Steps of a copy of a model, in bfloat16 as all configurations train."""

    def __init__(
        self,
        reader: Reader,
        pixels: UInt8[Tensor, "word channel height width"],
        labels: Sequence[str],
    ) -> None:
        self._model = copy.deepcopy(reader.engine.recognizer).float().train()
        self._optimizer = AdamW(self._model.parameters(), lr=1e-5, fused=True)
        self._images = reader.preprocessing.normalize(
            pixels[: len(labels)].to(reader.engine.device)
        )
        self._labels = _ids(reader, labels).to(self._images.device)

    def seconds(self) -> float:
        """Time to train on all of the words once."""
        kind = self._images.device.type
        start = time.perf_counter()
        for images, labels in zip(
            self._images.split(_BATCH), self._labels.split(_BATCH), strict=True
        ):
            with torch.autocast(kind, torch.bfloat16):
                loss = self._model.loss(images, labels)
            self._optimizer.zero_grad()
            loss.backward()
            self._optimizer.step()
        synchronize(kind)
        return time.perf_counter() - start


def _ids(reader: Reader, labels: Sequence[str]) -> Int64[Tensor, "word position"]:
    """What a model of this charset and length can learn of the labels."""
    known = set(reader.charset.characters)
    longest = reader.engine.recognizer.decoder.maximum_length
    return reader.charset.encode_batch(
        ["".join(filter(known.__contains__, label))[:longest] for label in labels]
    )


def reading_seconds(reader: Reader, pixels: torch.Tensor) -> float:
    """Time from pixels to text, 32 at a time."""
    start = time.perf_counter()
    for batch in pixels.split(_BATCH):
        reader.read_pixels(batch)  # ends with texts, so a GPU has finished
    return time.perf_counter() - start


def _flops(reader: Reader, pixels: torch.Tensor) -> float:
    """Per image, encoder and decoder."""
    recognizer = copy.deepcopy(reader.engine.recognizer).float().cpu()
    images = reader.preprocessing.normalize(pixels)
    # The library of fused recurrent layers would hide their products from the counter.
    counter = FlopCounterMode(display=False)
    with torch.backends.mkldnn.flags(enabled=False), torch.no_grad(), counter:
        generate(recognizer.decoder, recognizer.encode(images))
    return counter.get_total_flops() / len(pixels)
