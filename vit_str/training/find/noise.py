"""How a part of a drawn picture comes before a camera, a scanner or a screen, at random."""

from dataclasses import dataclass

import cv2
import numpy as np
from jaxtyping import Float, UInt8

from vit_str.synthesis.places import Places
from vit_str.synthesis.structures import structured

Pixels = UInt8[np.ndarray, "row column 3"]

_QUARTERS = np.array([(1, 0), (0, 1), (-1, 0), (0, -1)], float)
_LAID = (0.6, 1.5)  # longer side of a page on a ground, over that of the picture


@dataclass(frozen=True)
class Noise:
    """Shares and strengths, by eye.

    Attributes:
        scales: by which pictures become smaller or larger at random, on a scale of logarithms.
        stretched_share: of pictures whose letters are wider or higher, as of tills.
        stretch: most by which these are, on a scale of logarithms.
        tilt: deviation of the angle, in degrees.
        strong_share: of pictures tilted by up to `strong_tilt`.
        strong_tilt: in degrees.
        turned_share: of pictures on a side or upside down.
        aged_share: of pages with folds, stains, texture, shadows.
        printed_share: of pages of a thermal, dot-matrix or worn printer.
        rewritten_share: of pages some of whose lines are identifiers, digits or signs.
        lone_mark_share: of pages with columns of single characters and codes beside their lines.
        separated_share: of pages with rows of dashes, stars or dots between their lines.
        ruled_share: of pages with rules through their lines.
        laid_share: of pages that are seen with what they lie on.
        slip_times: how many times as often what wears pages is true of slips of a till.
        slip_share: of slips of a till among pages, where there are any.
        perspective: by which corners are moved at most, over the sides.
        bend: by which pages are bent at most, over the sides.
        inverted_share: of pictures in dark mode: white on black.
        gray_share: without colors.
        threshold_share: of pictures in black and white, as from a fax.
        blur: greatest deviation, in pixels.
        grain: greatest deviation, in shades of 255.
        compressed_share: of pictures that were kept as JPEG.
    """

    scales: tuple[float, float] = (0.5, 1.6)
    stretched_share: float = 0.3
    stretch: float = 0.8
    tilt: float = 1.5
    strong_share: float = 0.1
    strong_tilt: float = 25.0
    turned_share: float = 0.25
    aged_share: float = 0.35
    printed_share: float = 0.16
    rewritten_share: float = 0.3
    lone_mark_share: float = 0.3
    separated_share: float = 0.12
    ruled_share: float = 0.1
    laid_share: float = 0.1
    slip_times: float = 2.5
    slip_share: float = 0.3
    perspective: float = 0.04
    bend: float = 0.015
    inverted_share: float = 0.15
    gray_share: float = 0.4
    threshold_share: float = 0.1
    blur: float = 1.2
    grain: float = 14.0
    compressed_share: float = 0.6


def seen(
    random: np.random.Generator,
    image: Pixels,
    places: Places,
    side: int,
    noise: Noise,
) -> tuple[Pixels, Places]:
    """A square part of a picture, turned and enlarged at random, and what is where in it.

    Args:
        random: decides.
        image: the picture.
        places: what is where on it.
        side: of the part, in pixels.
        noise: how far all may go.
    """
    scale = float(np.exp(random.uniform(*np.log(noise.scales))))
    if scale < 0.9:  # the map alone would skip pixels
        size = round(image.shape[1] * scale), round(image.shape[0] * scale)
        image = np.asarray(cv2.resize(image, size, interpolation=cv2.INTER_AREA))
        places = places.moved(np.diag([scale, scale, 1.0]))
        scale = 1.0
    matrix = _view(random, image.shape[:2], scale, side, noise)
    ground = random.integers(0, 256, 3).tolist()
    flags, border = cv2.INTER_LINEAR, cv2.BORDER_CONSTANT
    if random.random() < 0.5:
        border = cv2.BORDER_REPLICATE
    part = cv2.warpPerspective(
        image, matrix, (side, side), flags=flags, borderMode=border, borderValue=ground
    )
    places = places.moved(matrix)
    if random.random() < 0.3:
        part, places = _bent(random, part, places, noise.bend)
    return part, places


