"""Golden images: a few words in a weights file, with what the model read when it was made.

Reading them again shows whether a model does on this machine what it did on the one it comes from.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from jaxtyping import UInt8

MOST_IMAGES = 16
MOST_BYTES = 100_000

Steps = tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class Golden:
    """Images and what the model read in them, on a CPU in float32.

    Args:
        images: the bytes of image files, in a format without loss.
        texts: of each image.
        confidences: of each text, with the temperature of the file.
        scores: of each text, the two highest scores at every step of writing it, the end
            included, before temperature and softmax. They say more than confidences, which are
            near 1 for most words whatever happens to the model.

    Raises:
        ValueError: too many images or bytes, not one of everything for each image, or numbers
            that are none.
    """

    images: tuple[bytes, ...]
    texts: tuple[str, ...]
    confidences: tuple[float, ...]
    scores: tuple[Steps, ...]

    def __post_init__(self) -> None:
        counts = [len(part) for part in (self.images, self.texts, self.confidences, self.scores)]
        if not 1 <= counts[0] <= MOST_IMAGES or len(set(counts)) > 1:
            raise ValueError(
                f"golden images: 1 to {MOST_IMAGES}, each with text, confidence and scores, found "
                f"{counts}"
            )
        size = sum(map(len, self.images))
        if size > MOST_BYTES:
            raise ValueError(
                f"golden images: {size:,} bytes, at most {MOST_BYTES:,}; give fewer or smaller ones"
            )
        numbers = [*self.confidences, *(each for word in self.scores for s in word for each in s)]
        if not all(map(math.isfinite, numbers)):
            raise ValueError("golden images: a confidence or score is not a number")

    def margin(self, image: int) -> float:
        """Least lead of the symbol that was written over the next best, at any step of a text."""
        return min((best - second for best, second in self.scores[image]), default=math.inf)

    def to_file(self) -> tuple[str, UInt8[np.ndarray, " byte"]]:
        """JSON text for the metadata, and the images one after the other as a tensor."""
        described = {
            "sizes": [len(image) for image in self.images],
            "texts": self.texts,
            "confidences": self.confidences,
            "scores": [[[round(s, 6) for s in step] for step in word] for word in self.scores],
        }
        joined = np.frombuffer(bytearray(b"".join(self.images)), np.uint8)
        return json.dumps(described, ensure_ascii=False), joined

    @classmethod
    def from_file(cls, described: str, images: UInt8[np.ndarray, " byte"]) -> Golden:
        """What ``to_file`` gave.

        Raises:
            ValueError: the parts do not fit together.
        """
        if images.dtype != np.uint8 or images.ndim != 1:
            raise ValueError("golden images: expected one row of bytes")
        values = json.loads(described)
        try:
            sizes = [int(size) for size in values["sizes"]]
            texts = tuple(str(text) for text in values["texts"])
            confidences = tuple(float(each) for each in values["confidences"])
            scores = tuple(
                tuple((float(best), float(second)) for best, second in word)
                for word in values["scores"]
            )
        except (TypeError, LookupError, AttributeError) as error:
            raise ValueError(f"golden images: description not understood ({error})") from None
        if min(sizes, default=0) < 0 or sum(sizes) != len(images):
            raise ValueError(f"golden images: {len(images)} bytes for images of {sizes}")
        places = pairwise(accumulate(sizes, initial=0))
        files = tuple(images[start:end].tobytes() for start, end in places)
        return cls(files, texts, confidences, scores)
