"""Grounds that repeat: bricks, tiles, fabric, leaves, planks, keys, grilles; none is text.

A small picture that fits to itself on all sides is drawn with OpenCV, then laid over the whole
ground in perspective: that takes a tenth of the time of drawing every brick.
"""

from collections.abc import Callable

import cv2
import numpy as np
from jaxtyping import Float, UInt8

Tile = UInt8[np.ndarray, "row column 3"]
Picture = Float[np.ndarray, "row column 3"]

_SIDE = 192  # pixels of a tile
_SCALES = (0.25, 2.5)  # pixels of the ground for each of a tile
_NEAREST = 0.45  # most by which the far end of a ground is smaller
_SECOND_SHARE = 0.35  # of grounds with another structure beside the first


def structured(random: np.random.Generator, size: tuple[int, int]) -> Picture:
    """One or two structures, in perspective and uneven light, in colors from 0 to 255.

    Args:
        random: decides.
        size: height and width in pixels.
    """
    picture = _laid(random, size)
    if random.random() < _SECOND_SHARE:
        corners = random.uniform(-0.2, 1.2, (int(random.integers(3, 6)), 2))
        points = np.round(corners * size[::-1]).astype(np.int32)
        mask = cv2.fillPoly(np.zeros(size, np.uint8), [cv2.convexHull(points)], 1) > 0
        picture[mask] = _laid(random, size)[mask]
    light = random.uniform(0.65, 1.15, (3, 3)).astype(np.float32)
    seen = cv2.resize(light, size[::-1], interpolation=cv2.INTER_CUBIC)
    return picture.astype(np.float32) * seen[..., None]


