"""Which characters are taken for which others."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from vit_str.evaluation.words.results import ReadWords

Pair = tuple[str, str]
"""A character of the label and the one read for it; either is empty if the other has no partner."""

_MOST = 30  # confusions that are listed


@dataclass(frozen=True, slots=True)
class Confusion:
    """A mistake and how often it is made."""

    # The character of the label; empty if one was read where there is none
    written: str
    read: str  # the character that was read for it; empty if none was
    times: int  # how often
    of: int  # how often the label has this character, or has any, if `written` is empty


def align(label: str, text: str) -> list[Pair]:
    """Pair the characters of two texts so that the fewest differ (Levenshtein 1966).

    Of several ways the one is taken that replaces characters late in the word rather than inserts
    or drops some: a table of confusions is about characters taken for others. Libraries, such as
    rapidfuzz, prefer to insert one and to drop another.
    """
    costs = _costs(label, text)
    pairs: list[Pair] = []
    row = len(label)
    column = len(text)
    while row or column:
        here = costs[row][column]
        paired = None
        if row and column:
            differs = label[row - 1] != text[column - 1]
            paired = costs[row - 1][column - 1] + int(differs)
        if here == paired:
            row = row - 1
            column = column - 1
            pairs.append((label[row], text[column]))
        elif row and here == costs[row - 1][column] + 1:
            row -= 1
            pairs.append((label[row], ""))
        else:
            column -= 1
            pairs.append(("", text[column]))
    return pairs[::-1]


def _costs(label: str, text: str) -> list[list[int]]:
    """Edit distances of all beginnings of the label (rows) and the text (columns)."""
    costs = [list(range(len(text) + 1))]
    for row, written in enumerate(label, 1):
        above = costs[-1]
        line = [row]
        for column, read in enumerate(text, 1):
            replaced = above[column - 1]
            if written != read:
                replaced += 1
            line.append(min(replaced, above[column] + 1, line[-1] + 1))
        costs.append(line)
    return costs


def confusions(words: ReadWords) -> list[Confusion]:
    """The 30 most common mistakes, character by character, case and symbols included.

    Words of which less than half was read right are left out: what is paired there is chance.
    """
    times: Counter[Pair] = Counter()
    written: Counter[str] = Counter()
    for label, text in zip(words.labels, words.texts, strict=True):
        pairs = _readable_pairs(label, text)
        times.update(pair for pair in pairs if pair[0] != pair[1])
        written.update(pair[0] for pair in pairs if pair[0])
    mistakes = []
    for (character, read), count in times.items():
        of = written[character] if character else written.total()
        mistakes.append(Confusion(character, read, count, of))
    mistakes.sort(key=lambda mistake: (-mistake.times, mistake.written, mistake.read))
    return mistakes[:_MOST]


def _readable_pairs(label: str, text: str) -> Iterable[Pair]:
    if label == text:
        return list(zip(label, text, strict=True))
    pairs = align(label, text)
    wrong = sum(written != read for written, read in pairs)
    return pairs if 2 * wrong <= len(label) else []
