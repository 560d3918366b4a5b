"""Reading along the columns of another encoder: joined rows, then a recurrent network."""

from einops import rearrange
from jaxtyping import Float
from torch import Tensor, nn

from vit_str.models.interfaces import Encoder

NETWORKS: dict[str, type[nn.RNN] | type[nn.LSTM] | type[nn.GRU]] = {
    "rnn": nn.RNN,
    "lstm": nn.LSTM,
    "gru": nn.GRU,
}


class ColumnEncoder(Encoder):
    """One feature per column, from left to right: the tokens of a column side by side.

    Args:
        encoder: what looks at the image; special tokens are dropped, and of the grid only the
            columns stay.
    """

    def __init__(self, encoder: Encoder) -> None:
        super().__init__()
        self.encoder = encoder
        self.dim = encoder.dim
        self.image_size = encoder.image_size
        rows, columns = encoder.grid
        self.grid = 1, columns
        self.join_rows = (
            nn.Linear(rows * self.dim, self.dim) if rows > 1 else nn.Identity()
        )

    def forward(
        self, images: Float[Tensor, "batch channel height width"]
    ) -> Float[Tensor, "batch token dim"]:
        """Features of every column."""
        tokens = self.encoder(images)[:, self.encoder.special_tokens :]
        rows = self.encoder.grid[0]
        return self.join_rows(
            rearrange(tokens, "b (row col) d -> b col (row d)", row=rows)
        )


class RecurrentEncoder(ColumnEncoder):
    """Columns in the light of those to their left, and with two directions to their right too.

    Args:
        encoder: what looks at the image, see `ColumnEncoder`.
        cell: ``rnn``, ``lstm`` or ``gru``.
        depth: number of recurrent layers.
        bidirectional: read from both sides; each direction has half of the width.

    Raises:
        ValueError: the cell is unknown, or ``dim`` is odd with two directions.
    """

    def __init__(
        self,
        encoder: Encoder,
        cell: str = "lstm",
        depth: int = 2,
        bidirectional: bool = True,
    ) -> None:
        super().__init__(encoder)
        if cell not in NETWORKS:
            raise ValueError(
                f"cell must be one of {', '.join(NETWORKS)}, found {cell!r}"
            )
        if bidirectional and self.dim % 2:
            raise ValueError(f"two directions need an even dim, found {self.dim}")
        self.cell = cell
        self.depth = depth
        self.bidirectional = bidirectional
        self.recur = NETWORKS[cell](
            self.dim,
            self.dim // 2 if bidirectional else self.dim,
            depth,
            batch_first=True,
            bidirectional=bidirectional,
        )
        self.norm = nn.LayerNorm(self.dim)

    def forward(
        self, images: Float[Tensor, "batch channel height width"]
    ) -> Float[Tensor, "batch token dim"]:
        """Features of every column."""
        return self.norm(self.recur(super().forward(images))[0])
