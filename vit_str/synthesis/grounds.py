"""Grounds of scenes, and things on them that look like text and are none."""

from collections.abc import Callable

import cv2
import numpy as np
from jaxtyping import Float

Picture = Float[np.ndarray, "row column 3"]
"""Colors from 0 to 255; all functions here change it in place or return a new one."""


def ground(
    random: np.random.Generator,
    size: tuple[int, int],
    tiles: "np.ndarray | None" = None,
) -> Picture:
    """A photograph, or patches of color, with stains and grain.

    Args:
        random: decides.
        size: height and width in pixels.
        tiles: photographs, if there are some: (tile, row, column, color).
    """
    height, width = size
    if tiles is not None and random.random() < 0.6:
        picture = _photograph(random, size, tiles)
    else:
        picture = np.empty((height, width, 3), np.float32)
        picture[:] = color(random)
        for _ in range(random.integers(0, 6)):
            _patch(random, picture)
    stains = random.uniform(0, 40) ** 2 / 40
    for cells in (3, 12, 48):
        field = random.normal(0, stains, (cells, cells, 1)).astype(np.float32)
        picture += _spread(field, size)
        stains *= 0.6
    return picture.clip(0, 255)


def color(random: np.random.Generator) -> Float[np.ndarray, " 3"]:
    """Any color; grays as often as others."""
    if random.random() < 0.5:
        return np.full(3, random.uniform(0, 255), np.float32)
    return random.uniform(0, 255, 3).astype(np.float32)


def _photograph(
    random: np.random.Generator, size: tuple[int, int], tiles: np.ndarray
) -> Picture:
    """Several photographs, one over the other, as their parts would be small and blurred."""
    height, width = size
    picture = np.empty((height, width, 3), np.float32)
    tile = tiles[random.integers(len(tiles))]
    picture[:] = cv2.resize(tile, (width, height), interpolation=cv2.INTER_CUBIC)
    for _ in range(random.integers(0, 4)):
        tile = tiles[random.integers(len(tiles))].astype(np.float32)
        rows, columns = tile.shape[:2]
        top = int(random.integers(0, max(1, height - rows)))
        left = int(random.integers(0, max(1, width - columns)))
        room = picture[top : top + rows, left : left + columns]
        room[:] = tile[: room.shape[0], : room.shape[1]]
    return picture


def _patch(random: np.random.Generator, picture: Picture) -> None:
    """A polygon of one color: a wall, a floor, a shadow."""
    height, width = picture.shape[:2]
    corners = random.uniform(-0.2, 1.2, (int(random.integers(3, 6)), 2))
    points = np.round(corners * (width, height)).astype(np.int32)
    cv2.fillPoly(picture, [points], color(random).tolist(), cv2.LINE_AA)


def _spread(field: np.ndarray, size: tuple[int, int]) -> np.ndarray:
    larger = cv2.resize(field, size[::-1], interpolation=cv2.INTER_CUBIC)
    return larger.reshape(*size, 1)


def add_look_alikes(random: np.random.Generator, picture: Picture) -> None:
    """A few things that detectors take for text: bars, windows, leaves, fences, wires, keys."""
    for _ in range(random.integers(0, 7)):
        draw = _LOOK_ALIKES[random.integers(len(_LOOK_ALIKES))]
        height, width = picture.shape[:2]
        extent = np.exp(random.uniform(np.log(24), np.log(0.6 * min(height, width)), 2))
        extent = np.minimum(extent, (width - 2, height - 2)).astype(int)
        left, top = (random.random(2) * (np.array([width, height]) - extent)).astype(
            int
        )
        part = picture[top : top + extent[1], left : left + extent[0]]
        drawn = np.ascontiguousarray(part)
        draw(random, drawn)
        part[:] = drawn


