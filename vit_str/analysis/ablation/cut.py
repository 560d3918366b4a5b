"""Cut heads: put something else in the place of what they put out, before the projection."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any, NamedTuple

import torch
from jaxtyping import Float, Float64
from torch import Tensor, nn

from vit_str.models import Encoder
from vit_str.models.attention import attention_modules, forward_hooks

WAYS = {
    "mean": "the mean over all words of what it puts out at that token",
    "zero": "zero",
    "resample": "what it puts out for another word",
    "noise": "normal noise of the mean and deviation that it has at that token over all words",
}
"""What a cut head puts out instead."""

# Words whose outputs are kept to resample from: more take memory and say no more
_POOL = 256

Fill = Callable[[int, Sequence[int], Tensor], Tensor]
"""Layer (from 1), heads of it (from 0), what all heads put out -> what these put out instead."""


class Head(NamedTuple):
    """A head of the encoder; layer and head count from 1."""

    layer: int
    head: int


def zeros(_layer: int, heads: Sequence[int], output: Tensor) -> Tensor:
    """Nothing: what heads never put out in training."""
    return torch.zeros_like(output[:, heads])


@contextmanager
def without_heads(
    encoder: Encoder,
    heads: Iterable[Head],
    fill: Fill = zeros,
) -> Iterator[None]:
    """Set the output of heads to that of ``fill`` inside the ``with``."""
    layers = list(attention_modules(encoder).values())
    cut = defaultdict(list)
    for layer, head in heads:
        cut[layer].append(head - 1)
    with ExitStack() as hooks:
        for layer, of_layer in cut.items():
            filled = partial(fill, layer, of_layer)
            hook = partial(_replace, filled, of_layer)
            handle = layers[layer - 1].register_forward_hook(hook)
            hooks.enter_context(handle)
        yield


def _replace(
    filled: Callable[[Tensor], Tensor],
    heads: Sequence[int],
    _: nn.Module,
    __: Any,
    output: Float[Tensor, "batch head query dim"],
) -> Tensor:
    replaced = output.clone()
    replaced[:, heads] = filled(output)
    return replaced


class HeadOutputs:
    """What the heads of an encoder put out when none is cut: of this other outputs are made.

    Args:
        encoder: of this project.
        seed: of noise and of the words to resample from.
    """

    def __init__(self, encoder: Encoder, seed: int = 0) -> None:
        self._modules = attention_modules(encoder)
        self._layers = {name: layer for layer, name in enumerate(self._modules, 1)}
        self._seed = seed
        self._words: dict[int, int] = defaultdict(int)
        self._sums: dict[int, Tensor] = {}
        self._squares: dict[int, Tensor] = {}
        self._pool: dict[int, Tensor] = {}

    @contextmanager
    def recorded(self) -> Iterator[None]:
        """Add the words that the encoder sees inside the ``with``."""
        with forward_hooks(self._modules, self._add):
            yield

    def fill(self, by: str, first: int) -> Fill:
        """What heads put out instead, for a batch that begins with word number ``first``.

        Raises:
            ValueError: an unknown way, or resampling with a single word.
        """
        if by not in WAYS:
            raise ValueError(
                f"unknown way {by!r} to cut heads; known are {', '.join(WAYS)}"
            )
        if by == "resample" and min(map(len, self._pool.values())) < 2:
            raise ValueError("resample takes from other words: give two or more")
        ways: dict[str, Fill] = {
            "zero": zeros,
            "mean": self._mean,
            "resample": partial(self._resampled, first),
            "noise": partial(self._noise, first),
        }
        return ways[by]

    def _add(self, name: str, _inputs: Any, _named: Any, output: Tensor) -> None:
        layer = self._layers[name]
        output = output.detach().cpu()
        sums = output.double().sum(0)
        squares = output.double().square().sum(0)
        self._words[layer] += len(output)
        self._sums[layer] = self._sums.get(layer, 0) + sums
        self._squares[layer] = self._squares.get(layer, 0) + squares
        kept = self._pool.get(layer, output[:0])
        self._pool[layer] = torch.cat([kept, output[: _POOL - len(kept)]])

    def _means(self, layer: int) -> Float64[Tensor, "head query dim"]:
        return self._sums[layer] / self._words[layer]

    def _mean(self, layer: int, heads: Sequence[int], output: Tensor) -> Tensor:
        means = self._means(layer)[heads].to(output)
        return means.expand(len(output), *means.shape)

    def _noise(
        self,
        first: int,
        layer: int,
        heads: Sequence[int],
        output: Tensor,
    ) -> Tensor:
        squares = self._squares[layer] / self._words[layer]
        variances = (squares - self._means(layer).square()).clamp(min=0)
        deviations = variances.sqrt()[heads].to(output)
        # The same for every cut: of all heads of the layer, then those that are cut.
        seed = hash((self._seed, first, layer))
        generator = torch.Generator().manual_seed(seed)
        noise = torch.randn(output.shape, generator=generator)
        of_heads = noise[:, heads].to(output)
        return self._mean(layer, heads, output) + of_heads * deviations

    def _resampled(
        self,
        first: int,
        layer: int,
        heads: Sequence[int],
        output: Tensor,
    ) -> Tensor:
        pool = self._pool[layer]
        generator = torch.Generator().manual_seed(self._seed)
        step = int(torch.randint(1, len(pool), (), generator=generator))
        words = torch.arange(first, first + len(output))
        others = pool[(words + step) % len(pool)]
        return others[:, heads].to(output)
