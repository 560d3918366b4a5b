"""Line masks to what a camera sees: arc, slant, rotation and perspective in one inverse warp.

Whatever needs to know where a character went (boxes, the character under a token) follows the
same map as the ink, that of a `View`.
"""

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int64
from torch import Tensor

from vit_str.characters.charset import PADDING
from vit_str.synthesis.lines import Lines
from vit_str.synthesis.placement import ink_rows
from vit_str.synthesis.view import View

_OVERSAMPLING = 2  # columns that are averaged to one
_DENSEST = 1.2  # columns of a line for a sample, from which on they are averaged first
_NODE_ROWS = 4  # pixels between places where a view is computed
_NODE_COLUMNS = 8
_SLACK = 2  # rows of a line above and below the ink that belong to a character too


def crop_mask(
    lines: Lines,
    view: View,
    size: tuple[int, int],
) -> Float[Tensor, "batch 1 row col"]:
    """How much ink each pixel of the crops holds, 0 to 1; ``size`` is their height and width."""
    height, width = size
    fine = width * _OVERSAMPLING
    coordinates = _line_coordinates(lines, view, height, fine)
    lines.look_up(*coordinates.flatten(2).unbind(1))
    masks = lines.masks[:, None].float()
    # Long words would lose columns between the samples; average them first.
    shrink = max(1, round(float(lines.widths.median()) / (fine * _DENSEST)))
    if shrink > 1:
        masks = F.avg_pool2d(masks, (1, shrink), ceil_mode=True)
    columns = masks.shape[-1] * shrink
    rows = masks.shape[-2]
    extent = torch.tensor([columns, rows], device=masks.device).view(1, 2, 1, 1)
    grid = coordinates.mul_(2 / extent).sub_(1).permute(0, 2, 3, 1)
    seen = F.grid_sample(masks, grid, padding_mode="zeros", align_corners=False)
    pairs = seen[..., ::_OVERSAMPLING] + seen[..., 1::_OVERSAMPLING]
    return pairs.mul_(1 / (_OVERSAMPLING * 255))


def _line_coordinates(
    lines: Lines, view: View, height: int, width: int
) -> Float[Tensor, "batch 2 row col"]:
    """Column and row of the line, in pixels, that every pixel of a crop sees.

    Computed at every fourth pixel or so and interpolated: between these the view is as good as
    linear, and its trigonometry would be the dearest part of rendering.
    """
    rows = max(2, height // _NODE_ROWS + 1)
    columns = max(2, width // _NODE_COLUMNS + 1)
    device = lines.widths.device
    y = torch.linspace(0.5 / height, 1 - 0.5 / height, rows, device=device)
    x = torch.linspace(0.5 / width, 1 - 0.5 / width, columns, device=device)
    y, x = torch.meshgrid(y, x, indexing="ij")
    nodes = torch.stack([x.flatten(), y.flatten()], -1)[None]
    column, row = _on_line(view.backward(nodes), lines)
    seen = torch.stack([column, row], 1).view(-1, 2, rows, columns)
    return F.interpolate(seen, (height, width), mode="bilinear", align_corners=True)


def token_characters(
    lines: Lines, view: View, grid: tuple[int, int]
) -> Int64[Tensor, "batch token"]:
    """The character under the center of every token, ``PADDING`` where there is none."""
    points = view.backward(_pixel_centers(*grid, lines.widths.device))
    column, row = _on_line(points, lines)
    owner = lines.owner(column)
    is_inside = (column >= 0) & (column < lines.widths[:, None])
    is_inside &= owner != PADDING
    top, bottom = ink_rows(lines.boxes)
    is_inside &= row > top[:, None] - _SLACK
    is_inside &= row < bottom[:, None] + _SLACK
    return torch.where(is_inside, lines.ids.gather(1, owner.clamp(min=0)), PADDING)


def character_boxes(
    lines: Lines, view: View, size: tuple[int, int]
) -> Float[Tensor, "batch position side"]:
    """Left, top, right, bottom of every character in the crop, in pixels; zero where none."""
    left, top, right, bottom = lines.boxes.unbind(-1)
    # On an arc the middle of a letter may be higher than both of its sides.
    x = torch.stack([left, right, (left + right) / 2], -1)
    x = x / lines.widths[:, None, None] * 2 - 1
    y = torch.stack([top, bottom], -1)
    y = y / lines.masks.shape[1] * 2 - 1
    count, positions = left.shape
    shape = (count, positions, x.shape[-1], y.shape[-1])
    corners = torch.stack(
        [x[..., :, None].expand(shape), y[..., None, :].expand(shape)], -1
    )
    seen = view.forward(corners.flatten(1, 3)).reshape(count, positions, -1, 2)
    height, width = size
    scale = torch.tensor([width, height, width, height], device=left.device)
    boxes = torch.cat([seen.amin(2), seen.amax(2)], -1) * scale
    has_ink = right > left
    return boxes * has_ink[..., None]


def _on_line(
    points: Float[Tensor, "batch point 2"], lines: Lines
) -> tuple[Float[Tensor, "batch point"], Float[Tensor, "batch point"]]:
    """Word coordinates as column and row of the line as seen, in pixels."""
    x, y = points.unbind(-1)
    column = (x + 1) / 2 * lines.widths[:, None]
    row = (y + 1) / 2 * lines.masks.shape[1]
    return column, row


def _pixel_centers(
    rows: int,
    columns: int,
    device: torch.device,
) -> Float[Tensor, "one point 2"]:
    """Centers of a grid over the crop, 0 to 1, in reading order."""
    y = (torch.arange(rows, device=device) + 0.5) / rows
    x = (torch.arange(columns, device=device) + 0.5) / columns
    y, x = torch.meshgrid(y, x, indexing="ij")
    return torch.stack([x.flatten(), y.flatten()], -1)[None]
