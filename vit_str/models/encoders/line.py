"""A Vision Transformer over a line of text of any width."""

import torch
import torch.nn.functional as F
from einops import rearrange
from jaxtyping import Float
from torch import Tensor, nn

from vit_str.models.blocks import EncoderBlock
from vit_str.models.encoders.vit import convolutional_stem
from vit_str.models.interfaces import Encoder

_OUTPUTS = 2
"""Features of a column of tokens: a narrow letter and the blank beside it need one each."""


class LineTransformer(Encoder):
    """Reads lines of one height and any width, every part of them in the light of the whole line.

    Columns have no positions: what a letter is does not depend on where in the line it stands, so a
    line may be longer than all those of the training. A depthwise convolution before every block
    tells tokens their neighbors.

    Sizes of images and patches are (height, width), in pixels.

    Args:
        dim: width of a token.
        depth: number of blocks.
        heads: attention heads per block.
        image_size: the height, and the largest width.
        patch_size: must divide ``image_size``.
        mlp_ratio: hidden width of the feed-forward over ``dim``.
        window: columns of tokens that a convolution sees, an odd number.
        dropout: share of block outputs dropped in training.
        stem_widths: as for `VisionTransformer`.
        stem_depths: as for `VisionTransformer`.
    """

    width_step = 32

    def __init__(
        self,
        dim: int = 256,
        depth: int = 4,
        heads: int = 4,
        image_size: tuple[int, int] = (32, 1600),
        patch_size: tuple[int, int] = (32, 4),
        mlp_ratio: float = 4.0,
        window: int = 7,
        dropout: float = 0.0,
        stem_widths: tuple[int, ...] = (48, 96),
        stem_depths: tuple[int, ...] = (1, 1),
    ) -> None:
        super().__init__()
        self.dim = dim
        self.depth = depth
        self.heads = heads
        self.image_size = image_size
        self.patch_size = patch_size
        self.mlp_ratio = mlp_ratio
        self.window = window
        self.dropout = dropout
        self.stem_widths = stem_widths
        self.stem_depths = stem_depths
        rows = image_size[0] // patch_size[0]
        columns = image_size[1] // patch_size[1]
        self.grid = 1, columns * _OUTPUTS

        self.stem, self._cut = convolutional_stem(stem_widths, stem_depths, patch_size)
        channels = stem_widths[-1] if stem_widths else 3
        self.embed_patches = nn.Linear(channels * self._cut[0] * self._cut[1], dim)
        self.embed_rows = nn.Parameter(torch.randn(rows, 1, dim) * 0.02)
        self.neighbors = nn.ModuleList(_neighbors(dim, window) for _ in range(depth))
        self.blocks = nn.ModuleList(
            EncoderBlock(dim, heads, mlp_ratio, dropout) for _ in range(depth)
        )
        self.norm = nn.LayerNorm(dim)
        self.join_rows = nn.Linear(rows * dim, _OUTPUTS * dim)

    @property
    def layer_modules(self) -> list[nn.Module]:
        """See `Encoder`."""
        return list(self.blocks)

    @property
    def attention_grid(self) -> tuple[int, int]:
        """Rows and columns of patches, of which each column gives two features."""
        return len(self.embed_rows), self.grid[1] // _OUTPUTS

    def check_size(self, images: Float[Tensor, "batch channel height width"]) -> None:
        """Raise a ValueError for another height, or a width that it does not read."""
        (height, widest) = self.image_size
        step = self.width_step
        rows, columns = images.shape[-2:]
        if rows != height or columns % step or columns > widest:
            raise ValueError(
                f"this encoder reads lines of height {height} and of a width up to "
                f"{widest} that {step} divides, found {(rows, columns)} (height, "
                "width); resize them first"
            )

    def forward(
        self, images: Float[Tensor, "batch channel height width"]
    ) -> Float[Tensor, "batch token dim"]:
        """Features of every half column of patches, from left to right."""
        self.check_size(images)
        height, width = self._cut
        maps = self.stem(images.contiguous(memory_format=torch.channels_last))
        patches = rearrange(
            maps,
            "b c (row h) (col w) -> b row col (h w c)",
            h=height,
            w=width,
        )
        tokens = self.embed_patches(patches) + self.embed_rows
        rows = tokens.shape[1]
        x = rearrange(tokens, "b row col d -> b (row col) d")
        for neighbors, block in zip(self.neighbors, self.blocks, strict=True):
            seen = neighbors(rearrange(x, "b (row col) d -> (b row) d col", row=rows))
            x = block(x + rearrange(seen, "(b row) d col -> b (row col) d", row=rows))
        activated = F.gelu(self.norm(x))
        columns_of_rows = rearrange(
            activated,
            "b (row col) d -> b col (row d)",
            row=rows,
        )
        joined = self.join_rows(columns_of_rows)
        return rearrange(joined, "b col (n d) -> b (col n) d", n=_OUTPUTS)


def _neighbors(dim: int, window: int) -> nn.Conv1d:
    """A depthwise convolution along the columns that starts as nothing."""
    convolution = nn.Conv1d(dim, dim, window, padding=window // 2, groups=dim)
    nn.init.zeros_(convolution.weight)
    assert convolution.bias is not None
    nn.init.zeros_(convolution.bias)
    return convolution
