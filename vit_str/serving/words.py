"""Uploads of one word or line each -> records, read together in one thread."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

from vit_str.decoding.readings import Reading, error_row, reading_row
from vit_str.decoding.search import Search
from vit_str.images.image_decoding import DecodedImage
from vit_str.images.refusals import UnreadableImage
from vit_str.serving.batching_queue import BatchingQueue
from vit_str.serving.guard import Metrics
from vit_str.serving.limits import Capacity, Limits, Refusal, refused
from vit_str.serving.uploads import Upload, UploadDecoder
from vit_str.serving.weights import ServedWeights
from vit_str.words.reader import Reader

TOGETHER = 32
"""Pictures that are read at once."""
_PATIENCE = 0.005
_SEARCHED_TOGETHER = 8  # with up to 20 beams each
_CLIENTS = 4  # with full queues of their own, before there is no room for others


class ReadOptions(NamedTuple):
    """Options of a request; pictures with others are not read together."""

    search: Search = Search()
    boxes: bool = False
    attention: bool = False


class WordService:
    """Reads pictures of one word or line each.

    Args:
        weights: read them.
        decoder: of uploads.
        limits: of requests.
        metrics: what is counted.

    Attributes:
        capacity: for pictures in progress.
        queues: in which pictures wait to be read, by what is done there.
    """

    def __init__(
        self,
        weights: ServedWeights,
        decoder: UploadDecoder,
        limits: Limits,
        metrics: Metrics,
    ) -> None:
        self._weights = weights
        self._decoder = decoder
        self._metrics = metrics
        most = _CLIENTS * limits.queue
        searches = max(1, limits.queue // 2)
        report = metrics.queue.labels("crops").set
        self.capacity = Capacity(most, limits.queue, "pictures", report)
        self._searches = Capacity(
            most // 2, searches, "pictures with a lexicon or the like"
        )
        self._reading: BatchingQueue[DecodedImage, Reading] = BatchingQueue(
            partial(self._read, weights.reader),
            size=TOGETHER,
            patience=_PATIENCE,
            more_to_come=lambda: decoder.in_progress,
        )
        self._searching = BatchingQueue(self._read_searching, _SEARCHED_TOGETHER)
        self.queues = {
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
                self._weights.reader.require_boxes(options.attention)
        searched = 0 if options.search == Search() else len(uploads)
        most = self._searches.each if searched else self.capacity.each
        if len(uploads) > most:
            raise Refusal(
                422, f"such a request may hold {most} pictures; send several requests"
            )
        with (
            self.capacity.places(client, len(uploads)),
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

    async def _record(
        self, upload: Upload, options: ReadOptions, client: str
    ) -> dict[str, Any]:
        try:
            image = await self._decoder.decoded(upload, client)
        except UnreadableImage as error:
            self._metrics.pictures.labels("unreadable").inc()
            return error_row(upload.name, error.reason)
        batches = self._reading if options.search == Search() else self._searching
        reading = await batches.do(image, options)
        self._metrics.pictures.labels("read").inc()
        return reading_row(upload.name, reading)

    def _read_searching(
        self, images: Sequence[DecodedImage], options: ReadOptions
    ) -> Sequence[Reading | Refusal]:
        try:
            reader = self._weights.searching(options.search)
            return self._read(reader, images, options)
        except Refusal as refusal:  # of the search, which they share
            return [refusal] * len(images)

    def _read(
        self, reader: Reader, images: Sequence[DecodedImage], options: ReadOptions
    ) -> list[Reading]:
        self._metrics.batches.observe(len(images))
        return reader.read_decoded(
            images,
            boxes=options.boxes,
            attention=options.attention,
        )
