"""Image files as they come, and how they become the pixels of a model.

``load_image`` turns what Pillow can open into an upright RGB image or raises ``UnreadableImage``,
whose text is one line to act on. ``Preprocessing`` is the same in training and in reading.
"""

import math
import os
import stat
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from io import BufferedReader, BytesIO
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
import torch
from jaxtyping import Float, UInt8
from PIL import Image, UnidentifiedImageError
from torch import Tensor

from vit_str.files import one_line

# Odd metadata makes Pillow warn about images that it reads well; what it cannot read is an error
# below. For the whole process, as warnings.catch_warnings is not safe in the threads that decode.
warnings.filterwarnings("ignore", module=r"PIL\.")


@runtime_checkable
class BinaryFile(Protocol):
    """Anything open for reading bytes."""

    def read(self) -> bytes: ...


ImageSource = Path | str | bytes | BinaryFile | Image.Image

SUFFIXES = (
    *(".jpg", ".jpeg", ".jpe", ".jfif", ".png", ".webp", ".tif", ".tiff"),
    *(".bmp", ".dib", ".gif", ".avif", ".jp2", ".ppm", ".pgm", ".pbm"),
)
"""What a folder is searched for; a file that is named itself may have any suffix."""

MAX_PIXELS = 89_478_485
"""Larger images are refused before they are decoded; this many take a quarter of a gigabyte."""

TALL = 1.5
"""Height over width above which a line of text more likely runs down or up than along."""

# Photographs are decoded at 1/2, 1/4 or 1/8 where that leaves more than any model looks at.
_JPEG_DRAFT_SIZE = (1024, 256)
# One picture although the file holds more frames: previews and layers.
_ONE_PICTURE_FORMATS = {"MPO", "PSD"}
# Pillow would run Ghostscript, a programming language in the hands of whoever made the file.
_DRAWING_FORMATS = {"EPS", "WMF"}
ORIENTATION_TAG = 0x0112
_ORIENTATIONS = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
QUARTER_TURNS = {5, 6, 7, 8}


class UnreadableImage(ValueError):  # noqa: N818 - it says what the image is
    """An image that cannot be read.

    Attributes:
        name: the file, or what else the image came from.
        trouble: what is wrong and what to do about it, in one line.
    """

    def __init__(self, name: str, trouble: str) -> None:
        super().__init__(name, trouble)
        self.name = name
        self.trouble = trouble

    def __str__(self) -> str:
        return f"{one_line(self.name)}: {self.trouble}"


def load_image(source: ImageSource) -> Image.Image:
    """Read one image, upright and in RGB.

    * The EXIF orientation is applied.
    * Transparent images are laid on white, or on black if their visible pixels are lighter than
      middle gray on average: white text without a background stays visible.
    * 16-bit gray is scaled by 65535, or by 4095 or 255 if no value is above that (cameras store
      12 bits in 16); other integers and floats by the range of values in the image.
    * A JPEG photograph comes at 1/2, 1/4 or 1/8 of its size if 1024 x 256 pixels are left.

    Args:
        source: a path, the bytes of a file, an open binary file, or a Pillow image, of which the
            present frame is taken.

    Raises:
        UnreadableImage: no such file, no image, a damaged one, one of more than ``MAX_PIXELS`` or
            of several frames or pages.
    """
    return load_sized_image(source)[0]


def load_sized_image(source: ImageSource) -> tuple[Image.Image, tuple[int, int]]:
    """Read one image as `load_image` does, with the height and width that it has upright.

    The size is that of the picture before a JPEG photograph is reduced: that in which its user
    counts pixels.

    Raises:
        UnreadableImage: see `load_image`.
    """
    name = source_name(source)
    if isinstance(source, Image.Image):
        with _in_one_line(name):
            upright = _upright_rgb(source)
            return upright, (upright.height, upright.width)
    with _in_one_line(name), _open_file(source, name) as file, Image.open(file) as image:
        _check(image, name)
        width, height = image.size
        image.draft(None, _JPEG_DRAFT_SIZE)
        reduced = image.size != (width, height)
        upright = _upright_rgb(image)
        if not reduced:  # some formats turn upright while they load
            return upright, (upright.height, upright.width)
        turned = _orientation(image) in QUARTER_TURNS
        return upright, (width, height) if turned else (height, width)


