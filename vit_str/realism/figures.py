"""Figures of rendered words next to photographed ones: distributions, the look."""

from collections.abc import Mapping, Sequence

import numpy as np
from einops import rearrange
from jaxtyping import Float, UInt8
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from torch import Tensor

from vit_str.realism.statistics import Statistic
from vit_str.reports.style import COLORS, INK, figure, plain, shortened, styled

_COLUMNS = 4
_BINS = 30
_NAME = 24
_RENDERED = "#c9cdd4"
SHOWN = 7
"""Pictures in a line of the sheet."""

ByName = Mapping[str, Float[np.ndarray, " picture"]]


@styled()
def distributions(values: Mapping[Statistic, ByName]) -> Figure:
    """A panel for every statistic: rendered words filled, photographs as lines.

    Args:
        values: statistic -> values by set; the first set is the rendered one.
    """
    rows = -(-len(values) // _COLUMNS)
    sheet = figure(10.5, 1.9 * rows + 0.4)
    grid = list(sheet.subplots(rows, _COLUMNS, squeeze=False).flat)
    for unused in grid[len(values) :]:
        unused.remove()
    for axes, (statistic, by_name) in zip(grid, values.items(), strict=False):
        _panel(axes, by_name)
        axes.set_title(statistic.title, fontsize=9)
        axes.set_xlabel(statistic.unit, fontsize=8)
    handles, labels = grid[0].get_legend_handles_labels()
    sheet.legend(handles, labels, loc="outside upper center", ncols=len(labels))
    return sheet


def _panel(axes: Axes, by_name: ByName) -> None:
    known = {name: values[~np.isnan(values)] for name, values in by_name.items()}
    ends = [np.quantile(values, (0.005, 0.995)) for values in known.values() if len(values)]
    low, high = (min(end[0] for end in ends), max(end[1] for end in ends)) if ends else (0, 1)
    bins = np.linspace(low, high if high > low else low + 1, _BINS + 1).tolist()
    for place, (name, values) in enumerate(known.items()):
        weights = np.full(len(values), 1 / max(len(values), 1))
        shown = np.clip(values, bins[0], bins[-1])  # the tails pile up at the ends
        looks: dict[str, object] = {"label": plain(shortened(name, _NAME))}
        if place:
            looks |= {"histtype": "step", "color": COLORS[(place - 1) % len(COLORS)]}
        else:
            looks |= {"histtype": "stepfilled", "color": _RENDERED, "edgecolor": INK}
            looks |= {"linewidth": 0.6}
        axes.hist(shown, bins, weights=weights, **looks)  # type: ignore[arg-type]
    axes.set_yticks([])
    axes.grid(visible=False)


@styled()
def sheet(rows: Sequence[tuple[str, UInt8[Tensor, "picture 3 height width"]]]) -> Figure:
    """Lines of pictures, a title over each if it has one; `SHOWN` pictures fit into a line."""
    height, width = rows[0][1].shape[2:]
    size = figure(10.5, len(rows) * (10.5 / SHOWN * height / width + 0.25))
    grid = size.subplots(len(rows), SHOWN, squeeze=False)
    for line, (title, pictures) in zip(grid, rows, strict=True):
        for axes in line:
            axes.set_axis_off()
        line[0].set_title(plain(title), fontsize=9, fontweight="normal", pad=3)
        for axes, pixels in zip(line, pictures, strict=False):
            axes.imshow(rearrange(pixels, "c h w -> h w c").cpu().numpy())
    return size
