"""Draw every character of a font at one height.

Also runs as a program of its own (see ``rasterize_parallel.py``), so that many fonts are drawn in
parallel, and one that crashes the font library ends no other. So it imports neither torch nor this
package.
"""

import json
import re
import sys
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Float32, Int64, UInt8
from PIL import Image, ImageDraw, ImageFilter, ImageFont, ImageOps

HEIGHT = 48  # of a line, in rows
SHAPE = 16  # side of the pictures by which glyphs are compared, in pixels

_INK_ROWS = 44  # that the tallest and deepest strokes fill
_REFERENCE = "Hgjpqy|({"  # has such strokes
_STACKS = "ẮẲẴỔỖẪǗǙǛ"  # reach highest; where a font has them, they fill the line too
_SYLLABLES = "를뺄뿔흙꽃쀍휁혰뜸"  # of Hangul that reach highest and deepest
_WIDEST = 4 * HEIGHT  # glyph, in pixels
_MOST_CUT = 0.1  # of the line's height that a glyph may stand out
_MOST_ALIKE = 5
"""Characters with one glyph, as I, l, |, І, Ι; more show the sign for missing ones."""
_FEWEST_DRAWN = 0.2  # share of the characters that are expected
_ASCII_END = 0x80  # of code points
_EUROPE_END = 0x180  # where Latin Extended-A ends
_UNASSIGNED = (0xFFFF, 0xE0FF, 0x10FFFD)  # code points, of which a font lacks one
_FIRST_SIZE = 40.0  # of a font, to measure it
_SIZES = (6, 400)  # what sizes are kept within
_FAINTEST = 64  # ink of 255, below which a glyph counts as empty
_OPAQUE = 255
_SMALLEST = HEIGHT / 3  # median height of letters and digits, in pixels
_STROKE = 5  # by so many pixels strokes are thickened, to close hollow letters
_LAYOUT = ImageFont.Layout.BASIC
_BLACKLETTER = re.compile(
    r"fraktur|yfrak|ygoth|yswab|schwabach|textura\b|black ?letter|grenze ?gotisch|missaali"
    r"|manufacturing ?consent|old ?english|cloistered ?monk|linoscroll|london ?scroll",
    re.IGNORECASE,
)
_SMALL_E = "e above"  # in the names of fonts
_OLD_UMLAUTS = {"ä": "a", "ö": "o", "ü": "u"}
_PARTS = {"e", *_OLD_UMLAUTS, *_OLD_UMLAUTS.values()}
_E_HEIGHT = 0.6  # of the small e over a vowel, in heights of the e
_E_GAP = 1  # rows between the two
_LOOK_ALIKES = str.maketrans(
    "\u2212\u00ad\u2010\u037e\u2019\u2018\u00a0\u2223\u2215",
    "---;'` |/",
)


class UnusableFont(Exception):  # noqa: N818 (its name says what it is)
    """Why a font cannot be used."""


@dataclass(frozen=True, slots=True)
class RasterFont:
    """The characters of one font; undrawn ones have no columns.

    ``bearings`` and ``advances`` are in pixels at this height; ``shapes`` are the glyphs cropped to
    their boxes and brought to one size, to compare them by, plain and with thickened strokes. The
    ``variant`` says how the characters differ from those in the file; mostly empty.
    """

    family: str
    variant: str
    columns: UInt8[np.ndarray, "column row"]
    widths: Int64[np.ndarray, " character"]
    bearings: Float32[np.ndarray, " character"]
    advances: Float32[np.ndarray, " character"]
    drawn: Bool[np.ndarray, " character"]
    shapes: UInt8[np.ndarray, "character variant shape shape"]


@dataclass(frozen=True, slots=True)
class _Glyph:
    columns: UInt8[np.ndarray, "column row"]
    bearing: float
    advance: float


def is_blackletter(name: str) -> bool:
    """Whether a font is Fraktur, Schwabacher or another blackletter, by its name."""
    return _BLACKLETTER.search(name) is not None


