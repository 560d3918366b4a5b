"""An encoder that looks and a decoder that writes."""

from jaxtyping import Float, Int64
from torch import Tensor, nn

from vit_str.models.interfaces import Decoder, Encoder


class Recognizer(nn.Module):
    """Reads the text in images.

    Args:
        encoder: images -> features.
        decoder: features -> labels.

    Raises:
        ValueError: encoder and decoder differ in width, or the decoder needs columns, more tokens
            than the encoder has, or another grid.
    """

    def __init__(self, encoder: Encoder, decoder: Decoder) -> None:
        super().__init__()
        if encoder.dim != decoder.dim:
            raise ValueError(
                f"encoder.dim {encoder.dim} and decoder.dim {decoder.dim} must be equal"
            )
        rows, columns = encoder.grid
        if decoder.reads_columns and rows > 1:
            raise ValueError(
                f"{type(decoder).__name__} reads columns, but the encoder has {rows} "
                "rows of tokens: put it into a ColumnEncoder or a RecurrentEncoder"
            )
        tokens = encoder.special_tokens + rows * columns
        if tokens < decoder.least_tokens:
            raise ValueError(
                f"{type(decoder).__name__} needs {decoder.least_tokens} tokens for "
                f"{decoder.maximum_length} characters, the encoder has {tokens}: lower "
                "decoder.maximum_length or take smaller patches"
            )
        if decoder.draft_grid and tuple(decoder.draft_grid) != tuple(encoder.grid):
            raise ValueError(
                f"decoder.draft_grid {decoder.draft_grid} must be the encoder's grid, "
                f"{encoder.grid}"
            )
        self.encoder = encoder
        self.decoder = decoder

    def encode(
        self, images: Float[Tensor, "batch channel height width"]
    ) -> Float[Tensor, "batch token dim"]:
        """Features of normalized images."""
        return self.encoder(images)

    def loss(
        self,
        images: Float[Tensor, "batch channel height width"],
        labels: Int64[Tensor, "batch position"],
    ) -> Float[Tensor, ""]:
        """The decoder's loss on labels padded with ``PADDING``."""
        return self.decoder.loss(self.encode(images), labels)