def _bars(random: np.random.Generator, part: Picture) -> None:
    """The columns or rows of a chart."""
    height, width = part.shape[:2]
    count = int(random.integers(3, 12))
    own = color(random).tolist()
    step = width / count
    for place in range(count):
        top = int(random.uniform(0, 0.9) * height)
        left = int(place * step)
        right = int((place + random.uniform(0.4, 0.8)) * step)
        cv2.rectangle(part, (left, top), (right, height), own, -1)
        if random.random() < 0.1:
            own = color(random).tolist()


def _windows(random: np.random.Generator, part: Picture) -> None:
    """Equal boxes in rows: windows, keys without letters, the cells of a sheet, bricks."""
    height, width = part.shape[:2]
    rows, columns = int(random.integers(2, 9)), int(random.integers(2, 14))
    own, filling = color(random).tolist(), random.choice([-1, -1, 1, 2])
    gap, shift = random.uniform(0.08, 0.4), random.choice([0.0, 0.0, 0.5])
    for row in range(rows):
        for column in range(columns):
            left = (column + shift * (row % 2)) * width / columns
            start = int(left), int(row * height / rows)
            end = (
                int(left + (1 - gap) * width / columns),
                int((row + 1 - gap) * height / rows),
            )
            cv2.rectangle(part, start, end, own, int(filling))


def _leaves(random: np.random.Generator, part: Picture) -> None:
    """Many small spots of similar colors."""
    height, width = part.shape[:2]
    own = color(random)
    for _ in range(int(random.integers(20, 160))):
        middle = (random.random(2) * (width, height)).astype(int).tolist()
        axes = random.integers(1, max(2, min(height, width) // 8), 2).tolist()
        shade = (own + random.normal(0, 25)).clip(0, 255).tolist()
        turn = float(random.uniform(0, 180))
        cv2.ellipse(part, middle, axes, turn, 0, 360, shade, -1, cv2.LINE_AA)


def _fence(random: np.random.Generator, part: Picture) -> None:
    """Strokes beside each other, as close as those of letters."""
    height, width = part.shape[:2]
    own = color(random).tolist()
    lean = random.normal(0, 0.15) * height
    thick = int(random.integers(1, 7))
    step = thick * random.uniform(1.6, 4)
    for x in np.arange(0, width, step):
        if random.random() < 0.95:
            ends = (int(x), 0), (int(x + lean), height)
            cv2.line(part, *ends, own, thick, cv2.LINE_AA)


def _wires(random: np.random.Generator, part: Picture) -> None:
    """Long curves."""
    height, width = part.shape[:2]
    for _ in range(int(random.integers(1, 6))):
        x = np.linspace(0, width, 24)
        y = random.uniform(0, height) + random.normal(0, 0.3 * height) * (
            (x / width - random.random()) ** 2
        )
        points = np.round(np.stack([x, y], 1)).astype(np.int32)
        own, thick = color(random).tolist(), int(random.integers(1, 5))
        cv2.polylines(part, [points], False, own, thick, cv2.LINE_AA)


def _signs(random: np.random.Generator, part: Picture) -> None:
    """Simple figures in a row: icons, arrows, wheels."""
    height, width = part.shape[:2]
    size = min(height, width)
    own = color(random).tolist()
    for left in np.arange(0, width - size + 1, max(8, size * 1.4)):
        corners = random.uniform(0.1, 0.9, (int(random.integers(3, 8)), 2)) * size
        points = np.round(corners + np.array([left, 0])).astype(np.int32)
        middle = int(left + size / 2), int(size / 2)
        thick = max(1, size // 12)
        if random.random() < 0.5:
            cv2.circle(part, middle, int(size * 0.4), own, thick, cv2.LINE_AA)
        cv2.fillPoly(part, [points], own, cv2.LINE_AA)


_LOOK_ALIKES: tuple[Callable[[np.random.Generator, Picture], None], ...] = (
    _bars,
    _windows,
    _leaves,
    _fence,
    _wires,
    _signs,
)
