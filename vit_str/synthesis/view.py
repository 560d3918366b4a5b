"""From where a word is seen, and the crop that a text detector would make of it.

A word has coordinates of its own: x from -1 (left end) to 1 (right end), y from -1 (top row of
the line) to 1 (bottom row). A view maps them onto the picture with an arc and a homography; the
crop is the box around the mapped ink, with margins.
"""

import math
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from vit_str.characters.charset import PADDING
from vit_str.images.preprocessing import TALL
from vit_str.synthesis.ingredients import Ingredients, share_of
from vit_str.synthesis.lines import Lines
from vit_str.synthesis.placement import ink_rows
from vit_str.synthesis.random_numbers import Random, Range

_OUTLINE_POINTS = 17  # along each edge of a word
_FLATTEST = 0.02  # radians, below which an arc is drawn as a line
# Pixels; lower lines and closer letters cannot be read (docs/rendering.md)
_LEAST_LINE = 8.0
_LEAST_SQUARE_LINE = 14.0  # of syllables of Hangul, whose strokes are close
_LEAST_ADVANCE = 2.5  # pixels from letter to letter
_STEP = 0.05  # of half a line, over which both are measured
_JUDGED = ((-0.9, 0.0), (0.0, 0.0), (0.9, 0.0))  # places of a word, in its coordinates
# Width over height of a line; a narrower one is seen as if it had this
_NARROWEST = 0.25
_NEAREST = 0.1  # depth by which points are divided at least, 1 in the middle of a word


@dataclass(frozen=True)
class _Margins:
    """Margins of crops, in sizes of the word, negative ones within it; by eye."""

    tight: Range = -0.04, 0.10
    loose: Range = 0.0, 0.3
    tight_share: float = 0.8
    of_smaller: float = 0.7  # share of the smaller side in the size of a word


@dataclass(frozen=True)
class _Arc:
    """Half of the angle of the arc, in radians; by eye."""

    slight: float = 0.35  # deviation
    slight_share: float = 0.7
    strong: Range = -1.45, 1.45
    strongest: float = 1.5
    # For each width over height: the lower ends of letters must not meet in the center of the
    # circle
    for_aspect: float = 0.6


@dataclass(frozen=True)
class _Rotation:
    """Rotations in degrees, clockwise if positive; by eye."""

    slight: float = 4.0  # deviation
    slight_share: float = 0.8
    strong: Range = -40.0, 40.0


@dataclass(frozen=True)
class _Turns:
    """Which turn a number from 0 to 1 stands for; by eye."""

    left_below: float = 0.45  # a quarter
    right_below: float = 0.9  # a quarter; from here on a half turn
    anywhere_above: float = 0.95  # any angle


@dataclass(frozen=True)
class _Perspective:
    """Slants and tilts of the plane of a word, per half of its height; by eye."""

    slant: float = 0.18  # deviation
    flat: float = 0.16  # deviation of the tilt from end to end
    flattest: float = 0.45  # what flat tilts are kept within
    flat_share: float = 0.85
    steep: Range = -0.6, 0.6
    down: float = 0.10  # deviation of the tilt from top to bottom
    most_down: float = 0.3
    down_share: float = 0.4
    beside_share: float = 0.3  # on a wall beside the camera
    narrowing: Range = 0.0, 0.65  # of lines on such a wall
    narrowest: float = 0.3
    rise: Range = -0.35, 0.35  # of such lines, over their width


@dataclass(frozen=True)
class _Outline:
    """Lines that crops are made of, in heights of the atlas from its top; by eye."""

    line_share: float = 0.5  # of the words cropped at the line, the others at their ink
    top: float = 0.08
    bottom: float = 0.92


_MARGINS = _Margins()
_ARC = _Arc()
_ROTATION = _Rotation()
_TURNS = _Turns()
_PERSPECTIVE = _Perspective()
_OUTLINE = _Outline()


