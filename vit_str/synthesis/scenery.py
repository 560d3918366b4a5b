"""What lies behind a word and beside it: walls, photographs, plates, other lines of text.

Places and thicknesses are shares of the picture, colors, brightness and opacities from 0 to 1.
"""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from vit_str.synthesis.fields import Images, Mask, dilate, pixel_columns, pixel_rows, spread
from vit_str.synthesis.ingredients import share_of
from vit_str.synthesis.random_numbers import Random


def add_texture(image: Images, strength: float, random: Random) -> None:
    """Stains, grain, and at times two materials that meet behind the word."""
    size = image.shape[-2:]
    stains = random.normal(1.0, 1, 3, 6) * random.uniform(0, 0.42, 1, 1, 1).square()
    grain = random.normal(1.0, 1, 12, 48) * random.uniform(0, 0.09, 1, 1, 1)
    grain = grain * random.bernoulli(0.4, 1, 1, 1)
    # Light and dirt change the brightness of a wall more than its color.
    tint = 1 + random.normal(0.35, 3, 1, 1)
    chosen = random.subset(share_of("texture", strength))
    edge = random.normal(8.0, 1, 2, 4)[chosen]
    color = random.uniform(0, 1, 3, 1, 1)[chosen]
    hidden = random.uniform(0.2, 0.7, 1, 1, 1)[chosen]
    if not strength:
        return
    image.addcmul_(spread(stains * strength, size).add_(spread(grain * strength, size)), tint)
    if len(chosen):
        wall = image.index_select(0, chosen)
        image[chosen] = wall.lerp(color, spread(edge, size).sigmoid() * hidden)


def put_pictures(
    image: Images,
    pictures: Float[Tensor, "picture 3 row column"],
    strength: float,
    random: Random,
) -> None:
    """Parts of photographs, from nearly all of one to a small piece."""
    chosen = random.subset(share_of("picture", strength))
    scale = random.uniform(0.15, 1.0, 2)[chosen]
    place = random.uniform(-1, 1, 2)[chosen]
    which = random.integers(len(pictures))[chosen]
    if not len(chosen):
        return
    source = pictures[which].float() / 255
    grid = _crop(image, scale, place * (1 - scale))
    image[chosen] = F.grid_sample(source, grid, padding_mode="reflection", align_corners=False)


def add_frames(image: Images, strength: float, random: Random) -> None:
    """A plate behind the word: another color beyond its border, or a line around it."""
    chosen = random.subset(share_of("frame", strength))
    inset = random.uniform(0.0, 0.16, 4, 1, 1)[chosen].unsqueeze(1)
    color = random.uniform(0, 1, 3, 1, 1)[chosen]
    line = random.bernoulli(0.5, 1, 1, 1)[chosen]
    if not len(chosen):
        return
    rows = pixel_rows(image) / image.shape[-2]
    columns = pixel_columns(image) / image.shape[-1]

    def outside(scale: float) -> Tensor:
        top, bottom, left, right = (inset * scale).unbind(2)
        return (
            (rows < top) | (rows > 1 - bottom) | (columns < left / 3) | (columns > 1 - right / 3)
        ).float()

    border = outside(1.0) - line * outside(0.6)
    image[chosen] = image.index_select(0, chosen).lerp(color, border)


def add_neighbors(
    image: Images,
    mask: Mask,
    words: Mask,
    ink: Float[Tensor, "batch 3 1 1"],
    strength: float,
    random: Random,
) -> None:
    """Parts of another line above or below, mostly smaller, or of the words left and right."""
    chosen = random.subset(share_of("neighbors", strength))
    source = random.permutation()[chosen]
    zoom = random.uniform(0.8, 2.4, 1)[chosen]
    aspect = random.uniform(0.7, 1.3, 1)[chosen]
    beside = random.bernoulli(0.35, 1)[chosen]
    place = random.uniform(0.0, 0.35, 1)[chosen]
    along = random.uniform(-0.5, 0.5, 1)[chosen]
    side = random.bernoulli(0.5, 1)[chosen] * 2 - 1
    strong = random.uniform(0.4, 1.0, 1, 1, 1)[chosen]
    color = random.uniform(0, 1, 3, 1, 1)[chosen]
    own = random.bernoulli(0.7, 1, 1, 1)[chosen]
    if not len(chosen):
        return
    # A word beside is about as high; one above is moved so that only its edge is in the crop.
    down = zoom
    across = zoom * aspect
    down = down.lerp(0.8 + 0.2 * zoom, beside)
    across = across.lerp(0.8 + 0.2 * zoom, beside)
    move_down = torch.lerp(side * (1 + down * (0.9 - place)), 0.3 * along, beside)
    move_across = torch.lerp(along, side * (1 + across * (0.85 - 0.5 * place)), beside)
    scale = torch.cat([across, down], 1)
    move = torch.cat([move_across, move_down], 1)
    seen = F.grid_sample(words[source], _crop(mask, scale, move), align_corners=False)
    seen *= (1 - dilate(mask.index_select(0, chosen), 2, 2)) * strong
    image[chosen] = image.index_select(0, chosen).lerp(color.lerp(ink[chosen], own), seen)


def add_underlines(
    image: Images, ink: Float[Tensor, "batch 3 1 1"], strength: float, random: Random
) -> None:
    """A line of ink under the word."""
    chosen = random.subset(share_of("underline", strength))
    place = random.uniform(0.9, 0.99, 1, 1, 1)[chosen]
    slope = random.normal(0.05, 1, 1, 1)[chosen]
    half = random.uniform(0.015, 0.04, 1, 1, 1)[chosen]
    if not len(chosen):
        return
    height, width = image.shape[-2:]
    center = place + (pixel_columns(image) / width - 0.5) * slope
    line = ((pixel_rows(image) / height - center).abs() < half).float()
    image[chosen] = image.index_select(0, chosen).lerp(ink[chosen], line)


def _crop(
    image: Tensor, scale: Float[Tensor, "chosen 2"], move: Float[Tensor, "chosen 2"]
) -> Float[Tensor, "chosen height width 2"]:
    """Where each pixel looks in a source: scale and move as (x, y), from -1 to 1."""
    height, width = image.shape[-2:]
    x = (pixel_columns(image)[0, 0] * (2 / width) - 1) * scale[:, :1] + move[:, :1]
    y = (pixel_rows(image)[0, 0, :, 0] * (2 / height) - 1) * scale[:, 1:] + move[:, 1:]
    shape = len(scale), height, width
    return torch.stack([x[:, None, :].expand(shape), y[:, :, None].expand(shape)], -1)
