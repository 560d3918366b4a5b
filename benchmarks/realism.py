"""How far rendered words are from photographed ones.

    python benchmarks/realism.py FOLDER... [--count 2000] [--seed 1] [--out comparison/]

Measures every picture as a model sees it, prints how each statistic of the rendered words differs
from that of every FOLDER (images with ``labels.tsv``), and how well a classifier on all statistics
distinguishes any two sets. ``--out`` also writes ``realism.csv``, one row for each picture, and
``realism.png``, the distributions. Needs ``vit-str[dev]``.
"""

import argparse
from collections.abc import Iterator, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float, UInt8
from measuring import described_parser
from scipy.ndimage import convolve
from scipy.stats import mannwhitneyu, wasserstein_distance
from skimage.color import rgb2gray
from skimage.filters import laplace, sobel, threshold_otsu
from skimage.measure import label as connected
from sklearn.impute import SimpleImputer
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from vit_str.characters.charset import charset_of
from vit_str.console import Progress, positive
from vit_str.datasets.folder import FolderReader
from vit_str.images.loading import load_image
from vit_str.images.preprocessing import TALL, Preprocessing
from vit_str.images.refusals import UnreadableImage
from vit_str.rendering.command import strengths
from vit_str.rendering.dataset import BATCH
from vit_str.synthesis.glyph_cache import load_or_draw_glyphs
from vit_str.synthesis.ingredients import Ingredients
from vit_str.synthesis.lexicon import Lexicon
from vit_str.synthesis.pictures import load_pictures
from vit_str.synthesis.renderer import Renderer

Picture = UInt8[np.ndarray, "height width 3"]
Gray = Float[np.ndarray, "height width"]
"""From 0, black, to 255, white."""

RENDERED = "rendered"
LABEL_STATISTICS = ("length", "upper", "lower", "digits", "symbols")
"""Of labels: the others are of pictures."""

_FLAT = 2.0  # gray levels of contrast below which there is nothing to measure
_BLOCK = 8  # of JPEG, in pixels
_FOLDS = 5
# A filter that edges hardly pass (Immerkaer 1996), and the median (Donoho and Johnstone 1994).
_IMMERKAER = np.array([[1, -2, 1], [-2, 4, -2], [1, -2, 1]])
_MEDIAN_OF_NORMAL = 0.6745  # of the absolute value, standard deviation 1


def picture_statistics(picture: Picture) -> dict[str, float]:
    """What a picture is like; NaN where there is nothing to measure."""
    gray = 255 * rgb2gray(picture)
    low, high = np.quantile(gray, (0.05, 0.95))
    flat = gray.std() < _FLAT
    # Opponent colors (Hasler and Suesstrunk 2003).
    red, green, blue = np.moveaxis(picture.astype(float), -1, 0)
    opponents = np.stack([red - green, (red + green) / 2 - blue])
    spread = np.linalg.norm(opponents.std((1, 2)))
    return {
        "brightness": gray.mean(),
        "contrast": gray.std(),
        "michelson": (high - low) / max(high + low, 1e-6),
        "colorfulness": spread + 0.3 * np.linalg.norm(opponents.mean((1, 2))),
        "sharpness": laplace(gray).std(),  # Pech-Pacheco et al. 2000
        "edge_width": np.nan if flat else edge_width(gray),
        "falloff": np.nan if flat else falloff(gray),
        "noise": np.median(np.abs(convolve(gray, _IMMERKAER)))
        / (6 * _MEDIAN_OF_NORMAL),
        "blockiness": np.nan if flat else blockiness(gray),
        **({} if flat else ink_statistics(gray)),
    }


def edge_width(gray: Gray) -> float:
    """How many pixels the steepest edges take from dark to light.

    A Gaussian blur of s pixels makes an edge 2.5 s wide.
    """
    low, high = np.quantile(gray, (0.05, 0.95))
    gradient = sobel(gray) / np.sqrt(2)  # in gray levels per pixel
    return float((high - low) / max(np.quantile(gradient, 0.99), 1e-6))


