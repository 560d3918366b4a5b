"""Faces of machines, drawn by code: segments, dots, and wheels of counters.

Fonts of the system have hardly any. The faces stand in an atlas behind the fonts, and are drawn
only where a text is one that machines show (see `machine_text`).
"""

import random
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import numpy as np
from jaxtyping import Float32, UInt8
from PIL import Image, ImageDraw

from vit_str.characters.charset import PRINTABLE_ASCII, Charset
from vit_str.synthesis.ink_levels import in_levels
from vit_str.synthesis.rasterize import HEIGHT, RasterFont, UnusableFont, rasterize

Columns = UInt8[np.ndarray, "column row"]

SEVEN = "seven segments"
FOURTEEN = "fourteen segments"
DOTS = "dots"
WHEELS = "wheels"
OPTICAL = "read by machines"
"""Fonts that machines read, such as OCR-B of passports."""
ROLLED = "rolled"
"""Ends the name of a face of wheels that have not come to rest; it follows the one that have."""

KINDS = (SEVEN, FOURTEEN, DOTS, WHEELS, OPTICAL)
"""Names of faces begin with one of these, ``: `` and where they are from."""

_BY_CODE = "drawn by code"
_READ_BY_MACHINES = re.compile(r"ocr-?[ab][ls]?(bold|condensed)?", re.IGNORECASE)
_DISPLAYS = re.compile(r"dseg(7|14)(?:classic|modern)(?:mini)?-.*", re.IGNORECASE)
_FINE = 4  # times as many pixels as the atlas has, from which faces are averaged
_SEEDS = {False: "faces to train with", True: "faces held out"}
DIGITS = "0123456789"
_INKED = 64  # ink of 255, above which a row counts as part of a digit
_UNEVEN = 0.1  # of their height that digits of a counter differ by
_CANDIDATES = 6  # fonts of which one is taken for the digits of a counter
_SHAPE = (16, 12)  # pixels by which digits are compared
_LEAST_HEIGHT = HEIGHT // 3  # of digits of a counter, in rows

_SEVEN: Mapping[str, str] = {
    "0": "abcdef",
    "1": "bc",
    "2": "abged",
    "3": "abgcd",
    "4": "fgbc",
    "5": "afgcd",
    "6": "afgedc",
    "7": "abc",
    "8": "abcdefg",
    "9": "abfgcd",
    "-": "g",
    "A": "abcefg",
    "b": "cdefg",
    "C": "adef",
    "d": "bcdeg",
    "E": "adefg",
    "F": "aefg",
    "H": "bcefg",
    "h": "cefg",
    "L": "def",
    "n": "ceg",
    "o": "cdeg",
    "P": "abefg",
    "r": "eg",
    "t": "defg",
    "U": "bcdef",
    "°": "abfg",
}
"""Segments from the top to the right and around, the middle one last."""
_SEVEN_OTHERS: Mapping[str, str] = {"6": "cdefg", "7": "fabc", "9": "abfgc"}
"""Digits that some displays show so."""
_FOURTEEN: Mapping[str, str] = {
    "0": "abcdefjm",
    "1": "bcj",
    "2": "abpqed",
    "3": "abcdq",
    "4": "fpqbc",
    "5": "afpkd",
    "6": "acdefpq",
    "7": "abc",
    "8": "abcdefpq",
    "9": "abcdfpq",
    "A": "abcefpq",
    "B": "abcdilq",
    "C": "adef",
    "D": "abcdil",
    "E": "adefpq",
    "F": "aefp",
    "G": "acdefq",
    "H": "bcefpq",
    "I": "adil",
    "J": "bcde",
    "K": "efpjk",
    "L": "def",
    "M": "bcefhj",
    "N": "bcefhk",
    "O": "abcdef",
    "P": "abefpq",
    "Q": "abcdefk",
    "R": "abefpqk",
    "S": "acdfpq",
    "T": "ail",
    "U": "bcdef",
    "V": "efmj",
    "W": "bcefmk",
    "X": "hjkm",
    "Y": "hjl",
    "Z": "ajmd",
    "-": "pq",
    "+": "pqil",
    "*": "pqhijklm",
    "/": "jm",
    "<": "jk",
    ">": "hm",
    "°": "abfpq",
}
"""The same; the middle one is in halves, p and q; h to j are in the upper half, k to m below."""
_MARKS = ".,:'"
"""Marks between the digits of displays."""

