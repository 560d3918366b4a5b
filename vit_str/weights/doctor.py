"""Does a model do on this machine what it did where it was made? Golden images tell."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from io import BytesIO
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image

from vit_str.runtime import Reader, Search, Source
from vit_str.runtime.golden import MOST_BYTES, MOST_IMAGES, Golden, Steps
from vit_str.runtime.prior import NO_LANGUAGE

if TYPE_CHECKING:
    from jaxtyping import UInt8

    from vit_str.weights import WeightsFile

_CPU_FLOAT32 = 0.0002
TOLERANCES = {"float32": 0.02, "float16": 0.05, "bfloat16": 0.4}
"""Largest difference of a score from the stored one that rounding explains, by number format.

Scores are logits of about -10 to 20. Those of the bundled model differ by 0.00001 between CPU
instruction sets in float32, by 0.007 in float16, and by 0.05 in bfloat16, which keeps 8 bits.
On a CPU float32 is held to 0.0002, which a change of any one tensor by 1 % exceeds. A graphics card
may multiply in TF32, which keeps 11 bits: its limit is reckoned from that, not measured.
"""
_STEPS = 10  # of a text, whose differences add up in its confidence


@dataclass(frozen=True, slots=True)
class Difference:
    """How a reading of the golden images differs from what the file says.

    Attributes:
        texts: (text of the file, text read now) of the images that are read otherwise.
        close: of those, the ones that were a close call: rounding explains them.
        score: largest difference of a score, at the steps of the texts of the file.
        confidence: largest difference of the confidence of an image that is read as it was.
        allowed: largest difference of a score that rounding explains.
    """

    texts: tuple[tuple[str, str], ...]
    close: int
    score: float
    confidence: float
    allowed: float

    @property
    def is_explained(self) -> bool:
        """Whether rounding explains all of it."""
        return (
            len(self.texts) == self.close
            and self.score <= self.allowed
            and self.confidence <= _STEPS * self.allowed
        )


def make_golden(file: WeightsFile, images: Sequence[Source]) -> Golden:
    """Read images on the CPU in float32 and keep what was read.

    They are kept on the size of the model.

    Args:
        file: the model with the weights as its file stores them.
        images: 1 to 16.

    Raises:
        UnreadableImage: one of the images cannot be read.
        ValueError: too many images, or a model without scores for every step.
    """
    import torch

    reader = Reader(file, "cpu", torch.float32, search=Search(language=NO_LANGUAGE))
    stored = tuple(_png(reader.pixels(image)) for image in images)
    readings = [reader.read(image) for image in stored]
    texts = tuple(reading.text for reading in readings)
    return Golden(
        images=stored,
        texts=texts,
        confidences=tuple(reading.confidence for reading in readings),
        scores=two_best_scores(reader, stored, texts) if stored else (),
    )


def fitting(images: Iterable[UInt8[np.ndarray, "3 height width"]]) -> list[bytes]:
    """As many images, from the first on, as a weights file takes; for `make_golden`.

    Args:
        images: on the size of the model, for example those that training validates on.

    Returns:
        PNG files.
    """
    kept: list[bytes] = []
    for image in islice(images, MOST_IMAGES):
        png = _png(image)
        if sum(map(len, kept)) + len(png) > MOST_BYTES:
            break
        kept.append(png)
    return kept


def two_best_scores(
    reader: Reader, images: Iterable[Source], texts: Sequence[str]
) -> tuple[Steps, ...]:
    """The two highest scores at every step of writing ``texts``, whatever the reader would write.

    Raises:
        UnreadableImage: one of the images cannot be read.
        ValueError: a text that the model cannot write, or a model without scores for every step.
    """
    pixels = np.stack([reader.pixels(image) for image in images])
    best = (np.partition(steps, -2, 1)[:, -2:].tolist() for steps in reader.scores(pixels, texts))
    return tuple(tuple((first, second) for second, first in word) for word in best)


def difference(reader: Reader, golden: Golden) -> Difference:
    """Read the golden images again and compare.

    Raises:
        UnreadableImage: one of the golden images cannot be read.
        ValueError: the model cannot write one of their texts.
    """
    readings = reader.read(list(golden.images))
    allowed = tolerance(reader.engine.device, reader.engine.number_format)
    alike = [reading.text == text for reading, text in zip(readings, golden.texts, strict=True)]
    confidences = [
        abs(reading.confidence - confidence)
        for reading, confidence, same in zip(readings, golden.confidences, alike, strict=True)
        if same
    ]
    other = [index for index, same in enumerate(alike) if not same]
    scores = two_best_scores(reader, golden.images, golden.texts)
    return Difference(
        texts=tuple((golden.texts[index], readings[index].text) for index in other),
        close=sum(golden.margin(index) < 2 * allowed for index in other),
        score=max(map(_largest, scores, golden.scores)),
        confidence=max(confidences, default=0.0),
        allowed=allowed,
    )


def tolerance(device: str, number_format: str) -> float:
    """Largest difference of a score that rounding explains, see ``TOLERANCES``."""
    exact = (device, number_format) == ("cpu", "float32")
    return _CPU_FLOAT32 if exact else TOLERANCES[number_format]


def _png(pixels: UInt8[np.ndarray, "3 height width"]) -> bytes:
    file = BytesIO()
    Image.fromarray(np.asarray(pixels).transpose(1, 2, 0)).save(file, "PNG", optimize=True)
    return file.getvalue()


def _largest(found: Steps, expected: Steps) -> float:
    """Largest difference of two lists of scores; infinite if there is not one for each."""
    if len(found) != len(expected):
        return float("inf")
    pairs = zip(found, expected, strict=True)
    # A score that is no number differs too: nan compares as nothing, hence not max alone.
    differences = [abs(a - b) for one, other in pairs for a, b in zip(one, other, strict=True)]
    return max((d if d == d else float("inf") for d in differences), default=0.0)
