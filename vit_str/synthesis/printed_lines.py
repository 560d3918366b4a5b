"""Lines of print as scanners see them, at one height and any width, and signs as cameras do.

Print is ink on paper, so a line is one plane of gray until the end. It is drawn with as many rows
as a scan has, where ink spreads, fades and breaks, and then brought to the height that is read.

Shares are of lines, ink and brightness go from 0 to 1; lengths are in pixels of the line as it is
read up to `_scan`, of the scan after it.
"""

import math
import random as python_random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int64, UInt8
from torch import Tensor

from vit_str.runtime.charset import PADDING
from vit_str.synthesis import old_print
from vit_str.synthesis.compression import compress
from vit_str.synthesis.fields import Images, Mask, pixel_columns, pixel_rows, spread
from vit_str.synthesis.glyphs import GlyphAtlas
from vit_str.synthesis.ingredients import Ingredients
from vit_str.synthesis.layout import Lines, Typesetter
from vit_str.synthesis.line_texts import GAP, LineTexts, drawn, is_silent, label, spoken
from vit_str.synthesis.optics import gaussian
from vit_str.synthesis.random_numbers import Random, noise_bank
from vit_str.synthesis.renderer import RenderedBatch, Renderer, join

WIDTHS = range(32, 1601, 32)
"""Widths of lines, in pixels; all lines of a batch have one of them."""
_MEDIAN_WIDTH = 260.0
_WIDTH_SPREAD = 0.85
"""Of lines, and the deviation of its logarithm: what stands in columns is short."""
_SAME_WIDTH = 4
"""Batches in a row with one width: devices that wait for each other have as much to do."""
_CHARACTER = 7.0, 17.0  # pixels that a character takes, from narrow to wide type
_NARROWEST = 5.0  # pixels for a character, below which letters cannot be told apart
_SIGN_SHARE, _WIDEST_SIGN = 0.25, 512  # of batches, in up to so many pixels, by `Renderer`
_SIGNS = Ingredients(
    stacked=0.0, turned=0.0, raised=0.3, curve=0.3, margin=1.3, rotation=0.4, perspective=0.5
)
_MONOSPACED = 0.3  # share of print in the faces of typewriters and receipts
_SCANS = ((0.45, 11, 20), (0.35, 20, 32), (0.2, 32, 44))
"""Shares of scans by the pixels that a line is high in them: from and up to."""
_BOOK_SCANS = 22, 44
"""Pixels that a line of an old book is high in scans, from and up to."""
_LEAST_ADVANCE = 3.2  # pixels of a scan from letter to letter
_FINEST = 36  # rows from which on letters are drawn without averaging
_CHUNK = 16  # lines drawn at a time
_LINE_PITCH = 40.0, 60.0  # rows of the atlas from a line to the next


