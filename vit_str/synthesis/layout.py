"""Words to line masks: glyphs gathered column by column, for a whole batch at once."""

import random as python_random
import re
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace

import torch
from jaxtyping import Bool, Float, Int64, UInt8
from torch import Tensor

from vit_str.characters.charset import PADDING
from vit_str.synthesis import letter_rules, placement
from vit_str.synthesis.glyphs import GlyphAtlas
from vit_str.synthesis.ingredients import Ingredients, share_of
from vit_str.synthesis.lines import Lines
from vit_str.synthesis.machine_faces import is_machine
from vit_str.synthesis.random_numbers import Random, Range, upload
from vit_str.synthesis.squares import SQUARE, is_square
from vit_str.synthesis.text_styles import StyleSampler, TextStyles

_NUMBERS = 1 << 24  # of which one is drawn for each word, to choose its font
_COLUMNS_AT_ONCE = 1 << 18  # which takes little memory
_WIDEST = 6_000  # line, in pixels of the atlas
_INKED = 64  # ink of 255, above which a row counts as part of a glyph
_STRUCK_WORDS = (0, 0, 0, 1, 2, 5)
"""Words of a line behind the first that a stroke goes through; one of these."""
_RULES = 1  # number of the fork of random numbers that strokes are drawn from
_NEVER = 1e6  # missing characters of a face that is no font


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


Fonts = Int64[Tensor, " batch"] | Int64[Tensor, "batch position"]
"""A font for each word, or one for each of its letters, as places in the atlas."""


