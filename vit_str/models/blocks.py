"""Pre-norm Transformer blocks (Xiong et al. 2020): every sub-layer is x + f(norm(x))."""

from jaxtyping import Float
from torch import Tensor, nn

from vit_str.models.attention import KeysValues, Mask, MultiHeadAttention


class FeedForward(nn.Sequential):
    """Two layers with a GELU between, token by token."""

    def __init__(self, dim: int, mlp_ratio: float) -> None:
        hidden = int(dim * mlp_ratio)
        super().__init__(nn.Linear(dim, hidden), nn.GELU(), nn.Linear(hidden, dim))


class EncoderBlock(nn.Module):
    """Self-attention, then feed-forward."""

    def __init__(self, dim: int, heads: int, mlp_ratio: float, dropout: float) -> None:
        super().__init__()
        self.attention_norm = nn.LayerNorm(dim)
        self.attention = MultiHeadAttention(dim, heads)
        self.feed_forward_norm = nn.LayerNorm(dim)
        self.feed_forward = FeedForward(dim, mlp_ratio)
        self.dropout = nn.Dropout(dropout)

    def forward(
        self,
        x: Float[Tensor, "batch token dim"],
    ) -> Float[Tensor, "batch token dim"]:
        """Each part is added to what it was given, normalized before (pre-norm)."""
        x = x + self.dropout(self.attention(self.attention_norm(x)))
        return x + self.dropout(self.feed_forward(self.feed_forward_norm(x)))


class DecoderBlock(nn.Module):
    """Masked self-attention, cross-attention to the image, then feed-forward."""

    def __init__(self, dim: int, heads: int, mlp_ratio: float, dropout: float) -> None:
        super().__init__()
        self.self_attention_norm = nn.LayerNorm(dim)
        self.self_attention = MultiHeadAttention(dim, heads)
        self.cross_attention_norm = nn.LayerNorm(dim)
        self.cross_attention = MultiHeadAttention(dim, heads)
        self.feed_forward_norm = nn.LayerNorm(dim)
        self.feed_forward = FeedForward(dim, mlp_ratio)
        self.dropout = nn.Dropout(dropout)

    def project_past(self, x: Float[Tensor, "batch position dim"]) -> KeysValues:
        """Self-attention keys and values of new positions, for a cache."""
        return self.self_attention.project_keys_values(self.self_attention_norm(x))

    def forward(
        self,
        x: Float[Tensor, "batch position dim"],
        image: KeysValues,
        past: KeysValues | None = None,
        mask: Mask | None = None,
    ) -> Float[Tensor, "batch position dim"]:
        """One block over the positions of ``x``.

        Args:
            x: the positions to compute.
            image: keys and values of the image, from ``cross_attention.project_keys_values``.
            past: keys and values of all positions up to ``x`` and with it, from a cache; without
                it, the positions of ``x`` attend to each other under ``mask``.
            mask: which positions may be attended to.
        """
        attended = self.self_attention(self.self_attention_norm(x), past, mask)
        x = x + self.dropout(attended)
        x = x + self.dropout(self.cross_attention(self.cross_attention_norm(x), image))
        return x + self.dropout(self.feed_forward(self.feed_forward_norm(x)))
