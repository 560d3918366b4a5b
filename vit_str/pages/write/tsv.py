"""Pages as the table of Tesseract."""

from collections.abc import Mapping, Sequence
from itertools import chain

from vit_str.console import one_line
from vit_str.pages.page import Page, Word
from vit_str.pages.write.printed_lines import pixels

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


def tsv(pages: Mapping[int, Page]) -> str:
    """The table of Tesseract: a row for each page, block, paragraph, line and word."""
    lines = ["\t".join(_TSV_COLUMNS)]

    def add(
        numbers: Sequence[int],
        words: Sequence[Word],
        confidence: float = -1,
        text: str = "",
    ) -> None:
        left, top, right, bottom = pixels(words)
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
