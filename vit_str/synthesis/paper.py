"""What happens to a printed page: folds, creases, texture, stains, shadows, marks, poor print.

Colors are from 0 to 255 and places do not move, so what is where on a page stays true. All
strengths are by eye.
"""

from collections.abc import Callable

import cv2
import numpy as np
from jaxtyping import Float

from vit_str.synthesis.scan_marks import edged, penned, punched, screened

Picture = Float[np.ndarray, "row column 3"]
Field = Float[np.ndarray, "row column"]

_COARSE = 4  # pixels of a cell in which slow changes are drawn
_LEAST_INK = 0.35  # of the difference between ink and paper, that poor print leaves


def aged(random: np.random.Generator, picture: Picture, most: int = 3) -> Picture:
    """A page that was folded, wet, lit and copied: one to so many things at once.

    Args:
        random: decides.
        picture: the page.
        most: things that happened.
    """
    count = int(random.integers(1, most + 1))
    for place in random.choice(len(_AGES), count, replace=False):
        picture = _AGES[place](random, picture)
    return picture.clip(0, 255)


def poorly_printed(
    random: np.random.Generator, picture: Picture, height: float
) -> Picture:
    """A page from a thermal, dot-matrix or worn printer: faint, in bands, of dots.

    Args:
        random: decides.
        picture: the page, dark on light.
        height: of its letters in pixels, which are nine dots of a dot-matrix printer.
    """
    size = picture.shape[:2]
    ink = np.ones(size, np.float32)
    for draw in (_bands, _dots_of(height), _worn, _streaks):
        if random.random() < 0.45:
            ink *= draw(random, size)
    faint = random.uniform(0.5, 1.0)
    ink = np.maximum(ink * faint, _LEAST_INK)
    paper = np.percentile(picture[::8, ::8].reshape(-1, 3), 90, axis=0)
    tone = random.normal(0, 12, 3) * (1 - faint)  # worn ink is blue or brown
    lighter = picture - paper
    lighter += tone * np.abs(lighter) / 255
    picture = paper + lighter * ink[..., None]
    return picture.astype(np.float32).clip(0, 255)


def _bands(random: np.random.Generator, size: tuple[int, int]) -> Field:
    """Stripes across or down that are fainter: a ribbon, a head that touches unevenly."""
    axis = int(random.integers(2))
    cells = int(random.integers(2, 14))
    values = random.uniform(0.35, 1.3, (cells, 1)).astype(np.float32).clip(0, 1)
    band = cv2.resize(values, (1, size[axis]), interpolation=cv2.INTER_LINEAR)
    return band if axis == 0 else band.T


def _dots_of(height: float) -> Callable[..., Field]:
    """Nine dots over the height of a letter, apart as far as that is seen."""

    def dots(random: np.random.Generator, size: tuple[int, int]) -> Field:
        period = max(2.2, height / random.uniform(7.5, 10))
        sharp = random.uniform(0.3, 0.9)
        down = 0.5 + 0.5 * np.cos(np.arange(size[0]) * 2 * np.pi / period)
        across = 0.5 + 0.5 * np.cos(np.arange(size[1]) * 2 * np.pi / period)
        lattice = np.outer(down, across).astype(np.float32)
        return 1 - sharp * (1 - np.sqrt(lattice))

    return dots


def _worn(random: np.random.Generator, size: tuple[int, int]) -> Field:
    """Patches where ink has gone, or heat: slow and fast noise."""
    field = np.ones(size, np.float32)
    for pixels, most in ((1.5, 0.5), (40.0, 0.7)):
        field -= random.uniform(0, most) * _noise(random, size, pixels).clip(0, 1)
    return field.clip(0, 1)


def _streaks(random: np.random.Generator, size: tuple[int, int]) -> Field:
    """Thin lines without ink along the paper, where dots of the head are broken."""
    axis = int(random.integers(2))
    line = np.ones(size[axis], np.float32)
    count = int(random.integers(1, 14))
    line[random.integers(0, size[axis], count)] = random.uniform(0, 0.6)
    return line[:, None] if axis == 0 else line[None]


