"""Lines whose signs are not all letters: boxes to tick, strokes through words, odd spaces."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain

from PIL import Image

from vit_str.pages.read.check_boxes import (
    CheckBox,
    erased,
    find_check_boxes,
    holds_letter,
    is_in_line,
)
from vit_str.pages.read.lines import Line, read_lines
from vit_str.pages.read.pieces import whole, words_of
from vit_str.pages.read.spaces import without_odd_spaces
from vit_str.pages.read.underscores import with_low_lines


def without_check_boxes(
    lines: Sequence[Line], image: Image.Image
) -> tuple[list[Line], list[CheckBox]]:
    """Lines as they are read without the boxes to tick in them, and these boxes."""
    words = list(chain.from_iterable(line.words for line in lines))
    boxes = [
        box
        for box in find_check_boxes(image, [line.quadrilateral for line in lines])
        if not holds_letter(words, box)
    ]
    if not boxes:
        return list(lines), []
    without = erased(image, boxes)
    kept = []
    for line in lines:
        around = line.quadrilateral
        if any(is_in_line(box, around) for box in boxes):
            kept += read_lines(line.readers, without, [around], line.quarters)
        else:
            kept.append(line)
    return kept, boxes


def without_strikes(line: Line) -> Line:
    """A line as it is read without strokes through its words, if it has some."""
    strip = line.words[0][0].strip
    cleaned = strip.without_strikes()
    if cleaned is strip:
        return line
    piece = whole(cleaned)
    [reading] = line.readers.lines.read([piece.image], boxes=True)
    return replace(line, words=words_of(piece, reading), whole=reading)


def with_true_spaces(line: Line) -> Line:
    """A line with low lines where there are strokes, and without odd spaces."""
    strip = line.words[0][0].strip
    reading = without_odd_spaces(strip, with_low_lines(strip, line.whole))
    if reading is line.whole:
        return line
    return replace(line, words=words_of(whole(strip), reading), whole=reading)
