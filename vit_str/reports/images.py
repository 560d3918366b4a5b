"""Figures as images, as files and as addresses that hold them."""

import base64
import io

from matplotlib.figure import Figure
from PIL import Image

from vit_str.reports.style import ready_to_draw

_CSS_PIXELS = 96  # per inch
SHARPNESS = 2
"""Pixels of a figure for each CSS pixel: screens that have them show fine lines."""

_COLORS = 256  # of a figure: lines and areas of few colors take a third of the bytes
_COLORS_OF_LINES = 20_000  # at most: soft edges of lines and letters; photographs have more
_QUALITY, _WEBP_SIDE = 85, 16_383  # of an embedded picture; the format has no larger ones


def figure_image(figure: Figure) -> Image.Image:
    """A figure as pixels, of 256 colors unless it shows photographs."""
    file = io.BytesIO()
    with ready_to_draw(figure):
        figure.savefig(file, format="png", dpi=_CSS_PIXELS * SHARPNESS)
    image = Image.open(file).convert("RGB")
    if image.getcolors(_COLORS_OF_LINES) is None:
        return image
    # The most different colors: rare ones, such as of one dot, stay.
    return image.quantize(_COLORS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)


def data_uri(image: Image.Image) -> str:
    """A ``data:`` address with the whole image: as PNG if it has few colors, else as WebP."""
    if image.getcolors(_COLORS) is not None or max(image.size) > _WEBP_SIDE:
        form, content = "png", png(image)
    else:
        form, content = "webp", _encoded(image, "WEBP", quality=_QUALITY, method=4)
    return f"data:image/{form};base64,{base64.b64encode(content).decode()}"


def png(image: Image.Image) -> bytes:
    """An image as a PNG file."""
    return _encoded(image, "PNG", optimize=True)


def _encoded(image: Image.Image, form: str, **options: int) -> bytes:
    file = io.BytesIO()
    image.save(file, form, **options)
    return file.getvalue()
