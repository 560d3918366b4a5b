"""Pages as JSON, as hOCR, as the table of Tesseract, and as pictures to look at."""

from collections.abc import Callable, Mapping, Sequence
from html import escape
from itertools import chain
from typing import Any

from PIL import Image, ImageDraw

from vit_str.console import one_line
from vit_str.files import escaped_name
from vit_str.reading.pages.frame import text_quarters
from vit_str.reading.pages.page import Page, Point, Word
from vit_str.reports.sheets import caption_font
from vit_str.runtime.readings import Character

_DIGITS = 6  # of confidences, after the point
BELOW = frozenset("gjpqyQ,;()[]{}|/@$çþß§")  # what may reach below the line
DESCENT = 0.2  # of the height of a word is below its line
_OTHER_LINE = 0.5  # of that height is between the bottoms of words on two lines
_UNSURE_SLOPE = 0.01  # of a row, by which it may differ from that of its words
_TSV_COLUMNS = (
    "level",
    "page_num",
    "block_num",
    "par_num",
    "line_num",
    "word_num",
    "left",
    "top",
    "width",
    "height",
    "conf",
    "text",
)
_LEVELS = 5  # page, block, paragraph, line and word
_LABEL_HEIGHT = 13  # pixels of the texts of overlays
# Behind them, of 255 parts of which the last are opaque
_LABEL_COLOR = (255, 255, 255, 110)
_LINE_COLORS = ("#d62728", "#1f77b4", "#2ca02c", "#9467bd", "#ff7f0e", "#8c564b")


def page_row(name: str, page: Page) -> dict[str, Any]:
    """A page as plain values, words in reading order with the numbers of their block and line."""
    words = []
    for block, lines in enumerate(page.blocks):
        for line, row in enumerate(lines):
            words += [_word(word, block, line) for word in row]
    record: dict[str, Any] = {
        "path": name,
        "width": page.width,
        "height": page.height,
        "text": page.text,
        "words": words,
        "error": None,
    }
    if page.is_mostly_unread:
        record["unread_script"] = True
    return record


def _word(word: Word, block: int, line: int) -> dict[str, Any]:
    return {
        "text": word.text,
        "confidence": round(word.confidence, _DIGITS),
        "polygon": [[round(x, 1), round(y, 1)] for x, y in word.polygon],
        "block": block,
        "line": line,
        "struck": word.is_struck,
        "characters": [_character(each) for each in word.characters],
    }


def _character(character: Character) -> dict[str, Any]:
    return {
        "character": character.character,
        "confidence": round(character.confidence, _DIGITS),
        "box": character.box and [round(side, 1) for side in character.box],
    }


