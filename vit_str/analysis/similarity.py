"""How alike layers are: linear centered kernel alignment (CKA), within a model and between models.

CKA compares what two layers say about the same examples by the inner products of the examples
(Kornblith et al. 2019): 1 if one is the other turned, scaled or shifted, 0 if they have nothing in
common. With fewer examples than channels the plain value is far too high, so the unbiased estimator
of the Hilbert-Schmidt criterion is used (Song et al. 2012, equation 5; Nguyen et al. 2021).

For linear kernels both need sums over examples only, no matrix of examples by examples: the result
is exact, whatever the batches.
"""

from collections.abc import Iterable, Sequence
from itertools import product
from typing import Any, Literal

import numpy as np
import torch
import torch.nn.functional as F
from einops import rearrange
from jaxtyping import Float, Float64
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from torch import Tensor

from vit_str.analysis.images import Batch
from vit_str.analysis.probe import layer_outputs
from vit_str.analysis.results import AnalysisRun
from vit_str.models import Encoder
from vit_str.reports.style import HEAT, INK, PLATE, figure, plain_lines, styled
from vit_str.reports.tables import write_csv

Features = Float[Tensor, "example dim"]


class LayerSimilarity:
    """CKA of every two layers, updated batch by batch.

    Memory and time grow with the square of the channels of all layers together.
    """

    def __init__(self) -> None:
        self.examples = 0
        self._centers: list[Tensor] = []  # means of the first batch, for precision only
        self._sums: list[Tensor] = []  # of x
        self._squares: Tensor = torch.zeros(())  # of |x|^2
        self._square_products: Tensor = torch.zeros(())  # of |x|^2 |y|^2
        self._weighted: list[Tensor] = []  # of x |y|^2, a row for each y
        self._products: dict[tuple[int, int], Tensor] = {}  # of x y^T

    def update(self, layers: Sequence[Features]) -> None:
        """Add what every layer says about the same examples, in the same order."""
        features = [layer.detach().double().cpu() for layer in layers]
        if not self.examples:
            self._centers = [x.mean(0) for x in features]
            self._sums = [torch.zeros_like(center) for center in self._centers]
            self._weighted = [x.new_zeros(len(features), x.shape[1]) for x in features]
        features = [x - center for x, center in zip(features, self._centers, strict=True)]
        squares = torch.stack([x.square().sum(1) for x in features])
        self.examples += len(features[0])
        self._squares = self._squares + squares.sum(1)
        self._square_products = self._square_products + squares @ squares.T
        for i, x in enumerate(features):
            self._sums[i] += x.sum(0)
            self._weighted[i] += squares @ x
            for j in range(i, len(features)):
                products = x.T @ features[j]
                self._products[i, j] = self._products.get((i, j), 0) + products

    def cka(self) -> Float64[Tensor, "layer layer"]:
        """CKA of every layer with every other.

        The unbiased estimator is not raised by few examples, and can be slightly negative.
        """
        if self.examples < 4:
            raise ValueError(f"CKA needs four examples or more, found {self.examples}")
        layers = len(self._sums)
        criterion = torch.zeros(layers, layers, dtype=torch.float64)
        for i, j in self._products:
            value = self._unbiased(i, j)
            criterion[i, j] = criterion[j, i] = value
        scale = criterion.diagonal().clamp(min=0).sqrt()
        return criterion / torch.outer(scale, scale)

    def _unbiased(self, i: int, j: int) -> Tensor:
        """Of K = XX' and L = YY' without their diagonals, up to a factor that cancels in CKA."""
        n, products = self.examples, self._products[i, j]
        diagonal = self._square_products[i, j]
        trace = products.square().sum() - diagonal
        sums = [self._sums[k].square().sum() - self._squares[k] for k in (i, j)]
        # sum over examples of (row sum of K) (row sum of L)
        rows = (
            self._sums[i] @ products @ self._sums[j]
            - self._sums[i] @ self._weighted[i][j]
            - self._sums[j] @ self._weighted[j][i]
            + diagonal
        )
        return trace + sums[0] * sums[1] / ((n - 1) * (n - 2)) - 2 * rows / (n - 2)


def examples_of(
    outputs: Sequence[Float[Tensor, "batch dim row column"]], unit: Literal["tokens", "images"]
) -> list[Features]:
    """What layers say about every token, or about every image as the mean over its tokens.

    Tokens are those of the coarsest layer; layers with smaller cells are averaged to them first.
    """
    if unit == "images":
        return [output.mean((2, 3)) for output in outputs]
    grid = min(output.shape[2] for output in outputs), min(output.shape[3] for output in outputs)
    pooled = [F.adaptive_avg_pool2d(output, grid) for output in outputs]
    return [rearrange(output, "b d row col -> (b row col) d") for output in pooled]


@torch.no_grad()
def compare_layers(
    encoders: Sequence[Encoder],
    runs: Iterable[Iterable[tuple[Batch, Float[Tensor, "batch channel height width"]]]],
    unit: Literal["tokens", "images"],
) -> tuple[LayerSimilarity, list[int], int]:
    """Run all models on the same images, which each takes in batches prepared for it.

    Returns:
        Similarity of all layers, number of layers of every model, number of images.
    """
    similarity, count = LayerSimilarity(), 0
    for batches in zip(*runs, strict=True):
        outputs = []
        for encoder, (_, pixels) in zip(encoders, batches, strict=True):
            with layer_outputs(encoder) as layers:
                encoder(pixels)
            outputs.append(layers)
        similarity.update(examples_of([layer for layers in outputs for layer in layers], unit))
        count += len(batches[0][0])
    return similarity, [len(layers) for layers in outputs], count


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
    values = similarity.cka()
    models = list(zip((subject.name for subject in subjects), depths, strict=True))
    layers = [(name, layer) for name, depth in models for layer in range(1, depth + 1)]
    rows = [
        [*one, *other, float(values[i, j]), similarity.examples]
        for (i, one), (j, other) in product(enumerate(layers), repeat=2)
    ]
    columns = ["model", "layer", "other model", "other layer", "cka", "n"]
    write_csv(run.folder / "similarity.csv", columns, rows)
    page = run.page("Similarity of layers", _LEAD)
    page.heading("Every layer against every other")
    page.figure(
        similarity_matrix(values.numpy(), models),
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
