"""What measuring attention costs: against the published function, the forward pass and memory.

    python benchmarks/attention_speed.py [--images 1000] [--json FILE]

Four questions, the first two on one pinned CPU thread, in turns:

* the same maps (8 images, 12 heads, 14 x 14 tokens) by the function of the ViT authors and of the
  Keras example, derived again here from its description, and by ours;
* the forward pass of a ViT of 12 layers of 192, 32 x 128 pixels in 4 x 8 patches, alone, with
  distances, and with every metric;
* the most memory that a process of its own takes for that, with and without;
* how long so many images take as a whole, on all CPUs of this process.
"""

import argparse
import math
import os
import re
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from pathlib import Path

import numpy as np
import torch
from measuring import (
    described_parser,
    interleave,
    median_and_range,
    pin,
    print_machine,
    table,
    write_json,
)
from torch import Tensor

from vit_str.analysis.geometry import TokenGrid
from vit_str.analysis.probe import probe
from vit_str.analysis.statistics import METRICS, AttentionStatistics
from vit_str.console import positive
from vit_str.models import VisionTransformer

_BATCH = 32
_MODES = {
    "forward pass": None,
    "with distance": ("distance",),
    "with all metrics": METRICS,
}


def published_distance(patch_size: int, maps: np.ndarray) -> np.ndarray:
    """Mean attention distance per image and head, as published: square grid, every map stored.

    The class token's row and column are cut off, the distances of all pairs of patches are filled
    in one by one, and the weighted distances are kept as an array as large as the maps.
    """
    return weighted_mean(pair_distances(patch_size, maps.shape[-1] - 1), maps)


def pair_distances(patch_size: int, patches: int) -> np.ndarray:
    """The part that is the same for every layer, pair by pair."""
    side = math.isqrt(patches)
    distances = np.zeros((patches, patches))
    for first in range(patches):
        for second in range(patches):
            if first != second:
                step = np.subtract(divmod(first, side), divmod(second, side))
                distances[first, second] = patch_size * np.linalg.norm(step)
    return distances


def weighted_mean(distances: np.ndarray, maps: np.ndarray) -> np.ndarray:
    """The part that is of the maps."""
    weighted = maps[..., 1:, 1:] * distances[None, None]
    return weighted.sum(-1).mean(-1)


def our_distance(patch_size: int, maps: Tensor) -> np.ndarray:
    """The same numbers from the same maps."""
    side = math.isqrt(maps.shape[-1] - 1)
    grid = TokenGrid(side, side, (patch_size, patch_size), special_tokens=1)
    measured = AttentionStatistics(grid, ("distance",), norm="raw")
    measured.update_maps("layer", maps)
    return measured.values("distance")[0].numpy()


def same_maps(rounds: int) -> dict[str, list[float]]:
    """Seconds of both functions for one layer."""
    generator = torch.Generator().manual_seed(0)
    maps = torch.randn(8, 12, 197, 197, generator=generator).softmax(-1)
    array = maps.numpy()
    difference = np.abs(published_distance(16, array) - our_distance(16, maps)).max()
    print(f"largest difference between the two functions: {difference:.1e} px")
    distances = pair_distances(16, 196)
    runs = {
        "published function": lambda: published_distance(16, array),
        "the same, distances at hand": lambda: weighted_mean(distances, array),
        "ours": lambda: our_distance(16, maps),
    }
    return interleave({name: timed(run) for name, run in runs.items()}, rounds)


def encoder() -> VisionTransformer:
    """12 layers of 192 with 3 heads over 8 x 16 tokens."""
    torch.manual_seed(0)
    return VisionTransformer(dim=192, depth=12, heads=3, patch_size=(4, 8)).eval()


@torch.no_grad()
def measure(
    model: VisionTransformer,
    images: Tensor,
    metrics: tuple[str, ...] | None,
) -> None:
    """One forward pass, measured or not."""
    statistics = metrics and AttentionStatistics(TokenGrid.of(model), metrics)
    with probe(model, statistics.update) if statistics else nullcontext():
        model(images)


