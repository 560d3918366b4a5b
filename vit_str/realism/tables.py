"""What was found, as tables, as JSON and as text for a terminal."""

from vit_str.console import aligned
from vit_str.realism.comparison import ALL_STATISTICS, Comparison
from vit_str.realism.measure import Estimate, quantiles
from vit_str.realism.statistics import STATISTICS
from vit_str.reports.tables import Table

CLASSIFICATION_TITLES = ["sets", "AUC [95 %]", "what is lost without a statistic"]


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
    return [*columns, "inside"], rows


def summary_of(comparison: Comparison) -> dict[str, object]:
    """What ``summary.json`` says; the rest is in the tables."""
    return {
        "sets": {
            words.name: {
                "words": len(words),
                "skipped": words.skipped,
                "inside_in_everything": comparison.inside.get(words.name),
            }
            for words in comparison.sets
        },
        "told_apart": [
            {"sets": pair, "auc": None, "reason": "fewer than 10 pictures"}
            if found is None
            else {"sets": pair, **found.auc._asdict(), "loss": found.loss}
            for pair, found in comparison.classifications.items()
        ],
    }


def text_of(comparison: Comparison) -> list[str]:
    """Lines for a terminal: tables, founds, what could not be read."""
    lines: list[str] = []
    for words in comparison.folders:
        sizes = f"{len(comparison.rendered):,} rendered words against {len(words):,}"
        lines.append(f"{sizes} of {words.name}, most different first")
        lines += [*aligned(gaps_table(comparison, words.name)), ""]
    lines += aligned([CLASSIFICATION_TITLES, *classification_rows(comparison)])
    for words in comparison.folders:
        share = 100 * comparison.inside[words.name]
        lines.append(
            f"{words.name}: {share:.0f} % lie inside the 1-99 % range of rendered words in "
            "everything"
        )
        if words.skipped:
            lines.append(
                f"{words.name}: images skipped, missing or not readable: {len(words.skipped):,}"
            )
    return lines


def gaps_table(comparison: Comparison, folder: str) -> list[list[str]]:
    """The table of one folder with the quantiles 5, 50 and 95 %, the most different first."""
    known = [item for item in comparison.gaps[folder].items() if item[1].distance.value >= 0]
    titles = ["statistic", "unit", "rendered 5, 50, 95 %", "photographed"]
    rows = [[*titles, "distance [95 %]", "higher", "inside"]]
    for name, between in sorted(known, key=lambda item: -item[1].distance.value):
        spans = (
            ", ".join(f"{values[place]:.3g}" for place in (0, 2, 4))
            for values in (between.rendered, between.real)
        )
        shares = (f"{between.higher.value:.2f}", f"{between.inside:.2f}")
        rows.append([*ALL_STATISTICS[name], *spans, _interval(between.distance), *shares])
    return rows


def classification_rows(comparison: Comparison) -> list[list[str]]:
    """Which sets are distinguished, how well, by which statistics most."""
    rows = []
    for (first, second), found in comparison.classifications.items():
        if found is None:
            rows.append([f"{first} / {second}", "-", "fewer than 10 pictures"])
        else:
            most = sorted(found.loss.items(), key=lambda item: -item[1])[:4]
            by = ", ".join(f"{STATISTICS[name].title.lower()} {loss:.2f}" for name, loss in most)
            rows.append([f"{first} / {second}", _interval(found.auc), by])
    return rows


def _interval(estimate: Estimate) -> str:
    return f"{estimate.value:.2f} [{estimate.low:.2f}, {estimate.high:.2f}]"
