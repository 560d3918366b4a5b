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
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from importlib import import_module
from io import BufferedReader, BytesIO
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

import numpy as np
from PIL import Image, ImageFile, UnidentifiedImageError, _imaging

from vit_str.console import one_line
from vit_str.images.decoding_costs import (
    MOST_COMPOSED,
    MOST_SCANS,
    has_many_parts,
    has_many_scans,
    may_take_more,
)

if TYPE_CHECKING:
    from jaxtyping import Float


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
"""What a folder is searched for; a file that is named itself may have any suffix."""

REFUSED_SUFFIXES = (".heic", ".heif")
"""Photographs of phones: named as unreadable where a folder is read, not passed over."""

MAX_PIXELS = 89_478_485
"""Larger images are refused before they are decoded, but for photographs in JPEG up to twice as
large, which are decoded at half their size. All threads together decode no more at once; this many
take a third of a gigabyte."""

MAX_SIDE = 100_000
"""Longest side of an image, in pixels: resizing takes memory by the length of a side."""

MAX_BYTES = 3 * MAX_PIXELS
"""Larger files are refused: the most pixels in RGB, stored as they are, take this many."""

LARGE = 2_000_000
"""Pixels above which a picture is decoded in a process with limits, see `decode_apart`."""

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
_ANIMATIONS = {"GIF", "WEBP", "PNG", "AVIF"}  # whose frames build on the ones before
_PAGED_FORMATS = {"TIFF", *_ANIMATIONS}
ORIENTATION_TAG = 0x0112  # of EXIF
_ORIENTATIONS = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
# EXIF orientations in which width and height change places
QUARTER_TURNS = {5, 6, 7, 8}
# Pixels of which there may be temporary copies, and above which an image is scaled down first.
_STRIP = 1 << 20
_LARGE = 1 << 24
# What transparent images may be laid on, the first of those that are as good
_GRAY = 128
_GROUNDS = (255, 0, _GRAY)
_SHARE_OF_GRAY = (
    0.8  # of its edges that count: on it all letters have half the contrast
)
_CLEAR = 64.0  # of 255, the contrast above which more makes an edge no clearer


class UnreadableImage(ValueError):  # noqa: N818 - it says what the image is
    """An image that cannot be read.

    Attributes:
        name: the file, or what else the image came from.
        reason: what is wrong and what to do about it, in one line.
        pages: how many pages the file has, if only one of them cannot be read; None otherwise, and
            where nobody has counted them.
    """

    def __init__(self, name: str, reason: str, pages: int | None = None) -> None:
        super().__init__(name, reason, pages)
        self.name = name
        self.reason = reason
        self.pages = pages

    def __str__(self) -> str:
        return f"{one_line(self.name)}: {self.reason}"


class Announced(NamedTuple):
    """What the header of an image file says of it."""

    pixels: int = 0  # 0 where only decoding can tell
    # Whether it is decoded in a process with limits, see `decode_apart`
    is_large: bool = False


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
            _check_size(source, name)
            return _upright_rgb(source, None)
    with (
        reported_in_one_line(name),
        _open_file(source, name) as file,
        _opened(file, name) as image,
    ):
        full = image.size
        _halve_if_huge(image)
        _check(image, name)
        _check_scans(file, image, name)
        with IN_FLIGHT.reserve(min(math.prod(full), MAX_PIXELS)):
            image.draft(None, _JPEG_DRAFT_SIZE)
            return _upright_rgb(image, full if image.size != full else None)


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
        _open_file(source, name) as file,
        _opened(file, name) as image,
    ):
        several = image.format in _PAGED_FORMATS
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
                if image.format in _ANIMATIONS:
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
        _check(image, name, image.format in _PAGED_FORMATS)
        _check_scans(file, image, name)
        with IN_FLIGHT.reserve(math.prod(image.size)):
            return _upright_rgb(image, None)[0]


def _of_page(
    error: UnreadableImage, number: int, image: ImageFile.ImageFile
) -> UnreadableImage:
    """What is wrong, with the number of the page in a file of several."""
    said = error.reason.startswith("page ")
    if (
        said
        or image.format not in _PAGED_FORMATS
        or (number == 1 and _is_single(image))
    ):
        return error
    return UnreadableImage(error.name, f"page {number}: {error.reason}")


def _is_single(image: ImageFile.ImageFile) -> bool:
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


def announced(source: Path | str | bytes) -> Announced:
    """What the header of an image file says of it; nothing where only decoding can tell."""
    with open_header(source) as image:
        if image is None:
            return Announced()
        return Announced(math.prod(image.size), _is_large(image))


def _is_large(image: ImageFile.ImageFile) -> bool:
    return math.prod(image.size) > LARGE or may_take_more(image)


