"""Losses and measures of a network that finds."""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from vit_str.pages.find.maps import MAPS, SHARES
from vit_str.training.find.examples import Batch

_LEAST_SHARE = 0.01  # of all cells, over which the loss of a rare map is taken at least
_INK = MAPS.index("ink")
_COS, _SIN, _HEIGHT = (MAPS.index(name) for name in ("cos", "sin", "height"))
_NEAR = 22.5  # degrees by which a direction may be off to count as right

Found = Float[Tensor, "batch map cell_row cell_column"]


def losses_of(found: Found, batch: Batch) -> dict[str, Float[Tensor, ""]]:
    """A loss for each map of shares, one for directions, one for heights.

    That of a share is the cross entropy over all cells, divided by the number of true ones: maps
    count alike however rare they are, while true and false cells keep their balance, so that
    shares are probabilities; and the dice loss (Milletari et al. 2016), which looks at the overlap
    alone. Direction and height count where there is ink.
    """
    weight = batch.weight.unsqueeze(1)
    losses = {}
    for place in range(SHARES):
        losses[MAPS[place]] = _of_share(
            found[:, place : place + 1], batch.maps[:, place : place + 1], weight
        )
    ink = batch.maps[:, _INK] * batch.weight
    for name, places in (("direction", [_COS, _SIN]), ("height", [_HEIGHT])):
        off = F.smooth_l1_loss(
            found[:, places], batch.maps[:, places], reduction="none", beta=0.3
        ).sum(1)
        losses[name] = (off * ink).sum() / ink.sum().clamp(min=1.0)
    return losses


def _of_share(
    logits: Float[Tensor, "batch 1 row column"],
    truth: Float[Tensor, "batch 1 row column"],
    weight: Float[Tensor, "batch 1 row column"],
) -> Float[Tensor, ""]:
    entropy = F.binary_cross_entropy_with_logits(logits, truth, reduction="none")
    true = (truth * weight).sum()
    share = logits.sigmoid() * weight
    cross = (entropy * weight).sum() / (true + _LEAST_SHARE * truth.numel())
    overlap = 2 * (share * truth).sum() + 1
    dice = 1 - overlap / (share.sum() + true + 1)
    return cross + dice


@torch.no_grad()
def counts_of(found: Found, batch: Batch) -> dict[str, tuple[float, float]]:
    """How much is right, and of how much.

    Of shares twice the hits, and found and true cells together: their quotient is F1. Of
    directions the cells that are off by less than `_NEAR` degrees, of heights the sum of the errors
    in octaves.
    """
    counts = {}
    counted = batch.weight > 0.5
    for place in range(SHARES):
        yes = (found[:, place] > 0) & counted
        truth = (batch.maps[:, place] > 0.5) & counted
        hits = 2 * float((yes & truth).sum())
        counts[MAPS[place]] = (hits, float(yes.sum() + truth.sum()))
    ink = (batch.maps[:, _INK] > 0.5) & counted
    of = float(ink.sum())
    one, other = (
        torch.atan2(maps[:, _SIN], maps[:, _COS]) for maps in (found, batch.maps)
    )
    off = torch.rad2deg(one - other).abs()
    off = torch.minimum(off, 360 - off)
    counts["direction"] = (float(((off < _NEAR) & ink).sum()), of)
    wrong = (found[:, _HEIGHT] - batch.maps[:, _HEIGHT]).abs()
    counts["height_error"] = (float((wrong * ink).sum()), of)
    return counts
