"""Documents as they are streamed: what stands before, between and behind their pages."""

import io
import json
from base64 import b64encode
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from vit_str.pages.write.document_pages import DocumentPage
from vit_str.pages.write.html import HTML_END, html_head, html_section
from vit_str.pages.write.spreadsheets import tables_as_csv, write_workbook

_WORKBOOK = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"


class DocumentFormat(NamedTuple):
    """How a document is written, page by page.

    Attributes:
        media_type: of the answer.
        head: what stands before the first page, made of the name of the file.
        write: a page as text, which may be empty.
        between: what stands between two pages that are not empty.
        end: what stands behind the last page.
    """

    media_type: str
    head: Callable[[str], str]
    write: Callable[[DocumentPage], str]
    between: str
    end: str


def _json_head(name: str) -> str:
    return f'{{"path": {json.dumps(name)}, "pages": ['


def _json_page(page: DocumentPage) -> str:
    return json.dumps(page.to_dict(), ensure_ascii=False)


def _markdown(page: DocumentPage) -> str:
    return page.markdown if page.error is None else f"*{_told(page)}*"


def _html(page: DocumentPage) -> str:
    return html_section(page) if page.error is None else f"<p>{_told(page)}</p>\n"


def _tables(page: DocumentPage) -> str:
    return tables_as_csv([page]) if page.tables else ""


def _told(page: DocumentPage) -> str:
    """Says that a page is missing, where no field has room for it."""
    return f"page {page.number} cannot be read"


FORMATS = {
    "json": DocumentFormat("application/json", _json_head, _json_page, ", ", "]}"),
    "md": DocumentFormat("text/markdown", lambda _: "", _markdown, "\n\n---\n\n", "\n"),
    "html": DocumentFormat(
        "text/html", lambda name: html_head(Path(name).name), _html, "", HTML_END
    ),
    "csv": DocumentFormat("text/csv", lambda _: "", _tables, "\n", ""),
}
"""By name, see `DocumentQuery`."""


def files_of_tables(page: DocumentPage) -> dict[str, str]:
    """The tables of a page as ``csv``, and where openpyxl is installed as ``xlsx``, a data: URL."""
    files = {"csv": tables_as_csv([page])}
    if find_spec("openpyxl") is not None:
        workbook = io.BytesIO()
        write_workbook([page], workbook)
        content = b64encode(workbook.getvalue()).decode("ascii")
        files["xlsx"] = f"data:{_WORKBOOK};base64,{content}"
    return files
