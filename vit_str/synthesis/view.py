"""From where a word is seen, and the crop that a text detector would make of it.

A word has coordinates of its own: x from -1 (left end) to 1 (right end), y from -1 (top row of
the line) to 1 (bottom row). A view maps them onto the picture with an arc and a homography; the
crop is the box around the mapped ink, with margins.
"""

import math
from dataclasses import dataclass, fields

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from vit_str.runtime.charset import PADDING
from vit_str.runtime.images import TALL
from vit_str.synthesis.ingredients import Ingredients, share_of
from vit_str.synthesis.layout import Lines
from vit_str.synthesis.placement import ink_rows
from vit_str.synthesis.random_numbers import Random

_OUTLINE_POINTS = 17  # along each edge of a word
_FLATTEST = 0.02  # radians, below which an arc is drawn as a line
_LEAST_LINE = 8.0  # pixels; lower lines and closer letters cannot be read (docs/rendering.md)
_LEAST_ADVANCE = 2.5  # pixels from letter to letter
_STEP = 0.05  # of half a line, over which both are measured


@dataclass(frozen=True, slots=True)
class View:
    """From where each word is seen."""

    homography: Float[Tensor, "batch 3 3"]  # word coordinates to the plane of the camera
    # Half of the angle of the arc that the baseline is bent to, in radians; positive ends point
    # down
    arc: Float[Tensor, " batch"]
    aspect: Float[Tensor, " batch"]  # width over height of the line
    corner: Float[Tensor, "batch 2"]  # left and top of the crop in the plane of the camera
    size: Float[Tensor, "batch 2"]  # width and height of the crop there
    # Whether the crop is turned by a quarter to the left, as tall crops are by readers
    turned: Bool[Tensor, " batch"]

    @property
    def crop_aspects(self) -> Float[Tensor, " batch"]:
        """Width over height of the crops, turned if readers turn them."""
        aspect = self.size[:, 0] / self.size[:, 1]
        return torch.where(self.turned, 1 / aspect, aspect)

    def forward(self, points: Float[Tensor, "batch point 2"]) -> Float[Tensor, "batch point 2"]:
        """Word coordinates to the crop, 0 to 1 in both directions."""
        plane = _project(self.homography, _bend(points, self.arc, self.aspect))
        upright = (plane - self.corner[:, None]) / self.size[:, None]
        x, y = upright.unbind(-1)
        return torch.where(self.turned[:, None, None], torch.stack([y, 1 - x], -1), upright)

    def backward(self, points: Float[Tensor, "batch point 2"]) -> Float[Tensor, "batch point 2"]:
        """Crop coordinates, 0 to 1, to the word."""
        x, y = points.unbind(-1)
        upright = torch.where(self.turned[:, None, None], torch.stack([1 - y, x], -1), points)
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
    aspect = lines.aspects.clamp(min=0.25)
    homography = _sample_homography(aspect, strengths, random)
    arc = _sample_arc(aspect, strengths.curve, random)
    outline = _ink_outline(lines, random)
    margins = _sample_margins(strengths.margin, random)
    view = _crop(homography, arc, aspect, outline, margins)
    ones = torch.ones_like(aspect)
    straight = torch.diag_embed(torch.stack([aspect, ones, ones], -1))
    frontal = _crop(straight, arc * 0, aspect, outline, margins)
    legible = _is_legible(view, lines, size)
    chosen = {
        field.name: _choose(legible, getattr(view, field.name), getattr(frontal, field.name))
        for field in fields(View)
    }
    return View(**chosen)


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
    unit = size.amin(1, keepdim=True) * 0.7 + size * 0.3
    low = low - margins[:, :2] * unit
    high = high + margins[:, 2:] * unit
    size = high - low
    return View(homography, arc, aspect, low, size, size[:, 1] > size[:, 0] * TALL)


def _sample_margins(strength: float, random: Random) -> Float[Tensor, "batch 4"]:
    """Mostly tight, at times loose, at times a little too tight, as labelled crops are."""
    tight = random.uniform(-0.04, 0.10, 4)
    loose = random.uniform(0.0, 0.3, 4)
    return torch.where(random.bernoulli(0.8, 1) > 0, tight, loose) * strength


def _sample_arc(
    aspect: Float[Tensor, " batch"], strength: float, random: Random
) -> Float[Tensor, " batch"]:
    """Mostly flat, at times slightly bent, at times up to nearly a half circle."""
    slight = random.normal(0.35)
    strong = random.uniform(-1.45, 1.45)
    arc = torch.where(random.bernoulli(0.7) > 0, slight, strong)
    arc = arc * random.bernoulli(share_of("curve")) * strength
    # The lower ends of letters must not meet in the center of the circle.
    widest = (aspect * 0.6).clamp(max=1.5)
    return arc.clamp(-1.5, 1.5).minimum(widest).maximum(-widest)


