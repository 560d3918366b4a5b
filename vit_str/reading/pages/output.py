"""Pages as JSON, as hOCR, and as pictures to look at."""

from typing import Any
from xml.sax.saxutils import escape, quoteattr

from PIL import Image, ImageDraw

from vit_str.console import one_line
from vit_str.reading.pages.page import Page, Word
from vit_str.reports.sheets import caption_font
from vit_str.runtime.readings import Box, Character

_DIGITS = 6
_LINE_COLORS = ("#d62728", "#1f77b4", "#2ca02c", "#9467bd", "#ff7f0e", "#8c564b")


def page_row(name: str, page: Page) -> dict[str, Any]:
    """A page as plain values, words in reading order with the numbers of their block and line."""
    words = [
        {
            "text": word.text,
            "confidence": round(word.confidence, _DIGITS),
            "polygon": [[round(x, 1), round(y, 1)] for x, y in word.polygon],
            "block": block,
            "line": line,
            "characters": [_character(c) for c in word.characters],
        }
        for block, lines in enumerate(page.blocks)
        for line, row in enumerate(lines)
        for word in row
    ]
    return {
        "path": name,
        "width": page.width,
        "height": page.height,
        "text": page.text,
        "words": words,
        "error": None,
    }


def _character(character: Character) -> dict[str, Any]:
    return {
        "character": character.character,
        "confidence": round(character.confidence, _DIGITS),
        "box": None if character.box is None else [round(side, 1) for side in character.box],
    }


def hocr(pages: list[tuple[str, Page]]) -> str:
    """An hOCR 1.2 document, which tools for searchable PDF files take."""
    body = "\n".join(_hocr_page(number, name, page) for number, (name, page) in enumerate(pages, 1))
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Transitional//EN" \
"http://www.w3.org/TR/xhtml1/DTD/xhtml1-transitional.dtd">
<html xmlns="http://www.w3.org/1999/xhtml">
<head>
<title>Text</title>
<meta http-equiv="Content-Type" content="text/html; charset=utf-8"/>
<meta name="ocr-system" content="vit-str"/>
<meta name="ocr-capabilities" content="ocr_page ocr_carea ocr_line ocrx_word"/>
</head>
<body>
{body}
</body>
</html>
"""


def _hocr_page(number: int, name: str, page: Page) -> str:
    title = f'image "{one_line(name)}"; bbox 0 0 {page.width} {page.height}; ppageno {number - 1}'
    parts = [f'<div class="ocr_page" id="page_{number}" title={quoteattr(title)}>']
    for b, block in enumerate(page.blocks, 1):
        words = [word for line in block for word in line]
        parts.append(f'<div class="ocr_carea" id="block_{number}_{b}" title="{_bbox(words)}">')
        for n, line in enumerate(block, 1):
            identity = f"line_{number}_{b}_{n}"
            parts.append(f'<span class="ocr_line" id="{identity}" title="{_bbox(line)}">')
            parts += [
                f'<span class="ocrx_word" title="{_bbox([word])}; '
                f'x_wconf {round(100 * word.confidence)}">{escape(word.text)}</span>'
                for word in line
            ]
            parts.append("</span>")
        parts.append("</div>")
    return "\n".join([*parts, "</div>"])


def _bbox(words: "list[Word] | tuple[Word, ...]") -> str:
    """The box around some words, in whole pixels."""
    sides = list(zip(*(word.box for word in words), strict=True))
    box = Box(min(sides[0]), min(sides[1]), max(sides[2]), max(sides[3]))
    return "bbox " + " ".join(str(max(0, round(side))) for side in box)


def overlay(image: Image.Image, page: Page) -> Image.Image:
    """The picture with a polygon around every word and its text; lines differ in color."""
    from vit_str.synthesis.fonts import find_fonts

    picture = image.convert("RGB")
    pen = ImageDraw.Draw(picture)
    width = max(1, round(max(picture.size) / 1000))
    font = caption_font(page.text, find_fonts)
    lines = [line for block in page.blocks for line in block]
    for number, line in enumerate(lines):
        color = _LINE_COLORS[number % len(_LINE_COLORS)]
        for word in line:
            pen.polygon(word.polygon, outline=color, width=width)
            left, top, _, _ = word.box
            at = left, max(0.0, top - 13)
            pen.rectangle(pen.textbbox(at, word.text, font), fill="white")
            pen.text(at, word.text, fill=color, font=font)
    return picture
