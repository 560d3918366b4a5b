"""How probable the network that arranges pages finds an arrangement, whoever has made it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from vit_str.pages.arrange.scores import CELLS, NOTHING, RUNNING, Scores

if TYPE_CHECKING:
    from jaxtyping import Bool, Float, Int64

ROLES_OF = {
    "heading": ("heading",),
    "item": ("item",),
    "cell": CELLS,
    "running": (*RUNNING, NOTHING),
}
"""Roles by the names of parts in `Labels`; all other roles are those of paragraphs."""

PAIRS_OF_PIECE = 4
"""Pairs that weigh as much as the role of a piece, as in training."""


def kind_of(role: str) -> str:
    """Name of a role in `Labels`."""
    for kind, names in ROLES_OF.items():
        if role in names:
            return kind
    return "paragraph"


@dataclass(frozen=True)
class Labels:
    """Labels of the pieces of a page in an arrangement.

    Attributes:
        kinds: ``heading``, ``item``, ``cell``, ``running`` or ``paragraph``.
        levels: of headings and items, from 1; else 0.
        place: in the order of reading.
        block: its number.
        table: its number, -1 outside of tables.
        rows: first row, and the first behind the last; of cells.
        columns: the same.
    """

    kinds: Sequence[str]
    levels: Int64[np.ndarray, " piece"]
    place: Int64[np.ndarray, " piece"]
    block: Int64[np.ndarray, " piece"]
    table: Int64[np.ndarray, " piece"]
    rows: Int64[np.ndarray, "piece 2"]
    columns: Int64[np.ndarray, "piece 2"]


def negative_log_likelihood(scores: Scores, labels: Labels) -> float:
    """How improbable labels are, in nats a piece: what training makes small for true ones."""
    count = len(labels.kinds)
    if not count:
        return 0.0
    total = _of_kinds(scores, labels) + _of_levels(scores, labels)
    apart = ~np.eye(count, dtype=bool)
    is_earlier = labels.place[:, None] < labels.place
    has_order = labels.place[:, None] != labels.place
    in_table = labels.table >= 0
    cells = apart & in_table[:, None] & in_table
    one_table = cells & _same(labels.table)
    pairs = _of_pairs(scores.of("before"), is_earlier, has_order)
    pairs += _of_pairs(scores.of("block"), _same(labels.block), apart)
    pairs += _of_pairs(scores.of("table"), _same(labels.table), cells)
    pairs += _of_pairs(scores.of("row"), _overlap(labels.rows), one_table)
    pairs += _of_pairs(scores.of("column"), _overlap(labels.columns), one_table)
    return (total + pairs / PAIRS_OF_PIECE) / count


def _of_kinds(scores: Scores, labels: Labels) -> float:
    chances = _softmax(scores.roles)
    named = {name for names in ROLES_OF.values() for name in names}
    others = [name for name in scores.names if name not in named]
    total = 0.0
    for kind in set(labels.kinds):
        names = ROLES_OF.get(kind, others)
        columns = [scores.names.index(name) for name in names if name in scores.names]
        chosen = [place for place, each in enumerate(labels.kinds) if each == kind]
        total -= _logarithm(chances[np.ix_(chosen, columns)].sum(1)).sum()
    return float(total)


def _of_levels(scores: Scores, labels: Labels) -> float:
    chances = _softmax(scores.levels)
    has_level = np.flatnonzero(labels.levels > 0)
    levels = labels.levels[has_level].clip(1, chances.shape[1])
    return -float(_logarithm(chances[has_level, levels - 1]).sum())


def _of_pairs(
    scores: Float[np.ndarray, "piece piece"],
    truth: Bool[np.ndarray, "piece piece"],
    where: Bool[np.ndarray, "piece piece"],
) -> float:
    signed = np.where(truth, scores, -scores)
    return float((np.logaddexp(0, -signed) * where).sum())


def _softmax(scores: np.ndarray) -> np.ndarray:
    powers = np.exp(scores - scores.max(1, keepdims=True))
    return powers / powers.sum(1, keepdims=True)


def _logarithm(chances: np.ndarray) -> np.ndarray:
    return np.log(np.maximum(chances, np.finfo(np.float32).tiny))


def _same(values: np.ndarray) -> Bool[np.ndarray, "piece piece"]:
    return values[:, None] == values


def _overlap(spans: np.ndarray) -> Bool[np.ndarray, "piece piece"]:
    start, end = spans.T
    return (start[:, None] < end) & (start < end[:, None])
