"""A deeper network that begins as the shallower one that it grows from, and computes the same.

A fresh block whose last layers are zero adds nothing to what it is given, and learns from the first
step on (Chen et al. 2016, Net2Net; Wu et al. 2024, LLaMA Pro): the gradient reaches the zero layers
first, and those before them as soon as these are no longer zero.

* Old blocks are spread over the depth, with the fresh ones between them. LLaMA Pro found all fresh
  blocks in front of the old ones, or behind them, to be worse. The first and the last old block
  keep their ends: what comes before and behind was trained with them, and the last block of a
  decoder tells where the characters are.
* Fresh blocks keep their random start in all other layers. LLaMA Pro copies the block before, but
  never twice: two copies behind each other, which add nothing, would have the same gradients.

`FineRows` can come before them: fresh blocks over patches half as high. A patch is the two halves
below each other, so that the layer which embedded it merges them, if the blocks between add nothing
and a fine token holds the values of its patch as they are. The rest of its width, which is not
merged at the start, holds where it stands.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from vit_str.models import Recognizer, VisionTransformer
from vit_str.models.attention import MultiHeadAttention
from vit_str.models.blocks import FeedForward
from vit_str.models.encoders.vit import FineRows
from vit_str.models.positions import sinusoidal_positions_2d

# Lists of modules with one for each block of the encoder, of the decoder, or of the whole network
_BY_BLOCK = re.compile(
    r"(?:(encoder|encoder\.fine|decoder)\.)?(blocks|neighbors)\.(\d+)\.(.+)"
)
_PARTS = ("encoder.fine", "encoder", "decoder")
_WHOLE = ""  # a network that is nothing but blocks between its first and last layers
_FINE = "encoder.fine."
_PATCHES = "encoder.embed_patches."


@dataclass(frozen=True, slots=True)
class Growth:
    """How many blocks a part of a model has, and how many it grows from.

    Attributes:
        part: ``encoder``, ``encoder.fine`` or ``decoder``; empty for a whole network.
        before: blocks of the weights; none only for ``encoder.fine``.
        after: blocks of the model, more than before.
    """

    part: str
    before: int
    after: int

    @property
    def places(self) -> list[int]:
        """Where each old block stands among all."""
        if self.before == 1:
            return [self.after - 1]
        steps = range(self.before)
        return [step * (self.after - 1) // (self.before - 1) for step in steps]

    @property
    def fresh(self) -> list[int]:
        """Where the new blocks stand."""
        return sorted(set(range(self.after)) - set(self.places))

    def __str__(self) -> str:
        new = self.after - self.before
        part = self.part or "network"
        if not self.before:
            return f"{part} has {new} new blocks, which start as identity"
        start = "one starts" if new == 1 else "ones start"
        return (
            f"{part} grown from {self.before} to {self.after} blocks: {new} new "
            f"{start} as identity"
        )


def growth_of(recognizer: Recognizer, given: Recognizer) -> list[Growth]:
    """The parts of a model that have more blocks than those of the weights.

    Raises:
        ValueError: for fine rows that cannot start as the patches of the weights.
    """
    growths = []
    for part in _PARTS:
        before = len(_blocks(given, part))
        after = len(_blocks(recognizer, part))
        if before < after and (before or _gets_fine_rows(recognizer, given)):
            growths.append(Growth(part, before, after))
    return growths


def _gets_fine_rows(recognizer: Recognizer, given: Recognizer) -> bool:
    """Whether a model has fine rows in front of what the weights are of.

    Raises:
        ValueError: if a token has no room for what a patch of half the height holds.
    """
    encoder = recognizer.encoder
    coarse = given.encoder
    if not isinstance(encoder, VisionTransformer) or encoder.fine is None:
        return False
    if not isinstance(coarse, VisionTransformer) or coarse.fine is not None:
        return False
    values = encoder.embed_patches.in_features
    if coarse.embed_patches.in_features != 2 * values:
        return False
    if values > encoder.dim:
        raise ValueError(
            f"encoder.fine_depth needs encoder.dim {values} at least, found "
            f"{encoder.dim}, to start from weights without it: a token has to hold what "
            "a patch of half the height does"
        )
    return True


def grown(
    tensors: Mapping[str, Tensor], recognizer: Recognizer, growths: list[Growth]
) -> dict[str, Tensor]:
    """Weights of a file as those of the model that grows from it."""
    spread = _spread_blocks(tensors, growths)
    if any(not growth.before for growth in growths):
        fine = recognizer.encoder.fine
        assert isinstance(fine, FineRows)
        spread = _patches_in_halves(spread, fine)
    return spread


def _spread_blocks(
    tensors: Mapping[str, Tensor], growths: list[Growth]
) -> dict[str, Tensor]:
    """Weights under the names that they have in the grown model."""
    places = {growth.part: growth.places for growth in growths}
    spread = {}
    for name, tensor in tensors.items():
        match = _BY_BLOCK.fullmatch(name)
        if match and (match[1] or _WHOLE) in places:
            part, modules, number, rest = match.groups(_WHOLE)
            place = str(places[part][int(number)])
            name = _joined(part, modules, place, rest)
        spread[name] = tensor
    return spread


def _patches_in_halves(
    tensors: Mapping[str, Tensor], fine: FineRows
) -> dict[str, Tensor]:
    """Weights of a model without fine rows, for one that begins with these.

    Args:
        tensors: by the names of the model without.
        fine: fresh, which says where tokens stand.
    """
    weight = tensors[f"{_PATCHES}weight"]
    bias = tensors[f"{_PATCHES}bias"]
    dim = len(weight)
    values = weight.shape[1] // 2
    unused = weight.new_zeros(dim, dim - values)
    upper, lower = weight.chunk(2, dim=1)
    room = (dim - values) // 4 * 4
    positions = weight.new_zeros(math.prod(fine.grid), dim)
    positions[:, values : values + room] = sinusoidal_positions_2d(*fine.grid, room)
    return dict(tensors) | {
        f"{_PATCHES}weight": torch.eye(dim, values),
        f"{_PATCHES}bias": torch.zeros_like(bias),
        f"{_FINE}embed_positions.weight": positions,
        f"{_FINE}merge.weight": torch.cat([upper, unused, lower, unused], 1),
        f"{_FINE}merge.bias": bias,
    }


def is_new(name: str, growths: list[Growth]) -> bool:
    """Whether a tensor of a grown model belongs to a new block."""
    match = _BY_BLOCK.fullmatch(name)
    if match is None:
        return False
    part, _, number, _ = match.groups(_WHOLE)
    return any(
        growth.part == part and int(number) in growth.fresh for growth in growths
    )


def start_from_shallower(network: nn.Module, given: nn.Module) -> None:
    """Take the weights of a network that has fewer ``blocks`` or as many, and compute the same.

    Args:
        network: whose weights are set.
        given: one like it.
    """
    before, after = len(_blocks(given, _WHOLE)), len(_blocks(network, _WHOLE))
    growths = [Growth(_WHOLE, before, after)] if before < after else []
    tensors = _spread_blocks(given.state_dict(), growths)
    network.load_state_dict(tensors, strict=not growths)
    start_as_identity(network, growths)


@torch.no_grad()
def start_as_identity(network: nn.Module, growths: list[Growth]) -> None:
    """Make the new blocks of a model add nothing."""
    for growth in growths:
        blocks = _blocks(network, growth.part)
        for place in growth.fresh:
            silence(blocks[place])


def silence(block: nn.Module) -> None:
    """Set the last layers of all that a pre-norm block adds to zero."""
    for module in block.modules():
        if isinstance(module, MultiHeadAttention):
            _clear(module.to_output)
        elif isinstance(module, FeedForward):
            _clear(module[-1])


def _clear(layer: nn.Module) -> None:
    for parameter in layer.parameters():
        nn.init.zeros_(parameter)


def _blocks(network: nn.Module, part: str) -> nn.ModuleList:
    """The blocks of a part of a model, if it is made of blocks."""
    blocks = dict(network.named_modules()).get(_joined(part, "blocks"))
    return blocks if isinstance(blocks, nn.ModuleList) else nn.ModuleList()


def _joined(*names: str) -> str:
    """The name of a tensor or module from those of the modules around it."""
    return ".".join(filter(None, names))
