"""Effective receptive fields, for ViTs and convolutions in one unit.

The gradient of a token's output with respect to the pixels tells how much each pixel matters to it
(Luo et al. 2016). A token has many channels. Their sum would let gradients cancel, so they are
added with random signs: the square of that gradient is, in the mean over signs, the squared norm of
the whole Jacobian at the pixel.

Attention distance tells how far one layer reaches; gradients tell how far all layers up to it do.
"""

from collections import defaultdict
from collections.abc import Iterable

import pandas as pd
import torch
from jaxtyping import Bool, Float, Float64, Int64
from torch import Tensor

from vit_str.analysis.probe import Outputs, layer_outputs
from vit_str.analysis.results import of_layers
from vit_str.models import Encoder

UNITS = {
    "gradient_distance": "px",
    "gradient_distance_x": "px",
    "gradient_distance_y": "px",
    "gradient_area": "share",
}
"""Every statistic and its unit, |g| the norm of the gradient over the colors of a pixel p, q the
middle of the token:

* ``gradient_distance``: sum |g| |p - q| / sum |g|.
* ``gradient_distance_x``, ``gradient_distance_y``: the same of |dx| and of |dy|.
* ``gradient_area``: the smallest share of the pixels that holds nine tenths of sum |g|.

A token whose gradients are all zero has none of them: NaN.
"""

_HELD = 0.9  # share of the gradient that the radius holds


