"""What each head looks at relative to itself, as small maps of layers by heads."""

import math

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.layout_engine import ConstrainedLayoutEngine

from vit_str.pages.style import INK, MUTED, RATIO, figure, styled

_WIDEST = 10.5  # inches
_TALLEST_MAP = 1.1  # inches
_LABELS = (0.8, 0.35)  # inches left of and above the maps
_FOOT = 1.0  # inches, below the maps
_BAR = (4.2, 0.12)  # inches
_GAP = 0.03  # between maps, of their width
_FACTOR = 30.0  # colors end at so many times as much and as little as uniform attention
_TICKS = {"1/30": 1 / 30, "1/10": 0.1, "1/3": 1 / 3, "1 (uniform)": 1, "3": 3, "10": 10, "30": 30}


@styled()
def offsets_gallery(
    offsets: Float[np.ndarray, "layer head dy dx"],
    uniform: float | Float[np.ndarray, "dy dx"],
    patch_size: tuple[float, float],
    n: int,
) -> Figure:
    """Mean attention by offset from the query, a map for every layer and head, one scale for all.

    Colors are ratios to uniform attention, which is chance: white is as much as that.

    Args:
        offsets: mean attention to the token ``dy`` rows down and ``dx`` columns right of the
            query, which is in the middle; NaN where no query has such a token.
        uniform: the same of uniform attention.
        patch_size: height and width of a token in pixels.
        n: images.

    Raises:
        ValueError: not four dimensions, or an even number of offsets, which has no middle.
    """
    if offsets.ndim != 4 or offsets.shape[2] % 2 == 0 or offsets.shape[3] % 2 == 0:
        raise ValueError(f"expected (layer, head, odd, odd) numbers, found {offsets.shape}")
    layers, heads, rows, columns = offsets.shape
    half = (rows * patch_size[0] / 2, columns * patch_size[1] / 2)
    gap = 2 * half[1] * _GAP
    pitch = (2 * half[0] + gap, 2 * half[1] + gap)  # px of the image from map to map
    inches = min((_WIDEST - _LABELS[0]) / (heads * pitch[1]), _TALLEST_MAP / pitch[0])
    width, height = heads * pitch[1] * inches, layers * pitch[0] * inches
    sheet = figure(max(width + _LABELS[0], _BAR[0] + 1), height + _LABELS[1] + _FOOT)
    foot = _FOOT / sheet.get_figheight()
    rectangle = (0, foot, 1, 1 - foot)
    sheet.set_layout_engine(ConstrainedLayoutEngine(rect=rectangle, compress=True))
    axes = sheet.subplots()
    norm = LogNorm(1 / _FACTOR, _FACTOR)
    for layer, head in np.ndindex(layers, heads):
        x, y = head * pitch[1], layer * pitch[0]
        image = axes.imshow(
            np.ma.masked_invalid(offsets[layer, head] / uniform),
            cmap=RATIO,
            norm=norm,
            extent=(x - half[1], x + half[1], y + half[0], y - half[0]),
        )
        axes.plot(x, y, "+", color=INK, markersize=4, markeredgewidth=0.7)
    axes.set(
        xlim=(-half[1], (heads - 1) * pitch[1] + half[1]),
        ylim=((layers - 1) * pitch[0] + half[0], -half[0]),
    )
    _label(axes, (layers, heads), pitch, inches)
    _explain(sheet, image, f"{half[1]:.0f} px to either side, {half[0]:.0f} px up and down", n)
    return sheet


def _explain(sheet: Figure, image: AxesImage, extent: str, n: int) -> None:
    """The scale of the colors and what a map covers, at the foot."""
    width, height = sheet.get_size_inches()
    left = (width - _BAR[0]) / 2
    place = sheet.add_axes((left / width, 0.52 / height, _BAR[0] / width, _BAR[1] / height))
    bar = sheet.colorbar(image, cax=place, orientation="horizontal", extend="both")
    bar.set_ticks(list(_TICKS.values()), labels=list(_TICKS))
    bar.minorticks_off()
    bar.outline.set_visible(False)
    place.set_title(
        "attention, times uniform", loc="center", fontsize=8, fontweight="normal", pad=5
    )
    text = f"every map: {extent} of the query; n = {n:,}"
    sheet.text(0.5, 0.08 / height, text, ha="center", fontsize=8, color=MUTED)


def _label(axes: Axes, counts: tuple[int, int], pitch: tuple[float, float], inches: float) -> None:
    """Layers at the left, heads on top; not all of them where maps are smaller than words."""
    steps = [
        math.ceil(room / (size * inches)) for room, size in zip((0.16, 0.55), pitch, strict=True)
    ]
    layers, heads = (range(0, count, step) for count, step in zip(counts, steps, strict=True))
    axes.set_yticks([layer * pitch[0] for layer in layers], [f"layer {i + 1}" for i in layers])
    axes.set_xticks([head * pitch[1] for head in heads], [f"head {i + 1}" for i in heads])
    axes.xaxis.tick_top()
    axes.tick_params(length=0, labelcolor=INK)
    axes.grid(visible=False)
    for spine in axes.spines.values():
        spine.set_visible(False)
