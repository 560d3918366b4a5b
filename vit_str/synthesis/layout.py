"""Words to line masks: glyphs gathered column by column, for a whole batch at once."""

from dataclasses import dataclass

import torch
from jaxtyping import Float, Int64, UInt8
from torch import Tensor

from vit_str.charset import PADDING
from vit_str.synthesis.draw import Draw
from vit_str.synthesis.glyphs import GlyphAtlas

_CANDIDATES = 8
_WIDEST = 2_000


@dataclass(frozen=True, slots=True)
class Lines:
    """Words drawn flat, white on black, at the height of the atlas.

    Attributes:
        masks: how much ink each pixel holds, 0 to 255.
        widths: columns that each word takes, in pixels.
        characters: the character that each column belongs to, ``PADDING`` for none.
        boxes: left, top, right, bottom of every character, in pixels; zero where there is none.
    """

    masks: UInt8[Tensor, "batch row column"]
    widths: Float[Tensor, " batch"]
    characters: Int64[Tensor, "batch column"]
    boxes: Float[Tensor, "batch position side"]


class Typesetter:
    """Sets words in the fonts of an atlas."""

    def __init__(self, atlas: GlyphAtlas) -> None:
        self.atlas = atlas
        self._tops, self._bottoms = _ink_rows(atlas)
        honest = atlas.honest.sum(1)
        self._most_complete = (honest == honest.max()).nonzero()[:, 0]

    def choose_fonts(
        self, ids: Int64[Tensor, "batch position"], draw: Draw
    ) -> Int64[Tensor, " batch"]:
        """For each word a font that shows all of its characters truly."""
        candidates = draw.integers(len(self.atlas.names), _CANDIDATES)
        fallback = self._most_complete[draw.integers(len(self._most_complete), 1)]
        candidates = torch.cat([candidates, fallback], 1)
        honest = self.atlas.honest[candidates[:, :, None], ids.clamp(min=0)[:, None]]
        fits = (honest | (ids == PADDING)[:, None]).all(2)
        fits[:, -1] = True
        return candidates.gather(1, fits.int().argmax(1, keepdim=True))[:, 0]

    def lay_out(
        self,
        ids: Int64[Tensor, "batch position"],
        fonts: Int64[Tensor, " batch"],
        spacing: Float[Tensor, " batch"],
    ) -> Lines:
        """Draw each word of ``ids`` in its font.

        Args:
            ids: characters, ``PADDING`` after the end.
            fonts: a font of the atlas for each word.
            spacing: pixels added after every character; may be negative.
        """
        there, known = ids != PADDING, ids.clamp(min=0)
        font = fonts[:, None]
        widths = self.atlas.widths[font, known] * there
        advances = (self.atlas.advances[font, known] + spacing[:, None]) * there
        lefts = advances.cumsum(1) - advances + self.atlas.bearings[font, known]
        first = torch.where(there, lefts, torch.inf).amin(1, keepdim=True)
        lefts = torch.where(there, lefts - first, 0).round().long().clamp(max=_WIDEST - 1)
        rights = (lefts + widths).clamp(max=_WIDEST)
        masks, characters = self._write_columns(known, font, lefts, rights)
        boxes = torch.stack(
            [lefts, self._tops[font, known], rights, self._bottoms[font, known]], -1
        )
        return Lines(
            masks.transpose(1, 2),
            rights.amax(1).clamp(min=1).float(),
            characters,
            (boxes * there[:, :, None]).float(),
        )

    def _write_columns(
        self,
        ids: Int64[Tensor, "batch position"],
        font: Int64[Tensor, "batch 1"],
        lefts: Int64[Tensor, "batch position"],
        rights: Int64[Tensor, "batch position"],
    ) -> tuple[UInt8[Tensor, "batch column row"], Int64[Tensor, "batch column"]]:
        """Copy the columns of every glyph to its place; neighbors that overlap both stay."""
        batch = len(ids)
        width = int(rights.amax().clamp(min=1))
        device = ids.device
        masks = torch.zeros(batch * width, self.atlas.height, dtype=torch.uint8, device=device)
        characters = torch.full((batch * width,), PADDING, device=device)
        starts = self.atlas.starts[font, ids]
        places = torch.arange(batch, device=device)[:, None] * width + lefts
        counts = rights - lefts
        # Neighbors may share columns; every other glyph never does, so each half is one copy.
        for half in (0, 1):
            count = counts[:, half::2].flatten()
            glyph = torch.repeat_interleave(count)
            column = torch.arange(len(glyph), device=device) - (count.cumsum(0) - count)[glyph]
            source = starts[:, half::2].flatten()[glyph] + column
            target = places[:, half::2].flatten()[glyph] + column
            ink = self.atlas.columns[source]
            masks[target] = ink if half == 0 else torch.maximum(masks[target], ink)
            characters[target] = ids[:, half::2].flatten()[glyph]
        shape = batch, width
        return masks.view(*shape, -1), characters.view(*shape)


def _ink_rows(
    atlas: GlyphAtlas,
) -> tuple[Int64[Tensor, "font character"], Int64[Tensor, "font character"]]:
    """First row with ink and the row after the last, for every glyph."""
    ink = atlas.columns > 64
    top = torch.where(ink.any(1), ink.int().argmax(1), atlas.height)
    bottom = torch.where(ink.any(1), atlas.height - ink.flip(1).int().argmax(1), 0)
    counts = atlas.widths.flatten()
    glyph = torch.repeat_interleave(counts)
    offset = torch.arange(len(glyph), device=glyph.device) - (counts.cumsum(0) - counts)[glyph]
    column = atlas.starts.flatten()[glyph] + offset
    tops = torch.full_like(counts, atlas.height).scatter_reduce(0, glyph, top[column], "amin")
    bottoms = torch.zeros_like(counts).scatter_reduce(0, glyph, bottom[column], "amax")
    shape = atlas.widths.shape
    return tops.view(shape), bottoms.view(shape)
