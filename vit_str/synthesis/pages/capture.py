"""How a drawn page becomes a picture of life: printed to a file, scanned, faxed, photographed."""

from dataclasses import dataclass
from io import BytesIO
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from PIL import Image, ImageFilter

if TYPE_CHECKING:
    from jaxtyping import Float

WAYS = ("file", "scan", "fax", "photo")
"""Kinds of pictures; see `sample_capture`."""

_SHARES = (0.4, 0.35, 0.05, 0.2)
_DPI = {"file": (96, 220), "scan": (110, 200), "fax": (150, 204), "photo": (110, 170)}
_CSS_DPI = 96.0
_TURNED = 0.04  # share of scans and photographs that lie on a side or upside down
_TABLES = ((92, 70, 52), (205, 200, 190), (60, 62, 66), (150, 120, 90))  # colors
_PERSPECTIVE = (
    0.035  # by which a corner of a photograph is moved at most, over the sides
)
_MARGIN = 1.12  # sides of a photograph over those of the page


class Light(NamedTuple):
    """Lightness at the left, right, top and bottom of a picture, 1 for that of the page."""

    left: float
    right: float
    top: float
    bottom: float


@dataclass(frozen=True)
class Capture:
    """How a picture of a page is taken, drawn at random by `sample_capture`.

    Attributes:
        way: one of `WAYS`.
        dpi: of the page in the picture, in dots per inch.
        tilt: degrees to the left.
        quarters: quarter turns to the left.
        corners: by which the corners of the page are moved, over its sides.
        blur: radius in pixels.
        noise: standard deviation in shades of 255.
        light: of the page.
        contrast: of ink to paper, 1 for that of the page.
        is_gray: has no colors.
        quality: of JPEG; 0 for none.
        table: color around the page.
        seed: of the noise.
    """

    way: str
    dpi: float
    tilt: float
    quarters: int
    corners: "Float[np.ndarray, '4 2']"
    blur: float
    noise: float
    light: Light
    contrast: float
    is_gray: bool
    quality: int
    table: tuple[int, int, int]
    seed: int

    @property
    def scale(self) -> float:
        """Pixels of the picture for each one of CSS."""
        return self.dpi / _CSS_DPI


def sample_capture(random: np.random.Generator, way: str | None = None) -> Capture:
    """A way to take a picture.

    Args:
        random: decides.
        way: one of `WAYS`; None for any, by their shares.
    """
    way = way or str(random.choice(WAYS, p=_SHARES))
    is_file, is_photo = way == "file", way == "photo"
    tilts = {"file": 0.0, "scan": 1.5, "fax": 1.0, "photo": 4.0}
    moved = random.uniform(-_PERSPECTIVE, _PERSPECTIVE, (4, 2))
    is_turned = not is_file and random.random() < _TURNED
    darkest = {"file": 1.0, "scan": 0.85, "fax": 1.0, "photo": 0.55}[way]
    noise = {"file": 0.0, "scan": 9.0, "fax": 14.0, "photo": 6.0}[way]
    blur = {"file": 0.35, "scan": 0.7, "fax": 0.4, "photo": 1.1}[way]
    return Capture(
        way=way,
        dpi=float(random.uniform(*_DPI[way])),
        tilt=float(random.uniform(-1, 1) * tilts[way]),
        quarters=int(random.integers(1, 4)) if is_turned else 0,
        corners=moved if is_photo else np.zeros((4, 2)),
        blur=float(random.uniform(0, blur)),
        noise=float(random.uniform(0, noise)),
        light=Light(*random.uniform(darkest, 1.0, 4).tolist()),
        contrast=float(random.uniform(0.6, 1.0)) if not is_file else 1.0,
        is_gray=bool(random.random() < (0.15 if is_file or is_photo else 0.6)),
        quality=int(random.integers(45, 95)) if random.random() < 0.7 else 0,
        table=_TABLES[random.integers(len(_TABLES))],
        seed=int(random.integers(2**31)),
    )


class Picture(NamedTuple):
    """A picture of a page, and where the page is in it.

    Attributes:
        image: in RGB.
        to_page: takes pixels of the picture, as (x, y, 1), to those of CSS, up to a factor.
    """

    image: Image.Image
    to_page: "Float[np.ndarray, '3 3']"


