"""Uploads -> records: decoding, reading together, reading pages, each in threads of its own."""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from hashlib import sha256
from itertools import chain
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
from PIL import Image

from vit_str.characters.alphabets import ALPHABETS, LATIN, NOT_LATIN, script_of_language
from vit_str.decoding.readings import Reading, error_row, reading_row
from vit_str.decoding.search import Search
from vit_str.engines.engine import open_engine
from vit_str.engines.opened_once import OpenedOnce
from vit_str.images.headers import announced, is_costly
from vit_str.images.image_decoding import DecodedImage, decode, decode_apart
from vit_str.images.limited_process import ProcessLimits
from vit_str.images.refusals import UnreadableImage
from vit_str.machine import install_hint
from vit_str.pages.find.detection import RapidDetector, detector_file
from vit_str.pages.write.document_pages import DocumentPage, document_pages, unread_page
from vit_str.pages.write.previews import data_url
from vit_str.scripts.registry import (
    WeightsChoice,
    choose_weights,
    languages_of,
    lines_of,
)
from vit_str.scripts.script_detector import ScriptDetector
from vit_str.serving.batching_queue import BatchingQueue
from vit_str.serving.documents import files_of_tables
from vit_str.serving.guard import LOG, Metrics
from vit_str.serving.limits import (
    MOST_CHECKED,
    MOST_PAGES,
    Capacity,
    ClientDisconnected,
    Limits,
    Refusal,
)
from vit_str.serving.thread_pools import FairThreadPool, MeanTime, set_at_end
from vit_str.words.reader import Reader

if TYPE_CHECKING:
    from vit_str.engines.interface import Engine
    from vit_str.pages.find.detection import LineDetector
    from vit_str.pages.page import Page
    from vit_str.pages.read.lines import PageReaders
    from vit_str.pages.reader import PageReader
    from vit_str.reading.checking.texts import GivenText

_TOGETHER = 32
_PATIENCE = 0.005
_SEARCHED_TOGETHER = 8  # with up to 20 beams each
_DECODERS = 4  # threads, for pictures that are not large
_DECODERS_OF_ONE = 3  # of them, that a client may have at the same time
# Processes that decode large pictures of words, out of the way of others
_LARGE_DECODERS = 1
_DRAWERS = 2  # processes that draw pages of PDF files, or decode large ones
_FORMS = 2  # threads that take forms apart
_OTHERS = 4  # engines with weights of other scripts that are kept
_KNOWN_SEARCHES = 16  # whose lexicons and masks are kept
# Of the deadline, that a page may be read for while other clients wait
_TURN = 1 / 3
_KNOWN_DROPPED = 64  # pages whose turn was over; the next one of each is longer
_CLIENTS = 4  # with full queues of their own, before there is no room for others
_PDF = b"%PDF"
_PAGED = (
    b"II*\0",
    b"MM\0*",
    b"II+\0",
    b"MM\0+",
    b"GIF8",
)  # how TIFF and GIF files begin


Made = TypeVar("Made")


class Upload(NamedTuple):
    """A picture as it came."""

    name: str
    data: bytes


class ReadOptions(NamedTuple):
    """What a request asks for; what differs is not read together."""

    search: Search = Search()
    boxes: bool = False
    attention: bool = False


class PageOfUpload(NamedTuple):
    """What a request for a whole picture asks for."""

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


class _Turn(NamedTuple):
    """How long a page may be read for while others wait."""

    page: bytes  # a hash
    seconds: float  # of the processor: other work must not take its time
    end: float  # on the clock of its thread


class _Interruptible(Reader):
    """A reader that asks before every batch whether to go on."""

    def __init__(
        self, check: Callable[[], None], *arguments: Any, **options: Any
    ) -> None:
        super().__init__(*arguments, **options)
        self._check = check

    def encode(self, pixels: np.ndarray) -> Any:
        """See `Reader`; raises what the check raises."""
        self._check()
        return super().encode(pixels)


