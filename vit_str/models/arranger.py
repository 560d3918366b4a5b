"""A Transformer over the tokens of a page that says what they are and how they belong together.

Tokens are pieces of lines, rules, grounds and pictures. How two of them lie to each other is added
to the scores of attention, as in Graphormer (Ying et al. 2021), and tells which of two pieces is
read first and whether they share a block, a table, a row, a column.
"""

from typing import NamedTuple

import torch
import torch.nn.functional as F
from einops import rearrange
from jaxtyping import Bool, Float, Int64
from torch import Tensor, nn

from vit_str.models.attention import Bias, MultiHeadAttention
from vit_str.models.blocks import FeedForward

RELATIONS = ("next", "before", "block", "table", "row", "column")
"""Of a piece to another: what `Arrangement.relations` scores. Cells that cover several rows or
columns share each of them."""
PAIR_FEATURES = 27
_SUMMED = 16  # width of the projections whose product scores a relation
_FAR = 1e4
_ALIKE = 0.3  # lines by which rules at the sides of two pieces may differ and be one


class Arrangement(NamedTuple):
    """Logits for the tokens of a page; those of tokens that are no pieces do not count.

    Attributes:
        roles: of each token.
        levels: of each token, from 1: of headings or items.
        relations: for each of `RELATIONS`, of pairs of tokens.
        ends: that no token is next.
    """

    roles: Float[Tensor, "batch token role"]
    levels: Float[Tensor, "batch token level"]
    relations: Float[Tensor, "batch relation token token"]
    ends: Float[Tensor, "batch token"]


