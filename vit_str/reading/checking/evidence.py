"""Places -> evidence: both readers look at doubtful crops again, and say how probable texts are."""

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from math import log
from typing import TYPE_CHECKING

from vit_str.pages.read.lines import PageReaders
from vit_str.pages.reader import PageReader
from vit_str.reading.checking.judging import SURE, Evidence
from vit_str.reading.checking.places import Place
from vit_str.reading.checking.spelling import is_same, plain
from vit_str.words.reader import Reader

if TYPE_CHECKING:
    from PIL import Image

_TINY = 1e-300  # for logarithms

Pair = tuple[float, float]


class Witnesses:
    """The readers of a page reader, each asked about crops that it can write the texts of.

    Args:
        reader: of pages.
    """

    def __init__(self, reader: PageReader) -> None:
        self._own = reader.readers
        self._others = reader.others

    def look(
        self, places: Sequence[Place], image: "Image.Image | None"
    ) -> list[Evidence]:
        """Readings of places of one page.

        Args:
            places: of texts.
            image: the page, upright; None if no place is doubtful.
        """
        doubtful = [place for place in places if is_doubtful(place)]
        crops = [place.crop(image) for place in doubtful] if image else []
        spellings = [_spellings(place) for place in doubtful] if image else []
        lines = self._ask(crops, spellings, of_lines=True)
        words = self._ask(crops, spellings, of_lines=False)
        asked = iter(zip(lines, words, strict=True))
        evidence = []
        for place in places:
            line, word = next(asked) if image and is_doubtful(place) else (None, None)
            found = Evidence(place.text, place.found, place.confidence, line, word)
            evidence.append(found)
        return evidence

    def _ask(
        self,
        crops: Sequence["Image.Image"],
        spellings: Sequence[tuple[list[str], list[str]]],
        of_lines: bool,
    ) -> list[Pair | None]:
        answers: list[Pair | None] = [None] * len(crops)
        waiting = list(range(len(crops)))
        for readers in self._all() if crops else ():
            reader = readers.lines if of_lines else readers.words
            able = []
            for place in waiting:
                texts, found = spellings[place]
                if reader is not None and _can_write(reader, texts, found):
                    able.append(place)
            if not able or reader is None:
                continue
            waiting = [place for place in waiting if place not in set(able)]
            asked = [crops[place] for place in able]
            texts_of = [[*spellings[place][0], *spellings[place][1]] for place in able]
            for place, readings in zip(
                able, reader.verify(asked, texts_of), strict=True
            ):
                logs = [log(max(_TINY, reading.confidence)) for reading in readings]
                count = len(spellings[place][0])
                answers[place] = max(logs[:count]), max(logs[count:])
        return answers

    def _all(self) -> Iterator[PageReaders]:
        yield self._own
        for open_readers in self._others:
            yield open_readers()


def is_doubtful(place: Place) -> bool:
    """Whether readers are asked about a place."""
    return place.confidence < SURE or not is_same(place.text, place.found)


def _can_write(reader: Reader, texts: Sequence[str], found: Sequence[str]) -> bool:
    return all(map(reader.can_write, [*texts, *found]))


def _spellings(place: Place) -> tuple[list[str], list[str]]:
    """Ways to write a text and what was read there: typography is not in question."""
    texts = [place.text, plain(place.text), _as_printed(place.text, place.found)]
    found = [place.found, plain(place.found)]
    return _distinct(texts), _distinct(found)


def _distinct(texts: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(filter(None, texts))) or [""]


def _as_printed(text: str, found: str) -> str:
    """A text with the quotes and dashes of what was read."""
    one = plain(text)
    other = plain(found)
    if len(other) != len(found) or one == text == other == found:
        return text
    parts = list(one)
    for block in SequenceMatcher(None, one, other, False).get_matching_blocks():
        parts[block.a : block.a + block.size] = found[block.b : block.b + block.size]
    return "".join(parts)
