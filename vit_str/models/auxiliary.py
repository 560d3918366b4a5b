"""Auxiliary loss of the encoder, in training only: characters under tokens."""

import torch.nn.functional as F
from einops import rearrange
from jaxtyping import Float, Int64
from torch import Tensor, nn

from vit_str.characters.charset import PADDING

UNKNOWN = -2
"""In the place of the character under a token that is not known."""


class TokenClassifier(nn.Module):
    """Names the character under the center of every token, or none.

    A decoder learns the language of the labels long before it looks at the picture. The renderer
    knows where every character is; asking the encoder for it gives every token a gradient of its
    own from the first step.

    Args:
        dim: width of a token.
        charset_size: number of characters; the class after them is "none".
    """

    def __init__(self, dim: int, charset_size: int) -> None:
        super().__init__()
        self.none = charset_size
        self.classify = nn.Linear(dim, charset_size + 1)

    def loss(
        self,
        features: Float[Tensor, "batch token dim"],
        characters: Int64[Tensor, "batch token"],
    ) -> Float[Tensor, ""]:
        """Mean cross-entropy per token, in nats.

        ``PADDING`` in ``characters`` means none; tokens that are ``UNKNOWN`` do not count, and
        without any other the loss is 0.
        """
        scores = rearrange(
            self.classify(features), "b token symbol -> (b token) symbol"
        )
        targets = characters.where(characters != PADDING, self.none).flatten()
        total = F.cross_entropy(
            scores.float(),
            targets,
            ignore_index=UNKNOWN,
            reduction="sum",
        )
        return total / (targets != UNKNOWN).sum().clamp(min=1)
