"""Lines whose signs are not all letters: boxes to tick, strokes through words, odd spaces."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain

from PIL import Image

from vit_str.pages.find.low_lines import with_low_lines_beside
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
from vit_str.pages.read.underscores import LOW_LINE, with_low_lines


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


def with_blanks(lines: Sequence[Line], image: Image.Image) -> list[Line]:
    """Lines with the low lines beside them, which detectors leave out.

    A line that reaches over them is believed if it has the same words as without: what
    stands in a form on its lines makes the lines of it unsure.

    Args:
        lines: as they are read within the boxes of a detector.
        image: their page.
    """
    places = [n for n, line in enumerate(lines) if _may_reach(line)]
    around = [lines[n].quadrilateral for n in places]
    renewed: list[Line | None] = list(lines)
    for each in with_low_lines_beside(image, around):
        if not each.is_longer:
            continue
        joined = [places[n] for n in each.places]
        own = [lines[n] for n in joined]
        [read] = read_lines(own[0].readers, image, [each.quadrilateral], 0)
        again = with_true_spaces(read)
        if LOW_LINE in again.whole.text and _words([again]) == _words(own):
            for n in joined:
                renewed[n] = None
            renewed[joined[0]] = again
    return [line for line in renewed if line is not None]


def _may_reach(line: Line) -> bool:
    """Whether a line is upright, and read as it is."""
    return not line.quarters and not line.words[0][0].strip.strikes


def _words(lines: Sequence[Line]) -> list[str]:
    """The words of lines, without marks and low lines."""
    text = " ".join(line.whole.text for line in lines)
    words = ("".join(filter(str.isalnum, word)) for word in text.split())
    return list(filter(None, words))
