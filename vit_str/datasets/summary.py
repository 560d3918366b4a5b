"""What the words of a data set are like, counted while they go by."""

import hashlib
from array import array
from collections import Counter
from io import BytesIO
from typing import Any, NamedTuple

import numpy as np
from PIL import Image

from vit_str.charset import CHARSETS
from vit_str.datasets.source import LabeledWord
from vit_str.images import TALL

QUANTILES = (0.0, 0.05, 0.5, 0.95, 1.0)
_MOST_SHOWN = 100
BUNDLED = CHARSETS["western"]
"""The characters of the weights of the package."""


class Properties(NamedTuple):
    """What is kept of a word.

    Attributes:
        label: the text.
        height: of the image upright, in pixels.
        width: of the image upright, in pixels.
        suffix: of files of its type.
        image: 8 bytes that differ for images with different bytes.
    """

    label: str
    height: int
    width: int
    suffix: str
    image: bytes


def properties(word: LabeledWord, image: Image.Image) -> Properties:
    """What is kept of a word whose upright image is ``image``."""
    # A large photograph has been reduced while it was decoded; its header knows its size.
    with Image.open(BytesIO(word.image)) as header:
        width, height = header.size
    if (image.width - image.height) * (width - height) < 0:  # turned upright
        width, height = height, width
    return Properties(word.label, height, width, word.suffix, _hash(word.image))


class Summary:
    """Counts words that can be used. Takes 24 bytes for each, and little more."""

    def __init__(self) -> None:
        self._lengths: Counter[int] = Counter()
        self._characters: Counter[str] = Counter()
        self._suffixes: Counter[str] = Counter()
        self._heights, self._widths = array("I"), array("I")
        self._images, self._labels = bytearray(), bytearray()

    def __len__(self) -> int:
        return len(self._heights)

    def add(self, word: Properties) -> None:
        """Count a word."""
        self._lengths[len(word.label)] += 1
        self._characters.update(word.label)
        self._suffixes[word.suffix] += 1
        self._heights.append(word.height)
        self._widths.append(word.width)
        self._images += word.image
        self._labels += _hash(word.label.encode("utf-8", "surrogatepass"))

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; ``docs/data.md`` describes the keys."""
        if not len(self):
            return {"words": 0}
        heights, widths = np.array(self._heights), np.array(self._widths)
        quantiles = {
            name: [round(float(value), 3) for value in np.quantile(values, QUANTILES)]
            for name, values in (
                ("height", heights),
                ("width", widths),
                ("aspect", widths / heights),
            )
        }
        return {
            "words": len(self),
            "lengths": {str(length): self._lengths[length] for length in sorted(self._lengths)},
            "characters": self._characters_to_dict(),
            "images": {
                "kinds": dict(self._suffixes.most_common()),
                "quantiles": list(QUANTILES),
                **quantiles,
                "tall": int((heights > TALL * widths).sum()),
            },
            "repeated": self._repeated(),
        }

    def _characters_to_dict(self) -> dict[str, Any]:
        others = [pair for pair in self._characters.most_common() if pair[0] not in BUNDLED]
        classes: Counter[str] = Counter()
        for character, number in self._characters.items():
            classes[_class_of(character)] += number
        return {
            "different": len(self._characters),
            "total": self._characters.total(),
            "kinds": dict(classes.most_common()),
            "outside_bundled": len(others),
            "most_outside_bundled": dict(others[:_MOST_SHOWN]),
        }

    def _repeated(self) -> dict[str, int]:
        """Words whose image was there before, and how many different images have several labels."""
        pairs = np.empty(len(self), dtype=[("image", "u8"), ("label", "u8")])
        pairs["image"] = np.frombuffer(self._images, "u8")
        pairs["label"] = np.frombuffer(self._labels, "u8")
        images, labels = np.unique(np.unique(pairs)["image"], return_counts=True)
        return {"images": len(self) - len(images), "with_other_labels": int((labels > 1).sum())}


def _hash(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=8).digest()


def _class_of(character: str) -> str:
    """Upper and lower case, digits and so on; letters of scripts without case are letters."""
    classes = {
        "upper case": character.isupper(),
        "lower case": character.islower(),
        "digits": character.isdecimal(),
        "other letters": character.isalpha(),
        "spaces": character.isspace(),
    }
    return next((name for name, belongs in classes.items() if belongs), "signs")
