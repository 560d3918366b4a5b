"""Figures as pixels, vector graphics, and addresses that hold them."""

import base64
import io
from typing import cast
from xml.etree import ElementTree

import numpy as np
from matplotlib.artist import Artist
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from PIL import Image

from vit_str.reports.style import plain, ready_to_draw

_CSS_PIXELS = 96  # per inch
SHARPNESS = 2
"""Pixels of a figure for each CSS pixel: screens that have them show fine lines."""

_COLORS = 256  # of a figure: lines and areas of few colors take a third of the bytes
# At most: soft edges of lines and letters; photographs have more
_COLORS_OF_LINES = 20_000
_QUALITY = 85  # of an embedded picture, of 100
_WEBP_SIDE = 16_383  # pixels: the format has no larger pictures
_HOVER = "hover:"
_SVG = "http://www.w3.org/2000/svg"
_LINK = "http://www.w3.org/1999/xlink"


def figure_image(figure: Figure) -> Image.Image:
    """A figure as pixels, of 256 colors unless it shows pictures in colors of their own."""
    file = io.BytesIO()
    with ready_to_draw(figure):
        figure.savefig(file, format="png", dpi=_CSS_PIXELS * SHARPNESS)
    image = Image.open(file).convert("RGB")
    if image.getcolors(_COLORS_OF_LINES) is None or _shows_pictures(figure):
        return image
    # The most different colors: rare ones, such as of one dot, stay.
    return image.quantize(_COLORS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)


def _shows_pictures(figure: Figure) -> bool:
    """Whether an image in it has colors, not values on a scale of them."""
    images = cast(list[AxesImage], figure.findobj(AxesImage))
    return any(np.ndim(np.asarray(image.get_array())) == 3 for image in images)


def data_uri(image: Image.Image, png_file: bytes | None = None) -> str:
    """A ``data:`` address with the whole image: as PNG if it has few colors, else as WebP.

    Args:
        image: what it shows.
        png_file: the same image, if it is at hand: to encode it takes a while.
    """
    if image.getcolors(_COLORS) is not None or max(image.size) > _WEBP_SIDE:
        form = "png"
        content = png_file or png(image)
    else:
        form = "webp"
        content = _encoded(image, "WEBP", quality=_QUALITY, method=4)
    return f"data:image/{form};base64,{base64.b64encode(content).decode()}"


def png(image: Image.Image) -> bytes:
    """An image as a PNG file."""
    return _encoded(image, "PNG", optimize=True)


def _encoded(image: Image.Image, form: str, **options: int) -> bytes:
    file = io.BytesIO()
    image.save(file, form, **options)
    return file.getvalue()


def on_hover(artist: Artist, text: str) -> None:
    """Make a browser show a text while the pointer is on a part of a figure."""
    artist.set_gid(_HOVER + plain(text).replace(r"\$", "$"))


def svg(figure: Figure) -> str:
    """A figure as an ``<svg>`` element, letters as outlines, with the texts of `on_hover`."""
    ElementTree.register_namespace("", _SVG)
    ElementTree.register_namespace("xlink", _LINK)
    root = ElementTree.fromstring(_saved(figure, "svg"))  # noqa: S314 - made here
    for metadata in root.findall(f"{{{_SVG}}}metadata"):
        root.remove(metadata)
    for number, group in enumerate(root.iter(f"{{{_SVG}}}g")):
        name = group.get("id", "")
        if name.startswith(_HOVER):
            group.set("id", f"part-{number}")
            title = ElementTree.Element(f"{{{_SVG}}}title")
            title.text = name.removeprefix(_HOVER)
            group.insert(0, title)
    return ElementTree.tostring(root, encoding="unicode")


def pdf(figure: Figure) -> bytes:
    """A figure as a PDF file, letters as text."""
    return _saved(figure, "pdf")


def _saved(figure: Figure, form: str) -> bytes:
    file = io.BytesIO()
    date = "Date" if form == "svg" else "CreationDate"
    with ready_to_draw(figure):
        figure.savefig(file, format=form, metadata={date: None})
    return file.getvalue()