def source_name(source: object) -> str:
    """What to call the source of an image in a message."""
    if isinstance(source, str | os.PathLike):
        return os.fsdecode(source)
    name = getattr(source, "filename", None) or getattr(source, "name", None)
    return os.fsdecode(name) if isinstance(name, str | os.PathLike) else "image data"


@contextmanager
def _in_one_line(name: str) -> Iterator[None]:
    """Turn every failure to read an image into ``UnreadableImage``."""
    try:
        yield
    except UnreadableImage:
        raise
    except FileNotFoundError:
        raise UnreadableImage(name, "no such file; check the path") from None
    except PermissionError:
        raise UnreadableImage(name, "no permission to read it; change its access rights") from None
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        raise _too_large(name) from None
    except UnidentifiedImageError:
        trouble = "not an image that can be read; give a JPEG, PNG, WebP, TIFF or BMP file"
        raise UnreadableImage(name, trouble) from None
    except MemoryError:
        raise UnreadableImage(name, "does not fit into memory; scale it down") from None
    except Exception as error:  # damage makes Pillow raise anything: SyntaxError, struct.error, ...
        detail = one_line(str(error)) or type(error).__name__
        trouble = f"damaged or cut short ({detail}); save or download it again"
        raise UnreadableImage(name, trouble) from error


def _too_large(name: str) -> UnreadableImage:
    limit = f"{MAX_PIXELS // 1_000_000} million pixels"
    return UnreadableImage(name, f"larger than {limit}; cut out the word or scale it down")


def _open_file(source: Path | str | bytes | BinaryFile, name: str) -> BytesIO | BufferedReader:
    if isinstance(source, bytes):
        if not source:
            raise UnreadableImage(name, "empty, 0 bytes; give the bytes of an image file")
        return BytesIO(source)
    if not isinstance(source, str | os.PathLike):
        return _open_file(source.read(), name)
    path = Path(source)
    status = path.stat()
    if stat.S_ISDIR(status.st_mode):
        raise UnreadableImage(name, "a folder, not an image; give the files in it")
    if stat.S_ISFIFO(status.st_mode):  # a shell's <(command), where decoders cannot go back
        return _open_file(path.read_bytes(), name)
    if not stat.S_ISREG(status.st_mode):
        raise UnreadableImage(name, "a device, not an image; give an image file")
    if status.st_size == 0:
        raise UnreadableImage(name, "empty, 0 bytes; save or download it again")
    return path.open("rb")


def _check(image: Image.Image, name: str) -> None:
    """Refuse from the header what should not be decoded."""
    if math.prod(image.size) > MAX_PIXELS:
        raise _too_large(name)
    if not math.prod(image.size):
        raise UnreadableImage(name, "an image without pixels; save or download it again")
    if image.format in _DRAWING_FORMATS:
        raise UnreadableImage(name, f"a drawing ({image.format}), not pixels; export it as PNG")
    if image.format not in _ONE_PICTURE_FORMATS and getattr(image, "is_animated", False):
        frames = f"holds {getattr(image, 'n_frames', 'several')} frames or pages"
        raise UnreadableImage(name, f"{frames}; save the one to read as a file of its own")


def _upright_rgb(image: Image.Image) -> Image.Image:
    image.load()
    orientation = _orientation(image)
    if image.mode.startswith("I;16") or image.mode in {"I", "F"}:
        image = _eight_bit(image)
    elif image.has_transparency_data:
        image = _opaque(image.convert("RGBA"))
    else:
        image = image.convert("RGB")
    return image.transpose(_ORIENTATIONS[orientation]) if orientation in _ORIENTATIONS else image


def _orientation(image: Image.Image) -> int:
    """EXIF orientation after loading: TIFF is upright by then, PNG may store it at the end."""
    try:
        return int(image.getexif().get(ORIENTATION_TAG, 1))
    except Exception:  # damaged metadata of any kind must not stop the reading of good pixels
        return 1


def _eight_bit(image: Image.Image) -> Image.Image:
    values = np.asarray(image).astype(np.float64)
    finite = values[np.isfinite(values)]
    low, high = (finite.min(), finite.max()) if finite.size else (0.0, 0.0)
    if image.mode != "F" and low >= 0 and high <= 65535:
        low, high = 0.0, next(full for full in (255.0, 4095.0, 65535.0) if high <= full)
    values = np.nan_to_num(values, nan=low, posinf=high, neginf=low)
    scaled = (values - low) / (high - low or 1) * 255
    return Image.fromarray(np.rint(scaled).astype(np.uint8)).convert("RGB")


