"""Differences between two words: in letters and signs, or in typography only."""

from vit_str.characters.distances import edit_distance

_TWINS = {
    **dict.fromkeys("‘’‚‛′´`ʼʹ", "'"),
    **dict.fromkeys("“”„‟″«»「」『』《》", '"'),
    **dict.fromkeys("‐‑‒–—―−⁃", "-"),
    **dict.fromkeys("\u00ad\u200b\u2060\ufeff", ""),
    **dict.fromkeys("•·∙●▪■◦○‣", "•"),
    **dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹₀₁₂₃₄₅₆₇₈₉", 2 * "0123456789", strict=True)),
    "ﬀ": "ff",
    "ﬁ": "fi",
    "ﬂ": "fl",
    "ﬃ": "ffi",
    "ﬄ": "ffl",
    "ﬅ": "st",
    "ﬆ": "st",
    "ſ": "s",
    **dict.fromkeys("º˚", "°"),
    "…": "...",
    "×": "x",
    "\u00a0": " ",
}
_TABLE = str.maketrans(_TWINS)
_DOUBLED = {"''": '"', "--": "-"}


def plain(text: str) -> str:
    """A text as a typewriter writes it: without ligatures, raised digits and soft hyphens."""
    found = text.translate(_TABLE)
    for doubled, single in _DOUBLED.items():
        while doubled in found:
            found = found.replace(doubled, single)
    return found


def key(text: str) -> str:
    """A form of a word that others share which are probably meant to be the same."""
    folded = plain(text).casefold()
    inner = folded.strip("\"'-.,:;!?()[]{}<>*_•|")
    return inner or folded


def is_same(text: str, printed: str) -> bool:
    """Whether a text is as printed but for its typography: quotes, dashes, small capitals.

    Args:
        text: that is checked.
        printed: what was read.
    """
    one = plain(text)
    other = plain(printed)
    if one == other:
        return True
    # Small capitals are read as capitals
    letters = [each for each in other if each.isalpha()]
    is_word = len(letters) > 1 and not any(map(str.isdigit, other))
    return is_word and one.upper() == other


def similarity(one: str, other: str) -> float:
    """One minus the edit distance over the longer length."""
    longest = max(len(one), len(other))
    return 1 - edit_distance(one, other) / longest if longest else 1.0
