"""Uploads -> pixels: in threads, and in processes with limits what is large or drawn."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from threading import Event
from typing import NamedTuple

from PIL import Image

from vit_str.files import temporary_file
from vit_str.images.headers import announced, is_costly
from vit_str.images.image_decoding import DecodedImage, decode, decode_apart
from vit_str.images.limited_process import ProcessLimits
from vit_str.images.preprocessing import Preprocessing
from vit_str.images.refusals import UnreadableImage
from vit_str.serving.limits import Limits, Refusal
from vit_str.serving.page_turns import patience_for_pages
from vit_str.serving.thread_pools import FairThreadPool, set_at_end

_THREADS = 4  # for pictures that are not large
_THREADS_OF_ONE = 3  # of them, that a client may have at the same time
# Processes that decode large pictures of words, out of the way of others
_LARGE_DECODERS = 1
_DRAWERS = 2  # processes that draw pages of PDF files, or decode large ones
_PDF = b"%PDF"
_PAGED = (
    b"II*\0",
    b"MM\0*",
    b"II+\0",
    b"MM\0+",
    b"GIF8",
)  # how TIFF and GIF files begin


class Upload(NamedTuple):
    """A picture as it came."""

    name: str
    data: bytes

    @property
    def is_pdf(self) -> bool:
        """Whether it is a PDF file, damaged or not."""
        return self.data.startswith(_PDF)

    @property
    def may_have_pages(self) -> bool:
        """Whether it is of a kind of files that may have several pages."""
        return self.data.startswith((_PDF, *_PAGED))


class NoPage(Refusal):
    """A file has no page of a number."""


class UploadDecoder:
    """Decodes pictures of words, and pages of files.

    Args:
        preprocessing: of the model that reads words.
        limits: of requests.

    Attributes:
        in_progress: how many pictures of words are being decoded.
        pools: the threads by what they do.
    """

    def __init__(self, preprocessing: Preprocessing, limits: Limits) -> None:
        self._preprocessing = preprocessing
        self._most_pixels = limits.pixels
        self._process_limits = ProcessLimits(seconds=limits.drawing)
        self._threads = FairThreadPool(_THREADS, each=_THREADS_OF_ONE)
        self._large = FairThreadPool(_LARGE_DECODERS)
        self._drawers = FairThreadPool(_DRAWERS, patience=patience_for_pages(limits))
        self.in_progress = 0
        self.pools = {
            "decoding": self._threads,
            "decoding of large pictures": self._large,
            "drawing of pages": self._drawers,
        }

    async def decoded(self, upload: Upload, client: str) -> DecodedImage:
        """A picture of a word.

        Raises:
            UnreadableImage: it is no picture, or damaged.
            Refusal: it has too many pixels.
        """
        self.in_progress += 1
        try:
            image = await self._threads.do(client, self._decode_unless_large, upload)
        finally:
            self.in_progress -= 1
        if image is not None:
            return image
        with set_at_end() as over:
            job = upload.data, self._preprocessing, self._process_limits, over
            return await self._large.do(client, decode_apart, *job)

    async def costly_page(
        self, upload: Upload, number: int, over: Event, client: str
    ) -> Image.Image | None:
        """A page of a file, if a process with limits has to draw it; else None.

        Args:
            upload: the file.
            number: of the page, from 1.
            over: nobody waits for it any more.
            client: who asks.

        Raises:
            UnreadableImage: the page cannot be drawn.
            Refusal: there is no such page, or it has too many pixels.
        """
        if not await self._threads.do(client, self._is_costly, upload):
            return None
        return await self._drawers.do(client, self.page, upload, number, over)

    def page(self, upload: Upload, number: int, over: Event) -> Image.Image:
        """A page of a file, see `costly_page`."""
        from vit_str.pages.pictures import PageOptions, pictures_in

        wanted = PageOptions(((number, number),))
        with (
            _kept(upload) as path,
            closing(pictures_in(path, wanted, self._process_limits, over)) as pictures,
        ):
            for picture in pictures:
                if isinstance(picture, UnreadableImage):
                    raise picture
                return picture
        raise NoPage(422, f"{upload.name} has no page {number}; ask for an earlier one")

    def _decode_unless_large(self, upload: Upload) -> DecodedImage | None:
        is_large = self._is_large(upload)
        return None if is_large else decode(upload.data, self._preprocessing)

    def _is_costly(self, upload: Upload) -> bool:
        """Whether a page is left to a process with limits."""
        self._is_large(upload)
        return upload.is_pdf or is_costly(upload.data)

    def _is_large(self, upload: Upload) -> bool:
        """Whether a process with limits decodes it; refuses what has too many pixels."""
        pixels, is_large = announced(upload.data)
        if pixels > self._most_pixels:
            most = f"larger than {self._most_pixels:,} pixels"
            raise Refusal(
                422, f"{upload.name}: {most}; scale it down or cut out what to read"
            )
        return is_large


@contextmanager
def _kept(upload: Upload) -> Iterator[str]:
    """The path of a file that holds an upload while the block runs."""
    suffix = ".pdf" if upload.is_pdf else ".image"
    with ExitStack() as stack:
        try:
            path = stack.enter_context(temporary_file(upload.data, suffix))
        except OSError as error:  # a full disk, or one that is read-only
            reason = (
                f"the server cannot keep the file while it is read ({error.strerror})"
            )
            raise Refusal(503, f"{reason}; ask another server", 1) from error
        yield path
