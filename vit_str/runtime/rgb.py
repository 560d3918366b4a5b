"""Pixels of any type to RGB, a strip at a time: a large image needs no second copy in memory."""

import math
from collections.abc import Callable, Iterator

import numpy as np
from PIL import Image

# Pixels of which there may be temporary copies, and above which an image is scaled down first.
_STRIP = 1 << 20
_LARGE = 1 << 24


def to_rgb(image: Image.Image) -> Image.Image:
    """An image in RGB, as `vit_str.runtime.images.load_image` describes it.

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
        rgb.paste(converted.reduce(factor) if factor > 1 else converted, (0, top // factor))
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
    low, high = min((r[0] for r in ranges), default=0.0), max((r[1] for r in ranges), default=0.0)
    if image.mode != "F" and low >= 0 and high <= 65535:
        low, high = 0.0, next(full for full in (255.0, 4095.0, 65535.0) if high <= full)

    def convert(strip: Image.Image) -> Image.Image:
        with np.errstate(all="ignore"):  # what is no number may warn
            values = np.asarray(strip).astype(np.float64)
            values = np.nan_to_num(values, copy=False, nan=low, posinf=high, neginf=low)
            scaled = (values - low) / (high - low or 1) * 255
        return Image.fromarray(np.rint(scaled).astype(np.uint8)).convert("RGB")

    return convert


def _opaque(image: Image.Image) -> Callable[[Image.Image], Image.Image]:
    """Lay a transparent image on white or black, whichever its visible pixels stand out from."""
    light = total = 0.0
    for _, strip in _strips(image):
        rgba = strip.convert("RGBA")
        alpha = np.asarray(rgba.getchannel("A"), dtype=np.float64)
        lightness = np.asarray(rgba.convert("RGB").convert("L"), dtype=np.float64)
        light, total = light + (lightness * alpha).sum(), total + alpha.sum()
    background = "black" if light > 127.5 * total else "white"

    def convert(strip: Image.Image) -> Image.Image:
        rgba = strip.convert("RGBA")
        return Image.alpha_composite(Image.new("RGBA", rgba.size, background), rgba).convert("RGB")

    return convert
