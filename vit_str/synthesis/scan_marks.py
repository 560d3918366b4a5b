"""What printers, scanners and desks leave on a page: gray of dots, edges, holes, strokes of a pen.

None of it is text. Colors are from 0 to 255 and places do not move. All strengths are by eye.
"""

import cv2
import numpy as np
from jaxtyping import Bool, Float

Picture = Float[np.ndarray, "row column 3"]

# Of the paper, that dots of gray leave at least: text in it is seen
_DARKEST_DOTS = 0.45
_INKS = ((20, 20, 25), (30, 40, 120), (150, 30, 30), (60, 60, 60))  # of pens


def screened(random: np.random.Generator, picture: Picture) -> Picture:
    """An area of gray as printers and fax machines make it: dots, or lines, close to each other."""
    size = picture.shape[:2]
    left, right = np.sort(random.uniform(-0.2, 1.2, 2)) * size[1]
    high = size[0] * np.exp(random.uniform(np.log(0.04), np.log(0.5)))
    top = random.uniform(-0.1, 0.9) * size[0]
    part = _part(size, (left, top, right + 20, top + high))
    dots = _dots(random, picture[part].shape[:2])
    pixels = picture.copy()
    pixels[part][dots] *= random.uniform(_DARKEST_DOTS, 0.8)
    return pixels


def _part(
    size: tuple[int, int], box: tuple[float, float, float, float]
) -> tuple[slice, slice]:
    """What of a box is in a picture, at least a few pixels of it."""
    left, top, right, bottom = (round(side) for side in box)
    top = min(max(top, 0), size[0] - 8)
    left = min(max(left, 0), size[1] - 8)
    return slice(top, max(bottom, top + 8)), slice(left, max(right, left + 8))


def _dots(
    random: np.random.Generator, size: tuple[int, int]
) -> Bool[np.ndarray, "row column"]:
    """Where a raster has ink: in rows that lie at any angle, or where chance wants it."""
    if random.random() < 0.25:
        return random.random(size) < random.uniform(0.05, 0.4)
    y, x = np.ogrid[: size[0], : size[1]]
    angle = random.choice([0.0, np.pi / 4, random.uniform(0, np.pi)])
    turn = 2 * np.pi / random.uniform(2.2, 7)
    across = np.cos((x * np.cos(angle) + y * np.sin(angle)) * turn)
    down = np.cos((y * np.cos(angle) - x * np.sin(angle)) * turn)
    lines = random.random() < 0.2
    field = across if lines else (across + down) / 2
    return np.asarray(field > random.uniform(0.1, 0.7))


def edged(random: np.random.Generator, picture: Picture) -> Picture:
    """Dark strips along one or two sides, where the lid of a scanner or the desk is seen."""
    pixels = picture.copy()
    for turns in random.choice(4, int(random.integers(1, 3)), replace=False):
        side = np.rot90(pixels, int(turns))  # a view
        wide = int(random.integers(1, 9))
        ragged = random.random() < 0.5
        ends = wide + np.abs(random.normal(0, 1.5 * ragged, side.shape[0]))
        dark = np.arange(16)[None] < ends[:, None]
        side[:, :16][dark] = random.uniform(0, 90)
    return pixels


def punched(random: np.random.Generator, picture: Picture) -> Picture:
    """Holes of a punch or a staple, or their shadows in a copy: disks in a column or a row."""
    height, width = picture.shape[:2]
    pixels = picture.copy()
    x, y = random.uniform(0.01, 0.99, 2) * (width, height)
    step = random.uniform(20, 200) * np.eye(2)[int(random.integers(2))]
    radius = int(random.integers(2, 14))
    shade = [random.choice([random.uniform(0, 80), random.uniform(180, 255)])] * 3
    for place in range(int(random.integers(1, 5))):
        at = (round(x + place * step[0]), round(y + place * step[1]))
        cv2.circle(pixels, at, radius, shade, -1, cv2.LINE_AA)
        cv2.circle(pixels, at, radius, [random.uniform(60, 160)] * 3, 1, cv2.LINE_AA)
    return pixels


def penned(random: np.random.Generator, picture: Picture) -> Picture:
    """Strokes of a pen that are no letters: rings, ticks, strokes under or beside text."""
    pixels = picture.copy()
    height, width = picture.shape[:2]
    ink = [float(each) for each in _INKS[random.integers(len(_INKS))]]
    wide = int(random.integers(1, 4))
    for _ in range(int(random.integers(1, 5))):
        at = random.random(2) * (width, height)
        stroke = _STROKES[random.integers(len(_STROKES))](random)
        points = np.round((at + stroke) * 16).astype(np.int32)
        cv2.polylines(pixels, [points], False, ink, wide, cv2.LINE_AA, 4)
    return pixels


def _ring(random: np.random.Generator) -> Float[np.ndarray, "point 2"]:
    """An ellipse by hand: its end does not meet its start."""
    turn = np.linspace(0, random.uniform(5.2, 7.4), 40) + random.uniform(0, 6.3)
    radius = random.uniform(12, 90) * (1 + np.linspace(0, random.normal(0, 0.12), 40))
    flat = random.uniform(0.3, 1.0)
    return np.stack([np.cos(turn) * radius, np.sin(turn) * radius * flat], 1)


def _tick(random: np.random.Generator) -> Float[np.ndarray, "point 2"]:
    """Down a little, then up."""
    size = random.uniform(10, 50)
    return size * np.array([(0, 0), (0.3, 0.45), (random.uniform(0.7, 1.2), -0.8)])


def _long_stroke(random: np.random.Generator) -> Float[np.ndarray, "point 2"]:
    """Nearly straight, mostly across."""
    length = random.uniform(20, 250)
    angle = random.normal(0, 0.1) + random.choice([0, 0, 0, np.pi / 2, 0.6])
    along = np.linspace(0, length, 12)
    off = np.cumsum(random.normal(0, 0.8, 12))
    x = along * np.cos(angle) - off * np.sin(angle)
    y = along * np.sin(angle) + off * np.cos(angle)
    return np.stack([x, y], 1)


_STROKES = (_ring, _tick, _long_stroke, _long_stroke)
