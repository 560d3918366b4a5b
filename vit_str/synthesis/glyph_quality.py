"""Which glyphs show the character they stand for, judged by comparing them over all fonts.

Some fonts draw capitals for lower case, or ornaments for letters. A label for such a drawing would
be wrong, so these glyphs are marked. Recognition is by the nearest of a few usual shapes of each
character, in the space whitened by how much the shapes of one character vary (linear discriminant
analysis), from the plain glyph or from one with thickened strokes, which closes hollow letters.
"""

import math
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int64, UInt8
from torch import Tensor

from vit_str.synthesis.rasterize import expected

DISTINCT_LETTERS = "abdefghijlmnqrty"
"""Letters whose two cases differ in shape in most fonts."""

# Chosen by looking at sheets of what they accept and reject, over 1,350 fonts.
_SAME_SHAPE = 0.85  # correlation from which on both cases of a letter count as alike
_SAME_SHARE = 0.5  # of such letters, from which on a font has one case only
_SURELY_SAME = 0.95  # correlation from which on a single letter is of the wrong case
_SLENDER = "ijl"  # letters whose cases differ by less than one sees
_NEAR = 0.03  # share of the charset that may resemble a recognized glyph more
_FAR = 0.125  # the same of a correct glyph
# Characters that may resemble a correct glyph more, in small charsets too
_FEWEST_FAR = 8
_DECENT_FONT = 0.4  # share of recognized characters of fonts to compare with
_FAMILIAR_FONT = 0.85  # the same of fonts where more may resemble a glyph more
_FAMILIARITY = 3  # how many times as many
_ORNAMENTS = 0.2  # the same, below which a font shows ornaments
_FEWEST_FONTS = 8  # with fewer, only the cases of letters are compared
_FONTS_PER_SHAPE = 40  # one more usual shape of a character for every so many fonts
_MOST_SHAPES = 6  # usual shapes of a character
_ROUNDS = 6  # of k-means
_FEWEST_OF_SHAPE = 3  # fonts with a shape, up to which it is an oddity, not usual
_SHRINKAGE = 0.05  # of the covariance, as a share of its mean variance
_SAMPLES_PER_DIM = 100  # with which the shrinkage doubles
_LEAST_VARIANCE = 1e-6
_ALPHABET = 0.5  # share of the letters of a case that make it usable
_NOWHERE = 1e3  # coordinate of what resembles nothing
_FEWEST_CORRECT = 0.2  # of the expected characters, which make a font usable


@dataclass(frozen=True, slots=True)
class GlyphQuality:
    """Measurements of the glyphs of all fonts."""

    is_correct: Bool[Tensor, "font character"]  # whether a glyph shows its character
    # Share of the letters and digits of each font that are hard to mistake, 0 to 1; hardly any in a
    # font of ornaments, and 1 in a font without letters
    recognized: Float[Tensor, " font"]


def judge(
    shapes: UInt8[Tensor, "font character variant shape shape"],
    drawn: Bool[Tensor, "font character"],
    characters: str,
    blackletter: Bool[Tensor, " font"] | None = None,
) -> GlyphQuality:
    """Mark glyphs that show something else than their character.

    With less than 8 fonts nothing is usual, and only the cases of letters are compared. So it is
    with ``blackletter`` fonts, whose letters look like others of today's.
    """
    correct = drawn & ~_wrong_case(shapes[:, :, 0], drawn, characters)
    if len(shapes) < _FEWEST_FONTS:
        return GlyphQuality(correct, torch.ones(len(shapes)))
    letters = _which(characters, str.isalnum)
    compared = correct & letters if letters.any() else correct
    near = math.ceil(_NEAR * len(characters))
    far = max(math.ceil(_FAR * len(characters)), _FEWEST_FAR)
    decent = torch.ones(len(shapes), dtype=torch.bool)
    for _ in range(2):  # again without the fonts that turned out to draw something else
        usable = drawn & decent[:, None]
        variants = [_rivals(variant, usable) for variant in shapes.unbind(2)]
        rivals = torch.stack(variants).amin(0)
        is_recognized = (rivals < near) & compared
        recognized = is_recognized.sum(1) / compared.sum(1).clamp(min=1)
        recognized = torch.where(compared.any(1), recognized, 1.0)
        decent = recognized > _DECENT_FONT
        if not decent.any():
            break
    # An odd glyph in an ordinary font is a slanted I more often than an ornament.
    limits = far * torch.where(recognized > _FAMILIAR_FONT, _FAMILIARITY, 1)
    shown = (rivals < limits[:, None]) | _which(characters, str.isspace)
    if blackletter is not None:
        shown |= blackletter[:, None]
        recognized = recognized.masked_fill(blackletter, 1.0)
    return GlyphQuality(correct & shown, recognized)


