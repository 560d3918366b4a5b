"""How words are set whose text says so: readings of machines, small capitals, struck-out words.

Decided on the CPU from the texts themselves, with random numbers of their own: words that have no
such style keep their pictures.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float

from vit_str.synthesis.ingredients import Ingredients, share_of
from vit_str.synthesis.machine_faces import (
    DOTS,
    FOURTEEN,
    OPTICAL,
    ROLLED,
    SEVEN,
    WHEELS,
    kind_of_face,
)
from vit_str.synthesis.machine_text import (
    is_count,
    is_passport_line,
    share_of_machines,
    without_unit,
)

if TYPE_CHECKING:
    from vit_str.synthesis.glyphs import GlyphAtlas

PLAIN, LCD, LED, RED_TAIL = range(4)
"""Looks of displays: ink as elsewhere, dark on gray, lamps on black, the last wheel in red."""

_NO_FACE = -1
_LEAST_ADVANCE = 8  # pixels from letter to letter, for dots to be seen
_NUMBERS = 8  # random ones for each text
_SEED_BITS = 63
_STYLES = 0x51E5  # parts the seed of styles from that of all else
_HAS_LETTERS = re.compile(r"\w{3}")
_HAS_CAPITALS = re.compile(r"[^\W\d_]{3}")

Numbers = Float[np.ndarray, " number"]


@dataclass(frozen=True)
class _Kinds:
    """Shares of kinds of faces, of those that can write a text; by eye."""

    reading: dict[str, float] = field(
        default_factory=lambda: {SEVEN: 0.6, FOURTEEN: 0.12, DOTS: 0.28}
    )
    counter: dict[str, float] = field(
        default_factory=lambda: {WHEELS: 0.5, SEVEN: 0.35, DOTS: 0.15}
    )
    passport: dict[str, float] = field(default_factory=lambda: {OPTICAL: 0.9})
    code: dict[str, float] = field(
        default_factory=lambda: {DOTS: 0.65, FOURTEEN: 0.15, OPTICAL: 0.2}
    )


@dataclass(frozen=True)
class _Looks:
    """Shares of looks, by kind of face; by eye."""

    segments: tuple[float, float, float] = (0.2, 0.4, 0.4)  # plain, LCD, LED
    dots: tuple[float, float, float] = (0.6, 0.12, 0.28)
    red_tail: float = 0.4  # of counters
    rolled: float = 0.35  # of counters, whose last wheel has not come to rest


@dataclass(frozen=True)
class _Words:
    """Words of no machine; by eye."""

    panel: float = 0.006  # share in dots, times the strength of ``machine``
    underlined_with_underscore: float = 6.0  # times as often as others
    small: tuple[float, float] = (0.68, 0.84)  # size of small capitals
    spacing: tuple[float, float] = (
        0.0,
        14.0,
    )  # of small capitals, in pixels of the atlas


_KINDS = _Kinds()
_LOOKS = _Looks()
_WORDS = _Words()


@dataclass(frozen=True, slots=True)
class TextStyles:
    """How each of some texts is set; numbers of faces are places in the atlas."""

    faces: list[int]  # -1 for none
    looks: list[int]
    are_windows: list[bool]  # ink is all but the digits, as on wheels
    is_rolled: list[bool]  # the last wheel of a counter is between two digits
    small: list[float]  # size of small capitals; 0 for none
    spacing: list[float]  # pixels of the atlas behind small capitals
    is_struck: list[bool]
    is_underlined: list[bool]
    is_subtitle: list[bool]


class StyleSampler:
    """Draws the styles of texts.

    Args:
        atlas: fonts and, behind them, faces of machines.
    """

    def __init__(self, atlas: GlyphAtlas) -> None:
        correct = atlas.is_correct.cpu()
        characters = np.array([*atlas.charset.characters])
        self._faces: dict[str, list[tuple[int, frozenset[str]]]] = {}
        for place, name in enumerate(atlas.names):
            kind = kind_of_face(name)
            # Turning wheels stand behind those at rest
            if kind and not name.endswith(ROLLED):
                written = frozenset(characters[correct[place].numpy()].tolist())
                self._faces.setdefault(kind, []).append((place, written))

    def sample(
        self, texts: Sequence[str], strengths: Ingredients, seed: int, width: int
    ) -> TextStyles:
        """Styles of the texts, the same for the same seed; pictures are so many pixels wide."""
        generator = np.random.default_rng((seed ^ _STYLES) & ((1 << _SEED_BITS) - 1))
        numbers = generator.random((len(texts), _NUMBERS))
        share = share_of("machine", strengths.machine)
        panels = _WORDS.panel * strengths.machine
        kinds = []
        for text, own in zip(texts, numbers.tolist(), strict=True):
            likely = share * share_of_machines(text) or panels
            kind = self._kind_of(text, own[3]) if own[0] < likely else ""
            is_too_long = len(text) * _LEAST_ADVANCE > width
            kinds.append("" if kind == DOTS and is_too_long else kind)
        styles = TextStyles(
            faces=[_NO_FACE] * len(texts),
            looks=[PLAIN] * len(texts),
            are_windows=[kind == WHEELS for kind in kinds],
            is_rolled=[False] * len(texts),
            small=[0.0] * len(texts),
            spacing=[0.0] * len(texts),
            is_struck=[False] * len(texts),
            is_underlined=[False] * len(texts),
            is_subtitle=[False] * len(texts),
        )
        for place, kind in enumerate(kinds):
            if kind:
                faces = self._faces_for(kind, texts[place])
                self._show(styles, place, kind, faces, numbers[place])
        _add_print(styles, texts, kinds, strengths, numbers)
        return styles

    def kinds(self, text: str) -> set[str]:
        """The kinds of faces that a text of machines may be set in."""
        return set(self._shares_for(text))

    def _shares_for(self, text: str) -> dict[str, float]:
        """Kinds of faces that can write a text, and their shares."""
        shares = _shares(text) if share_of_machines(text) else {DOTS: 1.0}
        return {
            kind: share for kind, share in shares.items() if self._faces_for(kind, text)
        }

    def _kind_of(self, text: str, number: float) -> str:
        """The kind of face that a text is set in; empty if none can write it."""
        return _chosen(self._shares_for(text), number)

    def _faces_for(self, kind: str, text: str) -> list[int]:
        """Faces of a kind that have all of a text but its unit, which is printed beside."""
        shown = without_unit(text)
        faces = self._faces.get(kind, ())
        return [face for face, written in faces if written.issuperset(shown)]

    def _show(
        self,
        styles: TextStyles,
        place: int,
        kind: str,
        faces: Sequence[int],
        numbers: Numbers,
    ) -> None:
        """Set a text in one of some faces."""
        styles.faces[place] = faces[int(numbers[1] * len(faces))]
        styles.looks[place] = _look(kind, numbers[2])
        styles.is_rolled[place] = kind == WHEELS and bool(numbers[3] < _LOOKS.rolled)


def _add_print(
    styles: TextStyles,
    texts: Sequence[str],
    kinds: Sequence[str],
    strengths: Ingredients,
    numbers: Float[np.ndarray, "text number"],
) -> None:
    """Small capitals, strokes through and under letters, and subtitles, of what is in fonts."""
    share = share_of("small_capitals", strengths.small_capitals)
    for place in (numbers[:, 4] < share).nonzero()[0].tolist():
        if not kinds[place] and _is_capitals(texts[place]):
            styles.small[place] = _between(_WORDS.small, numbers[place, 1])
            styles.spacing[place] = _between(_WORDS.spacing, numbers[place, 2])
    share = share_of("struck", strengths.struck)
    for place in (numbers[:, 5] < share).nonzero()[0].tolist():
        is_word = _HAS_LETTERS.search(texts[place]) is not None
        styles.is_struck[place] = is_word and not kinds[place]
    share = share_of("baseline_rule", strengths.baseline_rule)
    share_with_underscores = share * _WORDS.underlined_with_underscore
    for place in (numbers[:, 6] < share_with_underscores).nonzero()[0].tolist():
        is_chosen = numbers[place, 6] < share or "_" in texts[place]
        styles.is_underlined[place] = is_chosen and not kinds[place]
    share = share_of("subtitle", strengths.subtitle)
    for place in (numbers[:, 7] < share).nonzero()[0].tolist():
        styles.is_subtitle[place] = not kinds[place]


def _shares(text: str) -> dict[str, float]:
    if is_passport_line(text):
        return _KINDS.passport
    if is_count(text):
        return _KINDS.counter
    if sum(map(str.isupper, text)) > 1 or "/" in text:
        return _KINDS.code
    return _KINDS.reading


def _chosen(kinds: dict[str, float], number: float) -> str:
    """One of some kinds by their shares; empty if there are none."""
    left = number * sum(kinds.values())
    for kind, share in kinds.items():
        left -= share
        if left < 0:
            return kind
    return ""


def _look(kind: str, number: float) -> int:
    if kind in (SEVEN, FOURTEEN):
        shares = _LOOKS.segments
    elif kind == DOTS:
        shares = _LOOKS.dots
    elif kind == WHEELS:
        return RED_TAIL if number < _LOOKS.red_tail else PLAIN
    else:
        return PLAIN
    return int(np.searchsorted(np.cumsum(shares), number).clip(max=LED))


def _is_capitals(text: str) -> bool:
    return text.isupper() and _HAS_CAPITALS.search(text) is not None


def _between(limits: tuple[float, float], number: float) -> float:
    low, high = limits
    return low + (high - low) * float(number)
