"""How alike layers are: linear centered kernel alignment (CKA), within a model and between models.

CKA compares what two layers say about the same examples by the inner products of the examples
(Kornblith et al. 2019): 1 if one is the other turned, scaled or shifted, 0 if they have nothing in
common. With fewer examples than channels the plain value is far too high, so the unbiased estimator
of the Hilbert-Schmidt criterion is used (Song et al. 2012, equation 5; Nguyen et al. 2021).

For linear kernels both need sums over examples only, no matrix of examples by examples: the result
is exact, whatever the batches.
"""

from collections.abc import Sequence
from itertools import combinations_with_replacement, product
from typing import Literal

import numpy as np
import torch
import torch.nn.functional as F
from einops import rearrange
from jaxtyping import Float, Float64
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from torch import Tensor

from vit_str.analysis.probe import layer_outputs
from vit_str.analysis.results import AnalysisRun
from vit_str.reports.style import HEAT, INK, PLATE, figure, plain_lines, styled
from vit_str.reports.tables import write_csv

Features = Float[Tensor, "example dim"]
_FEWEST_EXAMPLES = 4  # the unbiased estimator divides by n - 3


class LayerSimilarity:
    """CKA of every two layers, updated batch by batch.

    Memory and time grow with the square of the channels of all layers together.
    """

    def __init__(self) -> None:
        self.examples = 0
        self._centers: list[Tensor] = []  # means of the first batch, for precision only
        # X'Y of two layers, each with |x|^2 and with 1 as two more channels
        self._products: dict[tuple[int, int], Tensor] = {}

    def update(self, layers: Sequence[Features]) -> None:
        """Add what every layer says about the same examples, in the same order."""
        features = [layer.detach().double().cpu() for layer in layers]
        self._centers = self._centers or [x.mean(0) for x in features]
        self.examples += len(features[0])
        extended = []
        for x, center in zip(features, self._centers, strict=True):
            x = x - center
            squares = x.square().sum(1, keepdim=True)
            ones = torch.ones_like(squares)
            extended.append(torch.cat([x, squares, ones], 1))
        for i, j in combinations_with_replacement(range(len(layers)), 2):
            products = extended[i].T @ extended[j]
            self._products[i, j] = self._products.get((i, j), 0) + products

    def cka(self) -> Float64[Tensor, "layer layer"]:
        """CKA of every layer with every other.

        The unbiased estimator is not raised by few examples, and can be slightly negative.
        """
        if self.examples < _FEWEST_EXAMPLES:
            raise ValueError(f"CKA needs four examples or more, found {self.examples}")
        layers = len(self._centers)
        criterion = torch.zeros(layers, layers, dtype=torch.float64)
        for (i, j), products in self._products.items():
            value = unbiased_criterion(products, self.examples)
            criterion[i, j] = value
            criterion[j, i] = value
        scale = criterion.diagonal().clamp(min=0).sqrt()
        return criterion / torch.outer(scale, scale)


def unbiased_criterion(
    products: Float64[Tensor, "first second"], n: int
) -> Float64[Tensor, ""]:
    """HSIC of K = XX' and L = YY' without their diagonals, up to a factor that cancels in CKA.

    ``products`` is X'Y of ``n`` examples; the last two channels of both are |x|^2 and 1.
    """
    x_by_squares = products[:-2, -2]
    x_sums = products[:-2, -1]
    y_by_squares = products[-2, :-2]
    y_sums = products[-1, :-2]
    diagonal = products[-2, -2]
    trace = products[:-2, :-2].square().sum() - diagonal
    sum_of_k = x_sums.square().sum() - products[-2, -1]
    sum_of_l = y_sums.square().sum() - products[-1, -2]
    # sum over examples of (row sum of K) (row sum of L)
    rows = (
        x_sums @ products[:-2, :-2] @ y_sums
        - x_sums @ x_by_squares
        - y_sums @ y_by_squares
        + diagonal
    )
    whole = sum_of_k * sum_of_l / ((n - 1) * (n - 2))
    return trace + whole - 2 * rows / (n - 2)


def examples_of(
    outputs: Sequence[Float[Tensor, "batch dim row column"]],
    unit: Literal["tokens", "images"],
) -> list[Features]:
    """Features of layers for every token, or for every image as the mean over its tokens.

    Tokens are those of the coarsest layer; layers with smaller cells are averaged to them first.
    """
    if unit == "images":
        return [output.mean((2, 3)) for output in outputs]
    rows = min(output.shape[2] for output in outputs)
    columns = min(output.shape[3] for output in outputs)
    pooled = [F.adaptive_avg_pool2d(output, (rows, columns)) for output in outputs]
    return [rearrange(output, "b d row col -> (b row col) d") for output in pooled]


