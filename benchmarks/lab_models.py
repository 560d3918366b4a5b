"""Whether the lab reads models of other libraries right, and what that costs.

    python benchmarks/lab_models.py [--check] [--cost] [--json FILE]

* ``--check``: models of timm, torchvision and transformers in their full size with random weights
  (nothing is fetched), maps as the probe gets them with the fused kernel on, against what the model
  multiplies its values with when the kernel is off; and the distances of both.
* ``--cost``: ViT-B/16, 16 images, alone, with distances and with every metric, in turns on one
  pinned CPU thread, in CPU time; and the most memory that a process of its own takes for each.
"""

import argparse
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from attention_speed import peak_of_process, ratios, timed
from measuring import described_parser, interleave, pin, print_machine, write_json
from torch import Tensor, nn

from vit_str.analysis.geometry import TokenGrid
from vit_str.analysis.libraries.encoder import LibraryEncoder, probe_layers
from vit_str.analysis.libraries.load import load_library_model
from vit_str.analysis.probe import map_of
from vit_str.analysis.statistics import METRICS, AttentionStatistics

MODELS = (
    "timm:vit_base_patch16_224",
    "timm:vit_small_patch16_dinov3",
    "timm:eva02_tiny_patch14_224",
    "timm:swin_tiny_patch4_window7_224",
    "torchvision:vit_b_16",
    "torchvision:swin_t",
    "hf:dinov3_vit",
    "hf:dinov2_with_registers",
    "hf:vit",
    "hf:swin",
    "hf:clip",
    "timm:deit_small_distilled_patch16_224",
    "timm:vit_relpos_small_patch16_224",
    "timm:swinv2_tiny_window8_256",
    "timm:beitv2_base_patch16_224",
    "torchvision:swin_v2_t",
    "hf:vit_mae",
    "hf:donut-swin",
)
_MODES = {
    "forward pass": None,
    "with distance": ("distance",),
    "with all metrics": METRICS,
}
_COST_OF = "untrained:timm:vit_base_patch16_224"
_BATCH = 16


@contextmanager
def own_maps(model: Any) -> Iterator[list[Tensor]]:
    """What a model multiplies its values with, as it goes through dropout after the softmax."""
    maps: list[Tensor] = []
    dropout = F.dropout

    def spy(x: Tensor, *arguments: Any, **named: Any) -> Tensor:
        if x.ndim > 3 and x.shape[-1] > 1 and torch.allclose(x.sum(-1), torch.ones(())):
            maps.append(x)
        return dropout(x, *arguments, **named)

    def ask(module: nn.Module, inputs: Any, named: Any, _: Any) -> None:
        if named.get("need_weights") is False:
            again = named | {"need_weights": True, "average_attn_weights": False}
            maps.append(module(*inputs, **again)[1])

    attentions = [
        each for each in model.modules() if isinstance(each, nn.MultiheadAttention)
    ]
    handles = [each.register_forward_hook(ask, with_kwargs=True) for each in attentions]
    set_fused(model, False)
    F.dropout = spy
    try:
        yield maps
    finally:
        F.dropout = dropout
        set_fused(model, True)
        for handle in handles:
            handle.remove()


def set_fused(model: Any, fused: bool) -> None:
    """Switch the fused kernel where a library has a switch."""
    for module in model.modules():
        if hasattr(module, "fused_attn"):
            module.fused_attn = fused
    if hasattr(model, "set_attn_implementation") and model._supports_sdpa:
        model.set_attn_implementation("sdpa" if fused else "eager")


