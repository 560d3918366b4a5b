"""Uploads -> records: decoding, reading together, reading pages, each in threads of its own."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import lru_cache, partial
from importlib.util import find_spec
from io import BytesIO
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from PIL import Image

from vit_str.runtime import Reader, Reading, Search, load
from vit_str.runtime.image_decoding import DecodedImage, decode
from vit_str.runtime.images import UnreadableImage
from vit_str.runtime.machine import install_hint
from vit_str.runtime.readings import error_row, reading_row
from vit_str.serving.batching_queue import BatchingQueue, Job
from vit_str.serving.guard import Metrics
from vit_str.serving.limits import Capacity, ClientDisconnected, Limits, Refusal

if TYPE_CHECKING:
    from vit_str.reading.pages.detection import LineDetector

_TOGETHER, _PATIENCE = 32, 0.005
_SEARCHED_TOGETHER = 8  # with up to 20 beams each
_LARGE = 2_000_000  # pixels, from which pictures are decoded one by one, out of the way of others
_DECODERS = 4  # threads, for pictures that are not large
_DRAWERS = 2  # processes that draw pages of PDF files
_KNOWN_SEARCHES = 16
_CLIENTS = 4  # with full queues of their own, before there is no room for others
_PDF = b"%PDF"


class Upload(NamedTuple):
    """A picture as it came."""

    name: str
    data: bytes


class Choice(NamedTuple):
    """Which readings a request asks for, see `Search`; nothing and 0 stand for its defaults."""

    n_best: int = 1
    beams: int = 0
    alphabet: str = ""
    language: str = ""
    lexicon: tuple[str, ...] = ()


class ReadOptions(NamedTuple):
    """What a request asks for besides the text; what differs is not read together."""

    choice: Choice = Choice()
    boxes: bool = False
    attention: bool = False


class _PageJob(NamedTuple):
    upload: Upload
    number: int
    choice: Choice
    picture: Image.Image | None = None


class _Interruptible(Reader):
    """A reader that asks before every batch whether to go on."""

    def __init__(self, check: Callable[[], None], *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._check = check

    def encode(self, pixels: np.ndarray) -> Any:
        """See `Reader`; raises what the check raises."""
        self._check()
        return super().encode(pixels)


class ReadingService:
    """Reads what requests bring, with one model."""

    def __init__(
        self, reader: Reader, limits: Limits, metrics: Metrics, effort: str | None = None
    ) -> None:
        self.reader, self.limits, self.metrics = reader, limits, metrics
        self._effort = effort
        queue = metrics.queue.labels
        most = _CLIENTS * limits.queue
        searches = max(1, limits.queue // 2)
        self.crops = Capacity(most, limits.queue, "pictures", queue("crops").set)
        self._searches = Capacity(most // 2, searches, "pictures with a lexicon or the like")
        self.pages = Capacity(limits.pages, -(-limits.pages // 2), "pages", queue("pages").set)
        self._searcher = lru_cache(_KNOWN_SEARCHES)(self._open_searcher)
        self._page_parts = lru_cache(1)(partial(_open_page_parts, reader))
        self._decoding = BatchingQueue(self._decode, threads=_DECODERS)
        self._decoding_large: BatchingQueue[Upload, DecodedImage] = BatchingQueue(
            lambda jobs: [decode(job.item.data, reader.preprocessing) for job in jobs]
        )
        self._reading: BatchingQueue[DecodedImage, Reading] = BatchingQueue(
            *(partial(self._read, reader), _TOGETHER, 1, _PATIENCE),
            more_to_come=lambda: self._decoding.is_busy,
        )
        self._searching = BatchingQueue(self._read_searching, _SEARCHED_TOGETHER)
        self._drawing = BatchingQueue(self._draw, threads=_DRAWERS)
        self._paging = BatchingQueue(self._read_page, prepare=self._page_parts)
        self._queues: tuple[BatchingQueue, ...] = (
            *(self._decoding, self._decoding_large),
            *(self._reading, self._searching, self._drawing, self._paging),
        )

    def warm_up(self) -> None:
        """Read once, so that the first request does not wait."""
        height, width = self.reader.image_size
        for count in (1, _TOGETHER):
            self.reader.read_pixels(np.zeros((count, 3, height, width), np.uint8))

    def close(self, seconds: float) -> bool:
        """Start no more work; returns whether what was in progress ended within some seconds."""
        ended = [each.close(seconds / len(self._queues)) for each in self._queues]
        return all(ended)

    async def read(
        self, uploads: Sequence[Upload], options: ReadOptions, client: str
    ) -> list[dict[str, Any]]:
        """A record for each upload, see `reading_row`; one that cannot be read says so."""
        if options.boxes or options.attention:
            with _refused():
                self.reader.require_boxes(options.attention)
        searched = 0 if options.choice == Choice() else len(uploads)
        most = self._searches.each if searched else self.crops.each
        if len(uploads) > most:
            raise Refusal(422, f"such a request may hold {most} pictures; send several requests")
        with self.crops.places(client, len(uploads)), self._searches.places(client, searched):
            records = await asyncio.gather(
                *(self._record(upload, options) for upload in uploads), return_exceptions=True
            )
        for record in records:
            if isinstance(record, BaseException):
                raise record
        return records  # type: ignore[return-value]

    async def read_page(
        self, upload: Upload, number: int, choice: Choice, client: str
    ) -> dict[str, Any]:
        """The record of one page of an upload, see `page_row`."""
        if not reads_pages():
            hint = f"{install_hint('page')} where it runs, and start it again"
            raise Refusal(501, f"this server reads no whole pictures: {hint}")
        job = _PageJob(upload, number, choice)
        with self.pages.places(client, 1):
            try:
                if upload.data.startswith(_PDF):
                    job = job._replace(picture=await self._drawing.do(job))
                return await self._paging.do(job)
            except UnreadableImage as error:
                self.metrics.pictures.labels("unreadable").inc()
                return error_row(upload.name, error.reason) | {"words": [], "page": number}

    async def _record(self, upload: Upload, options: ReadOptions) -> dict[str, Any]:
        try:
            image = await self._decoding.do(upload) or await self._decoding_large.do(upload)
        except UnreadableImage as error:
            self.metrics.pictures.labels("unreadable").inc()
            return error_row(upload.name, error.reason)
        batches = self._reading if options.choice == Choice() else self._searching
        reading = await batches.do(image, options)
        self.metrics.pictures.labels("read").inc()
        return reading_row(upload.name, reading)

    def _decode(
        self, jobs: Sequence[Job[Upload, DecodedImage | None]]
    ) -> list[DecodedImage | None]:
        """None for one that is large."""
        (job,) = jobs
        pixels = self._check_pixels(job.item)
        return [None if pixels > _LARGE else decode(job.item.data, self.reader.preprocessing)]

    def _check_pixels(self, upload: Upload) -> int:
        """The number of pixels, 0 where only decoding can tell."""
        try:
            with Image.open(BytesIO(upload.data)) as image:
                pixels = prod(image.size)
        except Image.DecompressionBombError:
            pixels = self.limits.pixels + 1
        except Exception:  # damage, which is reported when it is decoded
            return 0
        if pixels > self.limits.pixels:
            most = f"larger than {self.limits.pixels:,} pixels"
            raise Refusal(422, f"{upload.name}: {most}; scale it down or cut out what to read")
        return pixels

    def _read_searching(
        self, jobs: Sequence[Job[DecodedImage, Reading]]
    ) -> Sequence[Reading | Refusal]:
        try:
            return self._read(self._searcher(jobs[0].key.choice), jobs)
        except Refusal as refusal:  # of the choice, which they share
            return [refusal] * len(jobs)

    def _read(self, reader: Reader, jobs: Sequence[Job[DecodedImage, Reading]]) -> list[Reading]:
        options: ReadOptions = jobs[0].key
        self.metrics.batches.observe(len(jobs))
        images = [job.item for job in jobs]
        return reader.read_decoded(images, boxes=options.boxes, attention=options.attention)

    def _open_searcher(self, choice: Choice) -> Reader:
        with _refused():
            return Reader(self.reader.engine, effort=self._effort, search=_search_of(choice))

    def _read_page(self, jobs: Sequence[Job[_PageJob, dict[str, Any]]]) -> list[dict[str, Any]]:
        from vit_str.reading.pages.output import page_row
        from vit_str.reading.pages.reader import PageReader

        (job,) = jobs
        upload, number, choice, picture = job.item

        def check() -> None:
            if job.is_abandoned:
                raise ClientDisconnected

        self._check_pixels(upload)
        picture = picture or self._picture(upload, number)
        detector, lines = self._page_parts() or (None, None)
        with _refused():
            search = _search_of(choice)
            reader = _Interruptible(check, self.reader.engine, effort=self._effort, search=search)
        lines = lines and _Interruptible(check, lines.engine)
        page = PageReader(reader, detector, lines).read(picture, boxes=reader.has_boxes)
        self.metrics.pictures.labels("read").inc()
        return [page_row(upload.name, page) | {"page": number}]

    def _draw(self, jobs: Sequence[Job[_PageJob, Image.Image]]) -> list[Image.Image]:
        return [self._picture(job.item.upload, job.item.number) for job in jobs]

    def _picture(self, upload: Upload, number: int) -> Image.Image:
        """A page of a file."""
        from vit_str.reading.pages.pictures import PageOptions, pictures_in

        suffix = ".pdf" if upload.data.startswith(_PDF) else ".image"
        with tempfile.NamedTemporaryFile(suffix=suffix) as file:
            file.write(upload.data)
            file.flush()
            wanted = PageOptions(((number, number),))
            with closing(pictures_in(file.name, wanted, self.limits.drawing)) as pictures:
                for picture in pictures:
                    if isinstance(picture, UnreadableImage):
                        raise picture
                    return picture
        raise Refusal(422, f"{upload.name} has no page {number}; ask for an earlier one")


def _search_of(choice: Choice) -> Search:
    return Search(
        n_best=choice.n_best,
        beams=choice.beams or None,
        lexicon=choice.lexicon or None,
        alphabet=choice.alphabet or None,
        language=choice.language or None,
    )


def reads_pages() -> bool:
    """Whether the libraries for whole pictures are installed."""
    return find_spec("rapidocr") is not None


def _open_page_parts(reader: Reader) -> tuple[LineDetector, Reader | None] | None:
    """What finds lines, and what reads them if the reader of words does not."""
    if not reads_pages():
        return None
    from vit_str.reading.pages.detection import RapidDetector

    return RapidDetector(), None if reader.reads_lines else load("line", reader.engine.device)


@contextmanager
def _refused() -> Iterator[None]:
    """Options that do not fit the model are the client's mistake."""
    try:
        yield
    except ValueError as error:
        raise Refusal(422, str(error)) from None