def _laid(random: np.random.Generator, size: tuple[int, int]) -> Tile:
    """A tile repeated over a plane that is seen from a side."""
    tile = np.empty((_SIDE, _SIDE, 3), np.uint8)
    tile[:] = _muted(random)
    _STRUCTURES[random.integers(len(_STRUCTURES))](random, tile)
    scale = float(np.exp(random.uniform(*np.log(_SCALES))))
    if scale < 1:  # the map alone would skip pixels
        tile = np.asarray(
            cv2.resize(tile, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
        )
    angle = random.normal(0, 0.12) if random.random() < 0.7 else random.uniform(0, 6.3)
    cosine, sine = np.cos(angle), np.sin(angle)
    turn = np.array([[cosine, sine, 0], [-sine, cosine, 0], [0, 0, max(1.0, scale)]])
    far = random.uniform(-1, 1, 2) * _NEAREST / 2 / np.array(size[::-1])
    lean = np.array([[1, 0, 0], [0, 1, 0], [*far, 1]])
    return np.asarray(
        cv2.warpPerspective(
            tile,
            turn @ lean,
            size[::-1],
            flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP,
            borderMode=cv2.BORDER_WRAP,
        )
    )


def _muted(random: np.random.Generator) -> list[float]:
    """A color of materials: few are vivid."""
    gray = random.uniform(20, 235)
    return (gray + random.normal(0, 25, 3)).clip(0, 255).tolist()


def _like(random: np.random.Generator, own: list[float], apart: float) -> list[float]:
    """A color near another one, by a deviation in shades of all colors together."""
    return (
        (np.array(own) + random.normal(0, apart) + random.normal(0, 4, 3))
        .clip(0, 255)
        .tolist()
    )


def _apart(random: np.random.Generator) -> float:
    """Shades between two materials: little mostly."""
    return float(np.exp(random.uniform(np.log(12), np.log(90))))


def _other(random: np.random.Generator, tile: Tile) -> list[float]:
    own = tile[0, 0].astype(float)
    away = _apart(random) * (1 if own.mean() < 128 else -1)
    return (own + away + random.normal(0, 10, 3)).clip(0, 255).tolist()


def _bricks(random: np.random.Generator, tile: Tile) -> None:
    """Rows of bricks or tiles, each of its own shade, some rows shifted by a half."""
    rows = 2 * int(random.integers(1, 7))
    columns = int(random.integers(1, 6))
    shift = random.choice([0.0, 0.5, 0.5])
    gap = int(random.integers(1, 6))
    own, uneven = _other(random, tile), random.uniform(0, 16)
    high, wide = _SIDE / rows, _SIDE / columns
    for row in range(rows):
        for column in range(-1, columns):
            left = (column + shift * (row % 2)) * wide
            color = _like(random, own, uneven) if column >= 0 else own
            start = round(left + gap), round(row * high + gap)
            end = round(left + wide) - 1, round((row + 1) * high) - 1
            cv2.rectangle(tile, start, end, color, -1)
            if left + wide > _SIDE:
                back = round(left + gap - _SIDE), start[1]
                cv2.rectangle(
                    tile, back, (round(left + wide - _SIDE) - 1, end[1]), color, -1
                )


def _stripes(random: np.random.Generator, tile: Tile) -> None:
    """Stripes of fabric; crossed by others, they are a plaid."""
    bands = np.zeros((_SIDE, 3), np.float32)
    bands[:] = tile[0, 0]
    for _ in range(int(random.integers(1, 7))):
        start, wide = int(random.integers(_SIDE)), int(random.integers(2, _SIDE // 3))
        bands[(np.arange(wide) + start) % _SIDE] = _other(random, tile)
    repeats = int(random.choice([1, 1, 2, 4, 8]))
    bands = bands[np.arange(_SIDE) * repeats % _SIDE]
    tile[:] = bands[None]
    if random.random() < 0.5:
        tile[:] = (bands[None] + bands[:, None]) / 2
    if random.random() < 0.5:
        tile[:] = tile.transpose(1, 0, 2)


def _weave(random: np.random.Generator, tile: Tile) -> None:
    """Threads, ribs or stitches: waves along and across, at times zigzag."""
    y, x = np.meshgrid(*[np.arange(_SIDE) / _SIDE * 2 * np.pi] * 2, indexing="ij")
    along, across = random.integers(2, 36, 2)
    lean = random.choice([0.0, 0.0, 1.0, 2.0]) * np.sin(x * int(random.integers(1, 9)))
    wave = np.sin(y * int(along) + lean)
    if random.random() < 0.6:
        wave = wave * np.sin(x * int(across))
    if random.random() < 0.5:
        wave = np.tanh(wave * 4)
    tile[:] = (tile + _apart(random) / 2 * wave[..., None]).clip(0, 255)


def _dots(random: np.random.Generator, tile: Tile) -> None:
    """Dots or small figures in rows: prints of clothes, holes of a sheet."""
    count = int(random.integers(2, 14))
    step = _SIDE / count
    own = _other(random, tile)
    corners = random.uniform(-0.4, 0.4, (int(random.integers(3, 7)), 2)) * step
    is_round = random.random() < 0.6
    radius = max(1, round(step * random.uniform(0.12, 0.42)))
    for row in range(count):
        for column in range(count):
            middle = np.array([column + 0.5, row + 0.5]) * step
            if is_round:
                cv2.circle(
                    tile, middle.astype(int).tolist(), radius, own, -1, cv2.LINE_AA
                )
            else:
                points = np.round(middle + corners).astype(np.int32)
                cv2.fillPoly(tile, [points], own, cv2.LINE_AA)


def _leaves(random: np.random.Generator, tile: Tile) -> None:
    """Leaves, gravel or crumbs over each other, all over."""
    own = np.array(tile[0, 0].tolist())
    small = float(np.exp(random.uniform(np.log(2), np.log(18))))
    thin = random.uniform(0.25, 1.0)
    apart = random.uniform(10, 45)
    for _ in range(int(random.integers(80, 220))):
        middle = random.integers(0, _SIDE, 2)
        long = small * random.uniform(0.6, 1.8)
        axes = [max(1, int(long)), max(1, int(long * thin))]
        shade = _like(random, own.tolist(), apart)
        turn = float(random.uniform(0, 180))
        for shift in _wrapped(middle, int(long) + 1):
            cv2.ellipse(tile, shift, axes, turn, 0, 360, shade, -1)


def _wrapped(middle: np.ndarray, reach: int) -> list[list[int]]:
    """A place, and where else it is seen when a tile is beside itself."""
    shifts = [[0]] * 2
    for axis in range(2):
        at = int(middle[axis])
        near = _SIDE if at < reach else -_SIDE if at > _SIDE - reach else 0
        shifts[axis] = [0, near] if near else [0]
    return [
        [int(middle[0]) + across, int(middle[1]) + down]
        for across in shifts[0]
        for down in shifts[1]
    ]


def _planks(random: np.random.Generator, tile: Tile) -> None:
    """Boards with a grain along them."""
    count = int(random.integers(1, 7))
    high = _SIDE / count
    grain = random.normal(0, random.uniform(3, 16), (_SIDE, int(random.integers(3, 9))))
    long = cv2.resize(
        grain.astype(np.float32), (_SIDE, _SIDE), interpolation=cv2.INTER_LINEAR
    )
    shades = random.normal(0, 14, count)[np.arange(_SIDE) * count // _SIDE]
    pixels = tile + long[..., None] + shades[:, None, None]
    gap = random.uniform(0.2, 0.8)
    for row in range(count):
        pixels[int(row * high)] *= gap
    tile[:] = pixels.clip(0, 255)


def _keys(random: np.random.Generator, tile: Tile) -> None:
    """Keys without letters, buttons, boxes on a shelf: lit from above, some wider."""
    rows = int(random.integers(2, 7))
    high = _SIDE / rows
    gap = max(1, int(high * random.uniform(0.06, 0.25)))
    own = _other(random, tile)
    edge = _like(random, own, 25)
    for row in range(rows):
        left = 0.0
        while left < _SIDE - high * 0.6:
            wide = high * random.choice([1.0, 1.0, 1.0, 1.5, 2.0])
            right = min(_SIDE, left + wide)
            start = round(left) + gap, round(row * high) + gap
            end = round(right) - 1, round((row + 1) * high) - 1
            cv2.rectangle(tile, start, end, edge, -1)
            inner = start[0] + 1 + gap // 2, start[1] + 1
            cv2.rectangle(tile, inner, (end[0] - 1 - gap // 2, end[1] - gap), own, -1)
            left = right


def _spines(random: np.random.Generator, tile: Tile) -> None:
    """Books, boxes or slats beside each other, of different widths, without titles."""
    least = int(random.integers(3, 24))
    left = 0
    while left < _SIDE:
        right = left + int(random.integers(least, 2 * least + 2))
        color = _like(random, tile[0, 0].tolist(), 35)
        top = int(random.integers(0, _SIDE // 6))
        cv2.rectangle(tile, (left, top), (right - 2, _SIDE), color, -1)
        left = right


def _grille(random: np.random.Generator, tile: Tile) -> None:
    """Bars that cross: fences, nets, radiators, windows."""
    count = int(random.integers(2, 16))
    step = _SIDE / count
    thick = int(random.integers(1, max(2, int(step / 3)) + 1))
    own = _other(random, tile)
    is_slanted, is_crossed = random.random() < 0.5, random.random() < 0.7
    for place in range(-count, 2 * count):
        at = round(place * step)
        if is_slanted:
            cv2.line(tile, (at, 0), (at + _SIDE, _SIDE), own, thick, cv2.LINE_AA)
            if is_crossed:
                cv2.line(tile, (at, _SIDE), (at + _SIDE, 0), own, thick, cv2.LINE_AA)
        else:
            cv2.line(tile, (at, 0), (at, _SIDE), own, thick)
            if is_crossed:
                cv2.line(tile, (0, at), (_SIDE, at), own, thick)


_STRUCTURES: tuple[Callable[[np.random.Generator, Tile], None], ...] = (
    _bricks,
    _bricks,
    _stripes,
    _weave,
    _dots,
    _leaves,
    _leaves,
    _planks,
    _keys,
    _spines,
    _grille,
)
