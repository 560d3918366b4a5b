"""How single letters stand in their line: where a pixel of the line as seen lies in its mask.

Masks hold letters upright on a common baseline. Letters off the baseline, smaller ones and letters
below each other are a matter of where to look: only a few words have them, and copying columns is
dearer than a different look at them. Rows and columns are pixels of the atlas.
"""

import math
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int64
from torch import Tensor

from vit_str.synthesis.ingredients import share_of
from vit_str.synthesis.random_numbers import Random, Range

Letters = Float[Tensor, "word position"]

AT_BASELINE = -1.0
"""Of ``Sizes.at_top``: small letters stand on the baseline."""
_WITHIN = 1e-4  # of a cell, so that what lies on its border is in the right one


@dataclass(frozen=True)
class _Jitter:
    """Letters off their baseline; all by eye. Normal numbers by their deviation."""

    amount: Range = 0.3, 1.5  # how uneven a word is
    lift: float = 2.2  # pixels of the atlas
    slope: float = 0.09  # pixels down per pixel to the right
    steepest: float = 0.5
    scale: float = 0.06
    scales: Range = 0.7, 1.3  # what scales are kept within
    # Where heights grow from: from the bottom up, as a share of the ink
    anchor: float = 0.2


@dataclass(frozen=True)
class _Raised:
    """Words of two sizes, as prices, ordinal numbers and titles; by eye."""

    scale: Range = 0.5, 0.8
    at_top_share: float = 0.6
    longest_tail: int = 2  # letters at the end that are small
    title_share: float = 0.4  # all but the first letter are small


_JITTER = _Jitter()
_RAISED = _Raised()


@dataclass(frozen=True, slots=True)
class Sizes:
    """Letters smaller than the others of their word."""

    rows: Int64[Tensor, " word"]  # words that have some
    scale: Letters  # size of every letter of the batch over that of its font
    # 1 for words whose small letters hang from the top of the others, `AT_BASELINE` for those
    # whose letters stand on one line exactly, else 0
    at_top: Float[Tensor, " word"]


@dataclass(frozen=True, slots=True)
class Unevenness:
    """Words whose letters leave the baseline.

    A row of ink ``y`` of a letter whose middle is at column ``center`` is seen at
    ``anchor + (y - anchor) * scale + lift + slope * (column - center)``.
    """

    rows: Int64[Tensor, " word"]  # which words of the batch
    anchor: Float[Tensor, " word"]  # the row that a letter's scale leaves in place
    center: Letters  # the middle column of each letter
    scale: Letters  # height of each letter over that of its font
    lift: Letters  # how far each letter is moved down, in pixels
    slope: Letters  # how far each letter leans: pixels down per pixel to the right

    def seen(
        self, boxes: Float[Tensor, "batch position side"]
    ) -> Float[Tensor, "batch position side"]:
        """Boxes of letters on the baseline to boxes of the letters as seen; others are kept."""
        left, top, right, bottom = boxes[self.rows].unbind(-1)
        anchor = self.anchor[:, None]
        lean = self.slope.abs() * (right - left) / 2
        top = anchor + (top - anchor) * self.scale + self.lift - lean
        bottom = anchor + (bottom - anchor) * self.scale + self.lift + lean
        return boxes.index_copy(
            0, self.rows, torch.stack([left, top, right, bottom], -1)
        )

    def source(
        self,
        column: Float[Tensor, "word point"],
        row: Float[Tensor, "word point"],
        owner: Int64[Tensor, "word point"],
    ) -> Float[Tensor, "word point"]:
        """The row of the mask that is seen at ``row``; the columns are the same."""
        center = self.center.gather(1, owner)
        scale = self.scale.gather(1, owner)
        lift = self.lift.gather(1, owner)
        slope = self.slope.gather(1, owner)
        anchor = self.anchor[:, None]
        level = row - lift - slope * (column - center)
        return anchor + (level - anchor) / scale