def upright_size(source: Path | str | bytes) -> ImageSize | None:
    """The size of an image file as it is shown, by its header; None where that says nothing."""
    with open_header(source) as image:
        if image is None:
            return None
        width, height = image.size
        # To ask a PNG file for more than its header says would decode it. TIFF is upright.
        stored = "exif" in image.info and image.format != "TIFF"
        is_turned = stored and _orientation(image) in QUARTER_TURNS
    return (width, height) if is_turned else (height, width)


def is_costly(source: Path | str | bytes) -> bool:
    """Whether a file with a picture to read as a page is large, or has several pages."""
    with open_header(source) as image:
        if image is None:
            return False
        is_paged = image.format in _PAGED_FORMATS
        has_pages = is_paged and getattr(image, "is_animated", False)
        return has_pages or _is_large(image)


def is_animation(source: Path | str | bytes) -> bool:
    """Whether a file holds several frames that show one after the other."""
    with open_header(source) as image:
        if image is None or image.format not in _ANIMATIONS:
            return False
        return not _is_single(image)


@contextmanager
def open_header(
    source: Path | str | bytes,
) -> Iterator[ImageFile.ImageFile | None]:
    """An image that is not decoded; None for what is none, is damaged or can be read only once."""
    with ExitStack() as opened:
        image = None
        # Damage makes Pillow raise anything; decoding reports it
        with suppress(Exception):
            if isinstance(source, bytes) or Path(source).is_file():
                file = _open_file(source, "")
                opened.enter_context(file)
                image = opened.enter_context(_opened(file, ""))
        yield image


def source_name(source: object) -> str:
    """What to call the source of an image in a message."""
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


@contextmanager
def reported_in_one_line(name: str) -> Iterator[None]:
    """Turn every failure to read or resize an image into ``UnreadableImage``.

    Raises:
        UnreadableImage: with the reason, and what to do, in one line.
    """
    try:
        yield
    except UnreadableImage:
        raise
    except FileNotFoundError:
        raise UnreadableImage(name, "no such file; check the path") from None
    except PermissionError:
        raise UnreadableImage(
            name, "no permission to read it; change its access rights"
        ) from None
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        raise _too_large(name) from None
    except UnidentifiedImageError:
        reason = (
            "not an image that can be read; give a JPEG, PNG, WebP, TIFF or BMP file"
        )
        raise UnreadableImage(name, reason) from None
    except MemoryError:
        raise UnreadableImage(name, "does not fit into memory; scale it down") from None
    # Damage makes Pillow raise anything: SyntaxError, struct.error, ...
    except Exception as error:
        # Of the system, not of Pillow
        if isinstance(error, OSError) and error.strerror:
            reason = f"cannot be opened ({error.strerror}); check the path and its disk"
            raise UnreadableImage(name, reason) from None
        detail = one_line(str(error)) or type(error).__name__
        reason = f"damaged or cut short ({detail}); save or download it again"
        raise UnreadableImage(name, reason) from error


def _too_large(
    name: str,
    what: str = f"{MAX_PIXELS // 1_000_000} million pixels",
) -> Exception:
    return UnreadableImage(
        name, f"larger than {what}; scale it down or cut out what to read"
    )


def _open_file(
    source: Path | str | bytes | BinaryFile,
    name: str,
) -> BytesIO | BufferedReader:
    if isinstance(source, str | os.PathLike):
        return _open_path(Path(source), name)
    if not isinstance(source, bytes):
        source = file_bytes(source, name)
    _check_bytes(len(source), name)
    return BytesIO(source)


