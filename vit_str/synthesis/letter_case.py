"""Words in lower case, in capitals and between."""

import random
from collections.abc import Mapping

from vit_str.synthesis.spellings import in_capitals

CASES: Mapping[str, float] = {
    "listed": 0.27,
    "title": 0.25,
    "upper": 0.45,
    "mixed": 0.03,
}
"""Shares of case among words; by eye.

Listed words are lower case, a user's own are as he wrote them.
"""
_CAPITAL_SHARP_S = 0.3  # of the words with ß in capitals; the others have SS


def set_case(word: str, case: str, rng: random.Random) -> str:
    """A word in one of the cases of ``CASES``."""
    if case == "listed":
        return word
    if case == "title":
        return word.capitalize()
    if case == "upper":
        sharp = "ẞ" if "ß" in word and rng.random() < _CAPITAL_SHARP_S else "ß"
        return in_capitals(word.replace("ß", sharp))
    bits = rng.getrandbits(len(word) + 1)
    return "".join(
        character.upper() if bits >> place & 1 else character.lower()
        for place, character in enumerate(word)
    )
