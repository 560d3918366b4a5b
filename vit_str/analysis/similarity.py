"""How alike layers are: linear centered kernel alignment (CKA), within a model and between models.

CKA compares what two layers say about the same examples by the inner products of the examples
(Kornblith et al. 2019): 1 if one is the other turned, scaled or shifted, 0 if they have nothing in
common. With fewer examples than channels the plain value is far too high, so the unbiased estimator
of the Hilbert-Schmidt criterion is used (Song et al. 2012, equation 5; Nguyen et al. 2021).

For linear kernels both need sums over examples only, no matrix of examples by examples: the result
is exact, whatever the batches.
"""

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from einops import rearrange
from jaxtyping import Float, Float64
from torch import Tensor

Features = Float[Tensor, "example dim"]


class LayerSimilarity:
    """CKA of every two layers as a stream: update per batch, merge across processes.

    Numbers: memory and time grow with the square of the channels of all layers together.

    Args:
        centers: about where the examples of each layer lie, for precision only; the means of the
            first batch if None. Streams to be merged need the same.

    Attributes:
        examples: how many were seen.
    """

    def __init__(self, centers: Sequence[Tensor] | None = None) -> None:
        self.centers = None if centers is None else [each.double().cpu() for each in centers]
        self.examples = 0
        self._sums: list[Tensor] = []  # of x
        self._squares: Tensor = torch.zeros(())  # of |x|^2
        self._square_products: Tensor = torch.zeros(())  # of |x|^2 |y|^2
        self._weighted: list[Tensor] = []  # of x |y|^2, a row for each y
        self._products: dict[tuple[int, int], Tensor] = {}  # of x y^T

    def update(self, layers: Sequence[Features]) -> None:
        """Add what every layer says about the same examples, in the same order.

        Raises:
            ValueError: not the same number of examples.
        """
        features = [layer.detach().double().cpu() for layer in layers]
        if len({len(each) for each in features}) != 1:
            raise ValueError(
                f"layers need the same examples, found {', '.join(str(len(x)) for x in features)}"
            )
        if self.centers is None:
            self.centers = [each.mean(0) for each in features]
        features = [x - center for x, center in zip(features, self.centers, strict=True)]
        self._add(LayerSimilarity._of(features, self.centers))

    @classmethod
    def _of(cls, features: list[Tensor], centers: list[Tensor]) -> "LayerSimilarity":
        new = cls(centers)
        squares = torch.stack([x.square().sum(1) for x in features])
        new.examples = len(features[0])
        new._sums = [x.sum(0) for x in features]
        new._squares = squares.sum(1)
        new._square_products = squares @ squares.T
        new._weighted = [squares @ x for x in features]
        new._products = {
            (i, j): x.T @ features[j]
            for i, x in enumerate(features)
            for j in range(i, len(features))
        }
        return new

    def merge(self, other: "LayerSimilarity") -> None:
        """Add the examples of another stream.

        Raises:
            ValueError: it was not given the same centers.
        """
        mine, its = self.centers or [], other.centers or []
        if len(mine) != len(its) or not all(map(torch.equal, mine, its)):
            raise ValueError("only streams with the same centers can be merged; give both the same")
        self._add(other)

    def _add(self, other: "LayerSimilarity") -> None:
        if self.examples:
            self._sums = [a + b for a, b in zip(self._sums, other._sums, strict=True)]
            pairs = zip(self._weighted, other._weighted, strict=True)
            self._weighted = [a + b for a, b in pairs]
            self._products = {key: self._products[key] + b for key, b in other._products.items()}
        else:
            self._sums, self._weighted = other._sums, other._weighted
            self._products = other._products
        self._squares = self._squares + other._squares
        self._square_products = self._square_products + other._square_products
        self.examples += other.examples

    def cka(self, unbiased: bool = True) -> Float64[Tensor, "layer layer"]:
        """CKA of every layer with every other.

        Args:
            unbiased: with the estimator that few examples do not raise; it can be slightly
                negative. Otherwise the plain one of Kornblith et al.

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


def token_features(
    outputs: Sequence[Float[Tensor, "batch dim row column"]], grid: tuple[int, int]
) -> list[Features]:
    """Every token is an example; layers with smaller cells are averaged to the grid first."""
    pooled = [F.adaptive_avg_pool2d(output, grid) for output in outputs]
    return [rearrange(output, "b d row col -> (b row col) d") for output in pooled]


def image_features(outputs: Sequence[Float[Tensor, "batch dim row column"]]) -> list[Features]:
    """Every image is an example: the mean over its tokens."""
    return [output.mean((2, 3)) for output in outputs]
