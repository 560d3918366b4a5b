"""Pages as programs take them: blocks with roles, tables with cells, words; Markdown, JSON."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from math import prod
from typing import TYPE_CHECKING, Any, Literal

from vit_str.decoding.boxes import Box
from vit_str.decoding.readings import error_row
from vit_str.pages.arrange.frame import as_read
from vit_str.pages.arrange.parts import Heading, Item, Paragraph, Part, Running
from vit_str.pages.arrange.structure import parts_of
from vit_str.pages.arrange.tables import Span
from vit_str.pages.arrange.tables import Table as Cells
from vit_str.pages.page import Page, Word
from vit_str.pages.write.html_tables import table_element
from vit_str.pages.write.json_rows import page_row
from vit_str.pages.write.markdown import joined, markdown_of

if TYPE_CHECKING:
    import pandas

Role = Literal["heading", "paragraph", "item", "table", "running"]
"""Roles of blocks; ``running`` are running heads, page footers and numbers of pages."""

_DIGITS = 6  # of confidences, after the point


@dataclass(frozen=True, slots=True)
class Table:
    """A table of a page.

    Attributes:
        cells: words by row and column; those of a cell that covers several are in the first.
        spans: cells that cover several rows or columns.
    """

    cells: tuple[tuple[tuple[Word, ...], ...], ...]
    spans: tuple[Span, ...] = ()

    @property
    def rows(self) -> list[list[str]]:
        """The texts of the cells; all rows have as many."""
        return [[_text(cell) for cell in row] for row in self.cells]

    @property
    def words(self) -> list[Word]:
        """All words, row by row."""
        return [word for row in self.cells for cell in row for word in cell]

    @property
    def box(self) -> Box:
        """Around all of its words, in pixels of the upright image."""
        return _box(self.words)

    def to_frame(self) -> "pandas.DataFrame":
        """A table of pandas whose columns are named by the first row; texts as they are printed.

        It needs pandas.
        """
        import pandas

        head, *rows = self.rows or [[]]
        return pandas.DataFrame(rows, columns=head)

    def to_html(self) -> str:
        """An element ``table`` of HTML."""
        return table_element(self.rows, self.spans)


@dataclass(frozen=True, slots=True)
class Block:
    """A part of a page: a heading, a paragraph, an item of a list, a table, or running text.

    Attributes:
        role: what it is.
        order: its place in the order of reading, from 0.
        words: in reading order.
        text: of a paragraph whose lines somebody ended, such as an address, with its line breaks;
            of a table a line for each row, with tabs between cells.
        level: of a heading, from 1, the largest; of an item, in how many others it is, from 0.
        mark: of an item: a bullet, a dash, a number or a letter.
        table: its cells, if it is one.
    """

    role: Role
    order: int
    words: tuple[Word, ...]
    text: str
    level: int = 0
    mark: str = ""
    table: Table | None = None

    @property
    def box(self) -> Box:
        """Around all of its words, in pixels of the upright image."""
        return _box(self.words)

    @property
    def confidence(self) -> float:
        """The geometric mean of the confidences of its characters, 0 to 1."""
        length = sum(len(word.text) for word in self.words)
        return prod(word.confidence for word in self.words) ** (1 / max(1, length))


@dataclass(frozen=True)
class DocumentPage:
    """A page of a document.

    Attributes:
        number: of the page, from 1.
        page: its words in lines, as `PageReader.read` gives them.
        name: of the file.
        error: why it could not be read; None if it could. Then it has no words.
    """

    number: int
    page: Page
    name: str
    error: str | None = None
    _parts: Sequence[Part] = field(default=(), repr=False, compare=False)

    @property
    def width(self) -> int:
        """Of the picture, in pixels, upright."""
        return self.page.width

    @property
    def height(self) -> int:
        """Of the picture, in pixels, upright."""
        return self.page.height

    @property
    def words(self) -> list[Word]:
        """All words in reading order."""
        return self.page.words

    @property
    def text(self) -> str:
        """Lines as printed, with an empty line between blocks of lines."""
        return self.page.text

    @cached_property
    def markdown(self) -> str:
        """Headings, paragraphs, items and tables, without what runs above and below the page."""
        return markdown_of(self._parts)

    @cached_property
    def blocks(self) -> list[Block]:
        """The parts of the page in reading order."""
        own = zip(as_read(self.page).words, self.page.words, strict=True)
        words = dict(own)
        return [_block(n, part, words) for n, part in enumerate(self._parts)]

    @property
    def tables(self) -> list[Table]:
        """The tables of the page."""
        return [block.table for block in self.blocks if block.table is not None]

    def to_dict(self) -> dict[str, Any]:
        """Plain values: what ``vit-str read --page --format jsonl`` writes of the page."""
        if self.error is not None:
            row = error_row(self.name, self.error)
            return row | {"words": [], "structure": [], "page": self.number}
        places = {id(word): place for place, word in enumerate(self.words)}
        structure = [_block_row(block, places) for block in self.blocks]
        row = page_row(self.name, self.page)
        return row | {"structure": structure, "page": self.number}


def document_pages(name: str, pages: Mapping[int, Page]) -> list[DocumentPage]:
    """Pages of one file, whose headings have the same levels on all of them.

    Args:
        name: of the file.
        pages: by number.
    """
    parts = parts_of(list(pages.values()))
    return [
        DocumentPage(number, page, name, None, own)
        for (number, page), own in zip(pages.items(), parts, strict=True)
    ]


def unread_page(name: str, number: int, reason: str) -> DocumentPage:
    """A page that could not be read."""
    return DocumentPage(number, Page(0, 0, ()), name, reason)


def _block(order: int, part: Part, own: Mapping[Word, Word]) -> Block:
    """A part of a page with words of the picture, not of the page as it is read."""
    if isinstance(part, Cells):
        cells = tuple(
            tuple(tuple(own[word] for word in cell) for cell in row)
            for row in part.rows
        )
        table = Table(cells, part.spans)
        text = "\n".join(map("\t".join, table.rows))
        return Block("table", order, tuple(table.words), text, table=table)
    rows = [[own[word] for word in row.words] for row in part.rows]
    words = tuple(chain.from_iterable(rows))
    lines = [_text(row) for row in rows]
    keeps_lines = isinstance(part, Paragraph) and part.keeps_lines
    text = "\n".join(lines) if keeps_lines else joined(lines)
    if isinstance(part, Heading):
        return Block("heading", order, words, text, part.level)
    if isinstance(part, Item):
        return Block("item", order, words, text, part.depth, part.mark)
    role: Role = "running" if isinstance(part, Running) else "paragraph"
    return Block(role, order, words, text)


def _block_row(block: Block, places: Mapping[int, int]) -> dict[str, Any]:
    """A block as plain values; words by their places among those of the page."""

    def places_of(words: Sequence[Word]) -> list[int]:
        return [places[id(word)] for word in words]

    row: dict[str, Any] = {
        "role": block.role,
        "text": block.text,
        "confidence": round(block.confidence, _DIGITS),
        "box": [round(side, 1) for side in block.box],
        "words": places_of(block.words),
    }
    if block.role in ("heading", "item"):
        row["level"] = block.level
    if block.mark:
        row["mark"] = block.mark
    if block.table is not None:
        row["rows"] = block.table.rows
        row["spans"] = [span._asdict() for span in block.table.spans]
    return row


def tables_of(pages: Sequence[DocumentPage]) -> Iterator[tuple[DocumentPage, Table]]:
    """All tables of some pages, with theirs."""
    for page in pages:
        for table in page.tables:
            yield page, table


def _text(words: Sequence[Word]) -> str:
    return " ".join(word.text for word in words)


def _box(words: Sequence[Word]) -> Box:
    """Around some words; nothing around none."""
    if not words:
        return Box(0.0, 0.0, 0.0, 0.0)
    left, top, right, bottom = zip(*(word.box for word in words), strict=True)
    return Box(min(left), min(top), max(right), max(bottom))
