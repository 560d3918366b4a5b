"""What a model has learned about where tokens are: how alike its positions are.

The similarity of two positions is the cosine of their vectors (Dosovitskiy et al. 2020, figure 7),
here without the mean vector: what all positions share does not tell where a token is, and the slow
waves of sinusoids are almost only that.
"""

from typing import NamedTuple

import torch
import torch.nn.functional as F
from jaxtyping import Float64
from torch import Tensor

from vit_str.analysis.geometry import TokenGrid
from vit_str.analysis.libraries.encoder import LibraryEncoder
from vit_str.models import Encoder
from vit_str.models.positions import FixedPositions, LearnedPositions, sinusoidal_positions_2d

Similarities = Float64[Tensor, "token token"]


class Positions(NamedTuple):
    """The vectors of the tokens of a grid, in reading order.

    Attributes:
        vectors: as they are.
        start: sinusoids.
        change: how far the vectors have moved from the start over its length; NaN for other
            libraries, which do not start there.
    """

    vectors: Float64[Tensor, "token dim"]
    start: Float64[Tensor, "token dim"]
    change: float


def positions_of(encoder: Encoder) -> Positions:
    """The positions of an encoder.

    Raises:
        ValueError: it has none.
    """
    if isinstance(encoder, LibraryEncoder):
        if encoder.positions is None:
            raise ValueError(
                f"{type(encoder.model).__name__} has no vector for every position: positions are "
                "rotary or relative, or learned for images of another size"
            )
        vectors = encoder.positions.double().cpu()
        start = sinusoidal_positions_2d(*encoder.grid, vectors.shape[1]).double()
        return Positions(vectors, start, float("nan"))
    positions = getattr(encoder, "embed_positions", None)
    if not isinstance(positions, LearnedPositions | FixedPositions):
        raise ValueError(f"{type(encoder).__name__} has no positions, learned or sinusoidal")
    vectors = positions.weight.detach().double().cpu()
    start = sinusoidal_positions_2d(*encoder.grid, encoder.dim).double()
    return Positions(vectors, start, float((vectors - start).norm() / start.norm()))


def similarities(vectors: Float64[Tensor, "token dim"]) -> Similarities:
    """Cosines of every vector with every other, their mean taken off first."""
    directions = F.normalize(vectors - vectors.mean(0), dim=1)
    return directions @ directions.T


def explained(similarity: Similarities, grid: TokenGrid) -> dict[str, float]:
    """Share of the variance of the similarity of different tokens that is explained by classes.

    * ``distance``: pairs at the same distance, in pixels;
    * ``offset``: pairs as many rows and columns apart;
    * ``rows``, ``columns``: pairs as many rows, or columns, apart.

    1 says that nothing else matters, 0 that the class does not. Similarities that do not vary have
    nothing to explain: NaN.
    """
    patch = torch.tensor(grid.patch_size[::-1], dtype=torch.float64)
    across, down = (grid.differences().abs() / patch).round().unbind(-1)
    classes = {
        "distance": grid.distances().mul(1e6).round(),
        "offset": down * grid.columns + across,
        "rows": down,
        "columns": across,
    }
    others = ~torch.eye(len(grid), dtype=torch.bool)
    values = similarity[others]
    return {name: _explained(values, of[others]) for name, of in classes.items()}


def along_axes(
    similarity: Similarities, grid: TokenGrid
) -> tuple[Float64[Tensor, " columns"], Float64[Tensor, " rows"]]:
    """Mean similarity of tokens 0, 1, ... columns apart in a row, and rows apart in a column."""
    pairs = similarity.view(grid.rows, grid.columns, grid.rows, grid.columns)
    in_rows, in_columns = (
        torch.stack([places.diagonal(step).mean() for step in range(len(places))])
        for places in (pairs.diagonal(dim1=0, dim2=2).mean(-1), pairs.diagonal(0, 1, 3).mean(-1))
    )
    return in_rows, in_columns


def _explained(values: Float64[Tensor, " pair"], classes: Float64[Tensor, " pair"]) -> float:
    number = torch.unique(classes, return_inverse=True)[1]
    counts = torch.bincount(number).double()
    means = torch.bincount(number, values) / counts
    total = values.var(correction=0)
    if total < 1e-20:
        return float("nan")
    return float(1 - (values - means[number]).square().mean() / total)
