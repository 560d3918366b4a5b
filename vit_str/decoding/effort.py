"""How much work a reading may take: beams, thresholds of confidence, and what ``effort`` means.

All numbers here trade time for accuracy. Beams were chosen on rendered words
(``benchmarks/rereading.py``), limits and augmentations on real ones.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from vit_str.decoding.augmentation import Augmentation

if TYPE_CHECKING:
    from vit_str.decoding.look_alikes import LookAlikes
    from vit_str.engines.interface import Model

DOUBTFUL = 0.9
"""Confidence below which reading again mends more than it spoils; weights may say another."""

FAST = "fast"
"""The effort that reads every image once."""

CONSTRAINED_BEAMS = 5
"""Texts to keep under a lexicon or a pattern, which the most probable start may not fit."""

MOST_DRAFT_CHECKS = 3
"""How often a draft is corrected and checked before the text is written step by step."""

ROUNDS_OF_AUGMENTATIONS = (
    (Augmentation(cut=0.05, slope=0.2), Augmentation(cut=0.05, slope=-0.2)),
    (
        Augmentation(cut=-0.08),
        Augmentation(cut=0.03, slope=0.4),
        Augmentation(cut=0.03, slope=-0.4),
        Augmentation(blurred=True),
    ),
)
"""Of doubtful images, chosen on real words; each round is for what is doubtful yet."""


@dataclass(frozen=True, slots=True)
class DecodingOptions:
    """How the scores of a decoder become texts.

    Attributes:
        loop: one of ``LOOPS``, see `Interface`.
        end: id of the end, or of the blank.
        longest: most characters.
        temperature: divides the scores.
        decoding: see `Interface`.
        refinements: see `Interface`.
        drafts: see `Interface`.
        look_alikes: signs whose probabilities are summed before a text is judged, by CTC and by
            decoders that check drafts; None for none.
    """

    loop: str
    end: int
    longest: int
    temperature: float = 1.0
    decoding: str = "autoregressive"
    refinements: int = 0
    drafts: bool = False
    look_alikes: LookAlikes | None = None


@dataclass(frozen=True, slots=True)
class RereadingOptions:
    """Which images are read again, and how.

    Attributes:
        doubtful: confidence below which an image is read again; 0 for none.
        doubtful_after_prior: confidence below which augmented images are read, once the frequency
            of words has decided between the texts of the image itself.
        doubtful_after_augmentation: confidence below which those of the next round are.
        rounds: augmentations of the image, round by round; larger weights, where there are some,
            take the place of the last.
        beams: texts to keep for each reading before word frequencies decide.
        margin: how far a text may fall behind the best, in nats: more than the frequency of words
            could make up for.
        together: images that are read again at once; with 3 of 6 beams each, 4 are 72 rows.
    """

    doubtful: float = DOUBTFUL
    doubtful_after_prior: float = 0.6
    doubtful_after_augmentation: float = 0.4
    rounds: tuple[tuple[Augmentation, ...], ...] = ROUNDS_OF_AUGMENTATIONS
    beams: int = 6
    margin: float = 5.0
    together: int = 4


@dataclass(frozen=True, slots=True)
class _Effort:
    """Settings of an effort, for decoders that can choose and for doubtful images."""

    decoding: str
    rereads: bool
    refinements: int = 1


_EFFORTS = {
    FAST: _Effort(decoding="parallel", rereads=False),
    "careful": _Effort(decoding="autoregressive", rereads=True),
}


def decoding_options(model: Model, effort: str | None) -> DecodingOptions:
    """How the texts of a model are decoded with this effort, see ``vit_str.load``."""
    interface = model.interface
    options = DecodingOptions(
        loop=interface.loop,
        end=len(model.charset),
        longest=interface.maximum_length,
        temperature=model.temperature,
        decoding=interface.decoding,
        refinements=interface.refinements,
        drafts=interface.drafts,
        look_alikes=_dashes_of(model) if interface.drafts else None,
    )
    if effort is None:
        return options
    chosen = _effort(model, effort)
    return replace(options, decoding=chosen.decoding, refinements=chosen.refinements)


def _dashes_of(model: Model) -> LookAlikes:
    """Dashes of any kind: which one it is makes no word doubtful."""
    from vit_str.decoding.look_alikes import DASHES, LookAlikes

    return LookAlikes(model.charset, (DASHES,))


def rereading_options(model: Model, effort: str | None) -> RereadingOptions:
    """Which images are read again with this effort, see ``vit_str.load``."""
    rereads = effort is None or _effort(model, effort).rereads
    doubtful = model.preprocessing.reread_below if rereads else 0.0
    return RereadingOptions(doubtful=doubtful)


def _effort(model: Model, name: str) -> _Effort:
    """The effort of this name, of a model that can read in more than one way."""
    if model.interface.loop != "refine" and not model.preprocessing.reread_below:
        raise ValueError(
            f"{model.interface.decoder} reads in one way only: leave effort out, or "
            "take a model that reads doubtful images again, or one with a "
            "PermutedDecoder"
        )
    if name not in _EFFORTS:
        raise ValueError(f"effort must be {' or '.join(_EFFORTS)}, found {name!r}")
    return _EFFORTS[name]