def falloff(gray: Gray) -> float:
    """Exponent a of the power spectrum 1/f^a; white noise has 0, natural images about 2.

    Field (1987). A line through the logarithms, every octave alike.
    """
    height, width = gray.shape
    window = np.outer(np.hanning(height + 2)[1:-1], np.hanning(width + 2)[1:-1])
    power = np.abs(np.fft.rfft2((gray - gray.mean()) * window)) ** 2
    frequency = np.hypot(np.fft.fftfreq(height)[:, None], np.fft.rfftfreq(width))
    chosen = (frequency >= 2 / min(height, width)) & (frequency <= 0.5)
    octaves = np.log(frequency[chosen])
    slope, _ = np.polyfit(
        octaves,
        np.log(power[chosen].clip(1e-3)),
        1,
        w=1 / frequency[chosen],
    )
    return -float(slope)


def blockiness(gray: Gray) -> float:
    """Steps at the borders of 8 x 8 blocks over steps elsewhere (Wang, Sheikh and Bovik 2002)."""
    at_borders = []
    elsewhere = []
    for axis in (0, 1):
        steps = np.abs(np.diff(gray, axis=axis)).mean(1 - axis)
        border = np.arange(1, len(steps) + 1) % _BLOCK == 0
        at_borders.append(steps[border])
        elsewhere.append(steps[~border])
    return float(
        np.concatenate(at_borders).mean() / max(np.concatenate(elsewhere).mean(), 1e-6)
    )


def ink_statistics(gray: Gray) -> dict[str, float]:
    """What the letters are like, the ground being what most of the border belongs to."""
    light = gray > threshold_otsu(gray)
    border = np.ones_like(light)
    border[2:-2, 2:-2] = False
    light_text = light[border].mean() <= 0.5
    ink = light if light_text else ~light
    between = (
        ink.mean() * (1 - ink.mean()) * (gray[ink].mean() - gray[~ink].mean()) ** 2
    )
    profile = ink.mean(1)
    # Rows with ink, 1, 2, ... for every run
    runs = connected(profile >= profile.max() / 4)
    line = np.bincount(runs)[1:].max()
    held = ink.mean(0).cumsum() / ink.mean(0).sum()
    return {
        # Otsu 1979: share of variance between the classes
        "two_tone": between / gray.var(),
        "ground_spread": gray[~ink].std(),
        "ink_spread": gray[ink].std(),
        "light_text": float(light_text),
        "ink_share": ink.mean(),
        "stroke_width": ink.sum() / np.diff(ink, axis=1, prepend=False)[ink].sum(),
        "text_height": line / len(profile),
        "text_width": ((held >= 0.02) & (held <= 0.98)).mean(),
        "other_lines": ((runs > 0).sum() - line) / len(profile),
    }


def label_statistics(label: str) -> dict[str, float]:
    """How long a label is, and which share of its characters is of a class."""
    count = max(len(label), 1)
    symbols = [each for each in label if not each.isalnum() and not each.isspace()]
    return {
        "length": len(label),
        "upper": sum(map(str.isupper, label)) / count,
        "lower": sum(map(str.islower, label)) / count,
        "digits": sum(map(str.isdigit, label)) / count,
        "symbols": len(symbols) / count,
    }


def classifier() -> Pipeline:
    """Logistic regression on all statistics and their squares; both sets weigh the same.

    Squares, because what is more varied than real words is as little real as what is sharper.
    """
    squares = FunctionTransformer(lambda values: np.hstack([values, values**2]))
    limits = FunctionTransformer(lambda values: values.clip(-4, 4))
    regression = LogisticRegression(class_weight="balanced", max_iter=1000)
    imputer = SimpleImputer(keep_empty_features=True)
    return make_pipeline(imputer, StandardScaler(), limits, squares, regression)


def distinguish(
    first: pd.DataFrame, second: pd.DataFrame, seed: int = 0
) -> tuple[list[float], pd.Series]:
    """Area under the curve of `classifier` (0.5 is chance), and what is lost without a statistic.

    Areas are those of five held-out folds, losses means over them.

    Args:
        first: statistics of a set of pictures, at least as many as folds.
        second: the same ones of another set.
        seed: of the folds and of shuffling.
    """
    values = pd.concat([first, second], ignore_index=True)
    in_first = np.arange(len(values)) < len(first)
    folds = StratifiedKFold(_FOLDS, shuffle=True, random_state=seed)
    areas = []
    losses = []
    for chosen, held_out in folds.split(values, in_first):
        model = classifier().fit(values.iloc[chosen], in_first[chosen])
        scores = pd.Series(model.decision_function(values.iloc[held_out]))
        areas.append(
            share_higher(scores[in_first[held_out]], scores[~in_first[held_out]])
        )
        lost = permutation_importance(
            model,
            values.iloc[held_out],
            in_first[held_out],
            scoring="roc_auc",
            n_repeats=1,
            random_state=seed,
        )
        losses.append(lost.importances_mean)
    return areas, pd.Series(np.mean(losses, 0), index=values.columns)


