"""Line masks to what a camera sees: arc, slant, rotation and perspective in one inverse warp.

A word has coordinates of its own: x from -1 (left end) to 1 (right end), y from -1 (top row of
the line) to 1 (bottom row). The view maps them onto the picture with an arc and a homography; the
crop is the box around the mapped ink, with margins. Whatever needs to know where a character went
(boxes, the character under a token) follows the same map.
"""

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int64
from torch import Tensor

from vit_str.charset import PADDING
from vit_str.synthesis.draw import Draw
from vit_str.synthesis.ingredients import Ingredients
from vit_str.synthesis.layout import Lines

_OUTLINE_POINTS = 17
_OVERSAMPLING = 2


@dataclass(frozen=True, slots=True)
class View:
    """From where each word is seen.

    Attributes:
        homography: word coordinates to the plane of the camera.
        arc: how far the middle of the baseline is lifted, in half line heights.
        corner: left and top of the crop in the plane of the camera.
        size: width and height of the crop there.
    """

    homography: Float[Tensor, "batch 3 3"]
    arc: Float[Tensor, " batch"]
    corner: Float[Tensor, "batch 2"]
    size: Float[Tensor, "batch 2"]

    def forward(self, points: Float[Tensor, "batch point 2"]) -> Float[Tensor, "batch point 2"]:
        """Word coordinates to the crop, 0 to 1 in both directions."""
        plane = _project(self.homography, _bend(points, self.arc))
        return (plane - self.corner[:, None]) / self.size[:, None]

    def backward(self, points: Float[Tensor, "batch point 2"]) -> Float[Tensor, "batch point 2"]:
        """Crop coordinates, 0 to 1, to the word."""
        plane = points * self.size[:, None] + self.corner[:, None]
        return _bend(_project(torch.linalg.inv(self.homography), plane), -self.arc)


def sample_view(lines: Lines, strengths: Ingredients, draw: Draw) -> View:
    """Draw a view of each word and the crop that a text detector would make of it."""
    height = lines.masks.shape[1]
    aspect = (lines.widths / height).clamp(min=0.25)
    homography = _sample_homography(aspect, strengths, draw)
    # Long words bend further than short ones before they cannot be read.
    bend = (0.4 + 0.2 * aspect).clamp(max=1.4)
    arc = draw.normal(0.8).clamp(-1.6, 1.6) * bend * draw.some(0.3) * strengths.curve
    whole = View(
        homography,
        arc,
        torch.zeros(draw.count, 2, device=draw.device),
        torch.ones(draw.count, 2, device=draw.device),
    )
    outline = whole.forward(_ink_outline(lines, draw))
    low, high = outline.amin(1), outline.amax(1)
    size = high - low
    # Mostly tight, at times loose, at times a little too tight, as labelled crops are.
    tight, loose = draw.uniform(-0.04, 0.10, 4), draw.uniform(0.0, 0.3, 4)
    margins = torch.where(draw.some(0.8, 1) > 0, tight, loose) * strengths.margin
    unit = size.amin(1, keepdim=True) * 0.7 + size * 0.3
    low, high = low - margins[:, :2] * unit, high + margins[:, 2:] * unit
    return View(homography, arc, low, high - low)


def _sample_homography(
    aspect: Float[Tensor, " batch"], strengths: Ingredients, draw: Draw
) -> Float[Tensor, "batch 3 3"]:
    slight, strong = draw.normal(4.0), draw.uniform(-35.0, 35.0)
    degrees = torch.where(draw.some(0.8) > 0, slight, strong) * strengths.rotation
    angle = degrees * math.pi / 180
    slant = draw.normal(0.18) * strengths.shear
    tilt_x = draw.normal(0.16).clamp(-0.45, 0.45) * draw.some(0.5) * strengths.perspective
    tilt_y = draw.normal(0.10).clamp(-0.3, 0.3) * draw.some(0.4) * strengths.perspective
    cos, sin, zero = angle.cos(), angle.sin(), torch.zeros_like(angle)
    rows = [
        cos * aspect, cos * slant - sin, zero,
        sin * aspect, sin * slant + cos, zero,
        tilt_x, tilt_y, zero + 1,
    ]  # fmt: skip
    return torch.stack(rows, -1).reshape(-1, 3, 3)


def _ink_outline(lines: Lines, draw: Draw) -> Float[Tensor, "batch point 2"]:
    """Points along the upper and lower edge of each word, in its own coordinates.

    Half of the words are cropped at their ink, half at the line, as "sea" is by those who crop a
    whole line.
    """
    height = lines.masks.shape[1]
    there = lines.boxes[:, :, 2] > lines.boxes[:, :, 0]
    top = torch.where(there, lines.boxes[:, :, 1], height).amin(1)
    bottom = torch.where(there, lines.boxes[:, :, 3], 0).amax(1)
    at_line = draw.some(0.5) * draw.uniform(0.0, 1.0)
    top = torch.lerp(top, torch.full_like(top, 0.08 * height).minimum(top), at_line)
    bottom = torch.lerp(bottom, torch.full_like(bottom, 0.92 * height).maximum(bottom), at_line)
    x = torch.linspace(-1, 1, _OUTLINE_POINTS, device=draw.device).expand(draw.count, -1)
    upper = (top / height * 2 - 1)[:, None].expand_as(x)
    lower = (bottom / height * 2 - 1)[:, None].expand_as(x)
    return torch.stack([torch.cat([x, x], 1), torch.cat([upper, lower], 1)], -1)


