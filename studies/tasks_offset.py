"""Naming the token so many places away: memory for what has been, or sight of what will be."""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from studies.tasks_tokens import Examples

SYMBOLS = 4
"""Guessing is right once in as many times."""


class TokenAhead:
    """Which symbol stands so many places to the right (to the left if below zero)?

    Args:
        offset: how many.
        length: of a sequence; where there is no such place nothing is asked.
    """

    symbols = SYMBOLS
    input_sizes: tuple[int, ...] = (SYMBOLS,)
    answers = 1

    def __init__(self, offset: int, length: int) -> None:
        if abs(offset) >= length:
            raise ValueError(f"an offset of {offset} leaves a sequence of {length} tokens")
        self.offset, self.length = offset, length

    def draw(self, batch: int, generator: torch.Generator) -> Examples:
        """Independent symbols, so that none can be guessed from others."""
        said = torch.randint(self.symbols, (batch, self.length, 1), generator=generator)
        return Examples(said, asked(said, -self.offset))


def asked(tokens: Tensor, offset: int) -> Tensor:
    """The tokens that have a token ``offset`` places to their right."""
    length = tokens.shape[1]
    return tokens[:, max(-offset, 0) : length - max(offset, 0)]


class Tagger(nn.Module):
    """The features of the tokens at which something is asked.

    Args:
        network: recurrent, or from tokens to tokens.
        offset: of `TokenAhead`.
    """

    def __init__(self, network: nn.Module, offset: int) -> None:
        super().__init__()
        self.network, self.offset = network, offset

    def forward(self, x: Float[Tensor, "batch token dim"]) -> Float[Tensor, "batch asked dim"]:
        features = self.network(x)
        return asked(features[0] if isinstance(features, tuple) else features, self.offset)
