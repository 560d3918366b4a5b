"""Figures of filters: what they look like, and how much of them is what patches look like."""

from collections.abc import Mapping, Sequence

import numpy as np
from einops import rearrange
from jaxtyping import Float
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from vit_str.reports.style import (
    INK,
    UNIFORM,
    figure,
    model_colors,
    plain,
    plain_lines,
    styled,
)

_COLUMNS, _ROWS = 7, 4
_PIXEL, _ROOM = 8, 20  # of a weight, and between filters, in pixels
SHOWN = _COLUMNS * _ROWS
"""How many filters fit into one mosaic."""
Weights = Float[np.ndarray, "filter channel height width"]


@styled()
def mosaics(banks: Mapping[str, tuple[Weights, Sequence[str]]], columns: int = 3) -> Figure:
    """The first filters of several banks, each scaled for itself: gray is zero.

    Args:
        banks: filters, and a few letters to write over each; by the title to give them.
        columns: mosaics side by side.
    """
    columns = min(columns, len(banks))
    rows = -(-len(banks) // columns)
    sheet = figure(3.5 * columns, 2.4 * rows)
    grid = sheet.subplots(rows, columns, squeeze=False)
    for axes in grid.flat:
        axes.axis("off")
    for axes, (title, (bank, remarks)) in zip(grid.flat, banks.items(), strict=False):
        axes.set_title(plain_lines(title, 34))
        axes.imshow(_mosaic(bank[:SHOWN]), interpolation="nearest")
        height, width = (side * _PIXEL + _ROOM for side in bank.shape[2:])
        for place, remark in enumerate(remarks[: len(bank[:SHOWN])]):
            x, y = place % _COLUMNS * width + width / 2, place // _COLUMNS * height + _ROOM - 3
            axes.text(x, y, plain(remark), fontsize=5.5, ha="center", va="bottom")
    return sheet


def _mosaic(bank: Weights) -> np.ndarray:
    """All filters in one picture, framed, with room above each.

    The largest weight of a filter is as far from gray as colors go.
    """
    largest = np.abs(bank).max((1, 2, 3), keepdims=True)
    colors = 0.5 + 0.5 * bank / np.where(largest > 0, largest, 1)
    pixels = colors.repeat(_PIXEL, 2).repeat(_PIXEL, 3)
    framed = np.pad(pixels, ((0, 0), (0, 0), (1, 1), (1, 1)), constant_values=0.3)
    beside = (_ROOM // 2 - 1, _ROOM // 2 - 1)
    room = ((0, SHOWN - len(bank)), (0, 0), (_ROOM - 2, 0), beside)
    cells = np.pad(framed, room, constant_values=1.0)
    return rearrange(cells, "(row column) c h w -> (row h) (column w) c", row=_ROWS)


@styled()
def captured_by_patches(curves: Mapping[str, Sequence[float]], patches: Sequence[float]) -> Figure:
    """How much of the filters lies within the first components of the patches.

    Args:
        curves: by model, share of the energy within 1, 2, ... components.
        patches: the same of the patches themselves.
    """
    sheet = figure(7.5, 4.2)
    axes = sheet.subplots()
    numbers = np.arange(1, len(patches) + 1)
    axes.plot(numbers, patches, color=INK, linewidth=1.1, linestyle=":", label="patches")
    for model, color in model_colors(curves).items():
        axes.plot(numbers, curves[model], color=color, label=plain(model))
    axes.plot(numbers, numbers / len(patches), label="chance", **UNIFORM)
    axes.set(xlim=(1, len(patches)), ylim=(0, 1.02), xscale="log")
    axes.set_xticks([tick for tick in (1, 3, 10, 30, 100, 300) if tick <= len(patches)])
    axes.xaxis.set_major_formatter("{x:.0f}")
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xlabel("first principal components of the patches (number, logarithmic)")
    axes.set_ylabel("share of energy within them")
    axes.legend(loc="center left", frameon=True, framealpha=0.9, edgecolor="none")
    return sheet
