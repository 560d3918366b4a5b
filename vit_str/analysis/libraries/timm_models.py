"""Models of timm."""

import sys
from collections.abc import Callable, Mapping
from itertools import chain
from pathlib import Path
from typing import Any

from torch import nn

from vit_str.analysis.geometry import TokenGrid
from vit_str.analysis.libraries.checkpoint import fill, read_weights
from vit_str.analysis.libraries.encoder import (
    Block,
    LibraryEncoder,
    LibraryPreprocessing,
    check_patches,
    special_names,
)
from vit_str.analysis.libraries.pooled_keys import first_grid
from vit_str.analysis.libraries.refusals import check_softmax, why_not
from vit_str.analysis.libraries.timm_blockwise import BLOCKWISE, blockwise_layers
from vit_str.analysis.libraries.timm_hybrids import HYBRIDS, hybrid_blocks
from vit_str.analysis.libraries.timm_pooled import POOLED, image_size_of, pooled_blocks

PLAIN = (
    *(
        "VisionTransformer",
        "VisionTransformerDistilled",
        "VisionTransformerRelPos",
        "Eva",
        "Beit",
    ),
    "Qwen3VitEncoder",
)
SWIN = ("SwinTransformer", "SwinTransformerV2", "SwinTransformerV2Cr")
# Modules of timm whose models take images of any size without being told.
_ANY_SIZE = ["fastvit", "metaformer", "pvt_v2", "tiny_vit"]


def create(
    name: str,
    pretrained: bool,
    checkpoint: Path | None,
    image_size: tuple[int, int] | None = None,
    classes: bool = False,
) -> tuple[LibraryEncoder, LibraryPreprocessing]:
    """A model by its name, with weights that timm finds or of a file, and its preprocessing.

    With ``classes`` it keeps its head; of a file, for as many classes as the file has.

    Raises:
        ValueError: timm has no model of this name.
    """
    import timm

    if ":" not in name and not timm.is_model(name.partition(".")[0]):
        raise ValueError(f"timm has no model {name!r}; timm.list_models() lists them")
    any_size = timm.models.is_model_in_modules(name.partition(".")[0], _ANY_SIZE)
    options: dict[str, Any] = {} if classes else {"num_classes": 0}
    if image_size and not any_size:
        options["img_size"] = tuple(image_size)
    pretrained = pretrained and checkpoint is None
    weights = read_weights(checkpoint) if checkpoint is not None else {}
    if classes and "head.weight" in weights:
        options["num_classes"] = len(weights["head.weight"])
    # A model that is not supported is refused before its weights are fetched
    if pretrained:
        encoder(timm.create_model(name, pretrained=False, **options), image_size)
    model = timm.create_model(name, pretrained=pretrained, **options)
    if checkpoint is not None:
        # Weights as their authors published them have other names.
        rename = getattr(
            sys.modules[type(model).__module__], "checkpoint_filter_fn", None
        )
        fill(model, rename(weights, model) if rename else weights, checkpoint)
    return encoder(model, image_size), preprocessing(model)


def encoder(model: Any, image_size: tuple[int, int] | None = None) -> LibraryEncoder:
    """An instantiated model; its images have its one size, unless it takes any.

    Raises:
        ValueError: the model is not supported, or takes images of any size and none is given.
    """
    kind = type(model).__name__
    if kind == "Qwen3VitClassifier":
        return encoder(model.encoder, image_size)
    if kind not in KINDS:
        reason = why_not(model, tuple(KINDS))
        raise ValueError(f"timm's {kind} is not supported: {reason}")
    check_softmax(model)
    blocks = KINDS[kind](model, image_size)
    special = _special(model) if kind in PLAIN else ()
    return LibraryEncoder(model, blocks, model.forward_features, special)


def _plain(model: Any, image_size: tuple[int, int] | None) -> list[Block]:
    """Attention among all tokens."""
    embed = model.patch_embed
    height, width = embed.img_size or image_size or (0, 0)
    rows, columns = embed.grid_size or (0, 0)
    if image_size and not getattr(embed, "strict_img_size", True):
        height, width = image_size
        rows, columns = embed.dynamic_feat_size(image_size)
    if not rows:
        kind = type(model).__name__
        raise ValueError(f"timm's {kind} takes images of any size: say which")
    check_patches((height, width), getattr(embed, "patch_size", (1, 1)))
    # A hybrid cuts patches out of the maps of a convolution, whose pixels are larger.
    grid = TokenGrid(rows, columns, (height / rows, width / columns))
    return [Block(block, grid) for block in model.blocks]


def _swin(model: Any, _: tuple[int, int] | None) -> list[Block]:
    """Attention in windows, every second layer in shifted ones."""
    embed = model.patch_embed
    rows, columns = embed.grid_size
    height, width = embed.patch_size
    grid = TokenGrid(rows, columns, (height, width))
    stages = model.stages if hasattr(model, "stages") else model.layers
    blocks = []
    for block in chain.from_iterable(stage.blocks for stage in stages):
        named = "feat_size" if hasattr(block, "feat_size") else "input_resolution"
        if (grid.rows, grid.columns) != tuple(getattr(block, named)):
            grid = grid.merged()
        blocks.append(
            Block(block, grid, tuple(block.window_size), tuple(block.shift_size))
        )
    return blocks


def _tiny(model: Any, image_size: tuple[int, int] | None) -> list[Block]:
    """TinyViT: windows that are not shifted, behind a stage of convolutions."""
    stride = model.patch_embed.stride
    grid = first_grid(image_size or image_size_of(model), (stride, stride))
    _convolutions, *stages = model.stages
    blocks = []
    for stage in stages:
        grid = grid.merged()
        sides = ((block, block.window_size) for block in stage.blocks)
        blocks += [Block(block, grid, (side, side)) for block, side in sides]
    return blocks


def _pooled(model: Any, image_size: tuple[int, int] | None) -> list[Block]:
    return pooled_blocks(model, image_size or image_size_of(model))


def _hybrid(model: Any, image_size: tuple[int, int] | None) -> list[Block]:
    size = getattr(model, "img_size", None) or image_size or image_size_of(model)
    return hybrid_blocks(model, size)


def _blockwise(model: Any, _: tuple[int, int] | None) -> list[Block]:
    return blockwise_layers(model)


KINDS: Mapping[str, Callable[[Any, tuple[int, int] | None], list[Block]]] = {
    **dict.fromkeys(PLAIN, _plain),
    **dict.fromkeys(SWIN, _swin),
    "TinyVit": _tiny,
    **dict.fromkeys(POOLED, _pooled),
    **dict.fromkeys(HYBRIDS, _hybrid),
    **dict.fromkeys(BLOCKWISE, _blockwise),
}
"""Classes of models, and what makes the blocks of one with images of some size."""


def _special(model: Any) -> list[str]:
    names = special_names(model)
    if len(names) != model.num_prefix_tokens:
        raise ValueError(
            f"{type(model).__name__} has {model.num_prefix_tokens} special tokens, of "
            f"which only these are supported: {', '.join(names) or 'none'}"
        )
    return names


def preprocessing(model: nn.Module) -> LibraryPreprocessing:
    """The transforms of timm for a model."""
    from timm.data import create_transform, resolve_model_data_config

    config = resolve_model_data_config(model)
    # As for timm's own loaders: pixels are normalized in a later step.
    transform = create_transform(**config, is_training=False, use_prefetcher=True)
    _, height, width = config["input_size"]
    return LibraryPreprocessing(
        height, width, config["mean"], config["std"], transform=transform
    )
