"""What the words of a data set are like, counted while they go by."""

import hashlib
from array import array
from collections import Counter
from dataclasses import dataclass
from io import BytesIO
from typing import Any

import numpy as np
from PIL import Image

from vit_str.charset import PRINTABLE_ASCII
from vit_str.datasets.source import LabeledWord
from vit_str.images import TALL

QUANTILES = (0.0, 0.05, 0.5, 0.95, 1.0)
_MOST_SHOWN = 100


@dataclass(frozen=True, slots=True)
class Look:
    """What is kept of a word.

    Attributes:
        label: the text.
        height: of the image upright, in pixels.
        width: of the image upright, in pixels.
        suffix: of files of its kind.
        image: 8 bytes that differ for images with different bytes.
    """

    label: str
    height: int
    width: int
    suffix: str
    image: bytes


def look_at(word: LabeledWord, image: Image.Image) -> Look:
    """What is kept of a word whose upright image is ``image``."""
    # A large photograph has been reduced while it was decoded; its header knows its size.
    with Image.open(BytesIO(word.image)) as header:
        width, height = header.size
    if (image.width - image.height) * (width - height) < 0:  # turned upright
        width, height = height, width
    return Look(word.label, height, width, word.suffix, _hash(word.image))


class Statistics:
    """Counts words that can be used. Takes 24 bytes for each, and little more."""

    def __init__(self) -> None:
        self.lengths: Counter[int] = Counter()
        self.characters: Counter[str] = Counter()
        self.suffixes: Counter[str] = Counter()
        self._heights, self._widths = array("I"), array("I")
        self._images, self._labels = bytearray(), bytearray()

    def __len__(self) -> int:
        return len(self._heights)

    def add(self, look: Look) -> None:
        """Count a word."""
        self.lengths[len(look.label)] += 1
        self.characters.update(look.label)
        self.suffixes[look.suffix] += 1
        self._heights.append(look.height)
        self._widths.append(look.width)
        self._images += look.image
        self._labels += _hash(look.label.encode("utf-8", "surrogatepass"))

    def summary(self) -> dict[str, Any]:
        """Plain values for JSON; the keys are said in ``docs/data.md``."""
        if not len(self):
            return {"words": 0}
        heights, widths = np.array(self._heights), np.array(self._widths)
        return {
            "words": len(self),
            "lengths": {str(length): self.lengths[length] for length in sorted(self.lengths)},
            "characters": self._summary_of_characters(),
            "images": {
                "kinds": dict(self.suffixes.most_common()),
                "quantiles": list(QUANTILES),
                "height": _quantiles(heights),
                "width": _quantiles(widths),
                "aspect": _quantiles(widths / heights),
                "tall": int((heights > TALL * widths).sum()),
            },
            "repeated": self._repeated(),
        }

    def _summary_of_characters(self) -> dict[str, Any]:
        others = {c: n for c, n in self.characters.most_common() if c not in PRINTABLE_ASCII}
        kinds: Counter[str] = Counter()
        for character, number in self.characters.items():
            kinds[_kind(character)] += number
        return {
            "different": len(self.characters),
            "total": sum(self.characters.values()),
            "kinds": dict(kinds.most_common()),
            "outside_ascii": len(others),
            "most_outside_ascii": dict(list(others.items())[:_MOST_SHOWN]),
        }

    def _repeated(self) -> dict[str, int]:
        """Words whose image was there before, and how many different images have several labels."""
        pairs = np.empty(len(self), dtype=[("image", "u8"), ("label", "u8")])
        pairs["image"] = np.frombuffer(self._images, "u8")
        pairs["label"] = np.frombuffer(self._labels, "u8")
        different = np.unique(pairs)["image"]
        images, labels = np.unique(different, return_counts=True)
        return {"images": len(self) - len(images), "with_other_labels": int((labels > 1).sum())}


def _hash(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=8).digest()


def _kind(character: str) -> str:
    """Upper and lower case, digits and so on; letters of scripts without case are letters."""
    kinds = {
        "upper case": character.isupper(),
        "lower case": character.islower(),
        "digits": character.isdecimal(),
        "other letters": character.isalpha(),
        "spaces": character.isspace(),
    }
    return next((kind for kind, holds in kinds.items() if holds), "signs")


def _quantiles(values: "np.ndarray") -> list[float]:
    return [round(float(value), 3) for value in np.quantile(values, QUANTILES)]