def forward_passes(rounds: int) -> dict[str, list[float]]:
    """Seconds of a batch."""
    model = encoder()
    images = torch.randn(_BATCH, 3, 32, 128)
    runs = {
        name: timed(lambda metrics=metrics: measure(model, images, metrics), 3)
        for name, metrics in _MODES.items()
    }
    return interleave(runs, rounds)


def peak_memory(rounds: int) -> dict[str, list[float]]:
    """Of processes that do nothing else, in MB."""

    def peak(name: str) -> float:
        command = [sys.executable, __file__, "--peak-of", name]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        return float(done.stdout)

    return interleave({name: partial(peak, name) for name in _MODES}, rounds)


def _peak_of(name: str) -> None:
    model = encoder()
    images = torch.randn(_BATCH, 3, 32, 128)
    for _ in range(3):
        measure(model, images, _MODES[name])
    print(peak_of_process())


def peak_of_process() -> float:
    """Most so far in MB. Linux counts what the parent had as well, unless asked like this."""
    status = Path("/proc/self/status")
    if status.is_file():
        found = re.search(r"VmHWM:\s+(\d+) kB", status.read_text(encoding="utf-8"))
        return int(found[1]) / 1e3 if found else math.nan
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def many_images(count: int) -> float:
    """Seconds for every metric of so many images, on all CPUs."""
    threads = os.cpu_count() or 1
    if hasattr(os, "sched_getaffinity"):
        threads = len(os.sched_getaffinity(0))
    torch.set_num_threads(threads)
    model = encoder()
    measured = AttentionStatistics(TokenGrid.of(model))
    started = time.perf_counter()
    with torch.no_grad(), probe(model, measured.update):
        for start in range(0, count, _BATCH):
            model(torch.randn(min(_BATCH, count - start), 3, 32, 128))
    return time.perf_counter() - started


def main() -> None:
    """Measure, print, write."""
    options = _parser().parse_args()
    if options.peak_of:
        _peak_of(options.peak_of)
        return
    whole = many_images(options.images)
    pin(1)
    memory = peak_memory(min(options.rounds, 5))
    print_machine()
    maps = same_maps(options.rounds)
    passes = forward_passes(options.rounds)
    print(
        ratios(
            maps, "published function", "times as fast", lambda base, own: base / own
        )
    )
    print(ratios(passes, "forward pass", "on top", lambda base, own: own / base - 1))
    print(ratios(memory, "forward pass", "more MB", lambda base, own: own - base, 1))
    print(f"\n{options.images:,} images, every metric, all CPUs: {whole:.1f} s")
    results = {"maps": maps, "passes": passes, "memory_mb": memory}
    write_json(options.json, {**results, "images": options.images, "seconds": whole})


def timed(
    run: Callable[[], object],
    repeat: int = 1,
    clock: Callable[[], float] = time.perf_counter,
) -> Callable[[], float]:
    """A function that says how long a call takes by a clock, the first ones not counted."""
    run()

    def seconds() -> float:
        started = clock()
        for _ in range(repeat):
            run()
        return (clock() - started) / repeat

    return seconds


def ratios(
    measured: dict[str, list[float]],
    base: str,
    title: str,
    ratio: Callable[[float, float], float],
    scale: float = 1e3,
) -> str:
    """Medians, and the median of ratios within a round."""
    rows = [["", "ms" if scale > 1 else "peak MB", "range", title]]
    for name, values in measured.items():
        pairs = zip(measured[base], values, strict=True)
        middle = statistics.median(ratio(one, own) for one, own in pairs)
        rows.append(
            [
                name,
                *median_and_range([scale * value for value in values]),
                f"{middle:.2f}",
            ]
        )
    return table(rows) + "\n"


def _parser() -> argparse.ArgumentParser:
    parser = described_parser(__doc__, rounds=11)
    parser.add_argument(
        "--images",
        type=positive,
        default=1000,
        help="of the last (1000)",
    )
    parser.add_argument("--peak-of", choices=list(_MODES), help=argparse.SUPPRESS)
    return parser


if __name__ == "__main__":
    main()
