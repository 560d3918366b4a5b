"""What a model costs: parameters, arithmetic, and time to read, all models side by side.

Part of equal_budget.py.
"""

import copy
import statistics
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from measuring import interleave, pin
from torch.utils.flop_counter import FlopCounterMode

from vit_str.evaluation import LabeledImages
from vit_str.reading import Reader, load

_WORDS = 256
_BATCH = 32
_COUNTED = 16
_ROUNDS = 7


def costs(weights: Mapping[str, Path], folder: Path, device: str) -> dict[str, dict[str, Any]]:
    """Name of a model -> its costs.

    Images per second are from pixels to text, 32 at a time, on one CPU thread or on the device;
    medians of rounds in which the models take turns. Arithmetic is that of reading these words,
    as counted in products of matrices and convolutions: two operations per multiplication.

    Args:
        weights: name -> weights file.
        folder: labeled crops, of which 256 are read.
        device: to read with.
    """
    pin()
    readers = {name: load(path, device) for name, path in weights.items()}
    crops = LabeledImages(folder).paths[:_WORDS]
    pixels = {
        name: torch.stack([reader.pixels(crop) for crop in crops])
        for name, reader in readers.items()
    }
    seconds = interleave(
        {name: lambda n=name: _seconds(readers[n], pixels[n]) for name in readers},  # type: ignore[misc]
        _ROUNDS + 1,
    )
    return {
        name: {
            "parameters": sum(p.numel() for p in reader.recognizer.parameters()),
            "flops": _flops(reader, pixels[name][:_COUNTED]),
            # Without the first round, which fills caches.
            "images_per_second": len(crops) / statistics.median(seconds[name][1:]),
        }
        for name, reader in readers.items()
    }


def cost_table(found: Sequence[tuple[str, dict[str, Any], float]]) -> list[list[str]]:
    """Rows of a table: the titles, then a row for each model.

    Args:
        found: of each model its name, its costs, and the images per second of its training.
    """
    titles = ["variant", "parameters", "operations per image", "reads per second", "trains on"]
    rows = [
        [
            name,
            f"{cost['parameters'] / 1e6:.1f} M",
            f"{cost['flops'] / 1e6:,.0f} M",
            f"{cost['images_per_second']:,.0f}",
            f"{trained:,.0f} per second",
        ]
        for name, cost, trained in found
    ]
    return [titles, *rows]


def _seconds(reader: Reader, pixels: torch.Tensor) -> float:
    start = time.perf_counter()
    for batch in pixels.split(_BATCH):
        reader.read_pixels(batch)  # ends with texts, so a GPU has finished
    return time.perf_counter() - start


def _flops(reader: Reader, pixels: torch.Tensor) -> float:
    """Per image, encoder and decoder."""
    recognizer = copy.deepcopy(reader.recognizer).float().cpu()
    images = reader.preprocessing.normalize(pixels)
    # The library of fused recurrent layers would hide their products from the counter.
    counter = FlopCounterMode(display=False)
    with torch.backends.mkldnn.flags(enabled=False), torch.no_grad(), counter:
        recognizer.generate(images)
    return counter.get_total_flops() / len(pixels)
