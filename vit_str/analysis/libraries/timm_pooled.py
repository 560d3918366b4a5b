"""Models of timm whose layers attend to pooled keys: PVT v2, Twins and MViT v2.

What counts is where keys truly lie. A convolution as wide as its stride takes the mean place of the
tokens that it covers; a wider one that is centered on every second token stays at these tokens.
"""

from collections.abc import Callable
from typing import Any

from vit_str.analysis.geometry import TokenGrid
from vit_str.analysis.libraries.encoder import Block

POOLED = ("PyramidVisionTransformerV2", "Twins", "MultiScaleVit")
_LINEAR_KEYS = 7  # rows and columns that the linear kind of PVT v2 pools all tokens to


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
    """Height and width of the images that a model was made for."""
    if hasattr(model, "patch_embeds"):
        height, width = model.patch_embeds[0].img_size
        return height, width
    settings = getattr(model, "pretrained_cfg", None)
    if not settings:
        raise ValueError(f"timm's {type(model).__name__} takes images of any size: say which")
    _, height, width = settings["input_size"]
    return height, width


def first_grid(image_size: tuple[int, int], stride: tuple[int, int]) -> TokenGrid:
    """The tokens of the first stage, which divide the image evenly."""
    (height, width), (down, across) = image_size, stride
    if height % down or width % across:
        raise ValueError(
            f"images of {height} x {width} do not divide into tokens of {down} x {across} pixels"
        )
    return TokenGrid(height // down, width // across, (down, across))


def pooled_keys(grid: TokenGrid, ratio: int) -> TokenGrid | None:
    """Keys that are pooled by a convolution as wide as its stride; None where they are not."""
    return grid.pooled(ratio, ratio) if ratio > 1 else None


def _pyramid(model: Any, image_size: tuple[int, int]) -> list[Block]:
    grid = first_grid(image_size, model.patch_embed.proj.stride)
    blocks = []
    for stage in model.stages:
        grid = grid.merged() if stage.downsample is not None else grid
        for block in stage.blocks:
            attention = block.attn
            if attention.pool is None:
                keys = pooled_keys(grid, attention.sr.stride[0]) if attention.sr else None
            else:
                keys = _linear_keys(grid)
            blocks.append(Block(block, grid, keys=keys))
    return blocks


def _linear_keys(grid: TokenGrid) -> TokenGrid:
    if grid.rows % _LINEAR_KEYS or grid.columns % _LINEAR_KEYS:
        raise ValueError(
            f"{grid.rows} x {grid.columns} tokens are pooled to {_LINEAR_KEYS} x {_LINEAR_KEYS} "
            "keys of uneven size: give images of a multiple of 224 pixels"
        )
    return grid.pooled(grid.rows // _LINEAR_KEYS, grid.columns // _LINEAR_KEYS)


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
                blocks.append(Block(block, grid, keys=pooled_keys(grid, attention.sr_ratio)))
    return blocks


def _multi_scale(model: Any, image_size: tuple[int, int]) -> list[Block]:
    if model.cls_token is not None:
        raise ValueError(
            "timm's MultiScaleVit is supported without a class token among pooled tokens only"
        )
    grid = first_grid(image_size, model.patch_embed.proj.stride)
    blocks = []
    for block in (block for stage in model.stages for block in stage.blocks):
        queries, keys = (_strided(grid, pool) for pool in (block.attn.pool_q, block.attn.pool_k))
        blocks.append(Block(block, queries, keys=keys))
        grid = queries
    return blocks


def _strided(grid: TokenGrid, pool: Any) -> TokenGrid:
    """Tokens behind a pooling whose window is centered on the tokens that it keeps."""
    if pool is None:
        return grid
    rows, columns = pool.stride
    if grid.rows % rows or grid.columns % columns:
        raise ValueError(
            f"{grid.rows} x {grid.columns} tokens are not pooled evenly, by {rows} x {columns}"
        )
    return grid.strided(rows, columns)
