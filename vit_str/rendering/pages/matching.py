"""Words that were found on a picture of a page, and which of its words they are."""

from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from jaxtyping import Float, Int32

_NEAR = 0.35  # heights by which a found word may lie beside the one it is
_INSIDE = (
    0.5  # share of a found word that one word of the page covers, whatever was read
)
_ALIKE = 0.6  # likeness of texts from which on a smaller share will do


class Matches(NamedTuple):
    """Matches between words that were found and those of the page.

    Attributes:
        place: for each found word, the number of the first of those that it is; -1 if none.
        is_found: for each word of the page.
    """

    place: "Int32[np.ndarray, ' found']"
    is_found: "Float[np.ndarray, ' word']"


def match_words(
    found: Sequence[str],
    found_boxes: "Float[np.ndarray, 'found 4']",
    words: Sequence[str],
    boxes: "Float[np.ndarray, 'word 4']",
) -> Matches:
    """Match found words by their places and texts.

    One that was found may be several words of the page read as one, or a part of one.

    Args:
        found: texts.
        found_boxes: left, top, right, bottom, in the same pixels as those of the page.
        words: texts of the page.
        boxes: of these.
    """
    place = np.full(len(found), -1, np.int32)
    is_found = np.zeros(len(words), bool)
    if not len(words) or not len(found):
        return Matches(place, is_found)
    height = np.maximum(1.0, boxes[:, 3] - boxes[:, 1])
    middle = (boxes[:, 1] + boxes[:, 3]) / 2
    for number, (left, top, right, bottom) in enumerate(found_boxes):
        apart = np.abs((top + bottom) / 2 - middle)
        across = np.minimum(right, boxes[:, 2]) - np.maximum(left, boxes[:, 0])
        near = np.flatnonzero((apart < (0.5 + _NEAR) * height) & (across > 0))
        if not len(near):
            continue
        # Lines above each other overlap: the nearer one counts
        worth = across[near] * np.clip(1.2 - apart[near] / height[near], 0.05, 1)
        best = near[int(worth.argmax())]
        line = near[np.abs(middle[near] - middle[best]) < 0.4 * height[best]]
        share = across[line].clip(0).sum() / max(1.0, right - left)
        if share < _INSIDE and not _are_alike(found[number], [words[k] for k in line]):
            continue
        covered = across[line] / np.maximum(1.0, boxes[line, 2] - boxes[line, 0])
        is_found[line[covered > _INSIDE]] = True
        place[number] = (
            best if covered.max() <= _INSIDE else line[covered > _INSIDE].min()
        )
    return Matches(place, is_found)


def _are_alike(found: str, words: Sequence[str]) -> bool:
    """Whether a text is like some words together, or one of them."""
    wanted = ["".join(words), *words]
    return any(
        SequenceMatcher(None, found.lower(), text.lower(), False).ratio() >= _ALIKE
        for text in wanted
    )
