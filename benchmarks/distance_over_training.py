"""When attention distance appears in training, and whether the optimizer changes it.

    python benchmarks/distance_over_training.py --out runs/over-training

Trains a small recognizer of rendered words with AdamW and with Muon, three seeds of each, on the
CPU: about ten minutes a run on one thread. Both optimizers see the same words in the same order,
which a seed decides together with the first weights. Distance, entropy, sinks and the cosine with
the own value of every layer are those that the callbacks of ``vit_str.analysis.monitor`` log, on
words in no training, after 0, 16, 23, 32, 45, 64 steps and so on, as is the share of these words
that is read.

All runs go on together, a hundred steps of each in turn, and are kept in ``--out``: the same
command goes on where it was stopped. After each round ``log.csv`` has what was measured so far and
``distance.png`` shows it; ``outcomes.csv`` says of every run after how many images the heads of a
layer first look less than 0.8 times as far as uniform attention, and the model reads 5 % of the
words; ``compared.csv`` has the difference between the optimizers, paired by seed.
"""

import argparse
import math
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter, MaxNLocator, NullLocator
from measuring import described_parser, pin, print_machine
from torch import Tensor, nn

from vit_str.analysis.geometry import TokenGrid
from vit_str.analysis.monitor.summary import attention_summary
from vit_str.analysis.statistics import mean_over
from vit_str.characters.charset import CHARSETS, Charset
from vit_str.console import positive
from vit_str.files import write_atomically
from vit_str.images.preprocessing import Preprocessing
from vit_str.models import Recognizer, TransformerDecoder, VisionTransformer
from vit_str.models.auxiliary import TokenClassifier
from vit_str.reports.images import figure_image
from vit_str.reports.panels import legend, panels
from vit_str.reports.style import COLORS, styled
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
_READS = 0.05  # of the words
_ROUND = 100  # steps of each run
_CHARSET = Charset(CHARSETS["ascii"])


def main() -> None:
    """Train on, draw and print."""
    options = _options()
    pin()
    print_machine()
    renderer = _renderer(options.fonts)
    held_out = renderer.batch(_WORDS, _TEST_SEED, 0, difficulty=0.5)
    runs = {}
    for seed, optimizer in product(range(options.seeds), OPTIMIZERS):
        name = f"{optimizer.lower()}-{seed}-of-{options.steps}-steps.ckpt"
        runs[options.out / name] = Training(optimizer, seed, options.steps)
    for path, run in runs.items():
        if path.exists():
            run.load(path)
    for end in [*range(_ROUND, options.steps, _ROUND), options.steps]:
        late = {path: run for path, run in runs.items() if run.step < end}
        for path, run in late.items():
            run.train(end, renderer, held_out)
            run.save(path)
        if late or end == options.steps:
            _report(options.out, pd.concat(run.log() for run in runs.values()))
            print(f"{end:,} of {options.steps:,} steps", flush=True)


def _report(folder: Path, log: pd.DataFrame) -> None:
    """Write tables and figure, and print the differences."""
    write_frame(folder / "log.csv", log)
    uniform = TokenGrid.of(_recognizer(0).encoder).uniform_distance()
    figure_image(course(log, uniform)).save(folder / "distance.png", optimize=True)
    found = outcomes(log, uniform)
    write_frame(folder / "outcomes.csv", found)
    table = compared(found)
    write_frame(folder / "compared.csv", table)
    print(table.to_string(index=False, float_format="{:.1f}".format))


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
    options = parser.parse_args()
    try:
        options.out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        parser.error(f"--out {options.out}: {error.strerror}")
    return options


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


class Training:
    """One run, which is kept in a file and taken up from there."""

    def __init__(self, optimizer: str, seed: int, steps: int) -> None:
        self.run = {"optimizer": optimizer, "seed": seed}
        self.seed = seed
        self.steps = steps
        self.recognizer = _recognizer(seed)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self.names = TokenClassifier(96, len(_CHARSET))
        self.parts = nn.ModuleList([self.recognizer, self.names])
        named = [pair for pair in self.parts.named_parameters() if pair[1].numel()]
        self.optimizer = make_optimizer(
            self.recognizer, named, _RATE, OPTIMIZERS[optimizer], _DECAY
        )
        self.rates = [group["lr"] for group in self.optimizer.param_groups]
        self.step = 0
        self.rows: list[dict[str, float]] = []

    def train(self, end: int, renderer: Renderer, held_out: RenderedBatch) -> None:
        """Train until so many steps are done, and measure after each of `_stages`."""
        stages = _stages(self.steps)
        if not self.rows:
            self._measure(held_out)
        while self.step < end:
            self._learn(renderer.batch(_BATCH, self.seed, self.step, difficulty=0.5))
            self.step += 1
            if self.step in stages:
                self._measure(held_out)

    def log(self) -> pd.DataFrame:
        """A row for each of `_stages` so far."""
        return pd.DataFrame(self.rows).assign(**self.run)

    def save(self, path: Path) -> None:
        """Weights, optimizer, rows and step; words follow from the seed and the step."""
        kept = {
            "weights": self.parts.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "rows": self.rows,
            "step": self.step,
        }
        with write_atomically(path) as file:
            torch.save(kept, file)

    def load(self, path: Path) -> None:
        """Go on from what was saved.

        Raises:
            SystemExit: the file is damaged.
        """
        try:
            kept = torch.load(path, weights_only=True)
        except Exception:  # of many types, whatever is damaged
            raise SystemExit(f"{path}: damaged; delete it to train anew") from None
        self.parts.load_state_dict(kept["weights"])
        self.optimizer.load_state_dict(kept["optimizer"])
        self.rows = kept["rows"]
        self.step = kept["step"]

    def _measure(self, held_out: RenderedBatch) -> None:
        found = _measured(self.recognizer, held_out)
        self.rows.append({"images": self.step * _BATCH, **found})

    def _learn(self, words: RenderedBatch) -> None:
        """One step."""
        falling = (self.steps - self.step) / (_FALLING * self.steps)
        factor = min((self.step + 1) / _WARM_UP, falling, 1.0)
        groups = zip(self.optimizer.param_groups, self.rates, strict=True)
        for group, rate in groups:
            group["lr"] = factor * rate
        self.parts.train()
        self.optimizer.zero_grad()
        torch.autograd.backward(_loss(self.recognizer, self.names, words))
        nn.utils.clip_grad_norm_(self.parts.parameters(), 1.0)
        self.optimizer.step()


