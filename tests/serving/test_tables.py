"""``POST /v1/page?tables=1``: the tables of a page as files."""

import base64
import csv
import io
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "pages"))
from made_pages import line, page_of, ruled_page

from vit_str.serving import documents
from vit_str.serving.page_records import PageFound, PageOfUpload, record_of

BILL = [["Article", "Price"], ["Coffee", "1.234,50"], ["=cmd()", "-7,25"]]


def record(page, **wanted):
    return record_of(PageOfUpload(**wanted))(PageFound(page))


def test_tables_are_given_as_csv_and_as_a_workbook():
    openpyxl = pytest.importorskip("openpyxl")
    row = record(ruled_page(BILL), tables=True)
    rows = list(csv.reader(io.StringIO(row["csv"])))
    assert rows == [BILL[0], ["Coffee", "1234.50"], ["'=cmd()", "-7.25"]]
    kind, _, content = row["xlsx"].partition(";base64,")
    assert kind.startswith("data:application/vnd.openxmlformats-")
    (sheet,) = openpyxl.load_workbook(io.BytesIO(base64.b64decode(content)))
    assert [cell.value for cell in sheet["B"]] == ["Price", 1234.5, -7.25]
    assert sheet["A3"].data_type == "s"


def test_without_openpyxl_there_is_csv_alone(monkeypatch):
    monkeypatch.setattr(documents, "find_spec", lambda name: None)
    row = record(ruled_page(BILL), tables=True)
    assert row["csv"].startswith("Article,Price\n") and "xlsx" not in row


def test_there_are_no_files_that_nobody_asked_for_or_that_hold_nothing():
    rows = record(ruled_page(BILL)), record(page_of([line("a b", 50, 50)]), tables=True)
    for row in rows:
        assert not {"csv", "xlsx"} & {*row}
