"""What the figures of several studies share: panels in a row, a line with its interval, bars.

Call it while `styled` is active, as `studies.running.run_study` does.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import cycle
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from studies.study import Cell, Table, Values
from vit_str.reports import style

COLORS = style.COLORS
INK = style.INK
MUTED = style.MUTED


def draw_lines(
    axes: Axes,
    table: Table,
    along: str,
    by: str,
    names: Iterable[Cell],
    colors: Iterable[str] = COLORS,
    *,
    column: str = "",
    scale: float = 1,
    nested: bool = False,
    **line: Any,
) -> None:
    """A line with its interval for each setting, see `draw_mean`.

    Of ``nested`` lines each is thinner than the one before, so that those that coincide are all
    seen.
    """
    shown = list(names)
    for number, (name, color) in enumerate(zip(shown, cycle(colors), strict=False)):
        xs, runs = table.curves(along, column, **{by: name})
        if nested:
            left = len(shown) - 1 - number
            line |= {"linewidth": 1.4 + 1.5 * left, "markersize": 4 + 2.4 * left}
        draw_mean(
            axes,
            xs,
            [[scale * y for y in run] for run in runs],
            str(name),
            color,
            **line,
        )


def panels(
    figure: Figure, titles: Sequence[str], width: float = 3.7, height: float = 3.1
) -> list[Axes]:
    """Panels in a row, one for each title; the size in inches is that of one panel."""
    count = len(titles)
    figure.set_size_inches(width * count, height)
    places = enumerate(titles, 1)
    return [figure.add_subplot(1, count, place, title=title) for place, title in places]


def draw_mean(
    axes: Axes,
    xs: Sequence[float],
    runs: Sequence[Sequence[float]],
    label: str,
    color: str,
    **line: Any,
) -> None:
    """The mean over runs as a line, its 95 % interval as a band."""
    points = [Values(values) for values in zip(*runs, strict=True)]
    axes.plot(xs, [point.mean for point in points], label=label, color=color, **line)
    if len(runs) > 1:
        low, high = zip(*(point.interval for point in points), strict=True)
        axes.fill_between(xs, low, high, color=color, alpha=0.18, linewidth=0)


def draw_bars(
    axes: Axes,
    groups: Mapping[str, Sequence[float]],
    colors: Mapping[str, str] | None = None,
) -> None:
    """A bar for each name: the mean of its values, with the 95 % interval over them."""
    colors = colors or style.model_colors(groups)
    for x, name in enumerate(groups):
        values = Values(groups[name])
        axes.bar(x, values.mean, 0.7, color=colors[name])
        if len(values) > 1:
            error = [[values.mean - values.low], [values.high - values.mean]]
            axes.errorbar(x, values.mean, error, color=INK, linewidth=1.1, capsize=3)
    axes.set_xticks(range(len(groups)), list(groups))
    axes.grid(visible=False, axis="x")


def chance_line(axes: Axes, y: float, label: str | None = "chance") -> None:
    """A dotted line across, such as at what guessing gets right."""
    axes.axhline(y, color=MUTED, linewidth=1, linestyle=":", label=label)


def log_ticks(axes: Axes, ticks: Sequence[int], base: int = 2) -> None:
    """A logarithmic axis to the right with these ticks, as plain numbers."""
    axes.set_xscale("log", base=base)
    axes.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