def rasterize(path: str, characters: str) -> list[RasterFont]:
    """Draw ``characters`` with the first face of a font file, on a common baseline.

    Blackletter comes a second time, with a small e above vowels in place of the dots of umlauts,
    as books have them until about 1830.

    A character is not drawn if the font lacks it, shows nothing or its sign for missing characters
    in its place, uses one glyph for several characters, or lets it stand out of the line.

    Raises:
        UnusableFont: the file cannot be read, or draws too few characters, or far too wide ones.
    """
    from fontTools.ttLib import TTFont

    try:
        with TTFont(path, fontNumber=0, lazy=True) as file:
            glyph_names = file.getBestCmap() or {}
            family = file["name"].getBestFamilyName() or ""
        known = [
            character for character in characters if _is_known(character, glyph_names)
        ]
        _require(len(known), characters)
        font, baseline = _fit_font(path, glyph_names, known)
        missing = next(chr(code) for code in _UNASSIGNED if code not in glyph_names)
        glyphs = _draw_glyphs(font, baseline, [*known, missing])
        placeholder = glyphs.pop(missing).columns
        fonts = [_assemble(family, "", characters, glyphs, placeholder)]
        if is_blackletter(f"{family} {Path(path).stem}") and glyphs.keys() >= _PARTS:
            old = glyphs | _with_small_e(glyphs)
            fonts.append(_assemble(family, _SMALL_E, characters, old, placeholder))
        return fonts
    except UnusableFont:
        raise
    except Exception as error:
        # fontTools and FreeType raise nearly anything on a damaged file.
        reason = f"cannot be read ({type(error).__name__}: {error})"
        raise UnusableFont(reason) from error


def _is_known(character: str, glyph_names: dict[int, str]) -> bool:
    """Whether the font has a glyph for it that is not named as another character.

    TeX and symbol fonts have arrows and Greek in the places of ASCII, but name them truly.
    """
    from fontTools import agl  # which whoever draws from a kit need not have

    name = glyph_names.get(ord(character), ".notdef")
    meant = agl.toUnicode(name)
    alike = {meant, meant.translate(_LOOK_ALIKES)}
    return name != ".notdef" and (len(meant) != 1 or character in alike)


def expected(characters: str) -> list[bool]:
    """Which characters any font for a charset should have.

    Of Latin letters those of Europe: no signs beyond ASCII, and not the letters that Vietnamese and
    others add. A font without them draws words that need none.
    """
    return [not _is_rare(character) for character in characters]


def _is_rare(character: str) -> bool:
    is_sign = ord(character) >= _ASCII_END and not character.isalpha()
    is_latin = unicodedata.name(character, "").startswith("LATIN")
    return is_sign or (is_latin and ord(character) >= _EUROPE_END)


def _require(drawn: int, characters: str) -> None:
    if drawn < max(1, _FEWEST_DRAWN * sum(expected(characters))):
        raise UnusableFont(f"draws only {drawn} of the {len(characters)} characters")


def _fit_font(
    path: str, glyph_names: dict[int, str], known: Sequence[str]
) -> tuple[ImageFont.FreeTypeFont, int]:
    """The font at the size whose tallest to deepest strokes fill the line, and its baseline row.

    Where there is Hangul, whose syllables are taller than Latin letters in many fonts, it fits too.
    """
    reference = known
    if any(character.isascii() and character.isalpha() for character in known):
        # The same for all Latin charsets, so that small letters alone do not fill the line.
        reference = [c for c in _REFERENCE if _is_known(c, glyph_names)] or known
    stacks = [character for character in _STACKS if character in known]
    rows = HEIGHT - 2 if stacks else _INK_ROWS
    syllables = [character for character in _SYLLABLES if character in known]
    measured = [*reference, *stacks, *syllables]
    font, top, bottom = _measure(path, _FIRST_SIZE, measured)
    for _ in range(2):  # a second time because hinting does not scale
        font, top, bottom = _measure(path, font.size * rows / (bottom - top), measured)
    return font, round((HEIGHT - (top + bottom)) / 2)


def _measure(
    path: str, size: float, reference: Sequence[str]
) -> tuple[ImageFont.FreeTypeFont, float, float]:
    """The font at this size, and how far its ink reaches, in rows below the baseline."""
    smallest, largest = _SIZES
    size = min(max(size, smallest), largest)
    font = ImageFont.truetype(path, size, layout_engine=_LAYOUT)
    boxes = [font.getbbox(character, anchor="ls") for character in reference]
    top = min(box[1] for box in boxes)
    bottom = max(box[3] for box in boxes)
    if bottom <= top:
        raise UnusableFont("shows nothing for its characters")
    return font, top, bottom


