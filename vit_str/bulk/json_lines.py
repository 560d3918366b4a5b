"""A reading as one line of JSON."""

import json
from typing import Any

from vit_str.readings import Character, Reading

_DIGITS = 6
_PIXEL_DIGITS = 2


def json_line(path: str, reading: Reading, characters: bool = True, **more: object) -> str:
    """Path, text, confidence, what is in ``more``, and the characters if wanted."""
    values: dict[str, Any] = {
        "path": path,
        "text": reading.text,
        "confidence": round(reading.confidence, _DIGITS),
        **more,
    }
    if characters:
        values["characters"] = [_json_character(each) for each in reading.characters]
    return json_of(values)


def json_of(values: dict[str, Any]) -> str:
    """One line. A file name that is not UTF-8 would make a line that is not JSON: it is escaped."""
    line = json.dumps(values, ensure_ascii=False)
    return line if line.isascii() or _is_utf8(line) else json.dumps(values)


def _json_character(character: Character) -> dict[str, object]:
    values: dict[str, object] = {
        "character": character.character,
        "confidence": round(character.confidence, _DIGITS),
    }
    if character.box is not None:
        values["box"] = [round(side, _PIXEL_DIGITS) for side in character.box]
    return values


def _is_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