@dataclass(frozen=True, slots=True)
class View:
    """The camera's view of each word."""

    # Word coordinates to the plane of the camera
    homography: Float[Tensor, "batch 3 3"]
    # Half of the angle of the arc that the baseline is bent to, in radians; positive ends point
    # down
    arc: Float[Tensor, " batch"]
    aspect: Float[Tensor, " batch"]  # width over height of the line
    # Left and top of the crop in the plane of the camera
    corner: Float[Tensor, "batch 2"]
    size: Float[Tensor, "batch 2"]  # width and height of the crop there
    # Whether the crop is turned by a quarter to the left, as tall crops are by readers
    turned: Bool[Tensor, " batch"]

    @property
    def crop_aspects(self) -> Float[Tensor, " batch"]:
        """Width over height of the crops, turned if readers turn them."""
        aspect = self.size[:, 0] / self.size[:, 1]
        return torch.where(self.turned, 1 / aspect, aspect)

    def forward(
        self,
        points: Float[Tensor, "batch point 2"],
    ) -> Float[Tensor, "batch point 2"]:
        """Word coordinates to the crop, 0 to 1 in both directions."""
        plane = _project(self.homography, _bend(points, self.arc, self.aspect))
        upright = (plane - self.corner[:, None]) / self.size[:, None]
        x, y = upright.unbind(-1)
        lying = torch.stack([y, 1 - x], -1)
        return torch.where(self.turned[:, None, None], lying, upright)

    def backward(
        self,
        points: Float[Tensor, "batch point 2"],
    ) -> Float[Tensor, "batch point 2"]:
        """Crop coordinates, 0 to 1, to the word."""
        x, y = points.unbind(-1)
        stood_up = torch.stack([1 - y, x], -1)
        upright = torch.where(self.turned[:, None, None], stood_up, points)
        plane = upright * self.size[:, None] + self.corner[:, None]
        flat = _project(torch.linalg.inv_ex(self.homography)[0], plane)
        return _unbend(flat, self.arc, self.aspect)


def sample_view(
    lines: Lines,
    strengths: Ingredients,
    random: Random,
    size: tuple[int, int] = (32, 128),
) -> View:
    """Draw a view of each word and the crop that a text detector would make of it.

    Where letters would come out too small to be read in crops of this size, height and width in
    pixels, the word is seen straight on instead.
    """
    aspect = lines.aspects.clamp(min=_NARROWEST)
    homography = _sample_homography(aspect, strengths, random)
    arc = _sample_arc(aspect, strengths.curve, random)
    outline = _ink_outline(lines, random)
    margins = _sample_margins(strengths.margin, random)
    view = _crop(homography, arc, aspect, outline, margins)
    ones = torch.ones_like(aspect)
    straight = torch.diag_embed(torch.stack([aspect, ones, ones], -1))
    frontal = _crop(straight, arc * 0, aspect, outline, margins)
    is_legible = _is_legible(view, lines, size)
    return View(
        homography=_choose(is_legible, view.homography, frontal.homography),
        arc=_choose(is_legible, view.arc, frontal.arc),
        aspect=aspect,
        corner=_choose(is_legible, view.corner, frontal.corner),
        size=_choose(is_legible, view.size, frontal.size),
        turned=_choose(is_legible, view.turned, frontal.turned),
    )


def _choose(condition: Bool[Tensor, " batch"], yes: Tensor, no: Tensor) -> Tensor:
    return torch.where(condition.view(-1, *[1] * (yes.ndim - 1)), yes, no)


def _crop(
    homography: Float[Tensor, "batch 3 3"],
    arc: Float[Tensor, " batch"],
    aspect: Float[Tensor, " batch"],
    outline: Float[Tensor, "batch point 2"],
    margins: Float[Tensor, "batch 4"],
) -> View:
    """The box around the outline as seen, with margins."""
    plane = _project(homography, _bend(outline, arc, aspect))
    low = plane.amin(1)
    high = plane.amax(1)
    size = high - low
    smaller = size.amin(1, keepdim=True)
    unit = smaller * _MARGINS.of_smaller + size * (1 - _MARGINS.of_smaller)
    low = low - margins[:, :2] * unit
    high = high + margins[:, 2:] * unit
    size = high - low
    width, height = size.unbind(1)
    return View(
        homography=homography,
        arc=arc,
        aspect=aspect,
        corner=low,
        size=size,
        turned=height > width * TALL,
    )


def _sample_margins(strength: float, random: Random) -> Float[Tensor, "batch 4"]:
    """Mostly tight, at times loose, at times a little too tight, as labelled crops are."""
    tight = random.uniform(*_MARGINS.tight, 4)
    loose = random.uniform(*_MARGINS.loose, 4)
    is_tight = random.bernoulli(_MARGINS.tight_share, 1) > 0
    return torch.where(is_tight, tight, loose) * strength


