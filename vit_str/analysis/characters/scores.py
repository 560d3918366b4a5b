"""Scores of many words: means and differences with intervals, by model, head and group."""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator

import numpy as np
import pandas as pd
import torch
from jaxtyping import Float64
from torch import Tensor

from vit_str.analysis.characters.localization import (
    LOWER_IS_BETTER,
    METRICS,
    Boxes,
    CharacterAttention,
    monotonic_share,
    score_characters,
    slices,
)
from vit_str.analysis.characters.measure import Source, Word
from vit_str.analysis.geometry import TokenGrid
from vit_str.analysis.results import means_table

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
_RISE = 0.5
_BOW = 0.25


COLUMNS = [
    "model",
    "versus",
    "block",
    "head",
    "group",
    "metric",
    "unit",
    "mean",
    "low",
    "high",
    "n",
]
"""Of a score: a mean over ``n`` words of the means over their characters, with its 95 % interval.

With ``versus`` it is the difference to the score of that model (or of slices) on the same words.
Blocks (missing for slices) and heads (missing for the mean of all) count from 1. Groups are those
of `GROUPS`, metrics those of ``localization.METRICS``.
"""


class Scoreboard:
    """Collects the scores of words.

    Args:
        source: whose maps make boxes and scores by group; every other block and head of the model
            is scored on all words too.
        others: models that wrote the same text, for the same block and head.
        grid: of all of them.

    Attributes:
        chosen: source, others and slices, as they are compared.
        words: that were scored.
        characters: of them, with a true box, that were read right.
        drawn: characters with a true box of all words, read right or not.
        errors: signed sideways error of every character, in character widths, by source.
    """

    def __init__(self, source: Source, others: Iterable[str], grid: TokenGrid) -> None:
        self.source = source
        self.grid = grid
        of_others = [source._replace(model=name) for name in others]
        self.chosen = [source, *of_others, Source(SLICES, None)]
        self.words = 0
        self.characters = 0
        self.drawn = 0
        self.errors: dict[Source, list[float]] = defaultdict(list)
        self._scores: dict[Source, list[list[float]]] = defaultdict(list)
        self._groups: list[set[str]] = []

    def add(self, word: Word) -> None:
        """Score one word; those without text say nothing."""
        places = word.true_places()
        if word.true_boxes is not None:
            has_width = word.true_boxes[:, 2] > word.true_boxes[:, 0]
            self.drawn += int(has_width.sum())
        if not word.text or (word.true_boxes is not None and not places):
            return
        self.words += 1
        self.characters += len(places)
        self._groups.append(set(groups(word)))
        for source, attended in self._attended(word).items():
            means = {"monotonic": monotonic_share(attended.centers)}
            if word.true_boxes is not None:
                scores = score_characters(attended, word.true_boxes, places, self.grid)
                offsets = scores.pop("offset").tolist()
                for name, values in scores.items():
                    means[name] = float(values.mean())
                if source in self.chosen:
                    self.errors[source] += offsets
            row = [means.get(metric, math.nan) for metric in METRICS]
            self._scores[source].append(row)

    def _attended(self, word: Word) -> dict[Source, CharacterAttention]:
        """Maps of every block and head, of other models and of slices."""
        blocks, heads = word.attention[self.source.model].shape[:2]
        model = self.source.model
        of_block = (None, *range(heads))
        sources = []
        for block in range(blocks):
            sources += [Source(model, block, head) for head in of_block]
        sources += self.chosen[1:-1]
        attended = {}
        for source in sources:
            attended[source] = word.character_attention(source, self.grid)
        attended[self.chosen[-1]] = slices(len(word.text), self.grid)
        return attended

    def rows(self) -> pd.DataFrame:
        """All scores, and differences to the first source, with intervals over words."""
        present = set().union(*self._groups)
        groups = [group for group in GROUPS if group in present]
        if not groups:
            return pd.DataFrame(columns=COLUMNS)
        tables = []
        for source in self._scores:
            of_source = groups if source in self.chosen else ["all"]
            tables += [self._means(source, group) for group in of_source]
        first, *others = self.chosen
        for group in groups:
            own = self._matrix(first, group)
            for other in others:
                values = own - self._matrix(other, group)
                tables += [_table(first, other.model, group, values)]
        return pd.concat(tables, ignore_index=True)

    def _means(self, source: Source, group: str) -> pd.DataFrame:
        return _table(source, "", group, self._matrix(source, group))

    def _matrix(self, source: Source, group: str) -> Float64[Tensor, "word metric"]:
        pairs = zip(self._scores[source], self._groups, strict=True)
        rows = [row for row, names in pairs if group in names]
        return torch.tensor(rows, dtype=torch.float64)


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
    names = []
    if 2 * abs(rise) / height > _RISE:
        names.append("rotated")
    if bow and abs(bow[0]) / height > _BOW:
        names.append("curved")
    return names or ["level"]


def comparisons(rows: pd.DataFrame) -> pd.DataFrame:
    """Differences to slices; without reading direction, which slices have by construction."""
    return rows[(rows["versus"] == SLICES) & (rows["metric"] != "monotonic")]


def not_better(rows: pd.DataFrame) -> pd.DataFrame:
    """Comparisons whose 95 % interval includes zero, or in which slices are better."""
    compared = comparisons(rows)
    should_be_low = compared["metric"].isin(LOWER_IS_BETTER)
    is_lower = should_be_low & (compared["high"] < 0)
    is_higher = ~should_be_low & (compared["low"] > 0)
    return compared[~(is_lower | is_higher)]


def _table(
    source: Source, versus: str, group: str, values: Float64[Tensor, "word metric"]
) -> pd.DataFrame:
    block, head = source.counted
    table = means_table(
        values,
        model=source.model,
        versus=versus,
        block=block,
        head=head,
        group=group,
        metric=list(METRICS),
        unit=list(METRICS.values()),
    )
    table["n"] = (~values.isnan()).sum(0).numpy()
    return table[table["n"] > 0].astype({"block": "Int64", "head": "Int64"})
