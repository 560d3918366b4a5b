"""Losses and measures of a network that arranges pages."""

from collections.abc import Mapping

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int64
from torch import Tensor

from vit_str.datasets.page_records import BLOCK_FIELDS
from vit_str.models.arranger import RELATIONS, Arrangement
from vit_str.training.pages.examples import Batch

_IMPOSSIBLE = -1e4  # logit
_PAIRS_OF_PIECE = 4  # pairs that weigh as much as the role of a piece
_FIELD = {name: place for place, name in enumerate(BLOCK_FIELDS)}

Pairs = Bool[Tensor, "batch token token"]


def losses_of(found: Arrangement, batch: Batch) -> dict[str, Float[Tensor, ""]]:
    """Of roles, levels, who is next, and the relations of pairs; each about 1 at the start."""
    is_piece = batch.is_piece
    roles = true_roles(batch, found.roles.shape[-1])
    levels = batch.about[..., _FIELD["level"]]
    has_level = is_piece & (levels > 0)
    losses = {"role": F.cross_entropy(found.roles[is_piece], roles[is_piece])}
    highest = found.levels.shape[-1]
    losses["level"] = _mean(
        F.cross_entropy(
            found.levels.flatten(0, 1),
            (levels.clamp(1, highest) - 1).flatten(),
            reduction="none",
        ),
        has_level.flatten(),
    )
    scores, target, is_known = _following(found, batch)
    losses["next"] = _mean(
        F.cross_entropy(scores.flatten(0, 1), target.flatten(), reduction="none"),
        is_known.flatten(),
    )
    count = is_piece.sum().clamp(min=1)
    for name, (truth, where) in true_relations(batch).items():
        logits = found.relations[:, RELATIONS.index(name)]
        each = F.binary_cross_entropy_with_logits(
            logits, truth.float(), reduction="none"
        )
        losses[name] = (each * where).sum() / (_PAIRS_OF_PIECE * count)
    return losses


def true_roles(batch: Batch, roles: int) -> Int64[Tensor, "batch token"]:
    """Roles of pieces; the last one is that of what is no text of the page."""
    found = batch.about[..., _FIELD["role"]]
    return torch.where(found < 0, roles - 1, found)


def true_relations(batch: Batch) -> Mapping[str, tuple[Pairs, Pairs]]:
    """For each relation but ``next``: of which pairs it is true, and which pairs count."""
    is_text = batch.is_piece & (batch.block >= 0)
    apart = ~torch.eye(is_text.shape[1], dtype=torch.bool, device=is_text.device)
    both = is_text.unsqueeze(1) & is_text.unsqueeze(2) & apart
    table = batch.about[..., _FIELD["table"]]
    in_table = is_text & (table >= 0)
    cells = both & in_table.unsqueeze(1) & in_table.unsqueeze(2)
    one_table = cells & _same(table)
    place = batch.place
    return {
        "before": (place.unsqueeze(2) < place.unsqueeze(1), both & ~_same(place)),
        "block": (_same(batch.block), both),
        "table": (_same(table), cells),
        "row": (_overlap(batch, "row", "rows"), one_table),
        "column": (_overlap(batch, "column", "columns"), one_table),
    }


def _following(
    found: Arrangement, batch: Batch
) -> tuple[
    Float[Tensor, "batch token other"],
    Int64[Tensor, "batch token"],
    Bool[Tensor, "batch token"],
]:
    """Scores of what is next, the end among them; what it is; of which pieces that is known."""
    is_text = batch.is_piece & (batch.place >= 0)
    apart = ~torch.eye(is_text.shape[1], dtype=torch.bool, device=is_text.device)
    both = is_text.unsqueeze(1) & is_text.unsqueeze(2) & apart
    scores = found.relations[:, RELATIONS.index("next")].masked_fill(~both, _IMPOSSIBLE)
    scores = torch.cat([scores, found.ends.unsqueeze(-1)], -1)
    later = batch.place.unsqueeze(1) - batch.place.unsqueeze(2)
    distance = torch.where(both & (later > 0), later, torch.iinfo(later.dtype).max)
    nearest, target = distance.min(-1)
    is_last = nearest == torch.iinfo(later.dtype).max
    return scores, torch.where(is_last, is_text.shape[1], target), is_text


def _same(values: Int64[Tensor, "batch token"]) -> Pairs:
    return values.unsqueeze(1) == values.unsqueeze(2)


def _overlap(batch: Batch, start: str, count: str) -> Pairs:
    """Whether what two cells cover overlaps."""
    first = batch.about[..., _FIELD[start]]
    end = first + batch.about[..., _FIELD[count]]
    return (first.unsqueeze(1) < end.unsqueeze(2)) & (
        first.unsqueeze(2) < end.unsqueeze(1)
    )


def _mean(values: Tensor, where: Tensor) -> Float[Tensor, ""]:
    return (values * where).sum() / where.sum().clamp(min=1)


def counts_of(found: Arrangement, batch: Batch) -> dict[str, tuple[float, float]]:
    """How much is right, and of how much.

    Of relations twice the hits, and found and true pairs together: their quotient is F1.
    """
    is_piece = batch.is_piece
    roles = true_roles(batch, found.roles.shape[-1])
    levels = batch.about[..., _FIELD["level"]]
    has_level = is_piece & (levels > 0)
    scores, target, is_known = _following(found, batch)
    hits = {
        "roles": (found.roles.argmax(-1) == roles, is_piece),
        "levels": (found.levels.argmax(-1) + 1 == levels, has_level),
        "next": (scores.argmax(-1) == target, is_known),
    }
    counts = {
        name: (float((hit & where).sum()), float(where.sum()))
        for name, (hit, where) in hits.items()
    }
    for name, (truth, where) in true_relations(batch).items():
        yes = (found.relations[:, RELATIONS.index(name)] > 0) & where
        truth = truth & where
        counts[name] = (2 * float((yes & truth).sum()), float(yes.sum() + truth.sum()))
    return counts
