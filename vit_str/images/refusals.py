"""Images that cannot be read, each with the reason in one line, and the limits of their sizes."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager

from PIL import Image, UnidentifiedImageError

from vit_str.console import one_line

MAX_PIXELS = 89_478_485
"""Larger images are refused before they are decoded, but for photographs in JPEG up to twice as
large, which are decoded at half their size. All threads together decode no more at once; this many
take a third of a gigabyte."""

MAX_SIDE = 100_000
"""Longest side of an image, in pixels: resizing takes memory by the length of a side."""

MAX_BYTES = 3 * MAX_PIXELS
"""Larger files are refused: the most pixels in RGB, stored as they are, take this many."""


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
        raise too_large(name) from None
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


def too_large(
    name: str,
    what: str = f"{MAX_PIXELS // 1_000_000} million pixels",
) -> UnreadableImage:
    """The refusal of an image that is larger than something."""
    return UnreadableImage(
        name, f"larger than {what}; scale it down or cut out what to read"
    )


def check_size(image: Image.Image, name: str) -> None:
    """Refuse an image that should not be decoded or resized, whatever is in it.

    Raises:
        UnreadableImage: for one without pixels, or with too many of them.
    """
    if not math.prod(image.size):
        raise UnreadableImage(
            name, "an image without pixels; save or download it again"
        )
    if math.prod(image.size) > MAX_PIXELS:
        raise too_large(name)
    if max(image.size) > MAX_SIDE:
        raise too_large(name, f"{MAX_SIDE:,} pixels on one side")