def _noise(random: np.random.Generator, size: tuple[int, int], pixels: float) -> Field:
    """Normal numbers, one about every so many pixels, and smooth between them."""
    cells = max(2, round(size[0] / pixels)), max(2, round(size[1] / pixels))
    values = random.standard_normal(cells, np.float32)
    return np.asarray(cv2.resize(values, size[::-1], interpolation=cv2.INTER_LINEAR))


def _folded(random: np.random.Generator, picture: Picture) -> Picture:
    """One to three straight folds from side to side: a bright or dark ridge, a side in shade."""
    height, width = picture.shape[:2]
    y, x = np.ogrid[:height, :width]
    shade = np.ones((height, width), np.float32)
    for _ in range(int(random.integers(1, 4))):
        angle = random.choice([0, np.pi / 2]) + random.normal(0, 0.05)
        at = random.uniform(0.1, 0.9, 2) * (width, height)
        off = ((x - at[0]) * np.cos(angle) + (y - at[1]) * np.sin(angle)).astype(
            np.float32
        )
        wide = random.uniform(0.6, 3.0)
        ridge = random.normal(0, 0.16) * np.exp(-np.square(off / wide))
        reach = random.uniform(20, 160)
        side = random.normal(0, 0.09) * np.exp(-np.abs(off) / reach) * np.sign(off)
        shade += ridge + side
    return picture * shade[..., None]


def _crumpled(random: np.random.Generator, picture: Picture) -> Picture:
    """Creases in all directions: facets in other light, with edges of a pixel or more."""
    height, width = picture.shape[:2]
    rows, columns = height // 2, width // 2
    y, x = np.ogrid[:rows, :columns]
    shade = np.ones((rows, columns), np.float32)
    strength = random.uniform(0.02, 0.08)
    for _ in range(int(random.integers(4, 14))):
        angle = random.uniform(0, np.pi)
        at = random.random(2) * (columns, rows)
        off = ((x - at[0]) * np.cos(angle) + (y - at[1]) * np.sin(angle)).astype(
            np.float32
        )
        along = ((y - at[1]) * np.cos(angle) - (x - at[0]) * np.sin(angle)).astype(
            np.float32
        )
        ends = np.exp(-np.square(along / random.uniform(30, 200)))
        side = np.exp(-np.abs(off) / random.uniform(6, 60)) * np.sign(off)
        ridge = random.normal(0, 1.5) * (np.abs(off) < random.uniform(0.4, 1.2))
        shade += random.normal(0, strength) * (side + ridge) * ends
    seen = cv2.resize(shade, (width, height), interpolation=cv2.INTER_LINEAR)
    return picture * seen[..., None]