def share_higher(first: pd.Series, second: pd.Series) -> float:
    """Share of pairs in which the first is larger, ties by half (Mann and Whitney 1947)."""
    return float(mannwhitneyu(first, second).statistic) / len(first) / len(second)


def inside(
    rendered: pd.DataFrame,
    real: pd.DataFrame,
) -> Bool[np.ndarray, "picture statistic"]:
    """Which values of real pictures are in the 1 to 99 % range of rendered ones; NaN are."""
    low = rendered.quantile(0.01)
    high = rendered.quantile(0.99)
    return ~((real < low) | (real > high)).to_numpy()


def differences(rendered: pd.DataFrame, real: pd.DataFrame) -> pd.DataFrame:
    """A row for every statistic, the most different first.

    ``distance`` is how far values have to be moved on average to be those of the other set
    (Wasserstein-1), in standard deviations; ``higher`` the share of pairs in which the rendered
    word has the larger value; ``inside`` the share of photographs in the 1 to 99 % range of
    rendered words.
    """
    within = pd.Series(inside(rendered, real).mean(0), index=rendered.columns)
    rows = {}
    for name in rendered:
        first = rendered[name].dropna()
        second = real[name].dropna()
        if len(first) and len(second):
            deviation = np.sqrt((first.var(ddof=0) + second.var(ddof=0)) / 2) or 1.0
            quantiles = [
                ", ".join(
                    f"{value:.3g}" for value in values.quantile([0.05, 0.5, 0.95])
                )
                for values in (first, second)
            ]
            distance = wasserstein_distance(first, second) / deviation
            rows[name] = [
                *quantiles,
                distance,
                share_higher(first, second),
                within[name],
            ]
    columns = ["rendered 5, 50, 95 %", "photographed", "distance", "higher", "inside"]
    table = pd.DataFrame.from_dict(rows, orient="index", columns=columns)
    return table.sort_values("distance", ascending=False)


