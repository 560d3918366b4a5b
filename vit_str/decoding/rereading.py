"""Doubtful images are read again: the frequency of words decides, then augmented images are.

With a prior over words, an image gives several texts, between which the prior decides. Where that
leaves doubts, or contradicts what the image says first, augmented images are read too, in rounds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from vit_str.decoding.augmentation import augmented_images, merge_readings
from vit_str.decoding.prior import prior_of

if TYPE_CHECKING:
    from jaxtyping import Float, UInt8

    from vit_str.characters.charset import Charset
    from vit_str.decoding.augmentation import Augmentation, TextPrior
    from vit_str.decoding.effort import RereadingOptions
    from vit_str.decoding.hypotheses import Candidates, Hypothesis
    from vit_str.decoding.text_decoding import TextDecoder

    Pixels = UInt8[np.ndarray, "batch channel height width"]
    Rounds = Sequence[Sequence[Augmentation]]


@dataclass(frozen=True, slots=True)
class Rereader:
    """Reads doubtful images again.

    Attributes:
        options: which images, and how.
        encode: images to what the decoder reads.
        decoder: makes texts of that.
        prior: what speaks for texts before an image is seen; None if nothing does.
    """

    options: RereadingOptions
    encode: Callable[[Pixels], Any]
    decoder: TextDecoder
    prior: TextPrior | None = None

    def reread(
        self,
        pixels: Pixels,
        encoded: Any,
        found: Sequence[Candidates],
        rows: Sequence[int],
    ) -> list[Candidates]:
        """The candidates of each image; for doubtful images the best of all their readings.

        Args:
            pixels: images as the model gets them.
            encoded: the same images.
            found: what was read of each.
            rows: those that count; the others stay as they are.
        """
        renewed, _ = self._reread_all(pixels, encoded, found, rows, self.options.rounds)
        return renewed

    def reread_before_last(
        self,
        pixels: Pixels,
        encoded: Any,
        found: Sequence[Candidates],
        rows: Sequence[int],
    ) -> tuple[list[Candidates], list[int]]:
        """As `reread`, without the last round; and the rows that would be in that."""
        rounds = self.options.rounds[:-1]
        return self._reread_all(pixels, encoded, found, rows, rounds)

    def _reread_all(
        self,
        pixels: Pixels,
        encoded: Any,
        found: Sequence[Candidates],
        rows: Sequence[int],
        rounds: Rounds,
    ) -> tuple[list[Candidates], list[int]]:
        """Candidates after some rounds, and the rows that stay in doubt."""
        renewed = list(found)
        left: list[int] = []
        doubtful = self.doubtful(found, rows)
        for start in range(0, len(doubtful), self.options.together):
            group = doubtful[start : start + self.options.together]
            before = {row: found[row] for row in group}
            merged, unsure = self._reread(pixels, encoded, before, rounds)
            left += unsure
            for row, candidates in merged.items():
                renewed[row] = candidates
        return renewed, left

    def doubtful(self, found: Sequence[Candidates], rows: Sequence[int]) -> list[int]:
        """Those of some rows that are to be read again."""
        least = self.options.doubtful
        return [row for row in rows if found[row].best.probability < least]

    def for_doubts_of(self, options: RereadingOptions) -> Rereader:
        """The same for images that another model doubts.

        Words decide between the texts of all of them, however sure this model is of one; without a
        prior, and for augmented images, its own doubts count.

        Args:
            options: of the reader that doubts.
        """
        if self.prior is not None:
            options = replace(options, doubtful=math.inf)
        return replace(self, options=options)

    def _reread(
        self,
        pixels: Pixels,
        encoded: Any,
        before: Mapping[int, Candidates],
        rounds: Rounds,
    ) -> tuple[dict[int, Candidates], list[int]]:
        """The readings of some images and their augmentations merged, by row; rows in doubt."""
        options = self.options
        doubtful = list(before)
        readings = {row: [candidates] for row, candidates in before.items()}
        merged: dict[int, Candidates] = {}
        if self.prior:
            selected = self.decoder.scorer.select(encoded, doubtful)
            written = self._decode(selected, len(doubtful))
            for row, candidates in zip(doubtful, written, strict=True):
                readings[row] = [candidates]
                merged[row] = self._merge(readings[row])
            unsure = (
                row for row in doubtful if self._is_unsure(before[row], merged[row])
            )
            doubtful = sorted(unsure)
        for augmentations in rounds:
            if not doubtful:
                break
            others = self._read_augmented(pixels[doubtful], augmentations)
            for row, of_row in zip(doubtful, others, strict=True):
                readings[row] = [*readings[row], *of_row]
                merged[row] = self._merge(readings[row])
            least = options.doubtful_after_augmentation
            doubtful = [row for row in doubtful if merged[row].best.probability < least]
        return merged, doubtful

    def _is_unsure(self, before: Candidates, after: Candidates) -> bool:
        """Whether the prior leaves doubts, or has decided against what the image says first."""
        is_contradicted = after.best.ids != before.best.ids
        is_doubtful = after.best.probability < self.options.doubtful_after_prior
        return is_contradicted or is_doubtful

    def _read_augmented(
        self,
        pixels: Pixels,
        augmentations: Sequence[Augmentation],
    ) -> list[list[Candidates]]:
        """The reading of each image under each augmentation, image by image."""
        images = augmented_images(pixels, augmentations)
        written = self._decode(self.encode(images), len(images))
        return [written[number :: len(pixels)] for number in range(len(pixels))]

    def _decode(self, encoded: Any, count: int) -> list[Candidates]:
        """The texts of each image: all between which the prior may have to decide."""
        if self.prior is None:
            return self.decoder.decode(encoded, count)
        options = self.options
        return self.decoder.decode_widely(encoded, count, options.beams, options.margin)

    def _merge(self, readings: Sequence[Candidates]) -> Candidates:
        return merge_readings(readings, self.decoder.n_best, self.prior)


def text_prior(
    language: str | None,
    trained_on: str | None,
    charset: Charset,
) -> TextPrior | None:
    """The gain of each text from the frequency of words, added to the logarithm of its probability.

    Args:
        language: see `prior_of`.
        trained_on: see `prior_of`.
        charset: of the model that writes the texts.

    Raises:
        ValueError: no such language.
    """
    words = prior_of(language, trained_on)
    if words is None:
        return None

    def log_weights(
        hypotheses: Sequence[Hypothesis],
    ) -> Float[np.ndarray, " hypothesis"]:
        texts = [charset.decode(hypothesis.ids) for hypothesis in hypotheses]
        return words.log_weights(texts)

    return log_weights
