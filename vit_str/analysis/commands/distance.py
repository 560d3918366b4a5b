"""``vit-str analyze distance``: how far the heads of one model or several look."""

import argparse
import time

import numpy as np
import torch
from matplotlib.figure import Figure
from tqdm import tqdm

from vit_str.analysis import cli
from vit_str.analysis.distance import (
    Chance,
    DistanceAnalysis,
    attends,
    chance,
    measure,
    rows,
)
from vit_str.analysis.figures.distance import against_convolution, heads_by_depth, sorted_heads
from vit_str.analysis.figures.offsets import offsets_gallery
from vit_str.analysis.figures.reach import distance_against_entropy, reach
from vit_str.analysis.figures.training import along_training
from vit_str.analysis.geometry import uniform_attention
from vit_str.analysis.gradient_fields import GradientFields, uniform_gradient_distance
from vit_str.analysis.intervals import mean_over_images
from vit_str.analysis.material import Material
from vit_str.analysis.offsets import by_offset
from vit_str.analysis.statistics import NORMS
from vit_str.analysis.subjects import Subject, load_subjects
from vit_str.analysis.tables import Row, layer_rows, write_rows, write_summary
from vit_str.analysis.walk import material_for, walk
from vit_str.devices import choose_device
from vit_str.pages.page import Page

