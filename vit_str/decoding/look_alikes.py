"""Signs of one kind that look alike: judged together, and told apart by what stands around them.

A reader gives each kind of dash a part of its probability, so that a minus that nobody could miss
seems doubtful. Their probabilities are summed before a text is judged. Which sign it is follows
from the share of each, times how likely it is at such a place.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from jaxtyping import Float

    from vit_str.characters.charset import Charset
    from vit_str.decoding.hypotheses import Hypothesis

DASHES = "-–—"
"""A minus or hyphen, and longer ones."""
_ZEROS = "0O○ОΟ"
_ROUND = _ZEROS + "o•●°º"  # which are zeros, if they stand alone
_QUOTES = ("'’‘′", '"“”″')
_BEFORE_A_SIGN = " ([{$€£¥"  # what a minus stands behind, if not at the beginning
# How likely a sign is where others of its kind belong
_RARE = 0.1
_NEVER = 1e-4
_TINY = 1e-12
JOINED = 10.0  # how often a minus stands at its number, for each time that a space is between
# How likely signs are at the place of a zero, by what stands there
_OF_ZEROS: Mapping[str, Mapping[str, float]] = {
    "alone": {"0": 1.0, "•": 0.3},
    "in code": {"0": 1.0, "O": 1.0, "О": 1.0, "Ο": 1.0},
    "in word": {"0": 0.1, "O": 1.0, "О": 1.0, "Ο": 1.0},
    "before digits": {"0": 1.0, "O": 0.5, "О": 0.5, "Ο": 0.5},
    "initial": {"0": 0.3, "O": 1.0, "О": 1.0, "Ο": 1.0},
    "before words": {"0": 0.3, "O": 0.3, "○": 1.0},
    "else": {"0": 1.0, "O": 0.1},
}


class LookAlikes:
    """The kinds of signs in a charset that look alike.

    Args:
        charset: of a reader.
        kinds: of signs that look alike; all if None.
    """

    def __init__(self, charset: Charset, kinds: Sequence[str] | None = None) -> None:
        self._charset = charset
        known = set(charset.characters)
        if kinds is None:
            kinds = (DASHES, _ZEROS, *_QUOTES)
        known_kinds = [[sign for sign in kind if sign in known] for kind in kinds]
        several = [kind for kind in known_kinds if len(kind) > 1]
        round_ = [sign for sign in _ROUND if sign in known and _ZEROS in kinds]
        self._round = np.array(charset.encode("".join(round_)), int)
        self._ids = [np.array(charset.encode("".join(kind)), int) for kind in several]
        self._kind_of = {int(ids[0]): n for n, ids in enumerate(self._ids)}
        self._members = np.unique(np.concatenate([self._round, *self._ids])).astype(int)

    def sum_up(
        self, shares: Float[np.ndarray, "*column symbol"]
    ) -> Float[np.ndarray, "*column member"]:
        """Put the probabilities of a kind to its first sign, in place; returns those of signs."""
        members: Float[np.ndarray, "*column member"] = shares[..., self._members]
        for ids in self._ids:
            shares[..., ids[0]] = shares[..., ids].sum(-1)
            shares[..., ids[1:]] = 0
        return members

    def as_round(
        self,
        shares: Float[np.ndarray, "*column symbol"],
        members: Float[np.ndarray, "*column member"],
    ) -> Float[np.ndarray, "*column symbol"]:
        """Probabilities of symbols, those of all that are round at the place of the first one.

        Args:
            shares: summed up.
            members: as `sum_up` returns them.
        """
        together = shares.copy()
        together[..., self._round] = 0
        places = np.searchsorted(self._members, self._round)
        together[..., self._round[0]] = members[..., places].sum(-1)
        return together

    def alone(self, ids: Sequence[int]) -> tuple[int, ...] | None:
        """The first sign of those that are round, if a text is one of these and no more."""
        if len(ids) != 1 or ids[0] not in self._round:
            return None
        return (int(self._round[0]),)

    def with_its_number(self, ids: Sequence[int]) -> tuple[int, ...] | None:
        """A text without the space between its minus and the number behind it, if it has one.

        Only at its beginning: elsewhere a dash between spaces parts two numbers.
        """
        text = self._charset.decode(ids[:3])
        is_parted = text[:2] == f"{DASHES[0]} " and text[2:].isdigit()
        return (ids[0], *ids[2:]) if is_parted else None

    def of_kinds(self, ids: Sequence[int]) -> list[int]:
        """The places of symbols that stand for a kind."""
        return [place for place, id_ in enumerate(ids) if id_ in self._kind_of]

    def told_apart(
        self, hypothesis: Hypothesis, members: Float[np.ndarray, "position member"]
    ) -> Hypothesis:
        """A text of the first signs of their kinds, with those that they are.

        Args:
            hypothesis: the text.
            members: probabilities of signs at each of its positions, as `sum_up` returns them.
        """
        places = self.of_kinds(hypothesis.ids)
        if not places:
            return hypothesis
        ids = list(hypothesis.ids)
        for place in places:
            ids[place], _ = self.choose(hypothesis.ids, place, members[place])
        return replace(hypothesis, ids=tuple(ids))

    def choose(
        self, ids: Sequence[int], place: int, members: Float[np.ndarray, " member"]
    ) -> tuple[int, float]:
        """The sign at a place of a text, as an id, and its probability within its kind.

        Which dash or quotation mark it is leaves a text the same, and makes none doubtful.

        Args:
            ids: of the text, with the first sign of each kind.
            place: of the sign.
            members: probabilities of signs there, as `sum_up` returns them.
        """
        kind = self._ids[self._kind_of[ids[place]]]
        if self.alone(ids):
            kind = self._round
        signs = self._charset.decode(kind)
        weights = _weights(signs, self._charset.decode(ids), place)
        likely = members[np.searchsorted(self._members, kind)] * weights + _TINY
        best = int(likely.argmax())
        is_told_apart = signs[0] == _ZEROS[0]
        confidence = float(likely[best] / likely.sum()) if is_told_apart else 1.0
        return int(kind[best]), confidence


def _weights(signs: str, text: str, place: int) -> Float[np.ndarray, " sign"]:
    """How likely each sign of a kind is at a place, before the image is seen."""
    weights: Mapping[str, float]
    if signs[0] == DASHES[0] and _is_before_number(text, place):
        weights = {"-": 1.0}
        rare = _NEVER
    elif signs[0] == DASHES[0] and _is_within_word(text, place):
        weights = {"-": 1.0}
        rare = _RARE
    elif signs[0] == _ZEROS[0]:
        weights = _weights_of_zeros(text, place)
        rare = _RARE
    else:
        return np.ones(len(signs))
    return np.array([weights.get(sign, rare) for sign in signs])


def _is_before_number(text: str, place: int) -> bool:
    """Whether a dash stands where a minus does."""
    before = text[place - 1 : place]
    after = text[place + 1 :].lstrip(".,")
    return (not before or before in _BEFORE_A_SIGN) and after[:1].isdigit()


def _is_within_word(text: str, place: int) -> bool:
    """Whether a dash joins parts of a word; one between two numbers may mean from and to."""
    sides = text[place - 1 : place] + text[place + 1 : place + 2]
    if len(sides) < 2 or not sides.isalnum():
        return False
    start = text.rfind(" ", 0, place) + 1
    word = text[start:].partition(" ")[0]
    return not sides.isdigit() or word.count(DASHES[0]) > 1


def _weights_of_zeros(text: str, place: int) -> Mapping[str, float]:
    """A zero among digits, a letter among letters, a circle in front of words."""
    if len(text) == 1:
        return _OF_ZEROS["alone"]
    start = text.rfind(" ", 0, place) + 1
    word = text[start:].partition(" ")[0]
    rest = text[start + len(word) :].split()
    others = word.replace("0", "")
    if any(map(str.isalpha, others)):
        has_digits = any(map(str.isdigit, others))
        return _OF_ZEROS["in code" if has_digits else "in word"]
    if any(map(str.isdigit, others)) and word[0] == "0" and place == start:
        return _OF_ZEROS["before digits"]
    if others and not others.strip("."):  # as of initials
        return _OF_ZEROS["initial"]
    is_before_words = start == 0 and word == "0" and rest and rest[0][0].isalpha()
    if is_before_words:
        return _OF_ZEROS["before words"]
    return _OF_ZEROS["else"]
