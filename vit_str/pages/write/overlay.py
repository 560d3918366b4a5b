"""Pictures of pages with what was read, to look at."""

from itertools import chain

from PIL import Image, ImageDraw

from vit_str.pages.page import Page
from vit_str.reports.sheets import caption_font

_LABEL_HEIGHT = 13  # pixels of the texts of overlays
# Behind them, of 255 parts of which the last are opaque
_LABEL_COLOR = (255, 255, 255, 110)
_LINE_COLORS = ("#d62728", "#1f77b4", "#2ca02c", "#9467bd", "#ff7f0e", "#8c564b")


def overlay(image: Image.Image, page: Page) -> Image.Image:
    """The picture with a polygon around every word and its text; lines differ in color.

    What lies behind a text, as letters that reach below the line above, shines through.
    """
    from vit_str.synthesis.fonts import find_fonts

    picture = image.convert("RGB")
    pen = ImageDraw.Draw(picture, "RGBA")  # which mixes colors
    width = max(1, round(max(picture.size) / 1000))
    font = caption_font(page.text, find_fonts)
    for number, line in enumerate(chain.from_iterable(page.blocks)):
        color = _LINE_COLORS[number % len(_LINE_COLORS)]
        for word in line:
            pen.polygon(word.polygon, outline=color, width=width)
            left, top, _, _ = word.box
            at = left, max(_LABEL_HEIGHT, top - width)
            label = pen.textbbox(at, word.text, font, anchor="ld")
            pen.rectangle(label, fill=_LABEL_COLOR)
            pen.text(at, word.text, fill=color, font=font, anchor="ld")
    return picture