class TextLineRenderer:
    """Draws lines of text as batches of tensor operations; an index gives the same batch always.

    Args:
        atlas: the fonts; its charset must hold the space.
        texts: what to write.
        height: of the lines, in pixels.
        widest: of the lines, in pixels.
        stride: pixels for each of the ``token_characters`` of a line.
        pictures: photographs to use as backgrounds of signs.
        old_texts: what to write in print of before 1900; without them there is no such print.
        old_share: of that, in batches of print.
    """

    def __init__(
        self,
        atlas: GlyphAtlas,
        texts: LineTexts,
        height: int = 32,
        widest: int = WIDTHS[-1],
        stride: int = 2,
        pictures: UInt8[Tensor, "picture 3 height width"] | None = None,
        old_texts: LineTexts | None = None,
        old_share: float = 0.0,
    ) -> None:
        self.texts = texts
        self._old_texts = old_texts
        self._old_share = old_share if old_texts else 0.0
        self.height = height
        self.stride = stride
        self._widths = [width for width in WIDTHS if width <= widest]
        self._signs = Renderer(atlas, self.texts.lexicon, ingredients=_SIGNS, pictures=pictures)
        everything = self._signs.typesetter
        self._typesetters = everything, everything.among(_monospaced(atlas))
        self._old_typesetters = old_print.typesetters(everything) if old_texts else {}
        self._noise = noise_bank(atlas.columns.device)

    def batch(self, size: int, seed: int, index: int, difficulty: float = 1.0) -> RenderedBatch:
        """Batch number ``index`` of the endless stream of ``seed``."""
        rng = python_random.Random(f"width {seed} {index // _SAME_WIDTH}")
        wanted = _MEDIAN_WIDTH * math.exp(rng.gauss(0, _WIDTH_SPREAD))
        rng.seed(f"{seed} {index}")
        width = min(self._widths, key=lambda width: abs(width - wanted))
        source = self.texts
        is_old = self._old_share > 0 and rng.random() < self._old_share
        if is_old and self._old_texts:
            source = self._old_texts
        texts = [source.line(rng, width / rng.uniform(*_CHARACTER)) for _ in range(size)]
        texts = [text[: int(width / _NARROWEST)] for text in texts]
        return self.render(texts, width, rng.getrandbits(62), difficulty, is_old)

    @torch.no_grad()
    def render(
        self,
        texts: Sequence[str],
        width: int,
        seed: int,
        difficulty: float = 1.0,
        is_old: bool = False,
    ) -> RenderedBatch:
        """Lines of the given texts (see `line_texts`): all as print, as old print or as signs."""
        rng = python_random.Random(seed)
        draw = self._old_print if is_old else self._print
        if not is_old and width <= _WIDEST_SIGN and rng.random() < _SIGN_SHARE:
            signs = self._signs.resized((self.height, width), (1, width // self.stride))
            return signs.render(list(map(label, texts)), seed, difficulty)
        starts = range(0, len(texts), _CHUNK)
        return join([draw(texts[s : s + _CHUNK], width, rng, difficulty) for s in starts])

    def _print(
        self, texts: Sequence[str], width: int, rng: python_random.Random, difficulty: float
    ) -> RenderedBatch:
        typesetter = self._typesetters[rng.random() < _MONOSPACED]
        random = Random(rng.getrandbits(62), len(texts), self._noise)
        (scan,) = rng.choices(_SCANS, [share for share, *_ in _SCANS])
        size = self.height, width
        rows = self._rows(rng.randint(*scan[1:]), texts, width)
        placed = _place(texts, typesetter, size, random, partial(_even_spacing, random=random))
        mask = _scan(placed, (rows, round(width * rows / self.height)), size, random)
        _add_rules(mask, difficulty, random)
        image = _expose(_wear(mask, difficulty, random), difficulty, random)
        return self._finish(image, placed, difficulty, random)

    def _old_print(
        self, texts: Sequence[str], width: int, rng: python_random.Random, difficulty: float
    ) -> RenderedBatch:
        """Lines of books from before 1900."""
        shares = list(self._old_typesetters.values())
        (typesetter,) = rng.choices(list(self._old_typesetters), shares)
        random = Random(rng.getrandbits(62), len(texts), self._noise)
        size = self.height, width
        rows = self._rows(rng.randint(*_BOOK_SCANS), texts, width)
        spacing = partial(old_print.spacing, random=random, rng=rng)
        placed = _place(texts, typesetter, size, random, spacing)
        mask = _scan(placed, (rows, round(width * rows / self.height)), size, random)
        image = old_print.expose(old_print.press(mask, difficulty, random), difficulty, random)
        return self._finish(image, placed, difficulty, random)

    def _rows(self, wanted: int, texts: Sequence[str], width: int) -> int:
        """Of a scan in which the letters of the longest line can be told apart."""
        longest = max(map(len, texts))
        return max(wanted, math.ceil(_LEAST_ADVANCE * longest * self.height / width))

    def _finish(
        self, image: Images, placed: "_Placed", difficulty: float, random: Random
    ) -> RenderedBatch:
        """The scan as a file keeps it, at the size that is read."""
        size = self.height, placed.width
        compress(image, difficulty, random)
        if image.shape[-2] != self.height:
            image = F.interpolate(image, size, mode="bicubic", antialias=True).clamp_(0, 1)
        return RenderedBatch(
            (image * 255).round_().to(torch.uint8),
            placed.labels,
            placed.characters_at(self.stride),
            placed.boxes(),
        )


@dataclass(frozen=True, slots=True)
class _Placed:
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
        inside = (column >= 0) & (column < self.lines.widths[:, None]) & (owner != PADDING)
        known = owner.clamp(min=0)
        inside &= self.is_text.gather(1, known)
        return self.lines.ids.gather(1, known).where(inside, PADDING)

    def boxes(self) -> Float[Tensor, "batch position side"]:
        """Left, top, right, bottom of every character that is read, in pixels; zero for none."""
        index = self.places[..., None].expand(-1, -1, 4)
        x1, y1, x2, y2 = self.lines.boxes.gather(1, index).unbind(-1)
        left = self.left[:, None]
        top = self.top[:, None]
        across = self.across[:, None]
        down = self.down[:, None]
        sides = [left + x1 * across, (y1 - top) * down, left + x2 * across, (y2 - top) * down]
        has_ink = (x2 > x1) & (self.labels != PADDING)
        return torch.stack(sides, -1) * has_ink[..., None]


def _even_spacing(texts: Sequence[str], random: Random) -> Float[Tensor, "batch 1"]:
    """Pixels of the atlas behind every character: none, or the same for a whole line."""
    return (random.uniform(-1.5, 5) * random.bernoulli(0.3))[:, None]


def _place(
    texts: Sequence[str],
    typesetter: Typesetter,
    size: tuple[int, int],
    random: Random,
    spacing: Callable[[Sequence[str]], Float[Tensor, "batch #position"]],
) -> _Placed:
    """Set texts so that they fit into pictures of a size, with gaps as wide as there is room.

    ``spacing`` says how many pixels of the atlas are behind the characters of texts.
    """
    atlas = typesetter.atlas
    (height, width) = size
    ids = _ids(texts, atlas)
    fonts = typesetter.choose_fonts(ids, random)
    top, bottom = typesetter.extent(ids, fonts)
    # Half of the lines are cropped at their ink, half at the line.
    whole = random.bernoulli(0.5) * random.uniform(0, 1)
    top = top.lerp(top.clamp(max=4), whole)
    bottom = bottom.lerp(bottom.clamp(min=44), whole)
    inside = (bottom - top).clamp(min=14)
    above, below = random.uniform(-0.03, 0.28, 2).unbind(1)
    down = height / (inside * (1 + above + below))
    across = down * random.normal(0.14).exp().clamp(0.65, 1.35)
    margins = (random.uniform(1, 16, 2) * random.uniform(0.2, 1, 1)).clamp(max=0.12 * width)
    room = width - margins.sum(1)
    advances = atlas.advances[fonts[:, None], ids.clamp(min=0)] * (ids != PADDING)
    space = atlas.advances[fonts, atlas.charset.encode(" ")[0]].clamp(min=4)
    spaces = (room / across - advances.sum(1)) / space * random.uniform(0.5, 1.0)
    texts = [_with_gaps(text, n) for text, n in zip(texts, spaces.tolist(), strict=True)]
    lines = typesetter.lay_out(_ids(texts, atlas), fonts, spacing(texts))
    across = (across * random.uniform(0.9, 1.25)).minimum(room / lines.widths)
    left = margins[:, 0] + (room - lines.widths * across) / 2 * random.bernoulli(0.2)
    labels, places, is_text = _labels(texts, atlas)
    top = top - above * inside
    return _Placed(lines, labels, places, is_text, left, top, across, down, width)


def _labels(texts: Sequence[str], atlas: GlyphAtlas) -> tuple[Tensor, Tensor, Tensor]:
    """Ids of what is read, its places among what is drawn, and which of that is text."""
    device = atlas.starts.device
    labels = atlas.charset.encode_batch(list(map(label, texts)))
    places = [spoken(text) for text in texts]
    longest = labels.shape[1]
    widest = max(map(len, texts))
    padded = [row + [0] * (longest - len(row)) for row in places]
    is_text = [[not is_silent(c) for c in text.ljust(widest)] for text in texts]
    return labels.to(device), torch.tensor(padded, device=device), torch.tensor(is_text).to(device)


def _ids(texts: Sequence[str], atlas: GlyphAtlas) -> Int64[Tensor, "batch position"]:
    strings = [drawn(text.replace(GAP, " ")) for text in texts]
    return atlas.charset.encode_batch(strings).to(atlas.starts.device)


def _with_gaps(text: str, spaces: float) -> str:
    """The text with so many spaces shared among its gaps, two or more for each."""
    gaps = text.count(GAP)
    return text.replace(GAP, " " * max(2, int(spaces / max(1, gaps))))


def _monospaced(atlas: GlyphAtlas) -> list[int]:
    """Fonts whose letters are all as wide; all fonts if there are none."""
    letters = [i for i, c in enumerate(atlas.charset.characters) if c in "ilmW0"]
    advances = atlas.advances[:, letters]
    same = (advances.amax(1) - advances.amin(1) < 1).nonzero()[:, 0].tolist() if letters else []
    return same or list(range(len(atlas)))


def _scan(placed: _Placed, scan: tuple[int, int], size: tuple[int, int], random: Random) -> Mask:
    """How much ink each pixel of a scan holds, of the lines and of those above and below."""
    (rows, columns) = scan
    (height, width) = size
    factor = math.ceil(_FINEST / rows)
    device = placed.left.device
    x = (torch.arange(columns * factor, device=device) + 0.5) * (width / columns / factor)
    y = (torch.arange(rows * factor, device=device) + 0.5)[:, None] * (height / rows / factor)
    rise = random.normal(1.6, 1, 1)
    wave = random.normal(1.2, 1, 1) * random.bernoulli(0.3, 1, 1)
    phase = random.uniform(0, 6, 1, 1)
    turns = random.uniform(1, 6, 1, 1)
    bend = rise * (x / width - 0.5) + wave * (phase + turns * x / width).sin()
    slant = random.uniform(-0.25, 0.25, 1, 1) * random.bernoulli(0.15, 1, 1)
    row = placed.top.view(-1, 1, 1) + (y + bend) / placed.down.view(-1, 1, 1)
    column = (x - placed.left.view(-1, 1, 1)) / placed.across.view(-1, 1, 1)
    column = column + slant * (row - placed.lines.masks.shape[1] / 2)
    chosen = random.subset(0.45)
    source = random.permutation()[chosen]
    pitch = random.uniform(*_LINE_PITCH, 1, 1)[chosen]
    side = random.bernoulli(0.5, 1, 1)[chosen] * 2 - 1
    shift = random.uniform(-200, 60, 1, 1)[chosen]
    masks = placed.lines.masks[:, None].float()
    shrink = max(1, round(masks.shape[-1] / (x.numel() * 1.3)))
    if shrink > 1:
        masks = F.avg_pool2d(masks, (1, shrink), ceil_mode=True)
    extent = masks.shape[-1] * shrink, masks.shape[-2]
    ink = _sample(masks, column, row, extent)
    if len(chosen):
        beside = _sample(masks[source], column[chosen] - shift, row[chosen] + side * pitch, extent)
        ink[chosen] = torch.maximum(ink[chosen], beside)
    return F.avg_pool2d(ink, factor) if factor > 1 else ink


def _sample(masks: Tensor, column: Tensor, row: Tensor, extent: tuple[int, int]) -> Mask:
    grid = torch.stack([column * (2 / extent[0]) - 1, row * (2 / extent[1]) - 1], -1)
    return F.grid_sample(masks, grid, padding_mode="zeros", align_corners=False) / 255


def _add_rules(mask: Mask, difficulty: float, random: Random) -> None:
    """Underlines, and the sides of boxes and tables, in place."""
    height, width = mask.shape[-2:]
    rows = pixel_rows(mask) / height
    columns = pixel_columns(mask)
    thickness = random.uniform(0.4, 1.2, 1, 1, 1)
    slope = random.normal(0.04, 1, 1, 1) * (columns / width - 0.5)
    places = random.uniform(0.84, 1.0, 1, 1, 1), random.uniform(0.0, 0.07, 1, 1, 1)
    for share, place in zip((0.12, 0.06), places, strict=True):
        drawn = random.bernoulli(share * difficulty, 1, 1, 1)
        distance = (rows - place - slope).abs() * height
        mask.copy_(mask.maximum((thickness - distance + 0.5).clamp(0, 1) * drawn))
    for side in (0, width):
        drawn = random.bernoulli(0.05 * difficulty, 1, 1, 1)
        distance = (columns - side).abs() - random.uniform(0, 1.5, 1, 1, 1)
        mask.copy_(mask.maximum((thickness - distance + 0.5).clamp(0, 1) * drawn))


def _wear(mask: Mask, difficulty: float, random: Random) -> Mask:
    """What printers and copiers do to ink: bold, thin, dotted, faded, broken, specked."""
    size = mask.shape[-2:]
    mask = (mask * random.normal(0.35, 1, 1, 1).exp().clamp(0.7, 2.2)).clamp_(max=1)
    needles = random.subset(0.08 * difficulty)
    if len(needles) and size[0] >= 18:
        turn = 2 * math.pi / (size[0] * random.uniform(0.075, 0.11, 1, 1, 1)[needles])
        dots = (pixel_rows(mask) * turn).cos() + (pixel_columns(mask) * turn).cos()
        mask[needles] *= (0.75 + 0.6 * dots).clamp(0, 1)
    # What is faded is not copied too: nothing would be left.
    damage = random.uniform(0, 1)
    faded = (damage < 0.25 * difficulty).nonzero()[:, 0]
    loss = random.uniform(0.2, 0.65, 1, 1, 1)[faded]
    where = random.normal(1.5, 1, 2, 8)[faded]
    if len(faded):
        mask[faded] *= 1 - loss * spread(where, size).sigmoid()
    noise = random.pixels(1, *size)
    specks = random.subset(0.3 * difficulty)
    rare = random.uniform(2.0, 3.4, 1, 1, 1)[specks]
    if len(specks):
        spots = F.avg_pool2d(noise[specks], 2, 1, 1)[..., : size[0], : size[1]] * 2
        mask[specks] = (mask[specks] + (spots > rare).float() - (spots < -rare).float()).clamp(0, 1)
    copied = (damage > 1 - 0.3 * difficulty).nonzero()[:, 0]
    level = random.uniform(0.25, 0.55, 1, 1, 1)[copied]
    grain = random.uniform(0, 0.16, 1, 1, 1)
    if len(copied):
        spread_ink = F.avg_pool2d(mask[copied], 3, 1, 1).lerp(mask[copied], 0.6)
        level = level * spread_ink.amax((2, 3), keepdim=True)
        mask[copied] = ((spread_ink + noise[copied] * grain[copied] - level) * 12).sigmoid()
    return mask


def _expose(mask: Mask, difficulty: float, random: Random) -> Images:
    """Paper and ink in color, light, focus and noise."""
    size = mask.shape[-2:]
    soft = random.subset(0.45 * difficulty)
    deviation = random.uniform(0.25, 1.0, 1, 1, 1)[soft] * min(1.0, size[0] / 28)
    if len(soft):
        mask[soft] = gaussian(mask[soft], deviation, 3)
    tint = random.normal(0.05, 3, 1, 1) * random.bernoulli(0.25, 1, 1, 1)
    paper = (random.uniform(0.72, 1.0, 1, 1, 1) + tint).clamp(0.5, 1)
    contrast = random.uniform(0.3, 1.0, 1, 1, 1).maximum(random.bernoulli(0.6, 1, 1, 1) * 0.8)
    color = random.uniform(0, 0.5, 3, 1, 1) * random.bernoulli(0.15, 1, 1, 1)
    ink = paper * (1 - contrast) + color * contrast
    inverted = random.bernoulli(0.06, 1, 1, 1)
    paper, ink = paper.lerp(ink, inverted), ink.lerp(paper, inverted)
    light = 1 + spread(random.normal(1.0, 1, 2, 4) * random.uniform(0, 0.1, 1, 1, 1), size)
    strength = random.uniform(0, 0.28, 1, 1, 1).square() * contrast * difficulty
    noise = random.pixels(1, *size) * strength
    return (paper.lerp(ink, mask) * light + noise).clamp_(0, 1)
