"""Models of transformers whose layers attend to pooled keys: PVT v2, SegFormer and GLPN."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from torch import nn

from vit_str.analysis.geometry import TokenGrid
from vit_str.analysis.libraries.encoder import Block
from vit_str.analysis.libraries.pooled_keys import first_grid, linear_keys, pooled_keys

POOLED = ("pvt_v2", "segformer", "glpn")

Stages = Iterator[tuple[nn.Conv2d, Iterable[Any]]]
"""Of each stage the convolution that makes its tokens, and its layers."""


def pooled_blocks(model: Any, image_size: tuple[int, int]) -> list[Block]:
    """The layers of a model of one of the types of ``POOLED``.

    Raises:
        ValueError: images that are not cut evenly.
    """
    kind = model.config.model_type
    stages_of, keys_of = _OF_TYPES[kind]
    grid: TokenGrid | None = None
    blocks = []
    for embedding, layers in stages_of(model):
        grid = (
            grid.merged() if grid else first_grid(image_size, _pair(embedding.stride))
        )
        blocks += [
            Block(layer, grid, keys=keys_of(layer.attention, grid)) for layer in layers
        ]
    return blocks


def _pair(stride: tuple[int, ...]) -> tuple[int, int]:
    rows, columns = stride
    return rows, columns


def _pyramid(model: Any) -> Stages:
    for stage in model.encoder.layers:
        yield stage.patch_embedding.proj, stage.blocks


def _segformer(model: Any) -> Stages:
    for stage in model.stages:
        yield stage.patch_embeddings.proj, stage.blocks


def _glpn(model: Any) -> Stages:
    encoder = model.encoder
    for embedding, layers in zip(encoder.patch_embeddings, encoder.block, strict=True):
        yield embedding.proj, layers


def _keys_of_pyramid(attention: Any, grid: TokenGrid) -> TokenGrid | None:
    if attention.linear_attention:
        return linear_keys(grid)
    return pooled_keys(grid, attention.spatial_reduction_ratio)


def _keys_of_segformer(attention: Any, grid: TokenGrid) -> TokenGrid | None:
    return pooled_keys(grid, attention.sequence_reduction_ratio)


def _keys_of_glpn(attention: Any, grid: TokenGrid) -> TokenGrid | None:
    return pooled_keys(grid, attention.self.sr_ratio)


_OF_TYPES: dict[
    str,
    tuple[Callable[[Any], Stages], Callable[[Any, TokenGrid], TokenGrid | None]],
] = {
    "pvt_v2": (_pyramid, _keys_of_pyramid),
    "segformer": (_segformer, _keys_of_segformer),
    "glpn": (_glpn, _keys_of_glpn),
}
