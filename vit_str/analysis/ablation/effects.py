"""Losses of reading without some heads, word by word."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from vit_str.analysis.ablation.calls import Head
from vit_str.analysis.compare import holm
from vit_str.evaluation.statistics import Interval, mcnemar, wilson_interval

WHOLE = "no head"
"""The name of the row in which no head is cut."""
FARTHEST = "farthest first"
NEAREST = "nearest first"
RANDOM = "random order"
"""Orders of heads, of which the first 1, 2, ... are cut; random ones have a number after it."""
FAR = "farthest of each layer"
NEAR = "nearest of each layer"
ANY = "random of each layer"
"""Sets of as many heads of each layer; random ones have a number after it."""


class Reading(NamedTuple):
    """Readings without some heads, word by word."""

    cut: str
    heads: tuple[Head, ...]
    texts: list[str]
    right: list[bool]


def effects(whole: Reading, readings: Sequence[Reading]) -> pd.DataFrame:
    """Share of words read right without some heads, and the paired difference to no cut.

    ``low`` and ``high`` are the ends of its 95 % interval, see `difference_interval`.
    ``p`` is of McNemar's exact test, ``p_holm`` corrected for the number of rows with one head cut
    (Holm 1979).
    """
    rows = []
    before = np.array(whole.right)
    n = len(before)
    for reading in (whole, *readings):
        after = np.array(reading.right)
        lost = int((before & ~after).sum())
        gained = int((after & ~before).sum())
        both = int((before & after).sum())
        low, high = difference_interval(both, lost, gained, n)
        is_single = len(reading.heads) == 1
        row = {
            "cut": reading.cut,
            "heads": len(reading.heads),
            "layer": reading.heads[0].layer if is_single else pd.NA,
            "head": reading.heads[0].head if is_single else pd.NA,
            "accuracy": float(after.mean()),
            "difference": (gained - lost) / n,
            "low": low,
            "high": high,
            "lost": lost,
            "gained": gained,
            "p": mcnemar(lost, gained),
            "n": n,
        }
        rows.append(row)
    table = pd.DataFrame(rows)
    single = table["cut"].str.startswith("layer ")
    table["p_holm"] = holm(table.loc[single, "p"]).reindex(table.index)
    return table.astype({"layer": "Int64", "head": "Int64"})


def near_against_far(
    near: Reading, far: Reading, random: Sequence[Reading]
) -> dict[str, object]:
    """Whether reading loses more without near heads than without as many far ones.

    ``difference`` is near minus far of the words read right without them, with its 95 % interval
    and ``p`` of McNemar's exact test, both paired by word. ``rank_near`` and ``rank_far`` are the
    share of random sets, it among them, without which no more words are read right: a one-sided p
    against sets of any heads.
    """
    nearest = np.array(near.right)
    farthest = np.array(far.right)
    n = len(nearest)
    only_near = int((nearest & ~farthest).sum())
    only_far = int((farthest & ~nearest).sum())
    both = int((nearest & farthest).sum())
    low, high = difference_interval(both, only_far, only_near, n)
    return {
        "heads": len(near.heads),
        "near": float(nearest.mean()),
        "far": float(farthest.mean()),
        "difference": (only_near - only_far) / n,
        "low": low,
        "high": high,
        "p": mcnemar(only_near, only_far),
        "rank_near": _rank(near, random),
        "rank_far": _rank(far, random),
        "random_sets": len(random),
        "n": n,
    }


def _rank(reading: Reading, random: Sequence[Reading]) -> float:
    """Share of sets, this one among them, without which no more words are read right."""
    right = sum(reading.right)
    as_low = sum(sum(other.right) <= right for other in random)
    return (1 + as_low) / (1 + len(random))


def difference_interval(both: int, lost: int, gained: int, n: int) -> Interval:
    """95 % interval of the difference of two shares of the same words, after minus before.

    It is never empty and never beyond 100 points (Newcombe 1998, Statistics in Medicine 17, method
    10: Wilson's intervals of both shares, put together with their correlation).

    Args:
        both: words that are right before and after.
        lost: words that are right before only.
        gained: words that are right after only.
        n: all words.
    """
    neither = n - both - lost - gained
    before = both + lost
    after = both + gained
    low_before, high_before = wilson_interval(before, n)
    low_after, high_after = wilson_interval(after, n)
    scale = math.sqrt(before * (n - before) * after * (n - after))
    covariance = float(both * neither - lost * gained)
    if covariance > 0:  # with a correction for continuity
        covariance = max(covariance - n / 2, 0.0)
    correlation = covariance / scale if scale else 0.0
    difference = (gained - lost) / n
    share_before = before / n
    share_after = after / n
    down = _joined(share_after - low_after, high_before - share_before, correlation)
    up = _joined(high_after - share_after, share_before - low_before, correlation)
    return max(difference - down, -1.0), min(difference + up, 1.0)


def _joined(one: float, other: float, correlation: float) -> float:
    """Length of the difference of two errors with a correlation."""
    square = one**2 - 2 * correlation * one * other + other**2
    return math.sqrt(max(square, 0.0))


def random_sets(table: pd.DataFrame, name: str) -> pd.DataFrame:
    """Accuracy without random sets of heads, by their number: mean, lowest and highest of draws."""
    rows = table[table["cut"].str.fullmatch(rf"{name} \d+")]
    accuracy = rows.groupby("heads")["accuracy"]
    return accuracy.agg(["mean", "min", "max", "count"]).reset_index()
