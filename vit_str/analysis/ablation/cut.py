"""Cut heads: put something else in the place of what they put out, before the projection."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial

import torch
from jaxtyping import Float64
from torch import Tensor

from vit_str.analysis.ablation.calls import AttentionCall, Head, intercepted
from vit_str.analysis.ablation.equal_distance import shuffled_at_equal_distance
from vit_str.analysis.geometry import TokenGrid, windows_of
from vit_str.analysis.probe import map_of
from vit_str.models import Encoder

WAYS = {
    "mean": "the mean over all words of what it puts out at that token",
    "zero": "zero",
    "resample": "what it puts out for another word",
    "noise": "normal noise of the mean and deviation that it has at that token over all words",
    "equal-distance": "what it would put out if it looked just as far and as sharply, but at other "
    "tokens: random ones of the same distance",
}
"""Names of the outputs in place of that of a cut head."""

# Words whose outputs are kept to resample from: more take memory and say no more
_POOL = 256

Fill = Callable[[int, Sequence[int], AttentionCall], Tensor]
"""Layer (from 1), heads of it (from 0), what all heads take and put out -> what these put out
instead."""


def zeros(_layer: int, heads: Sequence[int], call: AttentionCall) -> Tensor:
    """Nothing: what heads never put out in training."""
    return torch.zeros_like(call.output[:, heads])


@contextmanager
def without_heads(
    encoder: Encoder,
    heads: Iterable[Head],
    fill: Fill = zeros,
) -> Iterator[None]:
    """Set the output of heads to that of ``fill`` inside the ``with``."""
    cut = defaultdict(list)
    for layer, head in heads:
        cut[layer].append(head - 1)

    def replaced(layer: int, call: AttentionCall) -> Tensor | None:
        if layer not in cut:
            return None
        output = call.output.clone()
        output[:, cut[layer]] = fill(layer, cut[layer], call)
        return output

    with intercepted(encoder, replaced):
        yield


class HeadOutputs:
    """Outputs of the heads of an encoder when none is cut, of which replacements are made.

    Args:
        encoder: whose tokens all attend to each other.
        seed: of noise, of the words to resample from, and of random places.
    """

    def __init__(self, encoder: Encoder, seed: int = 0) -> None:
        self._encoder = encoder
        self._seed = seed
        self._words: dict[int, int] = defaultdict(int)
        self._sums: dict[int, Tensor] = {}
        self._squares: dict[int, Tensor] = {}
        self._pool: dict[int, Tensor] = {}

    @contextmanager
    def recorded(self) -> Iterator[None]:
        """Add the words that the encoder sees inside the ``with``."""
        with intercepted(self._encoder, self._add):
            yield

    def fill(self, by: str, first: int) -> Fill:
        """Replacements of outputs of heads, for a batch that begins with word number ``first``.

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
            "equal-distance": partial(self._at_equal_distance, first),
        }
        return ways[by]

    def _add(self, layer: int, call: AttentionCall) -> None:
        output = call.output.detach().cpu()
        sums = output.double().sum(0)
        squares = output.double().square().sum(0)
        self._words[layer] += len(output)
        self._sums[layer] = self._sums.get(layer, 0) + sums
        self._squares[layer] = self._squares.get(layer, 0) + squares
        kept = self._pool.get(layer, output[:0])
        self._pool[layer] = torch.cat([kept, output[: _POOL - len(kept)]])

    def _means(self, layer: int) -> Float64[Tensor, "head query dim"]:
        return self._sums[layer] / self._words[layer]

    def _mean(self, layer: int, heads: Sequence[int], call: AttentionCall) -> Tensor:
        means = self._means(layer)[heads].to(call.output)
        return means.expand(len(call.output), *means.shape)

    def _noise(
        self,
        first: int,
        layer: int,
        heads: Sequence[int],
        call: AttentionCall,
    ) -> Tensor:
        output = call.output
        squares = self._squares[layer] / self._words[layer]
        variances = (squares - self._means(layer).square()).clamp(min=0)
        deviations = variances.sqrt()[heads].to(output)
        # The same for every cut: of all heads of the layer, then those that are cut.
        generator = self._generator(first, layer)
        noise = torch.randn(output.shape, generator=generator)
        of_heads = noise[:, heads].to(output)
        return self._mean(layer, heads, call) + of_heads * deviations

    def _resampled(
        self,
        first: int,
        layer: int,
        heads: Sequence[int],
        call: AttentionCall,
    ) -> Tensor:
        output = call.output
        pool = self._pool[layer]
        generator = torch.Generator().manual_seed(self._seed)
        step = int(torch.randint(1, len(pool), (), generator=generator))
        words = torch.arange(first, first + len(output))
        others = pool[(words + step) % len(pool)]
        return others[:, heads].to(output)

    def _at_equal_distance(
        self,
        first: int,
        layer: int,
        heads: Sequence[int],
        call: AttentionCall,
    ) -> Tensor:
        chosen = list(heads)
        mask = call.mask
        if mask is not None:
            mask = mask.expand(*call.queries.shape[:-1], call.keys.shape[-2])[:, chosen]
        maps = map_of(call.queries[:, chosen], call.keys[:, chosen], mask)
        # The same for every cut: of all heads of the layer, then those that are cut
        shape = (*call.queries.shape[:-1], call.keys.shape[-2])
        random = torch.rand(shape, generator=self._generator(first, layer))
        others = shuffled_at_equal_distance(
            maps, self._grid_of(layer), random[:, chosen]
        )
        values = call.values[:, chosen]
        return (others.to(values) @ values).to(call.output)

    def _grid_of(self, layer: int) -> TokenGrid:
        windows = list(windows_of(self._encoder).values())
        return windows[layer - 1].grid if windows else TokenGrid.of(self._encoder)

    def _generator(self, first: int, layer: int) -> torch.Generator:
        """The same for every cut of a batch, that begins with word ``first``, in a layer."""
        return torch.Generator().manual_seed(hash((self._seed, first, layer)))