def laid(
    random: np.random.Generator,
    image: Pixels,
    places: Places,
    side: int,
    noise: Noise,
) -> tuple[Pixels, Places]:
    """A page on a table, a cloth or a wall, all of it or most, and what is where; see `seen`."""
    longest = max(image.shape[:2])
    scale = side * random.uniform(*_LAID) / longest
    if scale < 0.9:
        size = round(image.shape[1] * scale), round(image.shape[0] * scale)
        image = np.asarray(cv2.resize(image, size, interpolation=cv2.INTER_AREA))
        places = places.moved(np.diag([scale, scale, 1.0]))
        scale = 1.0
    height, width = image.shape[:2]
    corners = np.array([(0, 0), (width, 0), (width, height), (0, height)], float)
    slant = random.uniform(-1, 1, (4, 2)) * noise.perspective * 2 * min(height, width)
    turn = _turn(random, noise, tilt=3 * noise.tilt)
    moved = ((corners - (width / 2, height / 2) + slant) * scale) @ turn
    moved += side / 2 + random.uniform(-0.15, 0.15, 2) * side
    matrix = cv2.getPerspectiveTransform(
        corners.astype(np.float32), moved.astype(np.float32)
    )
    cover = np.full((height, width), 255, np.uint8)
    cover = np.asarray(cv2.warpPerspective(cover, matrix, (side, side)))
    part = cv2.warpPerspective(image, matrix, (side, side))
    below = _ground(random, side, cover)
    share = (cover.astype(np.float32) / 255)[..., None]
    pixels = (below + (part - below) * share).clip(0, 255).astype(np.uint8)
    places = places.moved(matrix.astype(float))
    if random.random() < 0.5:
        pixels, places = _bent(random, pixels, places, 2 * noise.bend)
    return pixels, places


def _ground(
    random: np.random.Generator, side: int, cover: UInt8[np.ndarray, "row column"]
) -> Float[np.ndarray, "row column 3"]:
    """What a page lies on, with its shadow."""
    below = np.empty((side, side, 3), np.float32)
    below[:] = random.uniform(10, 245)
    way = random.random()
    if way < 0.2:
        return below * 0 + random.choice([0.0, 255.0])  # the lid of a scanner
    if way < 0.75:
        below = structured(random, (side, side))
    soft = random.uniform(1, 8)
    shift = random.normal(0, 4, 2)
    moved = cv2.warpAffine(
        cover, np.array([[1, 0, shift[0]], [0, 1, shift[1]]]), (side, side)
    )
    shadow = cv2.GaussianBlur(moved, (0, 0), soft).astype(np.float32) / 255
    return below * (1 - random.uniform(0, 0.7) * shadow[..., None])


def _turn(
    random: np.random.Generator, noise: Noise, tilt: float
) -> Float[np.ndarray, "2 2"]:
    """A turn by a small angle, at times a large one, at times by quarters."""
    angle = random.normal(0, tilt)
    if random.random() < noise.strong_share:
        angle = random.uniform(-noise.strong_tilt, noise.strong_tilt)
    quarter = 0
    if random.random() < noise.turned_share:
        quarter = int(random.integers(1, 4))
    cosine, sine = np.cos(np.deg2rad(angle)), np.sin(np.deg2rad(angle))
    right = _QUARTERS[quarter]
    turn = np.array([[cosine, sine], [-sine, cosine]])
    return turn @ np.array([right, (-right[1], right[0])])


def _view(
    random: np.random.Generator,
    size: tuple[int, int],
    scale: float,
    side: int,
    noise: Noise,
) -> Float[np.ndarray, "3 3"]:
    """From the pixels of a picture to those of the part."""
    height, width = size
    turn = _turn(random, noise, tilt=noise.tilt)
    # A place of the picture whose neighborhood fills the part, as far as there is one
    room = np.maximum(0, np.array([width, height]) - side / scale) / 2
    middle = np.array([width, height]) / 2 + random.uniform(-1, 1, 2) * (
        room + side / 8
    )
    corners = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)], float) * side / scale / 2
    if random.random() < noise.stretched_share:
        stretch = random.uniform(-noise.stretch, noise.stretch)
        corners *= np.exp([stretch / 2, -stretch / 2])
    moved = corners + random.uniform(-1, 1, (4, 2)) * noise.perspective * side / scale
    target = np.array([(0, 0), (side, 0), (side, side), (0, side)], np.float32)
    source = (moved @ turn + middle).astype(np.float32)
    return cv2.getPerspectiveTransform(source, target).astype(float)