class ReadingService:
    """Reads what requests bring, with one model, or with that of the language of a request.

    Args:
        reader: what reads requests that name no language.
        limits: of requests.
        metrics: what is counted.
        effort: see ``vit_str.load``.
        model: the name or path that the reader was loaded from, which may stand for weights of
            several scripts; None if it stands for none but its own.
    """

    def __init__(
        self,
        reader: Reader,
        limits: Limits,
        metrics: Metrics,
        effort: str | None = None,
        model: str | Path | None = None,
    ) -> None:
        self.reader = reader
        self._model = model
        self._first = "" if model is None else choose_weights(model).first
        device = reader.describe().device
        self._other_engine = OpenedOnce(partial(open_engine, device=device), _OTHERS)
        self.limits = limits
        self.metrics = metrics
        self._effort = effort
        queue = metrics.queue.labels
        most = _CLIENTS * limits.queue
        searches = max(1, limits.queue // 2)
        self.crops = Capacity(most, limits.queue, "pictures", queue("crops").set)
        self._searches = Capacity(
            most // 2, searches, "pictures with a lexicon or the like"
        )
        pages_of_one = -(-limits.pages // 2)
        self.pages = Capacity(limits.pages, pages_of_one, "pages", queue("pages").set)
        self._searcher = OpenedOnce(self._open_searcher, _KNOWN_SEARCHES)
        self._page_parts = OpenedOnce(partial(_open_page_parts, reader))
        # Pictures that are not large, of which reading waits for more
        self._decoding = 0
        self._apart = ProcessLimits(seconds=limits.drawing)
        self.forms = FairThreadPool(_FORMS)
        self._decoders = FairThreadPool(_DECODERS, each=_DECODERS_OF_ONE)
        self._large_decoders = FairThreadPool(_LARGE_DECODERS)
        # What begins later has no turn left before its deadline
        patience = limits.deadline * (1 - _TURN)
        self._drawers = FairThreadPool(_DRAWERS, patience=patience)
        self._page_reader = FairThreadPool(1, patience=patience)
        self._page_reader.prepare(self._prepare_pages)
        self._page_time = MeanTime()
        self._dropped: OrderedDict[bytes, None] = OrderedDict()
        self._reading: BatchingQueue[DecodedImage, Reading] = BatchingQueue(
            partial(self._read, reader),
            size=_TOGETHER,
            patience=_PATIENCE,
            more_to_come=lambda: self._decoding,
        )
        self._searching = BatchingQueue(self._read_searching, _SEARCHED_TOGETHER)

    def warm_up(self) -> None:
        """Read once, so that the first request does not wait."""
        height, width = self.reader.image_size
        for count in (1, _TOGETHER):
            self.reader.read_pixels(np.zeros((count, 3, height, width), np.uint8))

    def _prepare_pages(self) -> None:
        """Open what pages need before the first of them, and tell who runs this if it cannot be."""
        try:
            if reads_pages():
                self._page_parts()
        except ValueError as error:
            LOG.warning("whole pictures are not read: %s", error)

    def _opened_page_parts(self) -> tuple[LineDetector, Reader | None]:
        """What finds lines, and what reads them if the reader of words does not.

        Raises:
            Refusal: it cannot be opened.
        """
        try:
            return self._page_parts()
        except ValueError as error:
            raise _no_pages("its log says what it lacks") from error

    def close(self) -> None:
        """Begin nothing more, and wait for what is in progress."""
        for worker in self._workers().values():
            worker.close()

    def other_languages(self) -> list[str]:
        """Codes of languages that are not Latin and can be read."""
        chosen = self._chosen(Search())
        if chosen.others:
            return list(chain.from_iterable(map(languages_of, chosen.others)))
        unknown = self.reader.charset.unknown
        codes = [code for code, letters in ALPHABETS.items() if not unknown(letters)]
        scripts = self.reader.charset.scripts - {LATIN}
        rest = (code for code in NOT_LATIN if code not in ALPHABETS)
        return codes + [code for code in rest if script_of_language(code) in scripts]

    def stuck(self) -> list[str]:
        """Names of the threads that have been busy with the same for longer than anybody waits."""
        most = self.limits.deadline
        return [
            name for name, worker in self._workers().items() if worker.busy_for() > most
        ]

    def _workers(self) -> dict[str, FairThreadPool | BatchingQueue[Any, Any]]:
        return {
            "forms": self.forms,
            "decoding": self._decoders,
            "decoding of large pictures": self._large_decoders,
            "drawing of pages": self._drawers,
            "reading of pages": self._page_reader,
            "reading": self._reading,
            "reading with a lexicon or the like": self._searching,
        }

    async def read(
        self, uploads: Sequence[Upload], options: ReadOptions, client: str
    ) -> list[dict[str, Any]]:
        """A record for each upload, see `reading_row`; one that cannot be read says so.

        Raises:
            Refusal: the request holds too many pictures.
        """
        if options.boxes or options.attention:
            with refused():
                self.reader.require_boxes(options.attention)
        searched = 0 if options.search == Search() else len(uploads)
        most = self._searches.each if searched else self.crops.each
        if len(uploads) > most:
            raise Refusal(
                422, f"such a request may hold {most} pictures; send several requests"
            )
        with (
            self.crops.places(client, len(uploads)),
            self._searches.places(client, searched),
        ):
            records = await asyncio.gather(
                *(self._record(upload, options, client) for upload in uploads),
                return_exceptions=True,
            )
        for record in records:
            if isinstance(record, BaseException):
                raise record
        return records  # type: ignore[return-value]

    async def read_page(
        self,
        upload: Upload,
        wanted: PageOfUpload,
        client: str,
    ) -> dict[str, Any]:
        """The record of one page of an upload, see `page_row`.

        Raises:
            Refusal: the server reads no pages.
        """
        self._require_pages()
        with self.pages.places(client, 1):
            return await self._read_page(upload, wanted, client, _record_of(wanted))

    async def check_page(
        self,
        upload: Upload,
        wanted: PageOfUpload,
        given: GivenText,
        client: str,
        html: bool = False,
    ) -> dict[str, Any]:
        """What is said of a text that one page of an upload should say, see `Checked.rows`.

        Args:
            upload: the file.
            wanted: which page of it.
            given: the text.
            client: who asks.
            html: give a page too that shows the text beside the picture.

        Raises:
            Refusal: the server reads no pages, or the text has too many words.
        """
        self._require_pages()
        if len(given.words) > MOST_CHECKED:
            raise Refusal(422, f"a text may hold {MOST_CHECKED:,} words; send fewer")
        make = _check_of(wanted, given, html)
        with self.pages.places(client, 1):
            return await self._read_page(
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
        """What is written of each page of an upload, as it is read.

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
        self._require_pages()
        count: int | None = None  # of pages of the file
        are_read = False

        def written(found: PageFound) -> str:
            nonlocal count
            count = found.pages
            if count is None and found.page.error is not None:
                # Of a damaged file no other page is asked for
                count = found.page.number
            return write(found.page)

        with self.pages.places(client, 1):
            for place, number in enumerate(numbers):
                if place == MOST_PAGES:
                    raise Refusal(
                        422, f"a request reads {place:,} pages; ask for pages={number}-"
                    )
                if count is not None and number > count:
                    return
                wanted = PageOfUpload(number, search)
                try:
                    text = await self._read_page(upload, wanted, client, written)
                except _NoPage:
                    if are_read:
                        return
                    raise
                yield text
                are_read = True
                if count is None and not has_pages(upload):
                    return

    def _require_pages(self) -> None:
        if not reads_pages():
            raise _no_pages(f"{install_hint('page')} where it runs, and start it again")

    async def _read_page(
        self,
        upload: Upload,
        wanted: PageOfUpload,
        client: str,
        make: Callable[[PageFound], Made],
    ) -> Made:
        """What is made of a page in the thread that reads it."""
        with set_at_end() as over:
            self._check_time()
            try:
                picture = None
                if await self._decoders.do(client, self._is_costly, upload):
                    job = upload, wanted.number, over
                    picture = await self._drawers.do(client, self._picture, *job)
                work = upload, wanted, picture, over, make
                return await self._page_reader.do(client, self._make_of_page, *work)
            except UnreadableImage as error:
                self.metrics.pictures.labels("unreadable").inc()
                page = unread_page(upload.name, wanted.number, error.reason)
                return make(PageFound(page, None, error.pages))

    async def _record(
        self,
        upload: Upload,
        options: ReadOptions,
        client: str,
    ) -> dict[str, Any]:
        try:
            image = await self._decoded(upload, client)
        except UnreadableImage as error:
            self.metrics.pictures.labels("unreadable").inc()
            return error_row(upload.name, error.reason)
        batches = self._reading if options.search == Search() else self._searching
        reading = await batches.do(image, options)
        self.metrics.pictures.labels("read").inc()
        return reading_row(upload.name, reading)

    async def _decoded(self, upload: Upload, client: str) -> DecodedImage:
        self._decoding += 1
        try:
            image = await self._decoders.do(client, self._decode_unless_large, upload)
        finally:
            self._decoding -= 1
        if image is not None:
            return image
        with set_at_end() as over:
            job = upload.data, self.reader.preprocessing, self._apart, over
            return await self._large_decoders.do(client, decode_apart, *job)

    def _decode_unless_large(self, upload: Upload) -> DecodedImage | None:
        is_large = self._is_large(upload)
        return None if is_large else decode(upload.data, self.reader.preprocessing)

    def _is_costly(self, upload: Upload) -> bool:
        """Whether a page is left to a process with limits."""
        self._is_large(upload)
        return upload.data.startswith(_PDF) or is_costly(upload.data)

    def _is_large(self, upload: Upload) -> bool:
        """Whether a process with limits decodes it; refuses what has too many pixels."""
        pixels, is_large = announced(upload.data)
        if pixels > self.limits.pixels:
            most = f"larger than {self.limits.pixels:,} pixels"
            raise Refusal(
                422, f"{upload.name}: {most}; scale it down or cut out what to read"
            )
        return is_large

    def _read_searching(
        self, images: Sequence[DecodedImage], options: ReadOptions
    ) -> Sequence[Reading | Refusal]:
        try:
            return self._read(self._searcher(options.search), images, options)
        except Refusal as refusal:  # of the search, which they share
            return [refusal] * len(images)

    def _read(
        self, reader: Reader, images: Sequence[DecodedImage], options: ReadOptions
    ) -> list[Reading]:
        self.metrics.batches.observe(len(images))
        return reader.read_decoded(
            images,
            boxes=options.boxes,
            attention=options.attention,
        )

    def _open_searcher(self, search: Search) -> Reader:
        with refused():
            return self._chosen(search).open(partial(self._open, search))

    def _chosen(self, search: Search) -> WeightsChoice:
        """The weights for a search."""
        if self._model is None:
            return WeightsChoice(self._first)
        return choose_weights(self._model, search)

    def _engine(self, path: str | Path) -> Engine:
        return self.reader.engine if path == self._first else self._other_engine(path)

    def _open(self, search: Search, path: str | Path, **others: Any) -> Reader:
        engine = self._engine(path)
        return Reader(engine, effort=self._effort, search=search, **others)

    def _page_readers(
        self,
        path: str | Path,
        search: Search,
        check: Callable[[], None],
        second: Path | None = None,
        detector: ScriptDetector | None = None,
    ) -> PageReaders:
        """What reads pages with some weights, as long as a check lets it."""
        from vit_str.pages.read.lines import PageReaders

        def open_words(path: str | Path, **others: Any) -> Reader:
            engine = self._engine(path)
            return _Interruptible(
                check, engine, effort=self._effort, search=search, **others
            )

        larger = partial(open_words, second) if second else None
        reader = open_words(path, second=larger, detector=detector)
        if reader.reads_lines:
            return PageReaders(reader, None)
        _, lines = self._opened_page_parts()
        if path == self._first and lines is not None:
            engine = lines.engine
        else:
            engine = self._other_engine(lines_of(path))
        return PageReaders(_Interruptible(check, engine), reader)

    def _make_of_page(
        self,
        upload: Upload,
        wanted: PageOfUpload,
        picture: Image.Image | None,
        over: Event,
        make: Callable[[PageFound], Made],
    ) -> Made:
        from vit_str.pages.read.sure_words import MINIMUM_CONFIDENCE
        from vit_str.pages.reader import PageReader

        search = wanted.search
        picture = picture or self._picture(upload, wanted.number, over)
        detector, _ = self._opened_page_parts()
        check = partial(self._check_turn, over, self._turn_of(upload, wanted))
        with refused():
            chosen = self._chosen(search)
            own = self._page_readers(
                chosen.first, search, check, chosen.second, chosen.detector()
            )
        reader = own.words or own.lines
        others = [
            partial(self._page_readers, other, search, check) for other in chosen.others
        ]
        least = 0.0 if wanted.all_words else MINIMUM_CONFIDENCE
        page_reader = PageReader(reader, detector, own.lines, least, others)
        with self._page_time.measured():
            page = page_reader.read(picture, boxes=reader.has_boxes)
        self.metrics.pictures.labels("read").inc()
        (found,) = document_pages(upload.name, {wanted.number: page})
        count = picture.info.get("pages")
        return make(PageFound(found, picture, count, page, page_reader))

    def _check_time(self) -> None:
        """Refuse a page at once that could not be read in time."""
        waiting = self._page_reader.jobs()
        expected = (waiting + 1) * self._page_time.seconds
        if waiting and expected > self.limits.deadline:
            raise Refusal(
                503,
                f"others come first, and {waiting + 1} pages of "
                f"{self._page_time.seconds:.0f} seconds each do not fit; send it again later",
                retry_after=round(expected - self.limits.deadline) or 1,
            )

    def _turn_of(self, upload: Upload, wanted: PageOfUpload) -> _Turn:
        """The turn of a page: twice as long if it was dropped when it was sent before."""
        seconds = self.limits.deadline * _TURN
        page = sha256(upload.data + repr(wanted).encode()).digest()
        if page in self._dropped:
            del self._dropped[page]
            seconds *= 2
        return _Turn(page, seconds, time.thread_time() + seconds)

    def _check_turn(self, over: Event, turn: _Turn) -> None:
        """Raise if nobody waits for a page, or others have waited long enough for its end."""
        if over.is_set():
            raise ClientDisconnected
        if time.thread_time() > turn.end and self._page_reader.others_wait():
            self._dropped[turn.page] = None
            if len(self._dropped) > _KNOWN_DROPPED:
                self._dropped.popitem(last=False)
            raise Refusal(
                503,
                f"others wait, and this page takes over {turn.seconds:g} seconds to read; send "
                "it again later, or parts of it",
                retry_after=round(self.limits.deadline),
            )

    def _picture(self, upload: Upload, number: int, over: Event) -> Image.Image:
        """A page of a file."""
        from vit_str.pages.pictures import PageOptions, pictures_in

        wanted = PageOptions(((number, number),))
        with (
            _kept(upload) as path,
            closing(pictures_in(path, wanted, self._apart, over)) as pictures,
        ):
            for picture in pictures:
                if isinstance(picture, UnreadableImage):
                    raise picture
                return picture
        raise _NoPage(
            422, f"{upload.name} has no page {number}; ask for an earlier one"
        )


class _NoPage(Refusal):
    """A file has no page of a number."""


def _record_of(wanted: PageOfUpload) -> Callable[[PageFound], dict[str, Any]]:
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


def _check_of(
    wanted: PageOfUpload, given: GivenText, html: bool
) -> Callable[[PageFound], dict[str, Any]]:
    """What makes the record of a text of a page."""

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


def has_pages(upload: Upload) -> bool:
    """Whether an upload may have several pages."""
    return upload.data.startswith((_PDF, *_PAGED))


@contextmanager
def _kept(upload: Upload) -> Iterator[str]:
    """The path of a file that holds an upload while the block runs."""
    suffix = ".pdf" if upload.data.startswith(_PDF) else ".image"
    with ExitStack() as stack:
        try:
            file = stack.enter_context(tempfile.NamedTemporaryFile(suffix=suffix))
            Path(file.name).write_bytes(upload.data)
        except OSError as error:  # a full disk, or one that is read-only
            reason = (
                f"the server cannot keep the file while it is read ({error.strerror})"
            )
            raise Refusal(503, f"{reason}; ask another server", 1) from error
        yield file.name


def reads_pages() -> bool:
    """Whether the libraries for whole pictures are installed."""
    return detector_file() is not None


def _no_pages(reason: str) -> Refusal:
    return Refusal(501, f"this server reads no whole pictures: {reason}")


def _open_page_parts(reader: Reader) -> tuple[LineDetector, Reader | None]:
    """What finds lines, and what reads them if the reader of words does not."""
    if reader.reads_lines:
        return RapidDetector(), None
    return RapidDetector(), Reader(open_engine("line", reader.describe().device))


@contextmanager
def refused() -> Iterator[None]:
    """Options that do not fit the model are the client's mistake.

    Raises:
        Refusal: 422, in place of a ValueError.
    """
    try:
        yield
    except ValueError as error:
        raise Refusal(422, str(error)) from None
