"""Vision Transformer (Dosovitskiy et al. 2020) for images of any height and width."""

import torch
from einops import rearrange, repeat
from jaxtyping import Float
from torch import Tensor, nn

from vit_str.models.blocks import EncoderBlock
from vit_str.models.convolutions import stage
from vit_str.models.interfaces import Encoder
from vit_str.models.positions import (
    LearnedPositions,
    position_embedding,
    sinusoidal_positions_2d,
)


class FineRows(nn.Module):
    """Blocks over twice as many rows of tokens, each pair of which becomes one row behind them.

    Letters keep their parts above each other apart for a while, at a fraction of what it costs to
    have so many tokens in all blocks (as in the stages of Du et al. 2022, SVTR).

    Args:
        dim: width of a token.
        depth: number of blocks.
        heads: attention heads per block.
        grid: rows and columns behind the blocks.
        mlp_ratio: hidden width of the feed-forward over ``dim``.
        dropout: share of block outputs dropped in training.
    """

    def __init__(
        self,
        dim: int,
        depth: int,
        heads: int,
        grid: tuple[int, int],
        mlp_ratio: float,
        dropout: float,
    ) -> None:
        super().__init__()
        self.grid = 2 * grid[0], grid[1]
        waves = sinusoidal_positions_2d(*self.grid, dim)
        self.embed_positions = LearnedPositions(len(waves), dim, start=waves)
        self.blocks = nn.ModuleList(
            EncoderBlock(dim, heads, mlp_ratio, dropout) for _ in range(depth)
        )
        self.merge = nn.Linear(2 * dim, dim)

    def forward(
        self, x: Float[Tensor, "batch fine_token dim"]
    ) -> Float[Tensor, "batch token dim"]:
        """Embedded patches, in reading order, to half as many tokens."""
        x = self.embed_positions(x)
        for block in self.blocks:
            x = block(x)
        pairs = rearrange(
            x, "b (row two col) d -> b (row col) (two d)", two=2, col=self.grid[1]
        )
        return self.merge(pairs)


class VisionTransformer(Encoder):
    """Cuts an image into patches and lets every patch attend to every other.

    Sizes of images and patches are (height, width), in pixels.

    Args:
        dim: width of a token.
        depth: number of blocks.
        heads: attention heads per block.
        image_size: what it reads.
        patch_size: must divide ``image_size``.
        mlp_ratio: hidden width of the feed-forward over ``dim``.
        positions: ``learned`` (started from sinusoids) or ``sinusoidal`` (fixed).
        class_token: put a token before the patches that stands for the image.
        registers: number of spare tokens before the patches (Darcet et al. 2023).
        dropout: share of block outputs dropped in training.
        stem_widths: channels of convolutional stages before the patches are cut, each of which
            halves the image (Xiao et al. 2021); without any, patches are cut from the pixels.
        stem_depths: residual blocks of every stage.
        fine_depth: further blocks, before the others, over patches half as high: see `FineRows`.

    Raises:
        ValueError: patches do not divide the image evenly, or cannot be halved.
    """

    def __init__(
        self,
        dim: int = 192,
        depth: int = 12,
        heads: int = 3,
        image_size: tuple[int, int] = (32, 128),
        patch_size: tuple[int, int] = (4, 8),
        mlp_ratio: float = 4.0,
        positions: str = "learned",
        class_token: bool = False,
        registers: int = 0,
        dropout: float = 0.0,
        stem_widths: tuple[int, ...] = (),
        stem_depths: tuple[int, ...] = (),
        *,
        fine_depth: int = 0,
    ) -> None:
        super().__init__()
        if image_size[0] % patch_size[0] or image_size[1] % patch_size[1]:
            raise ValueError(
                f"patch_size {patch_size} must divide image_size {image_size}"
            )
        if fine_depth and patch_size[0] % 2:
            raise ValueError(
                f"with fine_depth, 2 must divide the height of patch_size {patch_size}"
            )
        self.dim = dim
        self.depth = depth
        self.heads = heads
        self.image_size = image_size
        self.patch_size = patch_size
        self.mlp_ratio = mlp_ratio
        self.dropout = dropout
        self.positions = positions
        self.class_token = class_token
        self.registers = registers
        self.grid = image_size[0] // patch_size[0], image_size[1] // patch_size[1]
        self.special_tokens = int(class_token) + registers

        self.stem_widths = stem_widths
        self.stem_depths = stem_depths
        self.fine_depth = fine_depth
        cut = patch_size[0] // (2 if fine_depth else 1), patch_size[1]
        self.stem, self._cut = convolutional_stem(stem_widths, stem_depths, cut)
        channels = stem_widths[-1] if stem_widths else 3
        self.embed_patches = nn.Linear(channels * self._cut[0] * self._cut[1], dim)
        self.fine = (
            FineRows(dim, fine_depth, heads, self.grid, mlp_ratio, dropout)
            if fine_depth
            else None
        )
        self.embed_positions = position_embedding(
            positions, sinusoidal_positions_2d(*self.grid, dim)
        )
        self.special = nn.Parameter(torch.randn(self.special_tokens, dim) * 0.02)
        self.blocks = nn.ModuleList(
            EncoderBlock(dim, heads, mlp_ratio, dropout) for _ in range(depth)
        )
        self.norm = nn.LayerNorm(dim)

    def patches(
        self, images: Float[Tensor, "batch channel height width"]
    ) -> Float[Tensor, "batch token value"]:
        """The pixels of every patch, or what the stem made of them, patches in reading order."""
        self.check_size(images)
        maps = self.stem(images.contiguous(memory_format=torch.channels_last))
        height, width = self._cut
        return rearrange(
            maps,
            "b c (row h) (col w) -> b (row col) (h w c)",
            h=height,
            w=width,
        )

    @property
    def layer_modules(self) -> list[nn.Module]:
        """See `Encoder`; blocks of `FineRows`, whose grid is another, are not among them."""
        return list(self.blocks)

    def forward(
        self, images: Float[Tensor, "batch channel height width"]
    ) -> Float[Tensor, "batch token dim"]:
        """Features of the special tokens, if any, then of every patch."""
        x = self.embed_patches(self.patches(images))
        if self.fine is not None:
            x = self.fine(x)
        x = self.embed_positions(x)
        if self.special_tokens:
            x = torch.cat([repeat(self.special, "s d -> b s d", b=x.shape[0]), x], 1)
        for block in self.blocks:
            x = block(x)
        return self.norm(x)


def convolutional_stem(
    widths: tuple[int, ...], depths: tuple[int, ...], patch_size: tuple[int, int]
) -> tuple[nn.Sequential, tuple[int, int]]:
    """Convolutional stages before patches are cut, and the size of a patch after them.

    Raises:
        ValueError: for other numbers of widths and depths, or patches that it does not divide.
    """
    shrinking = 2 ** len(widths)
    if len(depths) != len(widths) or any(size % shrinking for size in patch_size):
        raise ValueError(
            f"a stem of widths {widths} needs as many depths, found {depths}, and a "
            f"patch_size that {shrinking} divides, found {patch_size}"
        )
    stages = (
        stage(before, width, depth, (2, 2), reach=1)
        for before, width, depth in zip((3, *widths), widths, depths, strict=False)
    )
    return nn.Sequential(*stages), (
        patch_size[0] // shrinking,
        patch_size[1] // shrinking,
    )
