"""Lines that were found in pieces: a letter or digit at an end, or the parts of a line.

Where print is faint or a rule runs through it, the core of a line breaks within a word. What
follows a line as closely as a letter follows another one is part of it.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from vit_str.pages.find.lines import FoundLine, Strip, length_of

if TYPE_CHECKING:
    from jaxtyping import Bool, Float

# All over the height of the letters of a line
_FARTHEST = 0.35  # gap up to which a piece belongs to it
_OVERLAP = 0.3  # by which it may reach into it
_BEYOND = 0.1  # by which it reaches beyond its end, at least
_ASIDE = 0.25  # by which its middle may be off the middle of the line
_HEIGHTS = 0.4, 1.6  # of a piece
_WORD_GAP = 0.2  # from which on another word begins
# Cosine of the angle up to which the direction of a piece is that of the line
_PARALLEL = 0.9


class _Found(NamedTuple):
    """A piece behind the end of a line.

    Attributes:
        place: of the piece.
        start: of it, behind the end of the line.
        end: likewise.
    """

    place: int
    start: float
    end: float


class _End(NamedTuple):
    """An end of a line: its middle, and the way out of it."""

    middle: "Float[np.ndarray, ' 2']"
    away: "Float[np.ndarray, ' 2']"


def joined(lines: Sequence[FoundLine]) -> list[FoundLine]:
    """Lines with the pieces that belong to them, the longest lines first."""
    pieces = sorted(lines, key=lambda line: length_of(line.strip), reverse=True)
    corners = np.array([line.strip[[0, -1]].reshape(4, 2) for line in pieces])
    is_left = np.ones(len(pieces), bool)
    whole = []
    for place, line in enumerate(pieces):
        if not is_left[place]:
            continue
        is_left[place] = False
        for at_end in (True, False):
            while True:
                found = _piece_behind(line, at_end, corners, is_left)
                if found is None:
                    break
                is_left[found.place] = False
                line = _with_piece(line, at_end, pieces[found.place], found)
        whole.append(line)
    return whole


def _end_of(strip: Strip, at_end: bool) -> _End:
    end, inner = (-1, -2) if at_end else (0, 1)
    middle = strip[end].mean(0)
    away = middle - strip[inner].mean(0)
    return _End(middle, away / max(1e-6, float(np.linalg.norm(away))))


def _piece_behind(
    line: FoundLine,
    at_end: bool,
    corners: "Float[np.ndarray, 'line 4 2']",
    is_left: "Bool[np.ndarray, ' line']",
) -> _Found | None:
    """The nearest piece behind an end of a line that belongs to it."""
    middle, away = _end_of(line.strip, at_end)
    off = (corners - middle) / line.height
    along = off @ away
    aside = off @ np.array([-away[1], away[0]])
    starts, ends = along.min(1), along.max(1)
    heights = aside.max(1) - aside.min(1)
    fits = is_left & (starts > -_OVERLAP) & (starts < _FARTHEST) & (ends > _BEYOND)
    fits &= np.abs(aside.mean(1)) < _ASIDE
    fits &= (heights > _HEIGHTS[0]) & (heights < _HEIGHTS[1])
    places = np.flatnonzero(fits)
    if not len(places):
        return None
    place = int(places[starts[places].argmin()])
    start, end = (float(each[place]) * line.height for each in (starts, ends))
    return _Found(place, start, end)


def _with_piece(
    line: FoundLine, at_end: bool, piece: FoundLine, found: _Found
) -> FoundLine:
    """A line that goes on to the end of a piece; one on its side, such as a 1, has no own words."""
    _, away = _end_of(line.strip, at_end)
    along = piece.strip[-1].mean(0) - piece.strip[0].mean(0)
    cosine = float(along @ away) / max(1e-6, length_of(piece.strip))
    if (cosine if at_end else -cosine) > _PARALLEL:
        strip, words = piece.strip, list(piece.words)
    else:
        strip = _behind(line, at_end, found)
        words = [strip]
    parts = [[*line.words], words] if at_end else [words, [*line.words]]
    if found.start < _WORD_GAP * line.height:
        first, last = parts[0].pop(), parts[1].pop(0)
        parts[0].append(np.concatenate([first[:1], last[-1:]]))
    strips = (line.strip, strip) if at_end else (strip, line.strip)
    # Where they overlap the strip goes on from where the line ends
    own = strips[0][:-1] if found.start < 0 else strips[0]
    confidence = np.average(
        [line.confidence, piece.confidence],
        weights=[length_of(line.strip), length_of(piece.strip)],
    )
    return replace(
        line,
        strip=np.concatenate([own, strips[1]]),
        words=[*parts[0], *parts[1]],
        confidence=float(confidence),
    )


def _behind(line: FoundLine, at_end: bool, found: _Found) -> Strip:
    """The strip of a piece, straight on from the end of a line and as high."""
    _, away = _end_of(line.strip, at_end)
    end = line.strip[-1 if at_end else 0]
    strip = np.stack([end + away * found.start, end + away * found.end])
    return strip if at_end else strip[::-1]
