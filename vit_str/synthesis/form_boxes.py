"""Boxes of forms, empty, ticked or crossed, for fonts that have none: as printers and pens do."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import torch
from jaxtyping import UInt8
from PIL import Image, ImageDraw

from vit_str.synthesis.rasterize import HEIGHT

if TYPE_CHECKING:
    from vit_str.synthesis.glyphs import GlyphAtlas

Columns = UInt8[np.ndarray, "column row"]

EMPTY, TICKED, CROSSED = "□☑☒"
_FINE = 4  # times as many pixels as the atlas has
_VARIANTS = 12  # of each box, for each place
_LETTER = "H"  # a capital, on whose baseline boxes stand
_CAPITALS = (10, 38)  # its rows, where a font has none
_STEP = 2  # rows to which places are rounded, so that fonts share boxes
_INKED = 64  # ink of 255, above which a row counts as part of a letter


@dataclass(frozen=True)
class _Box:
    """In heights of a capital letter unless said otherwise; by eye."""

    side: tuple[float, float] = (0.75, 1.2)
    line: tuple[float, float] = (0.035, 0.13)  # thickness
    pen: tuple[float, float] = (0.06, 0.16)
    reach: tuple[float, float] = (-0.12, 0.3)  # of a pen, beyond the box
    rounded_share: float = 0.15
    full_share: float = 0.1  # of crosses reach from corner to corner
    beside: tuple[float, float] = (0.08, 0.3)  # free at each side


_BOX = _Box()


def with_form_boxes(atlas: GlyphAtlas) -> GlyphAtlas:
    """An atlas whose fonts have all the boxes of forms that the charset has."""
    wanted = [
        each for each in (EMPTY, TICKED, CROSSED) if not atlas.charset.unknown(each)
    ]
    if not wanted or not atlas.names or atlas.charset.unknown(_LETTER):
        return atlas
    ids = torch.tensor(atlas.charset.encode("".join(wanted)))
    is_correct = atlas.is_correct.cpu()
    (letter,) = atlas.charset.encode(_LETTER)
    has_letter = is_correct[:, letter] & (atlas.widths[:, letter].cpu() > 0)
    lacks = ~is_correct[:, ids] & has_letter[:, None]
    if not lacks.any():
        return atlas
    tensors = {
        name: getattr(atlas, name).cpu().clone()
        for name in ("starts", "widths", "bearings", "advances", "is_correct")
    }
    pieces: list[Columns] = []
    places: dict[tuple[str, int, int, int], int] = {}
    end = len(atlas.columns)
    for font, number in lacks.nonzero().tolist():
        top, bottom = _rows_of(atlas, font, letter)
        key = wanted[number], font % _VARIANTS, top, bottom
        if key not in places:
            places[key] = end
            pieces.append(_box(*key))
            end += len(pieces[-1])
        width = len(_box(*key))
        beside = (bottom - top) * _beside(font)
        place = font, int(ids[number])
        tensors["starts"][place] = places[key]
        tensors["widths"][place] = width
        tensors["bearings"][place] = beside
        tensors["advances"][place] = width + 2 * beside
        tensors["is_correct"][place] = True
    columns = torch.from_numpy(np.concatenate(pieces))
    device = atlas.columns.device
    moved = {name: values.to(device) for name, values in tensors.items()}
    return replace(
        atlas, columns=torch.cat([atlas.columns, columns.to(device)]), **moved
    )


def _rows_of(atlas: GlyphAtlas, font: int, letter: int) -> tuple[int, int]:
    """First row of a capital letter of a font and the row after its last, rounded."""
    start = int(atlas.starts[font, letter])
    width = int(atlas.widths[font, letter])
    ink = atlas.columns[start : start + width].amax(0) > _INKED
    rows = ink.nonzero()[:, 0]
    if not len(rows):
        return _CAPITALS
    top = int(rows[0]) // _STEP * _STEP
    bottom = -(-(int(rows[-1]) + 1) // _STEP) * _STEP
    return top, max(bottom, top + 4 * _STEP)


def _beside(font: int) -> float:
    return random.Random(font).uniform(*_BOX.beside)


@lru_cache(maxsize=4096)
def _box(kind: str, variant: int, top: int, bottom: int) -> Columns:
    """A box between two rows or so, as columns of ink."""
    rng = random.Random(f"{kind} {variant}")
    height = bottom - top
    side = height * rng.uniform(*_BOX.side)
    line = max(1.0, height * rng.uniform(*_BOX.line))
    middle = (top + bottom) / 2
    reach = side * rng.uniform(*_BOX.reach)
    margin = max(0.0, reach) + 2
    left = margin
    high = max(1.0, middle - side / 2)
    low = min(HEIGHT - 1.0, middle + side / 2)
    right = left + side
    canvas = Image.new("L", (int(side + 2 * margin + 2) * _FINE, HEIGHT * _FINE))
    draw = ImageDraw.Draw(canvas)
    corners = tuple(round(each * _FINE) for each in (left, high, right, low))
    width = max(1, round(line * _FINE))
    is_round = rng.random() < _BOX.rounded_share
    radius = side * _FINE * 0.2 if is_round else 0
    draw.rounded_rectangle(corners, radius, outline=255, width=width)
    if kind != EMPTY:
        pen = max(1.5, height * rng.uniform(*_BOX.pen))
        strokes = _tick if kind == TICKED else _cross
        for stroke in strokes(rng, left, high, right, low, reach):
            points = [(x * _FINE, y * _FINE) for x, y in stroke]
            draw.line(points, fill=255, width=round(pen * _FINE), joint="curve")
    columns = np.asarray(canvas.reduce(_FINE)).T
    inked = np.flatnonzero(columns.max(1) > 0)
    return np.ascontiguousarray(columns[inked[0] : inked[-1] + 1])


_Stroke = list[tuple[float, float]]


def _tick(
    rng: random.Random,
    left: float,
    high: float,
    right: float,
    low: float,
    reach: float,
) -> list[_Stroke]:
    """A short stroke down and a long one up, whose end may leave the box."""
    side = right - left
    start = left + side * rng.uniform(0.12, 0.28), high + side * rng.uniform(0.4, 0.6)
    foot = left + side * rng.uniform(0.38, 0.5), low - side * rng.uniform(0.12, 0.24)
    inset = side * 0.16 - reach
    end = right - inset, high + side * rng.uniform(0.1, 0.24) - max(0.0, reach)
    return [[start, foot, end]]


def _cross(
    rng: random.Random,
    left: float,
    high: float,
    right: float,
    low: float,
    reach: float,
) -> list[_Stroke]:
    """Two strokes from corner to corner or nearly so."""
    side = right - left
    inset = side * rng.uniform(0.12, 0.26) - max(0.0, reach) * 0.7
    if rng.random() < _BOX.full_share:
        inset = 0.0

    def near(x: float, y: float) -> tuple[float, float]:
        return x + rng.gauss(0, 0.03) * side, y + rng.gauss(0, 0.03) * side

    return [
        [near(left + inset, high + inset), near(right - inset, low - inset)],
        [near(right - inset, high + inset), near(left + inset, low - inset)],
    ]
