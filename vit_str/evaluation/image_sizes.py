"""How large images are, by their headers alone."""

from io import BytesIO
from pathlib import Path

from PIL import Image

from vit_str.runtime.images import ORIENTATION_TAG, QUARTER_TURNS

ImageSize = tuple[int, int]
"""Height and width of an image, upright, in pixels."""


def size_of(image: bytes | Path) -> ImageSize | None:
    """Height and width of an image file, upright, from its header; None if that fails."""
    try:
        file = BytesIO(image) if isinstance(image, bytes) else image
        with Image.open(file) as picture:
            width, height = picture.size
            # Asking a PNG file for more than its header says would decode it. TIFF is upright.
            stored = "exif" in picture.info and picture.format != "TIFF"
            turned = stored and picture.getexif().get(ORIENTATION_TAG) in QUARTER_TURNS
            return (width, height) if turned else (height, width)
    except Exception:  # it has been read, the size is optional
        return None
