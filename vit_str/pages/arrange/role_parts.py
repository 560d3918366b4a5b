"""Blocks whose roles are told -> headings, paragraphs, items and tables, as they are written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice, pairwise, product

from vit_str.pages.arrange.blocks import TABLE
from vit_str.pages.arrange.likelihood import ROLES_OF
from vit_str.pages.arrange.parts import (
    Heading,
    Item,
    Paragraph,
    Part,
    Running,
    would_fit,
)
from vit_str.pages.arrange.tables import Row, Span, Table, is_mark
from vit_str.pages.page import BlockRole, Cell, Page, Word

_KEEPS_LINES = ("code",)
_BULLET = "•"
_ENDED = (
    0.5  # share of lines behind which the next word had room, in text with such lines
)


def parts_with_roles(page: Page) -> Iterator[Part]:
    """The parts of a page whose blocks have roles.

    Args:
        page: in the frame in which it is read.
    """
    for block, role in zip(page.blocks, page.roles, strict=True):
        if role.name == TABLE:
            yield _table([word for line in block for word in line], role.cells)
        else:
            yield _part(block, role)


def _part(block: Sequence[Sequence[Word]], role: BlockRole) -> Part:
    rows = tuple(map(Row.of, block))
    if role.name == "heading":
        return Heading(role.level, rows)
    if role.name in ROLES_OF["running"]:
        return Running(rows)
    if role.name == "item":
        return _item(rows, role.level - 1)
    keeps_lines = role.name in _KEEPS_LINES or _are_ended(rows)
    return Paragraph(rows, keeps_lines=keeps_lines)


def _item(rows: tuple[Row, ...], depth: int) -> Item:
    """An item without its mark; one that has none to be read gets a bullet."""
    first, *others = rows
    mark, *words = first.words
    if not is_mark(mark.text):
        return Item(_BULLET, rows, first.left, depth)
    without = [Row.of(words)] if words else []
    return Item(mark.text, (*without, *others) or rows, mark.box.left, depth)


def _are_ended(rows: Sequence[Row]) -> bool:
    """Whether somebody ended the lines of a paragraph, as those of an address."""
    edge = max(row.right for row in rows)
    ended = [
        would_fit(row, following.words[0], edge) for row, following in pairwise(rows)
    ]
    return sum(ended) > _ENDED * len(ended)


def _table(words: Sequence[Word], cells: Sequence[Cell]) -> Table:
    rows = max(cell.row + cell.rows for cell in cells)
    columns = max(cell.column + cell.columns for cell in cells)
    grid: list[list[tuple[Word, ...]]] = [[()] * columns for _ in range(rows)]
    following = iter(words)
    for cell in cells:
        grid[cell.row][cell.column] += tuple(islice(following, cell.count))
    taken = {(cell.row, cell.column) for cell in cells}
    spans = []
    for cell in cells:
        span = Span(cell.row, cell.column, cell.rows, cell.columns)
        covered = set(
            product(
                range(span.row, span.row + span.rows),
                range(span.column, span.column + span.columns),
            )
        )
        covered.discard((cell.row, cell.column))
        if covered and not covered & taken:
            spans.append(span)
            taken |= covered
    return Table(tuple(map(tuple, grid)), tuple(spans))
