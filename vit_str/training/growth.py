"""A deeper network that begins as the shallower one that it grows from, and computes the same.

A fresh block whose last layers are zero adds nothing to what it is given, and learns from the first
step on (Chen et al. 2016, Net2Net; Wu et al. 2024, LLaMA Pro): the gradient reaches the zero layers
first, and those before them as soon as these are no longer zero.

* Old blocks are spread over the depth, each followed by fresh ones: every old block then stays at
  its share of the depth, and what comes after it learns with features of that share. So do those
  of LLaMA Pro, which found all fresh blocks in front of the old ones, or behind them, to be worse.
* Fresh blocks keep their random start in all other layers. LLaMA Pro copies the block before, but
  never twice: two copies behind each other, which add nothing, would have the same gradients.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from vit_str.models import Recognizer
from vit_str.models.attention import MultiHeadAttention
from vit_str.models.blocks import FeedForward

# Lists of modules with one for each block of the encoder or the decoder
_BY_BLOCK = re.compile(r"(encoder|decoder)\.(blocks|neighbors)\.(\d+)\.(.+)")


@dataclass(frozen=True, slots=True)
class Growth:
    """How many blocks a part of a model has, and how many it grows from.

    Attributes:
        part: ``encoder`` or ``decoder``.
        before: blocks of the weights.
        after: blocks of the model, more than before.
    """

    part: str
    before: int
    after: int

    @property
    def places(self) -> list[int]:
        """Where each old block stands among all."""
        return [number * self.after // self.before for number in range(self.before)]

    @property
    def fresh(self) -> list[int]:
        """Where the new blocks stand."""
        return sorted(set(range(self.after)) - set(self.places))

    def __str__(self) -> str:
        new = self.after - self.before
        start = "one starts" if new == 1 else "ones start"
        return (
            f"{self.part} grown from {self.before} to {self.after} blocks: {new} new "
            f"{start} as identity"
        )


def growth_of(recognizer: Recognizer, given: Recognizer) -> list[Growth]:
    """The parts of a model that have more blocks than those of the weights, which have some."""
    found = []
    for part in ("encoder", "decoder"):
        before = len(_blocks(given, part))
        after = len(_blocks(recognizer, part))
        if 0 < before < after:
            found.append(Growth(part, before, after))
    return found


def spread_blocks(
    tensors: Mapping[str, Tensor], growths: list[Growth]
) -> dict[str, Tensor]:
    """Weights under the names that they have in the grown model."""
    places = {growth.part: growth.places for growth in growths}
    spread = {}
    for name, tensor in tensors.items():
        found = _BY_BLOCK.fullmatch(name)
        if found and found[1] in places:
            part, modules, number, rest = found.groups()
            name = f"{part}.{modules}.{places[part][int(number)]}.{rest}"
        spread[name] = tensor
    return spread


def is_new(name: str, growths: list[Growth]) -> bool:
    """Whether a tensor of a grown model belongs to a new block."""
    found = _BY_BLOCK.fullmatch(name)
    if found is None:
        return False
    part, _, number, _ = found.groups()
    return any(
        growth.part == part and int(number) in growth.fresh for growth in growths
    )


@torch.no_grad()
def start_as_identity(recognizer: Recognizer, growths: list[Growth]) -> None:
    """Make the new blocks of a model add nothing."""
    for growth in growths:
        blocks = _blocks(recognizer, growth.part)
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


def _blocks(recognizer: Recognizer, part: str) -> nn.ModuleList:
    """The blocks of the encoder or the decoder, if it is made of blocks."""
    blocks = getattr(recognizer.get_submodule(part), "blocks", None)
    return blocks if isinstance(blocks, nn.ModuleList) else nn.ModuleList()
