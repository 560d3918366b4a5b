"""Random attention that is as far and as sharp as that of a head: a control of ablation.

A head that is cut loses two things: how far it looked, and what it looked at. This control takes
the second alone. Every row of its map keeps its numbers, hence its entropy, and its profile of
distances: numbers change places only among tokens that lie as far from the query, to the nearest
multiple of the shorter side of a token.
"""

import torch
from jaxtyping import Float, Int64
from torch import Tensor

from vit_str.analysis.geometry import TokenGrid

Maps = Float[Tensor, "batch head query key"]


def shells(grid: TokenGrid) -> Int64[Tensor, "query key"]:
    """How far every key lies from every query, in shorter sides of a token.

    Special tokens have no place: what a patch gives to each of them stays, and of what they give
    themselves all patches are as far.
    """
    special = grid.special_tokens
    tokens = len(grid) + special
    steps = torch.zeros(tokens, tokens, dtype=torch.long)
    away = grid.distances() / min(grid.patch_size)
    steps[special:, special:] = away.round().long()
    steps[:, :special] = -1 - torch.arange(special)
    return steps


def shuffled_at_equal_distance(maps: Maps, grid: TokenGrid, random: Maps) -> Maps:
    """Maps whose numbers have changed places among keys that are as far from the query.

    Args:
        maps: special tokens first.
        grid: of the tokens.
        random: numbers from 0 to 1 that decide about the order, other ones for every row.
    """
    steps = shells(grid)
    # Both orders go through the shells from the nearest on: one by place, one at random
    in_order = steps.argsort(dim=-1, stable=True).to(maps.device).expand(maps.shape)
    at_random = (steps + random.double()).argsort(-1).to(maps.device)
    return torch.zeros_like(maps).scatter(-1, in_order, maps.gather(-1, at_random))