class Typesetter:
    """Sets words in the fonts of an atlas, and in faces of machines where styles say so."""

    def __init__(self, atlas: GlyphAtlas) -> None:
        self.atlas = atlas
        self._tops, self._bottoms = _ink_rows(atlas)
        self._flawed = _flawed(atlas)
        names = atlas.names
        of_machines = torch.tensor([_NEVER * is_machine(name) for name in names])
        self._of_machines = of_machines.to(self._flawed.device)
        letters = [each.isalpha() for each in atlas.charset.characters]
        self._is_letter = torch.tensor(letters, device=self._flawed.device)
        self.styles = StyleSampler(atlas)
        self._letters = _letters(atlas)

    def among(self, fonts: Sequence[int]) -> "Typesetter":
        """The same for some fonts only; the faces of machines stay."""
        of_machines = self._of_machines.nonzero()[:, 0].tolist()
        fonts = [*fonts, *(face for face in of_machines if face not in fonts)]
        typesetter = copy(self)
        typesetter.atlas = self.atlas.select(fonts)
        typesetter._tops = self._tops[fonts]
        typesetter._bottoms = self._bottoms[fonts]
        typesetter._flawed = self._flawed[:, fonts]
        typesetter._of_machines = self._of_machines[fonts]
        typesetter.styles = StyleSampler(typesetter.atlas)
        return typesetter

    def choose_fonts(
        self, ids: Int64[Tensor, "batch position"], random: Random
    ) -> Int64[Tensor, " batch"]:
        """For each word a font that shows all of its characters truly."""
        written = torch.zeros(len(ids), len(self.atlas.charset) + 1, device=ids.device)
        written.scatter_(1, ids.where(ids != PADDING, len(self.atlas.charset)), 1.0)
        missing = written[:, :-1] @ self._flawed + self._of_machines
        # Without a font that has all, any of those that lack the fewest.
        fits = missing == missing.amin(1, keepdim=True)
        counted = fits.cumsum(1)
        place = random.integers(_NUMBERS) * counted[:, -1] // _NUMBERS
        return (counted > place[:, None]).int().argmax(1)

    def extent(
        self, ids: Int64[Tensor, "batch position"], fonts: Fonts
    ) -> tuple[Float[Tensor, " batch"], Float[Tensor, " batch"]]:
        """First row with ink and the row after the last, of every word in its font."""
        font = _by_letter(fonts)
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
        styles: TextStyles | None = None,
    ) -> Lines:
        """Draw each word in a font and with a spacing, its letters where the ingredients say."""
        fonts: Fonts = self.choose_fonts(ids, random)
        drawn = ids != PADDING
        spacing = _sample_spacing(strengths.spacing, random)[:, None]
        sizes = placement.sample_sizes(drawn, strengths.raised, random)
        stacked = random.subset(share_of("stacked", strengths.stacked))
        if styles:
            fonts = self.faces_of(ids, fonts, styles)
            sizes, spacing = self._in_small_capitals(ids, sizes, spacing, styles)
        lines = self.lay_out(ids, fonts, spacing, sizes.scale, stacked)
        if styles:
            self.rule(lines, styles, random.fork(_RULES))
        return self._place(lines, drawn, sizes, stacked, strengths.jitter, random)

    def faces_of(
        self,
        ids: Int64[Tensor, "batch position"],
        fonts: Int64[Tensor, " batch"],
        styles: TextStyles,
    ) -> Fonts:
        """A font for each letter, where words are set in faces of machines.

        What such a face lacks, as units, is in the font of the word; the last wheel of a counter
        may be between two digits.
        """
        if max(styles.faces) < 0:
            return fonts
        device = fonts.device
        faces = upload(torch.tensor(styles.faces), device)[:, None]
        known = ids.clamp(min=0)
        has = (faces >= 0) & self.atlas.is_correct[faces.clamp(min=0), known]
        by_letter = torch.where(has, faces, fonts[:, None])
        rolled = upload(torch.tensor(styles.is_rolled), device)
        last = (ids != PADDING).sum(1, keepdim=True) - 1
        turning = by_letter.gather(1, last) + rolled[:, None].long()
        return by_letter.scatter(1, last, turning)

    def _in_small_capitals(
        self,
        ids: Int64[Tensor, "batch position"],
        sizes: placement.Sizes,
        spacing: Float[Tensor, "batch 1"],
        styles: TextStyles,
    ) -> tuple[placement.Sizes, Float[Tensor, "batch 1"]]:
        """Sizes and spacing with those of words in small capitals."""
        small = [row for row, scale in enumerate(styles.small) if scale]
        if not small:
            return sizes, spacing
        device = ids.device
        rows = upload(torch.tensor(small), device)
        scale = upload(torch.tensor([styles.small[row] for row in small]), device)
        apart = upload(torch.tensor([styles.spacing[row] for row in small]), device)
        is_letter = self._is_letter[ids[rows].clamp(min=0)]
        is_first = is_letter.clone()
        is_first[:, 1:] &= ~is_letter[:, :-1]
        size = torch.where(is_letter & ~is_first, scale[:, None], 1.0)
        return (
            placement.Sizes(
                rows=torch.cat([sizes.rows, rows]),
                scale=sizes.scale.index_copy(0, rows, size),
                at_top=sizes.at_top.index_fill(0, rows, placement.AT_BASELINE),
            ),
            spacing.index_add(0, rows, apart[:, None]),
        )

    def rule(
        self,
        lines: Lines,
        styles: TextStyles,
        random: Random,
        texts: Sequence[str] | None = None,
    ) -> None:
        """Strike words out and underline others, in the masks.

        Args:
            lines: the words.
            styles: say which.
            random: what strokes are drawn from.
            texts: what is drawn of lines, of which only some words get strokes; whole ones if
                None.
        """
        device = lines.masks.device
        charset = self.atlas.charset
        for kind, chosen in enumerate((styles.is_struck, styles.is_underlined)):
            places = [place for place, is_chosen in enumerate(chosen) if is_chosen]
            rows = upload(torch.tensor(places, dtype=torch.int64), device)
            letters = lines.ids != PADDING
            if texts and places:
                letters &= upload(_some_words(texts, letters.shape[1], kind), device)
            if kind == 0:
                letter_rules.strike(lines, letters, rows, random)
            else:
                letter_rules.underline(lines, letters, rows, charset, random)

    def lay_out(
        self,
        ids: Int64[Tensor, "batch position"],
        fonts: Fonts,
        spacing: Float[Tensor, "batch #position"],
        sizes: Float[Tensor, "batch position"] | None = None,
        stacked: Int64[Tensor, " word"] | None = None,
    ) -> Lines:
        """Draw each word in its font, all letters on the baseline.

        Args:
            ids: the characters of the words.
            fonts: of the words or of their letters.
            spacing: pixels after every character, the same for all of a word or one for each; may
                be negative.
            sizes: widths of letters over those of their font; all 1 if None.
            stacked: words whose letters get cells of one width.
        """
        drawn = ids != PADDING
        known = ids.clamp(min=0)
        font = _by_letter(fonts)
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
        font: Int64[Tensor, "batch #position"],
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


def _some_words(
    texts: Sequence[str], longest: int, number: int
) -> Bool[Tensor, "batch position"]:
    """Some words of each line that stand side by side; the same for the same text and number."""
    chosen = torch.zeros(len(texts), longest, dtype=torch.bool)
    for row, text in enumerate(texts):
        rng = python_random.Random(f"{number} {text}")
        ends = [match.span() for match in re.finditer(r"\S+", text)] or [(0, len(text))]
        first = rng.randrange(len(ends))
        last = min(len(ends) - 1, first + rng.choice(_STRUCK_WORDS))
        chosen[row, ends[first][0] : ends[last][1]] = True
    return chosen


def _by_letter(fonts: Fonts) -> Int64[Tensor, "batch #position"]:
    return fonts if fonts.ndim == 2 else fonts[:, None]


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
