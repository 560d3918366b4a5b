"""Pages as if they had been read."""

from collections.abc import Sequence

from vit_str.pages.page import Page, Rule, Word
from vit_str.pages.write.document_pages import DocumentPage, document_pages

WIDTH, HEIGHT = 1000, 800
_LETTER = 14  # pixels of a letter
_HIGH = 24


def word(text: str, left: float, top: float, size: float = 12.0) -> Word:
    right = left + _LETTER * len(text)
    bottom = top + _HIGH
    polygon = (left, top), (right, top), (right, bottom), (left, bottom)
    return Word(text, 0.99, polygon, size=size, weight=2.0)


def line(text: str, left: float, top: float) -> tuple[Word, ...]:
    words = []
    for each in text.split():
        words.append(word(each, left, top))
        left = words[-1].box.right + _LETTER
    return tuple(words)


def page_of(
    lines: Sequence[tuple[Word, ...]], rules: Sequence[Rule] = (), number: int = 1
) -> DocumentPage:
    page = Page(WIDTH, HEIGHT, (tuple(lines),), "scan.png", tuple(rules))
    (found,) = document_pages("scan.png", {number: page})
    return found


def ruled_page(rows: Sequence[Sequence[str]], number: int = 1) -> DocumentPage:
    """A page with a table between rules."""
    columns = len(rows[0])
    across = [50 + 220 * column for column in range(columns + 1)]
    down = [100 + 50 * row for row in range(len(rows) + 1)]
    rules: list[Rule] = [((50, y), (across[-1], y)) for y in down]
    rules += [((x, 100), (x, down[-1])) for x in across]
    lines = []
    for y, row in zip(down, rows, strict=False):
        words = [
            each
            for x, text in zip(across, row, strict=False)
            for each in line(text, x + 10, y + 12)
        ]
        lines.append(tuple(words))
    return page_of([each for each in lines if each], rules, number)