def file_bytes(file: BinaryFile, name: str) -> bytes:
    """What is left of an open file, up to a byte more than an image file may have.

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
            return _open_file(pipe, name)
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
        raise _too_large(name, f"{MAX_BYTES // 1_000_000} million bytes")


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


def _opened(file: BytesIO | BufferedReader, name: str) -> ImageFile.ImageFile:
    """What Pillow makes of a file; it says of others that are common what to do."""
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
    _check_size(image, name)
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
    if image.format not in _ANIMATIONS or composed <= MOST_COMPOSED:
        return
    if number <= getattr(image, "n_frames", 1):
        most = f"over {MOST_COMPOSED // 1_000_000:,} million pixels"
        reason = f"page {number}: the frames up to it have {most}; save it as a file of its own"
        raise UnreadableImage(name, reason)


def _check_size(image: Image.Image, name: str) -> None:
    if not math.prod(image.size):
        raise UnreadableImage(
            name, "an image without pixels; save or download it again"
        )
    if math.prod(image.size) > MAX_PIXELS:
        raise _too_large(name)
    if max(image.size) > MAX_SIDE:
        raise _too_large(name, f"{MAX_SIDE:,} pixels on one side")


def _upright_rgb(
    image: Image.Image, full: tuple[int, int] | None
) -> tuple[Image.Image, tuple[int, int]]:
    """An image in RGB, scaled down if it is large, and the height and width of the whole."""
    image.load()
    orientation = _orientation(image)
    width, height = full or image.size  # some formats turn upright while they load
    if orientation in QUARTER_TURNS:
        width, height = height, width
    rgb = _to_rgb(image)
    if orientation in _ORIENTATIONS:
        rgb = rgb.transpose(_ORIENTATIONS[orientation])
    rgb.info = {}  # with the orientation that is applied: parts of it would be turned again
    return rgb, (height, width)


def _orientation(image: Image.Image) -> int:
    """EXIF orientation after loading: TIFF is upright by then, PNG may store it at the end."""
    try:
        return int(image.getexif().get(ORIENTATION_TAG, 1))
    # Damaged metadata of any kind must not stop the reading of good pixels
    except Exception:
        return 1


def _to_rgb(image: Image.Image) -> Image.Image:
    """An image in RGB, as `load_image` describes it, a strip at a time to save memory.

    One of more than 16 million pixels is scaled down by a whole factor.
    """
    convert = _conversion(image)
    pixels = math.prod(image.size)
    if pixels <= _STRIP:
        return convert(image)
    factor = math.ceil(math.sqrt(pixels / _LARGE))
    rgb = Image.new("RGB", (-(-image.width // factor), -(-image.height // factor)))
    for top, strip in _strips(image, factor):
        converted = convert(strip)
        if factor > 1:
            converted = converted.reduce(factor)
        rgb.paste(converted, (0, top // factor))
    return rgb


def _strips(image: Image.Image, factor: int = 1) -> Iterator[tuple[int, Image.Image]]:
    """The first row and the pixels of strips whose heights are multiples of ``factor``."""
    rows = -(-max(1, _STRIP // image.width) // factor) * factor
    for top in range(0, image.height, rows):
        yield top, image.crop((0, top, image.width, min(top + rows, image.height)))


def _conversion(image: Image.Image) -> Callable[[Image.Image], Image.Image]:
    """How to bring an image, or any strip of it, into RGB."""
    if image.mode.startswith("I;16") or image.mode in {"I", "F"}:
        return _eight_bit(image)
    if image.has_transparency_data:
        return _opaque(image)
    return lambda strip: strip.convert("RGB")


def _eight_bit(image: Image.Image) -> Callable[[Image.Image], Image.Image]:
    """Scale deep gray by the range of values in the image."""
    ranges = []
    for _, strip in _strips(image):
        values = np.asarray(strip)
        finite = values[np.isfinite(values)]
        if finite.size:
            ranges.append((float(finite.min()), float(finite.max())))
    low = min((least for least, _ in ranges), default=0.0)
    high = max((most for _, most in ranges), default=0.0)
    if image.mode != "F" and low >= 0 and high <= 65535:
        low = 0.0
        high = next(full for full in (255.0, 4095.0, 65535.0) if high <= full)

    def convert(strip: Image.Image) -> Image.Image:
        with np.errstate(all="ignore"):  # what is no number may warn
            values = np.asarray(strip).astype(np.float64)
            values = np.nan_to_num(values, copy=False, nan=low, posinf=high, neginf=low)
            scaled = (values - low) / (high - low or 1) * 255
        return Image.fromarray(np.rint(scaled).astype(np.uint8)).convert("RGB")

    return convert


def _opaque(image: Image.Image) -> Callable[[Image.Image], Image.Image]:
    """Lay a transparent image on the ground on which most of its letters stand out.

    Gray is for images with letters that are light and others that are dark.
    """
    edges = dict.fromkeys(_GROUNDS, 0.0)
    for _, strip in _strips(image):
        rgba = strip.convert("RGBA")
        alpha = np.asarray(rgba.getchannel("A"), np.float32) / 255
        lightness = np.asarray(rgba.convert("RGB").convert("L"), np.float32)
        for ground in _GROUNDS:
            edges[ground] += _edges(ground + alpha * (lightness - ground))
    edges[_GRAY] *= _SHARE_OF_GRAY
    ground = max(_GROUNDS, key=lambda value: edges[value])

    def convert(strip: Image.Image) -> Image.Image:
        rgba = strip.convert("RGBA")
        behind = Image.new("RGBA", rgba.size, (ground, ground, ground))
        return Image.alpha_composite(behind, rgba).convert("RGB")

    return convert


def _edges(lightness: Float[np.ndarray, "height width"]) -> float:
    """How much there is of curves, corners and ends of strokes, of which letters are made.

    Straight sides, as of boxes and rules, do not count.
    """
    across = lightness[:, 1:] - lightness[:, :-1]
    corners = np.abs(across[1:] - across[:-1])
    return float(np.minimum(corners, _CLEAR).sum(dtype=np.float64))
