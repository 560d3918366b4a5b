"""Plain convolutions and pooling, as in VGG (Simonyan and Zisserman 2014) and CRNN (Shi 2015)."""

from collections.abc import Sequence
from itertools import chain

import torch.nn.functional as F
from einops import rearrange
from jaxtyping import Float
from torch import Tensor, nn

from vit_str.models.convolutions import ChannelNorm, WindowLayer, token_grid
from vit_str.models.interfaces import Encoder


class PlainConvolution(nn.Module):
    """A 3 x 3 convolution, norm, ReLU."""

    def __init__(self, channels: int, width: int) -> None:
        super().__init__()
        self.convolve = nn.Conv2d(channels, width, 3, padding=1)
        self.norm = ChannelNorm(width)

    def forward(
        self, x: Float[Tensor, "batch channel row column"]
    ) -> Float[Tensor, "batch width row column"]:
        """As many rows and columns, ``width`` channels, none below zero."""
        return F.relu(self.norm(self.convolve(x)))


class PlainConvolutionalEncoder(Encoder):
    """Stages of 3 x 3 convolutions, each ended by the largest value of every pooling window.

    The standard sizes are those of CRNN: rows are pooled until one is left, columns less, so that
    features are a sequence along the line. Norms are over channels, without statistics that run
    along, where CRNN has two batch norms.

    Args:
        widths: channels of every stage; the last is the width of a token.
        depths: convolutions of every stage.
        pools: (rows, columns) of the pooling window of every stage; together they must divide
            ``image_size``.
        image_size: (height, width) of what it reads.
    """

    def __init__(
        self,
        widths: tuple[int, ...] = (64, 128, 256, 512, 512),
        depths: tuple[int, ...] = (1, 1, 2, 2, 1),
        pools: tuple[tuple[int, int], ...] = ((2, 2), (2, 2), (2, 1), (2, 1), (2, 1)),
        image_size: tuple[int, int] = (32, 128),
    ) -> None:
        super().__init__()
        self.grid = token_grid(image_size, widths=widths, depths=depths, pools=pools)
        self.widths = widths
        self.depths = depths
        self.pools = pools
        self.image_size = image_size
        self.dim = widths[-1]
        stages = zip((3, *widths), widths, depths, pools, strict=False)
        self.stages = nn.Sequential(*(_stage(*sizes) for sizes in stages))
        self.norm = nn.LayerNorm(self.dim)

    @property
    def layers(self) -> Sequence[WindowLayer]:
        """Every convolution and pooling, first to last."""
        layers = []
        for depth, pool in zip(self.depths, self.pools, strict=True):
            layers += [WindowLayer((3, 3), (1, 1), (1, 1))] * depth
            layers.append(WindowLayer(pool, pool, (0, 0)))
        return layers

    @property
    def layer_modules(self) -> list[nn.Module]:
        """See `Encoder`."""
        return list(chain.from_iterable(stage.children() for stage in self.stages))

    def forward(
        self, images: Float[Tensor, "batch channel height width"]
    ) -> Float[Tensor, "batch token dim"]:
        """Features of every cell of the grid."""
        self.check_size(images)
        maps = self.stages(images)
        return self.norm(rearrange(maps, "b c row col -> b (row col) c"))


def _stage(
    channels: int,
    width: int,
    depth: int,
    pool: tuple[int, int],
) -> nn.Sequential:
    convolutions = []
    for _ in range(depth):
        convolutions.append(PlainConvolution(channels, width))
        channels = width
    return nn.Sequential(*convolutions, nn.MaxPool2d(pool))
