"""Words with maps over them: a row for each character, a column for each method."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from einops import rearrange
from jaxtyping import Float, UInt8
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from torch import Tensor

from vit_str.reports.style import COLORS, HEAT, INK, MUTED, figure, plain, styled

_WIDTH = 10.5  # inches, of the sheet
_TITLE = 0.24  # inches above every row
_MOST_ROWS = 12  # characters of a word that a sheet shows

CAUTION = (
    "Attention is not explanation: a map shows where the decoder took features from, "
    "not that the pixels there decided what it wrote; the map of gradients next to it "
    "often differs."
)
"""A note for every page with maps."""


@dataclass(frozen=True, slots=True)
class MappedWord:
    """A word with maps of its characters by method; boxes (left, top, right, bottom) if known."""

    title: str
    pixels: UInt8[Tensor, "3 height width"]
    text: str
    maps: Mapping[str, Float[Tensor, "character row column"]]
    boxes: Sequence[Sequence[float]] = ()
    true_boxes: Sequence[Sequence[float]] = ()


@styled()
def map_sheet(words: Sequence[MappedWord]) -> Figure:
    """Words one below the other; the darkest color is the largest value of each map.

    Boxes are in the colors of their characters, true ones white in black.
    """
    columns = 1 + max(len(word.maps) for word in words)
    rows = sum(min(len(word.text), _MOST_ROWS) for word in words)
    _, height, width = words[0].pixels.shape
    tall = 0.88 * _WIDTH / columns * height / width  # of a panel, in inches
    in_all = rows * (tall + _TITLE)
    sheet = figure(_WIDTH, in_all)
    # The other one takes minutes for hundreds of panels
    sheet.set_layout_engine("none")
    room = {
        "left": 0.005,
        "right": 0.995,
        "bottom": 0.0,
        "wspace": 0.13,
        "top": 1 - _TITLE / in_all,
        "hspace": _TITLE / tall,
    }
    grid = sheet.subplots(rows, columns, squeeze=False, gridspec_kw=room)
    for axes in grid.flat:
        axes.set_axis_off()
    start = 0
    for word in words:
        end = start + min(len(word.text), _MOST_ROWS)
        _draw_word(grid[start:end], word)
        start = end
    return sheet


def _draw_word(grid: np.ndarray, word: MappedWord) -> None:
    image = rearrange(word.pixels, "c h w -> h w c").cpu().numpy()
    height, width = image.shape[:2]
    more = "" if len(grid) == len(word.text) else f", the first {len(grid)} characters"
    grid[0, 0].imshow(image)
    grid[0, 0].set_title(plain(f"{word.title}{more}"), fontsize=9)
    for box in word.true_boxes:
        _frame(grid[0, 0], box, "black", 2.0)
        _frame(grid[0, 0], box, "white", 0.8)
    for row, axes_of_row in enumerate(grid):
        color = COLORS[row % len(COLORS)] if word.boxes else INK
        if word.boxes:
            _frame(grid[0, 0], word.boxes[row], color, 1.4)
        # Of methods without a map in this word, panels stay empty.
        drawn = zip(axes_of_row[1:], word.maps.items(), strict=False)
        for axes, (method, maps) in drawn:
            _draw_map(axes, maps[row], image)
            if not row:
                axes.set_title(
                    plain(method),
                    loc="right",
                    fontsize=8,
                    fontweight="normal",
                )
                axes.title.set_color(MUTED)
        axes_of_row[1].text(
            -0.03 * width,
            height / 2,
            plain(word.text[row]),
            color=color,
            ha="right",
            va="center",
            fontsize=11,
            in_layout=False,
        )


def _draw_map(
    axes: Axes, values: Float[Tensor, "row column"], image: np.ndarray
) -> None:
    """A map over a pale image, the more opaque the larger its values."""
    height, width = image.shape[:2]
    shares = (values / values.max().clamp(min=1e-12)).float().cpu().numpy()
    axes.imshow(0.45 * image.mean(2) + 140, "gray", vmin=0, vmax=255)
    extent = (-0.5, width - 0.5, height - 0.5, -0.5)
    axes.imshow(shares, HEAT, alpha=0.85 * np.sqrt(shares), vmin=0, extent=extent)


def _frame(axes: Axes, box: Sequence[float], color: str, linewidth: float) -> None:
    """The edges of a box, whose sides are in pixels of the image."""
    left, top, right, bottom = box
    frame = Rectangle(
        xy=(left - 0.5, top - 0.5),
        width=right - left,
        height=bottom - top,
        fill=False,
        edgecolor=color,
        linewidth=linewidth,
        clip_on=False,
    )
    axes.add_patch(frame)
