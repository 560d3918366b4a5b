"""Models of torchvision."""

from functools import partial
from pathlib import Path
from typing import Any

import torch
from PIL import Image
from torch import Tensor, nn

from vit_str.analysis.geometry import TokenGrid
from vit_str.analysis.libraries.checkpoint import fill, read_weights
from vit_str.analysis.libraries.encoder import (
    Block,
    LibraryEncoder,
    LibraryPreprocessing,
)
from vit_str.analysis.libraries.refusals import why_not

KNOWN = ("VisionTransformer", "SwinTransformer", "MaxVit")


def create(
    name: str,
    pretrained: bool,
    checkpoint: Path | None,
    image_size: tuple[int, int] | None = None,
) -> tuple[LibraryEncoder, LibraryPreprocessing]:
    """A model by its name, and its preprocessing; ``vit_b_16.IMAGENET1K_V1`` names weights too."""
    from torchvision import models

    name, _, version = name.partition(".")
    if name not in models.list_models(models):
        raise ValueError(f"torchvision has no model {name}; it has vit_b_16 and swin_t")
    choices = models.get_model_weights(name)
    if version and version not in choices.__members__:
        raise ValueError(
            f"{name} has no weights {version}, only {', '.join(choices.__members__)}"
        )
    weights = choices[version or "DEFAULT"]
    pretrained = pretrained and checkpoint is None
    # A model that is not supported is refused before its weights are fetched
    if pretrained:
        _check_supported(models.get_model(name, weights=None))
    model = models.get_model(name, weights=weights if pretrained else None)
    if checkpoint is not None:
        fill(model, read_weights(checkpoint), checkpoint)
    preset = weights.transforms()
    size = getattr(model, "image_size", preset.crop_size[0])
    if (
        image_size
        and hasattr(model, "image_size")
        and tuple(image_size) != (size, size)
    ):
        raise ValueError(f"{name} of torchvision takes images of {size} x {size} only")
    transform = partial(_resize_and_crop, preset, size)
    return (
        encoder(model.eval(), image_size or (size, size)),
        LibraryPreprocessing(size, size, preset.mean, preset.std, transform=transform),
    )


def encoder(model: Any, image_size: tuple[int, int] | None = None) -> LibraryEncoder:
    """An instantiated model; a ``SwinTransformer`` needs the size of its images."""
    _check_supported(model)
    if type(model).__name__ == "VisionTransformer":
        side = model.image_size // model.patch_size
        grid = TokenGrid(side, side, (model.patch_size, model.patch_size))
        blocks = [Block(block, grid) for block in model.encoder.layers]
        return LibraryEncoder(model, blocks, partial(_features, model), ["class"])
    if type(model).__name__ == "MaxVit":
        layers = nn.Sequential(model.stem, *model.blocks)
        return LibraryEncoder(model, _maxvit(model), layers)
    if image_size is None:
        raise ValueError(
            "a SwinTransformer of torchvision reads images of any size: name one"
        )
    return LibraryEncoder(model, _swin(model, image_size), model.features)


def _check_supported(model: Any) -> None:
    kind = type(model).__name__
    if kind not in KNOWN:
        raise ValueError(
            f"torchvision's {kind} is not supported: {why_not(model, KNOWN)}"
        )


def _features(model: Any, images: Tensor) -> Tensor:
    tokens = model._process_input(images)
    special = model.class_token.expand(len(tokens), -1, -1)
    return model.encoder(torch.cat([special, tokens], 1))


def _swin(model: Any, image_size: tuple[int, int]) -> list[Block]:
    down, across = model.features[0][0].stride
    grid = TokenGrid(image_size[0] // down, image_size[1] // across, (down, across))
    blocks = []
    for number, stage in enumerate(model.features):
        if number % 2:
            blocks += [_block(block, grid) for block in stage]
        elif number:
            grid = grid.merged()
    return blocks


def _maxvit(model: Any) -> list[Block]:
    """MaxViT attends in windows, then among tokens that lie evenly over the image."""
    blocks = []
    side = 2  # pixels between two tokens behind the stem
    for stage in model.blocks:
        side *= 2
        rows, columns = stage.grid_size
        grid = TokenGrid(rows, columns, (side, side))
        for layer in stage.layers:
            for module in list(layer.layers)[1:]:
                is_spread = module.partition_type == "grid"
                width = module.g if is_spread else module.p
                blocks.append(
                    Block(
                        module,
                        grid,
                        (width, width),
                        spread=is_spread,
                        channels_first=True,
                    )
                )
    return blocks


def _block(module: Any, grid: TokenGrid) -> Block:
    window = module.attn.window_size
    shift = module.attn.shift_size
    size = (grid.rows, grid.columns)
    # One window that holds all is not shifted.
    down, across = (
        0 if w >= n else s for w, s, n in zip(window, shift, size, strict=True)
    )
    return Block(module, grid, tuple(window), (down, across))


def _resize_and_crop(preset: Any, size: int, image: Image.Image) -> Tensor:
    """The transforms of ``ImageClassification`` before it normalizes."""
    from torchvision.transforms import functional

    resize = preset.resize_size if preset.crop_size[0] == size else [size]
    image = functional.resize(image, resize, interpolation=preset.interpolation)
    return functional.pil_to_tensor(functional.center_crop(image, [size, size]))
