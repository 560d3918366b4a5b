"""The report of ``vit-str analyze distance``."""

import re
from collections.abc import Sequence

import numpy as np
import pandas as pd
import torch
from matplotlib.figure import Figure

from vit_str.analysis.distance.figures import (
    along_training,
    heads_by_depth,
    models_on_one_scale,
    offsets_gallery,
)
from vit_str.analysis.distance.measure import (
    DistanceAnalysis,
    attends,
    chance_distances,
    check_group,
    measurements,
    over_trainings,
    save_maps,
    sink_tokens,
    special_tokens,
    values_of_images,
)
from vit_str.analysis.distance.offsets import by_offset
from vit_str.analysis.geometry import TokenGrid, uniform_attention
from vit_str.analysis.images import queries_of
from vit_str.analysis.receptive_field.figures import distance_by_depth
from vit_str.analysis.receptive_field.gradients import (
    GradientFields,
    gradient_measurements,
    uniform_gradient_distance,
)
from vit_str.analysis.results import AnalysisRun, cells_of, table_of
from vit_str.analysis.subjects import Subject
from vit_str.reports.page import Page
from vit_str.reports.tables import Table, write_frame

_LEAD = (
    "Mean attention distance is how far, in pixels of the model's input, the tokens that a token "
    "attends to lie from it, weighted by attention. It is small for local heads and large for "
    "heads that attend across the image."
)
_CAUTION = (
    "How to read it: compare distances with the chance lines. A head with uniform attention has "
    'the distance of the line "uniform", and a model without training is close to that line in '
    "every layer; so a large distance alone says nothing about what was learned. That a head "
    "attends to a token does not say that what is there is used."
)
_TERMS = (
    "Entropy is that of the attention of a token, in nats: 0 if it attends to one token only, ln N "
    "for uniform attention to N tokens. Weighted by values is the distance of attention times the "
    "norm of the value that it is given to. NMI, the normalized mutual information of query and "
    "key, is 0 if all tokens attend to the same tokens, and 1 if each attends to one of its own. "
    "The sink is the token that a head attends to most, on average. Head divergence is the "
    "Jensen-Shannon divergence of the heads of a layer: 0 if their attention is the same."
)
_SINKS = (
    "The sink of every layer: the head and token of the largest share, on average over queries and "
    "images; sinks.csv has all heads. Its value norm is over the mean of the head's tokens: with "
    "less than half of it the head adds little there (no operation), with more it gives one value "
    "to all (broadcast). A token with less than three times the share of uniform attention is no "
    "sink."
)
_GROUP = (
    "The models are trainings of one architecture: every value is the mean over images of one "
    "training. Heads have no order that trainings share, so in each of them head 1 is the one that "
    "looks least far in its layer."
)
_CHOSEN = {"text": "text", "background": "the background around text"}
_STAGE = re.compile(r"step-\d+")  # what `vit_str.training.WeightsHistory` calls its files
_STAGES = 3  # weights of one run, from which on its course is drawn
_UNITS = {"px": "pixels", "share of diagonal": "shares of the diagonal of the model's input"}
_COLUMNS = {
    "distance": "distance (px)",
    "value_distance": "weighted by values (px)",
    "distance_x": "sideways (px)",
    "distance_y": "up and down (px)",
    "entropy": "entropy (nats)",
    "nmi": "NMI",
    "self_mass": "to itself",
    "sink_mass": "to the sink",
    "special_mass": "to special tokens",
    "head_divergence": "head divergence (nats)",
}


