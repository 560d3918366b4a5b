"""Books of before 1900: blackletter and old faces, words spread for emphasis, letterpress.

Pressed type leaves more ink than its face has, unevenly, with rough edges; hairlines of worn type
break, and thin paper shows what is printed on its back.
"""

import random as python_random
import re
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from vit_str.synthesis.fields import Images, Mask, spread
from vit_str.synthesis.fonts import limit_families
from vit_str.synthesis.glyphs import GlyphAtlas
from vit_str.synthesis.layout import Typesetter
from vit_str.synthesis.optics import gaussian
from vit_str.synthesis.random_numbers import Random, Range
from vit_str.synthesis.rasterize import is_blackletter

LANGUAGES = "de-Latf*12+de*2+en-Latf+en*2+fr-Latf+fr+it-Latf*2"
"""Of the words by default, mostly German."""
# Of the lines; the others are in old faces of today's letters
_BLACKLETTER_SHARE = 0.72
_MOST_OF_A_FAMILY = 4
_OLD_FACES = re.compile(
    r"fell|cardo|garamond|caslon|caslan|didot|bodoni|bodini|goudy|baskerv|qtbasker"
    r"|old ?standard|coelacanth|junicode|linden|fanwood|century|scotch|clarendon|erewhon|utopia"
    r"|computer modern|latin modern|cmu|newcomputermodern|libertin|gyre (pagella|schola|bonum)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class OldPrint:
    """How much of a stream of lines is print of before 1900.

    Args:
        share: of the batches of print.
        language: of the words, as for `Lexicon`; ``-Latf`` spells with the long s.
    """

    share: float
    language: str = LANGUAGES


@dataclass(frozen=True)
class _Spacing:
    """Space between characters, in pixels of the atlas; ranges by eye, from scanned books."""

    tight: Range = -1.5, 1.0  # from letter to letter
    joined: Range = -2.0, 0.0  # within what blackletter casts in one piece
    words: Range = 0.0, 14.0  # more than the space of the font
    mark: Range = 4.0, 14.0  # before ; : ! ? and, seldom, commas
    mark_share: float = 0.35  # of the lines
    emphasis: Range = 6.0, 16.0  # from letter to letter of a spread word
    emphasis_share: float = 0.2  # of the lines
    # How many are spread, one of these
    emphasis_words: tuple[int, ...] = (1, 1, 2, 3, 20)


_SPACING = _Spacing()
_SPACE = re.compile(" ")
_JOINED = re.compile("c(?=[hk])|t(?=z)|[ſf](?=[ſfltiz])")
_BEFORE_MARK = re.compile(r"\w(?=[;:!?])")
_WORD = re.compile(r"\w{2,}")


@dataclass(frozen=True)
class _Press:
    """Ink on paper: ranges by eye, from scanned books. Blur is in pixels of a scan of 32 rows."""

    rows: int = 32
    blur: Range = 0.35, 1.0
    level: Range = 0.14, 0.42  # of blurred ink that prints: low is bold, high thin
    unevenness: Range = 0.0, 0.12  # of the level from place to place
    roughness: Range = 0.0, 0.14  # of the level from pixel to pixel
    uneven_grid: tuple[int, int] = (2, 8)  # random values over a line
    steepness: Range = 5.0, 14.0  # of the edge between paper and ink
    white: float = 0.02  # blurred ink below which paper stays white
    binary_share: float = 0.3  # scanned in black and white
    binary_steepness: float = 40.0
    specks_share: float = 0.25
    speck: Range = 2.6, 3.6  # deviations of noise from which on there is a speck
    back_share: float = 0.2  # shows what is printed on its back
    back: Range = 0.04, 0.22  # how much of its ink
    back_blur: float = 1.6
    # Down and to the right, of so many parts of a line
    back_shift: tuple[int, int] = (3, 5)
    paper: Range = 0.0, 0.3  # darker than white; its square is drawn
    ink: Range = 0.0, 0.35  # of the brightness of the paper
    yellow: Range = 0.0, 0.12  # less blue than red, of the lines in color
    color_share: float = 0.2
    light: Range = 0.0, 0.08  # deviation of brightness from place to place
    light_grid: tuple[int, int] = (2, 4)  # random values over a line
    grain: Range = 0.0, 0.2  # of the paper; its square is drawn


_PRESS = _Press()


def blackletter_fonts(atlas: GlyphAtlas) -> list[int]:
    """Places of the fonts of an atlas that are Fraktur and the like; few of each family."""
    places = [place for place, name in enumerate(atlas.names) if is_blackletter(name)]
    return limit_families(atlas.names, places, most=_MOST_OF_A_FAMILY)


def old_faces(atlas: GlyphAtlas) -> list[int]:
    """Places of the fonts with the letters of today, drawn after type of before 1900."""
    places = [
        place for place, name in enumerate(atlas.names) if _OLD_FACES.search(name)
    ]
    return limit_families(atlas.names, places, most=_MOST_OF_A_FAMILY)


def typesetters(everything: Typesetter) -> dict[Typesetter, float]:
    """For blackletter and for old faces, as far as there are such fonts, with their shares."""
    found = {}
    blackletter = blackletter_fonts(everything.atlas)
    if blackletter:
        found[everything.among(blackletter)] = _BLACKLETTER_SHARE
    old = old_faces(everything.atlas)
    if old:
        found[everything.among(old)] = 1 - _BLACKLETTER_SHARE
    return found or {everything: 1.0}


def spacing(
    texts: Sequence[str], random: Random, rng: python_random.Random
) -> Float[Tensor, "batch position"]:
    """Pixels of the atlas behind every character: wide between words, and within some of them.

    Numbers for each line are drawn from ``random``, the words that are spread from ``rng``.
    """
    ranges = _SPACING
    tight = random.uniform(*ranges.tight, 1)
    joined = random.uniform(*ranges.joined, 1)
    words = random.uniform(*ranges.words, 1)
    mark = random.uniform(*ranges.mark, 1) * random.bernoulli(ranges.mark_share, 1)
    wide = random.uniform(*ranges.emphasis, 1)
    places = torch.zeros(4, len(texts), max(map(len, texts)))
    joins, spaces, marks, emphasis = places.unbind()
    for row, text in enumerate(texts):
        _mark(joins[row], _JOINED, text)
        _mark(spaces[row], _SPACE, text)
        _mark(marks[row], _BEFORE_MARK, text)
        if rng.random() < ranges.emphasis_share:
            _emphasize(emphasis[row], text, rng)
    joins *= 1 - emphasis  # what is spread is not joined
    joins, spaces, marks, emphasis = places.to(tight.device).unbind()
    white = tight + joins * joined
    white = white + spaces * words
    white = white + marks * mark
    return white + emphasis * wide


def _mark(
    places: Float[Tensor, " position"],
    pattern: re.Pattern[str],
    text: str,
) -> None:
    for match in pattern.finditer(text):
        places[match.start()] = 1


def _emphasize(
    places: Float[Tensor, " position"],
    text: str,
    rng: python_random.Random,
) -> None:
    """Mark the letters of some words in a row."""
    words = list(_WORD.finditer(text))
    if not words:
        return
    first = rng.randrange(len(words))
    chosen = words[first : first + rng.choice(_SPACING.emphasis_words)]
    places[chosen[0].start() : chosen[-1].end() - 1] = 1


def press(mask: Mask, difficulty: float, random: Random) -> Mask:
    """Ink as type and paper leave it, from ink as the face has it; both from 0 to 1.

    ``difficulty``, from 0 to 1, scales what makes reading hard.
    """
    ranges = _PRESS
    size = mask.shape[-2:]
    blur = random.uniform(*ranges.blur, 1, 1, 1) * size[0] / ranges.rows
    level = random.uniform(*ranges.level, 1, 1, 1)
    uneven = spread(random.normal(1.0, 1, *ranges.uneven_grid), size)
    uneven = uneven * random.uniform(*ranges.unevenness, 1, 1, 1)
    rough = random.pixels(1, *size)
    rough = rough * random.uniform(*ranges.roughness, 1, 1, 1)
    steepness = random.uniform(*ranges.steepness, 1, 1, 1)
    is_binary = random.bernoulli(ranges.binary_share, 1, 1, 1)
    binary = torch.full_like(steepness, ranges.binary_steepness)
    steepness = steepness.lerp(binary, is_binary)
    inked = gaussian(mask, blur, taps=3)
    # Where the page hardly has ink, the level falls too: hairlines thin out, they do not vanish.
    level = level * inked.amax((2, 3), keepdim=True)
    flaws = difficulty * (uneven + rough) * inked.sqrt()
    pressed = ((inked + flaws - level) * steepness).sigmoid()
    has_ink = inked > ranges.white
    pressed = pressed * has_ink
    pressed = _with_specks(pressed, difficulty, random)
    return _with_back(pressed, difficulty, random)


def _with_specks(mask: Mask, difficulty: float, random: Random) -> Mask:
    noise = random.pixels(1, *mask.shape[-2:])
    limit = random.uniform(*_PRESS.speck, 1, 1, 1)
    is_chosen = random.bernoulli(_PRESS.specks_share * difficulty, 1, 1, 1)
    dark = (noise > limit).float() * is_chosen
    bright = (noise < -limit).float() * is_chosen
    return (mask + dark - bright).clamp(0, 1)


def _with_back(mask: Mask, difficulty: float, random: Random) -> Mask:
    """A line that shows through from the back of the paper: mirrored, blurred and faint."""
    height, width = mask.shape[-2:]
    down, right = _PRESS.back_shift
    other = mask[random.permutation()].flip(3)
    other = other.roll((height // down, width // right), (2, 3))
    strength = random.uniform(*_PRESS.back, 1, 1, 1)
    strength = strength * random.bernoulli(_PRESS.back_share * difficulty, 1, 1, 1)
    blur = torch.full_like(strength, _PRESS.back_blur * height / _PRESS.rows)
    return mask.maximum(gaussian(other, blur, taps=5) * strength)


def expose(mask: Mask, difficulty: float, random: Random) -> Images:
    """Dark ink on bright paper, as book scanners see them.

    ``difficulty``, from 0 to 1, scales the grain of the paper.
    """
    ranges = _PRESS
    size = mask.shape[-2:]
    paper = 1 - random.uniform(*ranges.paper, 1, 1, 1).square() / ranges.paper[1]
    ink = paper * random.uniform(*ranges.ink, 1, 1, 1)
    yellow = random.uniform(*ranges.yellow, 1, 1, 1)
    yellow = yellow * random.bernoulli(ranges.color_share, 1, 1, 1)
    tint = torch.cat([torch.ones_like(yellow), 1 - yellow / 3, 1 - yellow], 1)
    light = random.normal(1.0, 1, *ranges.light_grid)
    light = light * random.uniform(*ranges.light, 1, 1, 1)
    grain = random.uniform(*ranges.grain, 1, 1, 1).square() * difficulty
    printed = paper.lerp(ink, mask) * (1 + spread(light, size))
    brightness = printed + random.pixels(1, *size) * grain
    return (brightness * tint).clamp_(0, 1)
