"""Text to text: the same Transformer with an encoder of characters (Vaswani et al. 2017)."""

import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from studies.training import Labels, Tokens
from vit_str.models.blocks import EncoderBlock
from vit_str.models.decoders.autoregressive import AutoregressiveDecoder
from vit_str.models.positions import FixedPositions, sinusoidal_positions
from vit_str.runtime.charset import PADDING


class TextTransformer(nn.Module):
    """Lets every character of a text attend to every other.

    A text is followed by the end, whose id is after those of the characters, up to
    ``maximum_length``, so that all have the same size, as images have: how it is read does not
    depend on the other texts of a batch.
    """

    def __init__(
        self, charset_size: int, dim: int, depth: int, heads: int, maximum_length: int
    ) -> None:
        super().__init__()
        self.maximum_length, self.end = maximum_length, charset_size
        self.embed_characters = nn.Embedding(charset_size + 1, dim)
        self.embed_positions = FixedPositions(sinusoidal_positions(maximum_length + 1, dim))
        self.blocks = nn.ModuleList(EncoderBlock(dim, heads, 4.0, 0.0) for _ in range(depth))
        self.norm = nn.LayerNorm(dim)

    def forward(self, labels: Labels) -> Tokens:
        """Features of the characters and of the ends that follow them."""
        missing = self.maximum_length + 1 - labels.shape[1]
        if missing < 1:
            raise ValueError(
                f"texts of up to {labels.shape[1]} characters, but maximum_length is "
                f"{self.maximum_length}; shorten them or raise it"
            )
        padded = F.pad(labels, (0, missing), value=PADDING)
        x = self.embed_positions(self.embed_characters(padded.where(padded != PADDING, self.end)))
        for block in self.blocks:
            x = block(x)
        return self.norm(x)


class Translator(nn.Module):
    """Writes one text for another."""

    def __init__(self, encoder: nn.Module, decoder: AutoregressiveDecoder) -> None:
        super().__init__()
        self.encoder, self.decoder = encoder, decoder

    def loss(self, sources: Labels, labels: Labels) -> Float[Tensor, ""]:
        """The decoder's loss on texts and their translations (teacher forcing)."""
        return self.decoder.loss(self.encoder(sources), labels)
