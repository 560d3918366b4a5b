"""When attention distance appears in training, and whether the optimizer changes it.

    python benchmarks/distance_over_training.py --out runs/over-training

Trains a small recognizer of rendered words with AdamW and with Muon, three seeds of each, on the
CPU: about ten minutes a run on one thread. Both optimizers see the same words in the same order,
which a seed decides together with the first weights. Distance, entropy and sinks of every layer
are those that the callbacks of ``vit_str.analysis.monitor`` log, on words in no training, after 0,
1, 2, 4 steps and so on, as is the share of these words that is read. Each run has a log of its own
in ``--out``: the same command goes on where it was stopped. At the end ``distance.png`` shows all
runs, and a table says after how many images the heads of a layer first look less than 0.8 times as
far as uniform attention, with the difference between the optimizers, paired by seed.
"""

import argparse
import math
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter, NullLocator
from measuring import described_parser, pin, print_machine
from torch import Tensor, nn

from vit_str.analysis.geometry import TokenGrid
from vit_str.analysis.monitor.summary import attention_summary
from vit_str.analysis.statistics import mean_over
from vit_str.characters.charset import CHARSETS, Charset
from vit_str.console import positive
from vit_str.images.preprocessing import Preprocessing
from vit_str.models import Recognizer, TransformerDecoder, VisionTransformer
from vit_str.models.auxiliary import TokenClassifier
from vit_str.reports.panels import legend, panels
from vit_str.reports.style import COLORS, ready_to_draw, styled
from vit_str.reports.tables import write_frame
from vit_str.synthesis.glyph_cache import load_or_draw_glyphs
from vit_str.synthesis.lexicon import Lexicon
from vit_str.synthesis.renderer import RenderedBatch, Renderer
from vit_str.torch_runtime.engine import generate
from vit_str.training.muon import make_optimizer

OPTIMIZERS = {"AdamW": None, "Muon": 2e-3}
"""Rate of Muon, which has the matrices of blocks; AdamW has all else."""
_RATE = 1e-3  # of AdamW
_DECAY = 0.05
_BATCH = 64
_WARM_UP = 50  # steps
_FALLING = 0.25  # share of the steps in which the rate falls to zero
_DEPTH = 4
_WORDS = 256  # to measure on
_TEST_SEED = 1 << 20  # no training has it
_LEARNED = 0.8  # of uniform attention
_CHARSET = Charset(CHARSETS["ascii"])


def main() -> None:
    """Train what is not there yet, draw and print."""
    options = _options()
    pin()
    print_machine()
    renderer = _renderer(options.fonts)
    for seed, optimizer in product(range(options.seeds), OPTIMIZERS):
        path = options.out / f"{optimizer.lower()}-{seed}.csv"
        if path.exists():
            continue
        rows = list(train(optimizer, seed, options.steps, renderer))
        table = pd.DataFrame(rows).assign(optimizer=optimizer, seed=seed)
        write_frame(path, table)
        print(f"{path}: {table['accuracy'].iloc[-1]:.1%} read", flush=True)
    log = pd.concat(map(pd.read_csv, sorted(options.out.glob("*-[0-9]*.csv"))))
    uniform = TokenGrid.of(_recognizer(0).encoder).uniform_distance()
    sheet = course(log, uniform)
    with ready_to_draw(sheet):
        sheet.savefig(options.out / "distance.png", dpi=150)
    table = appearing(log, uniform)
    write_frame(options.out / "appearing.csv", table)
    print(table.to_string(index=False, float_format="{:.0f}".format))


def _options() -> argparse.Namespace:
    parser = described_parser(__doc__)
    parser.add_argument("--out", type=Path, required=True, metavar="DIR")
    parser.add_argument(
        "--steps", type=positive, default=1400, help="of 64 words (1400)"
    )
    parser.add_argument("--seeds", type=positive, default=3, help="(3)")
    parser.add_argument(
        "--fonts",
        type=Path,
        nargs="+",
        metavar="DIR",
        help="folders of fonts instead of the system's",
    )
    return parser.parse_args()


def _renderer(fonts: list[Path] | None) -> Renderer:
    atlas = load_or_draw_glyphs(_CHARSET, fonts)
    return Renderer(atlas, Lexicon(_CHARSET), (32, 128), (2, 32))


