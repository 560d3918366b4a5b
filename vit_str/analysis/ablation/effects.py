"""What reading loses without some heads, word by word."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from vit_str.analysis.ablation.cut import Head
from vit_str.analysis.compare import holm
from vit_str.evaluation.statistics import Interval, mcnemar, wilson_interval

WHOLE = "no head"
"""What is cut where nothing is."""


class Reading(NamedTuple):
    """What was read without some heads, word by word."""

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