def take_picture(page: Image.Image, capture: Capture) -> Picture:
    """A picture of a page that was drawn at the scale of the capture."""
    random = np.random.default_rng(capture.seed)
    image, to_drawn = _placed(page, capture)
    pixels = np.asarray(
        image.filter(ImageFilter.GaussianBlur(capture.blur)), np.float32
    )
    pixels = 255 - (255 - pixels) * capture.contrast
    pixels = pixels * _shading(image.size, capture.light)[..., None]
    if capture.noise:
        pixels = pixels + random.normal(0, capture.noise, pixels.shape[:2])[..., None]
    if capture.way == "fax":
        gray = pixels.mean(2, keepdims=True)
        pixels = np.repeat(np.where(gray > random.uniform(120, 175), 255.0, 0.0), 3, 2)
    image = Image.fromarray(pixels.clip(0, 255).astype(np.uint8))
    if capture.is_gray:
        image = image.convert("L").convert("RGB")
    if capture.quality:
        image = _as_jpeg(image, capture.quality)
    to_page = np.diag([1 / capture.scale, 1 / capture.scale, 1.0]) @ to_drawn
    return Picture(image, to_page)


def to_page_places(
    to_page: "Float[np.ndarray, '3 3']", points: "Float[np.ndarray, '... 2']"
) -> "Float[np.ndarray, '... 2']":
    """Where points of a picture are on its page, in pixels of CSS."""
    ones = np.ones((*points.shape[:-1], 1))
    moved = np.concatenate([points, ones], -1) @ to_page.T
    return moved[..., :2] / moved[..., 2:]


def _placed(
    page: Image.Image, capture: Capture
) -> tuple[Image.Image, "Float[np.ndarray, '3 3']"]:
    """The page in the picture, and the map from the pixels of that to those of the page."""
    width, height = page.size
    corners = np.array([(0, 0), (width, 0), (width, height), (0, height)], float)
    if capture.way == "file":
        return page, np.eye(3)
    size = np.array([width, height], float)
    if capture.way == "photo":
        size = np.round(size * _MARGIN)
    angle = np.deg2rad(capture.tilt)
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    moved = (corners - (width / 2, height / 2)) + capture.corners * (width, height)
    moved = moved @ turn + size / 2
    to_drawn = _homography(moved, corners)
    ground = capture.table if capture.way == "photo" else (255, 255, 255)
    image = page.transform(
        (int(size[0]), int(size[1])),
        Image.Transform.PERSPECTIVE,
        tuple((to_drawn / to_drawn[2, 2]).ravel()[:8]),
        Image.Resampling.BICUBIC,
        fillcolor=ground,
    )
    return _turned(image, to_drawn, capture.quarters)


def _turned(
    image: Image.Image, to_drawn: np.ndarray, quarters: int
) -> tuple[Image.Image, np.ndarray]:
    """A picture turned to the left by some quarters."""
    for _ in range(quarters):
        # A place (x, y) of the turned picture was at (width - y, x)
        back = np.array([[0.0, -1.0, image.width], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
        image = image.transpose(Image.Transpose.ROTATE_90)
        to_drawn = to_drawn @ back
    return image, to_drawn


def _homography(source: np.ndarray, target: np.ndarray) -> np.ndarray:
    """The map that takes four points to four others: a linear system of eight equations."""
    rows = []
    for (x, y), (u, v) in zip(source, target, strict=True):
        rows.append([x, y, 1, 0, 0, 0, -u * x, -u * y])
        rows.append([0, 0, 0, x, y, 1, -v * x, -v * y])
    solved = np.linalg.solve(np.array(rows, float), target.ravel())
    return np.append(solved, 1.0).reshape(3, 3)


def _shading(size: tuple[int, int], light: Light) -> "Float[np.ndarray, 'row column']":
    across = np.linspace(light.left, light.right, size[0], dtype=np.float32)
    down = np.linspace(light.top, light.bottom, size[1], dtype=np.float32)
    return np.sqrt(down[:, None] * across[None, :])


def _as_jpeg(image: Image.Image, quality: int) -> Image.Image:
    file = BytesIO()
    image.save(file, "JPEG", quality=quality)
    return Image.open(file).convert("RGB")