@torch.no_grad()
def check(name: str) -> tuple[int, float, float, float]:
    """Layers, most attention to one token, largest difference of a map, and of a distance in px."""
    encoder, preprocessing = load_library_model(f"untrained:{name}")
    torch.manual_seed(0)
    for parameter in encoder.parameters():  # attention far from even
        parameter += 0.05 * torch.randn_like(parameter)
    images = torch.randn(1, 3, preprocessing.height, preprocessing.width)
    with own_maps(encoder.model) as expected:
        encoder(images)
    found: list[Tensor] = []
    measured = AttentionStatistics(
        TokenGrid.of(encoder),
        ("distance",),
        windows=encoder.windows,
    )
    with probe_layers(
        encoder, lambda _, *what: found.append(map_of(*what)), measured.update
    ):
        encoder(images)
    assert len(found) == len(expected) == len(encoder.blocks)
    maps = [
        float((one - own).abs().max()) for one, own in zip(found, expected, strict=True)
    ]
    distances = [
        float((one - distance(encoder, layer, own)).abs().max())
        for layer, (one, own) in enumerate(
            zip(measured.values("distance"), expected, strict=True)
        )
    ]
    most = max(float(own.max()) for own in expected)
    return len(found), most, max(maps), max(distances)


def distance(encoder: LibraryEncoder, layer: int, maps: Tensor) -> Tensor:
    """Mean distance by head, from whole maps."""
    windows = encoder.blocks[layer].windows()
    maps = maps[..., -len(windows.grid) :, -len(windows.keys) :].double()
    maps = maps / maps.sum(-1, keepdim=True)
    return (maps * windows.grid.distances(windows.keys)).sum(-1).mean((0, 2))


@torch.no_grad()
def measure(
    encoder: LibraryEncoder,
    images: Tensor,
    metrics: tuple[str, ...] | None,
) -> None:
    """One forward pass, measured or not."""
    grid = TokenGrid.of(encoder)
    windows = encoder.windows
    measured = metrics and AttentionStatistics(grid, metrics, windows=windows)
    with probe_layers(encoder, measured.update) if measured else nullcontext():
        encoder(images)


def _ready() -> tuple[LibraryEncoder, Tensor]:
    encoder, preprocessing = load_library_model(_COST_OF)
    return encoder, torch.randn(_BATCH, 3, preprocessing.height, preprocessing.width)


def cost(rounds: int) -> dict[str, dict[str, list[float]]]:
    """Seconds of a batch and MB of a process, by mode."""

    def peak(mode: str) -> float:
        command = [sys.executable, __file__, "--peak-of", mode]
        answer = subprocess.run(command, check=True, capture_output=True, text=True)
        return float(answer.stdout)

    peaks = {mode: partial(peak, mode) for mode in _MODES}
    memory = interleave(peaks, (rounds + 1) // 2)
    encoder, images = _ready()
    runs = {
        mode: timed(partial(measure, encoder, images, metrics), clock=time.thread_time)
        for mode, metrics in _MODES.items()
    }
    return {"passes": interleave(runs, rounds), "memory_mb": memory}


def main() -> None:
    """Check, measure, print, write."""
    parser = described_parser(__doc__, rounds=5)
    parser.add_argument("--check", action="store_true", help="the maps only")
    parser.add_argument("--cost", action="store_true", help="the cost only")
    parser.add_argument("--peak-of", choices=list(_MODES), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.peak_of:
        measure(*_ready(), _MODES[options.peak_of])
        print(peak_of_process())
        return
    results: dict[str, Any] = {}
    if options.check or not options.cost:
        print(
            "model, layers, most attention, largest difference of a map and of a "
            "distance in px"
        )
        for name in MODELS:
            results[name] = check(name)
            layers, most, maps, distances = results[name]
            print(
                f"{name:<40}{layers:>4}{most:>8.2f}{maps:>10.1e}{distances:>10.1e}",
                flush=True,
            )
    if options.cost or not options.check:
        pin(1)
        print_machine()
        found = cost(options.rounds)
        passes = found["passes"]
        memory = found["memory_mb"]
        print(
            ratios(passes, "forward pass", "on top", lambda base, own: own / base - 1)
        )
        print(
            ratios(memory, "forward pass", "more MB", lambda base, own: own - base, 1)
        )
        results |= found
    write_json(options.json, results)


if __name__ == "__main__":
    main()
