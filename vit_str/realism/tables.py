"""What was found, as tables, as JSON and as text for a terminal."""

from collections.abc import Sequence

import torch

from vit_str.pages.tables import Table
from vit_str.realism.comparison import ALL_STATISTICS, Comparison
from vit_str.realism.measure import Estimate, quantiles
from vit_str.realism.statistics import STATISTICS, Values, character_shares, label_kinds
from vit_str.realism.words import RENDERED, Words


def statistics_table(comparison: Comparison) -> Table:
    """The table of all statistics and sets; rendered words first, without distances."""
    columns = ["statistic", "unit", "set", "n", "q05", "q25", "q50", "q75", "q95"]
    columns += ["distance", "distance_low", "distance_high", "higher", "higher_low", "higher_high"]
    rows: list[list[object]] = []
    for name, statistic in ALL_STATISTICS.items():
        for words in comparison.sets:
            values = words.values[name]
            n = int((~values.isnan()).sum())
            row: list[object] = [name, statistic.unit, words.name, n, *quantiles(values)]
            between = comparison.gaps.get(words.name, {}).get(name)
            compared = (
                [*between.distance, *between.higher, between.inside] if between else [None] * 7
            )
            rows.append([*row, *compared])
    for words in comparison.folders:
        for name, unit, values in sizes_of(words):
            rows.append([name, unit, words.name, len(values), *quantiles(values), *[None] * 7])
    return [*columns, "inside"], rows


def sizes_of(words: Words) -> list[tuple[str, str, Values]]:
    """Of crops as they came: name, unit, values."""
    height, width = torch.tensor(words.sizes, dtype=torch.float64).unbind(1)
    return [("height", "px", height), ("width", "px", width), ("aspect", "1", width / height)]


def characters_table(comparison: Comparison) -> Table:
    """Share of every character in every set."""
    shares = character_shares_of(comparison)
    occurring = sorted({character for each in shares.values() for character in each})
    rows = [[each, *(share.get(each, 0.0) for share in shares.values())] for each in occurring]
    return ["character", *shares], rows


def character_shares_of(comparison: Comparison) -> dict[str, dict[str, float]]:
    """Set -> character -> how often it occurs among all characters."""
    return {words.name: character_shares(words.labels) for words in comparison.sets}


def summary_of(comparison: Comparison) -> dict[str, object]:
    """What ``summary.json`` says; the rest is in the tables."""
    return {
        "sets": {
            words.name: {
                "words": len(words),
                "skipped": words.skipped,
                "label_kinds": label_kinds(words.labels),
                "inside_in_everything": comparison.inside.get(words.name),
            }
            for words in comparison.sets
        },
        "told_apart": [
            {"sets": pair, "auc": None, "reason": "fewer than 10 pictures"}
            if verdict is None
            else {"sets": pair, **verdict.auc._asdict(), "loss": verdict.loss}
            for pair, verdict in comparison.verdicts.items()
        ],
    }


def text_of(comparison: Comparison) -> list[str]:
    """Lines for a terminal: tables, verdicts, what could not be read."""
    lines: list[str] = []
    for words in comparison.folders:
        between = (
            f"{len(comparison.rendered):,} rendered words against {len(words):,} of {words.name}"
        )
        lines += [
            f"{between}, most different first",
            *_aligned(gaps_table(comparison, words.name)),
            "",
        ]
    kinds = {words.name: label_kinds(words.labels) for words in comparison.sets}
    titles = ["labels, percent", *kinds[RENDERED]]
    cells = [[name, *(f"{100 * share:.1f}" for share in of.values())] for name, of in kinds.items()]
    lines += [*_aligned([titles, *cells]), ""]
    lines += _aligned(
        [["told apart, 0.5 is not at all", "AUC [95 %]", "by"], *verdicts_table(comparison)]
    )
    lines += [
        f"{name}: {100 * share:.0f} % lie inside the 1-99 % range of rendered words in everything"
        for name, share in comparison.inside.items()
    ]
    skipped = {words.name: len(words.skipped) for words in comparison.folders if words.skipped}
    lines += [
        f"{name}: images skipped, missing or not readable: {n:,}" for name, n in skipped.items()
    ]
    return lines


def gaps_table(comparison: Comparison, folder: str) -> list[list[str]]:
    """The table of one folder with the quantiles 5, 50 and 95 %."""
    titles = ["statistic", "unit", "rendered 5, 50, 95 %", "photographed"]
    rows = [[*titles, "distance [95 %]", "higher", "inside", "rendered words are"]]
    for name, between in comparison.by_distance(folder):
        statistic = ALL_STATISTICS[name]
        spans = (
            ", ".join(f"{values[place]:.3g}" for place in (0, 2, 4))
            for values in (between.rendered, between.real)
        )
        shares = (f"{between.higher.value:.2f}", f"{between.inside:.2f}")
        words = between.direction(statistic)
        rows.append(
            [statistic.title, statistic.unit, *spans, _interval(between.distance), *shares, words]
        )
    return rows


def verdicts_table(comparison: Comparison) -> list[list[str]]:
    """Who is told apart, how well, by which statistics most."""
    rows = []
    for (first, second), verdict in comparison.verdicts.items():
        if verdict is None:
            rows.append([f"{first} / {second}", "-", "fewer than 10 pictures"])
        else:
            most = sorted(verdict.loss.items(), key=lambda item: -item[1])[:4]
            by = ", ".join(f"{STATISTICS[name].title.lower()} {loss:.2f}" for name, loss in most)
            rows.append([f"{first} / {second}", _interval(verdict.auc), by])
    return rows


def _interval(estimate: Estimate) -> str:
    return f"{estimate.value:.2f} [{estimate.low:.2f}, {estimate.high:.2f}]"


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
