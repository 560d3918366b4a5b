"""How well the words of a page are found and read, by the protocols of ICDAR 2015.

A found word matches a label one to one if their overlap (intersection over union) is above 0.5;
reading counts too if the texts are the same but for case and one mark at either end of the label.
Found words that lie by more than half in a region that is not judged do not count. Pages whose
labels are lines are scored by their words as a bag.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Int32
from shapely import Polygon
from shapely.geometry.base import BaseGeometry

from vit_str.evaluation.pages.labels import Label
from vit_str.evaluation.statistics import bootstrap
from vit_str.pages.page import Page, Word

_OVERLAP = 0.5  # intersection over union from which on a word is found
OUTCOMES = ("read", "read wrong", "cut wrong", "not found")
_LINES = 0.2  # share of labels with spaces from which on they are lines, not words
_MARKS = "!?.:,*\"()[]/'-"


class LabelOutcome(NamedTuple):
    """Outcome of a judged label: ``read``, or where it was lost."""

    label: str
    outcome: str
    found: str


@dataclass(frozen=True, slots=True)
class PageScore:
    """Counts of one picture."""

    labels: int  # judged labels
    words: int  # found words that count
    detected: int  # matches by place
    read: int  # matches by place and text
    # Words in both the labels and the page, found words and labelled words, without places
    bag: tuple[int, int, int]
    plain_bag: tuple[int, int, int]  # the same of their letters and digits alone
    # What became of each judged label
    label_outcomes: tuple[LabelOutcome, ...] = field(repr=False)


def score_page(page: Page, labels: Sequence[Label]) -> PageScore:
    """Compare the words of a page with its labels."""
    judged = [label for label in labels if label.is_judged]
    unjudged = [_shape(label.polygon) for label in labels if not label.is_judged]
    words = []
    for word in page.words:
        shape = _shape(word.polygon)
        if not any(_inside(shape, region) > _OVERLAP for region in unjudged):
            words.append((word, shape))
    free = dict(enumerate(words))
    label_outcomes = []
    for label in judged:
        shape = _shape(label.polygon)
        matches = (i for i, (_, place) in free.items() if _iou(shape, place) > _OVERLAP)
        match = next(matches, None)
        if match is None:
            label_outcomes.append(_lost(label, shape, words))
            continue
        word = free.pop(match)[0]
        outcome = "read" if same_text(label.text, word.text) else "read wrong"
        label_outcomes.append(LabelOutcome(label.text, outcome, word.text))
    outcomes = Counter(label.outcome for label in label_outcomes)
    detected = outcomes["read"] + outcomes["read wrong"]
    found = _all_parts(word.text for word, _ in words)
    wanted = _all_parts(label.text for label in judged)
    return PageScore(
        labels=len(judged),
        words=len(words),
        detected=detected,
        read=outcomes["read"],
        bag=_bag(found, wanted),
        plain_bag=_bag(_plain_words(found), _plain_words(wanted)),
        label_outcomes=tuple(label_outcomes),
    )


def same_text(label: str, text: str) -> bool:
    """Whether the text is that of the label; case and a mark at either end of it are no matter."""
    text = text.casefold()
    label = label.casefold()
    accepted = {label}
    if label[:1] in _MARKS:
        accepted.add(label[1:])
    if label[-1:] in _MARKS:
        accepted |= {whole[:-1] for whole in accepted}
    return text in accepted


def _all_parts(texts: Iterable[str]) -> list[str]:
    return list(chain.from_iterable(map(parts_of, texts)))


def scores(pages: Sequence[PageScore]) -> dict[str, dict[str, Any]]:
    """How well words are found, found and read, and read wherever they are.

    Returns:
        For each, precision, recall and their harmonic mean, and its 95 % interval over pictures.
    """
    detected = [(page.detected, page.words, page.labels) for page in pages]
    read = [(page.read, page.words, page.labels) for page in pages]
    return {
        "detection": _score(detected),
        "end_to_end": _score(read),
        "bag_of_words": _score([page.bag for page in pages]),
        "letters_and_digits": _score([page.plain_bag for page in pages]),
    }


def summary(found: Sequence[PageScore | None]) -> dict[str, Any]:
    """All figures of some pictures, as plain values."""
    pages = [score for score in found if score is not None]
    labels = list(chain.from_iterable(page.label_outcomes for page in pages))
    outcomes = Counter(label.outcome for label in labels)
    lines = sum(" " in label.label for label in labels)
    return {
        "pictures": len(pages),
        "labels": len(labels),
        "labels_are_lines": lines > _LINES * max(1, len(labels)),
        **scores(pages),
        "outcomes": {name: outcomes[name] for name in OUTCOMES},
    }


def compare(
    first: Sequence[PageScore | None], second: Sequence[PageScore | None]
) -> dict[str, Any]:
    """By how much the harmonic mean of reading rises, second minus first, on the same pictures."""
    both = [(a, b) for a, b in zip(first, second, strict=True) if a and b]

    def counts_of(pair: Iterable[PageScore]) -> list[tuple[int, int, int]]:
        return [(page.read, page.words, page.labels) for page in pair]

    counts = np.array(list(map(counts_of, both)))

    def difference(chosen: np.ndarray) -> float:
        before, after = counts[chosen].sum(0)
        return _harmonic_mean(*after) - _harmonic_mean(*before)

    everything = difference(np.arange(len(both)))
    return {"end_to_end": everything, "interval": bootstrap(len(both), difference)}


def _score(pages: Sequence[tuple[int, int, int]]) -> dict[str, Any]:
    """Precision, recall and harmonic mean, from hits, found words and labels of every page."""
    counts = np.array(pages)
    hits, found, labels = counts.sum(0)

    def harmonic_mean(chosen: Int32[np.ndarray, " page"]) -> float:
        return _harmonic_mean(*counts[chosen].sum(0))

    return {
        "precision": float(hits / max(found, 1)),
        "recall": float(hits / max(labels, 1)),
        "harmonic_mean": _harmonic_mean(hits, found, labels),
        "interval": bootstrap(len(counts), harmonic_mean),
    }


def _harmonic_mean(hits: float, found: float, labels: float) -> float:
    return float(2 * hits / max(found + labels, 1))


def parts_of(text: str) -> list[str]:
    """The text without white space, in lower case."""
    return text.casefold().split()


def plain(word: str) -> str:
    """The letters and digits of a word."""
    return "".join(filter(str.isalnum, word))


def _plain_words(words: Sequence[str]) -> list[str]:
    return list(filter(None, map(plain, words)))


def _bag(found: Sequence[str], wanted: Sequence[str]) -> tuple[int, int, int]:
    return (Counter(found) & Counter(wanted)).total(), len(found), len(wanted)


def _lost(
    label: Label, shape: BaseGeometry, words: Sequence[tuple[Word, BaseGeometry]]
) -> LabelOutcome:
    """Whether a label without a match was not found at all, or cut elsewhere than it ends."""
    shares = [(_inside(shape, place), word.text) for word, place in words]
    covered, text = max(shares, default=(0.0, ""))
    parts = max((_inside(place, shape) for _, place in words), default=0.0)
    is_found = max(covered, parts) > _OVERLAP
    return LabelOutcome(label.text, "cut wrong" if is_found else "not found", text)


def _shape(polygon: object) -> BaseGeometry:
    """The area that four corners enclose, in whatever order they are given."""
    shape = Polygon(np.asarray(polygon))
    return shape.buffer(0) if shape.is_valid else shape.convex_hull


def _inside(shape: BaseGeometry, region: BaseGeometry) -> float:
    """Share of a shape that lies in a region."""
    return float(shape.intersection(region).area / max(shape.area, 1e-9))


def _iou(shape: BaseGeometry, region: BaseGeometry) -> float:
    shared = shape.intersection(region).area
    return float(shared / max(shape.area + region.area - shared, 1e-9))