def rendered_words(
    renderer: Renderer,
    count: int,
    seed: int,
) -> Iterator[tuple[Picture, str]]:
    """The first words of a seed."""
    for index in range(-(-count // BATCH)):
        batch = renderer.batch(BATCH, seed, index)
        pictures = batch.images.permute(0, 2, 3, 1).cpu().numpy()
        labels = map(renderer.charset.decode, batch.labels.tolist())
        yield from list(zip(pictures, labels, strict=True))[: count - index * BATCH]


def photographed_words(
    folder: FolderReader, size: tuple[int, int], count: int
) -> Iterator[tuple[Picture, str]]:
    """At most so many words of a folder, evenly spread, as a model sees them."""
    files = folder.files()
    preprocessing = Preprocessing(*size, turn_above=TALL)
    step = max(len(files.paths) / count, 1)
    for number in range(min(count, len(files.paths))):
        place = int(number * step)
        try:
            picture = preprocessing.pixels(load_image(files.paths[place]))
        except UnreadableImage as error:
            print(f"skipped: {error}")
            continue
        yield picture.permute(1, 2, 0).numpy(), files.labels[place]


def measured(
    words: Iterator[tuple[Picture, str]],
    name: str,
    count: int,
) -> pd.DataFrame:
    """A row of statistics for every word."""
    rows: list[dict[str, Any]] = []
    with Progress(count, alone=True, unit="word", name=name) as progress:
        for picture, label in progress.over(words):
            row = {
                "set": name,
                "label": label,
                **picture_statistics(picture),
                **label_statistics(label),
            }
            rows.append(row)
    if not rows:
        raise SystemExit(f"{name}: no image in it can be read; give another folder")
    return pd.DataFrame(rows)


def report(words: pd.DataFrame) -> None:
    """Print everything."""
    sets = {
        name: rows.drop(columns=["set", "label"]).reset_index(drop=True)
        for name, rows in words.groupby("set", sort=False)
    }
    pictures = {
        name: each.drop(columns=[*LABEL_STATISTICS]) for name, each in sets.items()
    }
    rendered = sets.pop(RENDERED)
    for name, real in sets.items():
        print(f"\n{len(rendered):,} rendered words against {len(real):,} of {name}")
        print(differences(rendered, real).round(2).to_string())
        share = inside(pictures[RENDERED], pictures[name]).all(1).mean()
        print(
            f"{share:.0%} lie inside the 1-99 % range of rendered words in everything"
        )
    print("\narea under the curve, and what is lost without a statistic")
    together = pd.concat([pictures[name] for name in sets])
    pairs = {f"{RENDERED} / all folders": (pictures[RENDERED], together)}
    pairs |= {
        f"{a} / {b}": (pictures[a], pictures[b]) for a, b in combinations(pictures, 2)
    }
    for name, (first, second) in pairs.items():
        if min(len(first), len(second)) < 2 * _FOLDS:
            print(f"{name}: fewer than {2 * _FOLDS} pictures")
            continue
        areas, losses = distinguish(first, second)
        most = ", ".join(
            f"{key} {value:.2f}" for key, value in losses.nlargest(4).items()
        )
        span = f"{min(areas):.2f} to {max(areas):.2f} by fold"
        print(f"{name}: {np.mean(areas):.2f}, {span}; {most}")


def write(words: pd.DataFrame, folder: Path) -> None:
    """Write the table and the distributions."""
    folder.mkdir(parents=True, exist_ok=True)
    words.to_csv(folder / "realism.csv", index=False)
    statistics = words.columns.drop(["set", "label"])
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, 10), layout="constrained")
    panels = figure.subplots(5, -(-len(statistics) // 5)).flat
    for axes, name in zip(panels, statistics, strict=False):
        ends = words[name].quantile([0.005, 0.995])
        for set_name, values in words.groupby("set", sort=False)[name]:
            bins = np.linspace(*ends, 31)
            kind = "stepfilled" if set_name == RENDERED else "step"
            axes.hist(
                values.clip(*ends),
                bins,
                density=True,
                histtype=kind,
                label=set_name,
            )
        axes.set_title(name, fontsize=9)
        axes.set_yticks([])
    figure.legend(
        *axes.get_legend_handles_labels(), loc="outside upper center", ncols=5
    )
    figure.savefig(folder / "realism.png")
    print(f"\n{folder / 'realism.csv'}, {folder / 'realism.png'}")


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, print, write."""
    options = _parser().parse_args(arguments)
    charset = charset_of("ascii")
    renderer = Renderer(
        load_or_draw_glyphs(charset, options.fonts),
        Lexicon(charset),
        ingredients=Ingredients(**options.ingredients).at(1.0),
        pictures=load_pictures(options.pictures) if options.pictures else None,
        chunk=BATCH,
    )
    drawn = rendered_words(renderer, options.count, options.seed)
    tables = [measured(drawn, RENDERED, options.count)]
    for path in options.folders:
        folder = FolderReader(path)
        taken = photographed_words(folder, renderer.image_size, options.count)
        tables.append(measured(taken, folder.name, options.count))
    words = pd.concat(tables, ignore_index=True)
    report(words)
    if options.out:
        write(words, options.out)


def _parser() -> argparse.ArgumentParser:
    parser = described_parser(__doc__)
    parser.add_argument(
        "folders",
        nargs="+",
        metavar="FOLDER",
        help="photographed words",
    )
    parser.add_argument(
        "--count",
        type=positive,
        default=2000,
        help="most words of each set",
    )
    parser.add_argument("--seed", type=int, default=1, help="of the rendered words")
    parser.add_argument(
        "--fonts",
        type=Path,
        nargs="+",
        help="folders, instead of the system's",
    )
    parser.add_argument(
        "--pictures",
        type=Path,
        nargs="+",
        help="folders, for backgrounds",
    )
    parser.add_argument(
        "--ingredients",
        type=strengths,
        default={},
        help="such as blur=2,curve=0",
    )
    parser.add_argument(
        "--out",
        type=Path,
        metavar="FOLDER",
        help="writes realism.csv, .png",
    )
    return parser


if __name__ == "__main__":
    main()
