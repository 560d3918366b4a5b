"""Boxes of characters in what the model saw -> boxes in the image as it was given."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from vit_str.reading.readings import Box


class Frame(NamedTuple):
    """The image that boxes refer to, upright, and how the model saw it.

    Attributes:
        height: in pixels.
        width: in pixels.
        turned: by a quarter, since it was tall.
        upside_down: by half after that.
    """

    height: int
    width: int
    turned: bool
    upside_down: bool = False


def boxes_in(
    frames: Sequence[Frame],
    boxes: Float[Tensor, "batch position side"],
    size: tuple[int, int],
) -> Iterator[list[Box]]:
    """Boxes in pixels of the frames, of boxes in pixels of model images of a height and width."""
    height, width = size
    shares = boxes / torch.tensor([width, height, width, height])
    for word, frame in zip(shares, frames, strict=True):
        yield [Box(*box) for box in _in_frame(word, frame).tolist()]


def _in_frame(
    boxes: Float[Tensor, "position side"], frame: Frame
) -> Float[Tensor, "position side"]:
    """Boxes in shares of what the model saw to pixels of the image as it was given."""
    left, top, right, bottom = boxes.unbind(-1)
    if frame.upside_down:
        left, top, right, bottom = 1 - right, 1 - bottom, 1 - left, 1 - top
    if frame.turned:
        left, top, right, bottom = 1 - bottom, left, 1 - top, right
    height, width = frame.height, frame.width
    return torch.stack([left * width, top * height, right * width, bottom * height], -1)
