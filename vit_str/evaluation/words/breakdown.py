"""Accuracy by group of words: by length, case, aspect, height and confidence."""

import math
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Float

from vit_str.evaluation.metrics import WORD_PROTOCOLS
from vit_str.evaluation.statistics import Interval, wilson_interval
from vit_str.evaluation.words.results import ReadWords
from vit_str.images.loading import ImageSize
from vit_str.images.preprocessing import TALL

SHOWN = ("word_accuracy_36", "word_accuracy_94", "word_accuracy_full")
"""Metrics that are broken down."""

COVERAGES = tuple(tenth / 10 for tenth in range(10, 0, -1))
"""Shares of words that are kept, see `rejection`."""

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


def _ranges(*last: int) -> dict[str, float]:
    """Groups of numbers from 1 on, and the last number of each."""
    groups: dict[str, float] = {}
    start = 1
    for end in last:
        name = f"{start}" if start == end else f"{start} to {end}"
        groups[name] = end
        start = end + 1
    groups[f"{start} and more"] = math.inf
    return groups


# Groups and the last number of each.
_LENGTHS = _ranges(1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 15)  # in characters
_HEIGHTS = _ranges(11, 15, 23, 31, 47, 63, 95)  # in pixels
_ASPECTS = {
    "about square: up to as wide as high": 1.0,
    "width up to 2 times the height": 2.0,
    "width up to 3 times the height": 3.0,
    "width up to 5 times the height": 5.0,
    "wider": math.inf,
}
_CONFIDENCES = {
    "0.0 to 0.1": 0.1,
    "0.1 to 0.2": 0.2,
    "0.2 to 0.3": 0.3,
    "0.3 to 0.4": 0.4,
    "0.4 to 0.5": 0.5,
    "0.5 to 0.6": 0.6,
    "0.6 to 0.7": 0.7,
    "0.7 to 0.8": 0.8,
    "0.8 to 0.9": 0.9,
    "0.9 to 1.0": 1.0,
}


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


@dataclass(frozen=True, slots=True)
class AcceptedWords:
    """The surest words, if the others are rejected."""

    coverage: float  # share of words that was to be kept
    # Of the least sure of them; nan if that one is damaged, or without any word
    confidence: float
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
    dimensions: dict[str, tuple[Sequence[Any], Callable[[Any], str], Iterable[str]]] = {
        "length": (labels, lambda label: _group(len(label), _LENGTHS), _LENGTHS),
        "case": (labels, case_of, _CASES),
        "orientation": (
            words.sizes,
            lambda size: _TALL if _is_tall(size) else "wide",
            ("wide", _TALL),
        ),
        "aspect": (words.sizes, _aspect, (_TALL, *_ASPECTS)),
        "height": (words.sizes, _height, _HEIGHTS),
        "confidence": (
            words.confidences,
            lambda sure: _group(sure, _CONFIDENCES),
            _CONFIDENCES,
        ),
    }
    outcomes = _outcomes(words)
    groups = {}
    for dimension, (values, group_of, names) in dimensions.items():
        kinds = np.full(len(values), None, object)
        for place, value in enumerate(values):
            if value is not None:
                kinds[place] = group_of(value)
        found = []
        for name in names:
            mask = kinds == name
            if mask.any():
                found.append(Group(name, int(mask.sum()), _shares(outcomes, mask)))
        groups[dimension] = found
    return groups


def rejection(words: ReadWords) -> list[AcceptedWords]:
    """Accuracy if the least sure words are rejected, for every one of ``COVERAGES``.

    Damaged images are rejected first.
    """
    outcomes = _outcomes(words)
    sure = np.array(words.confidences, dtype=float)  # nan in place of None
    order = np.argsort(-np.nan_to_num(sure, nan=-1.0), kind="stable")
    kept = []
    for coverage in COVERAGES:
        chosen = order[: round(coverage * len(order))]
        least = float(sure[chosen[-1]]) if len(chosen) else math.nan
        mask = np.isin(np.arange(len(order)), chosen)
        kept.append(
            AcceptedWords(coverage, least, len(chosen), _shares(outcomes, mask))
        )
    return kept


def _outcomes(words: ReadWords) -> dict[str, Float[np.ndarray, " word"]]:
    """Metric -> 1 for a word read right, 0 for another, nan for one that it cannot judge."""
    outcomes = {}
    for metric in SHOWN:
        outcomes[metric] = np.full(len(words.labels), math.nan)
        protocol = WORD_PROTOCOLS[metric]
        outcomes[metric][words.judged(protocol)] = words.right(protocol)
    return outcomes


def _shares(
    outcomes: Mapping[str, Float[np.ndarray, " word"]],
    chosen: Bool[np.ndarray, " word"],
) -> dict[str, Share]:
    shares = {}
    for metric, outcome in outcomes.items():
        judged = outcome[chosen & ~np.isnan(outcome)]
        n = len(judged)
        right = int(judged.sum())
        accuracy = right / n if n else math.nan
        shares[metric] = Share(n, accuracy, wilson_interval(right, n))
    return shares


def case_of(label: str) -> str:
    """The kinds of characters in a label, one of the groups of ``case``."""
    return next(name for name, holds in _CASES.items() if holds(label))


def _group(number: float, groups: Mapping[str, float]) -> str:
    """The first group that a number fits in, or the last."""
    fitting = (name for name, end in groups.items() if number <= end)
    return next(fitting, list(groups)[-1])


def _is_tall(size: ImageSize) -> bool:
    """Whether an image of this size more likely holds a line that runs down or up."""
    return size[0] > TALL * size[1]


def _aspect(size: ImageSize) -> str:
    return _TALL if _is_tall(size) else _group(size[1] / size[0], _ASPECTS)


def _height(size: ImageSize) -> str:
    return _group(size[1] if _is_tall(size) else size[0], _HEIGHTS)


def _is_letter_or_digit(character: str) -> bool:
    # Marks are parts of letters: accents that were split off, vowels of Indian scripts.
    return unicodedata.category(character)[0] in "LMN"


def _is_digit(character: str) -> bool:
    return unicodedata.category(character)[0] == "N"