_LEAD = (
    "Mean attention distance is how far, in pixels of the model's input, the tokens that a token "
    "looks at lie from it on average. Small values mean that a head looks around itself, large "
    "ones that it looks across the image."
)
_CAUTION = (
    "What to make of it: a distance is judged against its chance lines. A head that looks "
    'everywhere alike has the distance of the line "uniform", and a model without training is '
    "close to that line in every layer; so a large distance alone says nothing about what was "
    "learned. That a head looks somewhere does not say that what it finds there is used."
)
_STAGES = 3  # weights of one run, from which on its course is drawn


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of this subcommand."""
    cli.models(parser)
    cli.common(parser)
    add_norm(parser)
    parser.add_argument(
        "--gradients",
        type=int,
        default=16,
        metavar="N",
        help="images on which to measure gradient distance too, the yardstick that convolutions "
        "have as well (16; 0 for none)",
    )


def add_norm(parser: argparse.ArgumentParser) -> None:
    """What becomes of attention to special tokens."""
    parser.add_argument(
        "--norm",
        choices=NORMS,
        default=NORMS[0],
        help="attention to special tokens left out and the rest scaled to 1 (renormalized, the "
        "default), or the rest as it is (raw, as the ViT paper); the same without special tokens",
    )


def run(options: argparse.Namespace) -> None:
    """Measure every model on the same images and write what was found."""
    start = time.monotonic()
    subjects = load_subjects(options.models, options.seed)
    attentive = [subject for subject in subjects if attends(subject)] or subjects
    analyses, material = measure_all(attentive, options)
    table = [row for analysis in analyses for row in rows(analysis, options.seed)]
    gradients = _gradient_rows(subjects, options) if options.gradients > 0 else []
    seconds = time.monotonic() - start
    by_model = {analysis.model: chance(analysis.grid) for analysis in analyses}
    write_rows(options.out / "distance.csv", [*table, *gradients])
    write_summary(
        options.out,
        options,
        subjects,
        material,
        seconds,
        n=analyses[0].images,
        chance=by_model,
        sinks={analysis.model: analysis.statistics.sinks() for analysis in analyses},
    )
    page = _page(analyses, table, by_model, material.description)
    if gradients:
        _write_gradients(page, gradients, uniform_gradient_distance(subjects[0].recognizer.encoder))
    stages = {subject.name: subject.images for subject in subjects if subject.images is not None}
    if len(stages) >= _STAGES:
        _write_training(page, table, stages, by_model)
    cli.report(page.write(options.out), material)


def measure_all(
    subjects: list[Subject], options: argparse.Namespace
) -> tuple[list[DistanceAnalysis], Material]:
    """Every model on the same images, with a progress bar."""
    device = choose_device(options.device)
    found = []
    with tqdm(total=len(subjects) * options.count, unit="image", disable=None) as bar:
        for subject in subjects:
            material = material_for(subject, options)
            bar.total = len(subjects) * material.count
            norm, size = options.norm, options.batch_size
            found.append(
                measure(subject, material, norm, batch_size=size, device=device, advance=bar.update)
            )
    return found, material


def _gradient_rows(subjects: list[Subject], options: argparse.Namespace) -> list[Row]:
    """Gradient distance of every layer, which any encoder has."""
    asked = argparse.Namespace(**{**vars(options), "count": min(options.count, options.gradients)})
    found = []
    for subject in subjects:
        fields = GradientFields(subject.recognizer.encoder, seed=options.seed)
        for _, images in walk(subject, material_for(subject, asked), asked):
            fields.update(images)
        mean = mean_over_images(fields.values("gradient_distance").T, options.seed)
        found += layer_rows(subject.name, "gradient_distance", "px", mean)
    return found


def _page(
    analyses: list[DistanceAnalysis], table: list[Row], by_model: Chance, images: str
) -> Page:
    page = Page("Attention distance", f"{_LEAD} Measured on {images}.")
    n, norm = analyses[0].images, analyses[0].statistics.norm
    distances = {name: _one(values, "distance") for name, values in by_model.items()}
    page.heading("By depth")
    for analysis in analyses:
        page.paragraph(_finding(analysis, by_model[analysis.model]["uniform"]["distance"]))
    page.figure(
        heads_by_depth(table, distances),
        "distance-by-depth",
        f"Attention distance of every head (dot) and layer (line) in pixels, {norm}; bars and "
        f"bands are 95 % bootstrap intervals over n = {n:,} images.",
    )
    page.note(_CAUTION)
    page.figure(
        sorted_heads(table, distances),
        "distance-sorted",
        f"The heads of every layer from the nearest to the farthest looking, n = {n:,} images.",
    )
    page.heading("Direction and spread")
    page.figure(
        reach(table, _points(by_model, "distance_x", "distance_y")),
        "distance-directions",
        f"How far heads look to the sides and up and down, in pixels, n = {n:,} images.",
    )
    page.figure(
        distance_against_entropy(table, _points(by_model, "entropy", "distance")),
        "distance-entropy",
        "Entropy in nats against distance in pixels: heads in the upper left look at few tokens "
        f"far away, n = {n:,} images.",
    )
    page.heading("What heads look at, relative to themselves")
    for number, analysis in enumerate(analyses, 1):
        page.figure(
            _gallery(analysis),
            f"offsets-{number}",
            f"{analysis.model}: mean attention by offset from the token that looks, relative to "
            "looking everywhere alike.",
        )
    page.heading("In numbers")
    for analysis in analyses:
        columns, cells = _layer_table(analysis)
        page.table(columns, cells, f"{analysis.model}: means over heads, {norm}, n = {n:,} images")
    return page


def _write_gradients(page: Page, gradients: list[Row], uniform: float) -> None:
    """The yardstick that convolutions have as well."""
    curves: dict[str, list[tuple[int, float, float, float]]] = {}
    for row in gradients:
        curves.setdefault(row.model, []).append((row.layer, row.mean, row.low, row.high))
    n = gradients[0].n
    page.heading("In the unit of convolutions")
    page.figure(
        against_convolution(curves, {"uniform": uniform}, n),
        "gradient-distance",
        "How far the pixels lie that the output of a layer depends on, by gradients, in pixels; 95 "
        f"% bootstrap intervals over n = {n:,} images. It is about all layers up to that one, and "
        "skip connections hold it near the token.",
    )


def _write_training(page: Page, table: list[Row], images: dict[str, int], by_model: Chance) -> None:
    """The course of a run, from its weights along the way."""
    first = next(iter(images))
    page.heading("While learning")
    page.figure(
        along_training(table, images, _one(by_model[first], "distance")),
        "distance-training",
        "Attention distance of every layer by the number of images that the weights had been "
        "trained on: mean over heads at the left, nearest looking head at the right, in pixels.",
    )


def _one(values: dict[str, dict[str, float]], metric: str) -> dict[str, float]:
    return {name: metrics[metric] for name, metrics in values.items()}


def _points(by_model: Chance, first: str, second: str) -> dict[str, dict[str, tuple[float, float]]]:
    return {
        model: {name: (metrics[first], metrics[second]) for name, metrics in values.items()}
        for model, values in by_model.items()
    }


def _finding(analysis: DistanceAnalysis, uniform: float) -> str:
    """The main numbers in a sentence."""
    heads = torch.cat([layer.mean(0) for layer in analysis.statistics.values("distance")])
    layers = [float(layer.mean()) for layer in analysis.statistics.values("distance")]
    near = int((heads < uniform / 2).sum())
    return (
        f"{analysis.model}: from {layers[0]:.1f} px in the first layer to {layers[-1]:.1f} px in "
        f"the last (lowest {min(layers):.1f}, highest {max(layers):.1f}); looking everywhere "
        f"alike is {uniform:.1f} px. The nearest looking head reaches {float(heads.min()):.1f} px, "
        f"the farthest {float(heads.max()):.1f} px; {near} of {len(heads)} heads look less than "
        "half as far as uniform attention."
    )


def _gallery(analysis: DistanceAnalysis) -> Figure:
    grid = analysis.grid
    uniform = by_offset(uniform_attention(grid)[None], grid)[0]
    maps = np.stack([layer.numpy() for layer in analysis.offsets.maps()])
    return offsets_gallery(maps, uniform.numpy(), grid.patch_size, analysis.offsets.images)


def _layer_table(analysis: DistanceAnalysis) -> tuple[list[str], list[list[object]]]:
    statistics = analysis.statistics
    names = {
        "distance": "distance (px)",
        "distance_x": "sideways (px)",
        "distance_y": "up and down (px)",
        "entropy": "entropy (nats)",
        "nmi": "NMI",
        "self_mass": "to itself",
        "sink_mass": "to the sink",
        "special_mass": "to special tokens",
        "head_divergence": "head divergence (nats)",
    }
    means = {name: [float(layer.mean()) for layer in statistics.values(name)] for name in names}
    cells: list[list[object]] = [
        [layer + 1, *(means[name][layer] for name in names)]
        for layer in range(len(statistics.layers))
    ]
    return ["layer", *names.values()], cells