_LEAD = """\
How alike the layers of one model or several are: linear centered kernel alignment \
(CKA) is 1 if one layer says what another does, turned, scaled or shifted, and 0 if \
they have nothing in common."""

_CAUTION = """\
CKA follows the few directions in which features vary most. Layers that are alike in \
them may differ in what little the decoder reads; and models that have learned nothing \
share what comes from the images themselves, so likeness of layers is judged against \
untrained models."""
_MOST_NUMBERS = 16  # at most so many layers: then every cell can hold its number
_NAME_LENGTH = 26  # characters of a line of the name of a model
# Layers that are all numbered at the axes; of more, every other one is
_MOST_LABELS = 32


@torch.no_grad()
def report(run: AnalysisRun, examples: Literal["tokens", "images"]) -> int:
    """Compare every two layers of all models, and write a table and a page."""
    similarity = LayerSimilarity()
    n = 0
    for batches in zip(*map(run.batches, run.subjects), strict=True):
        outputs: list[Tensor] = []
        for subject, (_, pixels) in zip(run.subjects, batches, strict=True):
            outputs += layer_outputs(subject.encoder, pixels)
        similarity.update(examples_of(outputs, examples))
        n += len(batches[0][0])
    values = similarity.cka()
    models = [(each.name, len(each.encoder.layer_modules)) for each in run.subjects]
    layers = _layers(models)
    rows = []
    for (i, first), (j, second) in product(enumerate(layers), repeat=2):
        rows.append([*first, *second, float(values[i, j]), similarity.examples])
    columns = ["model", "layer", "other model", "other layer", "cka", "n"]
    write_csv(run.folder / "similarity.csv", columns, rows)
    page = run.page("Similarity of layers", _LEAD)
    page.heading("Every layer against every other")
    page.figure(
        similarity_matrix(values.numpy(), models),
        "similarity",
        f"Linear CKA, unbiased, of n = {similarity.examples:,} {examples} of {n:,} "
        "images.",
        vector=True,
    )
    page.note(_CAUTION)
    return run.finish(page, n=n, examples=similarity.examples)


def _layers(models: Sequence[tuple[str, int]]) -> list[tuple[str, int]]:
    """Every layer of all models: name of the model, and number from 1."""
    layers = []
    for name, depth in models:
        layers += [(name, layer) for layer in range(1, depth + 1)]
    return layers


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
    numbers = [str(layer) for _, layer in _layers(models)]
    places = list(range(total))
    if total > _MOST_LABELS:
        places = places[::2]
    labels = [numbers[place] for place in places]
    axes.set_xticks(places, labels)
    axes.set_yticks(places, labels)
    axes.set(xlabel="layer", ylabel="layer")
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    _name_models(axes, models)
    if total <= _MOST_NUMBERS:
        for row, column in np.ndindex(values.shape):
            # Without the sign of -0.00
            value = round(float(values[row, column]), 2) + 0.0
            axes.text(
                column,
                row,
                f"{value:.2f}",
                color=PLATE if value > 0.5 else INK,
                ha="center",
                va="center",
                fontsize=6.5,
            )
    sheet.colorbar(shown, ax=axes, aspect=30, pad=0.02).set_label("CKA")
    return sheet


def _name_models(axes: Axes, models: Sequence[tuple[str, int]]) -> None:
    """Write every model above and left of its layers, and draw lines between models."""
    start = 0.0
    for name, depth in models:
        middle = start + (depth - 1) / 2
        text = plain_lines(name, _NAME_LENGTH)
        axes.annotate(
            text,
            (middle, 1.02),
            ha="center",
            va="bottom",
            xycoords=axes.get_xaxis_transform(),
            fontweight="bold",
        )
        axes.annotate(
            text,
            (-0.06, middle),
            ha="right",
            va="center",
            rotation=90,
            xycoords=axes.get_yaxis_transform(),
            fontweight="bold",
        )
        start += depth
        if start < sum(depth for _, depth in models):
            axes.axhline(start - 0.5, color=PLATE, linewidth=3)
            axes.axvline(start - 0.5, color=PLATE, linewidth=3)
