"""Lines of a page with one baseline each, and where they lie."""

from collections.abc import Sequence

from vit_str.pages.arrange.frame import text_quarters
from vit_str.pages.page import Point, Word

BELOW = frozenset("gjpqyQ,;()[]{}|/@$çþß§")  # what may reach below the line
DESCENT = 0.2  # of the height of a word is below its line
_OTHER_LINE = 0.5  # of that height is between the bottoms of words on two lines
_UNSURE_SLOPE = 0.01  # of a row, by which it may differ from that of its words


def pixels(words: Sequence[Word]) -> tuple[int, int, int, int]:
    """Left, top, right and bottom of some words, in whole pixels."""
    left, top, right, bottom = zip(*(word.box for word in words), strict=True)
    sides = min(left), min(top), max(right), max(bottom)
    return tuple(max(0, round(side)) for side in sides)


def printed_lines(row: Sequence[Word]) -> list[tuple[Word, ...]]:
    """A row of a page as lines with one baseline each: cells of a table may hold several."""
    if text_quarters(row):
        return [tuple(row)]
    rise = sum(word.polygon[2][1] - word.polygon[3][1] for word in row)
    width = sum(word.polygon[2][0] - word.polygon[3][0] for word in row)
    slope = rise / max(1.0, width)
    lines: list[list[Word]] = []
    for word in row:
        x, y = word.polygon[3]
        end, bottom = lines[-1][-1].polygon[2] if lines else (x, y)
        height = y - word.polygon[0][1]
        most = _OTHER_LINE * height + _UNSURE_SLOPE * abs(x - end)
        if not lines or abs(y - bottom - slope * (x - end)) > most:
            lines.append([])
        lines[-1].append(word)
    return list(map(tuple, lines))


def baseline(line: Sequence[Word]) -> tuple[float, Point]:
    """The slope of the baseline of a line that is not turned, and a point of it.

    It runs below the words whose letters all stand on it.
    """
    standing = [word for word in line if not BELOW.intersection(word.text)] or line
    first = standing[0]
    last = standing[-1]
    x1, y1 = first.polygon[3]
    x2, y2 = last.polygon[2]
    if standing is line:  # letters below the line take about a fifth of the height
        y1 -= DESCENT * (first.box.bottom - first.box.top)
        y2 -= DESCENT * (last.box.bottom - last.box.top)
    return (y2 - y1) / max(1.0, x2 - x1), (x1, y1)
