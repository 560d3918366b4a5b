"""Two models on the same words: the difference in word accuracy and how sure it is."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool

from vit_str.evaluation import ReadWords, aligned, percent, together
from vit_str.evaluation.markdown import table
from vit_str.images import one_line
from vit_str.metrics import WORD_PROTOCOLS, Interval, Protocol, bootstrap_interval
from vit_str.pages.markdown import plain

SHOWN = ("word_accuracy_36", "word_accuracy_94", "word_accuracy_full")
"""Metrics that are compared."""


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """How much better the second is.

    Attributes:
        n: words.
        difference: share of words that the second reads right minus that of the first; nan
            without any word.
        interval: its 95 % interval, from drawing words with replacement.
        only_first: words that only the first reads right.
        only_second: words that only the second reads right.
        p_value: of McNemar's exact test, see `mcnemar`.
    """

    n: int
    difference: float
    interval: Interval
    only_first: int
    only_second: int
    p_value: float

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; None where there was nothing to compare."""
        if not self.n:
            return asdict(self) | {"difference": None, "interval": [None, None]}
        return asdict(self) | {"interval": list(self.interval)}


def paired_difference(
    right_first: Bool[np.ndarray, " word"] | Sequence[bool],
    right_second: Bool[np.ndarray, " word"] | Sequence[bool],
) -> PairedDifference:
    """Second minus first, word by word, so that what makes words easy or hard cancels.

    Args:
        right_first: which words the first reads right.
        right_second: which of the same words the second reads right.

    Raises:
        ValueError: not the same number of words.
    """
    first, second = np.asarray(right_first, dtype=bool), np.asarray(right_second, dtype=bool)
    if first.shape != second.shape:
        raise ValueError(
            f"a paired comparison needs the same words, found {len(first)} and {len(second)}"
        )
    gains = second.astype(float) - first.astype(float)
    only_first, only_second = int((first & ~second).sum()), int((second & ~first).sum())
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

    Of the words that one reads right and the other wrong, each would then be the one's or the
    other's like a coin falls. 1 without such words.

    Args:
        only_first: words that only the first reads right.
        only_second: words that only the second reads right.
    """
    n, fewer = only_first + only_second, min(only_first, only_second)
    ways, outcomes = 1, 0  # whole numbers: no rounding however small the share becomes
    for heads in range(fewer + 1):
        outcomes += ways
        ways = ways * (n - heads) // (heads + 1)
    return min(1.0, 2 * outcomes / 2**n)


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two models set by set.

    Attributes:
        names: of the two.
        first: set -> what the first reads.
        second: set -> what the second reads in the same images.

    Raises:
        ValueError: not the same sets or words.
    """

    names: tuple[str, str]
    first: dict[str, ReadWords]
    second: dict[str, ReadWords]

    def __post_init__(self) -> None:
        labels = [{name: each.labels for name, each in sets.items()} for sets in self._both]
        if labels[0] != labels[1]:
            raise ValueError("a paired comparison needs the same sets of words, read by both")

    @property
    def _both(self) -> tuple[dict[str, ReadWords], dict[str, ReadWords]]:
        return self.first, self.second

    def differences(self, protocol: Protocol = 36) -> dict[str, PairedDifference]:
        """Set -> difference in words right under a protocol; several sets together are ``all``."""
        pairs = {
            name: (words.right(protocol), self.second[name].right(protocol))
            for name, words in self.first.items()
        }
        if len(pairs) > 1:
            first, second = (together(sets.values()).right(protocol) for sets in self._both)
            pairs["all"] = first, second
        return {name: paired_difference(*pair) for name, pair in pairs.items()}

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON, fractions: differences by metric of ``SHOWN`` and set."""
        differences = {
            metric: {
                name: each.to_dict()
                for name, each in self.differences(WORD_PROTOCOLS[metric]).items()
            }
            for metric in SHOWN
        }
        return {"first": self.names[0], "second": self.names[1], "differences": differences}

    def rows(self, protocol: Protocol) -> list[tuple[str, ...]]:
        """A table of differences under a protocol, its titles first."""
        titles = (f"word {protocol}", "words", "difference", *map("only {}".format, self.names))
        rows = [(*titles, "McNemar p")]
        for name, each in self.differences(protocol).items():
            only = f"{each.only_first:,}", f"{each.only_second:,}"
            difference = percent(each.difference, each.interval)
            rows.append((one_line(name), f"{each.n:,}", difference, *only, f"{each.p_value:.2g}"))
        return rows

    def note(self) -> str:
        """What the columns are."""
        first, second = self.names
        return (
            f"{second} minus {first}, points [95 % interval over words]; words that "
            "only one of them reads right, and the chance of so uneven a split of equals"
        )

    def table(self) -> str:
        """Text for a terminal: percent with the 95 % interval in brackets."""
        tables = ["\n".join(aligned(self.rows(WORD_PROTOCOLS[metric]))) for metric in SHOWN]
        return "\n\n".join(tables) + f"\n{self.note()}"

    def markdown(self) -> list[str]:
        """A section of a page: the tables and what is in them."""
        lines = [f"## {plain(self.names[1])} against {plain(self.names[0])}", ""]
        for metric in SHOWN:
            lines += [*table(self.rows(WORD_PROTOCOLS[metric])), ""]
        return [*lines, f"Difference: {plain(self.note())} (McNemar's exact test)."]
