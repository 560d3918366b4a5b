"""How sure a share or a difference is: 95 % intervals and an exact test.

Bootstrap intervals are percentiles of resamples (Efron 1979). The same values and seed give the
same interval. Every evaluation needs these few formulas, also in a base install, which has no
SciPy: it would be half as large again. The tests compare with SciPy.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass
from itertools import chain
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int32

Interval = tuple[float, float]

RESAMPLES = 1000  # of a bootstrap
_NORMAL_POINT = 1.959964  # standard deviations that hold the middle 95 %
_MIDDLE = [2.5, 97.5]  # percentiles that hold it


def plain_values(value: Any) -> Any:
    """Values as JSON has them: dataclasses as objects, tuples as lists, None in place of NaN."""
    if is_dataclass(value):
        names = (field.name for field in fields(value))
        return {name: plain_values(getattr(value, name)) for name in names}
    if isinstance(value, dict):
        return {name: plain_values(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain_values(item) for item in value]
    return None if isinstance(value, float) and math.isnan(value) else value


def wilson_interval(successes: int, n: int) -> Interval:
    """95 % interval of a share, good for few words and near 0 and 1 (Wilson 1927).

    The interval of nothing is (0, 1).
    """
    if n == 0:
        return 0.0, 1.0
    z = _NORMAL_POINT
    share = successes / n
    scale = 1 + z * z / n
    center = (share + z * z / (2 * n)) / scale
    variance = share * (1 - share) / n
    spread = math.sqrt(variance + z * z / (4 * n * n))
    half = z / scale * spread
    return max(0.0, center - half), min(1.0, center + half)


def resamples(n: int, seed: int = 0) -> Iterator[Int32[np.ndarray, " n"]]:
    """Indices of ``n`` items drawn with replacement, again and again."""
    generator = np.random.default_rng(seed)
    for _ in range(RESAMPLES):  # all at once would take a thousand times n of memory
        yield generator.integers(n, size=n, dtype=np.int32)


def percentile_interval(values: Float[np.ndarray, " resample"]) -> Interval:
    """The middle 95 % of what resamples gave."""
    low, high = np.percentile(values, _MIDDLE)
    return float(low), float(high)


def bootstrap(
    n: int, statistic: Callable[[Int32[np.ndarray, " n"]], float]
) -> Interval:
    """95 % interval of a statistic of items, from their indices in each of the resamples."""
    values = [statistic(drawn) for drawn in resamples(n)]
    return percentile_interval(np.array(values))


def bootstrap_interval(
    numerators: Float[np.ndarray, " word"], denominators: Float[np.ndarray, " word"]
) -> Interval:
    """95 % interval of sum(numerators) / sum(denominators), drawing words with replacement.

    The interval of nothing is (nan, nan).
    """
    return bootstrap_intervals([(numerators, denominators)])[0]


def bootstrap_intervals(
    ratios: Sequence[tuple[Float[np.ndarray, " word"], Float[np.ndarray, " word"]]],
) -> list[Interval]:
    """`bootstrap_interval` of several (numerators, denominators) of the same words at once."""
    n = len(ratios[0][0])
    if n == 0:
        return [(math.nan, math.nan)] * len(ratios)
    columns = np.stack(list(chain.from_iterable(ratios)), axis=1)
    counts = (np.bincount(drawn, minlength=n).astype(float) for drawn in resamples(n))
    sums = np.stack([of_words @ columns for of_words in counts])
    drawn_ratios = sums[:, ::2] / sums[:, 1::2]
    return [percentile_interval(column) for column in drawn_ratios.T]


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """How much better the second of two models is on the same words."""

    n: int  # words
    # Share of words that the second reads right minus that of the first; nan without any word
    difference: float
    interval: Interval  # its 95 % interval, from drawing words with replacement
    only_first: int  # words that only the first reads right
    only_second: int  # words that only the second reads right
    p_value: float  # of McNemar's exact test, see `mcnemar`


def paired_difference(
    right_first: Bool[np.ndarray, " word"] | Sequence[bool],
    right_second: Bool[np.ndarray, " word"] | Sequence[bool],
) -> PairedDifference:
    """Second minus first, word by word, so that what makes words easy or hard cancels.

    Raises:
        ValueError: for other numbers of words.
    """
    first = np.asarray(right_first, dtype=bool)
    second = np.asarray(right_second, dtype=bool)
    if first.shape != second.shape:
        raise ValueError(
            f"a paired comparison needs the same words, found {len(first)} and "
            f"{len(second)}"
        )
    gains = second.astype(float) - first.astype(float)
    only_first = int((first & ~second).sum())
    only_second = int((second & ~first).sum())
    return PairedDifference(
        n=len(gains),
        difference=float(gains.mean()) if len(gains) else math.nan,
        interval=bootstrap_interval(gains, np.ones_like(gains)),
        only_first=only_first,
        only_second=only_second,
        p_value=mcnemar(only_first, only_second),
    )


def mcnemar(only_first: int, only_second: int) -> float:
    """Two-sided p-value of as uneven a split if both were equally good (McNemar 1947, exact).

    Each word that only one reads right is a toss of a coin then. 1 without such words.
    """
    n = only_first + only_second
    fewer = min(only_first, only_second)
    outcomes = sum(math.comb(n, heads) for heads in range(fewer + 1))
    return min(1.0, 2 * outcomes / 2**n)


def percent(value: float, interval: Sequence[float]) -> str:
    """A share and its interval for a table."""
    if math.isnan(value):
        return "-"
    low, high = interval
    return f"{100 * value:.1f} [{100 * low:.1f}, {100 * high:.1f}]"
