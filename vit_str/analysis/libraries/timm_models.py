"""Models of timm."""

import sys
from pathlib import Path
from typing import Any

from torch import nn

from vit_str.analysis.geometry import TokenGrid
from vit_str.analysis.libraries.checkpoint import fill, read_weights
from vit_str.analysis.libraries.encoder import (
    Block,
    LibraryEncoder,
    LibraryPreprocessing,
    special_names,
)
from vit_str.analysis.libraries.refusals import check_softmax, why_not
from vit_str.analysis.libraries.timm_pooled import POOLED, image_size_of, pooled_blocks

PLAIN = (
    *("VisionTransformer", "VisionTransformerDistilled", "VisionTransformerRelPos", "Eva", "Beit"),
)
SWIN = ("SwinTransformer", "SwinTransformerV2")


def create(
    name: str,
    pretrained: bool,
    checkpoint: Path | None,
    image_size: tuple[int, int] | None = None,
) -> tuple[LibraryEncoder, LibraryPreprocessing]:
    """A model by its name, with weights that timm finds or of a file, and its preprocessing."""
    import timm

    if ":" not in name and not timm.is_model(name.partition(".")[0]):
        raise ValueError(f"timm has no model {name!r}; timm.list_models() lists them")
    any_size = timm.models.is_model_in_modules(name.partition(".")[0], ["pvt_v2"])
    options: dict[str, Any] = {}
    if image_size and not any_size:
        options = {"img_size": tuple(image_size)}
    pretrained = pretrained and checkpoint is None
    if pretrained:  # a model that is not supported is refused before its weights are fetched
        encoder(timm.create_model(name, pretrained=False, num_classes=0, **options), image_size)
    model = timm.create_model(name, pretrained=pretrained, num_classes=0, **options)
    if checkpoint is not None:
        weights = read_weights(checkpoint)
        # Weights as their authors published them have other names.
        rename = getattr(sys.modules[type(model).__module__], "checkpoint_filter_fn", None)
        fill(model, rename(weights, model) if rename else weights, checkpoint)
    return encoder(model, image_size), preprocessing(model)


def encoder(model: Any, image_size: tuple[int, int] | None = None) -> LibraryEncoder:
    """An instantiated model; its images have its one size, unless it takes any."""
    kind = type(model).__name__
    known = PLAIN + SWIN + POOLED
    if kind not in known:
        raise ValueError(f"timm's {kind} is not supported: {why_not(model, known)}")
    check_softmax(model)
    if kind in POOLED:
        blocks = pooled_blocks(model, image_size or image_size_of(model))
        return LibraryEncoder(model, blocks, model.forward_features)
    embed = model.patch_embed
    if kind in SWIN:
        patch = tuple(embed.patch_size)
        return LibraryEncoder(model, _swin(model, patch), model.forward_features)
    height, width = embed.img_size or image_size or (0, 0)
    rows, columns = embed.grid_size or (0, 0)
    if image_size and not getattr(embed, "strict_img_size", True):
        height, width = image_size
        rows, columns = embed.dynamic_feat_size(image_size)
    if not rows:
        raise ValueError(f"timm's {kind} takes images of any size: say which")
    # A hybrid cuts patches out of the maps of a convolution, whose pixels are larger.
    grid = TokenGrid(rows, columns, (height / rows, width / columns))
    special = _special(model)
    blocks = [Block(block, grid) for block in model.blocks]
    return LibraryEncoder(model, blocks, model.forward_features, special)


def _swin(model: Any, patch: tuple[int, int]) -> list[Block]:
    rows = model.patch_embed.grid_size[0]
    blocks = []
    for block in (block for stage in model.layers for block in stage.blocks):
        height, width = block.input_resolution
        scale = rows // height
        grid = TokenGrid(height, width, (patch[0] * scale, patch[1] * scale))
        blocks.append(Block(block, grid, tuple(block.window_size), tuple(block.shift_size)))
    return blocks


def _special(model: Any) -> list[str]:
    names = special_names(model)
    if len(names) != model.num_prefix_tokens:
        raise ValueError(
            f"{type(model).__name__} has {model.num_prefix_tokens} special tokens, of "
            f"which only these are supported: {', '.join(names) or 'none'}"
        )
    return names


def preprocessing(model: nn.Module) -> LibraryPreprocessing:
    """What timm does to images for a model."""
    from timm.data import create_transform, resolve_model_data_config

    config = resolve_model_data_config(model)
    # As for timm's own loaders: pixels are normalized in a later step.
    transform = create_transform(**config, is_training=False, use_prefetcher=True)
    _, height, width = config["input_size"]
    return LibraryPreprocessing(height, width, config["mean"], config["std"], transform=transform)
