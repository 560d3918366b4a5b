"""Doubtful words of lines, which a reader of words reads again."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import chain

from vit_str.decoding.readings import Reading, per_character
from vit_str.pages.read.lines import Line, is_old_print, is_print
from vit_str.pages.read.pieces import Piece, joined
from vit_str.pages.read.settling import MarkStyle, settled, with_apostrophes
from vit_str.pages.read.underscores import LOW_LINE, is_same_without_low_lines
from vit_str.scripts.evidence import log_odds_of_others
from vit_str.scripts.thresholds import SURE
from vit_str.words.reader import Reader

_DOUBTFUL = 0.98  # confidence below which a reader of words looks at a word too
_HEADSTART = 1.1
"""Times the confidence of the reader of words, which knows signs and accents better."""


def with_doubtful_words_again(
    lines: Sequence[Line],
    boxes: bool,
    is_constrained: bool,
    places: Collection[int] | None = None,
) -> list[Line]:
    """Lines whose doubtful words are as the surer of both of its readers reads them.

    Args:
        lines: of a page.
        boxes: say where every character of them is.
        is_constrained: only some texts are allowed, and only readers of words know which.
        places: of the lines whose words are read again; None for all.
    """
    renewed = list(lines)
    if is_old_print(lines) and not is_constrained:
        return renewed
    are_of_print = is_print(lines)
    style = MarkStyle()  # nothing told, where not every mark is allowed
    if not is_constrained:
        style = MarkStyle.of(chain.from_iterable(line.readings for line in lines))
    for readers in dict.fromkeys(line.readers for line in lines):
        reader = readers.words
        if reader is None:
            continue
        if are_of_print and reader.effort != "careful":
            reader = reader.without_augmentation()
        own = {
            place: line
            for place, line in enumerate(lines)
            if line.readers is readers and (places is None or place in places)
        }
        again = _read_again(reader, list(own.values()), style, boxes)
        for place, line in zip(own, again, strict=True):
            renewed[place] = line
    return renewed


def _read_again(
    reader: Reader, lines: Sequence[Line], style: MarkStyle, boxes: bool
) -> list[Line]:
    words = list(chain.from_iterable(line.words for line in lines))
    doubtful = [piece for piece, reading in words if _is_doubtful(reader, reading)]
    again = iter(_read_pieces(reader, doubtful, boxes))
    renewed = []
    for line in lines:
        surest = []
        seen = []
        for piece, reading in line.words:
            if _is_doubtful(reader, reading):
                seen.append(next(again))
                reading = _surer(reader, reading, seen[-1], style)
            surest.append((piece, with_apostrophes(reading, style)))
        of_others = log_odds_of_others(seen)
        renewed.append(replace(line, words=tuple(surest), of_others=of_others))
    return renewed


def _is_doubtful(reader: Reader, reading: Reading) -> bool:
    """Whether a reader of words looks at a word too; at all, if not every text is allowed."""
    return reader.is_constrained or per_character([reading]) < _DOUBTFUL


def _surer(reader: Reader, line: Reading, word: Reading, style: MarkStyle) -> Reading:
    """The surer of two readings of a word: as a part of its line, or by itself.

    Neither is, where the word is in a script that no reader knows, and its line is not sure.
    """
    if reader.is_constrained or not line.text:
        return word
    if word.is_left_out and per_character([line]) < SURE:
        return word
    if LOW_LINE in line.text and is_same_without_low_lines(line.text, word.text):
        return line  # its strokes were measured
    is_better = _HEADSTART * per_character([word]) > per_character([line])
    return settled(word if is_better else line, line, word, style)


def _read_pieces(reader: Reader, pieces: Sequence[Piece], boxes: bool) -> list[Reading]:
    """Readings of words; what fills the reader is read again as two halves that overlap.

    A piece that is no wider than high is not halved: what fills the reader there is no text.
    """
    found = reader.read([piece.image for piece in pieces], boxes=boxes)
    readings = [piece.in_strip(each) for piece, each in zip(pieces, found, strict=True)]
    full = []
    for index, (piece, reading) in enumerate(zip(pieces, readings, strict=True)):
        if len(reading.text) >= reader.maximum_length and piece.aspect > 1:
            full.append(index)
    if full:
        halves = list(chain.from_iterable(pieces[index].halves() for index in full))
        parts = iter(_read_pieces(reader, halves, boxes))
        for index in full:
            readings[index] = joined(next(parts), next(parts))
    return readings
