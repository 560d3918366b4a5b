"""A folder of invoices and receipts to one spreadsheet.

    python examples/invoices_to_spreadsheet.py papers/ bills.xlsx

Every row of every table is a row, behind the name of its file; numbers are numbers, by the decimal
sign of their page, and what looks like a formula is text. Files that cannot be read are named.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

from openpyxl import Workbook

import vit_str
from vit_str.pages.read.printed_numbers import decimal_sign, number_in

SUFFIXES = {".pdf", ".png", ".jpg", ".jpeg", ".tif", ".tiff", ".webp"}
Value = str | float


def main(folder: str, target: str) -> int:
    """Write the spreadsheet; returns the exit code."""
    workbook = Workbook(write_only=True)
    sheet = workbook.create_sheet("Tables")
    reader = vit_str.load_page()
    failures = 0
    for path in sorted(Path(folder).rglob("*")):
        if path.suffix.lower() not in SUFFIXES:
            continue
        try:
            # Page by page: a long file takes no more memory than a short one
            for page in vit_str.stream_pages(path, reader=reader):
                for row in rows_of(page):
                    sheet.append([path.name, page.number, *row])
        except vit_str.UnreadableImage as error:
            failures += 1
            print(error, file=sys.stderr)
    workbook.save(target)
    return 1 if failures else 0


def rows_of(page: vit_str.DocumentPage) -> Iterator[list[Value]]:
    """The rows of all tables of a page."""
    sign = decimal_sign(word.text for word in page.words)
    for table in page.tables:
        for row in table.rows:
            yield [value_of(text, sign) for text in row]


def value_of(text: str, sign: str | None) -> Value:
    """A number, or a text that no spreadsheet computes."""
    number = number_in(text, sign)
    if number is not None:
        return number.value
    return f"'{text}" if text.startswith(("=", "+", "-", "@")) else text


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: python examples/invoices_to_spreadsheet.py FOLDER FILE.xlsx")
    sys.exit(main(*sys.argv[1:]))
