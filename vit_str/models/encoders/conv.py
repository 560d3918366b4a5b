"""Residual convolutional network (He et al. 2016) for images of any height and width."""

import math
from collections.abc import Iterator, Sequence

import torch
from einops import rearrange
from jaxtyping import Float
from torch import Tensor, nn

from vit_str.models.convolutions import WindowLayer, stage
from vit_str.models.interfaces import Encoder
from vit_str.models.positions import LearnedPositions, sinusoidal_positions_2d


class ConvolutionalEncoder(Encoder):
    """Looks at an image through small windows, further with every layer.

    Each stage makes the image smaller, then refines it in residual blocks. Sizes and strides are
    (height, width).

    Args:
        widths: channels of every stage; the last is the width of a token.
        depths: residual blocks of every stage.
        strides: by how much every stage makes rows and columns fewer; together they must divide
            ``image_size``.
        image_size: what it reads.
        reach: how far the first window looks past its cell on every side, in pixels.

    Attributes:
        grid: (rows, columns) of tokens, in reading order; each lies on the center of its cell.
    """

    def __init__(
        self,
        widths: tuple[int, ...] = (48, 96, 256),
        depths: tuple[int, ...] = (1, 1, 3),
        strides: tuple[tuple[int, int], ...] = ((2, 2), (2, 2), (2, 2)),
        image_size: tuple[int, int] = (32, 128),
        reach: int = 3,
    ) -> None:
        super().__init__()
        if not len(widths) == len(depths) == len(strides) > 0:
            raise ValueError(
                f"widths, depths and strides need one value per stage, found {len(widths)}, "
                f"{len(depths)} and {len(strides)}"
            )
        cell = math.prod(rows for rows, _ in strides), math.prod(columns for _, columns in strides)
        if image_size[0] % cell[0] or image_size[1] % cell[1]:
            raise ValueError(f"strides of {cell} in all must divide image_size {image_size}")
        self.widths, self.depths, self.strides = widths, depths, strides
        self.image_size, self.reach, self.dim = image_size, reach, widths[-1]
        self.grid = image_size[0] // cell[0], image_size[1] // cell[1]

        self.stages = nn.ModuleList(
            stage(channels, width, depth, stride, reach if first else 1)
            for first, channels, width, depth, stride in zip(
                [True, *[False] * len(widths)], [3, *widths], widths, depths, strides, strict=False
            )
        )
        self.norm = nn.LayerNorm(self.dim)
        # Zero padding tells tokens near the border where they stand; this tells it to every token.
        sinusoids = sinusoidal_positions_2d(*self.grid, self.dim)
        self.embed_positions = LearnedPositions(len(sinusoids), self.dim, start=sinusoids)

    @property
    def layers(self) -> Sequence[WindowLayer]:
        """Every convolution on the longest way through the network, first to last."""
        return list(self._layers())

    def _layers(self) -> Iterator[WindowLayer]:
        for module in self.stages.modules():
            if isinstance(module, nn.Conv2d):
                kernel, stride, padding = module.kernel_size, module.stride, module.padding
                assert not isinstance(padding, str)
                yield WindowLayer(_pair(kernel), _pair(stride), _pair(padding))

    def forward(
        self, images: Float[Tensor, "batch channel height width"]
    ) -> Float[Tensor, "batch token dim"]:
        """Features of every cell of the grid."""
        if images.shape[-2:] != self.image_size:
            raise ValueError(
                f"this encoder reads images of {self.image_size} (height, width), "
                f"found {tuple(images.shape[-2:])}; resize them first"
            )
        # Channels side by side in memory: norms and convolutions both run faster.
        x = images.contiguous(memory_format=torch.channels_last)
        for each in self.stages:
            x = each(x)
        return self.embed_positions(self.norm(rearrange(x, "b c row col -> b (row col) c")))


def _pair(values: tuple[int, ...]) -> tuple[int, int]:
    rows, columns = values
    return rows, columns
