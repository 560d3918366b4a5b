"""The figure of ablation: what is lost without heads, by how far they look."""

from dataclasses import dataclass

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from vit_str.analysis.ablation.effects import (
    FAR,
    FARTHEST,
    NEAR,
    NEAREST,
    RANDOM,
    WHOLE,
    random_sets,
)
from vit_str.reports.panels import depth_legend
from vit_str.reports.style import (
    COLORS,
    INK,
    MUTED,
    PLATE,
    depth_color,
    dot_style,
    figure,
    styled,
)


@styled()
def ablation_figure(table: pd.DataFrame, single: pd.DataFrame) -> Figure:
    """Words lost against the distance of the head cut, and accuracy against heads cut."""
    sheet = figure(10.5, 4.6)
    left, right = sheet.subplots(1, 2)
    layers = int(single["layer"].max())
    _draw_single(left, single, layers)
    left.set_xlabel("attention distance of the head (px)")
    left.set_ylabel("words lost (points)")
    left.set_title("one head cut")
    _draw_orders(right, table)
    right.set_xlabel("heads cut")
    right.set_ylabel("words read right (%)")
    right.set_ylim(0, None)
    right.set_title("more and more heads cut")
    for axes in (left, right):  # below: dots and intervals are all over the panels
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=2)
    depth_legend(sheet, [left], layers)
    return sheet


def _draw_single(axes: Axes, single: pd.DataFrame, layers: int) -> None:
    """Words lost without each head, with intervals; filled where that is significant."""
    for row in single.itertuples():
        color = depth_color(row.layer, layers)
        lost = -100 * row.difference
        below = max(lost + 100 * row.high, 0)
        above = max(-100 * row.low - lost, 0)
        axes.errorbar(
            row.distance,
            lost,
            [[below], [above]],
            fmt="none",
            color=color,
            elinewidth=0.9,
            zorder=2,
        )
        # Above the intervals of all heads, some of which look as far as others.
        axes.plot(
            row.distance,
            lost,
            "o",
            zorder=3,
            **dot_style(color, not row.p_holm < 0.05),
        )
    full = dot_style(MUTED, False)
    hollow = dot_style(MUTED, True)
    axes.plot([], [], "o", label="p below 0.05 (Holm)", **full)
    axes.plot([], [], "o", label="p of 0.05 or more", **hollow)
    axes.axhline(0, color=INK, linewidth=0.8, zorder=1)


def _draw_orders(axes: Axes, table: pd.DataFrame) -> None:
    """Words read right without more and more heads, farthest first, nearest first and at random."""
    ends = table[table["cut"].isin([WHOLE, "every head"])]
    drawn = random_sets(table, RANDOM)
    if not drawn.empty:
        _draw_random(axes, drawn, ends)
    for order in _ORDERS:
        _draw_order(axes, table, ends, order)
    axes.set_xlim(0, table["heads"].max())


def _draw_random(axes: Axes, drawn: pd.DataFrame, ends: pd.DataFrame) -> None:
    """The mean of random sets as a line, and a band from the lowest to the highest."""
    level = dict.fromkeys(("mean", "min", "max"), ends["accuracy"])
    level["heads"] = ends["heads"]
    band = pd.concat([drawn, pd.DataFrame(level)]).sort_values("heads")
    axes.fill_between(
        band["heads"],
        100 * band["min"],
        100 * band["max"],
        color=MUTED,
        alpha=0.2,
        linewidth=0,
        label=f"{RANDOM}, lowest to highest",
    )
    mean = 100 * band["mean"]
    axes.plot(band["heads"], mean, "-", color=MUTED, label=f"{RANDOM}, mean")


@dataclass(frozen=True, slots=True)
class _Order:
    """Heads cut one after the other, and a set of the same kind of head from every layer."""

    name: str
    matched: str  # name of the set
    color: str
    stroke: str
    mark: str  # of the set


_ORDERS = (
    _Order(FARTHEST, matched=FAR, color=COLORS[1], stroke="-", mark="D"),
    _Order(NEAREST, matched=NEAR, color=COLORS[0], stroke="--", mark="d"),
)


def _draw_order(
    axes: Axes, table: pd.DataFrame, ends: pd.DataFrame, order: _Order
) -> None:
    """A curve from no head to all, and a mark for the set matched by layer."""
    of_order = table[table["cut"] == order.name]
    curve = pd.concat([of_order, ends]).sort_values("heads")
    axes.plot(
        curve["heads"],
        100 * curve["accuracy"],
        linestyle=order.stroke,
        marker="o",
        color=order.color,
        label=order.name,
        markersize=3.5,
    )
    matched = table[table["cut"] == order.matched]
    axes.plot(
        matched["heads"],
        100 * matched["accuracy"],
        order.mark,
        color=order.color,
        label=order.matched,
        markersize=7,
        markerfacecolor=PLATE,
        zorder=4,
    )
