"""Pages as plain values, for JSON."""

from typing import Any

from vit_str.decoding.readings import Character
from vit_str.pages.page import Page, Word

_DIGITS = 6  # of confidences, after the point


def page_row(name: str, page: Page) -> dict[str, Any]:
    """A page as plain values, words in reading order with the numbers of their block and line."""
    words = []
    for block, lines in enumerate(page.blocks):
        for line, row in enumerate(lines):
            words += [_word(word, block, line) for word in row]
    record: dict[str, Any] = {
        "path": name,
        "width": page.width,
        "height": page.height,
        "text": page.text,
        "words": words,
        "error": None,
    }
    if page.is_mostly_unread:
        record["unread_script"] = True
    return record


def _word(word: Word, block: int, line: int) -> dict[str, Any]:
    return {
        "text": word.text,
        "confidence": round(word.confidence, _DIGITS),
        "polygon": [[round(x, 1), round(y, 1)] for x, y in word.polygon],
        "block": block,
        "line": line,
        "struck": word.is_struck,
        "characters": [_character(each) for each in word.characters],
    }


def _character(character: Character) -> dict[str, Any]:
    return {
        "character": character.character,
        "confidence": round(character.confidence, _DIGITS),
        "box": character.box and [round(side, 1) for side in character.box],
    }