def flaw(
    correct: Bool[Tensor, " character"],
    recognized: float,
    characters: str,
    is_blackletter: bool = False,
) -> str:
    """Why a font that was judged so should not be used; empty if it can be.

    Blackletter may have the letters of German only.
    """
    if recognized < _ORNAMENTS:
        return f"shows ornaments in place of letters ({recognized:.0%} recognized)"
    if not is_blackletter and not _has_alphabet(correct, characters):
        return "shows neither small nor capital letters truly"
    shown = int(correct.sum())
    if shown < _FEWEST_CORRECT * sum(expected(characters)):
        return f"shows only {shown} of the {len(characters)} characters truly"
    return ""


def _has_alphabet(correct: Bool[Tensor, " character"], characters: str) -> bool:
    """Whether half of the small letters, the capitals or the letters without case are correct."""
    kinds: defaultdict[tuple[bool, bool], list[bool]] = defaultdict(list)
    judged = zip(characters, correct.tolist(), expected(characters), strict=True)
    for character, shown, is_expected in judged:
        if character.isalpha() and is_expected:
            kind = (character.islower(), character.isupper())
            kinds[kind].append(shown)
    if not kinds:
        return True
    return any(sum(kind) >= _ALPHABET * len(kind) for kind in kinds.values())


def _which(characters: str, kind: Callable[[str], bool]) -> Bool[Tensor, " character"]:
    return torch.tensor([kind(character) for character in characters])


def _vectors(
    shapes: UInt8[Tensor, "*glyph shape shape"],
) -> Float[Tensor, "*glyph dim"]:
    """Blurred shapes whose dot product is their correlation.

    Made anew where needed, a few at a time: those of all glyphs together would fill the memory.
    """
    # With a channel of its own, for there may be no glyph.
    rows = shapes.flatten(0, -3)[:, None].float()
    blurred = F.avg_pool2d(rows, 3, stride=1, padding=1).flatten(1)
    unit = F.normalize(blurred - blurred.mean(-1, keepdim=True), dim=-1)
    return unit.reshape(*shapes.shape[:-2], unit.shape[1])


