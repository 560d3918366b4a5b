"""The tables of pages as a workbook with a sheet for each, and as CSV."""

import csv
import io
import re
from collections.abc import Sequence
from pathlib import Path
from tempfile import gettempdir
from typing import IO, TYPE_CHECKING, Any

from vit_str.machine import install_hint
from vit_str.pages.read.printed_numbers import Number, decimal_sign, number_in
from vit_str.pages.write.document_pages import DocumentPage, Table, tables_of

if TYPE_CHECKING:
    from openpyxl import Workbook
    from openpyxl.cell import Cell
    from openpyxl.worksheet.worksheet import Worksheet

TEXT_SHEET = "Text"
"""The sheet with the lines of the text, of pages without a table."""
_MOST_ROWS = 1_048_576
_MOST_COLUMNS = 16_384
_LONGEST_CELL = 32_767  # characters
_ILLEGAL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")  # in XML
# How cells begin that spreadsheets compute, in East Asia also with wide signs
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠")
_WIDEST = 60  # characters of a column
_NARROWEST = 8


def write_workbook(pages: Sequence[DocumentPage], target: Path | IO[bytes]) -> int:
    """Write an xlsx file with a sheet for every table; returns how many tables there are.

    Numbers are numbers, by the decimal sign of their page; all else is text, never a formula.
    Merged cells stay merged. Without any table, one sheet has the lines of the text.

    Raises:
        ValueError: openpyxl is not installed, a table has more rows than a sheet can hold, or there
            is no room for temporary files.
        OSError: the file cannot be written.
    """
    try:
        from openpyxl import Workbook
    except ModuleNotFoundError:
        hint = install_hint("xlsx")
        raise ValueError(f"writing xlsx files needs openpyxl, run: {hint}") from None
    workbook = Workbook()
    workbook.remove(workbook.active)
    count = 0
    for page in pages:
        sign = _sign(page)
        for place, table in enumerate(page.tables, 1):
            count += 1
            sheet = workbook.create_sheet(f"Page {page.number} table {place}")
            _fill(sheet, table.rows, sign)
            _merge(sheet, table)
    if not count:
        lines = _lines(pages)
        _fill(workbook.create_sheet(TEXT_SHEET), lines, None)
    content = _content_of(workbook)
    if isinstance(target, Path):
        target.write_bytes(content)
    else:
        target.write(content)
    return count


def _content_of(workbook: "Workbook") -> bytes:
    """A workbook as a file in memory: on a full disk, openpyxl would leave one open."""
    content = io.BytesIO()
    try:
        workbook.save(content)
    except Exception as error:
        # Of lxml, which writes every sheet to a temporary file first, and is no OSError
        if type(error).__name__ != "SerialisationError":
            raise
        raise ValueError(
            f"no sheet can be written to {gettempdir()}, the folder for temporary files; "
            "make room there, or set TMPDIR"
        ) from None
    return content.getvalue()


def tables_as_csv(pages: Sequence[DocumentPage]) -> str:
    """All tables as CSV, with an empty line between them; the lines of the text if there are none.

    Plain numbers have a decimal point and no signs between thousands; what a spreadsheet would take
    for a formula begins with an apostrophe.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    found = False
    for page, table in tables_of(pages):
        if found:
            writer.writerow([])
        found = True
        sign = _sign(page)
        writer.writerows([_plain(cell, sign) for cell in row] for row in table.rows)
    if not found:
        writer.writerows([_plain(cell, None) for cell in row] for row in _lines(pages))
    return text.getvalue()


def count_tables(pages: Sequence[DocumentPage]) -> int:
    """How many tables some pages have."""
    return sum(len(page.tables) for page in pages)


def _sign(page: DocumentPage) -> str | None:
    """The decimal sign of a page, by its cells, and by its words where these leave it open."""
    cells = [cell for table in page.tables for row in table.rows for cell in row]
    return decimal_sign(cells) or decimal_sign(word.text for word in page.words)


def _lines(pages: Sequence[DocumentPage]) -> list[list[str]]:
    """The lines of the text, a cell each."""
    return [
        [" ".join(word.text for word in line)]
        for page in pages
        for block in page.page.blocks
        for line in block
    ]


def _plain(text: str, sign: str | None) -> str:
    """A cell of CSV."""
    number = number_in(text, sign)
    if number is not None and not number.before and not number.after:
        return f"{number.value:.{number.decimals}f}"
    is_number = number is not None
    return f"'{text}" if text.startswith(_FORMULA) and not is_number else text


def _fill(sheet: "Worksheet", rows: Sequence[Sequence[str]], sign: str | None) -> None:
    """Write rows of texts into a sheet, the first as its head."""
    columns = max(map(len, rows), default=0)
    if len(rows) > _MOST_ROWS or columns > _MOST_COLUMNS:
        raise ValueError(
            f"a table of {len(rows):,} rows and {columns:,} columns, more than a sheet "
            "holds; write it as csv"
        )
    widths = [_NARROWEST] * columns
    for r, row in enumerate(rows, 1):
        for c, text in enumerate(row, 1):
            if text:
                _write_cell(sheet.cell(r, c), text, number_in(text, sign))
                widths[c - 1] = max(widths[c - 1], min(_WIDEST, len(text) + 2))
    from openpyxl.utils import get_column_letter

    for c, width in enumerate(widths, 1):
        sheet.column_dimensions[get_column_letter(c)].width = width
    if len(rows) > 1:
        sheet.freeze_panes = "A2"


def _write_cell(cell: "Cell", text: str, number: Number | None) -> None:
    """Write a number, or a text that stays one even when somebody edits it."""
    if number is not None:
        cell.value = _whole(number)
        cell.number_format = _format(number)
        return
    cell.value = _ILLEGAL.sub("", text)[:_LONGEST_CELL]
    cell.data_type = "s"
    if text.startswith(_FORMULA):
        cell.quotePrefix = True


def _whole(number: Number) -> Any:
    """A number without decimals as an int, which has no point in other programs either."""
    is_whole = not number.decimals and number.after != "%"
    return int(number.value) if is_whole else number.value


def _format(number: Number) -> str:
    """How a spreadsheet shows a number: as it is printed, with the signs of its own language."""
    shown = "#,##0" if number.is_grouped else "0"
    if number.decimals:
        shown += "." + "0" * number.decimals
    if number.after == "%":
        return f"{shown}%"
    before = f'"{number.before} "' if number.before else ""
    after = f'" {number.after}"' if number.after else ""
    return before + shown + after


def _merge(sheet: "Worksheet", table: Table) -> None:
    """Merge what is one cell in print."""
    from openpyxl.styles import Alignment

    for span in table.spans:
        sheet.merge_cells(
            start_row=span.row + 1,
            start_column=span.column + 1,
            end_row=span.row + span.rows,
            end_column=span.column + span.columns,
        )
        first = sheet.cell(span.row + 1, span.column + 1)
        first.alignment = Alignment(vertical="center")
