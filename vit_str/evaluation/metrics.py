"""How right readings are: word and character accuracy under the usual protocols, with intervals.

Every measure takes readings and labels as plain text, so it serves validation, evaluation and
studies alike. Shares are fractions from 0 to 1.
"""

import math
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Float

from vit_str.characters.distances import edit_distance
from vit_str.evaluation.statistics import (
    Interval,
    bootstrap_intervals,
    plain_values,
    wilson_interval,
)

_DIGITS = "0123456789"
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_PROTOCOLS = {
    36: frozenset(_DIGITS + _LETTERS),
    62: frozenset(_DIGITS + _LETTERS + _LETTERS.upper()),
    94: frozenset(map(chr, range(33, 127))),
}

FULL = "full"
"""The protocol that compares texts as they look, in every script, with case and spaces."""

Pairs = Sequence[tuple[str, str]]
Protocol = int | str
"""36, 62, 94 or ``FULL``, see `normalize_label`."""

WORD_PROTOCOLS: dict[str, Protocol] = {
    "word_accuracy_36": 36,
    "word_accuracy_62": 62,
    "word_accuracy_94": 94,
    "word_accuracy_full": FULL,
}
METRICS: dict[str, Protocol] = {
    **WORD_PROTOCOLS,
    "character_accuracy": 94,
    "character_accuracy_full": FULL,
    "one_minus_ned": 94,
    "one_minus_ned_full": FULL,
}
"""Names of the measures of ``score``, and the protocol of each."""