def _rivals(
    shapes: UInt8[Tensor, "font character shape shape"],
    usable: Bool[Tensor, "font character"],
) -> Int64[Tensor, "font character"]:
    """How many other characters each glyph resembles more than its own."""
    whiten = _whitening(shapes, usable)
    count = min(max(len(shapes) // _FONTS_PER_SHAPE, 1), _MOST_SHAPES)
    total = shapes.shape[1]
    usual_shapes = []
    for character in range(total):
        glyphs = _vectors(shapes[usable[:, character], character])
        usual_shapes.append(_clusters(glyphs @ whiten, count))
    usual = torch.cat(usual_shapes)
    fonts = usable.sum(0)[:, None]
    rivals = []
    for font, is_mine in zip(shapes, usable[..., None].long(), strict=True):
        glyphs = _vectors(font) @ whiten
        others = usual
        if count == 1:
            # Few fonts: leave this one out of the means, or it would resemble itself.
            others = (usual * fonts - glyphs * is_mine) / (fonts - is_mine)
        others = others.nan_to_num(_NOWHERE, _NOWHERE, _NOWHERE)
        distances = torch.cdist(glyphs, others).reshape(total, total, count)
        nearest = distances.amin(-1)
        is_nearer = nearest < nearest.diagonal()[:, None]
        rivals.append(is_nearer.sum(1))
    return torch.stack(rivals)


def _whitening(
    shapes: UInt8[Tensor, "font character shape shape"],
    usable: Bool[Tensor, "font character"],
) -> Float[Tensor, "dim dim"]:
    """The matrix that makes shapes of one character vary equally in all directions."""
    weights = usable.float()[..., None]
    dim = shapes.shape[2] * shapes.shape[3]
    sums = torch.zeros(shapes.shape[1], dim)
    squares = torch.zeros(dim, dim)
    for font, weight in zip(shapes, weights, strict=True):
        glyphs = _vectors(font) * weight
        sums += glyphs
        squares += glyphs.T @ glyphs
    counts = weights.sum(0)
    between = (sums / counts.clamp(min=1)).T @ sums
    samples = counts.sum().clamp(min=1)
    within = (squares - between) / samples
    # The fewer the samples, the less is known of how they vary.
    variance = within.diagonal().mean().clamp(min=_LEAST_VARIANCE)
    shrinkage = _SHRINKAGE * (1 + _SAMPLES_PER_DIM * dim / samples) * variance
    shrunken = within + shrinkage * torch.eye(dim)
    whiten: Tensor = torch.linalg.cholesky(torch.linalg.inv(shrunken))
    return whiten


def _clusters(
    glyphs: Float[Tensor, "font dim"],
    count: int,
) -> Float[Tensor, "count dim"]:
    """Centers of k-means, started with fonts at equal distances in the list."""
    if not len(glyphs):
        # No font has it: it resembles nothing.
        return torch.full((count, glyphs.shape[1]), _NOWHERE)
    middle = glyphs.mean(0)
    if count == 1:
        return middle[None]
    centers = glyphs[torch.linspace(0, len(glyphs) - 1, count).long()]
    for _ in range(_ROUNDS):
        closest = torch.cdist(glyphs, centers).argmin(1)
        nearest = F.one_hot(closest, count).float()
        sizes = nearest.sum(0)[:, None]
        means = nearest.T @ glyphs / sizes.clamp(min=1)
        centers = torch.where(sizes > _FEWEST_OF_SHAPE, means, middle)
    return centers


def _wrong_case(
    shapes: UInt8[Tensor, "font character shape shape"],
    drawn: Bool[Tensor, "font character"],
    characters: str,
) -> Bool[Tensor, "font character"]:
    """Letters drawn like their other case, of the case that is not shown.

    If most letters of a font are alike in both cases, all its letters of that case are meant, as
    one cannot tell a small ``o`` or ``s`` of such a font by its shape either.
    """
    wrong = torch.zeros_like(drawn)
    pairs = []
    for letter in DISTINCT_LETTERS:
        capital_letter = letter.upper()
        if letter in characters and capital_letter in characters:
            places = (characters.index(letter), characters.index(capital_letter))
            pairs.append(places)
    if not pairs:
        return wrong
    lower, upper = torch.tensor(pairs).unbind(1)
    small = _vectors(shapes[:, lower])
    capital = _vectors(shapes[:, upper])
    both = drawn[:, lower] & drawn[:, upper]
    alike = (small * capital).sum(-1) * both
    towards = _medians(capital, drawn[:, upper]) - _medians(small, drawn[:, lower])
    # Positive where a small letter looks like a capital.
    leaning = (small * towards).sum(-1) * both
    # A bold narrow i differs from I by a dot that one hardly sees: not worth a verdict of its own.
    small_letters = [characters[place] for place in lower.tolist()]
    broad = torch.tensor([letter not in _SLENDER for letter in small_letters])
    surely = (alike > _SURELY_SAME) & broad
    wrong[:, lower] |= surely & (leaning > 0)
    wrong[:, upper] |= surely & (leaning < 0)
    same = (alike > _SAME_SHAPE).sum(1) > _SAME_SHARE * both.sum(1)
    capitals = leaning.sum(1) > 0
    wrong[same & capitals] = _which(characters, str.islower)
    wrong[same & ~capitals] = _which(characters, str.isupper)
    return wrong


def _medians(
    vectors: Float[Tensor, "font character dim"], drawn: Bool[Tensor, "font character"]
) -> Float[Tensor, "character dim"]:
    """The median shape of each character over the fonts that draw it."""
    known = vectors.where(drawn[..., None], torch.nan)
    medians = known.nanmedian(0).values.nan_to_num()
    return F.normalize(medians - medians.mean(-1, keepdim=True), dim=-1)
