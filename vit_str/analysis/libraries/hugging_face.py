"""Models of transformers."""

from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch
from einops import rearrange
from jaxtyping import Float, Int64
from PIL import Image
from torch import Tensor, nn

from vit_str.analysis.geometry import TokenGrid
from vit_str.analysis.libraries.checkpoint import check, read_weights
from vit_str.analysis.libraries.encoder import (
    Block,
    LibraryEncoder,
    LibraryPreprocessing,
    check_patches,
    special_names,
)
from vit_str.analysis.libraries.hugging_face_pooled import POOLED, pooled_blocks
from vit_str.analysis.libraries.refusals import why_not_type
from vit_str.analysis.probe import map_of, probe

PLAIN = (
    *(
        "vit",
        "deit",
        "dinov2",
        "dinov2_with_registers",
        "dinov3_vit",
        "vit_mae",
        "ijepa",
        "beit",
    ),
    "clip_vision_model",
    "siglip_vision_model",
)
SWIN = ("swin", "swinv2", "donut-swin")
_KNOWN = (*PLAIN, *SWIN, *POOLED)
# They take images of any size without being told.
_ANY_SIZE = ("dinov2", "dinov2_with_registers", "dinov3_vit", "donut-swin", *POOLED)


def create(
    name: str,
    pretrained: bool,
    checkpoint: Path | None,
    image_size: tuple[int, int] | None = None,
) -> tuple[LibraryEncoder, LibraryPreprocessing]:
    """A model by its name on the hub or a folder; untrained also by a type such as ``vit``.

    For weights of a file nothing is fetched: the configuration is beside it or in the cache.
    """
    import transformers

    transformers.logging.set_verbosity_error()
    config, processor = _described(name, pretrained, checkpoint)
    parts = {
        "clip": ("vision_config", transformers.CLIPVisionModel),
        "siglip": ("vision_config", transformers.SiglipVisionModel),
        "vision-encoder-decoder": ("encoder", transformers.VisionEncoderDecoderModel),
    }
    part, model_class = parts.get(config.model_type, ("", transformers.AutoModel))
    vision: Any = getattr(config, part) if part else config
    _check_supported(vision)
    config = vision if part == "vision_config" else config
    if checkpoint is not None:
        model = _filled(model_class, config, checkpoint)
    elif pretrained:
        model = _pretrained(model_class, name, Path(name))
    elif model_class is transformers.AutoModel:
        model = model_class.from_config(config)
    else:
        model = model_class(config)
    if processor:
        prepared = preprocessing(processor)
    else:
        prepared = LibraryPreprocessing(
            *_known_size(vision, _configured_size(vision), image_size)
        )
    size = image_size or (prepared.height, prepared.width)
    return encoder(model.eval(), size), prepared


def _described(name: str, pretrained: bool, checkpoint: Path | None) -> tuple[Any, Any]:
    """Configuration and image processor of a model; of a type such as ``vit`` no processor."""
    import transformers

    is_filled_here = not pretrained or checkpoint is not None
    is_type = name in transformers.CONFIG_MAPPING and not Path(name).exists()
    if is_filled_here and is_type:
        return transformers.AutoConfig.for_model(name), None
    source: Path | str = name
    if checkpoint is not None and (checkpoint.parent / "config.json").is_file():
        source = checkpoint.parent
    return _configuration(source, local=checkpoint is not None)


def _configuration(source: Path | str, local: bool) -> tuple[Any, Any]:
    """Configuration and image processor of a model, without a processor if it has none here."""
    import transformers

    try:
        config = transformers.AutoConfig.from_pretrained(source, local_files_only=local)
    except OSError:
        if not local:
            raise
        raise ValueError(
            "its configuration is not in the cache; put its config.json beside the "
            "checkpoint, or name a type such as hf:vit"
        ) from None
    try:
        load = transformers.AutoImageProcessor.from_pretrained
        return config, load(source, local_files_only=local)
    except OSError:
        if not local:
            raise
        return config, None


def _filled(model_class: Any, config: Any, checkpoint: Path) -> Any:
    """A model with the weights of a file, by way of a folder: transformers knows older names."""
    from safetensors.torch import save_file

    weights = {
        name: value.contiguous().clone()
        for name, value in read_weights(checkpoint).items()
    }
    with TemporaryDirectory() as folder:
        save_file(weights, Path(folder) / "model.safetensors", {"format": "pt"})
        config.save_pretrained(folder)
        return _pretrained(model_class, folder, checkpoint)


def _pretrained(model_class: Any, name: str, source: Path) -> Any:
    """A model all of whose weights were found; those of other parts may be there too."""
    named = {"dtype": torch.float32, "output_loading_info": True}
    model, loading = model_class.from_pretrained(name, **named)
    check(source, loading["missing_keys"], ())
    return model


def vision_part(model: Any) -> Any:
    """The vision encoder of a model of images and text, or of one with a head."""
    base = getattr(model, "base_model", model)
    if hasattr(base, "vision_tower"):  # of LLaVA and its like
        return vision_part(base.vision_tower)
    if hasattr(base, "embeddings") or model.config.model_type in POOLED:
        model = base
    for part in (getattr(model, name, None) for name in ("vision_model", "encoder")):
        if not isinstance(getattr(part, "config", model.config), type(model.config)):
            return part
    return model


