"""Tables -> xlsx and csv."""

import csv
import io
import sys
import zipfile
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))
from made_pages import line, page_of, ruled_page

from vit_str.pages.arrange.tables import Span
from vit_str.pages.page import Page
from vit_str.pages.write.document_pages import DocumentPage, Table
from vit_str.pages.write.spreadsheets import tables_as_csv, write_workbook

openpyxl = pytest.importorskip("openpyxl")

BILL = [
    ["Article", "Price", "Share"],
    ["Coffee", "1.234,50", "12,5 %"],
    ["=cmd()", "-7,25", "007"],
]


def sheets_of(pages, tmp_path):
    path = tmp_path / "tables.xlsx"
    write_workbook(pages, path)
    return openpyxl.load_workbook(path)


def test_numbers_are_numbers_and_formulas_are_text(tmp_path):
    workbook = sheets_of([ruled_page(BILL)], tmp_path)
    (sheet,) = workbook.worksheets
    assert sheet.title == "Page 1 table 1"
    values = [[cell.value for cell in row] for row in sheet.rows]
    assert values == [
        BILL[0],
        ["Coffee", 1234.5, 0.125],
        ["=cmd()", -7.25, "007"],
    ]
    formula = sheet["A3"]
    assert formula.data_type == "s" and formula.quotePrefix
    assert sheet["B2"].number_format == "#,##0.00"
    assert sheet["C2"].number_format == "0.0%"
    with zipfile.ZipFile(tmp_path / "tables.xlsx") as file:
        assert b"<f>" not in file.read("xl/worksheets/sheet1.xml")


def test_every_table_has_a_sheet_of_its_own_name(tmp_path):
    pages = [ruled_page(BILL, 1), ruled_page(BILL, 2), ruled_page(BILL, 2)]
    names = sheets_of(pages, tmp_path).sheetnames
    assert len({*names}) == 3 and names[:2] == ["Page 1 table 1", "Page 2 table 1"]


def test_merged_cells_stay_merged(tmp_path, monkeypatch):
    page = ruled_page(BILL)
    (table,) = page.tables
    merged = Table(table.cells, (Span(0, 1, 1, 2),))
    monkeypatch.setattr(DocumentPage, "tables", [merged])
    (sheet,) = sheets_of([page], tmp_path).worksheets
    assert [str(each) for each in sheet.merged_cells.ranges] == ["B1:C1"]


def test_without_tables_the_lines_of_the_text_are_written(tmp_path):
    page = page_of([line("Open daily", 50, 50), line("=1+1", 50, 150)])
    (sheet,) = sheets_of([page], tmp_path).worksheets
    assert sheet.title == "Text"
    assert [cell.value for cell in sheet["A"]] == ["Open daily", "=1+1"]
    assert sheet["A2"].data_type == "s"
    assert tables_as_csv([page]) == "Open daily\n'=1+1\n"


def test_an_empty_page_is_an_empty_sheet(tmp_path):
    (sheet,) = sheets_of([page_of([])], tmp_path).worksheets
    assert sheet.max_row == 1 and sheet["A1"].value is None
    assert tables_as_csv([page_of([])]) == ""


def test_a_table_without_cells_and_one_of_many_rows(tmp_path, monkeypatch):
    page = ruled_page(BILL)
    many = Table((page.tables[0].cells[1],) * 10_000)
    monkeypatch.setattr(DocumentPage, "tables", [Table(()), many])
    empty, full = sheets_of([page], tmp_path).worksheets
    assert empty["A1"].value is None and full.max_row == 10_000
    assert full["B10000"].value == 1234.5
    assert Table(()).to_frame().empty and Table(()).rows == []


def test_more_rows_than_a_sheet_holds_are_refused(tmp_path, monkeypatch):
    page = ruled_page(BILL)
    monkeypatch.setattr("vit_str.pages.write.spreadsheets._MOST_ROWS", 2)
    with pytest.raises(ValueError, match="more than a sheet holds; write it as csv"):
        write_workbook([page], tmp_path / "tables.xlsx")


def test_characters_that_no_sheet_can_hold_are_left_out(tmp_path):
    page = page_of([line("bell\x07 ok", 50, 50)])
    assert sheets_of([page], tmp_path).worksheets[0]["A1"].value == "bell ok"


@pytest.mark.parametrize("sign", ["=", "+", "-", "@", "＝", "＋", "－", "＠"])
def test_nothing_is_computed_however_it_begins(sign, tmp_path):
    page = page_of([line(f"{sign}cmd|'/c calc'!A1", 50, 50)])
    cell = sheets_of([page], tmp_path).worksheets[0]["A1"]
    assert cell.value.startswith(sign)
    assert cell.data_type == "s" and cell.quotePrefix
    assert tables_as_csv([page]).startswith(f"'{sign}cmd")


def test_csv_has_plain_numbers_and_no_formulas():
    pages = [ruled_page(BILL), ruled_page([["a", "b"], ["1", "@x"]], 2)]
    rows = list(csv.reader(io.StringIO(tables_as_csv(pages))))
    assert rows[:3] == [
        BILL[0],
        ["Coffee", "1234.50", "12,5 %"],
        ["'=cmd()", "-7.25", "007"],
    ]
    assert rows[3:] == [[], ["a", "b"], ["1", "'@x"]]


def test_without_openpyxl_one_line_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(ValueError, match="needs openpyxl, run: "):
        write_workbook([DocumentPage(1, Page(1, 1, ()), "x")], tmp_path / "x.xlsx")
