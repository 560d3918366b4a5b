"""Models of timm whose layers attend to pooled keys: PVT v2, Twins and MViT v2."""

from collections.abc import Callable
from itertools import chain
from typing import Any

from vit_str.analysis.geometry import TokenGrid
from vit_str.analysis.libraries.encoder import Block
from vit_str.analysis.libraries.pooled_keys import (
    first_grid,
    linear_keys,
    pooled_keys,
    strided,
)

POOLED = ("PyramidVisionTransformerV2", "Twins", "MultiScaleVit")


def pooled_blocks(model: Any, image_size: tuple[int, int]) -> list[Block]:
    """The layers of a model of one of the classes of ``POOLED``.

    Raises:
        ValueError: images that are not cut evenly, or a class token among pooled tokens.
    """
    blocks_of: dict[str, Callable[[Any, tuple[int, int]], list[Block]]] = {
        "PyramidVisionTransformerV2": _pyramid,
        "Twins": _twins,
        "MultiScaleVit": _multi_scale,
    }
    return blocks_of[type(model).__name__](model, image_size)


def image_size_of(model: Any) -> tuple[int, int]:
    """Height and width of the images that a model was made for.

    Raises:
        ValueError: it takes images of any size.
    """
    if hasattr(model, "patch_embeds"):
        height, width = model.patch_embeds[0].img_size
        return height, width
    settings = getattr(model, "pretrained_cfg", None)
    if not settings:
        raise ValueError(
            f"timm's {type(model).__name__} takes images of any size: say which"
        )
    _, height, width = settings["input_size"]
    return height, width


def _pyramid(model: Any, image_size: tuple[int, int]) -> list[Block]:
    grid = first_grid(image_size, model.patch_embed.proj.stride)
    blocks = []
    for stage in model.stages:
        grid = grid.merged() if stage.downsample is not None else grid
        for block in stage.blocks:
            attention = block.attn
            if attention.pool is None:
                keys = (
                    pooled_keys(grid, attention.sr.stride[0]) if attention.sr else None
                )
            else:
                keys = linear_keys(grid)
            blocks.append(Block(block, grid, keys=keys))
    return blocks


def _twins(model: Any, image_size: tuple[int, int]) -> list[Block]:
    grid = first_grid(image_size, model.patch_embeds[0].patch_size)
    blocks = []
    for number, stage in enumerate(model.blocks):
        grid = grid.merged() if number else grid
        for block in stage:
            attention = block.attn
            if hasattr(attention, "ws"):
                blocks.append(Block(block, grid, (attention.ws, attention.ws)))
            else:
                blocks.append(
                    Block(block, grid, keys=pooled_keys(grid, attention.sr_ratio))
                )
    return blocks


def _multi_scale(model: Any, image_size: tuple[int, int]) -> list[Block]:
    if model.cls_token is not None:
        raise ValueError(
            "timm's MultiScaleVit is supported without a class token among pooled "
            "tokens only"
        )
    grid = first_grid(image_size, model.patch_embed.proj.stride)
    blocks = []
    for block in chain.from_iterable(stage.blocks for stage in model.stages):
        queries, keys = (
            _behind(pool, grid) for pool in (block.attn.pool_q, block.attn.pool_k)
        )
        blocks.append(Block(block, queries, keys=keys))
        grid = queries
    return blocks


def _behind(pool: Any, grid: TokenGrid) -> TokenGrid:
    """Tokens behind a pooling, if there is one."""
    return grid if pool is None else strided(grid, pool.stride)
