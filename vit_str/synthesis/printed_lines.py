"""Lines of print as scanners see them, at one height and any width, and signs as cameras do.

Print is ink on paper, so a line is one plane of gray until the end. It is drawn with as many rows
as a scan has, where ink spreads, fades and breaks (`modern_print`, `old_print`), and then brought
to the height that is read.
"""

import math
import random as python_random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import torch
import torch.nn.functional as F
from jaxtyping import UInt8
from torch import Tensor

from vit_str.synthesis import modern_print, old_print
from vit_str.synthesis.compression import compress
from vit_str.synthesis.fields import Images
from vit_str.synthesis.glyphs import GlyphAtlas
from vit_str.synthesis.ingredients import Ingredients
from vit_str.synthesis.line_placement import PlacedLines, place, scan
from vit_str.synthesis.line_texts import LineTexts, label
from vit_str.synthesis.machine_faces import is_machine
from vit_str.synthesis.random_numbers import SEED_BITS, Random, Range, noise_bank
from vit_str.synthesis.renderer import RenderedBatch, Renderer, join
from vit_str.synthesis.squares import is_square, width_of

WIDTHS = range(32, 1601, 32)
"""Widths of lines, in pixels; all lines of a batch have one of them."""
_SAME_WIDTH = 4
"""Batches in a row with one width: devices that wait for each other have as much to do."""
_SIGNS = Ingredients(
    stacked=0.0,
    turned=0.0,
    raised=0.3,
    curve=0.3,
    margin=1.3,
    rotation=0.4,
    perspective=0.5,
)
"""Lines of signs stand straighter than single words."""
_PRINT = Ingredients(machine=1.3, struck=2.0, baseline_rule=3.0)
"""Of print only what texts themselves say."""
_LEAST_ADVANCE = 3.2  # pixels of a scan from letter to letter
_FEWEST_SQUARE_ROWS = 16  # of a scan of Hangul, whose strokes are close
_CHUNK = 16  # lines drawn at a time
_OF_ALL_WIDTHS = "ilmW0"  # letters that are equally wide in monospaced fonts only


@dataclass(frozen=True)
class _Widths:
    """Widths of lines and letters, in pixels; by eye."""

    median: float = 260.0  # what stands in columns is short
    spread: float = 0.85  # deviation of the logarithm
    character: Range = 7.0, 17.0  # from narrow to wide type
    narrowest: float = 5.0  # for a character, below which letters cannot be told apart


@dataclass(frozen=True)
class _Kinds:
    """Shares of the kinds of lines; by eye."""

    signs: float = 0.25  # of the batches
    widest_sign: int = 512  # pixels
    monospaced: float = 0.3  # of print, in the faces of typewriters and receipts


@dataclass(frozen=True)
class _Scan:
    """A group of scans with about as many pixels; by eye."""

    share: float  # of all scans
    fewest_rows: int  # that a line has
    most_rows: int


