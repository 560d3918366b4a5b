"""How fast words are rendered with everything on, and where the time goes.

    python benchmarks/rendering_speed.py [--batch-size 512] [--device cpu cuda] [--json FILE]

On one pinned CPU thread and, where there is one, on a GPU. The stages are timed in rounds of
their own, because a GPU has to be waited for between them. Needs ``vit-str[train]``; the first
run on a computer rasterizes its fonts, which takes a minute.
"""

import argparse
import statistics
import time
from collections import defaultdict
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any
from unittest.mock import patch

import torch
from measuring import (
    described_parser,
    interleave,
    median_and_range,
    pin,
    print_machine,
    synchronize,
    table,
    write_json,
)

from vit_str.characters.charset import Charset
from vit_str.console import positive
from vit_str.synthesis import renderer as rendering
from vit_str.synthesis.glyph_cache import load_or_draw_glyphs
from vit_str.synthesis.layout import Typesetter
from vit_str.synthesis.lexicon import Lexicon
from vit_str.synthesis.renderer import Renderer

_STAGES: dict[str, list[tuple[Any, str]]] = {
    "lexicon": [(Lexicon, "sample")],
    "layout": [(Typesetter, "choose_fonts"), (Typesetter, "lay_out")],
    "warp": [(rendering, "sample_view"), (rendering, "crop_mask")],
    "paint": [(rendering, "paint")],
    "degrade": [(rendering, "degrade"), (rendering, "keep_legible")],
    "boxes": [(rendering, "token_characters"), (rendering, "character_boxes")],
}
"""What is called in every stage, under the name by which the renderer calls it."""


class Batches:
    """New batches of one renderer, timed."""

    def __init__(self, renderer: Renderer, size: int) -> None:
        self.renderer = renderer
        self.size = size
        self.index = 0
        self.seconds()  # warm: memory, kernels

    def seconds(self) -> float:
        """Of the next batch."""
        synchronize(self.renderer.device)
        started = time.perf_counter()
        self.renderer.batch(self.size, seed=1, index=self.index)
        synchronize(self.renderer.device)
        self.index += 1
        return time.perf_counter() - started

    def stage_seconds(self) -> dict[str, float]:
        """Of the next batch, by stage, and of what is in none."""
        spent: defaultdict[str, float] = defaultdict(float)
        with ExitStack() as stack:
            for stage, calls in _STAGES.items():
                for owner, name in calls:
                    timed = _timed(
                        getattr(owner, name), stage, spent, self.renderer.device
                    )
                    stack.enter_context(patch.object(owner, name, timed))
            total = self.seconds()
        return {stage: spent[stage] for stage in _STAGES} | {
            "rest": total - sum(spent.values())
        }


def _timed(
    call: Callable[..., Any], stage: str, spent: dict[str, float], device: torch.device
) -> Callable[..., Any]:
    def run(*arguments: Any, **named: Any) -> Any:
        synchronize(device)
        started = time.perf_counter()
        result = call(*arguments, **named)
        synchronize(device)
        spent[stage] += time.perf_counter() - started
        return result

    return run


def main() -> None:
    """Measure, print, write."""
    options = _parser().parse_args()
    pin(1)
    print_machine()
    charset = Charset()
    lexicon = Lexicon(charset)
    atlas = load_or_draw_glyphs(charset)
    batches = {
        device: Batches(Renderer(atlas.to(device), lexicon), options.batch_size)
        for device in options.device
    }
    wholes = interleave(
        {name: each.seconds for name, each in batches.items()}, options.rounds
    )
    parts = interleave(
        {name: each.stage_seconds for name, each in batches.items()}, options.rounds
    )
    rates = {
        name: [options.batch_size / seconds for seconds in rounds]
        for name, rounds in wholes.items()
    }
    print(f"{len(atlas)} fonts, 32 x 128 pixels, batches of {options.batch_size}")
    print(table([["device", "images/s", "range"], *_rate_rows(rates)]))
    print("\nmicroseconds per image in every stage, median")
    print(
        table([["device", *_STAGES, "rest"], *_stage_rows(parts, options.batch_size)])
    )
    results = {"batch_size": options.batch_size, "fonts": len(atlas)}
    write_json(
        options.json, {**results, "images_per_second": rates, "stage_seconds": parts}
    )


def _parser() -> argparse.ArgumentParser:
    parser = described_parser(__doc__, rounds=5)
    devices = ["cpu", "cuda"] if torch.cuda.is_available() else ["cpu"]
    help_text = f"where to draw (here {' '.join(devices)})"
    parser.add_argument("--device", nargs="+", default=devices, help=help_text)
    parser.add_argument(
        "--batch-size",
        type=positive,
        default=512,
        help="words in a batch (512)",
    )
    return parser


def _rate_rows(rates: dict[str, list[float]]) -> list[list[str]]:
    return [[name, *median_and_range(values)] for name, values in rates.items()]


def _stage_rows(parts: dict[str, list[dict[str, float]]], size: int) -> list[list[str]]:
    rows = []
    for name, rounds in parts.items():
        medians = [
            statistics.median(part[stage] for part in rounds) for stage in rounds[0]
        ]
        rows.append([name, *(f"{1e6 * seconds / size:,.0f}" for seconds in medians)])
    return rows


if __name__ == "__main__":
    main()