def report(
    run: AnalysisRun,
    norm: str,
    gradients: int,
    queries: str,
    group: str | None,
    maps: int,
    per_image: bool,
) -> int:
    """Measure every model on the same images, and write tables and a page."""
    subjects = run.subjects
    if group is not None:
        check_group(len(subjects))
    attending = [subject for subject in subjects if attends(subject)] or subjects
    analyses = [_measured(run, subject, norm, queries, maps) for subject in attending]
    _write_details(run, analyses, per_image)
    if group is not None:
        return _group_report(run, group, analyses, _said(queries, analyses[0]))
    rows = pd.concat([measurements(analysis) for analysis in analyses])
    fields = {}
    for subject in subjects if gradients > 0 else []:
        fields[subject.name] = _gradients(run, subject, gradients, queries)
    by_gradients = [
        gradient_measurements(name, of_model, ["gradient_distance"])
        for name, of_model in fields.items()
    ]
    write_frame(run.folder / "distance.csv", pd.concat([rows, *by_gradients]))
    lines = {analysis.model: analysis.statistics.chance() for analysis in analyses}
    n = f"n = {analyses[0].images:,} images"
    page = run.page("Attention distance", f"{_LEAD}{_said(queries, analyses[0])}")
    course = _course(subjects)
    # Of the run, the other figures show the last weights.
    passed = sorted(course, key=course.__getitem__)[:-1]
    shown = [analysis for analysis in analyses if analysis.model not in passed]
    _by_depth(page, shown, rows[~rows["model"].isin(passed)], norm)
    if course:
        page.heading("While learning")
        first = next(analysis for analysis in analyses if analysis.model in course)
        page.figure(
            along_training(rows, course, chance_distances(first.statistics, "px")),
            "distance-training",
            "Attention distance in pixels by the number of images that the weights had been "
            "trained on, a panel for each layer: its heads (thin lines) and their mean with its "
            f"95 % interval over {n}.",
            vector=True,
        )
    page.heading("Attention by offset")
    for number, analysis in enumerate(shown, 1):
        if analysis.statistics.windows:
            page.paragraph(
                f"{analysis.model}: not drawn, as its windows or tokens differ by layer."
            )
            continue
        page.figure(
            _gallery(analysis),
            f"offsets-{number}",
            f"{analysis.model}: mean attention by offset from the query, relative to uniform "
            "attention.",
        )
    page.heading("In numbers")
    page.paragraph(_TERMS)
    for analysis in shown:
        page.table(*_layer_table(analysis), f"{analysis.model}: means over heads, {norm}, {n}")
    page.paragraph(_SINKS)
    sinks = pd.concat([sink_tokens(analysis) for analysis in shown])
    largest = sinks.sort_values("share", ascending=False).groupby(["model", "layer"]).head(1)
    largest = largest.sort_values(["model", "layer"])
    page.table(*cells_of(largest), f"Sinks, {norm}, {n}")
    if by_gradients:
        page.heading("In the unit of convolutions")
        gradient_rows = pd.concat(by_gradients)
        weights = fields[subjects[0].name].token_weights
        even = uniform_gradient_distance(subjects[0].encoder, weights)
        page.figure(
            distance_by_depth(gradient_rows, {"uniform": even}),
            "gradient-distance",
            "How far the pixels lie that the output of a layer depends on, by gradients, in "
            f"pixels; 95 % intervals over n = {gradient_rows['n'].iloc[0]:,} images. It is about "
            "all layers up to that one, and skip connections hold it near the token.",
            vector=True,
        )
    places = {analysis.model: analysis.statistics.sinks() for analysis in analyses}
    return run.finish(
        page,
        n=analyses[0].images,
        chance=lines,
        sinks=places,
        share_of_queries=analyses[0].statistics.share_of_queries,
    )


def _measured(
    run: AnalysisRun, subject: Subject, norm: str, queries: str, maps: int
) -> DistanceAnalysis:
    """The attention of a model on all images."""
    analysis = DistanceAnalysis(subject.name, subject.encoder, norm, keep_maps=maps)
    for batch, pixels in run.batches(subject):
        analysis.update(pixels, queries_of(batch, analysis.grid, queries))
    return analysis


def _gradients(run: AnalysisRun, subject: Subject, count: int, queries: str) -> GradientFields:
    """Receptive fields of a model on a few of the images."""
    fields = GradientFields(subject.encoder, 4, run.seed)
    grid = TokenGrid.of(subject.encoder)
    for batch, pixels in run.batches(subject, count):
        fields.update(pixels, queries_of(batch, grid, queries))
    return fields


def _said(queries: str, analysis: DistanceAnalysis) -> str:
    """Which tokens count as queries, if not all."""
    if queries == "all":
        return ""
    return (
        f" Only tokens on {_CHOSEN[queries]} count as queries, "
        f"{analysis.statistics.share_of_queries:.0%} of all; chance lines, offsets and gradients "
        "are of the same tokens."
    )


def _write_details(run: AnalysisRun, analyses: Sequence[DistanceAnalysis], images: bool) -> None:
    """Tables of sinks and of special tokens as queries; on request of all images, and maps."""
    write_frame(run.folder / "sinks.csv", pd.concat(map(sink_tokens, analyses)))
    names = {subject.name: subject.encoder.special_names for subject in run.subjects}
    special = [special_tokens(a, names[a.model]) for a in analyses if names[a.model]]
    if special:
        write_frame(run.folder / "special-queries.csv", pd.concat(special))
    if images:
        write_frame(run.folder / "per-image.csv", pd.concat(map(values_of_images, analyses)))
    for number, analysis in enumerate(analyses, 1):
        if analysis.maps:
            save_maps(run.folder / f"maps-{number}.npz", analysis)