def _draw_glyphs(
    font: ImageFont.FreeTypeFont, baseline: int, characters: Sequence[str]
) -> dict[str, _Glyph]:
    """All characters side by side on one canvas, then cut apart."""
    boxes = np.array([font.getbbox(character, anchor="ls") for character in characters])
    _check_sizes(characters, boxes)
    # One spare column on either side.
    slots = np.ceil(boxes[:, 2] - boxes[:, 0]).astype(int) + 2
    starts = np.cumsum(slots) - slots
    canvas = Image.new("L", (int(slots.sum()), HEIGHT))
    draw = ImageDraw.Draw(canvas)
    for character, start, box in zip(characters, starts, boxes, strict=True):
        left = int(start) + 1 - int(box[0])
        draw.text((left, baseline), character, _OPAQUE, font, anchor="ls")
    canvas_columns = np.asarray(canvas).T
    glyphs = {}
    places = zip(characters, starts, slots, boxes, strict=True)
    for character, start, slot, (first, top, _, bottom) in places:
        columns, empty = _trim(canvas_columns[start : start + slot])
        cut_above = max(0, -(top + baseline))
        cut_below = max(0, bottom + baseline - HEIGHT)
        if cut_above + cut_below > _MOST_CUT * HEIGHT:
            columns = columns[:0]
        bearing = first - 1 + empty
        glyphs[character] = _Glyph(columns, bearing, font.getlength(character))
    return glyphs


def _check_sizes(
    characters: Sequence[str],
    boxes: Float[np.ndarray, "character 4"],
) -> None:
    """Refuse fonts that are far too wide, or small beside what fills the line."""
    widths = boxes[:, 2] - boxes[:, 0]
    heights = boxes[:, 3] - boxes[:, 1]
    widest = int(widths.argmax())
    if widths[widest] > _WIDEST:
        raise UnusableFont(
            f"draws {characters[widest]!r} more than 4 times as wide as the line"
        )
    letters = [
        place for place, character in enumerate(characters) if character.isalnum()
    ]
    if letters and np.median(heights[letters]) < _SMALLEST:
        raise UnusableFont("draws its letters very small beside its tallest character")


def _trim(
    glyph: UInt8[np.ndarray, "column row"],
) -> tuple[UInt8[np.ndarray, "column row"], int]:
    """The columns with ink, and how many empty ones were before them."""
    inked = np.flatnonzero(glyph.max(1) > 0)
    if not inked.size or glyph.max() < _FAINTEST:
        return glyph[:0], 0
    return glyph[inked[0] : inked[-1] + 1], int(inked[0])


