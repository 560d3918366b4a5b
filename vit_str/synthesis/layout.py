"""Words to line masks: glyphs gathered column by column, for a whole batch at once."""

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace

import torch
from jaxtyping import Bool, Float, Int64, UInt8
from torch import Tensor

from vit_str.runtime.charset import PADDING
from vit_str.synthesis import placement
from vit_str.synthesis.glyphs import GlyphAtlas
from vit_str.synthesis.ingredients import Ingredients, share_of
from vit_str.synthesis.random_numbers import Random, Range
from vit_str.synthesis.squares import SQUARE, is_square

_NUMBERS = 1 << 24  # of which one is drawn for each word, to choose its font
_COLUMNS_AT_ONCE = 1 << 18  # which takes little memory
_WIDEST = 6_000  # line, in pixels of the atlas
_INKED = 64  # ink of 255, above which a row counts as part of a glyph


@dataclass(frozen=True)
class _Spacing:
    """Beyond that of the font, in pixels of the atlas; by eye."""

    usual: Range = -3.0, 16.0
    wide: Range = 16.0, 44.0
    wide_share: float = 0.12


@dataclass(frozen=True)
class _Stack:
    """Letters below each other, in pixels of the atlas; by eye."""

    gap: int = 2  # between the widest letter and the sides of its cell
    margin: float = 2.0  # above and below the ink of the word
    lowest: float = 8.0  # least height of the ink


_SPACING = _Spacing()
_STACK = _Stack()


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