# Five columns for each character from the space on, the lowest bit on top.
_DOT_COLUMNS = bytes.fromhex("""
    0000000000 00005f0000 0007000700 147f147f14 242a7f2a12 2313086462 3649552250 0005030000
    001c224100 0041221c00 082a1c2a08 08083e0808 0050300000 0808080808 0060600000 2010080402
    3e5149453e 00427f4000 4261514946 2141454b31 1814127f10 2745454539 3c4a494930 0171090503
    3649494936 064949291e 0036360000 0056360000 0008142241 1414141414 4122140800 0201510906
    324979413e 7e1111117e 7f49494936 3e41414122 7f4141221c 7f49494941 7f09090101 3e41415132
    7f0808087f 00417f4100 2040413f01 7f08142241 7f40404040 7f0204027f 7f0408107f 3e4141413e
    7f09090906 3e4151215e 7f09192946 4649494931 01017f0101 3f4040403f 1f2040201f 7f2018207f
    6314081463 0304780403 6151494543 007f414100 0204081020 0041417f00 0402010204 4040404040
    0001020400 2054545478 7f48444438 3844444420 384444487f 3854545418 087e090102 081454543c
    7f08040478 00447d4000 2040443d00 007f102844 00417f4000 7c04180478 7c08040478 3844444438
    7c14141408 081414187c 7c08040408 4854545420 043f444020 3c4040207c 1c2040201c 3c4030403c
    4428102844 0c5050503c 4464544c44 0008364100 00007f0000 0041360800 1008081008
""")
_DOT_MATRIX: Mapping[str, bytes] = {
    character: _DOT_COLUMNS[5 * place : 5 * place + 5]
    for place, character in enumerate(" " + PRINTABLE_ASCII)
} | {
    "°": bytes.fromhex("0006090906"),
    "£": bytes.fromhex("487e494142"),
    "µ": bytes.fromhex("7e2020103e"),
}


@dataclass(frozen=True)
class _Counts:
    """Faces of each kind, to train with and held out."""

    seven: tuple[int, int] = (20, 5)
    fourteen: tuple[int, int] = (8, 2)
    dots: tuple[int, int] = (16, 4)
    wheels: tuple[int, int] = (20, 5)


@dataclass(frozen=True)
class _Segments:
    """Displays, in pixels of the atlas; by eye."""

    top: tuple[float, float] = (3.0, 7.0)
    bottom: tuple[float, float] = (38.0, 42.0)
    width: tuple[float, float] = (0.42, 0.66)  # of the height
    thickness: tuple[float, float] = (0.07, 0.17)  # of the height
    gap: tuple[float, float] = (0.0, 0.6)  # of the thickness, between segments
    fine_thickness: tuple[float, float] = (0.06, 0.095)  # of displays with diagonals
    fine_gap: tuple[float, float] = (0.0, 0.35)
    fine_width: tuple[float, float] = (0.52, 0.7)
    slant: tuple[float, float] = (0.0, 0.2)  # columns for each row
    upright_share: float = 0.4
    pointed_share: float = 0.7
    others_share: float = 0.2  # of displays, for each digit that has two shapes
    advance: tuple[float, float] = (1.25, 1.7)  # of the width
    mark: tuple[float, float] = (0.1, 0.45)  # of the width, that a dot or colon takes
    ghost: tuple[int, int] = (12, 40)  # ink of 255 of what is not lit
    ghost_share: float = 0.35


@dataclass(frozen=True)
class _Dots:
    """Needles and panels of lamps, in pixels of the atlas; by eye."""

    top: tuple[float, float] = (4.0, 8.0)
    pitch: tuple[float, float] = (4.2, 4.9)  # from row to row
    across: tuple[float, float] = (0.75, 1.1)  # pitch of columns, over that of rows
    radius: tuple[float, float] = (0.34, 0.62)  # of the pitch
    square_share: float = 0.3
    spaces: tuple[int, int] = (1, 2)  # columns between letters
    ghost_share: float = 0.2
    ghost: tuple[int, int] = (12, 36)


@dataclass(frozen=True)
class _Wheels:
    """Windows of counters, in heights of their digits; by eye."""

    above: tuple[float, float] = (0.16, 0.4)  # the digit, and below it
    beside: tuple[float, float] = (0.16, 0.38)
    between: tuple[float, float] = (0.03, 0.25)
    pitch: tuple[float, float] = (1.3, 1.6)  # from digit to digit on the wheel
    uneven: float = 0.03  # how far wheels at rest are from the middle
    rolled: tuple[float, float] = (0.12, 0.25)  # of the pitch, how far the others are
    plain_share: float = 0.3  # of the faces have no windows: digits on one plate


