"""How well maps of attention, points and boxes agree with where characters truly are.

Everything is per character, in pixels of the model's input; a word is a list of characters, and
several words can be scored in one call. Equal-width slices of the image, the baseline that needs
no model, go through the same functions.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float64
from torch import Tensor

from vit_str.analysis.geometry import TokenGrid

Boxes = Float64[Tensor, "character side"]
Points = Float64[Tensor, "character 2"]
METRICS: Mapping[str, str] = {
    "pointing": "share",
    "pointing_near": "share",
    "energy": "share",
    "lift": "share of uniform",
    "center_error": "character widths",
    "center_error_y": "character heights",
    "iou": "1",
    "iou_x": "1",
    "drift": "share",
    "monotonic": "share",
}
"""Every score and its unit. All but ``monotonic``, which is of a word, are of a character.

* ``pointing``: the middle of the token that gets the most attention lies in the true box.
* ``pointing_near``: the same with the box half a token larger on every side.
* ``energy``: attention within the box; a token cut by it counts by area.
* ``lift``: energy over the share of the image that the box covers, 1 for uniform attention.
* ``center_error``, ``center_error_y``: from the middle of the attention to that of the box,
  sideways in widths of the box, up and down in heights.
* ``iou``: intersection over union of predicted and true box.
* ``iou_x``: the same of their left and right sides alone, all that slices could know.
* ``drift``: the middle of the attention lies in a neighbor's box and not in its own.
* ``monotonic``: neighboring characters whose middles of attention are in reading direction.
"""
LOWER_IS_BETTER = {"center_error", "center_error_y", "drift"}


class CharacterAttention(NamedTuple):
    """Where a model, or a baseline, looked for characters."""

    maps: Float64[Tensor, "character row column"]  # every map sums to 1
    points: Points  # where it looks the most
    centers: Points  # where it looks on average
    boxes: Boxes  # left, top, right, bottom that it predicts


def character_attention(
    maps: Float64[Tensor, "character row column"], boxes: Boxes, grid: TokenGrid
) -> CharacterAttention:
    """Maps with their points: the middle of the largest token, and the mean."""
    points = grid.centers[maps.flatten(1).argmax(1)]
    x = grid.centers[: grid.columns, 0]
    y = grid.centers[:: grid.columns, 1]
    means = torch.stack([maps.sum(1) @ x, maps.sum(2) @ y], 1)
    return CharacterAttention(maps, points, means, boxes)


def slices(count: int, grid: TokenGrid) -> CharacterAttention:
    """The image cut into slices of equal width, one per character: no model needed.

    Attention is even within a slice; it points at the middle.
    """
    height, width = grid.image_size
    edges = torch.linspace(0, width, count + 1, dtype=torch.float64)
    top = torch.zeros(count).double()
    bottom = torch.full((count,), height).double()
    boxes = torch.stack([edges[:-1], top, edges[1:], bottom], 1)
    inside = covered(boxes, grid)
    maps = inside / inside.sum((1, 2), keepdim=True)
    middles = (boxes[:, :2] + boxes[:, 2:]) / 2
    return CharacterAttention(maps, middles, middles, boxes)


def covered(boxes: Boxes, grid: TokenGrid) -> Float64[Tensor, "character row column"]:
    """Share of every token's patch that lies in each box."""
    height, width = grid.patch_size
    down = _overlaps(boxes[:, 1], boxes[:, 3], grid.rows, height)
    across = _overlaps(boxes[:, 0], boxes[:, 2], grid.columns, width)
    return down[:, :, None] * across[:, None, :] / (height * width)


def iou(first: Boxes, second: Boxes) -> Float64[Tensor, " character"]:
    """Intersection over union of boxes, pair by pair; 0 if neither has an area."""
    low = first[:, :2].maximum(second[:, :2])
    high = first[:, 2:].minimum(second[:, 2:])
    shared = (high - low).clamp(min=0).prod(1)
    union = _area(first) + _area(second) - shared
    return shared / union.clamp(min=1e-9)