def crop_mask(lines: Lines, view: View, size: tuple[int, int]) -> Float[Tensor, "batch 1 row col"]:
    """How much ink each pixel of the crops holds, 0 to 1.

    Args:
        lines: the words.
        view: where they are seen from.
        size: height and width of a crop, in pixels.
    """
    height, width = size
    fine = width * _OVERSAMPLING
    points = view.backward(_pixel_centers(height, fine, lines.widths.device))
    masks = lines.masks[:, None].float().div_(255)
    # Long words would lose columns between the samples; average them first.
    shrink = max(1, round(float(lines.widths.median()) / (fine * 1.2)))
    if shrink > 1:
        masks = F.avg_pool2d(masks, (1, shrink), ceil_mode=True)
    columns = masks.shape[-1] * shrink
    x = (points[..., 0] + 1) * (lines.widths[:, None] / columns) - 1
    grid = torch.stack([x, points[..., 1]], -1).reshape(-1, height, fine, 2)
    seen = F.grid_sample(masks, grid, padding_mode="zeros", align_corners=False)
    return (seen[..., ::2] + seen[..., 1::2]) / _OVERSAMPLING


def token_characters(
    lines: Lines, view: View, grid: tuple[int, int]
) -> Int64[Tensor, "batch token"]:
    """The character under the center of every token, ``PADDING`` where there is none.

    Args:
        lines: the words.
        view: where they are seen from.
        grid: rows and columns of tokens over the crop.
    """
    points = view.backward(_pixel_centers(*grid, lines.widths.device))
    column = ((points[..., 0] + 1) / 2 * lines.widths[:, None]).floor().long()
    inside = (column >= 0) & (column < lines.widths[:, None])
    column = column.clamp(0, lines.characters.shape[1] - 1)
    row = (points[..., 1] + 1) / 2 * lines.masks.shape[1]
    there = lines.boxes[..., 2] > lines.boxes[..., 0]
    top = torch.where(there, lines.boxes[..., 1], torch.inf).amin(1, keepdim=True)
    bottom = lines.boxes[..., 3].amax(1, keepdim=True)
    inside &= (row > top - 2) & (row < bottom + 2)
    return torch.where(inside, lines.characters.gather(1, column), PADDING)


def character_boxes(
    lines: Lines, view: View, size: tuple[int, int]
) -> Float[Tensor, "batch position side"]:
    """Left, top, right, bottom of every character in the crop, in pixels; zero where none."""
    left, top, right, bottom = lines.boxes.unbind(-1)
    x = torch.stack([left, right, (left + right) / 2], -1) / lines.widths[:, None, None] * 2 - 1
    y = torch.stack([top, bottom], -1) / lines.masks.shape[1] * 2 - 1
    corners = torch.stack(
        [x[..., :, None].expand(*x.shape, 2), y[..., None, :].expand(*x.shape, 2)], -1
    )
    count, positions, *_ = corners.shape
    seen = view.forward(corners.flatten(1, 3)).reshape(count, positions, -1, 2)
    low, high = seen.amin(2), seen.amax(2)
    scale = torch.tensor([size[1], size[0], size[1], size[0]], device=left.device)
    boxes = torch.cat([low, high], -1) * scale
    return boxes * (right > left)[..., None]


def _bend(
    points: Float[Tensor, "batch point 2"], arc: Float[Tensor, " batch"]
) -> Float[Tensor, "batch point 2"]:
    x, y = points.unbind(-1)
    return torch.stack([x, y + arc[:, None] * (x.clamp(-1.3, 1.3).square() - 0.5)], -1)


def _project(
    homography: Float[Tensor, "batch 3 3"], points: Float[Tensor, "batch point 2"]
) -> Float[Tensor, "batch point 2"]:
    mapped = points @ homography[:, :, :2].transpose(1, 2) + homography[:, None, :, 2]
    return mapped[..., :2] / mapped[..., 2:].clamp(min=0.1)


def _pixel_centers(rows: int, columns: int, device: torch.device) -> Float[Tensor, "one point 2"]:
    """Centers of a grid over the crop, 0 to 1, in reading order."""
    y = (torch.arange(rows, device=device) + 0.5) / rows
    x = (torch.arange(columns, device=device) + 0.5) / columns
    y, x = torch.meshgrid(y, x, indexing="ij")
    return torch.stack([x.flatten(), y.flatten()], -1)[None]
