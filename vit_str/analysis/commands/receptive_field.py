"""``vit-str analyze receptive-field``: what tokens can see, and what they do see."""

import argparse
import time
from typing import NamedTuple

from vit_str.analysis import cli
from vit_str.analysis.figures.fields import LayerField, distance_by_depth, field_gallery
from vit_str.analysis.gradient_fields import UNITS, GradientFields, uniform_gradient_distance
from vit_str.analysis.intervals import mean_over_images
from vit_str.analysis.material import Material
from vit_str.analysis.receptive_field import ReceptiveField, fields_by_layer
from vit_str.analysis.subjects import Subject, load_subjects
from vit_str.analysis.tables import Row, layer_rows, write_csv, write_rows, write_summary
from vit_str.analysis.walk import material_for, walk
from vit_str.pages.page import Page

_LEAD = """\
How far around itself a token sees. A convolution can see a window that grows with depth (its \
theoretical receptive field), a Vision Transformer the whole image from the first layer on. What \
either does see is told by the gradients of a token's output with respect to the pixels: their \
mean distance from the token, in pixels of the model's input, is one unit for both."""

_METHOD = """\
Gradient distance is the sum of |g| |p - q| over the sum of |g|: |g| is the norm of the gradient \
over the colors of pixel p, q the middle of the token. The channels of a token are added with \
random signs, because in a plain sum their gradients would cancel. It is about all layers up to \
the one it stands at, while attention distance is about that layer alone; skip connections hold it \
near the token."""

_CAUTION = """\
A gradient tells what a small change of a pixel would do to the features of this image. It does \
not tell which pixels a reading rests on."""


class Measured(NamedTuple):
    """One model: what it can see, and what it does."""

    subject: Subject
    bounds: list[ReceptiveField]
    fields: GradientFields


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of this subcommand."""
    cli.models(parser)
    cli.common(parser, count=100)
    parser.add_argument(
        "--queries", type=int, default=4, metavar="N", help="tokens of each image to ask (4)"
    )


def run(options: argparse.Namespace) -> None:
    """Measure every model on the same images and write what was found."""
    start = time.monotonic()
    subjects = load_subjects(options.models, options.seed)
    measured, material = _measure_all(subjects, options)
    rows = [row for each in measured for row in _rows(each, options.seed)]
    uniform = uniform_gradient_distance(subjects[0].recognizer.encoder)
    write_rows(options.out / "gradient_distance.csv", rows)
    columns, bounds = _bounds(measured)
    write_csv(options.out / "theoretical.csv", columns, bounds)
    seconds = time.monotonic() - start
    chance = {"uniform": uniform}
    n = measured[0].fields.seen
    write_summary(options.out, options, subjects, material, seconds, n=n, chance=chance)
    page = _page(measured, rows, chance, material.description)
    page.table(columns, bounds, "What a token can see at most, in pixels (Araujo et al. 2019)")
    cli.report(page.write(options.out), material)


def _measure_all(
    subjects: list[Subject], options: argparse.Namespace
) -> tuple[list[Measured], Material]:
    found = []
    for subject in subjects:
        material = material_for(subject, options)
        encoder = subject.recognizer.encoder
        fields = GradientFields(encoder, options.queries, options.seed)
        for _, images in walk(subject, material, options):
            fields.update(images)
        found.append(Measured(subject, fields_by_layer(encoder), fields))
    return found, material


def _rows(measured: Measured, seed: int) -> list[Row]:
    found = []
    for metric, unit in UNITS.items():
        mean = mean_over_images(measured.fields.values(metric).T, seed)
        found += layer_rows(measured.subject.name, metric, unit, mean)
    return found


def _bounds(measured: list[Measured]) -> tuple[list[str], list[list[object]]]:
    columns = ["model", "layer", "field height", "field width", "stride down", "stride across"]
    rows: list[list[object]] = [
        [each.subject.name, layer, *field.size, *field.stride]
        for each in measured
        for layer, field in enumerate(each.bounds, 1)
    ]
    return columns, rows


def _page(measured: list[Measured], rows: list[Row], chance: dict[str, float], images: str) -> Page:
    n = measured[0].fields.seen
    page = Page("Receptive fields", f"{_LEAD} Measured on {images}.")
    page.heading("How far tokens see")
    page.figure(
        distance_by_depth(rows, chance),
        "gradient-distance",
        f"Mean gradient distance in pixels by layer; bands are 95 % bootstrap intervals over n = "
        f"{n:,} images. The line uniform is for gradients that are alike everywhere.",
    )
    for each in measured:
        page.paragraph(_finding(each))
    page.paragraph(_METHOD)
    page.heading("Where the middle token sees")
    page.figure(
        field_gallery({each.subject.name: _gallery(each) for each in measured}),
        "fields",
        "Norm of the gradients of the token in the middle (small frame), mean over "
        f"n = {n:,} images, dark where large, on the scale of the square root; dashed: what the "
        "token can see at most.",
    )
    page.note(_CAUTION)
    page.heading("In numbers")
    values = [[r.model, r.layer, r.metric, r.unit, r.mean, r.low, r.high] for r in rows]
    names = ["model", "layer", "metric", "unit", "mean", "low", "high"]
    page.table(names, values, f"Means over n = {n:,} images with 95 % intervals")
    return page


def _finding(measured: Measured) -> str:
    """The main numbers in a sentence."""
    means = measured.fields.values("gradient_distance").nanmean(1).tolist()
    area = float(measured.fields.values("gradient_area")[-1].nanmean())
    height, width = measured.bounds[-1].size
    return (
        f"{measured.subject.name}: from {means[0]:.1f} px in the first layer to {means[-1]:.1f} px "
        f"in the last of {len(means)}, in which a token can see {height} x {width} px at most and "
        f"nine tenths of its gradient lie in {area:.0%} of the image."
    )


def _gallery(measured: Measured) -> list[LayerField]:
    fields = measured.fields
    means = fields.values("gradient_distance").nanmean(1).tolist()
    return [
        LayerField(field.numpy(), mean, cell, bounds.of_unit(*unit))
        for field, mean, bounds, (unit, cell) in zip(
            fields.centered, means, measured.bounds, fields.middle_cells(), strict=True
        )
    ]