_COUNTS = _Counts()
_SEGMENTS = _Segments()
_DOTS = _Dots()
_WHEELS = _Wheels()


@dataclass(frozen=True, slots=True)
class Glyph:
    """A character as an atlas keeps it, see `GlyphAtlas`."""

    columns: Columns
    bearing: float
    advance: float


Face = dict[str, Glyph]
"""Glyphs by character."""


def kind_of_face(name: str) -> str:
    """Which of `KINDS` a face in an atlas is of, by its name; empty for fonts."""
    if name.startswith(OPTICAL):
        return OPTICAL
    kind = name.partition(": ")[0]
    return kind if kind in KINDS else ""


def is_machine(name: str) -> bool:
    """Whether a name in an atlas is that of a face of machines."""
    return kind_of_face(name) != ""


def is_drawn_by_code(name: str) -> bool:
    """Whether it is a face that `drawn_faces` or `wheel_faces` has made."""
    return is_machine(name) and _BY_CODE in name


def is_only_to_test(name: str) -> bool:
    """Whether it is a font of displays: in training they are drawn by code."""
    return kind_of_face(name) in (SEVEN, FOURTEEN) and _BY_CODE not in name


def faces_of_fonts(paths: Sequence[Path], charset: Charset) -> dict[str, Face]:
    """Faces by name of those of some fonts that machines have: OCR-B, OCR-A, and displays.

    Their letters are too unlike others to be judged by them. They are believed as far as they are
    known: ASCII, and what segments can show.
    """
    faces = {}
    for path in paths:
        kind, characters = _known_font(path.stem)
        known = "".join(each for each in characters if not charset.unknown(each))
        with suppress(UnusableFont):
            if known:
                face = _face(rasterize(str(path), known)[0], known)
                faces[f"{kind}: {path.stem}/{path.stem}"] = face
    return faces


def _known_font(stem: str) -> tuple[str, str]:
    """The kind of a font of machines and its characters, by the name of its file; empty if none."""
    if _READ_BY_MACHINES.fullmatch(stem):
        return OPTICAL, " " + PRINTABLE_ASCII
    display = _DISPLAYS.fullmatch(stem)
    if display is None:
        return "", ""
    kind, shapes = (SEVEN, _SEVEN) if display[1] == "7" else (FOURTEEN, _FOURTEEN)
    letters = "".join(each for each in shapes if each.isalnum())
    return kind, " -.:" + letters


def _face(font: RasterFont, characters: str) -> Face:
    """The glyphs of a font that it draws."""
    ends = font.widths.cumsum()
    face: Face = {}
    for place, character in enumerate(characters):
        if font.drawn[place]:
            columns = in_levels(
                font.columns[ends[place] - font.widths[place] : ends[place]]
            )
            bearing = float(font.bearings[place])
            face[character] = Glyph(columns, bearing, float(font.advances[place]))
    return face


@lru_cache(maxsize=2)
def drawn_faces(held_out: bool) -> dict[str, Face]:
    """Faces of segments and dots by name; others for what is kept out of training."""
    faces: dict[str, Face] = {}
    kinds = (
        (SEVEN, _COUNTS.seven, _seven_segments),
        (FOURTEEN, _COUNTS.fourteen, _fourteen_segments),
        (DOTS, _COUNTS.dots, _dots),
    )
    for name, counts, draw in kinds:
        rng = random.Random(f"{_SEEDS[held_out]} {name}")
        for number in range(counts[held_out]):
            faces[f"{name}: {_BY_CODE}/{number}"] = draw(rng)
    return faces


def _seven_segments(rng: random.Random) -> Face:
    shapes = dict(_SEVEN)
    share = _SEGMENTS.others_share
    shapes |= {each: lit for each, lit in _SEVEN_OTHERS.items() if rng.random() < share}
    if shapes["6"] == shapes["b"]:
        del shapes["b"]
    width = rng.uniform(*_SEGMENTS.width)
    thickness = rng.uniform(*_SEGMENTS.thickness)
    gap = rng.uniform(*_SEGMENTS.gap)
    return _segments(rng, shapes, width, thickness, gap)


