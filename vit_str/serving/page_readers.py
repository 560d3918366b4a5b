"""Opens what reads the pages of a request, with the weights that it asks for."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from vit_str.decoding.search import Search
from vit_str.engines.engine import open_engine
from vit_str.engines.opened_once import OpenedOnce
from vit_str.pages.find.detectors import open_detector
from vit_str.scripts.registry import lines_of
from vit_str.scripts.script_detector import ScriptDetector
from vit_str.serving.guard import LOG
from vit_str.serving.limits import Refusal, refused
from vit_str.serving.weights import ServedWeights
from vit_str.words.reader import Reader

if TYPE_CHECKING:
    from vit_str.pages.find.detection import LineDetector
    from vit_str.pages.read.lines import PageReaders
    from vit_str.pages.reader import PageReader


class InterruptibleReader(Reader):
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


class PageReaderOpener:
    """Opens a page reader for a request; detector and weights are opened once for all.

    Args:
        weights: of the server.
    """

    def __init__(self, weights: ServedWeights) -> None:
        self._weights = weights
        self._parts = OpenedOnce(partial(_open_parts, weights.reader))

    def prepare(self) -> None:
        """Open what pages need before the first of them, and tell who runs this if it cannot be."""
        try:
            if reads_pages():
                self._parts()
        except ValueError as error:
            LOG.warning("whole pictures are not read: %s", error)

    def open(
        self, search: Search, check: Callable[[], None], minimum_confidence: float
    ) -> PageReader:
        """A reader of one page.

        Args:
            search: which readings to look for.
            check: is called before every batch; what it raises ends the reading.
            minimum_confidence: of a word, see `vit_str.load_page`.

        Raises:
            Refusal: the search does not fit the models, or the detector cannot be opened.
        """
        from vit_str.pages.reader import PageReader

        detector, _ = self._opened_parts()
        with refused():
            chosen = self._weights.chosen(search)
            own = self._readers(
                chosen.first, search, check, chosen.second, chosen.detector()
            )
        others = [
            partial(self._readers, other, search, check) for other in chosen.others
        ]
        reader = own.words or own.lines
        return PageReader(reader, detector, own.lines, minimum_confidence, others)

    def _readers(
        self,
        path: str | Path,
        search: Search,
        check: Callable[[], None],
        second: Path | None = None,
        detector: ScriptDetector | None = None,
    ) -> PageReaders:
        """Readers of some weights, which go on as long as a check lets them."""
        from vit_str.pages.read.lines import PageReaders

        def open_words(path: str | Path, **others: Any) -> Reader:
            engine = self._weights.engine(path)
            effort = self._weights.effort
            return InterruptibleReader(
                check, engine, effort=effort, search=search, **others
            )

        larger = partial(open_words, second) if second else None
        reader = open_words(path, second=larger, detector=detector)
        if reader.reads_lines:
            return PageReaders(reader.summing_look_alikes(), None)
        _, lines = self._opened_parts()
        if self._weights.are_first(path) and lines is not None:
            engine = lines.engine
        else:
            engine = self._weights.engine(lines_of(path))
        of_lines = InterruptibleReader(check, engine).summing_look_alikes()
        return PageReaders(of_lines, reader)

    def _opened_parts(self) -> tuple[LineDetector, Reader | None]:
        """The detector of lines, and the reader of lines if that of words reads none.

        Raises:
            Refusal: it cannot be opened.
        """
        try:
            return self._parts()
        except ValueError as error:
            raise no_pages("its log says what it lacks") from error


def reads_pages() -> bool:
    """Whether the libraries for whole pictures are installed."""
    return find_spec("cv2") is not None


def no_pages(reason: str) -> Refusal:
    """The answer of a server that reads no pages."""
    return Refusal(501, f"this server reads no whole pictures: {reason}")


def _open_parts(reader: Reader) -> tuple[LineDetector, Reader | None]:
    """The detector of lines, and the reader of lines if that of words reads none."""
    if reader.reads_lines:
        return open_detector(), None
    return open_detector(), Reader(open_engine("line", reader.describe().device))