def _is_legible(view: View, lines: Lines, size: tuple[int, int]) -> Bool[Tensor, " batch"]:
    """Whether lines are high enough and letters far enough apart at both ends and in the middle."""
    count = len(lines.widths)
    device = lines.widths.device
    length = (lines.ids != PADDING).sum(1).clamp(min=1)
    middle = torch.tensor([[-0.9, 0.0], [0.0, 0.0], [0.9, 0.0]], device=device)
    right, below = torch.tensor([[_STEP, 0.0], [0.0, _STEP]], device=device)
    points = torch.cat([middle, middle + right, middle + below])
    pixels = torch.tensor([size[1], size[0]], device=device)
    seen = view.forward(points.expand(count, -1, -1)) * pixels
    start, along, down = seen.view(count, 3, 3, 2).unbind(1)
    along = (along - start) / _STEP
    down = (down - start) / _STEP
    per_word = along.norm(dim=-1)
    area = (along[..., 0] * down[..., 1] - along[..., 1] * down[..., 0]).abs()
    line = 2 * area / per_word.clamp(min=1e-3)
    advance = 2 * per_word / length[:, None]
    return ((line > _LEAST_LINE) & (advance > _LEAST_ADVANCE)).all(1)


def _sample_homography(
    aspect: Float[Tensor, " batch"], strengths: Ingredients, random: Random
) -> Float[Tensor, "batch 3 3"]:
    """Words turned (by degrees), slanted, tilted (far ends are smaller) and seen from the side."""
    slight = random.normal(4.0)
    strong = random.uniform(-40.0, 40.0)
    degrees = torch.where(random.bernoulli(0.8) > 0, slight, strong) * strengths.rotation
    angle = (degrees + _sample_turns(strengths.turned, random)) * math.pi / 180
    slant = random.normal(0.18) * strengths.shear
    flat = random.normal(0.16).clamp(-0.45, 0.45)
    steep = random.uniform(-0.6, 0.6)
    tilt_x = torch.where(random.bernoulli(0.85) > 0, flat, steep)
    tilt_x = tilt_x * random.bernoulli(share_of("perspective")) * strengths.perspective
    tilt_y = random.normal(0.10).clamp(-0.3, 0.3) * random.bernoulli(0.4) * strengths.perspective
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


def _sample_foreshortening(
    aspect: Float[Tensor, " batch"], strength: float, random: Random
) -> tuple[Float[Tensor, " batch"], Float[Tensor, " batch"]]:
    """How wide a line on a wall beside the camera looks, and how far it rises over that width.

    Seen from the side, a sign over one's head is narrow and its lines run up or down steeply, but
    its letters stand upright.
    """
    beside = random.bernoulli(0.3) * strength
    width = aspect * (1 - random.uniform(0.0, 0.65) * beside).clamp(min=0.3)
    rise = aspect * random.uniform(-0.35, 0.35) * beside
    return width, rise


def _sample_turns(strength: float, random: Random) -> Float[Tensor, " batch"]:
    """Degrees: mostly none, at times a quarter left or right, rarely a half turn or any angle."""
    chosen = random.subset(share_of("turned", strength))
    kind = random.uniform(0, 1)
    anywhere = random.uniform(-180.0, 180.0)
    turn = torch.where(kind < 0.45, -90.0, torch.where(kind < 0.9, 90.0, 180.0))
    turn = torch.where(kind > 0.95, anywhere, turn)
    return torch.zeros_like(turn).index_copy(0, chosen, turn[chosen])


def _ink_outline(lines: Lines, random: Random) -> Float[Tensor, "batch point 2"]:
    """Points along the upper and lower edge of each word, in its own coordinates.

    Half of the words are cropped at their ink, half at the line, as "sea" is by those who crop a
    whole line.
    """
    height = lines.masks.shape[1]
    top, bottom = ink_rows(lines.boxes, height)
    at_line = random.bernoulli(0.5) * random.uniform(0.0, 1.0)
    top = torch.lerp(top, torch.full_like(top, 0.08 * height).minimum(top), at_line)
    bottom = torch.lerp(bottom, torch.full_like(bottom, 0.92 * height).maximum(bottom), at_line)
    x = torch.linspace(-1, 1, _OUTLINE_POINTS, device=random.device).expand(random.count, -1)
    upper = (top / height * 2 - 1)[:, None].expand_as(x)
    lower = (bottom / height * 2 - 1)[:, None].expand_as(x)
    return torch.stack([torch.cat([x, x], 1), torch.cat([upper, lower], 1)], -1)


def _bend(
    points: Float[Tensor, "batch point 2"],
    arc: Float[Tensor, " batch"],
    aspect: Float[Tensor, " batch"],
) -> Float[Tensor, "batch point 2"]:
    """Lay the baseline on a circle that keeps its length; letters stand upright on it."""
    angle, radius = _circle(arc, aspect)
    x, y = points.unbind(-1)
    turn = x * angle
    bent = [
        (radius - y) * turn.sin() / aspect[:, None],
        radius - (radius - y) * turn.cos(),
    ]
    return _choose(arc.abs() < _FLATTEST, points, torch.stack(bent, -1))


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
    flat = torch.stack([turn / angle, radius - side * torch.hypot(right, up)], -1)
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
    mapped = points @ homography[:, :, :2].transpose(1, 2) + homography[:, None, :, 2]
    return mapped[..., :2] / mapped[..., 2:].clamp(min=0.1)
