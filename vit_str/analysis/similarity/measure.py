"""How alike layers are: linear centered kernel alignment (CKA), within a model and between models.

CKA compares what two layers say about the same examples by the inner products of the examples
(Kornblith et al. 2019): 1 if one is the other turned, scaled or shifted, 0 if they have nothing in
common. With fewer examples than channels the plain value is far too high, so the unbiased estimator
of the Hilbert-Schmidt criterion is used (Song et al. 2012, equation 5; Nguyen et al. 2021).

For linear kernels both need sums over examples only, no matrix of examples by examples: the result
is exact, whatever the batches.
"""

from collections.abc import Iterable, Sequence
from typing import Literal

import torch
import torch.nn.functional as F
from einops import rearrange
from jaxtyping import Float, Float64
from torch import Tensor

from vit_str.analysis.images import Batch
from vit_str.analysis.layers import layer_outputs
from vit_str.models import Encoder

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

    def cka(self, unbiased: bool = True) -> Float64[Tensor, "layer layer"]:
        """CKA of every layer with every other.

        The unbiased estimator is not raised by few examples, and can be slightly negative.

        Raises:
            ValueError: fewer than four examples.
        """
        if self.examples < 4:
            raise ValueError(f"CKA needs four examples or more, found {self.examples}")
        layers = len(self._sums)
        criterion = torch.zeros(layers, layers, dtype=torch.float64)
        for i, j in self._products:
            value = self._unbiased(i, j) if unbiased else self._plain(i, j)
            criterion[i, j] = criterion[j, i] = value
        scale = criterion.diagonal().clamp(min=0).sqrt()
        return criterion / torch.outer(scale, scale)

    def _plain(self, i: int, j: int) -> Tensor:
        """|X'Y|^2 of centered features: tr(KHLH)."""
        means = torch.outer(self._sums[i], self._sums[j]) / self.examples
        return (self._products[i, j] - means).square().sum()

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
