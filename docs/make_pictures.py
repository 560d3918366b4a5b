"""Draw the pictures of the README: python docs/make_pictures.py."""

from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch
from PIL import Image

import vit_str
from vit_str.decoding.readings import Reading
from vit_str.engines.weights_contents import load_contents, resolve
from vit_str.images.image_decoding import decode
from vit_str.reports.style import COLORS, HEAT, INK, MUTED, figure, styled
from vit_str.words.reader import Reader

DOCS = Path(__file__).parent
WORD = DOCS.parent / "data" / "samples" / "images" / "word-05.webp"


@styled()
def draw_reading(image: Image.Image, reading: Reading) -> Figure:
    """A word with what was read, and where the decoder looked for each character."""
    rows = 2
    columns = -(-len(reading.text) // rows)
    sheet = figure(10.0, 1.7)
    grid = sheet.add_gridspec(rows, columns + 2, width_ratios=(1, 1, *[1] * columns))
    word = sheet.add_subplot(grid[:, :2])
    word.imshow(image)
    word.set_title(f"{reading.text}   {reading.confidence:.1%}", fontsize=15)
    for place, character in enumerate(reading.characters):
        axes = sheet.add_subplot(grid[place // columns, 2 + place % columns])
        width, height = image.size
        gray = np.asarray(image.convert("L"))
        axes.imshow(gray, cmap="gray", extent=(0, width, height, 0), alpha=0.55)
        axes.imshow(
            np.array(character.attention),
            cmap=HEAT,
            extent=(0, width, height, 0),
            alpha=0.65,
            interpolation="bilinear",
        )
        axes.set_title(
            f"{character.character}   {character.confidence:.1%}", fontsize=11
        )
    for axes in sheet.axes:
        axes.set_axis_off()
    return sheet


@styled()
def draw_model(reader: Reader, image: Image.Image, text: str) -> Figure:
    """From the image to the text, with the sizes of a model."""
    description = load_contents(resolve("tiny")).description
    encoder, decoder = (
        description[part]["arguments"] for part in ("encoder", "decoder")
    )
    rows, columns = reader.describe().grid
    height, width = reader.image_size
    stages = (
        ("convolutional\nstem", f"{len(encoder['stem_widths'])} stages", COLORS[4]),
        ("patches", f"{rows} × {columns} tokens", COLORS[2]),
        ("encoder", f"{encoder['depth']} blocks,\n{encoder['heads']} heads", COLORS[0]),
        ("decoder", f"{decoder['depth']} blocks with\ncross-attention", COLORS[1]),
    )
    sheet = figure(10.0, 1.9)
    sheet.set_layout_engine("none")
    axes = sheet.add_axes((0, 0, 1, 1))
    axes.set_xlim(0, 10)
    axes.set_ylim(0, 1.9)
    axes.set_axis_off()
    axes.imshow(image, extent=(0.15, 2.15, 0.75, 1.25), aspect="auto")
    _label(axes, 1.15, 0.55, f"image, {height} × {width} pixels")
    for number, (name, size, color) in enumerate(stages):
        left = 2.55 + 1.6 * number
        box = FancyBboxPatch(
            (left, 0.55), 1.2, 0.9, "round,pad=0,rounding_size=0.08", color=color
        )
        axes.add_patch(box)
        middle = left + 0.6
        axes.text(
            middle, 1.0, name, color="white", ha="center", va="center", weight="bold"
        )
        _label(axes, middle, 0.45, size)
        _arrow(axes, left - 0.4 if number else 2.15, left)
    _arrow(axes, 8.55, 8.95)
    axes.text(9.45, 1.0, text, ha="center", va="center", fontsize=15, weight="bold")
    _label(axes, 9.45, 0.55, "text, confidences")
    axes.annotate(
        "",
        xy=(8.0, 1.48),
        xytext=(9.45, 1.2),
        arrowprops={
            "arrowstyle": "->",
            "color": MUTED,
            "connectionstyle": "arc3,rad=0.3",
        },
    )
    _label(axes, 8.75, 1.82, "each character before the next")
    return sheet


def _label(axes: Axes, x: float, y: float, text: str) -> None:
    axes.text(x, y, text, color=MUTED, ha="center", va="top", fontsize=8)


def _arrow(axes: Axes, start: float, end: float) -> None:
    axes.annotate(
        "",
        xy=(end, 1.0),
        xytext=(start, 1.0),
        arrowprops={"arrowstyle": "->", "color": INK},
    )


def main() -> None:
    """Write ``reading.png`` and ``model.svg``."""
    reader = vit_str.load("tiny", "cpu")
    image = Image.open(WORD).convert("RGB")
    (reading,) = reader.read_decoded(
        [decode(WORD, reader.preprocessing)], attention=True
    )
    draw_reading(image, reading).savefig(
        DOCS / "reading.png", dpi=96, bbox_inches="tight"
    )
    draw_model(reader, image, reading.text).savefig(
        DOCS / "model.svg", metadata={"Date": None}
    )


if __name__ == "__main__":
    main()