def _textured(random: np.random.Generator, picture: Picture) -> Picture:
    """Fibers, laid lines or a weave in the paper."""
    size = picture.shape[:2]
    field = random.uniform(0.01, 0.06) * _noise(random, size, random.uniform(1, 3))
    field += random.uniform(0, 0.05) * _noise(random, size, random.uniform(6, 30))
    way = random.random()
    if way < 0.4:
        period, strength = random.uniform(2.5, 14), random.uniform(0.01, 0.06)
        lines = np.sin(np.arange(size[0]) * 2 * np.pi / period)[:, None]
        columns = np.sin(np.arange(size[1]) * 2 * np.pi / period)[None]
        waves = (lines * columns, lines + 0 * columns, columns + 0 * lines)
        field += strength * waves[random.integers(3)].astype(np.float32)
    elif way < 0.7:
        fibers = _noise(random, (size[0], max(2, size[1] // 30)), 1.5)
        long = cv2.resize(fibers, size[::-1], interpolation=cv2.INTER_LINEAR)
        field += random.uniform(0.01, 0.05) * long
    return picture * (1 + field[..., None])


def _stained(random: np.random.Generator, picture: Picture) -> Picture:
    """Rings of cups, drops, spots of grease and dust."""
    height, width = picture.shape[:2]
    cover = np.zeros((height, width), np.float32)
    for _ in range(int(random.integers(1, 5))):
        middle = (random.random(2) * (width, height)).astype(int).tolist()
        radius = int(np.exp(random.uniform(np.log(6), np.log(160))))
        thick = -1 if random.random() < 0.5 else max(1, radius // 12)
        axes = [radius, max(2, int(radius * random.uniform(0.7, 1)))]
        start = int(random.integers(360))
        turn = start + int(random.integers(200, 361))
        strength = random.uniform(0.05, 0.35)
        cv2.ellipse(cover, middle, axes, 0, start, turn, strength, thick, cv2.LINE_AA)
    cover[:] = cv2.GaussianBlur(cover, (0, 0), random.uniform(0.6, 4))
    tone = random.uniform(0.2, 1.0, 3).astype(np.float32)
    return picture * (1 - cover[..., None] * tone)


def _specked(random: np.random.Generator, picture: Picture) -> Picture:
    """Dust and dirt, as dark as ink and as small as full stops, some in clusters."""
    height, width = picture.shape[:2]
    pixels = picture.copy()
    middle, spread = random.random(2), random.choice([0.05, 0.2, 1.0])
    for _ in range(int(np.exp(random.uniform(np.log(4), np.log(150))))):
        at = (middle + random.normal(0, spread, 2)) % 1
        place = (at * (width, height)).astype(int).tolist()
        axes = random.integers(0, 4 if random.random() < 0.2 else 2, 2).tolist()
        shade = [float(random.uniform(0, 120))] * 3
        cv2.ellipse(pixels, place, axes, random.uniform(0, 180), 0, 360, shade, -1)
    return pixels


def _shone_through(random: np.random.Generator, picture: Picture) -> Picture:
    """The print of the other side, mirrored, blurred and faint."""
    if picture[::8, ::8].mean() < 128:
        return picture  # white on black: a screen
    back = cv2.GaussianBlur(picture[:, ::-1], (0, 0), random.uniform(1.0, 2.5))
    if random.random() < 0.3:
        back = back[::-1]
    height, width = picture.shape[:2]
    shift = random.uniform(-0.3, 0.3, 2) * (height, width)
    back = np.roll(back, shift.astype(int).tolist(), (0, 1))
    seen = random.uniform(0.04, 0.16)
    return picture - (255 - back) * seen


def _shadowed(random: np.random.Generator, picture: Picture) -> Picture:
    """Shadows of a hand, a head, a window with bars: areas with soft or hard edges."""
    height, width = picture.shape[:2]
    coarse = np.ones((height // _COARSE, width // _COARSE), np.float32)
    rows, columns = coarse.shape
    dark = random.uniform(0.45, 0.9)
    if random.random() < 0.25:
        step = int(random.integers(6, 40))
        for at in range(0, 2 * columns, step):
            lean = int(rows * 0.4)
            cv2.line(coarse, (at, 0), (at - lean, rows), dark, max(1, step // 3))
    else:
        for _ in range(int(random.integers(1, 4))):
            corners = random.uniform(-0.3, 1.3, (int(random.integers(3, 7)), 2))
            points = np.round(corners * (columns, rows)).astype(np.int32)
            cv2.fillPoly(coarse, [points], dark)
    soft = float(np.exp(random.uniform(np.log(0.4), np.log(12))))
    coarse = cv2.GaussianBlur(coarse, (0, 0), soft)
    seen = cv2.resize(coarse, (width, height), interpolation=cv2.INTER_LINEAR)
    return picture * seen[..., None]


def _with_moire(random: np.random.Generator, picture: Picture) -> Picture:
    """Waves of colors where the grids of a screen and of a camera meet."""
    height, width = picture.shape[:2]
    y, x = np.ogrid[:height, :width]
    strength = random.uniform(0.02, 0.09)
    wave = np.empty((height, width, 3), np.float32)
    angle, period = random.uniform(0, np.pi), random.uniform(3, 40)
    bend = random.uniform(0, 6) * np.sin(x * random.uniform(0.002, 0.02))
    phase = (x * np.cos(angle) + y * np.sin(angle) + bend) * (2 * np.pi / period)
    phase = phase.astype(np.float32)
    for color in range(3):
        wave[..., color] = np.sin(phase + random.uniform(0, 2.5))
    return picture * (1 + strength * wave)


_AGES: tuple[Callable[[np.random.Generator, Picture], Picture], ...] = (
    _folded,
    _crumpled,
    _textured,
    _stained,
    _specked,
    _specked,
    _shone_through,
    _shadowed,
    _with_moire,
    screened,
    edged,
    punched,
    penned,
)
