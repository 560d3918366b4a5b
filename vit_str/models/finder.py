"""A small convolutional network that finds what stands on a picture of a page or a scene.

It looks once and says, for every cell of four by four pixels, what is there: see `maps`. It takes
up published ideas:

* Lines are shrunk to their cores so that neighbors stay apart, as in PSENet (Wang et al. 2019) and
  DB (Liao et al. 2020); where words part is a map of its own, the opposite of the affinity of CRAFT
  (Baek et al. 2019); direction and height are regressed in every cell, as in EAST (Zhou et al.
  2017), direction as sine and cosine, so that text on its side and upside down is told apart.
* Convolutions are one for each channel, then one of 1 x 1 between channels (MobileNet, Howard et
  al. 2017), with wider windows than 3 x 3 and without an activation between the two (ConvNeXt, Liu
  et al. 2022), and hidden layers that are wider (MobileNetV2, Sandler et al. 2018).
* The wide view is cheap: windows of 7 x 7 at a thirty-second of the resolution see several hundred
  pixels; what they say is added on the way back to the fine grid (FPN, Lin et al. 2017).
* Batch normalization (Ioffe and Szegedy 2015) becomes a part of the convolutions when it is
  exported, and costs nothing when pages are read.
"""

from collections.abc import Sequence
from itertools import pairwise

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from vit_str.models.convolutions import Maps

CELL = 4
"""Pixels of a side of a cell, for which each map has one value."""
STEP = 32
"""Pixels of which both sides of a picture must be multiples."""
_EXPANSION = 2  # width within a block over that around it


class Finder(nn.Module):
    """Maps of what is where on a picture.

    Args:
        maps: number of maps.
        widths: channels at a quarter, an eighth, a sixteenth and a thirty-second of the resolution.
        depths: residual blocks there.
        kernels: sides of their windows.
        back: channels on the way back to the quarter.
    """

    def __init__(
        self,
        maps: int,
        widths: Sequence[int] = (32, 56, 96, 128),
        depths: Sequence[int] = (2, 3, 4, 4),
        kernels: Sequence[int] = (3, 5, 5, 7),
        back: Sequence[int] = (32, 48, 64, 64),
    ) -> None:
        super().__init__()
        self.arguments = {
            "maps": maps,
            "widths": list(widths),
            "depths": list(depths),
            "kernels": list(kernels),
            "back": list(back),
        }
        first = widths[0] // 2
        self.stem = nn.Sequential(
            convolution(3, first, 3, stride=2),
            nn.ReLU(),
            convolution(first, widths[0], 3, stride=2),
            nn.ReLU(),
        )
        self.stages = nn.ModuleList()
        channels = widths[0]
        for width, depth, kernel in zip(widths, depths, kernels, strict=True):
            parts: list[nn.Module] = []
            if self.stages:
                parts.append(SmallerMaps(channels, width))
            parts += [SeparableBlock(width, kernel) for _ in range(depth)]
            self.stages.append(nn.Sequential(*parts))
            channels = width
        self.across = nn.ModuleList(
            convolution(width, own, 1) for width, own in zip(widths, back, strict=True)
        )
        self.up = nn.ModuleList(
            convolution(coarse, fine, 1) for fine, coarse in pairwise(back)
        )
        self.merge = nn.ModuleList(
            SeparableBlock(width, 5 if place else 3)
            for place, width in enumerate(back[:-1])
        )
        self.to_maps = nn.Conv2d(back[0], maps, 1)

    def forward(
        self, images: Float[Tensor, "batch 3 height width"]
    ) -> Float[Tensor, "batch map row column"]:
        """The maps, as they are trained: logits of shares, see `vit_str.training.find.losses`.

        Args:
            images: red, green and blue from 0 to 1; sides are multiples of `STEP`.
        """
        x = self.stem(images * 2 - 1)
        seen: list[Tensor] = []
        for stage in self.stages:
            x = stage(x)
            seen.append(x)
        coarse = self.across[-1](seen[-1])
        for place in reversed(range(len(self.merge))):
            larger = F.interpolate(self.up[place](coarse), scale_factor=2.0)
            coarse = self.merge[place](self.across[place](seen[place]) + larger)
        return self.to_maps(coarse)


class SeparableBlock(nn.Module):
    """x + a window over each channel, then two layers between the channels of every place."""

    def __init__(self, width: int, kernel: int) -> None:
        super().__init__()
        self.inside = nn.Sequential(
            convolution(width, width, kernel, groups=width),
            convolution(width, _EXPANSION * width, 1),
            nn.ReLU(),
            convolution(_EXPANSION * width, width, 1),
        )

    def forward(self, x: Maps) -> Maps:
        """Rows, columns and channels stay as many as they are."""
        return x + self.inside(x)


class SmallerMaps(nn.Module):
    """Half the rows and columns: a window over each channel, then a layer between channels."""

    def __init__(self, channels: int, width: int) -> None:
        super().__init__()
        self.inside = nn.Sequential(
            convolution(channels, channels, 5, stride=2, groups=channels),
            convolution(channels, width, 1),
        )

    def forward(self, x: Maps) -> Float[Tensor, "batch width half_row half_column"]:
        """Channels become those asked for."""
        return self.inside(x)


def convolution(
    channels: int, width: int, kernel: int, stride: int = 1, groups: int = 1
) -> nn.Sequential:
    """A convolution without a bias and its normalization."""
    kind = Depthwise if groups == channels else nn.Conv2d
    return nn.Sequential(
        kind(channels, width, kernel, stride, kernel // 2, groups=groups, bias=False),
        nn.BatchNorm2d(width),
    )


class Depthwise(nn.Conv2d):
    """A convolution of each channel for itself, in single precision when trained on a CPU.

    The gradients of its weights take three times as long in bfloat16 there.
    """

    def forward(
        self, x: Maps
    ) -> Float[Tensor, "batch channel smaller_row smaller_column"]:
        """As `torch.nn.Conv2d`."""
        if x.device.type == "cpu" and torch.is_autocast_enabled("cpu"):
            with torch.autocast("cpu", enabled=False):
                return super().forward(x.float())
        return super().forward(x)
