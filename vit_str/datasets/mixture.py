"""Several data sets as one endless stream, in fixed shares."""

from collections.abc import Sequence
from fractions import Fraction
from math import isfinite, lcm

from vit_str.datasets.source import LabeledWord, Skipped, WordSource
from vit_str.seeds import shuffled

_BLOCK = 1024  # words whose sources are drawn at once


class Mixture:
    """Words of several sources without end, any of them by its number.

    Which word has number n depends on n, the seed, the weights and the lengths of the sources
    only. So a stream can be divided over processes in any way, and resumed anywhere. Every
    source is read through, each of its words once, in an order of its own every round.

    The shares are exact: of the first N words, the number from a source differs from its share
    of N by less than the number of sources where N is a multiple of 1,024. In between, the
    order of the sources is shuffled too, so that a process that takes every second word does
    not take from every second source.

    Args:
        sources: where the words come from.
        weights: a number above 0 for each source, its share of the words; without any, every
            word of all sources is as frequent as every other.
        seed: of the order.

    Attributes:
        shares: of every source, adding up to 1.

    Raises:
        ValueError: a source holds no words, or a weight is not positive.
    """

    def __init__(
        self,
        sources: Sequence[WordSource],
        weights: Sequence[float] | None = None,
        seed: int = 0,
    ) -> None:
        for source in sources:
            if not len(source):
                raise ValueError(
                    f"{source.path} holds no words: leave it out of the mixture"
                )
        self.sources = list(sources)
        self.lengths = [len(source) for source in sources]
        self.seed = seed
        self._parts = _whole_numbers(
            self.lengths if weights is None else weights, len(sources)
        )
        self.shares = [part / sum(self._parts) for part in self._parts]

    def __getitem__(self, number: int) -> LabeledWord | Skipped:
        source, place = self.picks(number)
        return self.sources[source][place]

    def picks(self, number: int) -> tuple[int, int]:
        """Which source the word of a number comes from, and its place there.

        Raises:
            IndexError: for a number below 0.
        """
        if number < 0:
            raise IndexError(f"words are numbered from 0 on, not {number}")
        block, place = divmod(number, _BLOCK)
        slot = block * _BLOCK + shuffled(place, _BLOCK, self.seed, -1, block)
        source, turn = self._slot(slot)
        round_, place = divmod(turn, self.lengths[source])
        return source, shuffled(place, self.lengths[source], self.seed, source, round_)

    def _slot(self, slot: int) -> tuple[int, int]:
        """The source of a slot, and how many slots before it are of the same source.

        The first source takes the slots where its share of those so far passes a whole number;
        the others divide the rest in the same way.
        """
        left = sum(self._parts)
        for source, part in enumerate(self._parts):
            before = slot * part // left
            if (slot + 1) * part // left > before:
                return source, before
            slot = slot - before
            left = left - part
        raise AssertionError("the last source takes all that is left")


def _whole_numbers(weights: Sequence[float], sources: int) -> list[int]:
    """Whole numbers in the ratio of the weights, as their decimals say."""
    if not sources:
        raise ValueError("a mixture needs one source or more, found none")
    are_positive = all(isfinite(weight) and weight > 0 for weight in weights)
    if len(weights) != sources or not are_positive:
        raise ValueError(
            f"a mixture needs a weight above 0 for each of its {sources} sources, "
            f"found {list(weights)}"
        )
    exact = [Fraction(str(weight)) for weight in weights]
    scale = lcm(*(weight.denominator for weight in exact))
    return [int(weight * scale) for weight in exact]
