"""Pages as Markdown: headings by their size, paragraphs joined, tables as they lie."""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise

import numpy as np

from vit_str.reading.pages.frame import as_read
from vit_str.reading.pages.page import Page, Word

Line = Sequence[Word]

_HEADINGS = (1.8, 1.45, 1.2)  # heights of lines over that of the text, by level
_LONGEST_HEADING = 12  # words
_CELL_GAP = 1.2  # white between the cells of a row, over the height of the line
_SHORT = 0.7  # of the width of a block: a line that ends a paragraph
_ITEM = re.compile(r"(?:[-–•·*+]|\d{1,3}[.)])$")


def markdown(pages: Sequence[Page]) -> str:
    """The text of pages, which are set apart by a rule; however they are turned."""
    pages = [as_read(page) for page in pages]
    sizes = [(_height(line), sum(len(word.text) for word in line)) for line in _lines(pages)]
    heights = np.repeat([size for size, _ in sizes], [count for _, count in sizes])
    size = float(np.median(heights)) if len(heights) else 1.0
    return "\n\n---\n\n".join("\n\n".join(_parts(page, size)) for page in pages) + "\n"


def _lines(pages: Sequence[Page]) -> Iterator[Line]:
    return (line for page in pages for block in page.blocks for line in block)


def _parts(page: Page, size: float) -> Iterator[str]:
    """Headings, paragraphs, lists and tables."""
    for block in page.blocks:
        rows = [_cells(line) for line in block]
        kinds = [_kind(line, cells, size) for line, cells in zip(block, rows, strict=True)]
        for kind, group in groupby(range(len(block)), key=kinds.__getitem__):
            chosen = list(group)
            if kind == "table" and len(chosen) > 1:
                yield _table([rows[index] for index in chosen])
            elif kind.startswith("#"):
                yield f"{kind} {' '.join(_text(block[index]) for index in chosen)}"
            else:
                yield from _paragraphs([block[index] for index in chosen])


def _kind(line: Line, cells: Sequence[Line], size: float) -> str:
    """``table``, ``text``, or the marks of a heading."""
    if len(cells) > 1:
        return "table"
    for level, ratio in enumerate(_HEADINGS, 1):
        if _height(line) > ratio * size and len(line) <= _LONGEST_HEADING:
            return "#" * level
    return "text"


def _paragraphs(lines: Sequence[Line]) -> Iterator[str]:
    """Lines joined to paragraphs; items of a list stay lines of their own."""
    left, right = min(line[0].box.left for line in lines), max(line[-1].box.right for line in lines)
    text = ""
    for line in lines:
        item = len(line) > 1 and _ITEM.match(line[0].text)
        if text and item:
            yield text
            text = ""
        added = f"- {_text(line[1:])}" if item and not item[0][0].isdigit() else _text(line)
        if text.endswith("-") and added[:1].islower():
            text = text[:-1] + added
        else:
            text = f"{text} {added}" if text else added
        if line[-1].box.right < left + _SHORT * (right - left):
            yield text
            text = ""
    if text:
        yield text


def _table(rows: Sequence[Sequence[Line]]) -> str:
    """Rows of cells in columns, which are where cells lie above each other."""
    spans = sorted((cell[0].box.left, cell[-1].box.right) for cells in rows for cell in cells)
    columns = [spans[0]]
    for left, right in spans[1:]:
        if left < columns[-1][1]:
            columns[-1] = columns[-1][0], max(right, columns[-1][1])
        else:
            columns.append((left, right))
    starts = [left for left, _ in columns]
    lines = []
    for cells in rows:
        texts = [""] * len(columns)
        for cell in cells:
            place = int(np.searchsorted(starts, cell[0].box.left, "right")) - 1
            texts[place] = f"{texts[place]} {_text(cell)}".strip()
        lines.append(f"| {' | '.join(texts)} |")
    return "\n".join([lines[0], f"|{'---|' * len(columns)}", *lines[1:]])


def _cells(line: Line) -> list[Line]:
    """Words of a line, cut where the white between them is wide."""
    cells = [[line[0]]]
    for word, following in pairwise(line):
        if following.box.left - word.box.right > _CELL_GAP * _height(line):
            cells.append([])
        cells[-1].append(following)
    return list(cells)


def _height(line: Line) -> float:
    """The height of most of a line: small letters alone make a word low."""
    sides = [np.hypot(*np.subtract(word.polygon[3], word.polygon[0])) for word in line]
    return float(np.percentile(sides, 75))


def _text(words: Line) -> str:
    """Words with a space between them; what Markdown would obey is escaped."""
    text = re.sub(r"([\\`*_\[\]<>|])", r"\\\1", " ".join(word.text for word in words))
    return f"\\{text}" if text[:1] in "#+" else text
