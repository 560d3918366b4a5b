"""The report of ``vit-str analyze receptive-field``."""

import pandas as pd

from vit_str.analysis.receptive_field.figures import (
    LayerField,
    distance_by_depth,
    field_gallery,
)
from vit_str.analysis.receptive_field.gradients import (
    GradientFields,
    gradient_measurements,
    uniform_gradient_distance,
)
from vit_str.analysis.receptive_field.windows import ReceptiveField, fields_by_layer
from vit_str.analysis.results import AnalysisRun, table_of
from vit_str.reports.tables import write_csv, write_frame

_LEAD = """\
How far around itself a token sees. A convolution can see a window that grows with \
depth (its theoretical receptive field), a Vision Transformer the whole image from the \
first layer on. What either does see is shown by the gradients of a token's output \
with respect to the pixels: their mean distance from the token, in pixels of the \
model's input, is one unit for both."""

_METHOD = """\
Gradient distance is the sum of |g| |p - q| over the sum of |g|: |g| is the norm of \
the gradient over the colors of pixel p, q the middle of the token. The channels of a \
token are added with random signs, because in a plain sum their gradients would \
cancel. It is about all layers up to the one it stands at, while attention distance is \
about that layer alone; skip connections hold it near the token."""

_CAUTION = """\
A gradient tells what a small change of a pixel would do to the features of this \
image. It does not tell which pixels a reading rests on."""

_BOUND_COLUMNS = (
    "model",
    "layer",
    "field height",
    "field width",
    "stride down",
    "stride across",
)


def report(run: AnalysisRun, queries: int) -> int:
    """Measure every model on the same images, and write tables and a page."""
    models = {}
    for subject in run.subjects:
        fields = GradientFields(subject.encoder, queries, run.seed)
        run.measure(subject, fields.update)
        models[subject.name] = (fields, fields_by_layer(subject.encoder))
    tables = []
    bounds_rows: list[list[object]] = []
    for name, (fields, bounds) in models.items():
        tables.append(gradient_measurements(name, fields))
        for layer, bound in enumerate(bounds, 1):
            bounds_rows.append([name, layer, *bound.size, *bound.stride])
    rows = pd.concat(tables)
    write_frame(run.folder / "gradient_distance.csv", rows)
    write_csv(run.folder / "theoretical.csv", _BOUND_COLUMNS, bounds_rows)
    chance = {
        subject.name: uniform_gradient_distance(subject.encoder)
        for subject in run.subjects
    }
    n = int(rows["n"].iloc[0])
    page = run.page("Receptive fields", _LEAD)
    page.heading("How far tokens see")
    page.figure(
        distance_by_depth(rows, chance),
        "gradient-distance",
        f"Mean gradient distance in pixels by layer; bands are 95 % intervals over n = "
        f"{n:,} images. The line uniform is for gradients that are alike everywhere.",
        vector=True,
    )
    for name, (fields, bounds) in models.items():
        page.paragraph(_finding(name, fields, bounds[-1]))
    page.paragraph(_METHOD)
    page.heading("Where the middle token sees")
    galleries = {name: _gallery(*measured) for name, measured in models.items()}
    page.figure(
        field_gallery(galleries),
        "fields",
        "Norm of the gradients of the token in the middle (small frame), mean over n = "
        f"{n:,} images, dark where large, on the scale of the square root; dashed: "
        "what the token can see at most.",
    )
    page.note(_CAUTION)
    page.heading("In numbers")
    page.table(*table_of(rows), f"Means over n = {n:,} images with 95 % intervals")
    caption = (
        "What a token can see at most, in pixels (Araujo et al. 2019); of attention inside "
        "windows, what the gradients of the token in the middle reach"
    )
    page.table(_BOUND_COLUMNS, bounds_rows, caption)
    return run.finish(page, n=n, chance=chance)


def _finding(name: str, fields: GradientFields, last: ReceptiveField) -> str:
    """The main numbers in a sentence."""
    means = fields.values("gradient_distance").nanmean(1).tolist()
    area = float(fields.values("gradient_area")[-1].nanmean())
    return (
        f"{name}: from {means[0]:.1f} px in the first layer to {means[-1]:.1f} px in "
        f"the last of {len(means)}, in which a token can see {last.size[0]} x "
        f"{last.size[1]} px at most and nine tenths of its gradient lie in {area:.0%} "
        "of the image."
    )


def _gallery(fields: GradientFields, bounds: list[ReceptiveField]) -> list[LayerField]:
    means = fields.values("gradient_distance").nanmean(1).tolist()
    cells = fields.middle_cells()
    layers = zip(fields.centered, means, bounds, cells, strict=True)
    return [
        LayerField(field.numpy(), mean, cell, bound.of_unit(*unit))
        for field, mean, bound, (unit, cell) in layers
    ]