@dataclass(frozen=True, slots=True)
class Scores:
    """How well a set of words was read."""

    n: int  # words with a label and an image
    # Metric -> fraction, nan without any word to judge; see `METRICS`
    values: dict[str, float]
    interval: dict[str, Interval]  # metric -> its 95 % interval
    # Metric -> words of `n` whose label is empty under its protocol
    left_out: dict[str, int]
    # Images of `n` that are damaged; they count as read wrong, as empty
    unreadable: int = 0
    missing: int = 0  # words without an image or a label; not part of `n`
    # Labels of `n` of which 94 characters judge a part only, or nothing: they hold spaces,
    # accents or other scripts, which the full protocol judges
    reduced: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; None where there was nothing to judge."""
        values: dict[str, Any] = plain_values(self)
        n = values.pop("n")
        metrics = values.pop("values")
        return {"n": n, **metrics, **values}


TYPED: Mapping[int, str] = str.maketrans(
    {
        **dict.fromkeys("‘’‚‛′´", "'"),
        **dict.fromkeys("“”„‟″", '"'),
        **dict.fromkeys("‐‑‒–—―−", "-"),
    }
)
"""Marks of print -> their ASCII in labels."""


def normalize_label(label: str, protocol: Protocol) -> str:
    """Reduce a text to what a protocol compares.

    Marks of print become those of typewriters (``TYPED``), accents are split off (Unicode NFKD),
    then characters that the protocol lacks are dropped:

    * 36: digits and letters, in lower case;
    * 62: digits and letters, case kept;
    * 94: printable ASCII without the space, case kept.

    ``FULL`` drops nothing that a picture shows: accents are composed (Unicode NFC), white space is
    a space between words. It is the one for labels in other scripts, of which the others judge
    the ASCII part: nothing of 한글, 24 of 한글24.

    Raises:
        ValueError: for an unknown protocol.
    """
    if protocol == FULL:
        return unicodedata.normalize("NFC", " ".join(label.split()))
    if not isinstance(protocol, int) or protocol not in _PROTOCOLS:
        raise ValueError(
            f"unknown protocol {protocol!r}: use one of {sorted(_PROTOCOLS)} or "
            f"{FULL!r}"
        )
    decomposed = unicodedata.normalize("NFKD", label.translate(TYPED))
    if protocol == 36:
        decomposed = decomposed.lower()
    known = _PROTOCOLS[protocol]
    return "".join(character for character in decomposed if character in known)


def normalize_pairs(
    predictions: Sequence[str], labels: Sequence[str], protocol: Protocol
) -> list[tuple[str, str]]:
    """Normalized predictions and labels of the words that the protocol can judge.

    It cannot judge words of whose label nothing is left.
    """
    pairs = zip(predictions, labels, strict=True)
    normalized = [
        (normalize_label(prediction, protocol), normalize_label(label, protocol))
        for prediction, label in pairs
    ]
    return [(prediction, label) for prediction, label in normalized if label]


def right_words(
    predictions: Sequence[str], labels: Sequence[str], protocol: Protocol = 36
) -> Bool[np.ndarray, " word"]:
    """Which of the words that the protocol can judge are read exactly, in their order."""
    pairs = normalize_pairs(predictions, labels, protocol)
    return np.array([prediction == label for prediction, label in pairs], dtype=bool)


def word_accuracy(
    predictions: Sequence[str], labels: Sequence[str], protocol: Protocol = 36
) -> float:
    """Share of the words that are read exactly; nan without any word."""
    right = right_words(predictions, labels, protocol)
    return _ratio(right.sum(), len(right))


def cer(
    predictions: Sequence[str],
    labels: Sequence[str],
    protocol: Protocol = 94,
) -> float:
    """Character error rate: all edit distances over all label lengths; nan without any word."""
    errors, lengths = character_errors(normalize_pairs(predictions, labels, protocol))
    return _ratio(errors.sum(), lengths.sum())


def character_accuracy(
    predictions: Sequence[str], labels: Sequence[str], protocol: Protocol = 94
) -> float:
    """1 - ``cer``, but never below 0; nan without any word."""
    return _at_least_zero(1 - cer(predictions, labels, protocol))


def one_minus_ned(
    predictions: Sequence[str], labels: Sequence[str], protocol: Protocol = 94
) -> float:
    """Mean of 1 - edit distance / length of the longer text (ICDAR 2019); nan without any word."""
    similarities = word_similarities(normalize_pairs(predictions, labels, protocol))
    return _ratio(similarities.sum(), len(similarities))


def character_errors(
    pairs: Pairs,
) -> tuple[Float[np.ndarray, " word"], Float[np.ndarray, " word"]]:
    """Edit distance and label length of every (prediction, label) pair."""
    errors = [edit_distance(prediction, label) for prediction, label in pairs]
    lengths = [len(label) for _, label in pairs]
    return np.array(errors, dtype=float), np.array(lengths, dtype=float)


def word_similarities(pairs: Pairs) -> Float[np.ndarray, " word"]:
    """1 - normalized edit distance of every (prediction, label) pair; no label may be empty."""
    similarities = []
    for prediction, label in pairs:
        longest = max(len(prediction), len(label))
        similarities.append(1 - edit_distance(prediction, label) / longest)
    return np.array(similarities, dtype=float)


def score(
    predictions: Sequence[str],
    labels: Sequence[str],
    unreadable: int = 0,
    missing: int = 0,
) -> Scores:
    """All metrics of readings against labels.

    Word accuracy under 36, 62, 94 and all characters with Wilson's interval; character accuracy
    and 1-NED under 94 and all characters with a bootstrap interval over words.

    Args:
        predictions: what was read, a text for each word; empty for damaged images.
        labels: what stands there, in the same order.
        unreadable: number of damaged images among them.
        missing: words that are not among them, for want of an image or a label.

    Raises:
        ValueError: for other numbers of predictions and labels.
    """
    values: dict[str, float] = {}
    interval: dict[str, Interval] = {}
    pairs = {
        protocol: normalize_pairs(predictions, labels, protocol)
        for protocol in WORD_PROTOCOLS.values()
    }
    for name, protocol in WORD_PROTOCOLS.items():
        right = sum(prediction == label for prediction, label in pairs[protocol])
        values[name] = _ratio(right, len(pairs[protocol]))
        interval[name] = wilson_interval(right, len(pairs[protocol]))
    for suffix, protocol in (("", 94), ("_full", FULL)):
        errors, lengths = character_errors(pairs[protocol])
        alike = word_similarities(pairs[protocol])
        accuracy = f"character_accuracy{suffix}"
        similarity = f"one_minus_ned{suffix}"
        values[accuracy] = _at_least_zero(1 - _ratio(errors.sum(), lengths.sum()))
        values[similarity] = _ratio(alike.sum(), len(alike))
        (low, high), interval[similarity] = bootstrap_intervals(
            [(errors, lengths), (alike, np.ones_like(alike))]
        )
        interval[accuracy] = _at_least_zero(1 - high), _at_least_zero(1 - low)
    return Scores(
        n=len(labels),
        values={name: values[name] for name in METRICS},
        interval={name: interval[name] for name in METRICS},
        left_out={name: len(labels) - len(pairs[METRICS[name]]) for name in METRICS},
        unreadable=unreadable,
        missing=missing,
        reduced=sum(normalize_label(label, 94) != label for label in labels),
    )


def _ratio(numerator: float | int, denominator: float | int) -> float:
    return float(numerator / denominator) if denominator else math.nan


def _at_least_zero(value: float) -> float:
    return value if math.isnan(value) else max(0.0, value)
