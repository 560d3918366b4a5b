"""Accuracy of variants and their differences to the first, as Markdown and as plain values.

Part of equal_budget.py.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from vit_str.evaluation.metrics import character_accuracy
from vit_str.evaluation.statistics import (
    Interval,
    bootstrap_interval,
    paired_difference,
    plain_values,
    wilson_interval,
)
from vit_str.evaluation.words.results import ReadWords, together

Words = dict[str, ReadWords]

_TOGETHER = "all"


@dataclass(frozen=True, slots=True)
class VariantReadings:
    """What the runs of a variant read.

    Attributes:
        name: of the variant.
        real: per seed, set -> words; together they are `all`.
        hard: per seed, set -> words that do not count in `all`.
        summaries: per seed, what is known of the training.
    """

    name: str
    real: list[Words]
    hard: list[Words]
    summaries: list[dict[str, Any]]

    def groups(self) -> dict[str, list[ReadWords]]:
        """Set -> words per seed: real sets, all of them together, hard sets."""
        seeds = []
        for real, hard in zip(self.real, self.hard, strict=True):
            whole = {_TOGETHER: together(real.values())} if real else {}
            seeds.append(real | whole | hard)
        return {name: [words[name] for words in seeds] for name in seeds[0]}


def results(variants: Sequence[VariantReadings]) -> list[dict[str, Any]]:
    """Plain values for JSON: fractions."""
    first = variants[0].groups()
    found = []
    for number, variant in enumerate(variants):
        sets = {}
        for name, seeds in variant.groups().items():
            sets[name] = _scores(seeds)
            if number:
                sets[name]["difference"] = _difference(first[name], seeds)
        values = {"variant": variant.name, "runs": variant.summaries, "sets": sets}
        found.append(values)
    return found


def markdown(found: Sequence[dict[str, Any]], title: str) -> str:
    """Two tables: accuracies, and differences to the first variant."""
    names = list(found[0]["sets"])
    accuracies = [["variant", *names, "characters", "minutes"]]
    differences = [["variant", *names, "p", "by seed"]]
    chief = _TOGETHER if _TOGETHER in names else names[0]
    for variant in found:
        sets = variant["sets"]
        minutes = sum(run["minutes"] for run in variant["runs"])
        cells = [
            percent(sets[name]["accuracy"], sets[name]["interval"]) for name in names
        ]
        characters = f"{100 * sets[chief]['character_accuracy']:.1f}"
        accuracies.append([variant["variant"], *cells, characters, f"{minutes:.1f}"])
        if "difference" in sets[chief]:
            pairs = {name: sets[name]["difference"] for name in names}
            cells = [points(pair["mean"], pair["interval"]) for pair in pairs.values()]
            p_values = ", ".join(
                f"{seed['p_value']:.2g}" for seed in pairs[chief]["seeds"]
            )
            by_seed = ", ".join(
                f"{100 * s['difference']:+.1f}" for s in pairs[chief]["seeds"]
            )
            differences.append([variant["variant"], *cells, p_values, by_seed])
    n = ", ".join(f"{name} {found[0]['sets'][name]['n']:,}" for name in names)
    first = found[0]["variant"]
    parts = [
        f"{title}.",
        "Word accuracy (36 characters), percent [95 % interval over words]; words: "
        f"{n}. `characters`: character accuracy (94) of {chief}.",
        table(accuracies),
    ]
    if len(differences) > 1:
        parts += [
            f"Difference to {first!r} on the same words, points [95 % interval over "
            f"words]; `p`: McNemar's exact test on {chief}. Neither knows how far "
            "two seeds of one variant lie apart.",
            table(differences),
        ]
    return "\n\n".join(parts)


def _scores(seeds: Sequence[ReadWords]) -> dict[str, Any]:
    shares = _shares(seeds)
    characters = [character_accuracy(words.texts, words.labels) for words in seeds]
    return {
        "n": len(shares),
        "accuracy": float(shares.mean()),
        "interval": _interval(shares, len(seeds)),
        "accuracy_by_seed": [float(words.right().mean()) for words in seeds],
        "character_accuracy": float(np.mean(characters)),
    }


def _difference(
    first: Sequence[ReadWords],
    second: Sequence[ReadWords],
) -> dict[str, Any]:
    gains = _shares(second) - _shares(first)
    pairs = zip(first, second, strict=True)
    return {
        "mean": float(gains.mean()),
        "interval": bootstrap_interval(gains, np.ones_like(gains)),
        "seeds": [
            plain_values(paired_difference(a.right(), b.right())) for a, b in pairs
        ],
    }


def _shares(seeds: Sequence[ReadWords]) -> Float[np.ndarray, " word"]:
    """Of every word, the share of the runs that read it right."""
    return np.stack([words.right() for words in seeds]).mean(0)


def _interval(shares: Float[np.ndarray, " word"], seeds: int) -> Interval:
    if seeds == 1:
        return wilson_interval(int(shares.sum()), len(shares))
    return bootstrap_interval(shares, np.ones_like(shares))


def percent(value: float, interval: Interval) -> str:
    """A share and its interval."""
    return f"{100 * value:.1f} [{100 * interval[0]:.1f}, {100 * interval[1]:.1f}]"


def points(value: float, interval: Interval) -> str:
    """A difference of shares and its interval."""
    return f"{100 * value:+.1f} [{100 * interval[0]:+.1f}, {100 * interval[1]:+.1f}]"


def table(rows: Sequence[Sequence[str]]) -> str:
    """Rows as a table in Markdown, the first one the titles."""
    head, *body = rows
    lines = [head, ["---", *("---:" for _ in head[1:])], *body]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
