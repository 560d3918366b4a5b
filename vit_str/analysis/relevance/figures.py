"""A figure of how maps fare in tests."""

from collections.abc import Sequence

from matplotlib.figure import Figure

from vit_str.analysis.relevance.scores import RANDOM, MethodScore
from vit_str.reports.style import (
    COLORS,
    UNIFORM,
    UNTRAINED,
    figure,
    is_untrained,
    plain,
    styled,
)


@styled()
def scores_by_method(scores: Sequence[MethodScore]) -> Figure:
    """A panel for each metric, a mark with its interval for each method."""
    metrics = list(dict.fromkeys(score.metric for score in scores))
    methods = list(dict.fromkeys(score.method for score in scores))
    sheet = figure(10.5, 0.9 + 0.27 * len(methods))
    grid = sheet.subplots(1, len(metrics), sharey=True, squeeze=False)[0]
    for axes, metric in zip(grid, metrics, strict=True):
        shown = [score for score in scores if score.metric == metric]
        for score in shown:
            place, color = methods.index(score.method), _color(score.method, methods)
            axes.plot([score.low, score.high], [place, place], color=color, linewidth=2)
            axes.plot([score.mean], [place], "o", color=color, markersize=5)
        if metric == "lift":
            axes.axvline(1, zorder=1, **UNIFORM)
        axes.set_xlim(min(0, *(score.low for score in shown)), None)
        axes.set_title(f"{metric} ({shown[0].unit})", fontsize=9)
        axes.set_xlabel(f"n = {max(score.n for score in shown):,} words")
    grid[0].set_yticks(range(len(methods)), [plain(method) for method in methods])
    grid[0].invert_yaxis()
    return sheet


def _color(method: str, methods: Sequence[str]) -> str:
    if method == RANDOM or is_untrained(method):
        return str(UNTRAINED["color"])
    return COLORS[methods.index(method) % len(COLORS)]
