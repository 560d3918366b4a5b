"""Numbers that a text has in each other's place: in the row of a table that is the other's.

Words are found wherever they are on the page, so that texts may have them in any order. A number
that stands beside another name than on the page would be found too, but for what is done here.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from vit_str.reading.checking.alignment import Group
from vit_str.reading.checking.places import PageWord

_OTHER_ROW = 0.7  # heights of a word from its row, from which on it is on another
_SAME_ROW = 0.5  # up to which it is on it
_NEAR = 6  # words up to the name that a number belongs to
_TOGETHER = 16  # numbers of which any two may be exchanged


def with_exchanges(
    groups: Sequence[Group], texts: Sequence[str], page_words: Sequence[PageWord]
) -> list[Group]:
    """Groups in which numbers stand for what is printed in their row.

    Args:
        groups: of an alignment.
        texts: all words of the text.
        page_words: all words of the pages.
    """
    partner = {g.text[0]: g.page[0] for g in groups if len(g.text) == len(g.page) == 1}
    numbers = list(_moved_numbers(partner, texts))
    names = {number: _name_of(number, partner, texts) for number in numbers}
    able = [number for number in numbers if names[number] is not None]
    changed: dict[int, int] = {}
    for first, one in enumerate(able):
        for other in able[first + 1 : first + _TOGETHER]:
            if one in changed or other in changed:
                continue
            if _are_exchanged(one, other, partner, names, page_words):
                changed |= {one: partner[other], other: partner[one]}
    renewed = []
    for group in groups:
        place = changed.get(group.text[0]) if len(group.text) == 1 else None
        page = group.page if place is None else range(place, place + 1)
        renewed.append(Group(group.text, page))
    return renewed


def _moved_numbers(partner: dict[int, int], texts: Sequence[str]) -> Iterator[int]:
    """Numbers whose neighbors in the text are not those on the page."""
    for number, page in partner.items():
        if not any(map(str.isdigit, texts[number])):
            continue
        before = partner.get(number - 1) == page - 1
        behind = partner.get(number + 1) == page + 1
        if not (before or behind):
            yield number


def _name_of(number: int, partner: dict[int, int], texts: Sequence[str]) -> int | None:
    """The place on the page of the last word before a number that has no digits."""
    for place in range(number - 1, max(-1, number - 1 - _NEAR), -1):
        if place in partner and not any(map(str.isdigit, texts[place])):
            return partner[place]
    return None


def _are_exchanged(
    one: int,
    other: int,
    partner: dict[int, int],
    names: dict[int, int | None],
    page_words: Sequence[PageWord],
) -> bool:
    """Whether two numbers stand in each other's row, or in one row in the other order."""
    own = [_rows_apart(page_words, names[each], partner[each]) for each in (one, other)]
    crossed = [
        _rows_apart(page_words, names[one], partner[other]),
        _rows_apart(page_words, names[other], partner[one]),
    ]
    if max(crossed) >= _SAME_ROW:
        return False
    if max(own) < _SAME_ROW and names[one] == names[other]:
        return _along(page_words, partner[other], partner[one]) < 0
    return min(own) > _OTHER_ROW


def _along(page_words: Sequence[PageWord], one: int, other: int) -> float:
    """Pixels from the second of two words to the first, along its line."""
    corners = np.array(page_words[one].word.polygon)
    between = corners.mean(0) - np.array(page_words[other].word.polygon).mean(0)
    along = corners[1] - corners[0]
    return float(between @ along) / (float(np.linalg.norm(along)) or 1.0)


def _rows_apart(page_words: Sequence[PageWord], one: int | None, other: int) -> float:
    """How far two words are from one row, over the height of the first."""
    assert one is not None
    first = page_words[one]
    second = page_words[other]
    if first.page != second.page:
        return np.inf
    corners = np.array(first.word.polygon)
    middles = corners.mean(0), np.array(second.word.polygon).mean(0)
    down = corners[3] - corners[0]
    height = float(np.linalg.norm(down)) or 1.0
    along = corners[1] - corners[0]
    across = np.array([-along[1], along[0]]) / (float(np.linalg.norm(along)) or 1.0)
    return abs(float((middles[1] - middles[0]) @ across)) / height
