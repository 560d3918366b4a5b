"""Reads the lines of a page in the directions in which their text may run.

The longest lines tell how the page is turned and what script it has, before all others are read; a
line is read in other directions where these could be more probable.
"""

from collections.abc import Callable, Sequence

from PIL import Image

from vit_str.pages.find.geometry import Quadrilateral, side_lengths
from vit_str.pages.read.directions import Directions
from vit_str.pages.read.line_scripts import ScriptReaders, read_by_surest
from vit_str.pages.read.lines import Line, PageReaders

_ReadLines = Callable[[Sequence[Quadrilateral], int], list[Line]]
"""Reads lines whose text is turned by some quarters to the right."""

_SAMPLE = 6  # lines that tell how a page was turned, and of what script it is


def read_turned_lines(
    scripts: ScriptReaders, image: Image.Image, found: Sequence[Quadrilateral]
) -> tuple[list[Line], int]:
    """All lines of a picture, and the quarter turns to the right of the text on it.

    Args:
        scripts: what reads them.
        image: the picture.
        found: its lines, upright.
    """
    turned = _TurnedLines(found)
    places = sorted(range(len(found)), key=lambda n: -max(side_lengths(found[n])))
    longest = places[:_SAMPLE]
    direction = turned.directions.first_page()
    readers: Sequence[PageReaders] = (scripts.own,)

    def read_first(lines: Sequence[Quadrilateral], quarters: int) -> list[Line]:
        nonlocal readers
        read, readers = scripts.read_first(image, lines, quarters)
        return read

    def read(lines: Sequence[Quadrilateral], quarters: int) -> list[Line]:
        return read_by_surest(readers, image, lines, quarters)

    turned.read_next(longest, direction, read_first)
    direction = turned.settle_page(longest, direction, read)
    readers = scripts.still_needed(readers, turned.lines(longest, direction))
    tried = set()
    # What lines tell each other depends on the direction of their page
    while direction not in tried:
        tried.add(direction)
        turned.settle(places, direction, read)
        if turned.directions.expect_more(places, direction):
            turned.settle(places, direction, read)
        if turned.directions.disagree(places, direction):
            direction = turned.settle_page(places, direction, read)
    return turned.lines(places, direction), direction


class _TurnedLines:
    """Lines as they are read in some directions, and what that tells of their directions."""

    def __init__(self, found: Sequence[Quadrilateral]) -> None:
        self.directions = Directions(found)
        self._found = found
        self._read: dict[tuple[int, int], Line] = {}  # by place and direction

    def lines(self, places: Sequence[int], page: int) -> list[Line]:
        """Lines in their most probable directions on a page."""
        return [self._read[n, self.directions.line(n, page)] for n in places]

    def settle_page(self, places: Sequence[int], page: int, read: _ReadLines) -> int:
        """Read lines until one is sure how the page is turned; return that."""
        while True:
            self.settle(places, page, read)
            page = self.directions.page(places)
            asked = self.directions.asked_of_page(places, page)
            if asked is None:
                return page
            self._look(asked[1], [asked[0]], read)

    def settle(self, places: Sequence[int], page: int, read: _ReadLines) -> None:
        """Read lines in all directions that could be theirs on a page."""
        while self.read_next(places, page, read):
            pass

    def read_next(self, places: Sequence[int], page: int, read: _ReadLines) -> bool:
        """Read each line in the next direction that could be its own; whether there was one."""
        asked: dict[int, list[int]] = {}
        for place in places:
            quarters = self.directions.asked_of_line(place, page)
            if quarters is not None:
                asked.setdefault(quarters, []).append(place)
        for quarters, those in asked.items():
            self._look(quarters, those, read)
        return bool(asked)

    def _look(self, quarters: int, places: Sequence[int], read: _ReadLines) -> None:
        lines = read([self._found[place] for place in places], quarters)
        for place, line in zip(places, lines, strict=True):
            self._read[place, quarters] = line
            text = line.whole.text
            self.directions.add(place, quarters, len(text), line.whole.confidence)
