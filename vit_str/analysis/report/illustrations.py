"""Figures and pictures as bytes: small ones to embed in a page, lossless ones to keep beside it."""

import base64
import io
from dataclasses import dataclass
from functools import cached_property

from matplotlib.figure import Figure
from PIL import Image

from vit_str.analysis.figures.style import ready_to_draw

_CSS_PIXELS = 96  # per inch
_SHARPNESS = 2  # pixels of a figure per CSS pixel: screens that have them show fine lines
_LEVELS = ((1.0, 256, 90), (0.75, 128, 85), (0.5, 64, 75), (0.375, 32, 65), (0.25, 16, 50))
# scale, colors of a PNG, quality of a WebP: from the best to the smallest
_FEW = 256  # colors: a palette shows them all
_FEW_IN_FIGURE = 20_000  # colors: most of them are the soft edges of lines and letters


@dataclass
class Illustration:
    """One picture of a page.

    Attributes:
        image: the picture as it was drawn.
        size: (width, height) on the page, in CSS pixels.
        drawn: whether it is a figure, with letters that must stay large enough to read.
        level: how much it has been reduced, from 0, not at all.
    """

    image: Image.Image
    size: tuple[int, int]
    drawn: bool
    level: int = 0

    @cached_property
    def uri(self) -> str:
        """``data:`` address with the whole picture in it."""
        kind, content = self._encoded()
        return f"data:image/{kind};base64,{base64.b64encode(content).decode()}"

    def reduce(self) -> bool:
        """Make the embedded picture smaller; False if it is as small as it gets."""
        if self.level + 1 == len(_LEVELS):
            return False
        self.level += 1
        del self.uri
        return True

    @cached_property
    def png(self) -> bytes:
        """The picture in full size, for a file of its own; a figure has 256 colors."""
        return _png(self.image, _LEVELS[0][1] if self.drawn and self._has_few_colors() else None)

    def _encoded(self) -> tuple[str, bytes]:
        scale, colors, quality = _LEVELS[self.level]
        image = self.image if scale == 1 else _scaled(self.image, scale)
        if not self._has_few_colors():
            return "webp", _webp(image, quality)
        return "png", self.png if self.level == 0 else _png(image, colors)

    def _has_few_colors(self) -> bool:
        return self.image.getcolors(_FEW_IN_FIGURE if self.drawn else _FEW) is not None


def of_figure(figure: Figure) -> Illustration:
    """Draw a figure as pixels: with few colors they take half the bytes of an SVG."""
    png = io.BytesIO()
    with ready_to_draw(figure):
        figure.savefig(png, format="png", dpi=_CSS_PIXELS * _SHARPNESS)
    image = Image.open(png).convert("RGB")
    size = (round(image.width / _SHARPNESS), round(image.height / _SHARPNESS))
    return Illustration(image, size, drawn=True)


def of_picture(image: Image.Image) -> Illustration:
    """Take a picture as it is, one of its pixels for a CSS pixel; transparency lies on white."""
    if image.has_transparency_data:
        layers = image.convert("RGBA")
        image = Image.alpha_composite(Image.new("RGBA", image.size, "white"), layers)
    return Illustration(image.convert("RGB"), image.size, drawn=False)


def _scaled(image: Image.Image, scale: float) -> Image.Image:
    size = (max(1, round(image.width * scale)), max(1, round(image.height * scale)))
    return image.resize(size, Image.Resampling.LANCZOS)


def _png(image: Image.Image, colors: int | None) -> bytes:
    if colors is not None:  # the most different colors: rare ones, such as of one dot, stay
        image = image.quantize(colors, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    buffer = io.BytesIO()
    image.save(buffer, "PNG", optimize=True)
    return buffer.getvalue()


def _webp(image: Image.Image, quality: int) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, "WEBP", quality=quality, method=4)
    return buffer.getvalue()
