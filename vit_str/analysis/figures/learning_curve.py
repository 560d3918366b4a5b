"""Errors against images seen, on logarithmic axes, with what a power law says of more images."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter, NullLocator

from vit_str.analysis.learning_curve import Point, PowerLaw
from vit_str.pages.style import MUTED, figure, model_colors, plain, styled

_MARKS = {"before reading": "x", "constant": "o", "decay": "D"}
_ERRORS = 0.02, 0.05, 0.1, 0.2, 0.5, 1.0


@styled()
def learning_curve(
    points: Mapping[str, Sequence[Point]], laws: Mapping[str, PowerLaw], furthest: float
) -> Figure:
    """One color per set; lines end at the last point they were fitted to, then they are dashed.

    Args:
        points: set -> validations.
        laws: set -> what was fitted to its points of the constant phase; sets may lack.
        furthest: images to draw the laws to.
    """
    sheet = figure(7.2, 4.6)
    axes = sheet.subplots()
    for name, color in model_colors(points).items():
        _draw_points(axes, points[name], color)
        if name in laws:
            fitted = [point.images for point in points[name] if point.phase == "constant"]
            _draw_law(axes, laws[name], min(fitted), max(fitted), furthest, color)
        axes.plot([], [], "o", color=color, label=plain(name))
    for phase, mark in _MARKS.items():
        filling = MUTED if phase == "constant" else "none"
        axes.plot([], [], mark, color=MUTED, markerfacecolor=filling, label=phase)
    axes.set(xscale="log", yscale="log", xlabel="images seen", ylabel="words read wrong (%)")
    lowest = min(point.error for each in points.values() for point in each)
    axes.set_ylim(max(0.004, lowest / 3), 1.1)
    axes.set_yticks(_ERRORS)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{100 * value:g}"))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: _short(value)))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.legend(loc="lower left", ncols=2, fontsize=8)
    return sheet


def _draw_points(axes: Axes, points: Sequence[Point], color: str) -> None:
    for phase, mark in _MARKS.items():
        chosen = [point for point in points if point.phase == phase]
        axes.plot(
            [point.images for point in chosen],
            [point.error for point in chosen],
            mark,
            color=color,
            markersize=4.5,
            markerfacecolor=color if phase == "constant" else "none",
            alpha=0.5 if phase == "before reading" else 1,
        )


def _draw_law(
    axes: Axes, law: PowerLaw, first: float, last: float, furthest: float, color: str
) -> None:
    seen, beyond = np.geomspace(first, last, 40), np.geomspace(last, furthest, 60)
    axes.plot(seen, [law.at(images) for images in seen], color=color, linewidth=1.2)
    axes.plot(beyond, [law.at(images) for images in beyond], "--", color=color, linewidth=1.2)
    band = np.array([law.interval(images) for images in beyond]).clip(1e-4)
    axes.fill_between(beyond, band[:, 0], band[:, 1], color=color, alpha=0.12, linewidth=0)


def _short(number: float) -> str:
    return f"{number / 1e6:g}M" if number >= 1e6 else f"{number / 1e3:g}k"
