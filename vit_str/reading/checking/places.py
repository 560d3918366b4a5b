"""Where words of a text lie on pages: parts of words that were read, and crops of them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain, pairwise

import numpy as np
from PIL import Image

from vit_str.decoding.boxes import Box
from vit_str.pages.find.geometry import Strip, side_lengths
from vit_str.pages.page import Page, Word
from vit_str.reading.checking.alignment import Group
from vit_str.reading.checking.spelling import plain

_ABOVE = 0.16  # over the height of a word, which pages give without what lies around the letters
_BESIDE = 0.2  # the same
_HYPHENS = "-‐\u00ad"


@dataclass(frozen=True, slots=True, eq=False)
class PageWord:
    """A word of a page.

    Attributes:
        word: as it was read.
        page: number of the page, from 1.
        line_confidence: geometric mean of the characters of its line.
        room: pixels along its line to the words before and behind it.
        line: number of its line, of all lines of all pages.
    """

    word: Word
    page: int
    line_confidence: float
    room: tuple[float, float]
    line: int

    @property
    def width(self) -> float:
        """Its length along its line, in pixels."""
        return side_lengths(np.array(self.word.polygon))[0]

    def box(self, start: float = 0.0, end: float = 1.0) -> Box:
        """The upright box around the ink of the word, or of a part of its length."""
        across = _between(_part_of(self.word, start, end), *self.word.ink)
        return Box(*across.min(0).tolist(), *across.max(0).tolist())


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """A part of a page that a word of the text, or a part of it, should stand for.

    Attributes:
        text: that is asked for.
        found: that was read.
        confidence: of the characters of ``found``, their geometric mean.
        page_word: which it is, or is a part of.
        start: share of its length at which the part begins.
        end: share at which it ends.
    """

    text: str
    found: str
    confidence: float
    page_word: PageWord
    start: float = 0.0
    end: float = 1.0

    @property
    def box(self) -> Box:
        """The upright box around its ink."""
        return self.page_word.box(self.start, self.end)

    def crop(self, image: Image.Image) -> Image.Image:
        """The part of a page with some of what is around it, upright; never taller than wide."""
        corners = _part_of(self.page_word.word, self.start, self.end)
        width, height = side_lengths(corners)
        before, behind = self.page_word.room
        left = min(_BESIDE * height, before / 2 if self.start == 0 else 0)
        right = min(_BESIDE * height, behind / 2 if self.end == 1 else 0)
        along = (corners[1] - corners[0]) / max(width, 1e-6)
        down = (corners[3] - corners[0]) / max(height, 1e-6)
        above = _ABOVE * height * down
        moves = [
            -left * along - above,
            right * along - above,
            right * along + above,
            -left * along + above,
        ]
        strip = Strip(image, corners + np.array(moves)).image
        if strip.width >= strip.height:
            return strip
        return strip.resize((strip.height, strip.height))


def _part_of(word: Word, start: float, end: float) -> np.ndarray:
    """The corners of a part of the length of a word."""
    corners = np.array(word.polygon)
    top = corners[1] - corners[0]
    bottom = corners[2] - corners[3]
    return np.array(
        [
            corners[0] + start * top,
            corners[0] + end * top,
            corners[3] + end * bottom,
            corners[3] + start * bottom,
        ]
    )


def _between(corners: np.ndarray, first: float, last: float) -> np.ndarray:
    """The corners of a part of the height of a quadrilateral."""
    down = corners[[3, 2]] - corners[[0, 1]]
    upper = corners[[0, 1]] + first * down
    lower = corners[[0, 1]] + last * down
    return np.array([*upper, *lower[::-1]])


def words_of(page: Page, number: int, first_line: int = 0) -> Iterator[PageWord]:
    """The words of a page in reading order.

    Args:
        page: that was read.
        number: of the page, from 1.
        first_line: number of its first line.
    """
    lines = chain.from_iterable(page.blocks)
    for place, line in enumerate(lines, first_line):
        confidence = _mean(line)
        gaps = [_gap(one, other) for one, other in pairwise(line)]
        rooms = zip([np.inf, *gaps], [*gaps, np.inf], strict=True)
        for word, room in zip(line, rooms, strict=True):
            yield PageWord(word, number, confidence, room, place)


def _gap(one: Word, other: Word) -> float:
    end = np.array(one.polygon[1])
    start = np.array(other.polygon[0])
    return float(np.linalg.norm(start - end))


def _mean(words: Sequence[Word]) -> float:
    length = sum(len(word.text) for word in words)
    product = np.prod([max(word.confidence, 1e-12) for word in words])
    return float(product ** (1 / length)) if length else 0.0


def places_of(
    group: Group, texts: Sequence[str], page_words: Sequence[PageWord]
) -> list[list[Place]]:
    """For each word of the text in a group, the places that show it.

    Args:
        group: of an alignment.
        texts: all words of the text.
        page_words: all words of the pages.
    """
    words = [page_words[place] for place in group.page]
    own = [texts[place] for place in group.text]
    if len(words) == 1:
        return [[place] for place in _shares(own, words[0])]
    return [_cuts(own[0], words)]


def _shares(texts: Sequence[str], page_word: PageWord) -> list[Place]:
    """Words of the text that were read as one."""
    word = page_word.word
    confidence = _confidence(word)
    if len(texts) == 1:
        return [Place(texts[0], word.text, confidence, page_word)]
    length = len(word.text)
    ends = _ends([len(text) for text in texts], length)
    places = []
    for text, (start, end) in zip(texts, pairwise([0, *ends]), strict=True):
        first = min(
            start, length - 1
        )  # where nothing was read, one character is looked at
        place = Place(
            text=text,
            found=word.text[start:end],
            confidence=confidence,
            page_word=page_word,
            start=first / length,
            end=max(end, first + 1) / length,
        )
        places.append(place)
    return places


def _cuts(text: str, words: Sequence[PageWord]) -> list[Place]:
    """A word of the text that was read as several, perhaps cut at the end of a line."""
    found = [word.word.text for word in words]
    bare = [_without_hyphen(word) for word in words[:-1]] + found[-1:]
    wanted = plain(text)
    if plain("".join(bare)) != wanted and plain("".join(found)) == wanted:
        bare = found  # the hyphen belongs to the word
    ends = _ends([len(each) for each in bare], len(text))
    places = []
    pairs = pairwise([0, *ends])
    for word, own, (start, end) in zip(words, bare, pairs, strict=True):
        part = text[start:end] + word.word.text[len(own) :]
        places.append(Place(part, word.word.text, _confidence(word.word), word))
    return places


def _without_hyphen(word: PageWord) -> str:
    text = word.word.text
    return text[:-1] if len(text) > 1 and text[-1] in _HYPHENS else text


def _ends(lengths: Sequence[int], total: int) -> list[int]:
    """Where parts of some lengths end in a text of another length."""
    whole = max(1, sum(lengths))
    return [round(total * end / whole) for end in accumulate(lengths)]


def _confidence(word: Word) -> float:
    return float(word.confidence ** (1 / max(1, len(word.text))))