def hocr(
    name: str,
    pages: Mapping[int, Page],
    title_of: Callable[[Sequence[Word]], str] | None = None,
) -> str:
    """An hOCR 1.2 document with what Tesseract's has, which tools for searchable PDF files take.

    Args:
        name: of the file.
        pages: by number.
        title_of: says where a line lies; its box and baseline if None.
    """
    title_of = title_of or line_title
    written = (
        _hocr_page(number, name, page, title_of) for number, page in pages.items()
    )
    body = "\n".join(written)
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Transitional//EN" \
"http://www.w3.org/TR/xhtml1/DTD/xhtml1-transitional.dtd">
<html xmlns="http://www.w3.org/1999/xhtml">
<head>
<title>Text</title>
<meta http-equiv="Content-Type" content="text/html; charset=utf-8"/>
<meta name="ocr-system" content="vit-str"/>
<meta name="ocr-capabilities" content="ocr_page ocr_carea ocr_par ocr_line ocrx_word"/>
</head>
<body>
{body}
</body>
</html>
"""


def _hocr_page(
    number: int, name: str, page: Page, title_of: Callable[[Sequence[Word]], str]
) -> str:
    size = f"bbox 0 0 {page.width} {page.height}"
    title = f'image "{escaped_name(name)}"; {size}; ppageno {number - 1}'
    parts = [f'<div class="ocr_page" id="page_{number}" title="{escape(title)}">']
    for b, block in enumerate(page.blocks, 1):
        bbox = _bbox(list(chain.from_iterable(block)))
        parts.append(f'<div class="ocr_carea" id="block_{number}_{b}" title="{bbox}">')
        parts.append(f'<p class="ocr_par" id="par_{number}_{b}" title="{bbox}">')
        lines = chain.from_iterable(map(printed_lines, block))
        for n, line in enumerate(lines, 1):
            title = title_of(line)
            parts.append(
                f'<span class="ocr_line" id="line_{number}_{b}_{n}" title="{title}">'
            )
            parts += [
                _hocr_word(f"word_{number}_{b}_{n}_{w}", word)
                for w, word in enumerate(line, 1)
            ]
            parts.append("</span>")
        parts += ["</p>", "</div>"]
    return "\n".join([*parts, "</div>"])


def _hocr_word(name: str, word: Word) -> str:
    title = f"{_bbox([word])}; x_wconf {round(100 * word.confidence)}"
    text = escape(word.text, quote=False)
    return f'<span class="ocrx_word" id="{name}" title="{title}">{text}</span>'


def _bbox(words: Sequence[Word]) -> str:
    """The box around some words, in whole pixels."""
    return "bbox " + " ".join(map(str, _pixels(words)))


def _pixels(words: Sequence[Word]) -> tuple[int, int, int, int]:
    """Left, top, right and bottom of some words, in whole pixels."""
    left, top, right, bottom = zip(*(word.box for word in words), strict=True)
    sides = min(left), min(top), max(right), max(bottom)
    return tuple(max(0, round(side)) for side in sides)


def line_title(line: Sequence[Word]) -> str:
    """Where a line lies: its box, and quarters by which it is turned to the left, or its baseline.

    A baseline is a slope, and how far below the bottom of the box it begins.
    """
    quarters = -text_quarters(line) % 4
    if quarters:
        return f"{_bbox(line)}; textangle {90 * quarters}"
    slope, (x, y) = baseline(line)
    left, _, _, bottom = _pixels(line)
    below = round(y + slope * (left - x) - bottom)
    return f"{_bbox(line)}; baseline {slope:.3f} {below}"


def printed_lines(row: Sequence[Word]) -> list[tuple[Word, ...]]:
    """A row of a page as lines with one baseline each: cells of a table may hold several."""
    if text_quarters(row):
        return [tuple(row)]
    rise = sum(word.polygon[2][1] - word.polygon[3][1] for word in row)
    width = sum(word.polygon[2][0] - word.polygon[3][0] for word in row)
    slope = rise / max(1.0, width)
    lines: list[list[Word]] = []
    for word in row:
        x, y = word.polygon[3]
        end, bottom = lines[-1][-1].polygon[2] if lines else (x, y)
        height = y - word.polygon[0][1]
        most = _OTHER_LINE * height + _UNSURE_SLOPE * abs(x - end)
        if not lines or abs(y - bottom - slope * (x - end)) > most:
            lines.append([])
        lines[-1].append(word)
    return list(map(tuple, lines))


def baseline(line: Sequence[Word]) -> tuple[float, Point]:
    """The slope of the baseline of a line that is not turned, and a point of it.

    It runs below the words whose letters all stand on it.
    """
    standing = [word for word in line if not BELOW.intersection(word.text)] or line
    first = standing[0]
    last = standing[-1]
    x1, y1 = first.polygon[3]
    x2, y2 = last.polygon[2]
    if standing is line:  # letters below the line take about a fifth of the height
        y1 -= DESCENT * (first.box.bottom - first.box.top)
        y2 -= DESCENT * (last.box.bottom - last.box.top)
    return (y2 - y1) / max(1.0, x2 - x1), (x1, y1)


def tsv(pages: Mapping[int, Page]) -> str:
    """The table of Tesseract: a row for each page, block, paragraph, line and word."""
    lines = ["\t".join(_TSV_COLUMNS)]

    def add(
        numbers: Sequence[int],
        words: Sequence[Word],
        confidence: float = -1,
        text: str = "",
    ) -> None:
        left, top, right, bottom = _pixels(words)
        level = len(numbers)
        padding = [0] * (_LEVELS - level)
        place = [left, top, right - left, bottom - top]
        cells = [level, *numbers, *padding, *place, confidence, one_line(text)]
        lines.append("\t".join(map(str, cells)))

    for number, page in pages.items():
        size = [0, 0, page.width, page.height]
        lines.append("\t".join(map(str, [1, number, 0, 0, 0, 0, *size, -1, ""])))
        for b, block in enumerate(page.blocks, 1):
            together = list(chain.from_iterable(block))
            add([number, b], together)
            add([number, b, 1], together)
            for n, line in enumerate(block, 1):
                add([number, b, 1, n], line)
                for w, word in enumerate(line, 1):
                    percent = round(100 * word.confidence, 4)
                    add([number, b, 1, n, w], [word], percent, word.text)
    return "\n".join(lines) + "\n"


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
