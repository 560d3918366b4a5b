"""Image files as they come: upright and in RGB, or refused in one line.

``load_image`` turns what Pillow can open into an upright RGB image or raises ``UnreadableImage``,
whose text is one line to act on.
"""

from __future__ import annotations

import ctypes
import logging
import math
import os
import stat
import threading
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from importlib import import_module
from io import BufferedReader, BytesIO
from itertools import count
from pathlib import Path
from typing import Protocol, runtime_checkable

from PIL import Image, ImageFile, UnidentifiedImageError, _imaging

from vit_str.images.decoding_costs import (
    MOST_COMPOSED,
    MOST_SCANS,
    has_many_parts,
    has_many_scans,
)
from vit_str.images.refusals import (
    MAX_BYTES,
    MAX_PIXELS,
    UnreadableImage,
    check_size,
    reported_in_one_line,
    too_large,
)
from vit_str.images.rgb import upright_rgb


@runtime_checkable
class BinaryFile(Protocol):
    """Anything open for reading bytes."""

    def read(self, size: int, /) -> bytes: ...


ImageSource = Path | str | bytes | BinaryFile | Image.Image

ImageSize = tuple[int, int]
"""Height and width of an image, upright, in pixels."""

SUFFIXES = (
    ".jpg",
    ".jpeg",
    ".jpe",
    ".jfif",
    ".png",
    ".webp",
    ".tif",
    ".tiff",
    ".bmp",
    ".dib",
    ".gif",
    ".avif",
    ".jp2",
    ".ppm",
    ".pgm",
    ".pbm",
)
"""Suffixes that a folder is searched for; a file that is named itself may have any."""

REFUSED_SUFFIXES = (".heic", ".heif")
"""Photographs of phones: named as unreadable where a folder is read, not passed over."""

# Photographs are decoded at 1/2, 1/4 or 1/8 where that leaves more than any model looks at.
_JPEG_DRAFT_SIZE = (1024, 256)
# Pillow knows others, of which some would run programs (EPS), or take much memory or time.
_FORMATS = (
    "JPEG",
    "MPO",
    "PNG",
    "WEBP",
    "TIFF",
    "BMP",
    "DIB",
    "GIF",
    "AVIF",
    "JPEG2000",
    "PPM",
)
# The modules of Pillow that read them. All of its modules take 20 ms more to import, and these 10:
# the most common formats, whose first bytes tell, need only their own.
_PLUGINS = ("Jpeg", "Mpo", "Png", "WebP", "Tiff", "Bmp", "Gif", "Avif", "Jpeg2K", "Ppm")
_PLUGINS_BY_START = {b"\xff\xd8\xff": ("Jpeg",), b"\x89PNG\r\n\x1a\n": ("Png",)}
ANIMATIONS = {"GIF", "WEBP", "PNG", "AVIF"}  # whose frames build on the ones before
PAGED_FORMATS = {"TIFF", *ANIMATIONS}


def load_image(source: ImageSource) -> Image.Image:
    """Read one image, upright and in RGB.

    * The EXIF orientation is applied.
    * Transparent images are laid on white, or on black or gray if more of their edges show there:
      white text without a background stays visible.
    * 16-bit gray is scaled by 65535, or by 4095 or 255 if no value is above that (cameras store
      12 bits in 16); other integers and floats by the range of values in the image.
    * A JPEG photograph comes at 1/2, 1/4 or 1/8 of its size if 1024 x 256 pixels are left.

    Args:
        source: a path, the bytes of a file, an open binary file, or a Pillow image, of which the
            present frame is taken.

    Raises:
        UnreadableImage: no such file, no image, a damaged one, one of more than ``MAX_PIXELS`` or
            of several frames or pages.
        ValueError: the source is none of these.
    """
    return load_sized_image(source)[0]


def load_sized_image(source: ImageSource) -> tuple[Image.Image, ImageSize]:
    """Read one image as `load_image` does, with the height and width that it has upright.

    The size is that of the picture before a JPEG photograph is reduced: that in which its user
    counts pixels.

    Raises:
        UnreadableImage: for a file that is no image, damaged or too large.
        ValueError: for what is no image, path, bytes or open file.
    """
    name = source_name(source)
    if not isinstance(source, str | os.PathLike | bytes | BinaryFile | Image.Image):
        raise ValueError(
            "an image is a path, the bytes of a file, an open file, a Pillow image or "
            f"an array, found {type(source).__name__}"
        )
    if isinstance(source, Image.Image):
        with reported_in_one_line(name):
            check_size(source, name)
            return upright_rgb(source, None)
    with (
        reported_in_one_line(name),
        open_file(source, name) as file,
        open_image(file, name) as image,
    ):
        full = image.size
        _halve_if_huge(image)
        _check(image, name)
        _check_scans(file, image, name)
        with IN_FLIGHT.reserve(min(math.prod(full), MAX_PIXELS)):
            image.draft(None, _JPEG_DRAFT_SIZE)
            return upright_rgb(image, full if image.size != full else None)


