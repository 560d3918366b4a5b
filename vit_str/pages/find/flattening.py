"""Pages that do not lie flat, as those of an open book: their pictures without the bend.

The middles of long lines tell how a page is bent. Each is a polynomial of the place along the
lines, which changes slowly from line to line. It moves every pixel across the lines: they become
straight, all of one slope, that which they have in the mean. An open book has two such pages.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, product
from typing import TYPE_CHECKING

import numpy as np
from numpy.polynomial import legendre
from PIL import Image

from vit_str.decoding.boxes import Box
from vit_str.decoding.readings import Character
from vit_str.pages.find.geometry import rectangle
from vit_str.pages.page import Page, Point, Rule, Word

if TYPE_CHECKING:
    from jaxtyping import Float

_LONG = 12  # length over height from which on a line tells how a page is bent
_FEWEST = 4  # such lines: fewer may be signs or stamps
# Distance from a straight line, over the height, from which on lines are bent: 0.02 to 0.04 is what
# flat pages have
_BENT = 0.07
_LEFT = 0.5  # share of that distance that may be left when a page is flat
_FARTHEST = 0.5  # that paper bends, over the length of its lines
_APART = 0.5  # of the middles of lines of two pages, over the length of lines
_ALONG = 4  # degree of the polynomial along the lines
_ACROSS = 2  # degree in which its coefficients change from line to line
_RIDGE = 1e-3  # keeps small what few lines tell
_ROUNDS = 4  # of looking where bent lines are on the flat page
# How far the slope at the ends of the lines goes on, of half of their length
_BEYOND = 0.1
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
class Curve:
    """How the lines of one page are bent. Places are along and across the lines.

    Attributes:
        coefficients: of Legendre polynomials of the places, whose value is how far pixels have
            moved across the lines.
        low: where the long lines begin, along and across, in pixels.
        high: where they end. A little beyond, their slope goes on; farther, pixels move alike.
    """

    coefficients: Float[np.ndarray, "along across"]
    low: Float[np.ndarray, " 2"]
    high: Float[np.ndarray, " 2"]

    @property
    def length(self) -> float:
        """Of its lines, in pixels."""
        return float(max(1.0, self.high[0] - self.low[0]))

    def moves(
        self, places: Float[np.ndarray, "*point 2"]
    ) -> Float[np.ndarray, "*point"]:
        """How far places of the flat page have moved."""
        along, across = np.moveaxis(_normal(places, self.low, self.high), -1, 0)
        inside = along.clip(-1, 1)
        across = across.clip(-1, 1)
        moves = legendre.legval2d(inside, across, self.coefficients)
        # The ends of lines are not in their middles
        slopes = legendre.legval2d(inside, across, legendre.legder(self.coefficients))
        beyond = (along - inside).clip(-_BEYOND, _BEYOND)
        found: Float[np.ndarray, "*point"] = moves + beyond * slopes
        return found

    def farthest(self) -> int:
        """Pixels by which anything moves at most."""
        edge = _BEYOND * (self.high - self.low) / 2
        along, across = np.linspace(self.low - edge, self.high + edge, _CELL).T
        moves = self.moves(np.stack(np.meshgrid(along, across), -1))
        return int(np.ceil(np.abs(moves).max()))

    def straightened(
        self, places: Float[np.ndarray, "point 2"]
    ) -> Float[np.ndarray, "point 2"]:
        """Places on bent lines where they are on the flat page."""
        flat = places.copy()
        for _ in range(_ROUNDS):
            flat[:, 1] = places[:, 1] - self.moves(flat)
        return flat

    def without_slope(self, slope: float) -> Curve:
        """The same, but that lines of a slope keep it, and stay where they are."""
        coefficients = self.coefficients.copy()
        coefficients[1, 0] -= slope * self.length / 2
        return replace(self, coefficients=coefficients)

    @property
    def slope(self) -> float:
        """Of its lines, in the mean."""
        return float(self.coefficients[1, 0] * 2 / self.length)


@dataclass(frozen=True, slots=True, eq=False)
class Bend:
    """How one page is bent, or those of an open book are.

    Attributes:
        curves: of the pages, along the lines.
        runs_down: whether the lines run down the picture.
        margin: pixels that the flattened picture has more before its lines, and after them.
    """

    curves: tuple[Curve, ...]
    runs_down: bool
    margin: int

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

    def in_picture(
        self, points: Float[np.ndarray, "*point 2"]
    ) -> Float[np.ndarray, "*point 2"]:
        """Where points of the flattened picture are in the one that was given."""
        places = _turned(np.asarray(points, float), self.runs_down)
        along = places[..., 0]
        across = places[..., 1] - self.margin
        moved = across + self.moves(np.stack([along, across], -1))
        return _turned(np.stack([along, moved], -1), self.runs_down)

    def moves(
        self, places: Float[np.ndarray, "*point 2"]
    ) -> Float[np.ndarray, "*point"]:
        """How far places along and across straight lines have moved across them."""
        found = self.curves[0].moves(places)
        for before, after in pairwise(self.curves):
            gutter = (before.high[0] + after.low[0]) / 2
            found = np.where(places[..., 0] < gutter, found, after.moves(places))
        return found

    def restored(self, page: Page, width: int, height: int) -> Page:
        """A page of the flattened picture, with places in the picture that was given."""
        blocks = tuple(
            tuple(tuple(map(self._restored, line)) for line in block)
            for block in page.blocks
        )
        rules = tuple(map(self._rule, page.rules))
        return replace(
            page, width=width, height=height, blocks=blocks, rules=rules, flat=page
        )

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
    """How a page is bent, if its long lines are, and are so together.

    Middles without a height, or whose points are no numbers, tell nothing.
    """
    known = [
        each
        for each in middles
        if 0 < each.height < np.inf and np.isfinite(each.points).all()
    ]
    lines = [
        each for each in known if np.ptp(each.points, 0).max() > _LONG * each.height
    ]
    runs_down = sum(each.runs_down for each in lines) > len(lines) / 2
    lines = [each for each in lines if each.runs_down == runs_down]
    if len(lines) < _FEWEST:
        return None
    heights = np.array([each.height for each in lines])
    places = [_turned(each.points, runs_down) for each in lines]
    before = _distance(places, heights)
    if before < _BENT:
        return None
    pages = _pages(places)
    curves = [_curve([places[line] for line in page]) for page in pages]
    lengths = [curve.length for curve in curves]
    slope = float(np.average([curve.slope for curve in curves], weights=lengths))
    curves = [curve.without_slope(slope) for curve in curves]
    straight = list(places)
    for page, curve in zip(pages, curves, strict=True):
        for line in page:
            straight[line] = curve.straightened(places[line])
    margin = max(curve.farthest() for curve in curves)
    is_flat = _distance(straight, heights) < _LEFT * before
    if not is_flat or margin > _FARTHEST * max(lengths):
        return None
    return Bend(tuple(curves), runs_down, margin)


def _pages(places: Sequence[Float[np.ndarray, "point 2"]]) -> list[list[int]]:
    """The numbers of the lines of one page, or of several beside each other."""
    along = np.array([(line[:, 0].min(), line[:, 0].max()) for line in places])
    middles = along.mean(1)
    order = np.argsort(middles)
    far = _APART * np.median(np.ptp(along, 1))
    ends = np.flatnonzero(np.diff(middles[order]) > far) + 1
    pages = [page.tolist() for page in np.split(order, ends)]
    if min(map(len, pages)) < _FEWEST:
        return [order.tolist()]
    return pages


def _curve(places: Sequence[Float[np.ndarray, "point 2"]]) -> Curve:
    """The curve that makes some lines as level as it can."""
    everywhere = np.concatenate(places)
    low = everywhere.min(0)
    high = everywhere.max(0)
    moves = np.concatenate([line[:, 1] - line[:, 1].mean() for line in places])
    curve = Curve(np.zeros((_ALONG + 1, _ACROSS + 1)), low, high)
    for _ in range(_ROUNDS):
        terms = []
        for line in places:
            along, across = _normal(curve.straightened(line), low, high).T
            powers = legendre.legvander2d(along, across, (_ALONG, _ACROSS))
            terms.append(powers - powers.mean(0))
        matrix = np.concatenate(terms)
        normal = matrix.T @ matrix + _RIDGE * len(matrix) * np.eye(matrix.shape[1])
        found = np.linalg.solve(normal, matrix.T @ moves)
        coefficients = found.reshape(_ALONG + 1, _ACROSS + 1)
        coefficients[0] = 0  # what moves whole lines is not told
        curve = Curve(coefficients, low, high)
    return curve


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
    """Places between two others as numbers from -1 to 1, and beyond."""
    return 2 * (places - low) / np.maximum(high - low, 1) - 1


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
