"""Similarity of the positions that a model has learned.

The similarity of two positions is the cosine of their vectors (Dosovitskiy et al. 2020, figure 7).
"""

import torch
import torch.nn.functional as F
from jaxtyping import Float64
from torch import Tensor, nn

from vit_str.analysis.geometry import TokenGrid
from vit_str.analysis.libraries.encoder import LibraryEncoder
from vit_str.models import Encoder
from vit_str.models.positions import Positions

Vectors = Float64[Tensor, "token dim"]
Similarities = Float64[Tensor, "token token"]

# What timm, torchvision and transformers call a table of vectors for every position
_TABLES = (
    "pos_embed",
    "pos_embedding",
    "position_embeddings",
    "position_embedding.weight",
    "position_embeddings.weight",
)


def positions_of(encoder: Encoder) -> Vectors:
    """The vectors that an encoder adds to the tokens of its grid, in reading order.

    Raises:
        ValueError: it has none, as where positions are rotary, relative, made by convolutions or
            of another size.
    """
    if isinstance(encoder, LibraryEncoder):
        tokens = encoder.grid[0] * encoder.grid[1]
        table = _table_of(encoder.model, tokens, len(encoder.special))
        if table is not None:
            return table
    else:
        positions = getattr(encoder, "embed_positions", None)
        if isinstance(positions, Positions):
            return positions.weight.detach().double().cpu()
    raise ValueError(
        "no vector for every token: positions are relative, rotary, made by convolutions "
        "or of another size"
    )


def _table_of(model: nn.Module, tokens: int, special: int) -> Vectors | None:
    """The vectors of the grid, without those of special tokens before them."""
    named = [*model.named_parameters(), *model.named_buffers()]
    for name, value in named:
        known = any(name == table or name.endswith(f".{table}") for table in _TABLES)
        if not known or value.ndim < 2:
            continue
        vectors = value.detach().double().cpu().flatten(0, -2)
        if len(vectors) in (tokens, tokens + special):
            return vectors[len(vectors) - tokens :]
    return None


def similarities(vectors: Vectors) -> Similarities:
    """Cosines of every vector with every other.

    Vectors that share much have cosines near 1 everywhere; give ``vectors - vectors.mean(0)`` to
    see what tells places apart.
    """
    directions = F.normalize(vectors, dim=1)
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


def _explained(
    values: Float64[Tensor, " pair"],
    classes: Float64[Tensor, " pair"],
) -> float:
    number = torch.unique(classes, return_inverse=True)[1]
    counts = torch.bincount(number).double()
    means = torch.bincount(number, values) / counts
    total = values.var(correction=0)
    if total < 1e-20:
        return float("nan")
    return float(1 - (values - means[number]).square().mean() / total)
