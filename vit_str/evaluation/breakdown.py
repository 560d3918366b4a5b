"""Accuracy by kind of word: by length, case, aspect, height and confidence."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool

from vit_str.evaluation.kinds import RULES
from vit_str.evaluation.words import ReadWords
from vit_str.metrics import WORD_PROTOCOLS
from vit_str.statistics import Interval, wilson_interval

SHOWN = ("word_accuracy_36", "word_accuracy_94", "word_accuracy_full")
"""Metrics that are broken down."""

COVERAGES = tuple(tenth / 10 for tenth in range(10, 0, -1))
"""Shares of words that are kept, see `rejection`."""


@dataclass(frozen=True, slots=True)
class Share:
    """A word accuracy.

    Attributes:
        n: words that the protocol can judge.
        value: share of them that is right; nan without any.
        interval: its 95 % interval (Wilson 1927).
    """

    n: int
    value: float
    interval: Interval

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        value = None if math.isnan(self.value) else self.value
        return {"n": self.n, "value": value, "interval": list(self.interval)}


@dataclass(frozen=True, slots=True)
class Group:
    """Words of one kind.

    Attributes:
        name: of the kind.
        n: words.
        shares: metric of ``SHOWN`` -> accuracy.
    """

    name: str
    n: int
    shares: dict[str, Share]

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        shares = {metric: share.to_dict() for metric, share in self.shares.items()}
        return {"name": self.name, "n": self.n, **shares}


@dataclass(frozen=True, slots=True)
class Kept:
    """The surest words, if the others are rejected.

    Attributes:
        coverage: share of words that was to be kept.
        confidence: of the least sure of them; nan if that one is damaged, or without any word.
        n: words that are kept.
        shares: metric of ``SHOWN`` -> accuracy of what is kept.
    """

    coverage: float
    confidence: float
    n: int
    shares: dict[str, Share]

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        confidence = None if math.isnan(self.confidence) else self.confidence
        shares = {metric: share.to_dict() for metric, share in self.shares.items()}
        return asdict(self) | {"confidence": confidence, "shares": shares}


def breakdown(words: ReadWords) -> dict[str, list[Group]]:
    """Accuracy by kind of word: dimension -> groups that hold a word, in order.

    * ``length``: characters of the label;
    * ``case``: of the label;
    * ``orientation``: tall images hold lines that run down or up, or very short words;
    * ``aspect``: width over height;
    * ``height``: of the line in pixels, which is the width of a tall image;
    * ``confidence``: of the reading.

    Words whose image is damaged have no size and no confidence, and are in the other groups only.
    """
    accuracies = _Accuracies(words)
    return {name: _groups(rule(words), order, accuracies) for name, (rule, order) in RULES.items()}


def rejection(words: ReadWords) -> list[Kept]:
    """Accuracy if the least sure words are rejected, for every one of ``COVERAGES``.

    Damaged images are rejected first.
    """
    accuracies = _Accuracies(words)
    sure = np.array([math.nan if each is None else each for each in words.confidences], dtype=float)
    order = np.argsort(-np.nan_to_num(sure, nan=-1.0), kind="stable")
    kept = []
    for coverage in COVERAGES:
        chosen = order[: round(coverage * len(order))]
        least = float(sure[chosen[-1]]) if len(chosen) else math.nan
        kept.append(Kept(coverage, least, len(chosen), accuracies.of(_mask(chosen, len(order)))))
    return kept


class _Accuracies:
    """What is judged and right under each protocol, worked out once for all groups."""

    def __init__(self, words: ReadWords) -> None:
        self._judged, self._right = {}, {}
        for metric in SHOWN:
            judged = words.judged(WORD_PROTOCOLS[metric])
            right = np.zeros_like(judged)
            right[judged] = words.right(WORD_PROTOCOLS[metric])
            self._judged[metric], self._right[metric] = judged, right

    def of(self, chosen: Bool[np.ndarray, " word"]) -> dict[str, Share]:
        shares = {}
        for metric in SHOWN:
            n = int((chosen & self._judged[metric]).sum())
            right = int((chosen & self._right[metric]).sum())
            value = right / n if n else math.nan
            shares[metric] = Share(n, value, wilson_interval(right, n))
        return shares


def _groups(
    names: Sequence[str | None], order: Sequence[str], accuracies: _Accuracies
) -> list[Group]:
    places = {name: place for place, name in enumerate(order)}
    kinds = np.array([-1 if name is None else places[name] for name in names], dtype=np.int64)
    chosen = {name: kinds == place for name, place in places.items()}
    return [
        Group(name, int(mask.sum()), accuracies.of(mask))
        for name, mask in chosen.items()
        if mask.any()
    ]


def _mask(chosen: np.ndarray, n: int) -> Bool[np.ndarray, " word"]:
    mask = np.zeros(n, dtype=bool)
    mask[chosen] = True
    return mask
