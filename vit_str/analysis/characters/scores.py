"""Scores of many words: means and differences with intervals, by model, head and group."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float64
from torch import Tensor

from vit_str.analysis.characters.localization import (
    LOWER_IS_BETTER,
    METRICS,
    Boxes,
    Looks,
    Truth,
    monotonic_share,
    score_characters,
    slices,
)
from vit_str.analysis.characters.measure import Combination, Word
from vit_str.analysis.geometry import TokenGrid
from vit_str.analysis.means import mean_over_images

SLICES = "equal-width slices"
LENGTHS = {
    "length 1-3": range(1, 4),
    "length 4-6": range(4, 7),
    "length 7-9": range(7, 10),
    "length 10+": range(10, 10_000),
}
GROUPS = ("all", "right", "wrong", *LENGTHS, "level", "rotated", "curved")
"""Groups of words, in the order of the tables."""
# In heights of a character: lines that rise or bow more than this are not level.
_RISE, _BOW = 0.5, 0.25


class AttentionSource(NamedTuple):
    """What looked: a model with one of its blocks and heads (None for the mean), or the slices."""

    model: str
    block: int | None
    head: int | None


@dataclass(frozen=True, slots=True)
class Score:
    """One number; blocks and heads count from 1.

    Attributes:
        model: as the user called it, or the equal-width slices.
        versus: who is compared with it on the same words, ``mean`` being this model's score minus
            that; None where it is the score itself.
        block: of the decoder; None for slices.
        head: of the block; None for the mean of all.
        group: which words: ``all``, ``right``, ``wrong``, ``length 1-3``, ``level``, ...
        metric: see ``localization.METRICS``.
        unit: of the numbers.
        mean: over words, of the mean over the characters of a word.
        low: lower end of its 95 % interval.
        high: upper end.
        n: number of words.
    """

    model: str
    versus: str | None
    block: int | None
    head: int | None
    group: str
    metric: str
    unit: str
    mean: float
    low: float
    high: float
    n: int


class Scoreboard:
    """Collects the scores of words.

    Args:
        model: the model that reads.
        others: models that wrote the same text.
        grid: of all of them.
        combination: which of the maps of a model make its boxes and its scores by group, the
            block counted from 0; of the model that reads, every block and head is scored on all
            words too.

    Attributes:
        chosen: the model that reads, the others and the slices, as they are compared.
        words: that were scored.
        characters: of them, with a true box.
        errors: signed sideways error of every character, in character widths, by source.
    """

    def __init__(
        self, model: str, others: Iterable[str], grid: TokenGrid, combination: Combination
    ) -> None:
        self.model, self.others, self.grid = model, list(others), grid
        self.combination = combination
        block, head = combination.block, combination.head
        models = [AttentionSource(name, block, head) for name in (model, *self.others)]
        self.chosen = [*models, AttentionSource(SLICES, None, None)]
        self.words = 0
        self.characters = 0
        self.errors: dict[AttentionSource, list[float]] = defaultdict(list)
        self._scores: dict[AttentionSource, list[list[float]]] = defaultdict(list)
        self._groups: list[set[str]] = []

    def add(self, word: Word) -> None:
        """Score one word; those without text say nothing."""
        if not word.text:
            return
        places = word.true_places()
        if word.true_boxes is not None and not places:
            return
        self.words += 1
        self.characters += len(places)
        self._groups.append(set(groups(word)))
        for source, looks in self._looks(word):
            self._scores[source].append(self._score(source, looks, word, places))

    def rows(self, seed: int = 0) -> list[Score]:
        """All scores with intervals from resampling words."""
        return [*self._plain(seed), *self._differences(seed)]

    def _looks(self, word: Word) -> Iterator[tuple[AttentionSource, Looks]]:
        blocks, heads = word.attention[self.model].shape[:2]
        every = [(b, h) for b in range(blocks) for h in (None, *range(heads))]
        for b, h in every:
            yield (
                AttentionSource(self.model, b, h),
                word.looks(self.model, self.grid, Combination(b, h)),
            )
        for source in self.chosen[1:-1]:
            yield source, word.looks(source.model, self.grid, self.combination)
        yield self.chosen[-1], slices(len(word.text), self.grid)

    def _score(
        self, source: AttentionSource, looks: Looks, word: Word, places: list[tuple[int, int]]
    ) -> list[float]:
        means = {"monotonic": monotonic_share(looks.centers)}
        if word.true_boxes is not None:
            truth = Truth.of_word(word.true_boxes)[[j for _, j in places]]
            looks = looks[[i for i, _ in places]]
            scores = score_characters(looks, truth, self.grid)
            means |= {name: float(values.mean()) for name, values in scores.items()}
            if source in self.chosen:
                self.errors[source] += _signed_errors(looks, truth.boxes)
        return [means.get(metric, float("nan")) for metric in METRICS]

    def _matrix(self, source: AttentionSource, group: str) -> Float64[Tensor, "word metric"]:
        kept = [
            row
            for row, names in zip(self._scores[source], self._groups, strict=True)
            if group in names
        ]
        return torch.tensor(kept, dtype=torch.float64)

    def _all_groups(self) -> list[str]:
        present = set().union(*self._groups) if self._groups else set()
        return [group for group in GROUPS if group in present]

    def _plain(self, seed: int) -> Iterator[Score]:
        for source in self._scores:
            for group in self._all_groups() if source in self.chosen else ["all"]:
                yield from _rows(source, None, group, self._matrix(source, group), seed)

    def _differences(self, seed: int) -> Iterator[Score]:
        for group in self._all_groups():
            for other in self.chosen[1:]:
                first, second = (self._matrix(each, group) for each in (self.chosen[0], other))
                yield from _rows(self.chosen[0], other.model, group, first - second, seed)


def groups(word: Word) -> Iterator[str]:
    """The groups that a word belongs to."""
    yield "all"
    if word.right is not None:
        yield "right" if word.right else "wrong"
    length = len(word.text if word.label is None else word.label)
    yield from (name for name, lengths in LENGTHS.items() if length in lengths)
    if word.true_boxes is not None and len(word.true_boxes) > 1:
        yield from slope(word.true_boxes)


def slope(boxes: Boxes) -> list[str]:
    """``rotated``, ``curved`` or both, or ``level``: how the middles of true boxes run.

    A line rises by more than half the height of a character, or bows by more than a quarter,
    measured by the parabola of least squares through the middles.
    """
    middles = ((boxes[:, :2] + boxes[:, 2:]) / 2).numpy()
    height = max(float((boxes[:, 3] - boxes[:, 1]).mean()), 1.0)
    x = middles[:, 0] - middles[:, 0].mean()
    x = x / max(np.abs(x).max(), 1.0)
    degree = 2 if len(x) > 3 else 1  # a parabola goes through any three points
    powers = np.vander(x, degree + 1)
    *bow, rise, _ = np.linalg.lstsq(powers, middles[:, 1], rcond=None)[0]
    names = ["rotated"] * bool(2 * abs(rise) / height > _RISE)
    names += ["curved"] * bool(bow and abs(bow[0]) / height > _BOW)
    return names or ["level"]


def comparisons(rows: Iterable[Score], other: str = SLICES) -> list[Score]:
    """Differences to something else; without reading direction, which slices have by nature."""
    return [row for row in rows if row.versus == other and row.metric != "monotonic"]


def not_better(rows: Iterable[Score], than: str = SLICES) -> list[Score]:
    """Differences in which the model is not shown to be better than something else.

    Their 95 % interval holds zero, or the other is better.
    """
    return [
        row
        for row in comparisons(rows, than)
        if not (row.high < 0 if row.metric in LOWER_IS_BETTER else row.low > 0)
    ]


def _rows(
    source: AttentionSource,
    versus: str | None,
    group: str,
    values: Float64[Tensor, "word metric"],
    seed: int,
) -> Iterator[Score]:
    means = mean_over_images(values, seed)
    counts = (~values.isnan()).sum(0).tolist()
    block, head = (None if place is None else place + 1 for place in source[1:])
    for place, (metric, unit) in enumerate(METRICS.items()):
        if counts[place]:
            mean, low, high = (float(each[place]) for each in means[:3])
            yield Score(
                *(source.model, versus, block, head, group, metric, unit),
                *(mean, low, high, counts[place]),
            )


def _signed_errors(looks: Looks, boxes: Boxes) -> list[float]:
    widths = (boxes[:, 2] - boxes[:, 0]).clamp(min=1)
    errors = (looks.centers[:, 0] - (boxes[:, 0] + boxes[:, 2]) / 2) / widths
    return [float(error) for error in errors]
