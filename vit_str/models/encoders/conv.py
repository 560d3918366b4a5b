"""Residual convolutional network (He et al. 2016) for images of any height and width."""

from collections.abc import Sequence
from itertools import chain

import torch
from einops import rearrange
from jaxtyping import Float
from torch import Tensor, nn

from vit_str.models.convolutions import WindowLayer, stage, token_grid
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
        self.grid = token_grid(
            image_size, widths=widths, depths=depths, strides=strides
        )
        self.widths = widths
        self.depths = depths
        self.strides = strides
        self.image_size = image_size
        self.reach = reach
        self.dim = widths[-1]

        reaches = (reach, *[1] * len(widths))
        stages = zip((3, *widths), widths, depths, strides, reaches, strict=False)
        self.stages = nn.Sequential(*(stage(*sizes) for sizes in stages))
        self.norm = nn.LayerNorm(self.dim)
        # Zero padding tells tokens near the border where they stand; this tells it to every token.
        sinusoids = sinusoidal_positions_2d(*self.grid, self.dim)
        self.embed_positions = LearnedPositions(
            len(sinusoids),
            self.dim,
            start=sinusoids,
        )

    @property
    def layers(self) -> Sequence[WindowLayer]:
        """Every convolution on the longest way through the network, first to last."""
        modules = [
            module for module in self.stages.modules() if isinstance(module, nn.Conv2d)
        ]
        sizes = [
            (module.kernel_size, module.stride, module.padding) for module in modules
        ]
        # Pairs
        return [WindowLayer(*window) for window in sizes]  # type: ignore[arg-type]

    @property
    def layer_modules(self) -> list[nn.Module]:
        """See `Encoder`."""
        return list(chain.from_iterable(stage.children() for stage in self.stages))

    def forward(
        self, images: Float[Tensor, "batch channel height width"]
    ) -> Float[Tensor, "batch token dim"]:
        """Features of every cell of the grid."""
        self.check_size(images)
        # Channels side by side in memory: norms and convolutions both run faster.
        x = self.stages(images.contiguous(memory_format=torch.channels_last))
        tokens = rearrange(x, "b c row col -> b (row col) c")
        return self.embed_positions(self.norm(tokens))
