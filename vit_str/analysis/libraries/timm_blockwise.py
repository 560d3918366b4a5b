"""Models of timm whose tokens are not kept row by row: Hiera and NesT."""

from typing import Any

import torch
from jaxtyping import Int64
from torch import Tensor

from vit_str.analysis.geometry import TokenGrid
from vit_str.analysis.libraries.encoder import Block

BLOCKWISE = ("Hiera", "Nest")


def blockwise_layers(model: Any) -> list[Block]:
    """The layers of a model of one of the classes of ``BLOCKWISE``."""
    return _hiera(model) if type(model).__name__ == "Hiera" else _nest(model)


def _hiera(model: Any) -> list[Block]:
    """Attention in mask units in the first stages, whose queries are pooled between stages."""
    if len(model.q_stride) != 2:
        raise ValueError("timm's Hiera is supported for images only, not for videos")
    sides = zip(model.tokens_spatial_shape, model.patch_stride, strict=True)
    height, width = (tokens * stride for tokens, stride in sides)
    before = _places(model, 0)
    down, across = model.mask_unit_size
    layers = []
    for number, block in enumerate(model.blocks):
        after = _places(model, number)
        is_pooled = after.shape != before.shape
        if is_pooled:
            down //= model.q_stride[0]
            across //= model.q_stride[1]
        window = (down, across) if block.attn.use_mask_unit_attn else None
        pools = (before.shape[0] // len(after), before.shape[1] // after.shape[1])
        of_keys = None
        if window:
            of_keys = down * pools[0], across * pools[1]
        layers.append(
            Block(
                block,
                _grid(after, height, width),
                window,
                keys=_grid(before, height, width) if is_pooled else None,
                order=after.flatten(),
                inside=(_inside(after, window), _inside(before, of_keys)),
            )
        )
        before = after
    return layers


def _nest(model: Any) -> list[Block]:
    height, width = model.patch_embed.img_size
    rows, columns = model.patch_embed.grid_size
    grid = TokenGrid(rows, columns, (height / rows, width / columns))
    layers = []
    for number, level in enumerate(model.levels):
        grid = grid.merged() if number else grid
        side = level.block_size
        # Block by block, both row by row
        sequence = torch.arange(len(grid)).reshape(
            grid.rows // side, grid.columns // side, side, side
        )
        order = sequence.transpose(1, 2).flatten()
        layers += [
            Block(layer, grid, (side, side), order=order)
            for layer in level.transformer_encoder
        ]
    return layers


def _places(model: Any, number: int) -> Int64[Tensor, "row column"]:
    """Where the tokens behind a block of Hiera stand in its sequence."""
    _, (rows, columns) = model.reroll.schedule[number]
    sequence = torch.arange(rows * columns)[None, :, None]
    placed: Tensor = model.reroll(sequence, number)
    return placed.reshape(rows, columns)


def _inside(
    places: Int64[Tensor, "row column"], window: tuple[int, int] | None
) -> Int64[Tensor, " token"]:
    """Order that brings the tokens of a window, or of the image, row by row.

    All tokens of one place in their windows follow each other.
    """
    rows, columns = window or places.shape
    windows = places.numel() // (rows * columns)
    return places[:rows, :columns].flatten() // windows


def _grid(places: Int64[Tensor, "row column"], height: int, width: int) -> TokenGrid:
    rows, columns = places.shape
    return TokenGrid(rows, columns, (height / rows, width / columns))
