"""The report of ``vit-str analyze distance``."""

import re
from collections.abc import Mapping, Sequence

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
from vit_str.analysis.distance.measure import DistanceAnalysis, attends
from vit_str.analysis.distance.offsets import by_offset
from vit_str.analysis.distance.result import (
    AttentionDistance,
    measure_distance,
    of_trainings,
)
from vit_str.analysis.distance.tables import check_group
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
    "Mean attention distance is how far, in pixels of the model's input, the tokens "
    "that a token attends to lie from it, weighted by attention. It is small for local "
    "heads and large for heads that attend across the image."
)
_CAUTION = (
    "How to read it: compare distances with the chance lines. A head with uniform "
    'attention has the distance of the line "uniform", and a model without training is '
    "close to that line in every layer; so a large distance alone says nothing about "
    "what was learned. That a head attends to a token does not say that what is there "
    "is used."
)
_TERMS = (
    "Entropy is that of the attention of a token, in nats: 0 if it attends to one "
    "token only, ln N for uniform attention to N tokens. Weighted by values is the "
    "distance of attention times the norm of the value that it is given to. The cosine "
    "with its own value is that of what a head puts out for a token: 1 if it adds "
    "nothing but what the token has. NMI, the "
    "normalized mutual information of query and key, is 0 if all tokens attend to the "
    "same tokens, and 1 if each attends to one of its own. The sink is the token that "
    "a head attends to most in an image. Head divergence is the Jensen-Shannon "
    "divergence of the heads of a layer: 0 if their attention is the same."
)
_SINKS = (
    "The sink of every layer: the head that gives the largest share to one token, which "
    "may be another in each image (it is the one named in place_share of them); "
    "sinks.csv has all heads. Its value norm is over the mean of the head's patches: "
    "with less than half of it the head adds little there (no operation), with more it "
    "gives one value to all (broadcast). A token with less than three times the share "
    "of uniform attention is no sink. The kind is told image by image: kind_share is "
    "the share of images of the most frequent one."
)
_GROUP = (
    "The models are trainings of one architecture: every value is the mean over images "
    "of one training. Heads have no order that trainings share, so in each of them "
    "head 1 is the one that looks least far in its layer."
)
_CHOSEN = {"text": "text", "background": "the background around text"}
_TOKENS = 4  # of each image, whose gradients are measured
# What `vit_str.training.WeightsHistory` calls its files
_STAGE = re.compile(r"step-\d+")
_STAGES = 3  # weights of one run, from which on its course is drawn
_UNITS = {
    "px": "pixels",
    "share of diagonal": "shares of the diagonal of the model's input",
}
_SINK_COLUMNS = [
    *("model", "layer", "head", "token", "row", "column", "place_share", "share"),
    *("times_uniform", "value_norm", "kind", "kind_share"),
]
_COLUMNS = {
    "distance": "distance (px)",
    "value_distance": "weighted by values (px)",
    "own_value_cosine": "cosine with own value",
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
    results = [_measured(run, subject, norm, queries, maps) for subject in attending]
    _write_details(run, results, per_image)
    said = _said(queries, results[0])
    if group is not None:
        return _group_report(run, of_trainings(group, results), said)
    fields = {}
    for subject in subjects if gradients > 0 else []:
        fields[subject.name] = _gradients(run, subject, gradients, queries)
    by_gradients = _gradient_rows(fields)
    rows = pd.concat([result.rows for result in results])
    write_frame(run.folder / "distance.csv", pd.concat([rows, *by_gradients]))
    page = run.page("Attention distance", f"{_LEAD}{said}")
    course = _course(subjects)
    # Of the run, the other figures show the last weights.
    passed = sorted(course, key=course.__getitem__)[:-1]
    shown = [result for result in results if result.model not in passed]
    _by_depth(page, shown, rows[~rows["model"].isin(passed)], norm)
    if course:
        _while_learning(page, results, rows, course)
    _by_offset(page, shown)
    _in_numbers(page, shown, norm)
    if fields:
        even = {
            subject.name: uniform_gradient_distance(
                subject.encoder, fields[subject.name].token_weights
            )
            for subject in subjects
        }
        _by_gradients(page, pd.concat(by_gradients), even)
    return run.finish(
        page,
        n=results[0].images,
        chance={result.model: result.chance for result in results},
        sinks={result.model: _records(result.sinks()) for result in results},
        share_of_queries=results[0].analysis.statistics.share_of_queries,
    )


def _records(table: pd.DataFrame) -> list[dict[str, object]]:
    """Rows for JSON, what is missing as None."""
    names, rows = cells_of(table)
    return [dict(zip(names, row, strict=True)) for row in rows]


def _measured(
    run: AnalysisRun, subject: Subject, norm: str, queries: str, maps: int
) -> AttentionDistance:
    """The attention of a model on all images."""
    analysis = DistanceAnalysis(subject.name, subject.encoder, norm, keep_maps=maps)
    batches = (
        (pixels, queries_of(batch, analysis.grid, queries))
        for batch, pixels in run.batches(subject)
    )
    return measure_distance(analysis, batches)


def _gradients(
    run: AnalysisRun, subject: Subject, count: int, queries: str
) -> GradientFields:
    """Receptive fields of a model on a few of the images."""
    fields = GradientFields(subject.encoder, _TOKENS, run.seed)
    grid = TokenGrid.of(subject.encoder)
    for batch, pixels in run.batches(subject, count):
        fields.update(pixels, queries_of(batch, grid, queries))
    return fields


def _gradient_rows(fields: Mapping[str, GradientFields]) -> list[pd.DataFrame]:
    """A table for each model."""
    return [
        gradient_measurements(model, of_model, ["gradient_distance"])
        for model, of_model in fields.items()
    ]


def _said(queries: str, result: AttentionDistance) -> str:
    """Which tokens count as queries, if not all."""
    if queries == "all":
        return ""
    return (
        f" Only tokens on {_CHOSEN[queries]} count as queries, "
        f"{result.analysis.statistics.share_of_queries:.0%} of all; chance lines, "
        "offsets and gradients are of the same tokens."
    )


def _write_details(
    run: AnalysisRun, results: Sequence[AttentionDistance], images: bool
) -> None:
    """Tables of sinks and of special tokens as queries; on request of all images, and maps."""
    sinks = pd.concat([result.sinks() for result in results])
    write_frame(run.folder / "sinks.csv", sinks)
    names = {subject.name: subject.encoder.special_names for subject in run.subjects}
    with_special = [result for result in results if names[result.model]]
    special = [result.special_queries(names[result.model]) for result in with_special]
    if special:
        write_frame(run.folder / "special-queries.csv", pd.concat(special))
    if images:
        tables = [result.to_frame(per_image=True) for result in results]
        write_frame(run.folder / "per-image.csv", pd.concat(tables))
    for number, result in enumerate(results, 1):
        if result.analysis.maps:
            result.save(run.folder / f"maps-{number}.npz")


def _group_report(run: AnalysisRun, group: AttentionDistance, said: str) -> int:
    """The page of several trainings of one architecture: intervals between them."""
    write_frame(run.folder / "distance.csv", group.rows)
    trainings = len(group.analyses)
    n = f"n = {trainings} trainings"
    page = run.page(f"Attention distance of {group.model}", f"{_LEAD} {_GROUP}{said}")
    page.figure(
        heads_by_depth(group.rows, {group.model: group.chance_distances("px")}),
        "distance-by-depth",
        "Attention distance of every head and layer in pixels; 95 % intervals between "
        f"{n}.",
        vector=True,
    )
    layers = group.rows[group.rows["head"].isna()]
    page.table(*table_of(layers), f"Means over heads, {n}")
    return run.finish(page, n=trainings, chance=group.chance)


def _by_depth(
    page: Page,
    shown: Sequence[AttentionDistance],
    rows: pd.DataFrame,
    norm: str,
) -> None:
    """Heads and layers of all models that are shown."""
    n = f"n = {shown[0].images:,} images"
    page.heading("By depth")
    for result in shown:
        page.paragraph(_finding(result))
    one_size = len({result.analysis.grid.image_size for result in shown}) == 1
    unit = "px" if one_size else "share of diagonal"
    chance = {result.model: result.chance_distances(unit) for result in shown}
    page.figure(
        heads_by_depth(rows, chance, unit),
        "distance-by-depth",
        "Attention distance of every head (dot; in a browser, the pointer on it shows "
        f"its number) and layer (line, the mean of its heads) in {_UNITS[unit]}, "
        f"{norm}; bars and bands are 95 % intervals over {n}.",
        vector=True,
    )
    page.note(_CAUTION)
    if len(shown) > 1:
        page.figure(
            models_on_one_scale(rows),
            "distance-models",
            "All models on one scale, heads as dots and means of layers as lines with "
            f"95 % intervals over {n}: as a share of uniform attention on the model's "
            "own tokens, and of the diagonal of its input image, so that models of "
            "other image sizes compare.",
            vector=True,
        )


def _while_learning(
    page: Page,
    results: Sequence[AttentionDistance],
    rows: pd.DataFrame,
    course: Mapping[str, int],
) -> None:
    """The weights that one run has kept, by the number of images."""
    first = next(result for result in results if result.model in course)
    page.heading("While learning")
    page.figure(
        along_training(rows, course, first.chance_distances("px")),
        "distance-training",
        "Attention distance in pixels by the number of images that the weights had "
        "been trained on, a panel for each layer: its heads (thin lines) and their "
        f"mean with its 95 % interval over n = {first.images:,} images.",
        vector=True,
    )


def _by_offset(page: Page, shown: Sequence[AttentionDistance]) -> None:
    """Mean maps of every model."""
    page.heading("Attention by offset")
    for number, result in enumerate(shown, 1):
        if result.analysis.statistics.tokens.windows:
            page.paragraph(
                f"{result.model}: not drawn, as its windows or tokens differ by layer."
            )
            continue
        page.figure(
            _gallery(result.analysis),
            f"offsets-{number}",
            f"{result.model}: mean attention by offset from the query, relative to "
            "uniform attention.",
        )


def _in_numbers(page: Page, shown: Sequence[AttentionDistance], norm: str) -> None:
    """Tables of layers and of sinks."""
    n = f"n = {shown[0].images:,} images"
    page.heading("In numbers")
    page.paragraph(_TERMS)
    for result in shown:
        caption = f"{result.model}: means over heads, {norm}, {n}"
        page.table(*_layer_table(result.analysis), caption)
    page.paragraph(_SINKS)
    sinks = pd.concat([result.sinks() for result in shown])
    ordered = sinks.sort_values("share", ascending=False)
    largest = ordered.groupby(["model", "layer"]).head(1)
    largest = largest.sort_values(["model", "layer"])
    page.table(*cells_of(largest[_SINK_COLUMNS]), f"Sinks, {n}")


def _by_gradients(page: Page, rows: pd.DataFrame, chance: Mapping[str, float]) -> None:
    """Gradient distance of all models, which convolutions have too."""
    page.heading("In the unit of convolutions")
    page.figure(
        distance_by_depth(rows, chance),
        "gradient-distance",
        "How far the pixels lie that the output of a layer depends on, by gradients, "
        f"in pixels; 95 % intervals over n = {rows['n'].iloc[0]:,} images. It is about "
        "all layers up to that one, and skip connections hold it near the token.",
        vector=True,
    )


def _course(subjects: Sequence[Subject]) -> dict[str, int]:
    """Model -> images trained on, of the weights that one run has kept; empty if too few."""
    stages = [subject for subject in subjects if _STAGE.fullmatch(subject.name)]
    course = {stage.name: stage.images for stage in stages if stage.images is not None}
    return course if len(course) >= _STAGES else {}


def _finding(result: AttentionDistance) -> str:
    """The main numbers in a sentence."""
    uniform = result.chance["uniform"]["distance"]
    by_layer = [layer.nanmean(0) for layer in result.analysis.values("distance")]
    heads = torch.cat(by_layer)
    layers = [float(layer.mean()) for layer in by_layer]
    near = 0
    for layer, even in zip(by_layer, uniform, strict=True):
        near += int((layer < even / 2).sum())
    ends = dict.fromkeys(f"{end:.1f}" for end in (min(uniform), max(uniform)))
    return (
        f"{result.model}: from {layers[0]:.1f} px in the first layer to "
        f"{layers[-1]:.1f} px in the last (lowest {min(layers):.1f}, highest "
        f"{max(layers):.1f}); uniform attention has {' to '.join(ends)} px. Heads are "
        f"from {float(heads.min()):.1f} px to {float(heads.max()):.1f} px; {near} of "
        f"{len(heads)} have less than half the distance of uniform attention in their "
        "layer."
    )


def _gallery(analysis: DistanceAnalysis) -> Figure:
    grid = analysis.grid
    every = torch.ones(1, len(grid), len(grid), dtype=torch.bool)
    uniform = by_offset(uniform_attention(every), grid)[0]
    maps = np.stack([layer.numpy() for layer in analysis.offsets.maps()])
    n = analysis.offsets.images
    return offsets_gallery(maps, uniform.numpy(), grid.patch_size, n)


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