def load_pages(
    source: Path | str | bytes, numbers: Iterable[int] | None = None
) -> Iterator[Image.Image]:
    """Pages of a TIFF file, frames of an animation, or the one picture of another file.

    As `load_image` gives them, but at full size.

    Args:
        source: a path, or the bytes of a file.
        numbers: of the pages that are wanted, from 1, in order; None for all.
    """
    for page in readable_pages(source, numbers):
        if isinstance(page, UnreadableImage):
            raise page
        yield page


def readable_pages(
    source: Path | str | bytes, numbers: Iterable[int] | None = None
) -> Iterator[Image.Image | UnreadableImage]:
    """The pages that `load_pages` gives; what is wrong with one that is damaged, in its place.

    Raises:
        UnreadableImage: for a file that cannot be read at all.
    """
    name = source_name(source)
    with (
        reported_in_one_line(name),
        open_file(source, name) as file,
        open_image(file, name) as image,
    ):
        several = image.format in PAGED_FORMATS
        for number in count(1) if numbers is None else numbers:
            if number > 1 and not several:
                return
            try:
                _check_frames(image, name, number)
                if not _is_at_page(image, name, number):
                    return
            except UnreadableImage as error:
                yield _of_page(error, number, image)
                return
            try:
                picture = _page(image, file, name)
            except UnreadableImage as error:
                yield _of_page(error, number, image)
                if image.format in ANIMATIONS:
                    return
            else:
                yield picture


def _is_at_page(image: ImageFile.ImageFile, name: str, number: int) -> bool:
    """Go to a page; False if there is none of that number."""
    with reported_in_one_line(name):
        try:
            image.seek(number - 1)
        except EOFError:
            return False
    return True


def _page(
    image: ImageFile.ImageFile, file: BytesIO | BufferedReader, name: str
) -> Image.Image:
    """The present page of a file."""
    with reported_in_one_line(name):
        _halve_if_huge(image)
        _check(image, name, image.format in PAGED_FORMATS)
        _check_scans(file, image, name)
        with IN_FLIGHT.reserve(math.prod(image.size)):
            return upright_rgb(image, None)[0]


def _of_page(
    error: UnreadableImage, number: int, image: ImageFile.ImageFile
) -> UnreadableImage:
    """The error, with the number of the page in a file of several."""
    said = error.reason.startswith("page ")
    if said or image.format not in PAGED_FORMATS or (number == 1 and is_single(image)):
        return error
    return UnreadableImage(error.name, f"page {number}: {error.reason}")


def is_single(image: ImageFile.ImageFile) -> bool:
    """Whether a file holds one picture; False where it is damaged."""
    try:
        return not getattr(image, "is_animated", False)
    except Exception:  # damage makes Pillow raise anything
        return False


def page_numbers(ranges: Sequence[tuple[int, int | None]]) -> Iterator[int]:
    """The pages in some ranges, in order: first and last numbers, None for all that follow."""
    ends = [last for _, last in ranges]
    highest = None if None in ends else max(last or 0 for last in ends)
    every = count(1) if highest is None else range(1, highest + 1)

    def is_wanted(number: int) -> bool:
        return any(first <= number <= (last or number) for first, last in ranges)

    return filter(is_wanted, every)


def source_name(source: object) -> str:
    """Name of the source of an image in a message."""
    if isinstance(source, str | os.PathLike):
        return os.fsdecode(source)
    name = getattr(source, "filename", None) or getattr(source, "name", None)
    return os.fsdecode(name) if isinstance(name, str | os.PathLike) else "image data"


class _PixelsInFlight:
    """Bounds the pixels that all threads together decode at once."""

    def __init__(self) -> None:
        self._free = MAX_PIXELS
        self._changed = threading.Condition()
        if hasattr(os, "register_at_fork"):  # nobody else decodes in a child
            os.register_at_fork(after_in_child=self._reset)

    def _reset(self) -> None:
        self._free = MAX_PIXELS
        self._changed = threading.Condition()

    @contextmanager
    def reserve(self, pixels: int) -> Iterator[None]:
        """Wait until so many pixels more may be decoded."""
        with self._changed:
            self._changed.wait_for(lambda: self._free >= pixels)
            self._free -= pixels
        try:
            yield
        finally:
            with self._changed:
                self._free += pixels
                self._changed.notify_all()


IN_FLIGHT = _PixelsInFlight()


def open_file(
    source: Path | str | bytes | BinaryFile,
    name: str,
) -> BytesIO | BufferedReader:
    """The bytes of a source as a file that decoders can go back in.

    Raises:
        UnreadableImage: for a folder or device, an empty file or one that is too large.
    """
    if isinstance(source, str | os.PathLike):
        return _open_path(Path(source), name)
    if not isinstance(source, bytes):
        source = file_bytes(source, name)
    _check_bytes(len(source), name)
    return BytesIO(source)


def file_bytes(file: BinaryFile, name: str) -> bytes:
    """The rest of an open file, up to a byte more than an image file may have.

    Raises:
        UnreadableImage: for a file open for text.
    """
    data = file.read(MAX_BYTES + 1)
    if not isinstance(data, bytes):
        raise UnreadableImage(name, 'a file open for text; open it with mode "rb"')
    return data