def _opaque(image: Image.Image) -> Image.Image:
    """Lay an RGBA image on white or black, whichever its visible pixels stand out from."""
    alpha = np.asarray(image.getchannel("A"), dtype=np.float64)
    lightness = np.asarray(image.convert("RGB").convert("L"), dtype=np.float64)
    light = (lightness * alpha).sum() > 127.5 * alpha.sum()
    background = Image.new("RGBA", image.size, "black" if light else "white")
    return Image.alpha_composite(background, image).convert("RGB")


@dataclass(frozen=True, slots=True)
class Preprocessing:
    """From an RGB image to the input of a model.

    Attributes:
        height: of every image, in pixels.
        width: of every image, in pixels.
        mean: what is taken from red, green and blue, on the scale 0 to 1.
        std: what they are divided by then.
        turn_above: height over width above which an image is turned by a quarter to the left
            before it is resized, so that lines that run down run along; none is if None.

    Raises:
        ValueError: a size below 1, or not three finite numbers, or a ``std`` of 0.
    """

    height: int = 32
    width: int = 128
    mean: tuple[float, float, float] = (0.5, 0.5, 0.5)
    std: tuple[float, float, float] = (0.5, 0.5, 0.5)
    turn_above: float | None = None

    def __post_init__(self) -> None:
        if min(self.height, self.width) < 1:
            raise ValueError(f"images need 1 x 1 pixels or more, not {self.height} x {self.width}")
        for values in (self.mean, self.std):
            if len(values) != 3 or not all(map(math.isfinite, values)):
                raise ValueError(f"mean and std are three finite numbers each, found {values}")
        if not all(self.std):
            raise ValueError(f"std divides the pixels and must not be 0, found {self.std}")
        if self.turn_above is not None and not self.turn_above > 0:
            raise ValueError(f"turn_above must be above 0, found {self.turn_above}")

    def turns(self, height: int, width: int) -> bool:
        """Whether an image of this size is turned by a quarter to the left."""
        return self.turn_above is not None and height > self.turn_above * width

    def pixels(self, image: Image.Image) -> UInt8[Tensor, "channel height width"]:
        """Turn a tall RGB image if asked, and resize it whatever its aspect: bicubic, antialiased.

        An image of the right size keeps its pixels.
        """
        if image.mode != "RGB":
            raise ValueError(f"expected an RGB image, found {image.mode}: open it with load_image")
        if self.turns(image.height, image.width):
            image = image.transpose(Image.Transpose.ROTATE_90)
        if image.size != (self.width, self.height):
            image = image.resize((self.width, self.height), Image.Resampling.BICUBIC)
        return torch.from_numpy(np.array(image)).permute(2, 0, 1).contiguous()

    def normalize(
        self, images: UInt8[Tensor, "*batch channel height width"]
    ) -> Float[Tensor, "*batch channel height width"]:
        """(pixels / 255 - mean) / std in float32, on the device of the pixels."""
        mean = torch.tensor(self.mean, device=images.device).view(3, 1, 1)
        std = torch.tensor(self.std, device=images.device).view(3, 1, 1)
        return (images.float() / 255 - mean) / std

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return asdict(self) | {"mean": list(self.mean), "std": list(self.std)}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "Preprocessing":
        """Inverse of ``to_dict``.

        Raises:
            ValueError: a value is missing, unknown, or of the wrong kind.
        """
        names = [field.name for field in fields(cls)]
        # Written before tall images were turned: none is.
        values = {"turn_above": None, **values}
        try:
            if sorted(values) != sorted(names):
                raise ValueError(f"preprocessing needs {', '.join(names)}, found {values}")
            mean, std = tuple(map(float, values["mean"])), tuple(map(float, values["std"]))
            turn_above = None if values["turn_above"] is None else float(values["turn_above"])
            size = int(values["height"]), int(values["width"])
            return cls(*size, mean, std, turn_above)  # type: ignore[arg-type]
        except TypeError as error:
            raise ValueError(f"preprocessing needs numbers, found {values!r}") from error
