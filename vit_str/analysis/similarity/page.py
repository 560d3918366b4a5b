"""The report of ``vit-str analyze similarity``."""

from collections.abc import Sequence
from itertools import product
from typing import Any, Literal

import numpy as np
from jaxtyping import Float64
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from vit_str.analysis.results import AnalysisRun
from vit_str.analysis.similarity.measure import compare_layers
from vit_str.reports.style import HEAT, INK, PLATE, figure, plain_lines, styled
from vit_str.reports.tables import write_csv

_LEAD = """\
How alike the layers of one model or several are: linear centered kernel alignment (CKA) is 1 if \
one layer says what another does, turned, scaled or shifted, and 0 if they have nothing in \
common."""

_CAUTION = """\
CKA follows the few directions in which features vary most. Layers that are alike in them may \
differ in what little the decoder reads; and models that have learned nothing share what comes \
from the images themselves, so likeness of layers is judged against untrained models."""
_MOST_NUMBERS = 16  # at most so many layers: then every cell can hold its number


def report(run: AnalysisRun, examples: Literal["tokens", "images"]) -> int:
    """Compare every two layers of all models, and write a table and a page."""
    subjects = run.subjects
    runs = [run.batches(subject) for subject in subjects]
    similarity, depths, n = compare_layers([each.encoder for each in subjects], runs, examples)
    unbiased, plain = similarity.cka(), similarity.cka(unbiased=False)
    models = list(zip((subject.name for subject in subjects), depths, strict=True))
    layers = [(name, layer) for name, depth in models for layer in range(1, depth + 1)]
    rows = [
        [*one, *other, float(unbiased[i, j]), float(plain[i, j]), similarity.examples]
        for (i, one), (j, other) in product(enumerate(layers), repeat=2)
    ]
    columns = ["model", "layer", "other model", "other layer", "cka", "cka plain", "n"]
    write_csv(run.folder / "similarity.csv", columns, rows)
    page = run.page("Similarity of layers", _LEAD)
    page.heading("Every layer against every other")
    page.figure(
        similarity_matrix(unbiased.numpy(), models),
        "similarity",
        f"Linear CKA, unbiased, of n = {similarity.examples:,} {examples} of {n:,} images.",
        vector=True,
    )
    page.note(_CAUTION)
    return run.finish(page, n=n, examples=similarity.examples)


@styled()
def similarity_matrix(
    values: Float64[np.ndarray, "layer layer"], models: Sequence[tuple[str, int]]
) -> Figure:
    """Every layer against every other, model by model (name, layers)."""
    total = len(values)
    sheet = figure(7.5, 6.6)
    axes = sheet.subplots()
    shown = axes.imshow(values, HEAT, vmin=0, vmax=1, interpolation="nearest")
    axes.grid(visible=False)
    layers = [str(layer) for _, depth in models for layer in range(1, depth + 1)]
    shown_layers = [i for i in range(total) if total <= 32 or i % 2 == 0]
    axes.set_xticks(shown_layers, [layers[i] for i in shown_layers])
    axes.set_yticks(shown_layers, [layers[i] for i in shown_layers])
    axes.set(xlabel="layer", ylabel="layer")
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    _name_models(axes, models)
    if total <= _MOST_NUMBERS:
        for row, column in np.ndindex(values.shape):
            value = round(float(values[row, column]), 2) + 0.0  # without the sign of -0.00
            color = PLATE if value > 0.5 else INK
            style: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": 6.5}
            axes.text(column, row, f"{value:.2f}", color=color, **style)
    sheet.colorbar(shown, ax=axes, aspect=30, pad=0.02).set_label("CKA")
    return sheet


def _name_models(axes: Axes, models: Sequence[tuple[str, int]]) -> None:
    """Write every model above and left of its layers, and draw lines between models."""
    start = 0.0
    for name, depth in models:
        middle, text = start + (depth - 1) / 2, plain_lines(name, 26)
        style: dict[str, Any] = {"xycoords": axes.get_xaxis_transform(), "fontweight": "bold"}
        axes.annotate(text, (middle, 1.02), ha="center", va="bottom", **style)
        style["xycoords"] = axes.get_yaxis_transform()
        axes.annotate(text, (-0.06, middle), ha="right", va="center", rotation=90, **style)
        start += depth
        if start < sum(depth for _, depth in models):
            axes.axhline(start - 0.5, color=PLATE, linewidth=3)
            axes.axvline(start - 0.5, color=PLATE, linewidth=3)
