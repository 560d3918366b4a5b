"""Drawn pages beside each other with what is right for them, to look at."""

from collections.abc import Iterable
from pathlib import Path

from PIL import Image, ImageDraw

from vit_str.files import write_atomically
from vit_str.synthesis.pages.browser import Browser
from vit_str.synthesis.pages.drawing import DrawnPage, PageDesign, draw_page

_HEIGHT = 1100  # pixels of each page
_SPACE = 12  # pixels between pages
_ACROSS = 3
_SCALE = 1.25
_COLORS = {
    "paragraph": "#0088ff",
    "heading": "#ff0000",
    "item": "#008800",
    "cell": "#aa00aa",
    "head cell": "#ff00aa",
    "fact": "#ff8800",
    "caption": "#00aaaa",
    "note": "#888800",
    "figure": "#00aa55",
    "code": "#5500ff",
}


def write_page_sheet(path: Path, designs: Iterable[PageDesign]) -> None:
    """Write one picture of pages, each block in a frame of the color of its role.

    The number at a frame is that of the block in the order of reading, followed by the level of a
    heading or item, or by table, row and column.
    """
    with Browser() as browser:
        pages = []
        for design in designs:
            drawn = draw_page(browser, design, _SCALE, with_picture=True)
            pages.append(_with_truth(drawn))
    rows = [pages[n : n + _ACROSS] for n in range(0, len(pages), _ACROSS)]
    width = max(sum(page.width + _SPACE for page in row) for row in rows)
    sheet = Image.new("RGB", (width, len(rows) * (_HEIGHT + _SPACE)), "gray")
    for down, row in enumerate(rows):
        left = 0
        for page in row:
            sheet.paste(page, (left, down * (_HEIGHT + _SPACE)))
            left += page.width + _SPACE
    with write_atomically(path) as temporary:
        sheet.save(temporary)


def _with_truth(page: DrawnPage) -> Image.Image:
    assert page.picture is not None
    image = page.picture
    pencil = ImageDraw.Draw(image)
    for number, block in enumerate(page.truth.blocks):
        boxes = page.truth.boxes[page.truth.block_of == number] * page.scale
        if not len(boxes):
            continue
        left, top = boxes[:, :2].min(0)
        right, bottom = boxes[:, 2:].max(0)
        color = _COLORS.get(block.role, "#666666")
        pencil.rectangle((left, top, right, bottom), outline=color)
        text = f"{number}"
        if block.table >= 0:
            text += f" t{block.table}:{block.row},{block.column}"
        elif block.level:
            text += f" {block.role[0]}{block.level}"
        pencil.text((left, top - 10), text, fill=color)
    return image.resize((round(image.width * _HEIGHT / image.height), _HEIGHT))
