"""Attention distance along a training run, a small panel for each layer."""

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter, NullLocator

from vit_str.analysis.distance.head_table import HeadTable
from vit_str.analysis.results import Measurement
from vit_str.reports.panels import chance_lines, legend, panels
from vit_str.reports.style import COLORS, INK, styled
from vit_str.reports.vector import on_hover

_IN_A_ROW = 4
_MOST_TICKS = 4


@styled()
def along_training(
    rows: Sequence[Measurement], images: Mapping[str, int], chance: Mapping[str, float]
) -> Figure:
    """Attention distance over a run: heads as thin lines, the mean of the layer with its interval.

    The rows are of models of one depth; ``images`` is how many each had been trained on.
    """
    table = HeadTable([row for row in rows if row.model in images], "distance", "px")
    models = sorted(images, key=images.__getitem__)
    seen = [images[model] for model in models]
    means = [table.layer_means(model) for model in models]
    heads = [table.by_layer(model) for model in models]
    layers = range(1, table.layers + 1)
    sheet, grid = panels([(f"layer {layer}", "") for layer in layers], 2.1, _IN_A_ROW)
    for layer, axes in zip(layers, grid, strict=True):
        chance_lines(axes, chance)
        for head in range(len(heads[0][layer])):
            of_head = [at[layer][head].mean for at in heads]
            (line,) = axes.plot(seen, of_head, color=COLORS[0], linewidth=0.8, alpha=0.6)
            line.set_label("head")
            on_hover(line, f"layer {layer}, head {head + 1}")
        _, mean, low, high = zip(*(at[layer - 1] for at in means), strict=True)
        axes.fill_between(seen, low, high, color=INK, alpha=0.16, linewidth=0)
        axes.plot(seen, mean, color=INK, label="mean of the layer, 95 % interval")
        axes.set_xscale("symlog", linthresh=min([at for at in seen if at], default=1))
        axes.set_xticks(_spread(seen))
        axes.xaxis.set_major_formatter(EngFormatter(sep="", places=0))  # such as 4k and 2M
        axes.xaxis.set_minor_locator(NullLocator())
        axes.grid(visible=False, axis="x")
        if layer > len(layers) - _IN_A_ROW:
            axes.set_xlabel("images trained on")
        if layer % _IN_A_ROW == 1:
            axes.set_ylabel("distance (px)")
    grid[0].set_ylim(0, 1.1 * max(*chance.values(), table.highest()))
    legend(sheet, grid)
    return sheet


def _spread(values: Sequence[int]) -> list[int]:
    """The first and the last of some, and a few between them."""
    last = len(values) - 1
    count = min(len(values), _MOST_TICKS)
    return [values[round(index * last / max(count - 1, 1))] for index in range(count)]
