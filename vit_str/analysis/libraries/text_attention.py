"""Where the text of a vision-language model of transformers looks in the image.

The decoder of TrOCR or Donut looks at the image with cross-attention. That of LLaVA or PaliGemma
has image tokens among its text tokens: what counts there is the self-attention of the text behind
the image to the image tokens.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pandas as pd
import torch
from einops import rearrange
from jaxtyping import Bool, Float, Float64
from torch import Tensor, nn

from vit_str.analysis.geometry import TokenGrid
from vit_str.analysis.libraries.hugging_face import cross_attention, encoder, pair
from vit_str.analysis.probe import Keys, Queries, map_of, probe


@dataclass(frozen=True, eq=False)
class TextAttention:
    """Attention of every text token to every image token, by layer and head.

    Attributes:
        grid: of the image tokens, in pixels of the image that the model takes.
        first: place in the text of the first position of the maps; those after it follow.
        maps: layer -> attention, as it is: what is missing to 1 goes to text and special tokens.
    """

    grid: TokenGrid
    first: int
    maps: dict[str, Float[Tensor, "batch head position row column"]]

    @cached_property
    def shares(self) -> dict[str, Float64[Tensor, "batch head position"]]:
        """How much of its attention a text token gives to the image."""
        return {layer: maps.double().sum((-2, -1)) for layer, maps in self.maps.items()}

    @cached_property
    def centers(self) -> dict[str, Float64[Tensor, "batch head position 2"]]:
        """Mean place (x, y) of what a text token looks at in the image, in pixels."""
        places = self.grid.centers
        return {
            layer: of_image @ places for layer, of_image in self._of_image().items()
        }

    @cached_property
    def spreads(self) -> dict[str, Float64[Tensor, "batch head position"]]:
        """Mean distance of what a text token looks at from its center, in pixels."""
        places = self.grid.centers
        spreads = {}
        for layer, of_image in self._of_image().items():
            centers = self.centers[layer][..., None, :]
            away = torch.linalg.vector_norm(places - centers, dim=-1)
            spreads[layer] = (of_image * away).sum(-1)
        return spreads

    @property
    def uniform_spread(self) -> float:
        """Spread of a text token that looks everywhere alike, in pixels."""
        places = self.grid.centers
        return float(torch.linalg.vector_norm(places - places.mean(0), dim=-1).mean())

    def to_frame(self) -> pd.DataFrame:
        """A row for every image, layer, head and position of the text.

        Layer and head count from 1, image and position, which are indices, from 0. ``share``, the
        center ``x`` and ``y``, and ``spread`` are those of `shares`, `centers` and `spreads`.
        """
        names = ["image", "head", "position"]
        tables = []
        for number, (layer, shares) in enumerate(self.shares.items(), 1):
            index = pd.MultiIndex.from_product(map(range, shares.shape), names=names)
            table = index.to_frame(index=False).assign(layer=number)
            table["head"] += 1
            table["position"] += self.first
            table["share"] = shares.flatten().numpy()
            table[["x", "y"]] = self.centers[layer].flatten(0, 2).numpy()
            table["spread"] = self.spreads[layer].flatten().numpy()
            tables.append(table)
        columns = ["image", "layer", "head", "position", "share", "x", "y", "spread"]
        return pd.concat(tables, ignore_index=True)[columns]

    def _of_image(self) -> dict[str, Float64[Tensor, "batch head position token"]]:
        """Maps that sum to 1 over the image."""
        tiny = torch.finfo(torch.float64).tiny
        of_image = {}
        for layer, maps in self.maps.items():
            shares = self.shares[layer][..., None].clamp(min=tiny)
            of_image[layer] = maps.double().flatten(-2) / shares
        return of_image


def text_attention(
    model: Any, inputs: Mapping[str, Tensor], grid: TokenGrid | None = None
) -> TextAttention:
    """Where a vision-language model looks while it reads or writes a text (teacher forcing).

    Args:
        model: of transformers, in evaluation mode: TrOCR, Donut, LLaVA, PaliGemma and their like.
        inputs: what its processor makes of images and text, one image for each text. ``input_ids``
            hold the image tokens, the question, and the answer to look at; of TrOCR and Donut
            ``decoder_input_ids`` hold the text, and ``decoder_attention_mask`` its padding.
        grid: of the image tokens, for models that merge the tokens of their vision encoder, such
            as Qwen2-VL, whose grid is half of ``image_grid_thw``.

    Raises:
        ValueError: no image tokens in the text, or not as many as the grid has.
    """
    token = getattr(model.config, "image_token_id", None)
    if token is not None:
        return _to_image_tokens(model, inputs, inputs["input_ids"] == token, grid)
    images = inputs["pixel_values"]
    own = TokenGrid.of(encoder(model, (images.shape[-2], images.shape[-1])))
    of_decoder = {
        name: value for name, value in inputs.items() if name.startswith("decoder_")
    }
    by_layer = cross_attention(model, images, **of_decoder)
    maps = {layer: each.cpu() for layer, each in by_layer.items()}
    return TextAttention(own, 0, maps)


def _to_image_tokens(
    model: Any,
    inputs: Mapping[str, Tensor],
    of_image: Bool[Tensor, "batch token"],
    grid: TokenGrid | None,
) -> TextAttention:
    columns = _same_columns(of_image)
    grid = grid or _vision_grid(model.config, inputs["pixel_values"])
    special = len(columns) - len(grid)
    if special not in (0, grid.special_tokens):
        raise ValueError(
            f"{len(columns)} image tokens, but the vision encoder has {grid.rows} x "
            f"{grid.columns} and {grid.special_tokens} special ones: of a model that "
            "merges tokens or cuts the image into tiles, give grid=TokenGrid(...) of "
            "what it makes of one image"
        )
    columns = columns[special:]
    first = int(columns[-1]) + 1
    maps: dict[str, Tensor] = {}

    def keep(name: str, queries: Queries, keys: Keys, mask: Tensor | None) -> None:
        if mask is not None and mask.shape[-2] > 1:
            mask = mask[..., first:, :]
        weights = map_of(queries[..., first:, :], keys, mask)[..., columns].cpu()
        maps[name] = rearrange(weights, "... (row col) -> ... row col", row=grid.rows)

    with torch.no_grad(), probe(_language_model(model), keep):
        model(**inputs)
    without_special = TokenGrid(grid.rows, grid.columns, grid.patch_size)
    return TextAttention(without_special, first, maps)


def _language_model(model: Any) -> nn.Module:
    """The part of a model that reads text and image tokens."""
    for name, module in model.named_modules():
        if name.rpartition(".")[2] == "language_model":
            return module
    raise ValueError(
        f"{type(model).__name__} has no part that is called language_model"
    )


def _same_columns(of_image: Bool[Tensor, "batch token"]) -> Tensor:
    """Where the image tokens are, which is alike in all texts; text follows."""
    if not of_image.any():
        raise ValueError(
            "the text holds no image tokens: give input_ids as the processor makes"
        )
    if not bool((of_image == of_image[:1]).all()):
        raise ValueError(
            "image tokens are at other places in each text: give one text at a time"
        )
    columns = of_image[0].nonzero()[:, 0]
    if int(columns[-1]) + 1 == of_image.shape[1]:
        raise ValueError(
            "no text follows the image tokens: only such text sees the image"
        )
    return columns


def _vision_grid(config: Any, images: Tensor) -> TokenGrid:
    """The grid of a vision encoder of patches that are neither merged nor cut into tiles."""
    vision = config.vision_config
    if images.ndim != 4 or not hasattr(vision, "patch_size"):
        raise ValueError(
            f"where the image tokens of {config.model_type} lie is not known: give "
            "grid=TokenGrid(...) of what it makes of one image"
        )
    sizes = pair(vision.patch_size)
    rows = images.shape[-2] // sizes[0]
    columns = images.shape[-1] // sizes[1]
    special = int("clip" in vision.model_type and "siglip" not in vision.model_type)
    return TokenGrid(rows, columns, sizes, special)
