"""``vit-str analyze rollout``: attention multiplied through the layers."""

import argparse
import time
from typing import NamedTuple

import torch

from vit_str.analysis import cli
from vit_str.analysis.explanations import attention, gradient_times_input
from vit_str.analysis.figures.fields import distance_by_depth
from vit_str.analysis.figures.map_sheet import MappedWord, map_sheet, mapped_words
from vit_str.analysis.figures.overlays import CAUTION
from vit_str.analysis.geometry import TokenGrid
from vit_str.analysis.intervals import mean_over_images
from vit_str.analysis.material import Batch, Material
from vit_str.analysis.probe import probe
from vit_str.analysis.rollout import RESIDUAL, character_rollout, encoder_rollout
from vit_str.analysis.statistics import UNITS, AttentionStatistics
from vit_str.analysis.subjects import Subject, load_subjects
from vit_str.analysis.tables import Row, layer_rows, write_rows, write_summary
from vit_str.analysis.walk import material_for, walk
from vit_str.pages.page import Page

_LEAD = """\
Attention of one layer tells which tokens a token takes from; rollout multiplies the attention of \
all layers up to it, with the skip connections, and tells which patches reach the token as far as \
attention decides."""

_METHOD = """\
Every layer is taken as residual * I + (1 - residual) * A, A the mean of its heads. What values \
and feed-forward layers do is left out, and a token that looks everywhere alike moves rollout \
towards even, whatever it does with what it sees. Rollout of a model without training is a chance \
line."""

_METRICS = ("distance", "entropy", "self_mass")


class _Measured(NamedTuple):
    subject: Subject
    rolled: AttentionStatistics
    single: AttentionStatistics
    words: list[MappedWord]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of this subcommand."""
    cli.models(parser)
    cli.common(parser)
    parser.add_argument(
        "--residual",
        type=float,
        default=RESIDUAL,
        metavar="SHARE",
        help=f"of the skip connection in every layer ({RESIDUAL})",
    )
    parser.add_argument(
        "--show", type=int, default=4, metavar="N", help="words to draw with their maps (4)"
    )


def run(options: argparse.Namespace) -> None:
    """Roll out the attention of every model on the same images and write what was found."""
    start = time.monotonic()
    subjects = load_subjects(options.models, options.seed)
    measured = []
    for subject in subjects:
        material = material_for(subject, options)
        measured.append(_measure(subject, material, options))
    rows = [row for each in measured for row in _rows(each, options.seed)]
    write_rows(options.out / "rollout.csv", rows)
    seconds = time.monotonic() - start
    chance = {"uniform": TokenGrid.of(subjects[0].recognizer.encoder).uniform_distance()}
    write_summary(options.out, options, subjects, material, seconds, n=rows[0].n, chance=chance)
    page = _page(measured, rows, chance, material.description)
    cli.report(page.write(options.out), material)


def _measure(subject: Subject, material: Material, options: argparse.Namespace) -> _Measured:
    encoder = subject.recognizer.encoder
    grid = TokenGrid.of(encoder)
    rolled, single = (AttentionStatistics(grid, _METRICS) for _ in range(2))
    words: list[MappedWord] = []
    for batch, images in walk(subject, material, options):
        with probe(encoder, single.update):
            mixed = encoder_rollout(encoder, images, options.residual)
        for layer, maps in enumerate(mixed):
            rolled.update_maps(f"{layer}", maps[:, None])
        missing = options.show - len(words)
        if missing > 0:
            words += _words(subject, batch, images[:missing], options.residual)
    return _Measured(subject, rolled, single, words)


def _words(
    subject: Subject, batch: Batch, images: torch.Tensor, residual: float
) -> list[MappedWord]:
    recognizer = subject.recognizer
    labels = recognizer.generate(images).labels
    maps = {
        "cross-attention": attention(recognizer, images, labels),
        "through the encoder by rollout": character_rollout(recognizer, images, labels, residual),
        "|gradient × input|": gradient_times_input(recognizer, images, labels),
    }
    texts = [subject.charset.decode(ids) for ids in labels.tolist()]
    return mapped_words(batch.names, batch.pixels, texts, maps)


def _rows(measured: _Measured, seed: int) -> list[Row]:
    found = []
    kinds = {"rollout_": measured.rolled, "": measured.single}
    for prefix, statistics in kinds.items():
        for metric in _METRICS:
            layers = [values.mean(1) for values in statistics.values(metric)]
            mean = mean_over_images(torch.stack(layers, 1), seed)
            name, unit = f"{prefix}{metric}", UNITS[metric]
            found += layer_rows(measured.subject.name, name, unit, mean, statistics.norm)
    return found


def _page(
    measured: list[_Measured], rows: list[Row], chance: dict[str, float], images: str
) -> Page:
    n = rows[0].n
    page = Page("Attention rollout", f"{_LEAD} Measured on {images}.")
    page.heading("By depth")
    page.figure(
        distance_by_depth(rows, chance, "rollout_distance", "distance (px)", dotted="distance"),
        "rollout-distance",
        "Mean distance from a token to the patches that reach it by rollout, in pixels (solid), "
        f"and to the tokens that the layer alone attends to (dotted); n = {n:,} images, bands are "
        "95 % bootstrap intervals.",
    )
    page.paragraph(_METHOD)
    page.heading("In numbers")
    cells = [[r.model, r.layer, r.metric, r.unit, r.mean, r.low, r.high] for r in rows]
    columns = ["model", "layer", "metric", "unit", "mean", "low", "high"]
    page.table(columns, cells, f"Means over n = {n:,} images with 95 % intervals")
    shown = {each.subject.name: each.words for each in measured if each.words}
    if shown:
        page.heading("Word by word")
        page.note(CAUTION)
    for number, (name, words) in enumerate(shown.items(), 1):
        page.picture(
            map_sheet(words),
            f"words-{number}",
            f"{name}: for every character that it read the cross-attention of the last decoder "
            "block, the same through the encoder by rollout, and gradients; dark is the most of "
            "each map.",
        )
    return page
