"""Pages that were read -> the records that answer requests."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from PIL import Image

from vit_str.decoding.search import Search
from vit_str.pages.write.document_pages import DocumentPage
from vit_str.pages.write.previews import data_url
from vit_str.serving.documents import files_of_tables

if TYPE_CHECKING:
    from vit_str.pages.page import Page
    from vit_str.pages.reader import PageReader
    from vit_str.reading.checking.texts import GivenText


class PageOfUpload(NamedTuple):
    """Options of a request for one page."""

    number: int = 1
    search: Search = Search()
    picture: bool = False  # give the page as a picture too
    structure: bool = False  # and its headings, paragraphs and tables
    tables: bool = False  # and the tables as files
    all_words: bool = False  # and those that are doubtful


class PageFound(NamedTuple):
    """A page that was read, or could not be."""

    page: DocumentPage
    picture: Image.Image | None = None
    pages: int | None = None  # of the file, where somebody has counted them
    read: Page | None = None  # the same, as it was read
    reader: PageReader | None = None  # that has read it


def record_of(wanted: PageOfUpload) -> Callable[[PageFound], dict[str, Any]]:
    """Makes the record that a request for a page asks for."""

    def record(found: PageFound) -> dict[str, Any]:
        row = found.page.to_dict()
        if not wanted.structure:
            del row["structure"]
        if found.pages:
            row["pages"] = found.pages
        if wanted.picture and found.picture is not None:
            row["picture"] = data_url(found.picture)
        if wanted.tables and found.page.tables:
            row |= files_of_tables(found.page)
        return row

    return record


def check_of(
    wanted: PageOfUpload, given: GivenText, html: bool
) -> Callable[[PageFound], dict[str, Any]]:
    """Makes the record of a text that a page should say.

    Args:
        wanted: which page.
        given: the text.
        html: give a page too that shows the text beside the picture.
    """

    def record(found: PageFound) -> dict[str, Any]:
        row: dict[str, Any] = {
            "path": found.page.name,
            "page": wanted.number,
            "error": found.page.error,
            "words": [],
        }
        if found.picture is None or found.read is None or found.reader is None:
            return row
        from vit_str.reading.checking.checker import PageChecker
        from vit_str.reading.checking.html import html_of

        checked = PageChecker(found.reader).compare(found.picture, found.read, given)
        row |= {
            "width": found.read.width,
            "height": found.read.height,
            "right": checked.is_right,
            "expected_errors": checked.expected_errors,
            "interval": list(checked.interval),
            "words": checked.rows(),
        }
        if wanted.picture:
            row["picture"] = data_url(found.picture)
        if html:
            pictures = {1: data_url(found.picture)}
            row["html"] = html_of(checked, pictures, found.page.name)
        return row

    return record
