"""What the figures of several studies share: panels in a row, a line with its interval, bars.

Call it while `vit_str.pages.style.styled` is active, as the command does.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from vit_str.pages.style import COLORS, INK, MUTED, model_colors
from vit_str.studies.intervals import mean_interval

__all__ = ["COLORS", "INK", "MUTED", "draw_bars", "draw_mean", "model_colors", "panels"]


def panels(
    figure: Figure, titles: Sequence[str], width: float = 3.7, height: float = 3.1
) -> list[Axes]:
    """Panels beside each other, one for each title; the size in inches is that of one panel."""
    figure.set_size_inches(width * len(titles), height)
    found = [figure.add_subplot(1, len(titles), 1 + place) for place in range(len(titles))]
    for axes, title in zip(found, titles, strict=True):
        axes.set_title(title)
    return found


def draw_mean(
    axes: Axes,
    xs: Sequence[float],
    runs: Sequence[Sequence[float]],
    label: str,
    color: str,
    **line: Any,
) -> None:
    """The mean over runs as a line, its 95 % interval as a band.

    Args:
        axes: to draw on; where they are logarithmic upwards, the runs must be above zero, and
            the interval is that of the logarithms only if the runs are logarithms themselves.
        xs: where the values are.
        runs: one sequence of values for each seed, as long as ``xs``.
        label: for the legend.
        color: of the line and, paler, of the band.
        line: other properties of the line, such as ``marker``.
    """
    found = [mean_interval(values) for values in zip(*runs, strict=True)]
    axes.plot(xs, [mean for mean, _ in found], label=label, color=color, **line)
    if len(runs) > 1:
        low, high = zip(*(interval for _, interval in found), strict=True)
        axes.fill_between(xs, low, high, color=color, alpha=0.18, linewidth=0)


def draw_bars(
    axes: Axes, groups: Mapping[str, Sequence[float]], colors: Mapping[str, str] | None = None
) -> None:
    """A bar for each name: the mean of its values, with the 95 % interval over them."""
    colors = colors or model_colors(groups)
    for place, (name, values) in enumerate(groups.items()):
        mean, (low, high) = mean_interval(values)
        axes.bar(place, mean, 0.7, color=colors[name])
        if len(values) > 1:
            error = [[mean - low], [high - mean]]
            axes.errorbar(place, mean, error, color=INK, linewidth=1.1, capsize=3)
    axes.set_xticks(range(len(groups)), list(groups))
    axes.grid(visible=False, axis="x")
