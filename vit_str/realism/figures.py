"""Figures of rendered words next to photographed ones: distributions, characters, the look."""

from collections.abc import Mapping, Sequence

import numpy as np
from einops import rearrange
from jaxtyping import Float, UInt8
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from torch import Tensor

from vit_str.pages.style import COLORS, INK, figure, plain, shortened, styled
from vit_str.realism.statistics import Statistic

_COLUMNS = 4
_BINS = 30
_NAME = 24
_SPACE = {" ": "\N{OPEN BOX}"}
_RENDERED = "#c9cdd4"
_MOST_CHARACTERS = 100
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
def characters(shares: Mapping[str, Mapping[str, float]]) -> Figure:
    """How often every character occurs, logarithmic: rendered as bars, photographs as marks.

    Args:
        shares: by set, share of each character; the first set is the rendered one. The most
            frequent 100 of all sets are shown.
    """
    most: dict[str, float] = {}
    for each in shares.values():
        for character, share in each.items():
            most[character] = max(share, most.get(character, 0.0))
    chosen = sorted(sorted(most, key=lambda character: -most[character])[:_MOST_CHARACTERS])
    least = min((share for each in shares.values() for share in each.values()), default=1e-4)
    sheet = figure(10.5, 3.4)
    axes = sheet.subplots()
    places = np.arange(len(chosen))
    for place, (name, each) in enumerate(shares.items()):
        heights = [each.get(character, np.nan) for character in chosen]
        label = plain(shortened(name, _NAME))
        if place:
            color = COLORS[(place - 1) % len(COLORS)]
            axes.plot(places, heights, "o", markersize=3.2, color=color, label=label)
        else:
            axes.bar(places, heights, color=_RENDERED, width=0.8, label=label)
    axes.set(yscale="log", ylim=(least / 1.5, 1.5 * max(most.values(), default=1)))
    axes.set_xticks(places, [_SPACE.get(each, plain(each)) for each in chosen], fontsize=7)
    axes.set_xlim(-1, len(chosen))
    axes.set_ylabel("share of characters")
    axes.grid(visible=False, axis="x")
    axes.legend(loc="upper left", ncols=len(shares))
    return sheet


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
