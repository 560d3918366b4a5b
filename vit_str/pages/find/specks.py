"""What is found on a page and is no line of it: specks, points, rows of dashes."""

from collections.abc import Sequence

import numpy as np

from vit_str.pages.find.lines import FoundLine, length_of

# Of the height that most of the text has
_LOW = 0.5  # what is lower and
_SHORT = 1.0  # shorter is a speck
_LOW_ROW = 0.6  # what is lower and
_SHORT_WORDS = 1.0  # has words as short as that,
_DASHES = 4  # at least so many, is a row of dashes
_UNSURE = 0.6  # confidence below which what is
_FEW_LETTERS = 3.0  # shorter is dust or a part of a picture


def typical_height(lines: Sequence[FoundLine]) -> float:
    """The height that most of the text has: a page may have more specks than lines.

    Args:
        lines: one or more.
    """
    heights = np.array([line.height for line in lines])
    order = np.argsort(heights)
    lengths = np.cumsum([length_of(lines[place].strip) for place in order])
    return float(heights[order[np.searchsorted(lengths, lengths[-1] / 2)]])


def without_specks(lines: Sequence[FoundLine]) -> list[FoundLine]:
    """Lines that are no specks, which are low or doubtful, and short, and no rows of dashes."""
    if not lines:
        return []
    typical = typical_height(lines)
    return [
        line
        for line in lines
        if not _is_speck(line, typical)
        and not _is_row_of_dashes(line, typical)
        and not _is_doubtful(line, typical)
    ]


def _is_speck(line: FoundLine, typical: float) -> bool:
    return line.height < _LOW * typical and length_of(line.strip) < _SHORT * typical


def _is_doubtful(line: FoundLine, typical: float) -> bool:
    is_short = length_of(line.strip) < _FEW_LETTERS * typical
    return is_short and line.confidence < _UNSURE


def _is_row_of_dashes(line: FoundLine, typical: float) -> bool:
    if line.height >= _LOW_ROW * typical or len(line.words) < _DASHES:
        return False
    lengths = [length_of(word) for word in line.words]
    return bool(np.median(lengths) < _SHORT_WORDS * typical)