def _bent(
    random: np.random.Generator, image: Pixels, places: Places, most: float
) -> tuple[Pixels, Places]:
    """A page that is not flat: every column moved up or down along a wave."""
    side = image.shape[0]
    height = random.uniform(-most, most) * side
    length = random.uniform(0.5, 2.0) * side
    start = random.uniform(0, 2 * np.pi)

    def shift(x: np.ndarray) -> np.ndarray:
        return height * np.sin(2 * np.pi * x / length + start)

    x, y = np.meshgrid(*[np.arange(side, dtype=np.float32)] * 2)
    bent = cv2.remap(
        image,
        x,
        (y - shift(x)).astype(np.float32),
        cv2.INTER_LINEAR,
        borderMode=cv2.BORDER_REPLICATE,
    )

    def moved(points: np.ndarray) -> np.ndarray:
        lifted = points.copy()
        lifted[..., 1] += shift(points[..., 0])
        return lifted

    parts = {
        name: moved(getattr(places, name))
        for name in ("strips", "rules", "checks", "pictures", "unclear")
    }
    return bent, Places(**{**vars(places), **parts})


def worn(random: np.random.Generator, image: Pixels, noise: Noise) -> Pixels:
    """The same picture with other light and colors, blurred, with grain, compressed."""
    pixels = image.astype(np.float32)
    if random.random() < noise.inverted_share:
        pixels = 255 - pixels
    if random.random() < noise.gray_share:
        pixels[:] = pixels.mean(2, keepdims=True)
    pixels = _lit(random, pixels)
    pixels = _blurred(random, pixels, noise.blur)
    if random.random() < 0.6:
        grain = random.uniform(0, noise.grain)
        shape = (*pixels.shape[:2], 1 if random.random() < 0.6 else 3)
        pixels = pixels + random.normal(0, grain, shape).astype(np.float32)
    if random.random() < noise.threshold_share:
        dark = pixels.mean(2, keepdims=True) < pixels.mean() * random.uniform(0.7, 0.9)
        pixels = np.where(np.repeat(dark, 3, 2), 0.0, 255.0).astype(np.float32)
    found = pixels.clip(0, 255).astype(np.uint8)
    if random.random() < noise.compressed_share:
        quality = int(random.integers(25, 92))
        _, file = cv2.imencode(".jpg", found, [cv2.IMWRITE_JPEG_QUALITY, quality])
        found = np.asarray(cv2.imdecode(file, cv2.IMREAD_COLOR), np.uint8)
    return found


def _lit(
    random: np.random.Generator, pixels: Float[np.ndarray, "row column 3"]
) -> Float[np.ndarray, "row column 3"]:
    """Another contrast, paper, tone, and light that falls off."""
    if random.random() < 0.7:
        paper = random.uniform(0.75, 1.0, 3) if random.random() < 0.5 else np.ones(3)
        contrast = random.uniform(0.4, 1.0)
        base = random.uniform(0, 255 * (1 - contrast))
        pixels = (pixels * contrast + base) * paper.astype(np.float32)
    if random.random() < 0.4:
        gamma = np.exp(random.normal(0, 0.35))
        pixels = 255 * (pixels.clip(0, 255) / 255) ** np.float32(gamma)
    if random.random() < 0.4:
        light = random.uniform(0.45, 1.1, (3, 3)).astype(np.float32)
        size = pixels.shape[1], pixels.shape[0]
        pixels = (
            pixels * cv2.resize(light, size, interpolation=cv2.INTER_CUBIC)[..., None]
        )
    return pixels


def _blurred(
    random: np.random.Generator, pixels: Float[np.ndarray, "row column 3"], most: float
) -> Float[np.ndarray, "row column 3"]:
    """Out of focus, moved, or with fewer pixels; many are not."""
    way = random.random()
    if way < 0.35:
        return cv2.GaussianBlur(pixels, (0, 0), random.uniform(0.2, most))
    if way < 0.42:
        length = int(random.integers(2, 6))
        kernel = np.zeros((length, length), np.float32)
        kernel[length // 2] = 1 / length
        if random.random() < 0.5:
            kernel = kernel.T.copy()
        return cv2.filter2D(pixels, -1, kernel)
    if way < 0.55:
        share = random.uniform(0.5, 0.9)
        size = pixels.shape[1], pixels.shape[0]
        smaller = cv2.resize(
            pixels, None, fx=share, fy=share, interpolation=cv2.INTER_AREA
        )
        return cv2.resize(smaller, size, interpolation=cv2.INTER_LINEAR)
    return pixels
