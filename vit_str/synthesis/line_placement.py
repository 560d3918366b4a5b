"""Where lines of text lie in their pictures, and how much ink a scan of them holds."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int64
from torch import Tensor

from vit_str.characters.charset import PADDING
from vit_str.synthesis.fields import Mask
from vit_str.synthesis.glyphs import GlyphAtlas
from vit_str.synthesis.layout import Fonts, Typesetter
from vit_str.synthesis.line_texts import GAP, drawn, is_silent, label, spoken
from vit_str.synthesis.lines import Lines
from vit_str.synthesis.random_numbers import Random, Range
from vit_str.synthesis.text_styles import TextStyles

_RULES = 1  # number of the fork of random numbers that strokes are drawn from
_FINEST = 36  # rows from which on letters are drawn without averaging
_DENSEST = 1.3  # columns of a line for a sample, from which on they are averaged first


@dataclass(frozen=True)
class _Place:
    """Where lines stand in their pictures; by eye. Rows are rows of the atlas."""

    top: int = 4  # first row of a line that is cropped as a line
    bottom: int = 44  # row after its last
    line_share: float = 0.5  # of such lines, the others are cropped at their ink
    least_rows: int = 14  # between top and bottom
    above_and_below: Range = -0.03, 0.28  # margins, in heights of the ink
    stretch: float = 0.14  # deviation of the logarithm of width over height
    stretches: Range = 0.65, 1.35
    margins: Range = 1.0, 16.0  # left and right, in pixels
    margins_of_line: Range = 0.2, 1.0  # of both margins
    widest_margin: float = 0.12  # of the width
    least_space: float = 4.0  # pixels of the atlas
    gaps: Range = 0.5, 1.0  # of the free room
    closeness: Range = 0.9, 1.25  # of letters, before they are fitted
    centered_share: float = 0.2


@dataclass(frozen=True)
class _Paper:
    """Paper that lies askew in the scanner, and lines above and below; by eye."""

    rise: float = 1.6  # deviation, in pixels from end to end
    wave: float = 1.2  # deviation, in pixels
    wave_share: float = 0.3
    phase: Range = 0.0, 6.0  # radians
    turns: Range = 1.0, 6.0  # of a wave over the line, in radians
    slant: Range = -0.25, 0.25  # columns for each row
    slant_share: float = 0.15
    neighbors_share: float = 0.45
    line_pitch: Range = 40.0, 60.0  # rows of the atlas from a line to the next
    neighbor_shift: Range = -200.0, 60.0  # columns of the atlas


_PLACE = _Place()
_PAPER = _Paper()


@dataclass(frozen=True, slots=True)
class PlacedLines:
    """Lines set in type, and where they lie in pictures of the size that is read."""

    lines: Lines  # as set
    labels: Int64[Tensor, "batch position"]  # ids of the characters that are read
    # Of these among the characters that are drawn; 0 after the end
    places: Int64[Tensor, "batch position"]
    is_text: Bool[Tensor, "batch drawn"]  # whether a drawn character is read
    left: Float[Tensor, " batch"]  # where each line begins, in pixels
    top: Float[Tensor, " batch"]  # first row of the atlas in the picture
    across: Float[Tensor, " batch"]  # pixels for a column of the atlas
    down: Float[Tensor, " batch"]  # pixels for a row of the atlas
    width: int  # of the pictures, in pixels

    def characters_at(self, stride: int) -> Int64[Tensor, "batch column"]:
        """The character in every column of a picture, ``PADDING`` for none."""
        x = (torch.arange(self.width // stride, device=self.left.device) + 0.5) * stride
        column = (x - self.left[:, None]) / self.across[:, None]
        owner = self.lines.owner(column)
        known = owner.clamp(min=0)
        is_inside = (column >= 0) & (column < self.lines.widths[:, None])
        is_inside &= owner != PADDING
        is_inside &= self.is_text.gather(1, known)
        return self.lines.ids.gather(1, known).where(is_inside, PADDING)

    def boxes(self) -> Float[Tensor, "batch position side"]:
        """Left, top, right, bottom of every character that is read, in pixels; zero for none."""
        index = self.places[..., None].expand(-1, -1, 4)
        left, top, right, bottom = self.lines.boxes.gather(1, index).unbind(-1)
        has_ink = (right > left) & (self.labels != PADDING)
        across = self.across[:, None]
        down = self.down[:, None]
        sides = [
            self.left[:, None] + left * across,
            (top - self.top[:, None]) * down,
            self.left[:, None] + right * across,
            (bottom - self.top[:, None]) * down,
        ]
        return torch.stack(sides, -1) * has_ink[..., None]


def place(
    texts: Sequence[str],
    typesetter: Typesetter,
    size: tuple[int, int],
    random: Random,
    spacing: Callable[[Sequence[str]], Float[Tensor, "batch #position"]],
    styles: TextStyles | None = None,
) -> PlacedLines:
    """Set texts so that they fit into pictures of a size, with gaps as wide as there is room.

    Args:
        texts: with gaps and silent characters, as `line_texts` has them.
        typesetter: of the fonts to choose from.
        size: height and width of the pictures, in pixels.
        random: what places are drawn from.
        spacing: says how many pixels of the atlas are behind the characters of texts.
        styles: of the texts.
    """
    height, width = size
    atlas = typesetter.atlas
    ids = _ids(texts, atlas)
    fonts = typesetter.choose_fonts(ids, random)
    faces = typesetter.faces_of(ids, fonts, styles) if styles else fonts
    top, bottom = _sample_rows(typesetter, ids, faces, random)
    rows = (bottom - top).clamp(min=_PLACE.least_rows)
    above, below = random.uniform(*_PLACE.above_and_below, 2).unbind(1)
    down = height / (rows * (1 + above + below))
    stretch = random.normal(_PLACE.stretch).exp().clamp(*_PLACE.stretches)
    across = down * stretch
    margins = _sample_margins(width, random)
    room = width - margins.sum(1)
    spaces = _free_spaces(atlas, ids, faces, room / across)
    spaces = spaces * random.uniform(*_PLACE.gaps)
    texts = list(map(_with_gaps, texts, spaces.tolist()))
    ids = _ids(texts, atlas)
    faces = typesetter.faces_of(ids, fonts, styles) if styles else fonts
    lines = typesetter.lay_out(ids, faces, spacing(texts))
    if styles:
        typesetter.rule(lines, styles, random.fork(_RULES), texts)
    across = across * random.uniform(*_PLACE.closeness)
    across = across.minimum(room / lines.widths)
    unused = room - lines.widths * across
    is_centered = random.bernoulli(_PLACE.centered_share)
    left = margins[:, 0] + unused / 2 * is_centered
    labels, places, is_text = _labels(texts, atlas)
    return PlacedLines(
        lines=lines,
        labels=labels,
        places=places,
        is_text=is_text,
        left=left,
        top=top - above * rows,
        across=across,
        down=down,
        width=width,
    )


def _sample_rows(
    typesetter: Typesetter,
    ids: Int64[Tensor, "batch position"],
    fonts: Fonts,
    random: Random,
) -> tuple[Float[Tensor, " batch"], Float[Tensor, " batch"]]:
    """First row of the atlas that a crop shows, and the row after the last, without margins.

    Half of the lines are cropped at their ink, half at the line.
    """
    top, bottom = typesetter.extent(ids, fonts)
    at_line = random.bernoulli(_PLACE.line_share) * random.uniform(0, 1)
    top = top.lerp(top.clamp(max=_PLACE.top), at_line)
    bottom = bottom.lerp(bottom.clamp(min=_PLACE.bottom), at_line)
    return top, bottom


def _sample_margins(width: int, random: Random) -> Float[Tensor, "batch 2"]:
    """Left and right of each line, in pixels."""
    margins = random.uniform(*_PLACE.margins, 2)
    margins = margins * random.uniform(*_PLACE.margins_of_line, 1)
    return margins.clamp(max=_PLACE.widest_margin * width)


def _free_spaces(
    atlas: GlyphAtlas,
    ids: Int64[Tensor, "batch position"],
    fonts: Fonts,
    room: Float[Tensor, " batch"],
) -> Float[Tensor, " batch"]:
    """How many more spaces there is room for, which is given in pixels of the atlas."""
    is_written = ids != PADDING
    by_letter = fonts if fonts.ndim == 2 else fonts[:, None]
    advances = atlas.advances[by_letter, ids.clamp(min=0)] * is_written
    (of_space,) = atlas.charset.encode(" ")
    space = atlas.advances[by_letter[:, 0], of_space].clamp(min=_PLACE.least_space)
    return (room - advances.sum(1)) / space


def _labels(texts: Sequence[str], atlas: GlyphAtlas) -> tuple[Tensor, Tensor, Tensor]:
    """Ids of what is read, its places among what is drawn, and which of that is text."""
    device = atlas.starts.device
    labels = atlas.charset.encode_batch([label(text) for text in texts])
    longest = labels.shape[1]
    places = [spoken(text) for text in texts]
    padded = [row + [0] * (longest - len(row)) for row in places]
    widest = max(map(len, texts))
    is_text = [_is_text(text.ljust(widest)) for text in texts]
    return (
        labels.to(device),
        torch.tensor(padded, device=device),
        torch.tensor(is_text, device=device),
    )


def _is_text(text: str) -> list[bool]:
    return [not is_silent(character) for character in text]


def _ids(texts: Sequence[str], atlas: GlyphAtlas) -> Int64[Tensor, "batch position"]:
    strings = [drawn(text.replace(GAP, " ")) for text in texts]
    return atlas.charset.encode_batch(strings).to(atlas.starts.device)


def _with_gaps(text: str, spaces: float) -> str:
    """The text with so many spaces shared among its gaps, two or more for each."""
    gaps = text.count(GAP)
    count = max(2, int(spaces / max(1, gaps)))
    return text.replace(GAP, " " * count)


def scan(
    placed: PlacedLines, pixels: tuple[int, int], size: tuple[int, int], random: Random
) -> Mask:
    """How much ink each pixel of a scan holds, 0 to 1, of the lines and of those above and below.

    Args:
        placed: the lines.
        pixels: rows and columns of the scan.
        size: height and width of the pictures that are read, in their pixels.
        random: what decides how paper lies in the scanner.
    """
    rows, columns = pixels
    height, width = size
    factor = math.ceil(_FINEST / rows)
    device = placed.left.device
    x = torch.arange(columns * factor, device=device) + 0.5
    y = torch.arange(rows * factor, device=device)[:, None] + 0.5
    x = x * (width / columns / factor)
    y = y * (height / rows / factor)
    column, row = _on_paper(placed, x, y, random)
    masks = placed.lines.masks[:, None].float()
    shrink = max(1, round(masks.shape[-1] / (x.numel() * _DENSEST)))
    if shrink > 1:
        masks = F.avg_pool2d(masks, (1, shrink), ceil_mode=True)
    extent = (masks.shape[-1] * shrink, masks.shape[-2])
    ink = _sample(masks, column, row, extent)
    _add_neighbors(ink, masks, column, row, extent, random)
    return F.avg_pool2d(ink, factor) if factor > 1 else ink


def _on_paper(
    placed: PlacedLines,
    x: Float[Tensor, " column"],
    y: Float[Tensor, "row 1"],
    random: Random,
) -> tuple[Float[Tensor, "batch row column"], Float[Tensor, "batch row column"]]:
    """Column and row of the atlas at places of the pictures, of paper that is bent and slanted."""
    rise = random.normal(_PAPER.rise, 1, 1)
    wave = random.normal(_PAPER.wave, 1, 1)
    wave = wave * random.bernoulli(_PAPER.wave_share, 1, 1)
    phase = random.uniform(*_PAPER.phase, 1, 1)
    turns = random.uniform(*_PAPER.turns, 1, 1)
    slant = random.uniform(*_PAPER.slant, 1, 1)
    slant = slant * random.bernoulli(_PAPER.slant_share, 1, 1)
    width = placed.width
    slope = rise * (x / width - 0.5)
    ripple = wave * (phase + turns * x / width).sin()
    bend = slope + ripple
    row = placed.top.view(-1, 1, 1) + (y + bend) / placed.down.view(-1, 1, 1)
    column = (x - placed.left.view(-1, 1, 1)) / placed.across.view(-1, 1, 1)
    column = column + slant * (row - placed.lines.masks.shape[1] / 2)
    return column, row


def _add_neighbors(
    ink: Mask,
    masks: Mask,
    column: Float[Tensor, "batch row column"],
    row: Float[Tensor, "batch row column"],
    extent: tuple[int, int],
    random: Random,
) -> None:
    """The lines above and below some lines: other lines of the batch, in place."""
    chosen = random.subset(_PAPER.neighbors_share)
    source = random.permutation()[chosen]
    pitch = random.uniform(*_PAPER.line_pitch, 1, 1)[chosen]
    side = random.bernoulli(0.5, 1, 1)[chosen] * 2 - 1
    shift = random.uniform(*_PAPER.neighbor_shift, 1, 1)[chosen]
    if len(chosen):
        column = column[chosen] - shift
        row = row[chosen] + side * pitch
        neighbors = _sample(masks[source], column, row, extent)
        ink[chosen] = torch.maximum(ink[chosen], neighbors)


def _sample(
    masks: Mask,
    column: Float[Tensor, "batch row column"],
    row: Float[Tensor, "batch row column"],
    extent: tuple[int, int],
) -> Mask:
    """Ink at places of masks with so many columns and rows, 0 to 1."""
    columns, rows = extent
    x = column * (2 / columns) - 1
    y = row * (2 / rows) - 1
    grid = torch.stack([x, y], -1)
    return F.grid_sample(masks, grid, padding_mode="zeros", align_corners=False) / 255
