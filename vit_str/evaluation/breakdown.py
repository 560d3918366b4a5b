"""Accuracy by group of words: by length, case, aspect, height and confidence."""

import math
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool

from vit_str.evaluation.metrics import WORD_PROTOCOLS
from vit_str.evaluation.statistics import Interval, plain_values, wilson_interval
from vit_str.evaluation.words import ImageSize, ReadWords
from vit_str.runtime.images import TALL

SHOWN = ("word_accuracy_36", "word_accuracy_94", "word_accuracy_full")
"""Metrics that are broken down."""

COVERAGES = tuple(tenth / 10 for tenth in range(10, 0, -1))
"""Shares of words that are kept, see `rejection`."""

_LAST_LENGTHS = (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 15)  # of each group, in characters
_LAST_HEIGHTS = (11, 15, 23, 31, 47, 63, 95)  # in pixels

_TALL = f"tall: height over {TALL:g} times the width"
# The first that holds counts.
_CASES: dict[str, Callable[[str], bool]] = {
    "with symbols or spaces": lambda label: not all(map(_is_letter_or_digit, label)),
    "digits": lambda label: all(map(_is_digit, label)),
    "letters and digits": lambda label: any(map(_is_digit, label)),
    "letters without case": lambda label: label.lower() == label.upper(),
    "lower case": lambda label: label == label.lower(),
    "upper case": lambda label: label == label.upper(),
    "capitalized": lambda label: label[1:] == label[1:].lower(),
    "mixed case": lambda label: True,
}
_ASPECTS: dict[str, float] = {
    "about square: up to as wide as high": 1.0,
    "width up to 2 times the height": 2.0,
    "width up to 3 times the height": 3.0,
    "width up to 5 times the height": 5.0,
    "wider": math.inf,
}
_CONFIDENCES = [f"{tenth / 10:.1f} to {(tenth + 1) / 10:.1f}" for tenth in range(10)]


@dataclass(frozen=True, slots=True)
class Share:
    """Accuracy of n words that a protocol can judge (nan without any), with Wilson's interval."""

    n: int
    value: float
    interval: Interval


@dataclass(frozen=True, slots=True)
class Group:
    """Words that have something in common."""

    name: str
    n: int
    shares: Mapping[str, Share]

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {"name": self.name, "n": self.n, **plain_values(self.shares)}


@dataclass(frozen=True, slots=True)
class AcceptedWords:
    """The surest words, if the others are rejected."""

    coverage: float  # share of words that was to be kept
    confidence: float  # of the least sure of them; nan if that one is damaged, or without any word
    n: int  # words that are kept
    shares: Mapping[str, Share]  # metric of `SHOWN` -> accuracy of what is kept


def breakdown(words: ReadWords) -> dict[str, list[Group]]:
    """Accuracy by group of words: dimension -> groups that hold a word, in order.

    * ``length``: characters of the label;
    * ``case``: of the label;
    * ``orientation``: tall images hold lines that run down or up, or very short words;
    * ``aspect``: width over height;
    * ``height``: of the line in pixels, which is the width of a tall image;
    * ``confidence``: of the reading.

    Words whose image is damaged have no size and no confidence, and are in the other groups only.
    """
    labels = [label or None for label in words.labels]
    groups: dict[str, tuple[Sequence[Any], Callable[[Any], str], Sequence[str]]] = {
        "length": (labels, _length, _range_names(_LAST_LENGTHS)),
        "case": (labels, case_of, list(_CASES)),
        "orientation": (words.sizes, _orientation, ["wide", _TALL]),
        "aspect": (words.sizes, _aspect, [_TALL, *_ASPECTS]),
        "height": (words.sizes, _height, _range_names(_LAST_HEIGHTS)),
        "confidence": (words.confidences, _confidence, _CONFIDENCES),
    }
    accuracies = _Accuracies(words)
    found = {}
    for dimension, (values, name_of, names) in groups.items():
        kinds = np.array([None if value is None else name_of(value) for value in values], object)
        masks = {name: kinds == name for name in names}
        found[dimension] = [
            Group(name, int(mask.sum()), accuracies.of(mask))
            for name, mask in masks.items()
            if mask.any()
        ]
    return found


def rejection(words: ReadWords) -> list[AcceptedWords]:
    """Accuracy if the least sure words are rejected, for every one of ``COVERAGES``.

    Damaged images are rejected first.
    """
    accuracies = _Accuracies(words)
    sure = np.array(words.confidences, dtype=float)  # nan in place of None
    order = np.argsort(-np.nan_to_num(sure, nan=-1.0), kind="stable")
    kept = []
    for coverage in COVERAGES:
        chosen = order[: round(coverage * len(order))]
        least = float(sure[chosen[-1]]) if len(chosen) else math.nan
        mask = np.isin(np.arange(len(order)), chosen)
        kept.append(AcceptedWords(coverage, least, len(chosen), accuracies.of(mask)))
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


def case_of(label: str) -> str:
    """What characters a label holds, one of the groups of ``case``."""
    return next(name for name, holds in _CASES.items() if holds(label))


def _is_tall(size: ImageSize) -> bool:
    """Whether an image of this size more likely holds a line that runs down or up."""
    return size[0] > TALL * size[1]


def _length(label: str) -> str:
    return _range(len(label), _LAST_LENGTHS)


def _height(size: ImageSize) -> str:
    return _range(size[1] if _is_tall(size) else size[0], _LAST_HEIGHTS)


def _orientation(size: ImageSize) -> str:
    return _TALL if _is_tall(size) else "wide"


def _aspect(size: ImageSize) -> str:
    if _is_tall(size):
        return _TALL
    return next(name for name, most in _ASPECTS.items() if size[1] / size[0] <= most)


def _confidence(confidence: float) -> str:
    return _CONFIDENCES[min(9, max(0, math.ceil(10 * confidence) - 1))]


def _range(number: int, last: tuple[int, ...]) -> str:
    """The group of a number, where all groups but one have a last number."""
    return _range_names(last)[sum(number > end for end in last)]


def _range_names(last: tuple[int, ...]) -> list[str]:
    first = [1, *(end + 1 for end in last)]
    pairs = zip(first, last, strict=False)
    names = [f"{start}" if start == end else f"{start} to {end}" for start, end in pairs]
    return [*names, f"{first[-1]} and more"]


def _is_letter_or_digit(character: str) -> bool:
    # Marks are parts of letters: accents that were split off, vowels of Indian scripts.
    return unicodedata.category(character)[0] in "LMN"


def _is_digit(character: str) -> bool:
    return unicodedata.category(character)[0] == "N"
