"""Words drawn flat, before a camera or a scanner sees them."""

from dataclasses import dataclass

from jaxtyping import Float, Int64, UInt8
from torch import Tensor

from vit_str.synthesis import placement


@dataclass(frozen=True, slots=True)
class Lines:
    """Words drawn flat, white on black, at the height of the atlas.

    What is seen of a word is its mask, but for letters that stand otherwise than the mask has them
    (see `placement`): widths, owners and boxes are those of the line as seen.
    """

    masks: UInt8[Tensor, "batch row column"]  # how much ink each pixel holds, 0 to 255
    ids: Int64[Tensor, "batch position"]  # the characters, `PADDING` after the end
    widths: Float[Tensor, " batch"]  # columns that each word takes, in pixels
    aspects: Float[Tensor, " batch"]  # width over height of each word
    # Position of the letter that each column belongs to, `PADDING` for none
    owners: Int64[Tensor, "batch column"]
    # Left, top, right, bottom of every character, in pixels; zero where there is none
    boxes: Float[Tensor, "batch position side"]
    # Letters of each word; square ones, which have more strokes, count as several
    letters: Float[Tensor, " batch"]
    # Letters off the baseline, if asked for
    unevenness: placement.Unevenness | None = None
    # Words with letters below each other, if asked for
    stacks: placement.Stacks | None = None

    def owner(
        self,
        column: Float[Tensor, "batch point"],
        rows: Int64[Tensor, " word"] | None = None,
    ) -> Int64[Tensor, "batch point"]:
        """Position of the letter at every column, in all words or some; ``PADDING`` for none."""
        owners = self.owners if rows is None else self.owners[rows]
        return owners.gather(1, column.long().clamp_(0, owners.shape[1] - 1))

    def look_up(
        self, column: Float[Tensor, "batch point"], row: Float[Tensor, "batch point"]
    ) -> None:
        """Turn where something is seen into where it lies in the masks, in pixels, in place."""
        if self.stacks is not None:
            rows = self.stacks.rows
            height = self.masks.shape[1]
            lying_column, lying_row = self.stacks.source(
                column[rows], row[rows], height
            )
            column.index_copy_(0, rows, lying_column)
            row.index_copy_(0, rows, lying_row)
        if self.unevenness is not None:
            rows = self.unevenness.rows
            owner = self.owner(column[rows], rows).clamp_(min=0)
            lying_row = self.unevenness.source(column[rows], row[rows], owner)
            row.index_copy_(0, rows, lying_row)