def _with_small_e(glyphs: Mapping[str, _Glyph]) -> dict[str, _Glyph]:
    """The umlauts as vowels with a small e above."""
    rows = _inked_rows(glyphs["e"].columns)
    letter = Image.fromarray(np.ascontiguousarray(glyphs["e"].columns[:, rows].T))
    width = max(1, round(letter.width * _E_HEIGHT))
    height = max(1, round(letter.height * _E_HEIGHT))
    small = np.asarray(letter.resize((width, height), Image.Resampling.BOX)).T
    umlauts = {}
    for umlaut, vowel in _OLD_UMLAUTS.items():
        columns = glyphs[vowel].columns.copy()
        bottom = max(_inked_rows(columns).start - _E_GAP, small.shape[1])
        left = max(0, (len(columns) - len(small)) // 2)
        place = columns[left : left + len(small), bottom - small.shape[1] : bottom]
        np.maximum(place, small[: len(place)], out=place)
        umlauts[umlaut] = _Glyph(columns, glyphs[vowel].bearing, glyphs[vowel].advance)
    return umlauts


def _inked_rows(glyph: UInt8[np.ndarray, "column row"]) -> slice:
    """The rows from the first with ink to the last."""
    rows = np.flatnonzero(glyph.max(0) > 0)
    return slice(int(rows[0]), int(rows[-1]) + 1)


def _assemble(
    family: str,
    variant: str,
    characters: str,
    glyphs: dict[str, _Glyph],
    missing: UInt8[np.ndarray, "column row"],
) -> RasterFont:
    """The glyphs as arrays, without those that stand for missing characters."""
    images = {character: glyph.columns.tobytes() for character, glyph in glyphs.items()}
    uses = Counter(images.values())
    placeholders = {image for image, count in uses.items() if count > _MOST_ALIKE}
    placeholders.add(missing.tobytes())
    total = len(characters)
    widths = np.zeros(total, np.int64)
    drawn = np.zeros(total, bool)
    bearings = np.zeros(total, np.float32)
    advances = np.zeros(total, np.float32)
    shapes = np.zeros((total, 2, SHAPE, SHAPE), np.uint8)
    kept = [np.zeros((0, HEIGHT), np.uint8)]
    for place, character in enumerate(characters):
        glyph = glyphs.get(character)
        if glyph is None:
            continue
        advances[place] = glyph.advance
        if character.isspace():
            drawn[place] = True
        elif images[character] and images[character] not in placeholders:
            kept.append(glyph.columns)
            widths[place] = len(glyph.columns)
            bearings[place] = glyph.bearing
            drawn[place] = True
            shapes[place] = _shapes(glyph.columns)
    _require(int(drawn.sum()), characters)
    return RasterFont(
        family=family,
        variant=variant,
        columns=np.concatenate(kept),
        widths=widths,
        bearings=bearings,
        advances=advances,
        drawn=drawn,
        shapes=shapes,
    )


def _shapes(
    glyph: UInt8[np.ndarray, "column row"],
) -> UInt8[np.ndarray, "variant shape shape"]:
    """The glyph cropped to its box, at one size, plain and with thickened strokes."""
    inked = glyph[:, _inked_rows(glyph)].T
    image = Image.fromarray(np.ascontiguousarray(inked))
    wider = ImageOps.expand(image, _STROKE // 2)
    thick = wider.filter(ImageFilter.MaxFilter(_STROKE))
    return np.stack([_frame(image), _frame(thick)])


def _frame(image: Image.Image) -> UInt8[np.ndarray, "shape shape"]:
    """The image at one size; very thin ones keep a third of their thinness."""
    inner = SHAPE - 2  # an empty edge, so that a full box has a shape, too
    aspect = image.width / image.height
    width = max(1, round(inner * min(1, 3 * aspect)))
    height = max(1, round(inner * min(1, 3 / aspect)))
    framed = Image.new("L", (SHAPE, SHAPE))
    small = image.resize((width, height), Image.Resampling.BILINEAR)
    framed.paste(small, ((SHAPE - width) // 2, (SHAPE - height) // 2))
    return np.asarray(framed)


def rasterize_many(paths: Sequence[str], characters: str) -> dict[str, np.ndarray]:
    """Draw several fonts; arrays that ``numpy.savez`` can write without pickling.

    Fonts that cannot be used are absent from ``used`` (places in ``paths``, one for each variant)
    and have a line in ``reasons``; the other arrays, if any is used, hold these one after another.
    """
    fonts: list[RasterFont] = []
    used: list[int] = []
    reasons = [""] * len(paths)
    for index, path in enumerate(paths):
        try:
            variants = rasterize(path, characters)
            fonts += variants
            used += [index] * len(variants)
        except UnusableFont as error:
            reasons[index] = str(error)
    drawing = {"used": np.array(used, np.int64), "reasons": np.array(reasons)}
    if fonts:
        drawing["families"] = np.array([font.family for font in fonts])
        drawing["variants"] = np.array([font.variant for font in fonts])
        drawing["columns"] = np.concatenate([font.columns for font in fonts])
        for name in ("widths", "bearings", "advances", "drawn", "shapes"):
            drawing[name] = np.stack([getattr(font, name) for font in fonts])
    return drawing


if __name__ == "__main__":
    request = json.load(sys.stdin)
    drawing: dict[str, Any] = rasterize_many(request["paths"], request["characters"])
    np.savez(sys.stdout.buffer, **drawing)