def _stages(steps: int) -> set[int]:
    """16, 23, 32, 45, 64 and so on, and the last."""
    powers = 2.0 ** np.arange(4, max(math.log2(steps), 4), 0.5)
    return {*(round(power) for power in powers), steps}


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


def outcomes(log: pd.DataFrame, uniform: float) -> pd.DataFrame:
    """What every run came to: when its layers look near and it reads, and where it ended.

    Between two measurements a run is on the straight line. What never happens has no value.
    """
    rows = []
    for (optimizer, seed), run in log.groupby(["optimizer", "seed"]):
        at = run.sort_values("images").set_index("images")
        values = {}
        for layer in range(1, _DEPTH + 1):
            near = _LEARNED * uniform - at[_column("distance", layer)]
            values[f"images until layer {layer} looks near"] = _first(near)
        values["images until it reads"] = _first(at["accuracy"] - _READS)
        for layer in range(1, _DEPTH + 1):
            distances = at[_column("distance", layer)]
            values[f"px of layer {layer} at the end"] = distances.iloc[-1]
        values["% read at the end"] = 100 * at["accuracy"].iloc[-1]
        of_run = {"optimizer": optimizer, "seed": seed}
        rows += [
            {**of_run, "outcome": name, "value": value}
            for name, value in values.items()
        ]
    return pd.DataFrame(rows)


def _column(metric: str, layer: int) -> str:
    return f"attention_{metric}/layer_{layer:02d}"


def _first(values: pd.Series) -> float:
    """Where values, by images, are zero or more for the first time."""
    reached = np.flatnonzero(values >= 0)
    if not len(reached):
        return math.nan
    after = int(reached[0])
    if after == 0:
        return float(values.index[0])
    ends = slice(after - 1, after + 1)
    return float(np.interp(0.0, values.iloc[ends], values.index[ends]))


def compared(found: pd.DataFrame) -> pd.DataFrame:
    """Means of both optimizers, and what Muon changes.

    ``difference`` is Muon minus AdamW with its 95 % interval (Student's t) over the ``seeds`` in
    which both have a value; a seed is the same words and the same first weights.
    """
    rows = []
    for outcome, of_runs in found.groupby("outcome", sort=False):
        runs = of_runs.pivot_table(index="seed", columns="optimizer", values="value")
        runs = runs.reindex(columns=list(OPTIMIZERS))
        row = {"outcome": outcome, **runs.mean().to_dict()}
        pairs = runs.dropna()
        if len(pairs) > 1:
            differences = torch.tensor((pairs["Muon"] - pairs["AdamW"]).to_numpy())
            mean = mean_over(differences.double())
            row |= {
                "difference": float(mean.mean),
                "low": float(mean.low),
                "high": float(mean.high),
            }
        rows.append(row | {"seeds": len(pairs)})
    return pd.DataFrame(rows)


@styled()
def course(log: pd.DataFrame, uniform: float) -> Figure:
    """A panel for each layer, one for reading and one for the cosine with the own value.

    Thin lines are runs, thick ones their means.
    """
    layers = range(1, _DEPTH + 1)
    titles = [f"distance, layer {layer}" for layer in layers]
    titles += ["words read", "cosine with own value"]
    sheet, grid = panels([(title, "") for title in titles], 2.9, shared=False)
    *of_layers, reading, own = grid
    for layer, axes in zip(layers, of_layers, strict=True):
        _draw(axes, log, _column("distance", layer))
        axes.axhline(uniform, color="k", lw=1, ls="--", label="uniform attention")
        axes.set_ylim(0, 1.15 * uniform)
        axes.set_ylabel("px")
    _draw(reading, log.assign(percent=100 * log["accuracy"]), "percent")
    reading.set_ylabel("% read right")
    cosines = log[[_column("own_value_cosine", layer) for layer in layers]]
    _draw(own, log.assign(cosine=cosines.mean(axis=1)), "cosine")
    own.set_ylabel("mean of layers")
    for axes in (reading, own):
        axes.set_ylim(0, None)
    for axes in grid:
        axes.set_xlabel("images trained on (root scale)")
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
    axes.xaxis.set_major_locator(MaxNLocator(5))
    axes.xaxis.set_major_formatter(EngFormatter(sep=""))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.grid(visible=False, axis="x")


if __name__ == "__main__":
    main()