def _sample_arc(
    aspect: Float[Tensor, " batch"], strength: float, random: Random
) -> Float[Tensor, " batch"]:
    """Mostly flat, at times slightly bent, at times up to nearly a half circle."""
    slight = random.normal(_ARC.slight)
    strong = random.uniform(*_ARC.strong)
    is_slight = random.bernoulli(_ARC.slight_share) > 0
    arc = torch.where(is_slight, slight, strong)
    arc = arc * random.bernoulli(share_of("curve")) * strength
    widest = (aspect * _ARC.for_aspect).clamp(max=_ARC.strongest)
    return arc.minimum(widest).maximum(-widest)


def _is_legible(
    view: View,
    lines: Lines,
    size: tuple[int, int],
) -> Bool[Tensor, " batch"]:
    """Whether lines are high enough and letters far enough apart at both ends and in the middle."""
    count = len(lines.widths)
    device = lines.widths.device
    length = lines.letters.clamp(min=1)
    has_squares = lines.letters > (lines.ids != PADDING).sum(1)
    least_line = torch.where(has_squares, _LEAST_SQUARE_LINE, _LEAST_LINE)
    middle = torch.tensor(_JUDGED, device=device)
    right = torch.tensor([_STEP, 0.0], device=device)
    below = torch.tensor([0.0, _STEP], device=device)
    points = torch.cat([middle, middle + right, middle + below])
    height, width = size
    pixels = torch.tensor([width, height], device=device)
    seen = view.forward(points.expand(count, -1, -1)) * pixels
    start, along, down = seen.view(count, 3, len(_JUDGED), 2).unbind(1)
    along = (along - start) / _STEP
    down = (down - start) / _STEP
    per_word = along.norm(dim=-1)
    along_x, along_y = along.unbind(-1)
    down_x, down_y = down.unbind(-1)
    area = (along_x * down_y - along_y * down_x).abs()
    line = 2 * area / per_word.clamp(min=1e-3)
    advance = 2 * per_word / length[:, None]
    is_high = line > least_line[:, None]
    is_wide = advance > _LEAST_ADVANCE
    return (is_high & is_wide).all(1)


def _sample_homography(
    aspect: Float[Tensor, " batch"], strengths: Ingredients, random: Random
) -> Float[Tensor, "batch 3 3"]:
    """Words turned (by degrees), slanted, tilted (far ends are smaller) and seen from the side."""
    degrees = _sample_rotation(random) * strengths.rotation
    angle = (degrees + _sample_turns(strengths.turned, random)) * math.pi / 180
    slant = random.normal(_PERSPECTIVE.slant) * strengths.shear
    tilt_x, tilt_y = _sample_tilts(strengths.perspective, random)
    width, rise = _sample_foreshortening(aspect, strengths.perspective, random)
    cos = angle.cos()
    sin = angle.sin()
    zero = torch.zeros_like(angle)
    rows = [
        cos * width - sin * rise, cos * slant - sin, zero,
        sin * width + cos * rise, sin * slant + cos, zero,
        tilt_x, tilt_y, zero + 1,
    ]  # fmt: skip
    return torch.stack(rows, -1).reshape(-1, 3, 3)


def _sample_rotation(random: Random) -> Float[Tensor, " batch"]:
    """Degrees: mostly few."""
    slight = random.normal(_ROTATION.slight)
    strong = random.uniform(*_ROTATION.strong)
    is_slight = random.bernoulli(_ROTATION.slight_share) > 0
    return torch.where(is_slight, slight, strong)


def _sample_tilts(
    strength: float, random: Random
) -> tuple[Float[Tensor, " batch"], Float[Tensor, " batch"]]:
    """How much farther away the right end is than the middle, and how much the lower edge."""
    ranges = _PERSPECTIVE
    flat = random.normal(ranges.flat).clamp(-ranges.flattest, ranges.flattest)
    steep = random.uniform(*ranges.steep)
    is_flat = random.bernoulli(ranges.flat_share) > 0
    right = torch.where(is_flat, flat, steep)
    right = right * random.bernoulli(share_of("perspective")) * strength
    down = random.normal(ranges.down).clamp(-ranges.most_down, ranges.most_down)
    down = down * random.bernoulli(ranges.down_share) * strength
    return right, down