def _group_report(
    run: AnalysisRun, group: str, analyses: Sequence[DistanceAnalysis], said: str
) -> int:
    """The page of several trainings of one architecture: intervals between them."""
    rows = over_trainings(group, analyses)
    write_frame(run.folder / "distance.csv", rows)
    lines = analyses[0].statistics.chance()
    n = f"n = {len(analyses)} trainings"
    page = run.page(f"Attention distance of {group}", f"{_LEAD} {_GROUP}{said}")
    page.figure(
        heads_by_depth(rows, {group: chance_distances(analyses[0].statistics, "px")}),
        "distance-by-depth",
        f"Attention distance of every head and layer in pixels; 95 % intervals between {n}.",
        vector=True,
    )
    page.table(*table_of(rows[rows["head"].isna()]), f"Means over heads, {n}")
    return run.finish(page, n=len(analyses), chance=lines)


def _by_depth(
    page: Page,
    shown: Sequence[DistanceAnalysis],
    rows: pd.DataFrame,
    norm: str,
) -> None:
    n = f"n = {shown[0].images:,} images"
    page.heading("By depth")
    for analysis in shown:
        page.paragraph(_finding(analysis))
    one_size = len({analysis.grid.image_size for analysis in shown}) == 1
    unit = "px" if one_size else "share of diagonal"
    chance = {analysis.model: chance_distances(analysis.statistics, unit) for analysis in shown}
    page.figure(
        heads_by_depth(rows, chance, unit),
        "distance-by-depth",
        f"Attention distance of every head (dot; in a browser, the pointer on it shows its number) "
        f"and layer (line, the mean of its heads) in {_UNITS[unit]}, {norm}; bars and bands are "
        f"95 % intervals over {n}.",
        vector=True,
    )
    page.note(_CAUTION)
    if len(shown) > 1:
        page.figure(
            models_on_one_scale(rows),
            "distance-models",
            "All models on one scale, heads as dots and means of layers as lines with 95 % "
            f"intervals over {n}: as a share of uniform attention on the model's "
            "own tokens, and of the diagonal of its input image, so that models of other image "
            "sizes compare.",
            vector=True,
        )


def _course(subjects: Sequence[Subject]) -> dict[str, int]:
    """Model -> images trained on, of the weights that one run has kept; empty if too few."""
    stages = [subject for subject in subjects if _STAGE.fullmatch(subject.name)]
    course = {stage.name: stage.images for stage in stages if stage.images is not None}
    return course if len(course) >= _STAGES else {}


def _finding(analysis: DistanceAnalysis) -> str:
    """The main numbers in a sentence."""
    uniform = analysis.statistics.chance()["uniform"]["distance"]
    by_layer = [layer.nanmean(0) for layer in analysis.statistics.values("distance")]
    heads = torch.cat(by_layer)
    layers = [float(layer.mean()) for layer in by_layer]
    near = sum(int((layer < even / 2).sum()) for layer, even in zip(by_layer, uniform, strict=True))
    ends = dict.fromkeys(f"{end:.1f}" for end in (min(uniform), max(uniform)))
    return (
        f"{analysis.model}: from {layers[0]:.1f} px in the first layer to {layers[-1]:.1f} px in "
        f"the last (lowest {min(layers):.1f}, highest {max(layers):.1f}); uniform "
        f"attention has {' to '.join(ends)} px. Heads are from {float(heads.min()):.1f} px to "
        f"{float(heads.max()):.1f} px; {near} of {len(heads)} have less than half the distance of "
        "uniform attention in their layer."
    )


def _gallery(analysis: DistanceAnalysis) -> Figure:
    grid = analysis.grid
    every = torch.ones(1, len(grid), len(grid), dtype=torch.bool)
    uniform = by_offset(uniform_attention(every), grid)[0]
    maps = np.stack([layer.numpy() for layer in analysis.offsets.maps()])
    return offsets_gallery(maps, uniform.numpy(), grid.patch_size, analysis.offsets.images)


def _layer_table(analysis: DistanceAnalysis) -> Table:
    """Means of layers; with those of uniform attention where it is not the same in all layers."""
    columns = {
        title: [float(layer.nanmean()) for layer in analysis.values(name)]
        for name, title in _COLUMNS.items()
        if name in analysis.metrics
    }
    uniform = analysis.statistics.chance()["uniform"]
    for name in ("distance", "entropy", "nmi"):
        values = uniform[name]
        if max(values) - min(values) > 1e-6:
            columns[f"uniform: {_COLUMNS[name]}"] = values
    frame = pd.DataFrame(columns)
    frame.insert(0, "layer", range(1, len(frame) + 1))
    return cells_of(frame)