class GradientFields:
    """Effective receptive fields of every layer, updated batch by batch.

    Args:
        encoder: with ``layer_modules``, on any device.
        queries: tokens measured in each image, other ones in the next, so that all come equally
            often in the end.
        seed: of the signs and of the order of tokens.

    Raises:
        ValueError: ``queries`` is below 1.
    """

    def __init__(self, encoder: Encoder, queries: int = 4, seed: int = 0) -> None:
        if queries < 1:
            raise ValueError(f"queries must be 1 or more, found {queries}")
        self.encoder = encoder
        self.queries = queries
        self.layers = len(encoder.layer_modules)
        self.seen = 0
        self._shapes: list[tuple[int, ...]] = []
        self._generator = torch.Generator().manual_seed(seed)
        rows, columns = encoder.attention_grid
        self._middle = torch.tensor([[rows // 2, columns // 2]])
        self._order = torch.randperm(rows * columns, generator=self._generator)
        self._values: dict[tuple[str, int], list[Float64[Tensor, " image"]]] = (
            defaultdict(list)
        )
        height, width = encoder.image_size
        self._centered = torch.zeros(self.layers, height, width, dtype=torch.float64)
        self._chosen: list[Tensor] = []

    def update(
        self,
        images: Float[Tensor, "batch channel height width"],
        chosen: Bool[Tensor, "batch token"] | None = None,
    ) -> None:
        """Add normalized images.

        Only ``chosen`` tokens are measured, by default any; an image without any has no value.
        """
        if chosen is None:
            rows, columns = self.encoder.attention_grid
            chosen = torch.ones(len(images), rows * columns, dtype=torch.bool)
        chosen = chosen.cpu()
        self._chosen.append(chosen)
        without = ~chosen.any(1)
        images = images.detach().requires_grad_()
        outputs = self._outputs(images)
        queries = self._queries(chosen)
        for layer, output in enumerate(outputs):
            measured = []
            for tokens in queries:
                cells, middles = self._cells(output.shape[-2:], tokens)
                field = self._field(output, images, cells)
                measured.append(field_statistics(field, middles))
            for name in UNITS:
                of_tokens = torch.stack([statistics[name] for statistics in measured])
                means = of_tokens.nanmean(0).masked_fill(without, torch.nan)
                self._values[name, layer].append(means)
            self._centered[layer] += self._centered_field(output, images).sum(0)
        self.seen += len(images)

    def of_middle(
        self, images: Float[Tensor, "batch channel height width"]
    ) -> list[Float64[Tensor, "batch height width"]]:
        """The fields of the token in the middle, layer by layer; nothing is added."""
        images = images.detach().requires_grad_()
        outputs = self._outputs(images)
        return [self._centered_field(output, images) for output in outputs]

    def values(self, metric: str) -> Float64[Tensor, "layer image"]:
        """A metric of every layer and image, the mean over the tokens measured."""
        values = (self._values[metric, layer] for layer in range(self.layers))
        return torch.stack(list(map(torch.cat, values)))

    @property
    def centered(self) -> Float64[Tensor, "layer height width"]:
        """Mean field of the token in the middle of the image; every field sums to 1."""
        return self._centered / self._centered.sum((1, 2), keepdim=True)

    def middle_cells(
        self,
    ) -> list[tuple[tuple[int, int], tuple[float, float, float, float]]]:
        """The cell of every layer that ``centered`` is about: row and column, and its sides in px.

        A layer with smaller cells than tokens has several within the token in the middle.
        """
        cells = []
        for shape in self._shapes:
            row, column = self._cells(shape, self._middle)[0][0].tolist()
            height = self.encoder.image_size[0] / shape[0]
            width = self.encoder.image_size[1] / shape[1]
            top = row * height
            left = column * width
            sides = (top, left, (row + 1) * height, (column + 1) * width)
            cells.append(((row, column), sides))
        return cells

    @property
    def token_weights(self) -> Float64[Tensor, " token"]:
        """How much every token counts as a query: mean over images of the share it has of them."""
        chosen = torch.cat(self._chosen).double()
        chosen = chosen[chosen.any(1)]
        return (chosen / chosen.sum(1, keepdim=True)).mean(0)

    def _outputs(self, images: Tensor) -> Outputs:
        with torch.enable_grad():
            outputs = layer_outputs(self.encoder, images)
        self._shapes = [tuple(output.shape[-2:]) for output in outputs]
        return outputs

    def _centered_field(
        self, output: Tensor, images: Tensor
    ) -> Float64[Tensor, "image height width"]:
        middle = self._middle.expand(len(images), -1)
        cells, _ = self._cells(output.shape[-2:], middle)
        return self._field(output, images, cells).nan_to_num()

    def _queries(
        self, chosen: Bool[Tensor, "image token"]
    ) -> Int64[Tensor, "query image 2"]:
        """Row and column of the tokens to measure, on the grid of the encoder's output."""
        by_image = []
        for image, of_image in enumerate(chosen, self.seen):
            order = self._order[of_image[self._order]]
            order = order if len(order) else self._order
            first = image * self.queries
            numbers = torch.arange(first, first + self.queries) % len(order)
            by_image.append(order[numbers])
        tokens = torch.stack(by_image, 1)
        columns = self.encoder.attention_grid[1]
        return torch.stack([tokens // columns, tokens % columns], -1)

    def _cells(
        self, layer_grid: tuple[int, ...], places: Int64[Tensor, "image 2"]
    ) -> tuple[Int64[Tensor, "image 2"], Float64[Tensor, "image 2"]]:
        """The cells of a layer, maybe a finer one, in the middle of tokens, and where they lie."""
        shape = torch.tensor(layer_grid)
        grid = torch.tensor(self.encoder.attention_grid)
        cells = (2 * places + 1) * shape // (2 * grid)
        image_size = torch.tensor(self.encoder.image_size).double()
        middles = (cells + 0.5) * image_size / shape
        return cells, middles

    def _field(
        self, output: Tensor, images: Tensor, cells: Int64[Tensor, "image 2"]
    ) -> Float64[Tensor, "image height width"]:
        """Norms of the gradients of one token of each image, as shares of their sum."""
        bits = torch.randint(2, output.shape[:2], generator=self._generator)
        signs = bits * 2.0 - 1
        chosen = output[torch.arange(len(images)), :, cells[:, 0], cells[:, 1]]
        total = (chosen * signs.to(output)).sum()
        (gradients,) = torch.autograd.grad(total, images, retain_graph=True)
        norms = gradients.double().norm(dim=1).cpu()
        return norms / norms.sum((1, 2), keepdim=True)


def field_statistics(
    field: Float64[Tensor, "image height width"], middles: Float64[Tensor, "image 2"]
) -> dict[str, Float64[Tensor, " image"]]:
    """The numbers of ``UNITS`` for fields that sum to 1, around (y, x) in pixels."""
    height, width = field.shape[1:]
    dy = (torch.arange(height) + 0.5 - middles[:, :1]).abs()
    dx = (torch.arange(width) + 0.5 - middles[:, 1:]).abs()
    distances = (dy.square()[:, :, None] + dx.square()[:, None]).sqrt()
    held = field.flatten(1).sort(descending=True).values.cumsum(1)
    pixels = (held < _HELD).sum(1) + held[:, -1]
    return {
        "gradient_distance": (field * distances).sum((1, 2)),
        "gradient_distance_x": (field.sum(1) * dx).sum(1),
        "gradient_distance_y": (field.sum(2) * dy).sum(1),
        "gradient_area": pixels / (height * width),
    }


def gradient_measurements(
    model: str, fields: GradientFields, metrics: Iterable[str] = UNITS
) -> pd.DataFrame:
    """Means of every layer over images with intervals."""
    tables = []
    for metric in metrics:
        values = fields.values(metric).T
        tables.append(of_layers(model, metric, UNITS[metric], values))
    return pd.concat(tables)


def uniform_gradient_distance(
    encoder: Encoder, weights: Float64[Tensor, " token"] | None = None
) -> float:
    """The value of ``gradient_distance`` if all pixels matter alike to every token.

    Tokens count alike, or with ``weights``, see ``GradientFields.token_weights``.
    """
    rows, columns = encoder.attention_grid
    height, width = encoder.image_size
    down = torch.arange(rows) + 0.5
    across = torch.arange(columns) + 0.5
    places = torch.cartesian_prod(down, across).double()
    middles = places * torch.tensor([height / rows, width / columns]).double()
    shape = (len(middles), height, width)
    even = torch.full(shape, 1 / (height * width), dtype=torch.float64)
    distances = field_statistics(even, middles)["gradient_distance"]
    return float(distances.mean() if weights is None else weights @ distances)
