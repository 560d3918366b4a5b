"""The token that a head attends to most, image by image, and what the head takes from it.

Where that token is differs from image to image, and with it what the head does there: a mean over
images would show no sink at all. So every image has a sink and a kind of its own, and tables say in
which share of the images it is so.
"""

import math
from collections.abc import Sequence

import pandas as pd
import torch
from jaxtyping import Float64, Int64
from torch import Tensor

COLUMNS = [
    "model",
    "layer",
    "head",
    "token",
    "row",
    "column",
    "share",
    "times_uniform",
    "value_norm",
    "kind",
    "kind_share",
    "place_share",
    "no_operation",
    "broadcast",
    "no_sink",
    "n",
]
PATCH = "patch"
"""Name of a token of the grid."""
NO_OPERATION = "no operation"
BROADCAST = "broadcast"
NONE = "no sink"
_KINDS = (NO_OPERATION, BROADCAST, NONE)

_LEAST = 3.0  # times uniform attention, below which no token is a sink; by eye
_LITTLE = 0.5  # of the mean norm, below which a sink carries little; by eye


class SinkOfImages:
    """The most attended token of every image and head of one layer, updated batch by batch.

    Images in which no token was a query do not count. Of layers with windows every window counts
    as an image.
    """

    def __init__(self) -> None:
        self._places: list[Tensor] = []
        self._shares: list[Tensor] = []
        self._norms: list[Tensor] = []

    def add(
        self,
        received: Float64[Tensor, "case head key"],
        norms: Float64[Tensor, "case head key"] | None,
    ) -> None:
        """Add a batch.

        Args:
            received: what every token gets, special ones first, see `AttentionStatistics.received`.
            norms: of the values over their mean, see `ValueStatistics.norms`; None if unknown.
        """
        known = received.isfinite().all(-1).all(-1)
        shares, places = received[known].max(-1)
        carried = torch.full_like(shares, math.nan)
        if norms is not None:
            carried = norms[known].gather(-1, places[..., None])[..., 0]
        self._places.append(places)
        self._shares.append(shares)
        self._norms.append(carried)

    @property
    def places(self) -> Int64[Tensor, "case head"]:
        """Which token it is, counted from 0, special ones first."""
        return torch.cat(self._places)

    @property
    def shares(self) -> Float64[Tensor, "case head"]:
        """Its share of the attention of a query, special tokens included, as a mean."""
        return torch.cat(self._shares)

    @property
    def norms(self) -> Float64[Tensor, "case head"]:
        """Norm of its value over the mean of the patches of the head; NaN if unknown."""
        return torch.cat(self._norms)

    def rows(
        self, even: float, columns: int, special: Sequence[str]
    ) -> list[dict[str, object]]:
        """A row of the table for each head, over all images.

        Args:
            even: share that a token has of uniform attention.
            columns: of the tokens.
            special: names of the tokens before those of the grid.
        """
        rows = []
        times_uniform = self.shares / even
        kinds = _kinds(times_uniform, self.norms)
        for head in range(self.places.shape[1]):
            places, counts = torch.unique(self.places[:, head], return_counts=True)
            most = int(counts.argmax())
            of_kinds = _shares(kinds[:, head])
            kind = max(of_kinds, key=of_kinds.__getitem__) if of_kinds else None
            row: dict[str, object] = {
                "head": head + 1,
                **_place(int(places[most]), columns, special),
                "share": float(self.shares[:, head].mean()),
                "times_uniform": float(times_uniform[:, head].mean()),
                "value_norm": float(self.norms[:, head].mean()),
                "kind": kind,
                "kind_share": of_kinds.get(kind or "", math.nan),
                "place_share": int(counts[most]) / len(self.places),
                "n": len(self.places),
            }
            for name in _KINDS:
                row[name.replace(" ", "_")] = of_kinds.get(name, math.nan)
            rows.append(row)
        return rows


def sink_table(
    model: str, layers: Sequence[Sequence[dict[str, object]]]
) -> pd.DataFrame:
    """The rows of all layers as a table."""
    rows = []
    for layer, heads in enumerate(layers, 1):
        rows += [{"model": model, "layer": layer, **head} for head in heads]
    table = pd.DataFrame(rows, columns=COLUMNS)
    return table.astype({"row": "Int64", "column": "Int64"})


def _place(place: int, columns: int, special: Sequence[str]) -> dict[str, object]:
    """The name of a special token, or row and column of a patch, from 1."""
    if place < len(special):
        return {"token": special[place], "row": None, "column": None}
    row, column = divmod(place - len(special), columns)
    return {"token": PATCH, "row": row + 1, "column": column + 1}


def _kinds(
    times_uniform: Float64[Tensor, "case head"], norms: Float64[Tensor, "case head"]
) -> Int64[Tensor, "case head"]:
    """Index of the kind in ``_KINDS``; -1 for a sink whose value is not known."""
    kinds = torch.where(norms < _LITTLE, 0, 1)
    kinds = torch.where(norms.isnan(), -1, kinds)
    return torch.where(times_uniform < _LEAST, 2, kinds)


def _shares(kinds: Int64[Tensor, " case"]) -> dict[str, float]:
    """The share of images of every kind; empty if that of any is not known."""
    if (kinds < 0).any():
        return {}
    return {
        kind: float((kinds == number).double().mean())
        for number, kind in enumerate(_KINDS)
    }
