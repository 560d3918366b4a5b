"""Readings as lines of JSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from vit_str.console import one_line

if TYPE_CHECKING:
    from vit_str.runtime.reader import Character, Reading

_DIGITS = 6  # of confidences, after the point
_PIXEL_DIGITS = 2  # of sides of boxes


def reading_row(
    path: str, reading: Reading, characters: bool = True, **more: object
) -> dict[str, Any]:
    """Path, text, confidence, what is in ``more``, other readings, and characters if wanted."""
    row = {"path": path, "text": reading.text, "confidence": reading.confidence, **more}
    if reading.free is not None:
        row |= {"free_text": reading.free.text, "free_confidence": reading.free.confidence}
    if reading.alternatives:
        row |= _prior(reading)
        row["alternatives"] = [
            {"text": other.text, "confidence": other.confidence, **_prior(other)}
            for other in reading.alternatives
        ]
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
    """What the prior added, where it spoke."""
    return {"prior": reading.prior} if reading.prior else {}


def _character(character: Character) -> dict[str, Any]:
    values: dict[str, Any] = {"character": character.character, "confidence": character.confidence}
    if character.box is not None:
        values["box"] = list(character.box)
    if character.attention is not None:
        values["attention"] = [list(row) for row in character.attention]
    return values


def _rounded(value: Any) -> Any:
    """Confidences rounded to 6 digits, and the sides of boxes to 2."""
    if isinstance(value, dict):
        rounded = {name: _rounded(item) for name, item in value.items()}
        if "box" in rounded:
            rounded["box"] = [round(side, _PIXEL_DIGITS) for side in value["box"]]
        return rounded
    if isinstance(value, list):
        return [_rounded(item) for item in value]
    return round(value, _DIGITS) if isinstance(value, float) else value