def _fourteen_segments(rng: random.Random) -> Face:
    width = rng.uniform(*_SEGMENTS.fine_width)
    thickness = rng.uniform(*_SEGMENTS.fine_thickness)
    gap = rng.uniform(*_SEGMENTS.fine_gap)
    return _segments(rng, _FOURTEEN, width, thickness, gap)


def _segments(
    rng: random.Random,
    shapes: Mapping[str, str],
    aspect: float,
    thickness: float,
    gap: float,
) -> Face:
    """A face of one display; sizes are in heights of a digit, the gap in thicknesses."""
    top = rng.uniform(*_SEGMENTS.top)
    bottom = rng.uniform(*_SEGMENTS.bottom)
    height = bottom - top
    width = height * aspect
    thick = height * thickness
    gap = gap * thick
    is_upright = rng.random() < _SEGMENTS.upright_share
    slant = 0.0 if is_upright else rng.uniform(*_SEGMENTS.slant)
    is_pointed = rng.random() < _SEGMENTS.pointed_share
    advance = width * rng.uniform(*_SEGMENTS.advance)
    mark = width * rng.uniform(*_SEGMENTS.mark)
    has_ghost = rng.random() < _SEGMENTS.ghost_share
    ghost = rng.randint(*_SEGMENTS.ghost) if has_ghost else 0
    lines = _segment_lines(width, top, bottom, thick)
    polygons = {
        name: _bar(*line, thick, gap, is_pointed, slant, bottom)
        for name, line in lines.items()
    }
    every = set("".join(shapes.values()))
    columns = width + slant * height + 2
    face: Face = {" ": Glyph(_EMPTY, 0.0, advance)}
    for character, lit in shapes.items():
        ink = _filled([polygons[name] for name in lit], columns)
        if ghost:
            others = [polygons[name] for name in every - set(lit)]
            ink = np.maximum(ink, _filled(others, columns) // 255 * ghost)
        face[character] = _trimmed(ink, advance)
    face |= _marks(mark, top, bottom, thick, slant)
    return face


def _segment_lines(
    width: float, top: float, bottom: float, thick: float
) -> dict[str, tuple[float, float, float, float]]:
    """From where to where the middle of each segment runs: column, row, column, row."""
    left = 1 + thick / 2
    right = 1 + width - thick / 2
    high = top + thick / 2
    low = bottom - thick / 2
    middle = (high + low) / 2
    center = (left + right) / 2
    inset = thick * 0.75
    return {
        "a": (left, high, right, high),
        "b": (right, high, right, middle),
        "c": (right, middle, right, low),
        "d": (left, low, right, low),
        "e": (left, middle, left, low),
        "f": (left, high, left, middle),
        "g": (left, middle, right, middle),
        "p": (left, middle, center, middle),
        "q": (center, middle, right, middle),
        "h": (left + inset, high + inset, center - inset / 2, middle - inset / 2),
        "i": (center, high + thick / 2, center, middle),
        "j": (right - inset, high + inset, center + inset / 2, middle - inset / 2),
        "k": (center + inset / 2, middle + inset / 2, right - inset, low - inset),
        "l": (center, middle, center, low - thick / 2),
        "m": (center - inset / 2, middle + inset / 2, left + inset, low - inset),
    }


def _bar(
    x0: float,
    y0: float,
    x1: float,
    y1: float,
    thick: float,
    gap: float,
    is_pointed: bool,
    slant: float,
    bottom: float,
) -> list[tuple[float, float]]:
    """The outline of a segment: pointed or blunt ends, in fine pixels."""
    length = float(np.hypot(x1 - x0, y1 - y0))
    along = np.array([x1 - x0, y1 - y0]) / length
    across = np.array([-along[1], along[0]]) * thick / 2
    start = np.array([x0, y0]) + along * gap / 2
    end = np.array([x1, y1]) - along * gap / 2
    shoulder = along * thick / 2
    if is_pointed:
        points = [
            start,
            start + shoulder + across,
            end - shoulder + across,
            end,
            end - shoulder - across,
            start + shoulder - across,
        ]
    else:
        inset = along * thick * 0.35
        points = [
            start + inset + across,
            end - inset + across,
            end - inset - across,
            start + inset - across,
        ]
    return [
        (float(x + slant * (bottom - y)) * _FINE, float(y) * _FINE) for x, y in points
    ]


_EMPTY = np.zeros((0, HEIGHT), np.uint8)


def _filled(polygons: Sequence[list[tuple[float, float]]], columns: float) -> Columns:
    """Ink of polygons in fine pixels, at the size of the atlas."""
    width = int(np.ceil(columns)) + 1
    canvas = Image.new("L", (width * _FINE, HEIGHT * _FINE))
    draw = ImageDraw.Draw(canvas)
    for polygon in polygons:
        draw.polygon(polygon, fill=255)
    return np.asarray(canvas.reduce(_FINE)).T.copy()


def _trimmed(columns: Columns, advance: float, shift: float = 0.0) -> Glyph:
    """A glyph without the empty columns at its sides."""
    inked = np.flatnonzero(columns.max(1) > 0)
    first = int(inked[0])
    kept = columns[first : int(inked[-1]) + 1]
    return Glyph(np.ascontiguousarray(kept), first + shift, advance)


def _marks(mark: float, top: float, bottom: float, thick: float, slant: float) -> Face:
    """Dots, colons and commas between digits, square or nearly so."""
    size = max(3.0, thick * 1.1)
    advance = max(size + 2, mark)
    height = bottom - top
    rows = {
        ".": [bottom - size],
        ",": [bottom - size],
        ":": [top + height * 0.28 - size / 2, top + height * 0.72 - size / 2],
        "'": [top],
    }
    face = {}
    for character in _MARKS:
        polygons = [_square(1.0, row, size, slant, bottom) for row in rows[character]]
        if character == ",":
            x, y = 1.0, bottom
            tail = [(x + size * 0.4, y - 1), (x + size, y - 1), (x, y + size)]
            polygons.append([(a * _FINE, b * _FINE) for a, b in tail])
        ink = _filled(polygons, size + 2 + slant * height)
        glyph = _trimmed(ink, advance)
        face[character] = replace(
            glyph, bearing=glyph.bearing + (advance - size) / 2 - 1
        )
    return face


def _square(
    x: float, y: float, size: float, slant: float, bottom: float
) -> list[tuple[float, float]]:
    corners = [(x, y), (x + size, y), (x + size, y + size), (x, y + size)]
    return [((a + slant * (bottom - b)) * _FINE, b * _FINE) for a, b in corners]


def _dots(rng: random.Random) -> Face:
    """A face of 5 by 7 dots."""
    top = rng.uniform(*_DOTS.top)
    down = rng.uniform(*_DOTS.pitch)
    across = down * rng.uniform(*_DOTS.across)
    radius = min(down, across) * rng.uniform(*_DOTS.radius)
    is_square = rng.random() < _DOTS.square_share
    advance = across * (5 + rng.randint(*_DOTS.spaces))
    has_ghost = rng.random() < _DOTS.ghost_share
    ghost = rng.randint(*_DOTS.ghost) if has_ghost else 0
    face: Face = {}
    for character, bits in _DOT_MATRIX.items():
        ink = _dotted(bits, top, down, across, radius, is_square)
        if ghost:
            unlit = bytes(0x7F & ~column for column in bits)
            others = _dotted(unlit, top, down, across, radius, is_square)
            ink = np.maximum(ink, (others * (ghost / 255)).astype(np.uint8))
        if character == " ":
            face[character] = Glyph(_EMPTY, 0.0, advance)
        else:
            face[character] = _trimmed(ink, advance)
    return face


def _dotted(
    bits: bytes, top: float, down: float, across: float, radius: float, is_square: bool
) -> Columns:
    width = int(np.ceil(across * 5)) + 2
    canvas = Image.new("L", (width * _FINE, HEIGHT * _FINE))
    draw = ImageDraw.Draw(canvas)
    shape = draw.rectangle if is_square else draw.ellipse
    for column, rows in enumerate(bits):
        for row in range(7):
            if rows >> row & 1:
                x = 1 + across * (column + 0.5)
                y = top + down * (row + 0.5)
                sides = x - radius, y - radius, x + radius, y + radius
                shape([side * _FINE for side in sides], fill=255)
    return np.asarray(canvas.reduce(_FINE)).T.copy()


def wheel_faces(
    fonts: Sequence[int],
    digits_of: Callable[[int], Sequence[Columns]],
    held_out: bool,
) -> dict[str, Face]:
    """Wheels of counters behind windows, at rest and rolled, by name.

    Args:
        fonts: places of those that have all digits.
        digits_of: the digits of a font, from 0 to 9.
        held_out: for what is kept out of training.
    """
    rng = random.Random(f"{_SEEDS[held_out]} {WHEELS}")
    faces: dict[str, Face] = {}
    wanted = _COUNTS.wheels[held_out]
    candidates: dict[int, Sequence[Columns]] = {}
    for font in rng.sample(fonts, len(fonts)):
        digits = digits_of(font)
        if _are_even(digits):
            candidates[font] = digits
        if len(candidates) == _CANDIDATES * wanted:
            break
    for font in _plainest(candidates)[:wanted]:
        rest, rolled = _wheels(candidates[font], rng)
        faces[f"{WHEELS}: {_BY_CODE}/{font}"] = rest
        faces[f"{WHEELS}: {_BY_CODE}/{font} {ROLLED}"] = rolled
    return faces


def _plainest(candidates: Mapping[int, Sequence[Columns]]) -> list[int]:
    """Fonts whose digits are most like those of the others first: counters have no fancy ones."""
    shapes = {
        font: np.concatenate([_shape(digit) for digit in digits])
        for font, digits in candidates.items()
    }
    usual = np.mean([*shapes.values()], axis=0) if shapes else np.zeros(1)
    alike = {font: float(shape @ usual) for font, shape in shapes.items()}
    return sorted(alike, key=alike.__getitem__, reverse=True)


def _shape(digit: Columns) -> Float32[np.ndarray, " pixel"]:
    """A digit at one size, without its mean, of length 1."""
    rows = np.flatnonzero(digit.max(0) > _INKED)
    inked = np.ascontiguousarray(digit[:, rows[0] : rows[-1] + 1])
    small = Image.fromarray(inked).resize(_SHAPE, Image.Resampling.BOX)
    values = np.asarray(small, np.float32).ravel()
    values = values - values.mean()
    return values / max(1e-6, float(np.linalg.norm(values)))


def _are_even(digits: Sequence[Columns]) -> bool:
    """Whether all digits are about as high, as on wheels, and not those of running text."""
    inked = [np.flatnonzero(digit.max(0) > _INKED) for digit in digits]
    if not all(rows.size for rows in inked):
        return False
    tops = [int(rows[0]) for rows in inked]
    bottoms = [int(rows[-1]) for rows in inked]
    height = max(bottoms) - min(tops)
    uneven = max(max(tops) - min(tops), max(bottoms) - min(bottoms))
    return uneven <= _UNEVEN * height and height >= _LEAST_HEIGHT


def _wheels(digits: Sequence[Columns], rng: random.Random) -> tuple[Face, Face]:
    """Faces of one counter: its wheels at rest, and half-turned as far as digits can be told."""
    inked = [np.flatnonzero(digit.max(0) > _INKED) for digit in digits]
    top = min(int(rows[0]) for rows in inked)
    bottom = max(int(rows[-1]) for rows in inked) + 1
    height = bottom - top
    width = max(map(len, digits))
    has_windows = rng.random() >= _WHEELS.plain_share
    beside = round(height * rng.uniform(*_WHEELS.beside))
    between = round(height * rng.uniform(*_WHEELS.between)) if has_windows else 0
    above = round(height * rng.uniform(*_WHEELS.above))
    pitch = round(height * rng.uniform(*_WHEELS.pitch))
    cell = width + 2 * beside
    first = max(0, top - above)
    last = min(HEIGHT, bottom + above)
    strip = _strip(digits, top, height, pitch, cell)
    faces: list[Face] = []
    for is_rolled in (False, True):
        face: Face = {}
        for digit in range(10):
            shift = rng.gauss(0, _WHEELS.uneven)
            if is_rolled:
                shift = rng.uniform(*_WHEELS.rolled) * rng.choice((-1, 1))
            begin = round((10 + digit + shift) * pitch) - (top - first)
            window = np.zeros((cell, HEIGHT), np.uint8)
            window[:, first:last] = 255 - strip[:, begin : begin + last - first]
            face[str(digit)] = Glyph(window, 0.0, float(cell + between))
        faces.append(face)
    return faces[0], faces[1]


def _strip(
    digits: Sequence[Columns], top: int, height: int, pitch: int, cell: int
) -> Columns:
    """Three turns of a wheel, rolled off."""
    strip = np.zeros((cell, 30 * pitch), np.uint8)
    for place in range(30):
        digit = digits[place % 10]
        left = (cell - len(digit)) // 2
        row = place * pitch
        strip[left : left + len(digit), row : row + height] = digit[
            :, top : top + height
        ]
    return strip
