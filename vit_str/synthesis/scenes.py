"""Scenes: words of all sizes on signs and walls in one picture, and pictures without any text."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import cv2
import numpy as np
from jaxtyping import Float, UInt8

from vit_str.synthesis.grounds import Picture, add_look_alikes, color, ground
from vit_str.synthesis.line_masks import POINTS, LineDrawer, LineMask
from vit_str.synthesis.own_texts import Texts
from vit_str.synthesis.places import Places, no_places, project
from vit_str.synthesis.renderer import Renderer
from vit_str.synthesis.structures import structured

_BRIGHTNESS = np.array([0.3, 0.59, 0.11], np.float32)
_LEAST_APART = 60.0  # shades of 255 between ink and what is behind it
_EMPTY_TIMES = 2.0  # as many scenes without text have a ground that repeats
_PLATE_TIMES = 2.0  # as many signs on such a ground have one of their own
_OCCUPIED_CELL = 8  # pixels of a side, in which at most one sign stands


@dataclass(frozen=True)
class Scenery:
    """Settings of scenes; shares and sizes by eye.

    Attributes:
        sides: least and most pixels of a side.
        words: least and most words, all numbers between as likely on a scale of logarithms.
        heights: least and most pixels of the height of letters, likewise.
        empty_share: of scenes without any text.
        structured_share: of grounds of bricks, fabric, leaves and the like.
        plate_share: of signs with a ground of their own.
    """

    sides: tuple[int, int] = (640, 1280)
    words: tuple[int, int] = (5, 60)
    heights: tuple[float, float] = (8.0, 400.0)
    empty_share: float = 0.2
    structured_share: float = 0.35
    plate_share: float = 0.35


class Scene(NamedTuple):
    """A picture and what is where on it."""

    image: UInt8[np.ndarray, "row column 3"]
    places: Places


class _Sign(NamedTuple):
    """A few lines below each other, before they are put anywhere.

    Attributes:
        lines: the lines.
        matrices: for each, from its mask (0 to 1) to the sign.
        width: of the sign over the height of a line.
        height: likewise.
    """

    lines: Sequence[LineMask]
    matrices: Sequence[np.ndarray]
    width: float
    height: float


class SceneDrawer:
    """Draws scenes.

    Args:
        renderer: of words; its photographs, if it has some, are grounds.
        scenery: what scenes are like.
    """

    def __init__(self, renderer: Renderer, scenery: Scenery | None = None) -> None:
        self._lines = LineDrawer(renderer)
        self._texts: Texts = renderer.lexicon
        self.scenery = scenery or Scenery()
        self._tiles: np.ndarray | None = None
        if renderer.pictures is not None:
            self._tiles = renderer.pictures.permute(0, 2, 3, 1).cpu().numpy()

    def draw(self, seed: int) -> Scene:
        """A scene; the same seed draws the same."""
        random = np.random.default_rng(seed)
        low, high = self.scenery.sides
        size = int(random.integers(low, high + 1)), int(random.integers(low, high + 1))
        is_empty = random.random() < self.scenery.empty_share
        share = self.scenery.structured_share * (_EMPTY_TIMES if is_empty else 1.0)
        is_structured = random.random() < share
        picture = (
            structured(random, size)
            if is_structured
            else ground(random, size, self._tiles)
        )
        add_look_alikes(random, picture)
        plates = self.scenery.plate_share * (_PLATE_TIMES if is_structured else 1.0)
        if is_empty:
            return Scene(picture.clip(0, 255).astype(np.uint8), no_places(POINTS))
        strips: list[np.ndarray] = []
        numbers: list[int] = []
        occupied = np.zeros([side // _OCCUPIED_CELL + 1 for side in size], np.uint8)
        for sign in self._signs(random):
            matrix = self._place(random, sign, occupied, size)
            if matrix is None:
                continue
            if random.random() < plates:
                _add_plate(random, picture, sign, matrix)
            ink = _Ink(random)
            for line, own in zip(sign.lines, sign.matrices, strict=True):
                to_scene = matrix @ own
                ink.paint(picture, line, to_scene)
                moved = project(to_scene, line.strips.numpy().astype(float))
                strips += list(moved)
                numbers += [len(set(numbers))] * len(moved)
        places = no_places(POINTS)
        if strips:
            lines = np.array(numbers, np.int32)
            places = Places(
                **{**vars(places), "strips": np.array(strips), "lines": lines}
            )
        return Scene(picture.clip(0, 255).astype(np.uint8), places)

    def _signs(self, random: np.random.Generator) -> list[_Sign]:
        """Signs of one to four lines of one to five words."""
        count = int(np.exp(random.uniform(*np.log(self.scenery.words))))
        words = [
            word
            for text in self._texts.sample(count, int(random.integers(1 << 40)))
            for word in text.split()
        ]
        texts: list[str] = []
        while words:
            most = 1 + int(random.geometric(0.45)) if self._lines.has_space else 1
            several = random.random() < 0.6
            taken = min(most, 5) if several else 1
            texts.append(" ".join(words[:taken]))
            del words[:taken]
        texts = [text for text in texts if text]
        if not texts:
            return []
        masks = self._lines.draw(texts, int(random.integers(1 << 40)))
        masks = [mask for mask in masks if len(mask.strips)]
        signs = []
        while masks:
            taken = min(int(random.geometric(0.55)), 4)
            signs.append(_sign(random, masks[:taken]))
            del masks[:taken]
        return signs

    def _place(
        self,
        random: np.random.Generator,
        sign: _Sign,
        occupied: np.ndarray,
        size: tuple[int, int],
    ) -> np.ndarray | None:
        """Where a sign goes that nothing stands yet, as a map from it; None if there is no room."""
        low, high = self.scenery.heights
        height = np.exp(random.uniform(np.log(low), np.log(high)))
        for _ in range(12):
            matrix = _view(random, sign, height, size)
            corners = project(matrix, _corners(sign))
            cells = np.round(corners / _OCCUPIED_CELL).astype(np.int32)
            own = cv2.fillPoly(np.zeros_like(occupied), [cells], 1)
            is_inside = (corners > 0).all() and (corners < size[::-1]).all()
            if is_inside and not (own & occupied).any():
                occupied |= cv2.dilate(own, np.ones((3, 3), np.uint8))
                return matrix
            height = max(low, height * 0.75)
        return None


def _sign(random: np.random.Generator, masks: Sequence[LineMask]) -> _Sign:
    """Lines below each other, at one side or in the middle, some larger than others."""
    heights = np.exp(random.normal(0, 0.2, len(masks)))
    if random.random() < 0.5:
        heights[:] = 1.0
    widths = [mask.aspect * own for mask, own in zip(masks, heights, strict=True)]
    width = max(widths)
    at = random.choice([0.0, 0.0, 0.5, 1.0])
    leading = random.uniform(1.0, 1.5)
    top = 0.0
    matrices = []
    for own_width, own_height in zip(widths, heights, strict=True):
        left = (width - own_width) * at
        matrices.append(
            np.array([[own_width, 0, left], [0, own_height, top], [0, 0, 1.0]])
        )
        top += own_height * leading
    return _Sign(masks, matrices, width, top - heights[-1] * (leading - 1))


def _corners(sign: _Sign) -> Float[np.ndarray, "4 2"]:
    width, height = sign.width, sign.height
    return np.array([[0, 0], [width, 0], [width, height], [0, height]], float)


def _view(
    random: np.random.Generator,
    sign: _Sign,
    height: float,
    size: tuple[int, int],
) -> Float[np.ndarray, "3 3"]:
    """From a sign to a place of the scene: turned, seen from a side."""
    corners = _corners(sign)
    corners = (corners - corners.mean(0)) * height
    slant = random.normal(0, 0.1 if random.random() < 0.8 else 0.3, (4, 2))
    moved = corners + slant * np.array([sign.width, sign.height]) * height * 0.3
    angle = np.deg2rad(_angle(random))
    turn = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    moved = moved @ turn
    reach = np.abs(moved).max(0)
    room = np.maximum(0, np.array(size[::-1]) - 2 * reach)
    moved = moved + reach + random.random(2) * room
    source = _corners(sign).astype(np.float32)
    return cv2.getPerspectiveTransform(source, moved.astype(np.float32))


def _angle(random: np.random.Generator) -> float:
    """Degrees to the right: mostly few, at times on a side or upside down, at times any."""
    way = random.random()
    slight = random.normal(0, 6)
    if way < 0.72:
        return float(slight)
    if way < 0.86:
        return float(slight + random.choice([-90, 90]))
    if way < 0.94:
        return float(slight + 180)
    return float(random.uniform(-60, 60))


def _add_plate(
    random: np.random.Generator, picture: Picture, sign: _Sign, matrix: np.ndarray
) -> None:
    """A ground of one color behind a sign, some with a border."""
    margin = random.uniform(0.05, 0.5)
    outward = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) * margin
    points = np.round(project(matrix, _corners(sign) + outward)).astype(np.int32)
    cv2.fillPoly(picture, [points], color(random).tolist(), cv2.LINE_AA)
    if random.random() < 0.3:
        thick = int(random.integers(1, 6))
        cv2.polylines(picture, [points], True, color(random).tolist(), thick)


class _Ink:
    """How the letters of a sign look: color, shadow, outline, how much shines through."""

    def __init__(self, random: np.random.Generator) -> None:
        self._own = color(random)
        self._side = random.choice([-1.0, 1.0])
        self._opacity = random.uniform(0.75, 1.0)
        self._shadow = random.normal(0, 0.05, 2) if random.random() < 0.2 else None
        self._outline = random.uniform(0.03, 0.1) if random.random() < 0.15 else 0.0
        self._second = color(random)

    def paint(self, picture: Picture, line: LineMask, matrix: np.ndarray) -> None:
        """Paint a line that a map takes from its mask (0 to 1) to the picture."""
        corners = project(matrix, np.array([[0, 0], [1, 0], [1, 1], [0, 1]], float))
        low = np.floor(corners.min(0) - 4).clip(0).astype(int)
        high = np.ceil(corners.max(0) + 4).astype(int)
        part = picture[low[1] : high[1], low[0] : high[0]]
        if not part.size:
            return
        height = float(np.linalg.norm(corners[3] - corners[0]))
        cover = _seen(line, matrix, corners, low, part.shape[:2])
        behind = part[cover > 0.3] if (cover > 0.3).any() else part.reshape(-1, 3)
        own = self._apart_from(behind.mean(0))
        if self._shadow is not None:
            shift = self._shadow * height
            moved = cv2.warpAffine(
                cover, np.array([[1, 0, shift[0]], [0, 1, shift[1]]]), cover.shape[::-1]
            )
            _mix(part, np.zeros(3, np.float32), moved * 0.6)
        if self._outline:
            side = 2 * round(self._outline * height) + 1
            kernel = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (side, side))
            _mix(part, self._second, cv2.dilate(cover, kernel))
            own = self._apart_from(self._second)
        _mix(part, own, cover * self._opacity)

    def _apart_from(self, behind: np.ndarray) -> np.ndarray:
        """The color of the ink, moved to black or white if it would not be seen."""
        difference = float((self._own - behind) @ _BRIGHTNESS)
        if abs(difference) >= _LEAST_APART:
            return self._own
        brightness = float(behind @ _BRIGHTNESS)
        is_light = brightness < 80 or (brightness < 175 and self._side > 0)
        target = 255.0 if is_light else 0.0
        return self._own + (target - self._own) * 0.75


def _seen(
    line: LineMask,
    matrix: np.ndarray,
    corners: np.ndarray,
    low: np.ndarray,
    size: tuple[int, int],
) -> Float[np.ndarray, "row column"]:
    """How much of each pixel of a part of the picture is ink."""
    width = np.linalg.norm(corners[1] - corners[0])
    height = np.linalg.norm(corners[3] - corners[0])
    ink = line.ink.numpy()
    rows, columns = ink.shape
    # Reduced to about the size it is seen in: the map alone would skip pixels
    columns = int(min(columns, max(2, round(width))))
    rows = int(min(rows, max(2, round(height))))
    smaller = cv2.resize(ink, (columns, rows), interpolation=cv2.INTER_AREA)
    to_unit = np.diag([1 / columns, 1 / rows, 1.0])
    to_part = np.array([[1, 0, -low[0]], [0, 1, -low[1]], [0, 0, 1.0]])
    seen = cv2.warpPerspective(
        smaller.astype(np.float32) / 255,
        to_part @ matrix @ to_unit,
        size[::-1],
        flags=cv2.INTER_LINEAR,
    )
    enlarged = height / rows
    if enlarged > 2:  # letters have edges, however large
        seen = ((seen - 0.5) * enlarged / 2 + 0.5).clip(0, 1)
    return seen


def _mix(part: Picture, own: np.ndarray, share: np.ndarray) -> None:
    part += (own - part) * share[..., None]