def inside(
    points: Points, boxes: Boxes, margin: tuple[float, float] = (0, 0)
) -> Bool[Tensor, " character"]:
    """Whether points lie in boxes that are larger by a margin (x, y) on every side; not if NaN."""
    reach = torch.tensor(margin, dtype=points.dtype)
    is_after_start = points >= boxes[:, :2] - reach
    is_before_end = points <= boxes[:, 2:] + reach
    return (is_after_start & is_before_end).all(1)


def score_characters(
    attended: CharacterAttention,
    true_boxes: Boxes,
    pairs: Sequence[tuple[int, int]],
    grid: TokenGrid,
) -> dict[str, Float64[Tensor, " character"]]:
    """Every score of `METRICS` but ``monotonic``, and the signed ``offset`` sideways in widths.

    Pairs are the index in the text read and in the label of every character to score.
    """
    read, written = (list(indices) for indices in zip(*pairs, strict=True))
    attended = CharacterAttention(*(part[read] for part in attended))
    nothing = torch.full_like(true_boxes[:1], torch.nan)
    in_word = torch.cat([nothing, true_boxes, nothing])
    places = torch.tensor(written)
    before = in_word[places]
    boxes = in_word[places + 1]
    after = in_word[places + 2]
    # A stroke thinner than a pixel is a pixel.
    sizes = (boxes[:, 2:] - boxes[:, :2]).clamp(min=1)
    middles = (boxes[:, :2] + boxes[:, 2:]) / 2
    offsets = (attended.centers - middles) / sizes
    energy = (attended.maps * covered(boxes, grid)).sum((1, 2))
    height, width = grid.patch_size
    bottom, right = grid.image_size
    image = bottom * right
    # Crops may be a little too tight: what lies outside of the image cannot be looked at.
    edges = torch.tensor([right, bottom, right, bottom], dtype=boxes.dtype)
    visible = boxes.clamp(min=0).minimum(edges)
    half_a_token = (width / 2, height / 2)
    in_own_box = inside(attended.centers, boxes)
    in_last = inside(attended.centers, before)
    in_next = inside(attended.centers, after)
    in_neighbor = in_last | in_next
    return {
        "pointing": inside(attended.points, boxes).double(),
        "pointing_near": inside(attended.points, boxes, half_a_token).double(),
        "energy": energy,
        "lift": energy / (_area(visible) / image).clamp(min=1 / image),
        "center_error": offsets[:, 0].abs(),
        "center_error_y": offsets[:, 1].abs(),
        "iou": iou(attended.boxes, boxes),
        "iou_x": iou(_columns(attended.boxes), _columns(boxes)),
        "drift": (in_neighbor & ~in_own_box).double(),
        "offset": offsets[:, 0],
    }


def monotonic_share(centers: Points) -> float:
    """Share of neighboring characters whose middles move to the right; NaN for less than two."""
    steps = centers[:, 0].diff()
    return float((steps > 0).double().mean()) if len(steps) else float("nan")


def _overlaps(
    low: Float64[Tensor, " character"],
    high: Float64[Tensor, " character"],
    count: int,
    side: float,
) -> Float64[Tensor, "character place"]:
    """Pixels that intervals share with each of ``count`` places side by side."""
    starts = torch.arange(count, dtype=torch.float64) * side
    first = low[:, None].maximum(starts)
    last = high[:, None].minimum(starts + side)
    return (last - first).clamp(min=0)


def _columns(boxes: Boxes) -> Boxes:
    """Boxes of the same left and right, and the same height all."""
    sides = torch.tensor([1.0, 0, 1, 0])
    height = torch.tensor([0.0, 0, 0, 1])
    return boxes * sides + height


def _area(boxes: Boxes) -> Float64[Tensor, " character"]:
    return (boxes[:, 2:] - boxes[:, :2]).clamp(min=0).prod(1)