class Typesetter:
    """Sets words in the fonts of an atlas."""

    def __init__(self, atlas: GlyphAtlas) -> None:
        self.atlas = atlas
        self._tops, self._bottoms = _ink_rows(atlas)
        self._flawed = _flawed(atlas)
        self._letters = _letters(atlas)

    def among(self, fonts: Sequence[int]) -> "Typesetter":
        """The same for some fonts only."""
        typesetter = copy(self)
        typesetter.atlas = self.atlas.select(fonts)
        typesetter._tops = self._tops[fonts]
        typesetter._bottoms = self._bottoms[fonts]
        typesetter._flawed = self._flawed[:, fonts]
        return typesetter

    def choose_fonts(
        self, ids: Int64[Tensor, "batch position"], random: Random
    ) -> Int64[Tensor, " batch"]:
        """For each word a font that shows all of its characters truly."""
        written = torch.zeros(len(ids), len(self.atlas.charset) + 1, device=ids.device)
        written.scatter_(1, ids.where(ids != PADDING, len(self.atlas.charset)), 1.0)
        missing = written[:, :-1] @ self._flawed
        # Without a font that has all, any of those that lack the fewest.
        fits = missing == missing.amin(1, keepdim=True)
        counted = fits.cumsum(1)
        place = random.integers(_NUMBERS) * counted[:, -1] // _NUMBERS
        return (counted > place[:, None]).int().argmax(1)

    def extent(
        self, ids: Int64[Tensor, "batch position"], fonts: Int64[Tensor, " batch"]
    ) -> tuple[Float[Tensor, " batch"], Float[Tensor, " batch"]]:
        """First row with ink and the row after the last, of every word in its font."""
        font = fonts[:, None]
        known = ids.clamp(min=0)
        inked = (ids != PADDING) & (self._bottoms[font, known] > 0)
        top = self._tops[font, known].where(inked, self.atlas.height).amin(1)
        bottom = self._bottoms[font, known].where(inked, 0).amax(1)
        return top.float(), bottom.float()

    def set(
        self,
        ids: Int64[Tensor, "batch position"],
        strengths: Ingredients,
        random: Random,
    ) -> Lines:
        """Draw each word in a font and with a spacing, its letters where the ingredients say."""
        fonts = self.choose_fonts(ids, random)
        drawn = ids != PADDING
        spacing = _sample_spacing(strengths.spacing, random)[:, None]
        sizes = placement.sample_sizes(drawn, strengths.raised, random)
        stacked = random.subset(share_of("stacked", strengths.stacked))
        lines = self.lay_out(ids, fonts, spacing, sizes.scale, stacked)
        return self._place(lines, drawn, sizes, stacked, strengths.jitter, random)

    def lay_out(
        self,
        ids: Int64[Tensor, "batch position"],
        fonts: Int64[Tensor, " batch"],
        spacing: Float[Tensor, "batch #position"],
        sizes: Float[Tensor, "batch position"] | None = None,
        stacked: Int64[Tensor, " word"] | None = None,
    ) -> Lines:
        """Draw each word in its font, all letters on the baseline.

        Args:
            ids: the characters of the words.
            fonts: of the words, as places in the atlas.
            spacing: pixels after every character, the same for all of a word or one for each; may
                be negative.
            sizes: widths of letters over those of their font; all 1 if None.
            stacked: words whose letters get cells of one width.
        """
        drawn = ids != PADDING
        known = ids.clamp(min=0)
        font = fonts[:, None]
        scale = 1.0 if sizes is None else sizes
        widths = (self.atlas.widths[font, known] * drawn * scale).ceil().long()
        bearings = self.atlas.bearings[font, known] * scale
        advances = (self.atlas.advances[font, known] * scale + spacing) * drawn
        if stacked is not None:
            self._put_in_cells(widths, bearings, advances, stacked)
        lefts = advances.cumsum(1) - advances + bearings
        first = torch.where(drawn, lefts, torch.inf).amin(1, keepdim=True)
        if stacked is not None:
            first[stacked] = 0
        lefts = (
            torch.where(drawn, lefts - first, 0).round().long().clamp(max=_WIDEST - 1)
        )
        rights = (lefts + widths).clamp(max=_WIDEST)
        masks, owners = self._write_columns(known, font, lefts, rights, scale)
        sides = [lefts, self._tops[font, known], rights, self._bottoms[font, known]]
        boxes = torch.stack(sides, -1) * drawn[:, :, None]
        width = rights.amax(1).clamp(min=1).float()
        return Lines(
            masks=masks.transpose(1, 2),
            ids=ids,
            widths=width,
            aspects=width / self.atlas.height,
            owners=owners,
            boxes=boxes.float(),
            letters=(self._letters[known] * drawn).sum(1),
        )

    def _put_in_cells(
        self,
        widths: Tensor,
        bearings: Tensor,
        advances: Tensor,
        stacked: Int64[Tensor, " word"],
    ) -> None:
        """Give all letters of these words the same advance, and center each in it."""
        taken = widths[stacked]
        widest = taken.amax(1, keepdim=True)
        cell = widest.clamp(min=self.atlas.height // 2) + _STACK.gap
        bearings[stacked] = (cell - taken) / 2.0
        advances[stacked] = cell.expand_as(taken).float()

    def _place(
        self,
        lines: Lines,
        drawn: Tensor,
        sizes: placement.Sizes,
        stacked: Int64[Tensor, " word"],
        jitter: float,
        random: Random,
    ) -> Lines:
        """Move letters off the baseline, and turn those of stacked words."""
        height = self.atlas.height
        unevenness = placement.sample_unevenness(lines.boxes, sizes, jitter, random)
        boxes = unevenness.seen(lines.boxes)
        inside = boxes[stacked]
        top, bottom = placement.ink_rows(inside, height)
        top = top - _STACK.margin
        bottom = bottom.maximum(top + _STACK.lowest) + _STACK.margin
        widest = (inside[..., 2] - inside[..., 0]).amax(1)
        cell = widest.clamp(min=height // 2) + _STACK.gap
        stacks = placement.Stacks(stacked, cell, top, bottom)
        length = drawn[stacked].sum(1)
        column = torch.arange(lines.owners.shape[1], device=stacked.device)
        owner = (column / cell[:, None]).long().minimum(length[:, None] - 1)
        aspects = length * (bottom - top) / cell
        return replace(
            lines,
            widths=lines.widths.index_copy(0, stacked, cell * length),
            aspects=lines.aspects.index_copy(0, stacked, aspects),
            owners=lines.owners.index_copy(0, stacked, owner),
            boxes=stacks.seen(boxes, height),
            unevenness=unevenness,
            stacks=stacks,
        )

    def _write_columns(
        self,
        ids: Int64[Tensor, "batch position"],
        font: Int64[Tensor, "batch 1"],
        lefts: Int64[Tensor, "batch position"],
        rights: Int64[Tensor, "batch position"],
        scale: Float[Tensor, "batch position"] | float,
    ) -> tuple[UInt8[Tensor, "batch column row"], Int64[Tensor, "batch column"]]:
        """Copy the columns of every glyph to its place; neighbors that overlap both stay."""
        batch, positions = ids.shape
        width = int(rights.amax().clamp(min=1))
        device = ids.device
        masks = torch.zeros(
            batch * width,
            self.atlas.height,
            dtype=torch.uint8,
            device=device,
        )
        owners = torch.full((batch * width,), PADDING, device=device)
        starts = self.atlas.starts[font, ids]
        places = torch.arange(batch, device=device)[:, None] * width + lefts
        counts = rights - lefts
        position = torch.arange(positions, device=device).expand(batch, -1)
        step = torch.ones_like(lefts, dtype=torch.float) / scale
        # Neighbors may share columns; every other glyph never does, so each half is one copy.
        for first in (0, 1):
            half = (slice(None), slice(first, None, 2))
            glyph, column = _each_column(counts[half].flatten())
            within = (column * step[half].flatten()[glyph]).long()
            source = starts[half].flatten()[glyph] + within
            target = places[half].flatten()[glyph] + column
            ink = self.atlas.columns[source]
            masks[target] = ink if first == 0 else torch.maximum(masks[target], ink)
            owners[target] = position[half].flatten()[glyph]
        return masks.view(batch, width, -1), owners.view(batch, width)


def _each_column(
    counts: Int64[Tensor, " glyph"],
) -> tuple[Int64[Tensor, " column"], Int64[Tensor, " column"]]:
    """For every column of some glyphs, one after another: the glyph, and the place in it."""
    glyph = torch.repeat_interleave(counts)
    first = counts.cumsum(0) - counts
    every = torch.arange(len(glyph), device=glyph.device)
    return glyph, every - first[glyph]


def _flawed(atlas: GlyphAtlas) -> Float[Tensor, "character font"]:
    """1 for what a font does not show truly, else 0."""
    return (~atlas.is_correct).float().T.contiguous()


def _letters(atlas: GlyphAtlas) -> Float[Tensor, " character"]:
    """How many letters of Latin each character counts as."""
    counts = [SQUARE if is_square(each) else 1.0 for each in atlas.charset.characters]
    return torch.tensor(counts, device=atlas.starts.device)


def _sample_spacing(strength: float, random: Random) -> Float[Tensor, " batch"]:
    """Pixels of the atlas between letters beyond the font's own: mostly none, at times a lot."""
    usual = random.uniform(*_SPACING.usual)
    wide = random.uniform(*_SPACING.wide)
    is_wide = random.bernoulli(_SPACING.wide_share) > 0
    pixels = torch.where(is_wide, wide, usual)
    return pixels * random.bernoulli(share_of("spacing")) * strength


def _extent(
    ink: Bool[Tensor, "column row"],
) -> tuple[Int64[Tensor, " column"], Int64[Tensor, " column"]]:
    """First row with ink and the row after the last, of every column."""
    height = ink.shape[1]
    has_ink = ink.any(1)
    top = torch.where(has_ink, ink.byte().argmax(1), height)
    bottom = torch.where(has_ink, height - ink.flip(1).byte().argmax(1), 0)
    return top, bottom


def _ink_rows(
    atlas: GlyphAtlas,
) -> tuple[Int64[Tensor, "font character"], Int64[Tensor, "font character"]]:
    """First row with ink and the row after the last, for every glyph."""
    blocks = torch.split(atlas.columns, _COLUMNS_AT_ONCE)
    extents = [_extent(columns > _INKED) for columns in blocks]
    top = torch.cat([top for top, _ in extents])
    bottom = torch.cat([bottom for _, bottom in extents])
    counts = atlas.widths.flatten()
    glyph, offset = _each_column(counts)
    column = atlas.starts.flatten()[glyph] + offset
    highest = torch.full_like(counts, atlas.height)
    tops = highest.scatter_reduce(0, glyph, top[column], "amin")
    lowest = torch.zeros_like(counts)
    bottoms = lowest.scatter_reduce(0, glyph, bottom[column], "amax")
    shape = atlas.widths.shape
    return tops.view(shape), bottoms.view(shape)
