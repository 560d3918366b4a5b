"""Models of timm with attention in some of their blocks, between convolutions.

A convolution with a stride moves all tokens of a layer alike, which changes no distance.
"""

from typing import Any

from vit_str.analysis.geometry import TokenGrid
from vit_str.analysis.libraries.encoder import Block
from vit_str.analysis.libraries.pooled_keys import first_grid
from vit_str.analysis.libraries.refusals import NO_ATTENTION

HYBRIDS = ("EfficientFormer", "FastVit", "MaxxVit", "MetaFormer", "Visformer")


def hybrid_blocks(model: Any, image_size: tuple[int, int]) -> list[Block]:
    """The layers with attention of a model of one of the classes of ``HYBRIDS``.

    Raises:
        ValueError: no layer with attention, one that is not supported, or images that are not cut
            evenly.
    """
    blocks: list[Block] = []
    for stage in model.feature_info:
        side = stage["reduction"]
        layers = filter(_has_attention, model.get_submodule(stage["module"]).modules())
        blocks += [
            _block(layer, first_grid(image_size, (side, side))) for layer in layers
        ]
    if not blocks:
        kind = type(model).__name__
        raise ValueError(f"timm's {kind} is not supported: {NO_ATTENTION}")
    return blocks


def _has_attention(module: Any) -> bool:
    """Whether a module is a layer: its attention and what follows it."""
    kind = type(module).__name__
    if kind == "ParallelPartitionAttention":
        raise ValueError(
            "timm's MaxxVit is not supported with windows and grids of far tokens side "
            "by side, each on a part of the channels"
        )
    if kind == "MetaFormerBlock":
        return hasattr(module.token_mixer, "qkv")
    if kind == "Block":
        return module.attn is not None
    return kind in (
        *("AttentionBlock", "MetaBlock1d", "TransformerBlock2d"),
        *("PartitionAttentionCl", "PartitionAttention2d"),
    )


def _block(module: Any, grid: TokenGrid) -> Block:
    kind = type(module).__name__
    if kind.startswith("PartitionAttention"):
        rows, columns = module.partition_size
        return Block(
            module,
            grid,
            (rows, columns),
            spread=not module.partition_block,
            channels_first=kind.endswith("2d"),
        )
    if kind == "MetaBlock1d":
        tokens = module.token_mixer.attention_biases.shape[-1]
        if tokens != len(grid):
            raise ValueError(
                f"timm's EfficientFormer attends to {tokens} tokens only, images of "
                f"this size have {len(grid)}: give 224 x 224 pixels"
            )
    tokens_first = kind in ("MetaBlock1d", "MetaFormerBlock")
    return Block(module, grid, channels_first=not tokens_first)