def _open_path(path: Path, name: str) -> BytesIO | BufferedReader:
    status = path.stat()
    if stat.S_ISDIR(status.st_mode):
        raise UnreadableImage(name, "a folder, not an image; give the files in it")
    if stat.S_ISFIFO(status.st_mode) and str(path).startswith(("/dev/", "/proc/")):
        # A shell's <(command), where decoders cannot go back
        with path.open("rb") as pipe:
            return open_file(pipe, name)
    if not stat.S_ISREG(status.st_mode):  # a named pipe could wait for ever
        raise UnreadableImage(
            name, "a device or pipe, not an image; give an image file"
        )
    _check_bytes(status.st_size, name)
    return path.open("rb")


def _check_bytes(size: int, name: str) -> None:
    if not size:
        raise UnreadableImage(name, "empty, 0 bytes; save or download it again")
    if size > MAX_BYTES:
        raise too_large(name, f"{MAX_BYTES // 1_000_000} million bytes")


@cache
def _silence_decoders() -> None:
    """Leave it to `UnreadableImage` to say what is wrong with an image.

    Odd metadata makes Pillow warn about images that it reads well; libtiff prints what Pillow
    raises as well. For the whole process: warnings.catch_warnings is not safe in threads.
    """
    warnings.filterwarnings("ignore", module=r"PIL\.")
    logging.getLogger("PIL").addHandler(logging.NullHandler())
    # A Pillow without libtiff, or with one inside it
    with suppress(AttributeError, OSError):
        ctypes.PyDLL(_imaging.__file__).TIFFSetErrorHandler(None)


def _formats(start: bytes) -> tuple[str, ...]:
    """Formats of ``_FORMATS`` that a file with this start may have."""
    for known, plugins in _PLUGINS_BY_START.items():
        if start.startswith(known):
            return _formats_of(plugins)
    return _formats_of(_PLUGINS)


@cache
def _formats_of(plugins: Sequence[str]) -> tuple[str, ...]:
    """Formats of ``_FORMATS`` that this Pillow can read once these plug-ins are imported."""
    for plugin in plugins:
        with suppress(ImportError):
            import_module(f"PIL.{plugin}ImagePlugin")
    return tuple(name for name in _FORMATS if name in Image.OPEN)


def open_image(file: BytesIO | BufferedReader, name: str) -> ImageFile.ImageFile:
    """An image that is not decoded yet; of other common files it says what to do.

    Raises:
        UnreadableImage: for a PDF or HEIC file, or one of too many parts.
        UnidentifiedImageError: for what is no image.
    """
    _silence_decoders()
    if has_many_parts(file):
        raise UnreadableImage(name, "made of too many parts; save it again as PNG")
    file.seek(0)
    start = file.read(16)
    file.seek(0)
    try:
        return Image.open(file, formats=_formats(start))
    except UnidentifiedImageError:
        if start.startswith(b"%PDF"):
            reason = (
                "a PDF file; read it with --page on the command line, in Python with "
                "vit_str.read_document"
            )
            raise UnreadableImage(name, reason) from None
        if start[4:8] == b"ftyp" and start[8:11] in (b"hei", b"hev", b"mif"):
            raise UnreadableImage(
                name, "a HEIC file; convert it to JPEG first"
            ) from None
        raise


def _halve_if_huge(image: Image.Image) -> None:
    """Decode a JPEG of too many pixels at half its size; progressive ones need memory for all."""
    is_jpeg = image.format in ("JPEG", "MPO") and not image.info.get("progressive")
    if is_jpeg and math.prod(image.size) > MAX_PIXELS:
        image.draft(None, (image.width // 2, image.height // 2))


def _check(image: ImageFile.ImageFile, name: str, several: bool = False) -> None:
    """Refuse from the header what should not be decoded."""
    check_size(image, name)
    is_one = several or image.format == "MPO"  # a photograph with a preview
    if not is_one and getattr(image, "is_animated", False):
        frames = "holds several frames or pages"
        raise UnreadableImage(
            name, f"{frames}; save the one to read as a file of its own"
        )


def _check_scans(
    file: BytesIO | BufferedReader,
    image: ImageFile.ImageFile,
    name: str,
) -> None:
    """Refuse a JPEG of so many scans that decoding it would not end."""
    if image.format not in ("JPEG", "MPO"):
        return
    if isinstance(file, BytesIO):
        data = file.getvalue()
    else:
        place = file.tell()
        file.seek(0)
        data = file.read()
        file.seek(place)
    if has_many_scans(data):
        reason = f"a JPEG of over {MOST_SCANS} scans; save it again, as a plain JPEG or as PNG"
        raise UnreadableImage(name, reason)


def _check_frames(image: ImageFile.ImageFile, name: str, number: int) -> None:
    """Refuse a frame of an animation for which too much would be composed before."""
    composed = number * math.prod(image.size)
    if image.format not in ANIMATIONS or composed <= MOST_COMPOSED:
        return
    if number <= getattr(image, "n_frames", 1):
        most = f"over {MOST_COMPOSED // 1_000_000:,} million pixels"
        reason = f"page {number}: the frames up to it have {most}; save it as a file of its own"
        raise UnreadableImage(name, reason)
