"""Short words that are left over, found beside or below the words before and behind them.

A text may go down the columns of a table, or have these in another order. A cell such as ``12`` is
then in no run of words that the page has too, and so short that looking for it anywhere would find
too much. It is looked for in the row of a neighbor, and right below or above it, also where
alignment has put an unlike word for want of another.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from vit_str.reading.checking.alignment import ALIKE, Group
from vit_str.reading.checking.places import PageWord
from vit_str.reading.checking.spelling import key, plain, similarity
from vit_str.reading.checking.steps import Geometry, Step

_NEAR = frozenset((Step.NEXT, Step.RIGHT, Step.OVER, Step.BACK, Step.DOWN))


def with_neighbors(
    groups: Sequence[Group], texts: Sequence[str], page_words: Sequence[PageWord]
) -> list[Group]:
    """Groups, and those of words that are left over and stand near their neighbors.

    Args:
        groups: of an alignment, in the order of the text.
        texts: all words of the text.
        page_words: all words of the pages.
    """
    firm = [group for group in groups if not _is_by_position(group, texts, page_words)]
    used = {place for group in firm for place in group.page}
    free = defaultdict(list)
    for place, each in enumerate(page_words):
        if place not in used:
            free[key(each.word.text)].append(place)
    homes = {place: group for group in firm for place in group.text}
    waiting = [
        place
        for place, text in enumerate(texts)
        if place not in homes and any(map(str.isalnum, text)) and free[key(text)]
    ]
    if not waiting:
        return list(groups)
    geometry = Geometry(page_words)
    for aside, places in ((-1, waiting), (1, waiting[::-1])):
        _find_beside(aside, places, homes, texts, free, geometry)
    found = {group.text.start: group for group in homes.values()}
    used = {place for group in found.values() for place in group.page}
    for group in groups:
        if group.text.start not in found and group.page[0] not in used:
            found[group.text.start] = group
    return [found[start] for start in sorted(found)]


def _is_by_position(
    group: Group, texts: Sequence[str], page_words: Sequence[PageWord]
) -> bool:
    """Whether a word stands for one that is unlike it, as nothing else was left there."""
    if len(group.text) > 1 or len(group.page) > 1:
        return False
    one, other = texts[group.text[0]], page_words[group.page[0]].word.text
    return similarity(plain(one), plain(other)) < ALIKE


def _find_beside(
    aside: int,
    places: Iterable[int],
    homes: dict[int, Group],
    texts: Sequence[str],
    free: dict[str, list[int]],
    geometry: Geometry,
) -> None:
    """Find words near those before them (-1), or behind them (1)."""
    for place in places:
        neighbor = homes.get(place + aside)
        if place in homes or neighbor is None:
            continue
        words = free[key(texts[place])]
        for word in words:
            if aside < 0:
                step = geometry.step(neighbor.page[-1], word)
            else:
                step = geometry.step(word, neighbor.page[0])
            if step in _NEAR:
                homes[place] = Group(range(place, place + 1), range(word, word + 1))
                words.remove(word)
                break
