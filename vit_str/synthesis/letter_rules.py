"""Strokes of ink along letters: through struck-out words, and close under others.

They are drawn into the masks of lines, so that they bend, turn and fade as the letters do. Rows and
columns are pixels of the atlas.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int64, UInt8
from torch import Tensor

from vit_str.characters.charset import Charset
from vit_str.synthesis.lines import Lines
from vit_str.synthesis.random_numbers import Random, Range

_OPAQUE = 255


@dataclass(frozen=True)
class _Struck:
    """A stroke through a word; by eye."""

    place: Range = 0.45, 0.62  # of the height of the letters, from their top
    slope: float = 1.2  # deviation of the rise from end to end, in rows
    half_width: Range = 0.5, 1.6
    overshoot: Range = -3.0, 8.0  # columns beyond the letters


@dataclass(frozen=True)
class _Under:
    """A line under the baseline; by eye."""

    below: Range = 1.5, 6.5  # rows from the baseline
    half_width: Range = 0.5, 1.4
    beside: Range = 0.6, 2.0  # rows from underscores, which stay to be seen


_STRUCK = _Struck()
_UNDER = _Under()


def strike(
    lines: Lines,
    struck: Bool[Tensor, "batch position"],
    rows: Int64[Tensor, " word"],
    random: Random,
) -> None:
    """Draw a stroke through the letters that are struck out, in place.

    Args:
        lines: the words.
        struck: which letters.
        rows: words that have some.
        random: one for the whole batch.
    """
    place = random.uniform(*_STRUCK.place, 1)[rows]
    rise = random.normal(_STRUCK.slope, 1)[rows]
    half = random.uniform(*_STRUCK.half_width, 1)[rows]
    beyond = random.uniform(*_STRUCK.overshoot, 2)[rows]
    if not len(rows):
        return
    masks = lines.masks
    left, top, right, bottom = _extent(lines.boxes[rows], struck[rows])
    middle = top + (bottom - top) * place
    column = torch.arange(masks.shape[2], device=masks.device) + 0.5
    share = (column - left) / (right - left).clamp(min=1)
    center = middle + rise * (share - 0.5)
    is_within = (column > left - beyond[:, :1]) & (column < right + beyond[:, 1:])
    _draw(masks, rows, center, half, is_within)


def underline(
    lines: Lines,
    underlined: Bool[Tensor, "batch position"],
    rows: Int64[Tensor, " word"],
    charset: Charset,
    random: Random,
) -> None:
    """Draw a line under letters, in place; arguments as for `strike`.

    It runs through descenders. Beside an underscore, it is a little higher or lower.
    """
    below = random.uniform(*_UNDER.below, 1)[rows]
    half = random.uniform(*_UNDER.half_width, 1)[rows]
    beside = random.uniform(*_UNDER.beside, 1)[rows]
    is_above = random.bernoulli(0.5, 1)[rows] > 0
    if not len(rows):
        return
    masks = lines.masks
    boxes = lines.boxes[rows]
    under = underlined[rows]
    left, _, right, _ = _extent(boxes, under)
    inked = under & (boxes[..., 2] > boxes[..., 0])
    bottoms = boxes[..., 3].where(inked, torch.nan)
    baseline = bottoms.nanmedian(1, keepdim=True).values.nan_to_num(0)
    center = baseline + below
    if not charset.unknown("_"):
        (underscore,) = charset.encode("_")
        is_underscore = inked & (lines.ids[rows] == underscore)
        top = boxes[..., 1].where(is_underscore, torch.inf).amin(1, keepdim=True)
        bottom = boxes[..., 3].where(is_underscore, 0).amax(1, keepdim=True)
        moved = torch.where(is_above, top - half - beside, bottom + half + beside)
        center = center.where(~is_underscore.any(1, keepdim=True), moved)
    column = torch.arange(masks.shape[2], device=masks.device) + 0.5
    is_within = (column > left) & (column < right)
    _draw(masks, rows, center.expand(-1, masks.shape[2]), half, is_within)


def _extent(
    boxes: Float[Tensor, "word position side"], chosen: Bool[Tensor, "word position"]
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Left, top, right and bottom of some letters together; all zero where there is no ink."""
    inked = chosen & (boxes[..., 2] > boxes[..., 0])
    left, top = boxes[..., :2].where(inked[..., None], torch.inf).amin(1).unbind(-1)
    right, bottom = boxes[..., 2:].where(inked[..., None], 0).amax(1).unbind(-1)
    left = left.where(left.isfinite(), 0)
    top = top.where(top.isfinite(), 0)
    return left[:, None], top[:, None], right[:, None], bottom[:, None]


def _draw(
    masks: UInt8[Tensor, "batch row column"],
    rows: Int64[Tensor, " word"],
    center: Float[Tensor, "word column"],
    half: Float[Tensor, "word 1"],
    is_within: Bool[Tensor, "word column"],
) -> None:
    """Ink around a row for every column, with an edge of one pixel."""
    row = torch.arange(masks.shape[1], device=masks.device)[:, None] + 0.5
    distance = (row - center[:, None]).abs()
    ink = (half[:, None] + 0.5 - distance).clamp(0, 1) * is_within[:, None]
    drawn = (ink * _OPAQUE).to(torch.uint8)
    masks[rows] = torch.maximum(masks[rows], drawn)
