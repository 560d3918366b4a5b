"""Residual convolutions (He et al. 2016): the parts of encoders that look through windows."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

Maps = Float[Tensor, "batch channel row column"]


class WindowLayer(NamedTuple):
    """A layer that looks through a window; each pair is (row, column)."""

    kernel: tuple[int, int]
    stride: tuple[int, int]
    padding: tuple[int, int]


def token_grid(image_size: tuple[int, int], **stages: Sequence) -> tuple[int, int]:
    """Rows and columns of tokens after all stages of a network.

    Args:
        image_size: (height, width) of the images.
        stages: sequences with a value per stage, by name; those of the last are the (rows, columns)
            by which a stage makes the image smaller.

    Raises:
        ValueError: if stages have other numbers of values, or do not divide the image.
    """
    *others, (name, strides) = stages.items()
    lengths = [len(values) for values in stages.values()]
    if len(set(lengths)) > 1 or not strides:
        other_names = ", ".join(other for other, _ in others)
        found = ", ".join(map(str, lengths))
        raise ValueError(
            f"{other_names} and {name} need one value per stage, found {found}"
        )
    height, width = image_size
    cell_height = math.prod(rows for rows, _ in strides)
    cell_width = math.prod(columns for _, columns in strides)
    if height % cell_height or width % cell_width:
        cell = (cell_height, cell_width)
        raise ValueError(f"{name} of {cell} in all must divide image_size {image_size}")
    return height // cell_height, width // cell_width


class ChannelNorm(nn.LayerNorm):
    """Normalizes the channels of every position by themselves.

    No statistics run along, which a moving average of the weights would leave behind, and none
    are taken over positions, which would show every position the whole image.
    """

    def forward(self, x: Maps) -> Maps:
        """Zero mean and unit variance over the channels of each place, then scale and shift."""
        return super().forward(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)


class Downsampling(nn.Conv2d):
    """A strided convolution whose window lies centered on the cell that it stands for.

    Args:
        channels: of its input.
        width: channels of its output.
        stride: (rows, columns) of a cell.
        reach: how far the window looks past its cell on every side.
    """

    def __init__(
        self,
        channels: int,
        width: int,
        stride: tuple[int, int],
        reach: int,
    ) -> None:
        kernel = stride[0] + 2 * reach, stride[1] + 2 * reach
        super().__init__(channels, width, kernel, stride, padding=reach)


class ResidualBlock(nn.Module):
    """x + two 3 x 3 convolutions, each after norm and ReLU (He et al. 2016b, figure 1b)."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.first_norm = ChannelNorm(width)
        self.second_norm = ChannelNorm(width)
        self.first = nn.Conv2d(width, width, 3, padding=1)
        self.second = nn.Conv2d(width, width, 3, padding=1)

    def forward(self, x: Maps) -> Maps:
        """Rows, columns and channels stay as many as they are."""
        inside = self.first(F.relu(self.first_norm(x)))
        return x + self.second(F.relu(self.second_norm(inside)))


def stage(
    channels: int, width: int, depth: int, stride: tuple[int, int], reach: int
) -> nn.Sequential:
    """Make the image smaller, then refine it in ``depth`` residual blocks.

    Args:
        channels: of its input.
        width: channels of its output.
        depth: residual blocks.
        stride: rows and columns of the input for each of the output.
        reach: how far the first window looks past its cell on every side, in cells of the input.
    """
    blocks = [ResidualBlock(width) for _ in range(depth)]
    return nn.Sequential(Downsampling(channels, width, stride, reach), *blocks)