_WIDTHS = _Widths()
_KINDS = _Kinds()
_SCANS = (
    _Scan(share=0.45, fewest_rows=11, most_rows=20),
    _Scan(share=0.35, fewest_rows=20, most_rows=32),
    _Scan(share=0.2, fewest_rows=32, most_rows=44),
)
_BOOK_SCAN = _Scan(share=1.0, fewest_rows=22, most_rows=44)


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
        self.device = atlas.columns.device
        self.texts = texts
        self._old_texts = old_texts
        self._old_share = old_share if old_texts else 0.0
        self.height = height
        self.stride = stride
        self._widths = [width for width in WIDTHS if width <= widest]
        self._signs = Renderer(
            atlas,
            self.texts.lexicon,
            ingredients=_SIGNS,
            pictures=pictures,
        )
        self._typesetter = self._signs.typesetter
        self._monospaced = self._typesetter.among(_monospaced(atlas))
        self._old_typesetters = (
            old_print.typesetters(self._typesetter) if old_texts else {}
        )
        self._noise = noise_bank(self.device)

    def batch(
        self,
        size: int,
        seed: int,
        index: int,
        difficulty: float = 1.0,
    ) -> RenderedBatch:
        """Batch number ``index`` of the endless stream of ``seed``.

        Args:
            size: lines in the batch.
            seed: of the stream.
            index: of the batch in the stream.
            difficulty: from 0 (clean) to 1.
        """
        rng = python_random.Random(f"width {seed} {index // _SAME_WIDTH}")
        wanted = _WIDTHS.median * math.exp(rng.gauss(0, _WIDTHS.spread))
        width = min(self._widths, key=lambda width: abs(width - wanted))
        rng.seed(f"{seed} {index}")
        source = self.texts
        is_old = self._old_share > 0 and rng.random() < self._old_share
        if is_old and self._old_texts:
            source = self._old_texts
        longest = int(width / _WIDTHS.narrowest)
        texts = []
        for _ in range(size):
            length = width / rng.uniform(*_WIDTHS.character)
            texts.append(source.line(rng, length)[:longest])
        return self.render(texts, width, rng.getrandbits(SEED_BITS), difficulty, is_old)

    @torch.no_grad()
    def render(
        self,
        texts: Sequence[str],
        width: int,
        seed: int,
        difficulty: float = 1.0,
        is_old: bool = False,
    ) -> RenderedBatch:
        """Lines of the given texts (see `line_texts`): all as print, as old print or as signs.

        Args:
            texts: what to write, with gaps and leaders.
            width: of the lines, in pixels.
            seed: the same one gives the same batch.
            difficulty: from 0 (clean) to 1.
            is_old: print of before 1900.
        """
        rng = python_random.Random(seed)
        draw = self._old_print if is_old else self._print
        if not is_old and width <= _KINDS.widest_sign and rng.random() < _KINDS.signs:
            signs = self._signs.resized((self.height, width), (1, width // self.stride))
            return signs.render([label(text) for text in texts], seed, difficulty)
        chunks = []
        for start in range(0, len(texts), _CHUNK):
            chunk = texts[start : start + _CHUNK]
            chunks.append(draw(chunk, width, rng, difficulty))
        return join(chunks)

    def _print(
        self,
        texts: Sequence[str],
        width: int,
        rng: python_random.Random,
        difficulty: float,
    ) -> RenderedBatch:
        """Lines of today."""
        is_monospaced = rng.random() < _KINDS.monospaced
        typesetter = self._monospaced if is_monospaced else self._typesetter
        seed = rng.getrandbits(SEED_BITS)
        random = Random(seed, len(texts), self._noise)
        (kind,) = rng.choices(_SCANS, [kind.share for kind in _SCANS])
        pixels = self._scan_size(kind, texts, width, rng)
        size = self.height, width
        spacing = partial(modern_print.spacing, random=random)
        read = [label(text) for text in texts]
        styles = typesetter.styles.sample(read, _PRINT.at(difficulty), seed, width)
        placed = place(texts, typesetter, size, random, spacing, styles)
        mask = scan(placed, pixels, size, random)
        ink = modern_print.press(mask, difficulty, random)
        image = modern_print.expose(ink, difficulty, random)
        return self._finish(image, placed, difficulty, random)

    def _old_print(
        self,
        texts: Sequence[str],
        width: int,
        rng: python_random.Random,
        difficulty: float,
    ) -> RenderedBatch:
        """Lines of books from before 1900."""
        shares = list(self._old_typesetters.values())
        (typesetter,) = rng.choices(list(self._old_typesetters), shares)
        random = Random(rng.getrandbits(SEED_BITS), len(texts), self._noise)
        pixels = self._scan_size(_BOOK_SCAN, texts, width, rng)
        size = self.height, width
        spacing = partial(old_print.spacing, random=random, rng=rng)
        placed = place(texts, typesetter, size, random, spacing)
        mask = scan(placed, pixels, size, random)
        ink = old_print.press(mask, difficulty, random)
        image = old_print.expose(ink, difficulty, random)
        return self._finish(image, placed, difficulty, random)

    def _scan_size(
        self, kind: _Scan, texts: Sequence[str], width: int, rng: python_random.Random
    ) -> tuple[int, int]:
        """Rows and columns of a scan in which letters of the longest line can be told apart."""
        wanted = rng.randint(kind.fewest_rows, kind.most_rows)
        longest = max(map(width_of, texts))
        needed = math.ceil(_LEAST_ADVANCE * longest * self.height / width)
        fewest = _FEWEST_SQUARE_ROWS if any(map(is_square, "".join(texts))) else 0
        rows = max(wanted, needed, fewest)
        return rows, round(width * rows / self.height)

    def _finish(
        self, image: Images, placed: PlacedLines, difficulty: float, random: Random
    ) -> RenderedBatch:
        """The scan as a file keeps it, at the size that is read."""
        size = self.height, placed.width
        compress(image, difficulty, random)
        if image.shape[-2] != self.height:
            image = F.interpolate(image, size, mode="bicubic", antialias=True)
            image = image.clamp_(0, 1)
        return RenderedBatch(
            images=(image * 255).round_().to(torch.uint8),
            labels=placed.labels,
            token_characters=placed.characters_at(self.stride),
            boxes=placed.boxes(),
        )


def _monospaced(atlas: GlyphAtlas) -> list[int]:
    """Fonts whose letters are all as wide; all fonts if there are none."""
    characters = enumerate(atlas.charset.characters)
    letters = [place for place, character in characters if character in _OF_ALL_WIDTHS]
    everything = list(range(len(atlas)))
    if not letters:
        return everything
    advances = atlas.advances[:, letters]
    is_even = advances.amax(1) - advances.amin(1) < 1
    of_machines = [is_machine(name) for name in atlas.names]
    is_even &= ~torch.tensor(of_machines, device=is_even.device)
    # Files of accented letters alone have none of them, and no advance for any.
    has_all = atlas.is_correct[:, letters].all(1)
    return (is_even & has_all).nonzero()[:, 0].tolist() or everything
