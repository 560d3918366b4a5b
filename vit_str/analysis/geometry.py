"""Where the tokens of a grid lie in the image, how far apart, and what chance would look like.

Lengths are pixels of the model's input; images and patches of any height and width.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import torch
from einops import rearrange
from jaxtyping import Bool, Float, Float64
from torch import Tensor, nn

from vit_str.decoding import boxes
from vit_str.models.attention import ScaledDotProductAttention
from vit_str.models.interfaces import Encoder


@dataclass(frozen=True, slots=True)
class TokenGrid:
    """Tokens in rows and columns over an image."""

    rows: int  # of tokens
    columns: int  # of tokens
    patch_size: tuple[float, float]  # height and width of a token in pixels
    special_tokens: int = 0  # before those of the grid, without a position
    # Pixels by which the middles of tokens lie down and to the right of those of their cells: a
    # convolution with a stride takes its middle from the first token of each cell
    offset: tuple[float, float] = (0.0, 0.0)

    def __post_init__(self) -> None:
        if min(self.rows, self.columns) < 1 or min(self.patch_size) <= 0:
            raise ValueError(
                f"a grid has 1 x 1 tokens or more of some size, found {self.rows} x "
                f"{self.columns} tokens of {self.patch_size} pixels"
            )
        if self.special_tokens < 0:
            raise ValueError(
                f"special_tokens must be 0 or more, found {self.special_tokens}"
            )

    @classmethod
    def of(cls, encoder: Encoder) -> "TokenGrid":
        """The grid of an encoder of this project, or of a module with its attributes."""
        rows, columns = getattr(encoder, "attention_grid", encoder.grid)
        height, width = encoder.image_size
        patch_size = (height / rows, width / columns)
        return cls(rows, columns, patch_size, encoder.special_tokens)

    def __len__(self) -> int:
        return self.rows * self.columns

    def merged(self) -> "TokenGrid":
        """A grid of tokens that stand for two rows and two columns of tokens each.

        Raises:
            ValueError: for an odd number of rows or columns.
        """
        if self.rows % 2 or self.columns % 2:
            raise ValueError(
                f"{self.rows} x {self.columns} tokens cannot be merged two by two"
            )
        return self.pooled(2, 2)

    def pooled(self, rows: int, columns: int) -> "TokenGrid":
        """A grid of tokens that stand for so many whole rows and columns, as averages do.

        Rows and columns that are left over at the end belong to none of them.
        """
        height, width = self.patch_size
        return replace(
            self,
            rows=self.rows // rows,
            columns=self.columns // columns,
            patch_size=(rows * height, columns * width),
        )

    def strided(self, rows: int, columns: int) -> "TokenGrid":
        """A grid of every so many rows and columns, whose middles stay those of these tokens."""
        height, width = self.patch_size
        down, right = self.offset
        up = (rows - 1) / 2 * height
        left = (columns - 1) / 2 * width
        return replace(
            self,
            rows=-(-self.rows // rows),
            columns=-(-self.columns // columns),
            patch_size=(rows * height, columns * width),
            offset=(down - up, right - left),
        )

    @property
    def image_size(self) -> tuple[float, float]:
        """Height and width of the image."""
        return self.rows * self.patch_size[0], self.columns * self.patch_size[1]

    @property
    def centers(self) -> Float64[Tensor, "token 2"]:
        """Middle (x, y) of every token in reading order."""
        height, width = self.patch_size
        down, right = self.offset
        y = (torch.arange(self.rows, dtype=torch.float64) + 0.5) * height + down
        x = (torch.arange(self.columns, dtype=torch.float64) + 0.5) * width + right
        places = torch.meshgrid(x, y, indexing="xy")
        return torch.stack(places, -1).reshape(-1, 2)

    def differences(
        self, keys: "TokenGrid | None" = None
    ) -> Float64[Tensor, "query key 2"]:
        """(x, y) from every token to every other, or to every one of other ``keys``."""
        return (keys or self).centers[None] - self.centers[:, None]

    def distances(
        self, keys: "TokenGrid | None" = None
    ) -> Float64[Tensor, "query key"]:
        """Euclidean distance between the middles of every two tokens, see `differences`."""
        return self.differences(keys).square().sum(-1).sqrt()

    def uniform_distance(self) -> float:
        """Mean attention distance of uniform attention."""
        return float(self.distances().mean())


@dataclass(frozen=True, slots=True, eq=False)
class Windows:
    """The windows of a layer whose tokens attend to tokens of their own window only.

    Windows lie side by side, or each evenly over the image.
    """

    grid: TokenGrid  # of the tokens of one window
    # Whether a query may attend to a key, for every window of the image. In a shifted layer, a
    # window at the border holds tokens from opposite sides of the image, which may not attend to
    # each other
    allowed: Bool[Tensor, "window query key"]
    # Of the keys, if they lie elsewhere than the queries
    pooled: TokenGrid | None = None

    @classmethod
    def of(
        cls, grid: TokenGrid, window: tuple[int, int], shift: tuple[int, int]
    ) -> "Windows":
        """Cut a grid into windows of some rows and columns, after it was rolled by ``shift``."""
        sides = []
        for count, step in zip((grid.rows, grid.columns), shift, strict=True):
            sides.append((torch.arange(count) >= count - step).long())
        regions = 2 * sides[0][:, None] + sides[1]
        rows, columns = window
        tokens = rearrange(
            regions,
            "(a row) (b col) -> (a b) (row col)",
            row=rows,
            col=columns,
        )
        of_window = TokenGrid(rows, columns, grid.patch_size)
        return cls(of_window, allowed=tokens[:, :, None] == tokens[:, None])

    @classmethod
    def whole(cls, grid: TokenGrid) -> "Windows":
        """One window with all tokens."""
        return cls(grid, torch.ones(1, len(grid), len(grid), dtype=torch.bool))

    @classmethod
    def of_spread(cls, grid: TokenGrid, window: tuple[int, int]) -> "Windows":
        """Windows of so many rows and columns of tokens that lie evenly over the whole image."""
        rows, columns = window
        height, width = grid.patch_size
        of_window = TokenGrid(
            rows,
            columns,
            (grid.rows // rows * height, grid.columns // columns * width),
        )
        tokens = len(of_window)
        every = torch.ones(len(grid) // tokens, tokens, tokens, dtype=torch.bool)
        return cls(of_window, every)

    @classmethod
    def of_pooled(
        cls,
        grid: TokenGrid,
        keys: TokenGrid,
        window: tuple[int, int] | None = None,
    ) -> "Windows":
        """Queries attend to all keys of other places: of the image, or of windows.

        These have so many rows and columns of queries.
        """
        rows, columns = window or (grid.rows, grid.columns)
        down = grid.rows // rows
        across = grid.columns // columns
        of_window = replace(grid, rows=rows, columns=columns)
        pooled = replace(keys, rows=keys.rows // down, columns=keys.columns // across)
        every = torch.ones(down * across, len(of_window), len(pooled), dtype=torch.bool)
        return cls(of_window, every, pooled)

    @property
    def keys(self) -> TokenGrid:
        """Where the keys of one window lie."""
        return self.pooled or self.grid


def windows_of(encoder: nn.Module) -> Mapping[str, Windows]:
    """Layer -> the windows that its tokens attend in; empty if all layers have the same tokens.

    Of blocks before the others that have more rows of tokens (`FineRows`), a window is the image.
    """
    known: Mapping[str, Windows] = getattr(encoder, "windows", {})
    fine: Any = getattr(encoder, "fine", None)
    if known or fine is None:
        return known
    grid = TokenGrid.of(encoder)  # type: ignore[arg-type]
    rows, columns = fine.grid
    height, width = grid.image_size
    of_all = Windows.whole(grid)
    of_fine = Windows.whole(TokenGrid(rows, columns, (height / rows, width / columns)))
    return {
        name: of_fine if name.startswith("fine.") else of_all
        for name, module in encoder.named_modules()
        if isinstance(module, ScaledDotProductAttention)
    }


def neighborhood(
    grid: TokenGrid, keys: TokenGrid | None = None
) -> Bool[Tensor, "query key"]:
    """The 3 x 3 keys around each token, cut at the border."""
    sides = torch.tensor((keys or grid).patch_size[::-1], dtype=torch.float64)
    steps = grid.differences(keys).abs() / sides
    return (steps <= 1.5 + 1e-9).all(-1)


def uniform_attention(
    allowed: Bool[Tensor, "*any query key"],
) -> Float64[Tensor, "*any query key"]:
    """Attention that is even over the tokens that a query may attend to."""
    allowed = allowed.double()
    return allowed / allowed.sum(-1, keepdim=True)


def attention_maps(
    encoder: Encoder, attention: Float[Tensor, "batch position token"]
) -> Float[Tensor, "batch position row column"]:
    """Attention over the grid of an encoder: without its special tokens, every map sums to 1."""
    maps = boxes.attention_maps(
        attention.detach().cpu().numpy(), encoder.grid, encoder.special_tokens
    )
    return torch.from_numpy(maps)