def encoder(model: Any, image_size: tuple[int, int] | None = None) -> LibraryEncoder:
    """An instantiated model, or the vision part of one; image size by default as configured."""
    model = vision_part(model)
    config: Any = model.config
    _check_supported(config)
    configured = _configured_size(config)
    height, width = _known_size(config, image_size, configured)
    forward = partial(_features, model, (height, width) != configured)
    if config.model_type in POOLED:
        return LibraryEncoder(model, pooled_blocks(model, (height, width)), forward)
    down, across = pair(config.patch_size)
    check_patches((height, width), (down, across))
    grid = TokenGrid(height // down, width // across, (down, across))
    if config.model_type in SWIN:
        return LibraryEncoder(model, _swin(model, grid), forward)
    special = special_names(model.embeddings)
    blocks = [Block(layer, grid) for layer in _layers(model)]
    return LibraryEncoder(model, blocks, forward, special)


def _configured_size(config: Any) -> tuple[int, int] | None:
    """Height and width that a model was made for; SegFormer and GLPN do not say."""
    size = getattr(config, "image_size", None)
    return pair(size) if size else None


def _known_size(config: Any, *sizes: tuple[int, int] | None) -> tuple[int, int]:
    """The first size that is known."""
    for size in filter(None, sizes):
        return size
    raise ValueError(
        f"{config.model_type} of transformers takes images of any size: say which"
    )


def _check_supported(config: Any) -> None:
    if config.model_type not in _KNOWN:
        raise ValueError(
            f"{config.model_type} of transformers is not supported: "
            f"{why_not_type(config.model_type, _KNOWN)}"
        )


def _layers(model: nn.Module) -> list[nn.Module]:
    attentions = ("attention", "self_attn")
    return [
        module
        for module in model.modules()
        if type(module).__name__.endswith("Layer")
        and any(hasattr(module, n) for n in attentions)
    ]


def _swin(model: Any, grid: TokenGrid) -> list[Block]:
    blocks = []
    for stage in model.encoder.layers:
        window = min(model.config.window_size, grid.rows, grid.columns)
        whole = min(grid.rows, grid.columns) <= window  # windows are not shifted then
        for block in stage.blocks:
            shift = 0 if whole else block.shift_size
            blocks.append(Block(block, grid, (window, window), (shift, shift)))
        if stage.downsample is not None:
            grid = grid.merged()
    return blocks


def _features(model: Any, other_size: bool, images: Tensor) -> Tensor:
    kind = model.config.model_type
    extra = {}
    if other_size and kind not in _ANY_SIZE:
        extra = {"interpolate_pos_encoding": True}
    if kind != "vit_mae":
        output = model(pixel_values=images, **extra)
        is_backbone = hasattr(output, "feature_maps")
        return output.feature_maps[-1] if is_backbone else output.last_hidden_state
    # It would leave out and shuffle patches: none are, in the order of this noise.
    down, across = pair(model.config.patch_size)
    patches = images.shape[-2] // down * (images.shape[-1] // across)
    noise = torch.arange(patches, device=images.device).expand(len(images), -1).float()
    masked, model.config.mask_ratio = model.config.mask_ratio, 0.0
    try:
        return model(pixel_values=images, noise=noise, **extra).last_hidden_state
    finally:
        model.config.mask_ratio = masked


def preprocessing(processor: Any) -> LibraryPreprocessing:
    """The transforms of an image processor of transformers.

    Raises:
        ValueError: the processor does not scale pixels to the range from 0 to 1.
    """
    if not processor.do_rescale or abs(processor.rescale_factor * 255 - 1) > 1e-6:
        raise ValueError(
            f"{type(processor).__name__} scales pixels in a way not supported"
        )
    transform = partial(_process, processor)
    _, height, width = transform(Image.new("RGB", (640, 480))).shape
    normalizes = processor.do_normalize
    mean = tuple(processor.image_mean) if normalizes else (0.0, 0.0, 0.0)
    std = tuple(processor.image_std) if normalizes else (1.0, 1.0, 1.0)
    return LibraryPreprocessing(height, width, mean, std, transform=transform)


def _process(processor: Any, image: Image.Image) -> Tensor:
    raw = processor(
        images=image,
        return_tensors="pt",
        do_rescale=False,
        do_normalize=False,
    )
    return raw["pixel_values"][0]


def pair(size: Any) -> tuple[int, int]:
    """Height and width of a size that may be one number."""
    return (size, size) if isinstance(size, int) else tuple(size)


def cross_attention(
    model: Any,
    images: Float[Tensor, "batch channel height width"],
    decoder_input_ids: Int64[Tensor, "batch position"],
    **of_decoder: Tensor,
) -> dict[str, Float[Tensor, "batch head position row column"]]:
    """Where the decoder of a reader such as TrOCR or Donut looks while it writes a text.

    Args:
        model: the reader.
        images: as it takes them.
        decoder_input_ids: the text.
        of_decoder: what else its decoder takes, such as ``decoder_attention_mask``.

    Returns:
        Layer -> attention to the tokens of the grid; special tokens are left out, and the rest is
        as it is.
    """
    rows, columns = encoder(model, (images.shape[-2], images.shape[-1])).grid
    maps: dict[str, Tensor] = {}

    def keep(name: str, queries: Tensor, keys: Tensor, mask: Tensor | None) -> None:
        if name.startswith("decoder.") and name.endswith(
            ("encoder_attn", "crossattention.self")
        ):
            weights = map_of(queries, keys, mask)[..., -rows * columns :]
            maps[name] = rearrange(weights, "... (row col) -> ... row col", row=rows)

    with torch.no_grad(), probe(model, keep):
        model(pixel_values=images, decoder_input_ids=decoder_input_ids, **of_decoder)
    return maps