def _sample_foreshortening(
    aspect: Float[Tensor, " batch"], strength: float, random: Random
) -> tuple[Float[Tensor, " batch"], Float[Tensor, " batch"]]:
    """How wide a line on a wall beside the camera looks, and how far it rises over that width.

    Seen from the side, a sign over one's head is narrow and its lines run up or down steeply, but
    its letters stand upright.
    """
    beside = random.bernoulli(_PERSPECTIVE.beside_share) * strength
    narrowing = random.uniform(*_PERSPECTIVE.narrowing) * beside
    width = aspect * (1 - narrowing).clamp(min=_PERSPECTIVE.narrowest)
    rise = aspect * random.uniform(*_PERSPECTIVE.rise) * beside
    return width, rise


def _sample_turns(strength: float, random: Random) -> Float[Tensor, " batch"]:
    """Degrees: mostly none, at times a quarter left or right, rarely a half turn or any angle."""
    chosen = random.subset(share_of("turned", strength))
    kind = random.uniform(0, 1)
    anywhere = random.uniform(-180.0, 180.0)
    turn = torch.where(kind < _TURNS.right_below, 90.0, 180.0)
    turn = turn.where(kind >= _TURNS.left_below, -90.0)
    turn = turn.where(kind <= _TURNS.anywhere_above, anywhere)
    return torch.zeros_like(turn).index_copy(0, chosen, turn[chosen])


def _ink_outline(lines: Lines, random: Random) -> Float[Tensor, "batch point 2"]:
    """Points along the upper and lower edge of each word, in its own coordinates.

    Half of the words are cropped at their ink, half at the line, as "sea" is by those who crop a
    whole line.
    """
    height = lines.masks.shape[1]
    top, bottom = ink_rows(lines.boxes, height)
    at_line = random.bernoulli(_OUTLINE.line_share) * random.uniform(0.0, 1.0)
    top = top.lerp(top.clamp(max=_OUTLINE.top * height), at_line)
    bottom = bottom.lerp(bottom.clamp(min=_OUTLINE.bottom * height), at_line)
    x = torch.linspace(-1, 1, _OUTLINE_POINTS, device=random.device)
    x = x.expand(random.count, -1)
    upper = (top / height * 2 - 1)[:, None].expand_as(x)
    lower = (bottom / height * 2 - 1)[:, None].expand_as(x)
    y = torch.cat([upper, lower], 1)
    return torch.stack([torch.cat([x, x], 1), y], -1)


def _bend(
    points: Float[Tensor, "batch point 2"],
    arc: Float[Tensor, " batch"],
    aspect: Float[Tensor, " batch"],
) -> Float[Tensor, "batch point 2"]:
    """Lay the baseline on a circle that keeps its length; letters stand upright on it."""
    angle, radius = _circle(arc, aspect)
    x, y = points.unbind(-1)
    turn = x * angle
    right = (radius - y) * turn.sin() / aspect[:, None]
    down = radius - (radius - y) * turn.cos()
    bent = torch.stack([right, down], -1)
    return _choose(arc.abs() < _FLATTEST, points, bent)


def _unbend(
    points: Float[Tensor, "batch point 2"],
    arc: Float[Tensor, " batch"],
    aspect: Float[Tensor, " batch"],
) -> Float[Tensor, "batch point 2"]:
    """Inverse of `_bend`."""
    angle, radius = _circle(arc, aspect)
    side = radius.sign()
    x, y = points.unbind(-1)
    right = x * aspect[:, None] * side
    up = (radius - y) * side
    turn = torch.atan2(right, up)
    away = side * torch.hypot(right, up)
    flat = torch.stack([turn / angle, radius - away], -1)
    return _choose(arc.abs() < _FLATTEST, points.expand_as(flat), flat)


def _circle(
    arc: Float[Tensor, " batch"], aspect: Float[Tensor, " batch"]
) -> tuple[Float[Tensor, "batch 1"], Float[Tensor, "batch 1"]]:
    """Half of the angle, and the radius in half line heights, with the same sign; never flat.

    Arcs flatter than the flattest stay lines: on so large a circle digits would be lost.
    """
    angle = torch.where(arc.abs() < _FLATTEST, _FLATTEST, arc)[:, None]
    return angle, aspect[:, None] / angle


def _project(
    homography: Float[Tensor, "batch 3 3"], points: Float[Tensor, "batch point 2"]
) -> Float[Tensor, "batch point 2"]:
    turned = points @ homography[:, :, :2].transpose(1, 2)
    mapped = turned + homography[:, None, :, 2]
    return mapped[..., :2] / mapped[..., 2:].clamp(min=_NEAREST)