@dataclass(frozen=True, slots=True)
class Stacks:
    """Words whose letters stand below each other, seen after a quarter turn to the left.

    Every letter lies in a cell of its own, its top to the left.
    """

    rows: Int64[Tensor, " word"]  # which words of the batch
    # Width of the cells in the mask, which is the height of the line as seen
    cell: Float[Tensor, " word"]
    top: Float[Tensor, " word"]  # first row of the mask with ink of the word
    bottom: Float[Tensor, " word"]  # the row after the last

    def seen(
        self, boxes: Float[Tensor, "batch position side"], height: int
    ) -> Float[Tensor, "batch position side"]:
        """Boxes of upright letters to boxes of the lying letters as seen; others are kept."""
        left, top, right, bottom = boxes[self.rows].unbind(-1)
        cell = self.cell[:, None]
        first = self.top[:, None]
        along = cell / (self.bottom[:, None] - first)
        start = (left / cell + _WITHIN).floor() * cell
        across = height / cell
        lying = [
            start + (top - first) * along,
            height - (right - start) * across,
            start + (bottom - first) * along,
            height - (left - start) * across,
        ]
        has_ink = (right > left)[..., None]
        return boxes.index_copy(0, self.rows, torch.stack(lying, -1) * has_ink)

    def source(
        self,
        column: Float[Tensor, "word point"],
        row: Float[Tensor, "word point"],
        height: int,
    ) -> tuple[Float[Tensor, "word point"], Float[Tensor, "word point"]]:
        """Column and row of the mask that are seen at ``column`` and ``row``."""
        cell = self.cell[:, None]
        top = self.top[:, None]
        start = (column / cell).floor() * cell
        down = top + (column - start) / cell * (self.bottom[:, None] - top)
        right = (1 - row / height).clamp(0, 1 - _WITHIN) * cell
        return start + right, down


def ink_rows(
    boxes: Float[Tensor, "word position side"], height: float = math.inf
) -> tuple[Float[Tensor, " word"], Float[Tensor, " word"]]:
    """First row with ink and the row after the last of every word.

    A word without ink has ``height`` and 0.
    """
    has_ink = boxes[..., 2] > boxes[..., 0]
    top = torch.where(has_ink, boxes[..., 1], height).amin(1)
    return top, torch.where(has_ink, boxes[..., 3], 0).amax(1)


def sample_unevenness(
    boxes: Float[Tensor, "batch position side"],
    sizes: Sizes,
    jitter: float,
    random: Random,
) -> Unevenness:
    """Draw letters off their baseline, and put letters of other sizes where they belong."""
    positions = boxes.shape[1]
    chosen = random.subset(share_of("jitter", jitter))
    amount = random.uniform(*_JITTER.amount, 1) * max(1.0, jitter)
    lift = random.normal(_JITTER.lift, positions) * amount
    slope = random.normal(_JITTER.slope, positions) * amount
    slope = slope.clamp(-_JITTER.steepest, _JITTER.steepest)
    scale = 1 + random.normal(_JITTER.scale, positions) * amount
    scale = scale.clamp(*_JITTER.scales)
    is_uneven = torch.zeros_like(lift[:, :1]).index_fill(0, chosen, 1.0)
    scale = (1 + (scale - 1) * is_uneven) * sizes.scale
    top, bottom = ink_rows(boxes)
    baseline = bottom * (1 - _JITTER.anchor) + top * _JITTER.anchor
    anchor = torch.where(sizes.at_top > 0, top, baseline)
    anchor = torch.where(sizes.at_top < 0, bottom, anchor)
    center = (boxes[..., 0] + boxes[..., 2]) / 2
    rows = torch.cat([chosen, sizes.rows])
    return Unevenness(
        rows=rows,
        anchor=anchor[rows],
        center=center[rows],
        scale=scale[rows],
        lift=(lift * is_uneven)[rows],
        slope=(slope * is_uneven)[rows],
    )


def sample_sizes(
    drawn: Bool[Tensor, "batch position"],
    strength: float,
    random: Random,
) -> Sizes:
    """Draw words whose letters are of two sizes.

    The last one or two letters are smaller, as in prices and ordinal numbers, or all but the
    first, as in titles.
    """
    chosen = random.subset(share_of("raised", strength))
    small = random.uniform(*_RAISED.scale, 1)
    at_top = random.bernoulli(_RAISED.at_top_share)
    tail = random.integers(_RAISED.longest_tail, 1) + 1
    is_title = random.bernoulli(_RAISED.title_share, 1) > 0
    length = drawn.sum(1, keepdim=True)
    position = torch.arange(drawn.shape[1], device=drawn.device)
    first = torch.where(is_title, torch.ones_like(tail), (length - tail).clamp(min=1))
    is_chosen = torch.zeros_like(length, dtype=torch.bool).index_fill(0, chosen, True)
    scale = torch.where((position >= first) & is_chosen, small, 1.0)
    at_top = at_top.where(~is_title[:, 0], 0.0)
    return Sizes(rows=chosen, scale=scale, at_top=at_top)
