"""Pages that do not lie flat, as those of an open book: their pictures without the bend.

The middles of long lines tell how a page is bent. Each is a polynomial of the place along the
lines, which changes slowly from line to line. What of it is not straight moves every pixel across
the lines: they become straight, and stay tilted as they were.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
from numpy.polynomial import legendre
from PIL import Image

from vit_str.reading.pages.geometry import rectangle
from vit_str.reading.pages.page import Page, Point, Rule, Word
from vit_str.runtime.boxes import Box
from vit_str.runtime.readings import Character

if TYPE_CHECKING:
    from jaxtyping import Float

_LONG = 12  # length over height from which on a line tells how a page is bent
_FEWEST = 4  # such lines: fewer may be signs or stamps
# Distance from a straight line, over the height, from which on lines are bent: 0.02 to 0.04 is what
# flat pages have
_BENT = 0.07
# Share of that distance that may be left by a curve, or by a more complex one of what is left
_LEFT = 0.5
# Degrees of the polynomial along the lines: of one page, and of two with the gutter between them
_ALONG = 4, 12
_STRAIGHT = 2  # its first coefficients, which make a straight line
_ACROSS = 2  # degree in which the others change from line to line
_RIDGE = 1e-3  # keeps small what few lines tell
_CELL = 32  # pixels of a side of what is moved as one


@dataclass(frozen=True, slots=True, eq=False)
class Middle:
    """The middle of a line of text.

    Attributes:
        points: x and y in pixels, from one end to the other.
        height: of the line, in pixels.
    """

    points: Float[np.ndarray, "point 2"]
    height: float

    @property
    def runs_down(self) -> bool:
        """Whether the line is higher than wide."""
        width, height = np.ptp(self.points, 0)
        return bool(height > width)

    def moved(self, by: tuple[float, float], scale: Float[np.ndarray, " 2"]) -> Middle:
        """The same line where it is after a move, in a picture of another scale."""
        across = scale[0] if self.runs_down else scale[1]
        return Middle((self.points + by) * scale, self.height * across)


@dataclass(frozen=True, slots=True, eq=False)
class Bend:
    """How the lines of a page are bent.

    Attributes:
        coefficients: of Legendre polynomials of the places along and across the lines, whose value
            is how far pixels have moved across them.
        low: where the long lines begin, along and across, in pixels.
        high: where they end. Beyond, pixels move as at the edge.
        runs_down: whether the lines run down the picture.
    """

    coefficients: Float[np.ndarray, "along across"]
    low: Float[np.ndarray, " 2"]
    high: Float[np.ndarray, " 2"]
    runs_down: bool

    def flattened(self, image: Image.Image) -> Image.Image:
        """The picture with straight lines, larger by `margin` before and after them."""
        width, height = image.size
        if self.runs_down:
            width += 2 * self.margin
        else:
            height += 2 * self.margin
        columns = _steps(width)
        rows = _steps(height)
        corners = self.in_picture(np.stack(np.meshgrid(columns, rows), -1))
        mesh = []
        for row, column in product(range(len(rows) - 1), range(len(columns) - 1)):
            cell = columns[column], rows[row], columns[column + 1], rows[row + 1]
            (first, last), (below, beyond) = corners[row : row + 2, column : column + 2]
            mesh.append((cell, (*first, *below, *beyond, *last)))
        paper = image.resize((1, 1), Image.Resampling.BOX).getpixel((0, 0))
        return image.transform(
            size=(width, height),
            method=Image.Transform.MESH,
            data=mesh,
            resample=Image.Resampling.BICUBIC,
            fillcolor=paper,
        )

    @property
    def margin(self) -> int:
        """Pixels by which anything moves at most."""
        places = np.linspace(-1, 1, _CELL)
        moves = legendre.leggrid2d(places, places, self.coefficients)
        return int(np.ceil(np.abs(moves).max()))

    def in_picture(
        self, points: Float[np.ndarray, "*point 2"]
    ) -> Float[np.ndarray, "*point 2"]:
        """Where points of the flattened picture are in the one that was given."""
        places = _turned(np.asarray(points, float), self.runs_down)
        along, across = places[..., 0], places[..., 1] - self.margin
        moved = across + self.moves(np.stack([along, across], -1))
        return _turned(np.stack([along, moved], -1), self.runs_down)

    def moves(
        self, places: Float[np.ndarray, "*point 2"]
    ) -> Float[np.ndarray, "*point"]:
        """How far places along and across straight lines have moved across them."""
        along, across = np.moveaxis(_normal(places, self.low, self.high), -1, 0)
        found: Float[np.ndarray, "*point"] = legendre.legval2d(
            along, across, self.coefficients
        )
        return found

    def restored(self, page: Page, width: int, height: int) -> Page:
        """What was read in the flattened picture, with places in the one that was given."""
        blocks = tuple(
            tuple(tuple(map(self._restored, line)) for line in block)
            for block in page.blocks
        )
        rules = tuple(map(self._rule, page.rules))
        return Page(width, height, blocks, page.path, rules, flat=page)

    def _rule(self, rule: Rule) -> Rule:
        start, end = _points(self.in_picture(np.array(rule)))
        return start, end

    def _restored(self, word: Word) -> Word:
        start, along, end, below = _points(self.in_picture(np.array(word.polygon)))
        characters = tuple(map(self._with_its_box, word.characters))
        polygon = start, along, end, below
        return replace(word, polygon=polygon, characters=characters)

    def _with_its_box(self, character: Character) -> Character:
        if character.box is None:
            return character
        corners = self.in_picture(rectangle(*character.box))
        box = Box(*corners.min(0).tolist(), *corners.max(0).tolist())
        return replace(character, box=box)


def bend_of(middles: Sequence[Middle]) -> Bend | None:
    """How a page is bent, if its long lines are, and are so together: by the simplest curve."""
    lines = [
        each for each in middles if np.ptp(each.points, 0).max() > _LONG * each.height
    ]
    runs_down = sum(each.runs_down for each in lines) > len(lines) / 2
    lines = [each for each in lines if each.runs_down == runs_down]
    if len(lines) < _FEWEST:
        return None
    heights = np.array([each.height for each in lines])
    places = [_turned(each.points, runs_down) for each in lines]
    bend = None
    distance = _distance(places, heights)
    if distance < _BENT:
        return None
    for degree in _ALONG:
        fitted = _fitted(places, degree, runs_down)
        straight = [
            np.stack([at[:, 0], at[:, 1] - fitted.moves(at)], 1) for at in places
        ]
        left = _distance(straight, heights)
        if left < _LEFT * distance:
            bend = fitted
            distance = left
    return bend


def _fitted(
    places: Sequence[Float[np.ndarray, "point 2"]], degree: int, runs_down: bool
) -> Bend:
    """The bend that makes some lines as straight as it can."""
    everywhere = np.concatenate(places)
    low, high = everywhere.min(0), everywhere.max(0)
    terms, moves = [], []
    for line in places:
        along, _ = _normal(line, low, high).T
        # One line is at one place across all of them
        _, across = _normal(line.mean(0), low, high)
        powers = legendre.legvander2d(
            along, np.full_like(along, across), [degree, _ACROSS]
        )
        terms.append(powers - powers.mean(0))
        moves.append(line[:, 1] - line[:, 1].mean())
    matrix = np.concatenate(terms)
    normal = matrix.T @ matrix + _RIDGE * len(matrix) * np.eye(matrix.shape[1])
    found = np.linalg.solve(normal, matrix.T @ np.concatenate(moves))
    coefficients = found.reshape(degree + 1, _ACROSS + 1)
    coefficients[:_STRAIGHT] = 0
    return Bend(coefficients, low, high, runs_down)


def _distance(
    places: Sequence[Float[np.ndarray, "point 2"]], heights: Float[np.ndarray, " line"]
) -> float:
    """How far lines are from straight ones in their heights: the median of the farthest points."""
    farthest = []
    for along, across in (line.T for line in places):
        straight = np.polyval(np.polyfit(along, across, 1), along)
        farthest.append(np.abs(across - straight).max())
    return float(np.median(farthest / heights))


def _normal(
    places: Float[np.ndarray, "*point 2"],
    low: Float[np.ndarray, " 2"],
    high: Float[np.ndarray, " 2"],
) -> Float[np.ndarray, "*point 2"]:
    """Places between two others as numbers from -1 to 1."""
    return np.clip(2 * (places - low) / np.maximum(high - low, 1) - 1, -1, 1)


def _turned(
    points: Float[np.ndarray, "*point 2"], runs_down: bool
) -> Float[np.ndarray, "*point 2"]:
    """Places along and across lines as x and y, and the other way."""
    return points[..., ::-1] if runs_down else points


def _steps(side: int) -> list[int]:
    """Where cells begin, and the last one ends."""
    return [*range(0, side, _CELL), side]


def _points(points: Float[np.ndarray, "point 2"]) -> list[Point]:
    return [(float(x), float(y)) for x, y in points]
