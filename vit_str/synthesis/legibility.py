"""Labels stay true: what the damage left of the letters is measured, and made up for.

The letters of a word are a pattern of edges, known from its mask. In each part of the word the
brightness of the finished picture is regressed on that pattern, both without their smooth parts:
how much of the picture follows the letters (against clutter and noise), and how far it rises and
falls with them (against haze, faintness and blur). The slopes of the mask belong to the pattern,
because letters in relief are seen by them alone.
"""

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from vit_str.synthesis.fields import Images, Mask, luminance, smooth

Products = Float[Tensor, "batch part field field"]

_PARTS = 4  # of a word, from left to right, each of which has to be legible
_FIELDS = 5  # letters, their two slopes, the picture before and after the damage
_LETTERS = 0  # place of the letters among them
_CLEAN = 4  # of the picture before the damage

# By eye.
# A part with less than this share of the ink of an average one is not judged
_LEAST_INK = 0.4
_DETAIL = (4, 8)  # rows (of pairs) and columns within which smooth parts are taken away
_NEARNESS = 6.0  # how steeply what is far from the ink counts less
_LEAST_FIT = 0.35  # share of the detail of a part that letters explain
_LEAST_SWING = 0.05  # least contrast of letters, 1 from black to white
_NOTHING = 1e-4  # energy below which there is no detail
_REPAIRS = (
    (0.35, 0.0),
    (0.7, 0.0),
    (0.35, 0.35),
    (1.0, 0.4),
)
"""Shares of the clean picture, and brightness added to the ink, in the order they are tried."""


def keep_legible(degraded: Images, clean: Images, mask: Mask) -> Images:
    """Where too little is left of the letters, as much of the clean picture as they need.

    Where even the clean picture cannot be read, ink is added to it. ``degraded`` is changed in
    place; all values are from 0 to 1.
    """
    mix, ink = repairs(degraded, clean, mask)
    return degraded.lerp_(clean, mix).addcmul_(mask, ink).clamp_(0, 1)


def repairs(
    degraded: Images, clean: Images, mask: Mask
) -> tuple[Float[Tensor, "batch 1 1 1"], Float[Tensor, "batch 1 1 1"]]:
    """Repairs for legibility: the share of the clean picture, and brightness added to the ink.

    Both are 0 where the letters can be read as they are.
    """
    products = _products(degraded, clean, mask)
    judged = _judged(products)
    polarity = torch.where(products[:, :, _LETTERS, _CLEAN].sum(1) < 0, -1.0, 1.0)
    mix = torch.zeros_like(polarity)
    ink = torch.zeros_like(polarity)
    legible = _legible(products, mix, ink, judged)
    for share, added in _REPAIRS:
        mix = mix.where(legible, share)
        ink = ink.where(legible, added * polarity)
        legible = _legible(products, mix, ink, judged)
    return mix[:, None, None, None], ink[:, None, None, None]


def _legible(
    products: Products,
    mix: Float[Tensor, " batch"],
    ink: Float[Tensor, " batch"],
    judged: Bool[Tensor, "batch part"],
) -> Bool[Tensor, " batch"]:
    """Whether all judged parts can be read after this repair.

    Products are linear: those of a mixture need no picture of it.
    """
    zero = torch.zeros_like(mix)
    mixture = torch.stack([ink, zero, zero, 1 - mix, mix], 1)[:, None, :, None]
    products_with = (products @ mixture)[..., 0]
    energy = (products_with * mixture[..., 0]).sum(-1) + _NOTHING
    own = products.diagonal(dim1=-2, dim2=-1)[..., :3] + _NOTHING
    explained = (products_with[..., :3].square() / own).sum(-1)
    fits = explained > _LEAST_FIT * energy
    swings = explained > _LEAST_SWING**2 * own[..., 0]
    is_legible = fits & swings
    return (is_legible | ~judged).all(1)


def _judged(products: Products) -> Bool[Tensor, "batch part"]:
    ink = products[..., _LETTERS, _LETTERS]
    return ink > _LEAST_INK * ink.mean(1, keepdim=True)


def _products(degraded: Images, clean: Images, mask: Mask) -> Products:
    """Products of letters, their slopes to the right and down, and two pictures, with each other.

    Everything is seen in pairs of rows and without what changes slowly only; sums go over parts
    of the word from left to right.
    """
    rows = mask.shape[-2] // 2
    columns = mask.shape[-1] // _PARTS
    fields = mask.new_empty(len(mask), 3, rows, columns * _PARTS)
    for place, values in enumerate((mask, luminance(degraded), luminance(clean))):
        values = values[:, 0, : 2 * rows, : columns * _PARTS]
        torch.add(values[:, ::2], values[:, 1::2], out=fields[:, place])
    low = smooth(fields, *_DETAIL)
    # What is far from the ink, such as a frame, does not matter.
    near = (low[:, :1] * (_NEARNESS / 2)).clamp_(max=1)
    details = (fields - low).mul_(near).view(len(mask), 3, rows, _PARTS, columns)
    parts = mask.new_zeros(len(mask), _PARTS, _FIELDS, rows, columns)
    by_field = parts.permute(0, 2, 3, 1, 4)
    by_field[:, _LETTERS] = details[:, 0]
    by_field[:, 3:] = details[:, 1:]
    letters = fields[:, 0].view(len(mask), rows, _PARTS, columns)
    # The slopes to the right and down; at the edges of a part they stay 0.
    torch.sub(letters[..., 2:], letters[..., :-2], out=by_field[:, 1, ..., 1:-1])
    torch.sub(letters[:, 2:], letters[:, :-2], out=by_field[:, 2, 1:-1])
    flat = parts.flatten(0, 1).flatten(2)
    return (flat @ flat.transpose(1, 2)).view(len(mask), _PARTS, _FIELDS, _FIELDS)
