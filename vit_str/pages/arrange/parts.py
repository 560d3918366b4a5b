"""The parts of a page: headings, paragraphs, items of lists, tables, and what runs along."""

from dataclasses import dataclass

from vit_str.pages.arrange.tables import Row, Table
from vit_str.pages.page import Word

_FITS = 0.7  # heights of white left beside the next word where it would have fitted


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading; level 1 is the largest of the document."""

    level: int
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Lines that belong together.

    Attributes:
        rows: the lines.
        keeps_lines: whether somebody ended them where they end, as those of an address.
    """

    rows: tuple[Row, ...]
    keeps_lines: bool = False


@dataclass(frozen=True, slots=True)
class Item:
    """An item of a list, without its mark.

    Attributes:
        mark: a bullet, a dash, a number or a letter.
        rows: the lines.
        left: where the mark begins.
        depth: in how many items of other lists it is.
    """

    mark: str
    rows: tuple[Row, ...]
    left: float
    depth: int = 0


@dataclass(frozen=True, slots=True)
class Running:
    """A running head, a page footer or the number of a page."""

    rows: tuple[Row, ...]


Part = Heading | Paragraph | Item | Running | Table


def would_fit(row: Row, following: Word, edge: float) -> bool:
    """Whether the next word would have had room behind a row: then somebody ended the line."""
    width = following.box.right - following.box.left
    return row.right + width + _FITS * row.height < edge
