"""Opened images to pixels: upright, in RGB, on a ground, in 8 bits."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image

if TYPE_CHECKING:
    from jaxtyping import Float


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


def upright_rgb(
    image: Image.Image, full: tuple[int, int] | None
) -> tuple[Image.Image, tuple[int, int]]:
    """An image in RGB, scaled down if it is large, and the height and width of the whole."""
    image.load()
    orientation = orientation_of(image)
    width, height = full or image.size  # some formats turn upright while they load
    if orientation in QUARTER_TURNS:
        width, height = height, width
    rgb = _to_rgb(image)
    if orientation in _ORIENTATIONS:
        rgb = rgb.transpose(_ORIENTATIONS[orientation])
    rgb.info = {}  # with the orientation that is applied: parts of it would be turned again
    return rgb, (height, width)


def orientation_of(image: Image.Image) -> int:
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