def _recognizer(seed: int) -> Recognizer:
    """About the shape of ``tiny``, narrower; weights depend on the seed alone."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        encoder = VisionTransformer(
            dim=96,
            depth=_DEPTH,
            heads=4,
            image_size=(32, 128),
            patch_size=(16, 4),
            stem_widths=(16, 32),
            stem_depths=(1, 1),
        )
        decoder = TransformerDecoder(
            len(_CHARSET), dim=96, depth=1, heads=4, maximum_length=25
        )
        return Recognizer(encoder, decoder)


def train(
    optimizer: str, seed: int, steps: int, renderer: Renderer
) -> Iterator[dict[str, float]]:
    """Train one model; a row for every step of `_stages`."""
    recognizer = _recognizer(seed)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        names = TokenClassifier(96, len(_CHARSET))
    parts = nn.ModuleList([recognizer, names])
    named = [pair for pair in parts.named_parameters() if pair[1].numel()]
    update = make_optimizer(recognizer, named, _RATE, OPTIMIZERS[optimizer], _DECAY)
    rates = [group["lr"] for group in update.param_groups]
    held_out = renderer.batch(_WORDS, _TEST_SEED, 0, difficulty=0.5)
    stages = _stages(steps)
    for step in range(steps + 1):
        if step in stages:
            yield {"images": step * _BATCH, **_measured(recognizer, held_out)}
        if step == steps:
            return
        words = renderer.batch(_BATCH, seed, step, difficulty=0.5)
        factor = min((step + 1) / _WARM_UP, (steps - step) / (_FALLING * steps), 1.0)
        for group, rate in zip(update.param_groups, rates, strict=True):
            group["lr"] = factor * rate
        recognizer.train()
        update.zero_grad()
        torch.autograd.backward(_loss(recognizer, names, words))
        nn.utils.clip_grad_norm_([weights for _, weights in named], 1.0)
        update.step()


def _stages(steps: int) -> set[int]:
    """0, 1, 2, 3, 4, 6, 8, 12 and so on, and the last."""
    powers = 2.0 ** np.arange(0, math.log2(steps) + 1, 0.5)
    return {0, *(round(power) for power in powers if power < steps), steps}


def _loss(
    recognizer: Recognizer, names: TokenClassifier, words: RenderedBatch
) -> Tensor:
    """What ``vit-str train`` minimizes: the decoder's loss, and the character under each token."""
    features = recognizer.encode(Preprocessing(32, 128).normalize(words.images))
    return recognizer.decoder.loss(features, words.labels) + names.loss(
        features, words.token_characters
    )


@torch.no_grad()
def _measured(recognizer: Recognizer, words: RenderedBatch) -> dict[str, float]:
    """What the callbacks log, and the share of words that is read."""
    recognizer.eval()
    images = Preprocessing(32, 128).normalize(words.images)
    found = attention_summary(recognizer.encoder, images)
    written = generate(recognizer.decoder, recognizer.encode(images)).labels
    width = max(written.shape[1], words.labels.shape[1])
    read, true = (
        nn.functional.pad(ids, (0, width - ids.shape[1]), value=-1)
        for ids in (written, words.labels)
    )
    return {**found, "accuracy": float((read == true).all(1).float().mean())}


def appearing(log: pd.DataFrame, uniform: float) -> pd.DataFrame:
    """Images until a layer looks less far than uniform attention, and what Muon changes.

    ``difference`` is Muon minus AdamW with its 95 % interval over seeds, which share words and
    first weights. Layers that never do in some run have none.
    """
    rows = []
    for layer in range(1, _DEPTH + 1):
        column = f"attention_distance/layer_{layer:02d}"
        near = log[log[column] < _LEARNED * uniform]
        first = near.groupby(["optimizer", "seed"])["images"].min().unstack(0)
        first = first.reindex(columns=list(OPTIMIZERS))
        row = {"layer": layer, **first.mean().to_dict()}
        both = first.dropna()
        if len(both) > 1:
            steps = torch.tensor((both["Muon"] - both["AdamW"]).to_numpy())
            mean = mean_over(steps.double())
            row |= {
                "difference": float(mean.mean),
                "low": float(mean.low),
                "high": float(mean.high),
            }
        last = log.groupby(["optimizer", "seed"])[column].last().groupby(level=0)
        row |= {f"px at the end, {name}": px for name, px in last.mean().items()}
        rows.append(row | {"seeds": len(both)})
    return pd.DataFrame(rows)


@styled()
def course(log: pd.DataFrame, uniform: float) -> Figure:
    """A panel for each layer and one for reading; thin lines are runs, thick ones their means."""
    titles = [(f"layer {layer}", "") for layer in range(1, _DEPTH + 1)]
    sheet, grid = panels([*titles, ("words read", "")], 2.9, shared=False)
    for number, axes in enumerate(grid[:-1], 1):
        _draw(axes, log, f"attention_distance/layer_{number:02d}")
        axes.axhline(uniform, color="k", lw=1, ls="--", label="uniform attention")
        axes.set_ylim(0, 1.15 * uniform)
    _draw(grid[-1], log.assign(accuracy=100 * log["accuracy"]), "accuracy")
    grid[-1].set_ylim(0, None)
    for number, axes in enumerate(grid):
        axes.set_xlabel("images trained on (root scale)")
        if number % 3 == 0 and number < _DEPTH:
            axes.set_ylabel("distance (px)")
    grid[-1].set_ylabel("read right (%)")
    legend(sheet, grid)
    return sheet


def _draw(axes: Axes, log: pd.DataFrame, column: str) -> None:
    for color, dashes, optimizer in zip(
        COLORS, ("-", (0, (4, 2))), OPTIMIZERS, strict=False
    ):
        runs = log[log["optimizer"] == optimizer].pivot_table(
            index="images", columns="seed", values=column
        )
        axes.plot(runs.index, runs, color=color, ls=dashes, lw=0.7, alpha=0.6)
        label = f"{optimizer}, mean of {runs.shape[1]} seeds"
        axes.plot(
            runs.index, runs.mean(axis=1), color=color, ls=dashes, lw=2, label=label
        )
    axes.set_xscale("function", functions=(np.sqrt, np.square))
    axes.set_xlim(0, log["images"].max())
    axes.xaxis.set_major_formatter(EngFormatter(sep="", places=0))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.grid(visible=False, axis="x")


if __name__ == "__main__":
    main()
