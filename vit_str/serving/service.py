"""The service behind HTTP: its weights, its threads, and what it reads with them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from vit_str.serving.batching_queue import BatchingQueue
from vit_str.serving.guard import Metrics
from vit_str.serving.limits import Limits
from vit_str.serving.page_readers import PageReaderOpener
from vit_str.serving.pages import PageService
from vit_str.serving.thread_pools import FairThreadPool
from vit_str.serving.uploads import UploadDecoder
from vit_str.serving.weights import ServedWeights
from vit_str.serving.words import TOGETHER, WordService
from vit_str.words.reader import Reader

_FORMS = 2  # threads that take forms apart


class ReadingService:
    """Reads what requests bring, with one model, or with that of the language of a request.

    Args:
        reader: what reads requests that name no language.
        limits: of requests.
        metrics: what is counted.
        effort: see ``vit_str.load``.
        model: the name or path that the reader was loaded from, which may stand for weights of
            several scripts; None if it stands for none but its own.

    Attributes:
        weights: what reads, by language.
        words: reads pictures of one word or line each.
        pages: reads whole pictures and files of pages.
        forms: threads that take forms apart.
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
        self.limits = limits
        self.metrics = metrics
        self.weights = ServedWeights(reader, effort, model)
        self.forms = FairThreadPool(_FORMS)
        decoder = UploadDecoder(reader.preprocessing, limits)
        self.words = WordService(self.weights, decoder, limits, metrics)
        opener = PageReaderOpener(self.weights)
        self.pages = PageService(opener, decoder, limits, metrics)
        self._workers: dict[str, FairThreadPool | BatchingQueue[Any, Any]] = {
            "forms": self.forms,
            **decoder.pools,
            "reading of pages": self.pages.pool,
            **self.words.queues,
        }

    def warm_up(self) -> None:
        """Read once, so that the first request does not wait."""
        height, width = self.reader.image_size
        for count in (1, TOGETHER):
            self.reader.read_pixels(np.zeros((count, 3, height, width), np.uint8))

    def stuck(self) -> list[str]:
        """Names of the threads that have been busy with the same for longer than anybody waits."""
        most = self.limits.deadline
        return [
            name for name, worker in self._workers.items() if worker.busy_for() > most
        ]

    def close(self) -> None:
        """Begin nothing more, and wait for what is in progress."""
        for worker in self._workers.values():
            worker.close()
