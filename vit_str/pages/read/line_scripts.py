"""Which readers read the lines of a page: those of the script that each line is in."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from PIL import Image

from vit_str.decoding.readings import Reading
from vit_str.pages.find.geometry import Quadrilateral
from vit_str.pages.read.lines import Line, PageReaders, read_lines
from vit_str.scripts.evidence import (
    are_mostly_unknown,
    is_surer,
    probably_of_other,
    sees_other_script,
    surest,
)
from vit_str.scripts.one_script import has_look_alikes, script_of_lines, with_one_script
from vit_str.scripts.thresholds import DOUBTFUL


@dataclass(frozen=True, slots=True)
class ScriptReaders:
    """Readers of one script each, of which the surest reads every line of a page.

    Attributes:
        own: read every page.
        others: open readers of other scripts; each is called where those of the page are in doubt.
        language: that was asked for, if one was: then every script is expected.
    """

    own: PageReaders
    others: Sequence[Callable[[], PageReaders]]
    language: str | None

    def read_first(
        self, image: Image.Image, found: Sequence[Quadrilateral], quarters: int
    ) -> tuple[list[Line], Sequence[PageReaders]]:
        """Lines that tell of what script a page is, and the readers to read the others with.

        Readers of other scripts read them too where those of the page are in doubt, or where
        languages of several scripts are asked for.
        """
        lines = read_lines(self.own, image, found, quarters)
        if not self.others or not self._may_be_of_other_script(lines):
            return lines, (self.own,)
        others = [open_readers() for open_readers in self.others]
        again = [read_lines(each, image, found, quarters) for each in others]
        lines = _surest(lines, again)
        seen = {id(line.readers) for line in lines}
        # Where nobody says what to expect, readers that no line went to are done
        is_asked_for = self.language is not None
        kept = [each for each in others if is_asked_for or id(each) in seen]
        return lines, (self.own, *kept)

    def still_needed(
        self, readers: Sequence[PageReaders], lines: Sequence[Line]
    ) -> Sequence[PageReaders]:
        """Those of some readers that the page may need once the direction of its lines is known."""
        if self.language is None and all(line.readers is self.own for line in lines):
            return (self.own,)
        return readers

    def with_lines_of_others(
        self, lines: Sequence[Line], image: Image.Image
    ) -> tuple[list[Line], list[int]]:
        """Lines, of which those whose doubtful words show another script go to the surest reader.

        The longest lines do not tell of a Korean address on an English page, nor of Korean text
        around lines of code.

        Args:
            lines: of a page, their doubtful words read again.
            image: the page.

        Returns:
            The lines, and the places of those that have gone to other readers.
        """
        renewed = list(lines)
        if self.language is not None:
            return renewed, []
        asked = {n: line for n, line in enumerate(lines) if line.of_others}
        unasked = sum(line.readers is self.own for line in lines) - len(asked)
        moved = set()
        for number, open_readers in enumerate(self.others):
            log_odds = [line.of_others[number] for line in asked.values()]
            probable = probably_of_other(log_odds, unasked)
            places = [list(asked)[place] for place in probable]
            if not places:
                continue
            again = _read_as_turned(open_readers(), image, [lines[n] for n in places])
            believed = _surest([renewed[n] for n in places], [again])
            for place, line in zip(places, believed, strict=True):
                if line is not renewed[place]:
                    renewed[place] = line
                    moved.add(place)
        return renewed, sorted(moved)

    def _may_be_of_other_script(self, lines: Sequence[Line]) -> bool:
        """Whether to read lines by other readers too: asked for, doubtful, or no words."""
        if self.language is not None or _confidence(lines) < DOUBTFUL:
            return True
        readings = [reading for line in lines for reading in line.readings]
        return are_mostly_unknown(readings, self.own.lines.known_words)


def read_by_surest(
    readers: Sequence[PageReaders],
    image: Image.Image,
    found: Sequence[Quadrilateral],
    quarters: int,
) -> list[Line]:
    """Lines as the surest of some readers reads each."""
    first, *others = readers
    lines = read_lines(first, image, found, quarters)
    again = [read_lines(each, image, found, quarters) for each in others]
    return _surest(lines, again)


def _read_as_turned(
    readers: PageReaders, image: Image.Image, lines: Sequence[Line]
) -> list[Line]:
    """Lines as other readers read them in the same directions."""
    again: dict[int, Line] = {}
    for quarters in {line.quarters for line in lines}:
        places = [n for n, line in enumerate(lines) if line.quarters == quarters]
        around = [lines[place].quadrilateral for place in places]
        read = read_lines(readers, image, around, quarters)
        again |= dict(zip(places, read, strict=True))
    return [again[place] for place in range(len(lines))]


def _surest(own: Sequence[Line], others: Sequence[Sequence[Line]]) -> list[Line]:
    """Each line as it is read, or as the surest reader of other scripts if one is surer."""
    lines = []
    for first, *seconds in zip(own, *others, strict=True):
        charset = first.readers.lines.charset
        believed: list[list[Reading] | None] = []
        for second in seconds:
            texts = first.readings, second.readings
            is_better = sees_other_script(*texts, charset) or is_surer(*texts, charset)
            believed.append(second.readings if is_better else None)
        place = surest(first.readings, believed)
        lines.append(first if place is None else seconds[place])
    return lines


def _confidence(lines: Sequence[Line]) -> float:
    return fmean(line.confidence for line in lines) if lines else 0.0


def in_one_script(lines: Sequence[Line], language: str | None) -> list[Line]:
    """Lines whose words have the letters of one script each, that of their page in doubt.

    Args:
        lines: of a page.
        language: that was asked for, if one was.
    """
    charsets = {line.readers.lines.charset for line in lines}
    if not any(map(has_look_alikes, charsets)):
        return list(lines)
    texts = (" ".join(each.text for each in line.readings) for line in lines)
    page = script_of_lines(texts)
    renewed = []
    for line in lines:
        charset = line.readers.lines.charset
        readings = with_one_script(line.readings, charset, language, page)
        pieces = (piece for piece, _ in line.words)
        words = tuple(zip(pieces, readings, strict=True))
        renewed.append(replace(line, words=words))
    return renewed
