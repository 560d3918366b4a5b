"""Readings: the texts of images with their confidence, and their lines of JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import repeat
from math import prod
from typing import TYPE_CHECKING, Any

from vit_str.console import one_line

if TYPE_CHECKING:
    import pandas

    from vit_str.characters.charset import Charset
    from vit_str.decoding.boxes import AttentionMap, Box, Place
    from vit_str.decoding.hypotheses import Candidates, Hypothesis

_DIGITS = 6  # of confidences, after the point
_PIXEL_DIGITS = 2  # of sides of boxes


@dataclass(frozen=True, slots=True)
class Character:
    """One character that was read.

    Attributes:
        character: the character.
        confidence: probability that the model gives it after those before it, 0 to 1.
        box: about where it is, from where the model looked; None if that was not asked for.
        attention: where the decoder looked while it wrote this, as shares of 1 in rows and columns
            that cover the image, turned upright; None if that was not asked for.
    """

    character: str
    confidence: float
    box: Box | None = None
    attention: AttentionMap | None = None


UNREAD = 0.95
"""Probability of scripts that no reader here knows, from which a text is left out that is unsure
and no known word."""


@dataclass(frozen=True, slots=True)
class Reading:
    """The text of an image.

    Attributes:
        text: the characters together; empty if the model sees no text.
        confidence: probability of the whole text: of every character and of the end after them,
            among what is allowed. 0 if nothing that is allowed could be written.
        characters: one by one.
        path: the file of the image; None if it came from memory.
        free: what is read if every text is allowed; None if every text is.
        alternatives: the next most probable readings, if they were asked for.
        prior: what the frequency of its words added to the logarithm of the probability of the
            text; 0 where the image left no doubt, or without a language.
        other_script: probability that the letters are of a script that the model does not know;
            None where nothing tells.
        of_others: the same for the scripts of each of the other readers; empty where nothing tells.
        unread_script: the same for scripts that no reader here knows; None where nothing tells.
            Where the reader left out such a text, ``text`` is empty.
    """

    text: str
    confidence: float
    characters: tuple[Character, ...]
    path: str | None = None
    free: Reading | None = None
    alternatives: tuple[Reading, ...] = ()
    prior: float = 0.0
    other_script: float | None = field(default=None, compare=False)
    of_others: tuple[float, ...] = field(default=(), compare=False)
    unread_script: float | None = field(default=None, compare=False)

    @property
    def may_be_unread(self) -> bool:
        """Whether what tells scripts is sure that no reader here knows that of the letters."""
        return self.unread_script is not None and self.unread_script >= UNREAD

    @property
    def is_left_out(self) -> bool:
        """Whether there is no text because no reader here knows its script."""
        return not self.text and self.may_be_unread

    def to_dict(self) -> dict[str, Any]:
        """This reading as ``vit-str read --format jsonl`` writes it."""
        return _rounded(reading_row(self.path or "", self))

    def with_minimum_confidence(self, least: float | None) -> Reading:
        """This reading, with empty text if its confidence is below ``least``."""
        doubtful = least is not None and self.confidence < least
        return replace(self, text="", characters=()) if doubtful else self


class Readings(list[Reading]):
    """Readings of several images, in their order."""

    def to_frame(self) -> pandas.DataFrame:
        """A row for each image: path, text and confidence. It needs pandas."""
        import pandas

        rows = [(each.path, each.text, each.confidence) for each in self]
        return pandas.DataFrame(rows, columns=["path", "text", "confidence"])


def per_character(readings: Sequence[Reading]) -> float:
    """The geometric mean of the confidences of all characters; 0 without any."""
    length = sum(len(reading.text) for reading in readings)
    if not length:
        return 0.0
    product = prod(reading.confidence for reading in readings if reading.text)
    return product ** (1 / length)


def reading_of(
    found: Candidates, charset: Charset, places: Sequence[Place] | None = None
) -> Reading:
    """The reading of an image, from candidates in ids.

    Args:
        found: texts as ids.
        charset: of the model that has found them.
        places: of the characters of the best text; None if nobody asked.
    """
    best = _text_of(found.best, charset, places)
    if found.free is None and len(found.hypotheses) <= 1:
        return best
    free = None if found.free is None else _text_of(found.free, charset)
    others = tuple(_text_of(other, charset) for other in found.hypotheses[1:])
    return replace(best, free=free, alternatives=others)


def _text_of(
    hypothesis: Hypothesis, charset: Charset, places: Sequence[Place] | None = None
) -> Reading:
    # And numpy, without which help is at once there
    from vit_str.decoding.boxes import Place

    text = charset.decode(hypothesis.ids)
    known = zip(text, hypothesis.confidences, places or repeat(Place()), strict=False)
    characters = tuple(
        Character(character, confidence, place.box, place.attention)
        for character, confidence, place in known
    )
    return Reading(text, hypothesis.confidence, characters, prior=hypothesis.prior)


def reading_row(
    path: str, reading: Reading, characters: bool = True, **more: object
) -> dict[str, Any]:
    """Path, text, confidence, what is in ``more``, other readings, and characters if wanted."""
    row = {"path": path, "text": reading.text, "confidence": reading.confidence, **more}
    if reading.free is not None:
        row["free_text"] = reading.free.text
        row["free_confidence"] = reading.free.confidence
    if reading.alternatives:
        row |= _prior(reading)
        row["alternatives"] = [
            {"text": other.text, "confidence": other.confidence, **_prior(other)}
            for other in reading.alternatives
        ]
    if reading.is_left_out:
        row["unread_script"] = reading.unread_script
    if characters:
        row["characters"] = [_character(character) for character in reading.characters]
    return row


def json_line(row: dict[str, Any]) -> str:
    """A row as one line of JSON, its numbers rounded.

    A file name that is not UTF-8 would make a line that is not JSON, and some programs take
    characters such as U+2028 for the end of a line: such a line is escaped.
    """
    line = json.dumps(_rounded(row), ensure_ascii=False)
    try:
        line.encode()
    except UnicodeEncodeError:
        return json.dumps(_rounded(row))
    return line if one_line(line) == line else json.dumps(_rounded(row))


def error_row(path: str, error: str) -> dict[str, Any]:
    """The row of an image that cannot be read."""
    return {"path": path, "text": None, "confidence": None, "error": error}


def _prior(reading: Reading) -> dict[str, float]:
    """The log-weight of the prior, where there was one."""
    return {"prior": reading.prior} if reading.prior else {}


def _character(character: Character) -> dict[str, Any]:
    values: dict[str, Any] = {
        "character": character.character,
        "confidence": character.confidence,
    }
    if character.box is not None:
        values["box"] = list(character.box)
    if character.attention is not None:
        values["attention"] = [list(row) for row in character.attention]
    return values


def _rounded(value: Any) -> Any:
    """Confidences rounded to 6 digits, and the sides of boxes to 2."""
    if isinstance(value, dict):
        rounded = {name: _rounded(item) for name, item in value.items()}
        if rounded.get("box") is not None:
            rounded["box"] = [round(side, _PIXEL_DIGITS) for side in value["box"]]
        return rounded
    if isinstance(value, list):
        return [_rounded(item) for item in value]
    return round(value, _DIGITS) if isinstance(value, float) else value
