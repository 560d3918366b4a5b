"""Where the words of a text line lie: a small convolutional stem, then attention over columns."""

import torch.nn.functional as F
from einops import rearrange
from jaxtyping import Float
from torch import Tensor, nn

from vit_str.models.blocks import EncoderBlock
from vit_str.models.convolutions import stage

HEIGHT = 32
"""Rows of a line, in pixels."""
STRIDE = 2
"""Columns of a line, in pixels, that one output is for."""
_TOKEN_WIDTH = 4
_OUTPUTS = 3


class WordSplitter(nn.Module):
    """For every two columns of a line: do they belong to a word, and where is its top and bottom?

    Lines have 32 rows and any number of columns that 4 divides. Tokens have no positions of their
    own: what a gap between words is depends on the letters around it and on the other gaps.

    Args:
        dim: width of a token.
        depth: number of attention blocks.
        heads: attention heads per block.
        widths: channels of the three stages of the stem.
    """

    def __init__(
        self,
        dim: int = 96,
        depth: int = 3,
        heads: int = 4,
        widths: tuple[int, int, int] = (16, 32, 64),
    ) -> None:
        super().__init__()
        self.dim, self.depth, self.heads, self.widths = dim, depth, heads, widths
        strides = (2, 2), (2, 2), (2, 1)
        self.stem = nn.Sequential(
            *(
                stage(before, width, 1, stride, reach=1)
                for before, width, stride in zip((3, *widths), widths, strides, strict=False)
            )
        )
        self.embed_columns = nn.Linear(widths[-1] * HEIGHT // 8, dim)
        # Attention alone would not know which columns are neighbors.
        self.neighbors = nn.ModuleList(
            nn.Conv1d(dim, dim, 7, padding=3, groups=dim) for _ in range(depth)
        )
        self.blocks = nn.ModuleList(EncoderBlock(dim, heads, 4.0, 0.0) for _ in range(depth))
        self.norm = nn.LayerNorm(dim)
        self.to_columns = nn.Linear(dim, _OUTPUTS * _TOKEN_WIDTH // STRIDE)

    def forward(
        self, lines: Float[Tensor, "batch 3 height width"]
    ) -> Float[Tensor, "batch 3 column"]:
        """Logit of "in a word"; top and bottom of that word over the height of the line."""
        x = self.embed_columns(rearrange(self.stem(lines), "b c row col -> b col (row c)"))
        for neighbors, block in zip(self.neighbors, self.blocks, strict=True):
            x = x + rearrange(neighbors(rearrange(x, "b col d -> b d col")), "b d col -> b col d")
            x = block(x)
        columns = self.to_columns(F.gelu(self.norm(x)))
        return rearrange(columns, "b col (out n) -> b out (col n)", out=_OUTPUTS)
