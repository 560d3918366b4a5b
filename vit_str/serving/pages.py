"""Uploads of whole pictures and files of pages -> records, a page at a time."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterable
from functools import partial
from hashlib import sha256
from threading import Event
from typing import TYPE_CHECKING, Any, TypeVar

from PIL import Image

from vit_str.decoding.search import Search
from vit_str.images.refusals import UnreadableImage
from vit_str.machine import install_hint
from vit_str.pages.write.document_pages import DocumentPage, document_pages, unread_page
from vit_str.serving.guard import Metrics
from vit_str.serving.limits import (
    MOST_CHECKED,
    MOST_PAGES,
    Capacity,
    Limits,
    Refusal,
)
from vit_str.serving.page_readers import PageReaderOpener, no_pages, reads_pages
from vit_str.serving.page_records import PageFound, PageOfUpload, check_of, record_of
from vit_str.serving.page_turns import PageTurns, patience_for_pages
from vit_str.serving.thread_pools import FairThreadPool, set_at_end
from vit_str.serving.uploads import NoPage, Upload, UploadDecoder

if TYPE_CHECKING:
    from vit_str.reading.checking.texts import GivenText

Made = TypeVar("Made")


class PageService:
    """Reads pages, one after the other.

    Args:
        opener: of page readers.
        decoder: of uploads.
        limits: of requests.
        metrics: what is counted.

    Attributes:
        capacity: for pages in progress.
        pool: the thread that reads.
        turns: of clients with it.
    """

    def __init__(
        self,
        opener: PageReaderOpener,
        decoder: UploadDecoder,
        limits: Limits,
        metrics: Metrics,
    ) -> None:
        self._opener = opener
        self._decoder = decoder
        self._metrics = metrics
        report = metrics.queue.labels("pages").set
        of_one = -(-limits.pages // 2)
        self.capacity = Capacity(limits.pages, of_one, "pages", report)
        self.pool = FairThreadPool(1, patience=patience_for_pages(limits))
        self.pool.prepare(opener.prepare)
        self.turns = PageTurns(limits, self.pool)

    async def read(
        self, upload: Upload, wanted: PageOfUpload, client: str
    ) -> dict[str, Any]:
        """The record of one page of an upload, see `page_row`.

        Raises:
            Refusal: the server reads no pages.
        """
        _require_pages()
        with self.capacity.places(client, 1):
            return await self._read(upload, wanted, client, record_of(wanted))

    async def check(
        self,
        upload: Upload,
        wanted: PageOfUpload,
        given: GivenText,
        client: str,
        html: bool = False,
    ) -> dict[str, Any]:
        """The verdicts on a text that one page of an upload should say, see `Checked.rows`.

        Args:
            upload: the file.
            wanted: which page of it.
            given: the text.
            client: who asks.
            html: give a page too that shows the text beside the picture.

        Raises:
            Refusal: the server reads no pages, or the text has too many words.
        """
        _require_pages()
        if len(given.words) > MOST_CHECKED:
            raise Refusal(422, f"a text may hold {MOST_CHECKED:,} words; send fewer")
        make = check_of(wanted, given, html)
        with self.capacity.places(client, 1):
            return await self._read(
                upload, wanted._replace(all_words=True), client, make
            )

    async def stream_document(
        self,
        upload: Upload,
        numbers: Iterable[int],
        search: Search,
        client: str,
        write: Callable[[DocumentPage], str],
    ) -> AsyncGenerator[str, None]:
        """The text that is written of each page of an upload, as it is read.

        Other clients have their turns between the pages.

        Args:
            upload: the file.
            numbers: of the pages that are wanted, from 1, in order.
            search: which readings to look for.
            client: who asks.
            write: what to write of a page; called in the thread that has read it.

        Raises:
            Refusal: the server reads no pages, or the file has none of those that are wanted.
        """
        _require_pages()
        count: int | None = None  # of pages of the file
        are_read = False

        def written(found: PageFound) -> str:
            nonlocal count
            count = found.pages
            if count is None and found.page.error is not None:
                # Of a damaged file no other page is asked for
                count = found.page.number
            return write(found.page)

        with self.capacity.places(client, 1):
            for place, number in enumerate(numbers):
                if place == MOST_PAGES:
                    raise Refusal(
                        422, f"a request reads {place:,} pages; ask for pages={number}-"
                    )
                if count is not None and number > count:
                    return
                wanted = PageOfUpload(number, search)
                try:
                    text = await self._read(upload, wanted, client, written)
                except NoPage:
                    if are_read:
                        return
                    raise
                yield text
                are_read = True
                if count is None and not upload.may_have_pages:
                    return

    async def _read(
        self,
        upload: Upload,
        wanted: PageOfUpload,
        client: str,
        make: Callable[[PageFound], Made],
    ) -> Made:
        """Read a page, and return what ``make`` makes of it in the thread that reads."""
        with set_at_end() as over:
            self.turns.check_time()
            try:
                job = upload, wanted.number, over
                picture = await self._decoder.costly_page(*job, client)
                work = upload, wanted, picture, over, make
                return await self.pool.do(client, self._make_of_page, *work)
            except UnreadableImage as error:
                self._metrics.pictures.labels("unreadable").inc()
                page = unread_page(upload.name, wanted.number, error.reason)
                return make(PageFound(page, None, error.pages))

    def _make_of_page(
        self,
        upload: Upload,
        wanted: PageOfUpload,
        picture: Image.Image | None,
        over: Event,
        make: Callable[[PageFound], Made],
    ) -> Made:
        from vit_str.pages.read.sure_words import MINIMUM_CONFIDENCE

        picture = picture or self._decoder.page(upload, wanted.number, over)
        turn = self.turns.begin(sha256(upload.data + repr(wanted).encode()).digest())
        check = partial(self.turns.check, turn, over)
        least = 0.0 if wanted.all_words else MINIMUM_CONFIDENCE
        reader = self._opener.open(wanted.search, check, least)
        with self.turns.mean_time.measured():
            page = reader.read(picture, boxes=reader.reader.has_boxes)
        self._metrics.pictures.labels("read").inc()
        (found,) = document_pages(upload.name, {wanted.number: page})
        count = picture.info.get("pages")
        return make(PageFound(found, picture, count, page, reader))


def _require_pages() -> None:
    if not reads_pages():
        raise no_pages(f"{install_hint('page')} where it runs, and start it again")
