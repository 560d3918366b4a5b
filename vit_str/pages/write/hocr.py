"""Pages as hOCR."""

from collections.abc import Callable, Mapping, Sequence
from html import escape
from itertools import chain

from vit_str.files import escaped_name
from vit_str.pages.arrange.frame import text_quarters
from vit_str.pages.page import Page, Word
from vit_str.pages.write.printed_lines import baseline, pixels, printed_lines


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
    return "bbox " + " ".join(map(str, pixels(words)))


def line_title(line: Sequence[Word]) -> str:
    """Where a line lies: its box, and quarters by which it is turned to the left, or its baseline.

    A baseline is a slope, and how far below the bottom of the box it begins.
    """
    quarters = -text_quarters(line) % 4
    if quarters:
        return f"{_bbox(line)}; textangle {90 * quarters}"
    slope, (x, y) = baseline(line)
    left, _, _, bottom = pixels(line)
    below = round(y + slope * (left - x) - bottom)
    return f"{_bbox(line)}; baseline {slope:.3f} {below}"
