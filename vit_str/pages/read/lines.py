"""Lines of a page as they were read, and what reads them."""

from collections.abc import Sequence
from dataclasses import dataclass

from PIL import Image

from vit_str.decoding.readings import Reading, per_character
from vit_str.pages.find.geometry import Quadrilateral, Strip, corners_from
from vit_str.pages.read.pieces import Read, whole, words_of
from vit_str.words.reader import Reader

_PRINT = 40  # words from which on a picture is one of print, not of signs
_LONG_S = 0.2
"""Share of the letters s from which on print is that of books of before 1900, which have half."""


@dataclass(frozen=True, slots=True, eq=False)
class PageReaders:
    """Readers of one script: of lines, and of the words in them that the reader of lines doubts."""

    lines: Reader
    words: Reader | None  # None if lines are left as they are read


@dataclass(frozen=True, slots=True)
class Line:
    """A line that was read in one direction.

    Attributes:
        quadrilateral: its corners, upright.
        quarters: turns to the right that bring the first side of its upright box to where the text
            begins.
        words: that are left of it, each with the piece of the line that it was read in; as it is
            read at first one with an empty text, if nothing was read.
        readers: that have read it.
        whole: the reading of all of it, as it was cut into words.
        of_others: for each reader of other scripts, what its doubtful words speak for these, see
            `vit_str.scripts.evidence.log_odds_of_others`; empty if they were not asked.
    """

    quadrilateral: Quadrilateral
    quarters: int
    words: tuple[Read, ...]
    readers: PageReaders
    whole: Reading
    of_others: tuple[float, ...] = ()

    @property
    def readings(self) -> list[Reading]:
        """The readings of the words."""
        return [reading for _, reading in self.words]

    @property
    def confidence(self) -> float:
        """The geometric mean of the confidences of its characters."""
        return per_character(self.readings)


def read_lines(
    readers: PageReaders,
    image: Image.Image,
    quadrilaterals: Sequence[Quadrilateral],
    quarters: int,
) -> list[Line]:
    """Lines of a picture whose text is turned by some quarters to the right."""
    corners = [corners_from(each, quarters) for each in quadrilaterals]
    pieces = [whole(Strip(image, around)) for around in corners]
    order = sorted(range(len(pieces)), key=lambda index: pieces[index].aspect)
    images = [pieces[index].image for index in order]
    read = readers.lines.read(images, boxes=True)
    readings = dict(zip(order, read, strict=True))
    lines = []
    for index, quadrilateral in enumerate(quadrilaterals):
        piece, reading = pieces[index], readings[index]
        if piece.aspect < 1:  # it was widened
            reading = piece.in_strip(reading)
        words = words_of(piece, reading)
        lines.append(Line(quadrilateral, quarters, words, readers, reading))
    return lines


def is_print(lines: Sequence[Line]) -> bool:
    """Whether a picture holds as many words as a page of print, and is no photograph of signs."""
    return sum(len(line.words) for line in lines) >= _PRINT


def is_old_print(lines: Sequence[Line]) -> bool:
    """Whether a picture is of the time of the long s, and may be Fraktur.

    Readers of words have seen little of that, and are confident where they read it wrong: k as f,
    S as G.
    """
    text = " ".join(reading.text for line in lines for reading in line.readings)
    long = text.count("ſ")
    return long > _LONG_S * (long + text.count("s"))