class PageArranger(nn.Module):
    """Arranges the tokens of pages.

    Args:
        features: numbers of each token.
        roles: that a piece may have.
        levels: of headings and items.
        buckets: numbers of n-grams of characters, 0 for none.
        dim: width of tokens.
        depth: number of blocks.
        heads: of attention.
        mlp_ratio: hidden width of the feed-forward parts over ``dim``.
        pair_dim: width of what is known of pairs of tokens.
        dropout: in training.
    """

    def __init__(
        self,
        features: int,
        roles: int,
        levels: int = 4,
        buckets: int = 4096,
        dim: int = 128,
        depth: int = 4,
        heads: int = 4,
        mlp_ratio: float = 3.0,
        pair_dim: int = 32,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.arguments = {
            "features": features,
            "roles": roles,
            "levels": levels,
            "buckets": buckets,
            "dim": dim,
            "depth": depth,
            "heads": heads,
            "mlp_ratio": mlp_ratio,
            "pair_dim": pair_dim,
            "dropout": dropout,
        }
        self.ngrams = nn.Embedding(buckets, dim // 2, padding_idx=0)
        self.from_ngrams = nn.Linear(dim // 2, dim)
        self.embed = nn.Sequential(
            nn.Linear(features, 2 * dim), nn.GELU(), nn.Linear(2 * dim, dim)
        )
        self.pairs = nn.Sequential(
            nn.Linear(PAIR_FEATURES, pair_dim),
            nn.ReLU(),
            nn.Linear(pair_dim, pair_dim),
            nn.ReLU(),
        )
        self.blocks = nn.ModuleList(
            ArrangerBlock(dim, heads, mlp_ratio, pair_dim, dropout)
            for _ in range(depth)
        )
        self.norm = nn.LayerNorm(dim)
        self.to_roles = nn.Linear(dim, roles)
        self.to_levels = nn.Linear(dim, levels)
        self.to_ends = nn.Linear(dim, 1)
        self.relate = PairScores(dim, pair_dim)

    def forward(
        self,
        features: Float[Tensor, "batch token feature"],
        places: Float[Tensor, "batch token place"],
        ngrams: Int64[Tensor, "batch token ngram"],
        mask: Bool[Tensor, "batch token"],
    ) -> Arrangement:
        """Roles, levels and relations of the tokens of pages.

        Args:
            features: numbers of tokens.
            places: where they are, see `pair_features`.
            ngrams: numbers of n-grams of their words, 0 for none.
            mask: which tokens there are: pages of a batch have as many as the longest.
        """
        pairs = self.pairs(pair_features(places, mask))
        # What is added to a score is low, not minus infinity: a page may have no token
        hidden = torch.where(mask, 0.0, -_FAR)[:, None, None, :]
        known = (ngrams > 0).sum(-1, keepdim=True).clamp(min=1).sqrt()
        x = self.embed(features) + self.from_ngrams(self.ngrams(ngrams).sum(-2) / known)
        for block in self.blocks:
            x = block(x, pairs, hidden)
        x = self.norm(x)
        return Arrangement(
            roles=self.to_roles(x),
            levels=self.to_levels(x),
            relations=self.relate(x, pairs),
            ends=self.to_ends(x)[..., 0],
        )


class ArrangerBlock(nn.Module):
    """Self-attention whose scores know of pairs, then feed-forward; pre-norm."""

    def __init__(
        self, dim: int, heads: int, mlp_ratio: float, pair_dim: int, dropout: float
    ) -> None:
        super().__init__()
        self.attention_norm = nn.LayerNorm(dim)
        self.attention = MultiHeadAttention(dim, heads)
        self.to_bias = nn.Linear(pair_dim, heads)
        self.feed_forward_norm = nn.LayerNorm(dim)
        self.feed_forward = FeedForward(dim, mlp_ratio)
        self.dropout = nn.Dropout(dropout)

    def forward(
        self,
        x: Float[Tensor, "batch token dim"],
        pairs: Float[Tensor, "batch token token pair_dim"],
        hidden: Bias,
    ) -> Float[Tensor, "batch token dim"]:
        """One block; ``hidden`` is added to all scores too."""
        bias = rearrange(self.to_bias(pairs), "b query key h -> b h query key") + hidden
        attended = self.attention(self.attention_norm(x), mask=bias)
        x = x + self.dropout(attended)
        return x + self.dropout(self.feed_forward(self.feed_forward_norm(x)))


class PairScores(nn.Module):
    """Scores of the relations of pairs, from both tokens and how they lie to each other."""

    def __init__(self, dim: int, pair_dim: int) -> None:
        super().__init__()
        count = len(RELATIONS)
        self.first = nn.Linear(dim, pair_dim)
        self.second = nn.Linear(dim, pair_dim)
        self.to_scores = nn.Linear(pair_dim, count)
        self.to_queries = nn.Linear(dim, _SUMMED * count)
        self.to_keys = nn.Linear(dim, _SUMMED * count)

    def forward(
        self,
        x: Float[Tensor, "batch token dim"],
        pairs: Float[Tensor, "batch token token pair_dim"],
    ) -> Float[Tensor, "batch relation token token"]:
        """``before`` changes its sign when tokens change places; all but ``next`` do not change."""
        both = F.relu(pairs + self.first(x).unsqueeze(2) + self.second(x).unsqueeze(1))
        scores = rearrange(self.to_scores(both), "b i j relation -> b relation i j")
        split = "b token (relation d) -> b relation token d"
        queries = rearrange(self.to_queries(x), split, d=_SUMMED)
        keys = rearrange(self.to_keys(x), split, d=_SUMMED)
        scores = scores + queries @ keys.transpose(-1, -2) / _SUMMED**0.5
        following, before, same = scores[:, :1], scores[:, 1:2], scores[:, 2:]
        before = before - before.transpose(-1, -2)
        same = (same + same.transpose(-1, -2)) / 2
        return torch.cat([following, before, same], 1)


@torch.no_grad()
def pair_features(
    places: Float[Tensor, "batch token place"], mask: Bool[Tensor, "batch token"]
) -> Float[Tensor, "batch token token feature"]:
    """How the second of two tokens lies to the first.

    Args:
        places: left, top, right, bottom, in lines; size and weight of type; places of the rules
            above, below, left and right; the number of the ground behind.
        mask: which tokens there are.
    """
    left, top, right, bottom, size, weight, *sides, area = places.unsqueeze(2).unbind(
        -1
    )
    x, y = (left + right) / 2, (top + bottom) / 2
    to_x0, to_x1, to_x, to_y = _to(left), _to(right), _to(x), _to(y)
    across = torch.minimum(right, right.mT) - torch.maximum(left, left.mT)
    down = torch.minimum(bottom, bottom.mT) - torch.maximum(top, top.mT)
    width = torch.minimum(right - left, (right - left).mT).clamp(min=_ALIKE)
    height = torch.minimum(bottom - top, (bottom - top).mT).clamp(min=_ALIKE)
    over_x, over_y = (across / width).clamp(0, 1), (down / height).clamp(0, 1)
    exists = mask.unsqueeze(1) & mask.unsqueeze(2)
    neighbors = [
        _nearest(exists & (over_y > 0.5) & (to_x > 0), to_x),
        _nearest(exists & (over_x > 0.05) & (to_y > 0.5), to_y),
        _nearest(exists & (over_x > 0.05) & (to_y < -0.5), -to_y),
        _nearest(exists & (over_y > 0.5) & (to_x < 0), -to_x),
    ]
    between = _is_one(sides[1], sides[0].mT)
    lengths = [_squashed(v) for v in (to_x0, to_x1, to_x, to_y, across, down)]
    edges = [torch.exp(-((v * 2) ** 2)) for v in (to_x0, to_x1, to_x, to_y)]
    rules = [_is_one(side, side.mT) for side in sides]
    look = [_to(size), _to(size).abs(), _to(weight)]
    same_ground = (area == area.mT).float()
    return torch.stack(
        [
            *lengths,
            over_x,
            over_y,
            *edges,
            *neighbors,
            *rules,
            between,
            between.mT,
            *look,
            torch.exp(-to_y.abs()),
            same_ground,
        ],
        -1,
    )


def _to(value: Tensor) -> Tensor:
    """Of the second over the first."""
    return value.mT - value


def _squashed(value: Tensor) -> Tensor:
    return value.sign() * (value.abs() * 2).log1p() / 2


def _nearest(is_possible: Tensor, distance: Tensor) -> Tensor:
    """Whether the second is the nearest of those that are possible."""
    far = torch.where(is_possible, distance, _FAR)
    return ((far == far.amin(2, keepdim=True)) & (far < _FAR)).float()


def _is_one(first: Tensor, second: Tensor) -> Tensor:
    """Whether the rules at two sides are one."""
    return ((first - second).abs() < _ALIKE).float() * (first < _FAR / 2)
