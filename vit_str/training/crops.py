"""Labeled crops for training: the word of a number, checked, changed and resized."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from hashlib import blake2b
from itertools import count
from typing import NamedTuple

import torch
from jaxtyping import UInt8
from PIL import Image
from torch import Tensor

from vit_str.datasets import IndexedSource, LabeledWord, Mixture, Rules, Skipped
from vit_str.datasets.augmentation import Augmentation
from vit_str.images import Preprocessing

_DIGEST_BYTES = 8
_MOST_TRIES = 1000


@dataclass(frozen=True, slots=True)
class HeldOut:
    """Words that training never sees, told by the bytes of their images.

    The same image is held out whatever it is called, wherever it is stored, and whatever is added
    to the data later; two copies of it are on the same side.

    Attributes:
        share: of all images, chosen by their bytes.
        digests: of images that are held out besides.
    """

    share: float = 0.0
    digests: frozenset[bytes] = frozenset()

    def chosen(self, image: bytes) -> bool:
        """Whether an image is one of the share."""
        number = int.from_bytes(digest(image), "big")
        return number < self.share * (1 << 8 * _DIGEST_BYTES)

    def __contains__(self, image: bytes) -> bool:
        return self.chosen(image) or (bool(self.digests) and digest(image) in self.digests)


def digest(image: bytes) -> bytes:
    """What an image is told by: 8 bytes out of all of its."""
    return blake2b(image, digest_size=_DIGEST_BYTES).digest()


class Unusable(NamedTuple):
    """A word that was to be trained on and cannot be."""

    source: int
    place: int
    skipped: Skipped


class CropBatch(NamedTuple):
    """Some words of a stream.

    Attributes:
        images: what a model sees; without words, of 0 images.
        labels: what they say.
        unusable: words that were met in between.
    """

    images: UInt8[Tensor, "batch 3 height width"]
    labels: list[str]
    unusable: list[Unusable]


@dataclass(frozen=True, slots=True)
class Crops:
    """The stream of crops to train on; a batch of it by its first number and its length.

    In the place of a word that cannot be used or is held out comes the next of its source in the
    order of the round. So the shares stay, and a batch depends on its numbers alone.

    Attributes:
        mixture: of the sources.
        rules: which words can be used.
        held_out: which are not to be trained on.
        augmentation: what is done to the pictures, upright and in natural size.
        preprocessing: what the model is shown, the same as in reading.
    """

    mixture: Mixture
    rules: Rules
    held_out: HeldOut
    augmentation: Augmentation
    preprocessing: Preprocessing

    def __getitem__(self, numbers: tuple[int, int]) -> CropBatch:
        start, length = numbers
        size = self.preprocessing.height, self.preprocessing.width
        images = torch.empty(length, 3, *size, dtype=torch.uint8)
        labels: list[str] = []
        unusable: list[Unusable] = []
        for place in range(length):
            number = start + place
            image, label = self._usable(number, unusable)
            labels.append(label)
            images[place] = pixels(self.augmentation(image, number), self.preprocessing)
        return CropBatch(images, labels, unusable)

    def _usable(self, number: int, unusable: list[Unusable]) -> tuple[Image.Image, str]:
        """The upright picture and the label of a number, or of the next that has one."""
        source, place = self.mixture.picks(number)
        for place in self._places(number, source):
            word = self.mixture.sources[source][place]
            found = self._opened(word)
            if isinstance(found, Image.Image):
                assert isinstance(word, LabeledWord)
                return turned(found, self.preprocessing), word.label
            if found is not None:
                unusable.append(Unusable(source, place, found))
        raise ValueError(
            f"{self.mixture.sources[source].path}: {_MOST_TRIES} words one after the other cannot "
            "be used; look at skipped.tsv beside the logs"
        )

    def _places(self, number: int, source: int) -> Iterator[int]:
        """Those of a source from a number of the mixture on."""
        found = 0
        for later in count(number):
            other, place = self.mixture.picks(later)
            if other == source:
                yield place
                found += 1
                if found == _MOST_TRIES:
                    return

    def _opened(self, word: LabeledWord | Skipped) -> Image.Image | Skipped | None:
        """The picture, why there is none, or None for a word that is held out."""
        if isinstance(word, Skipped):
            return word
        return None if word.image in self.held_out else self.rules.decode(word)


def turned(image: Image.Image, preprocessing: Preprocessing) -> Image.Image:
    """Turn a tall picture as reading does, before it is changed: the line runs along then."""
    if preprocessing.turns(image.height, image.width):
        return image.transpose(Image.Transpose.ROTATE_90)
    return image


def pixels(image: Image.Image, preprocessing: Preprocessing) -> UInt8[Tensor, "3 height width"]:
    """Pixels of a picture that has been turned already, if it had to be."""
    return replace(preprocessing, turn_above=None).pixels(image)


@dataclass(frozen=True, slots=True)
class Numbers:
    """Which words of a stream belong to every batch of a device, without end.

    The images of a run are numbered over all devices. Of the first n of them,
    ``floor(n x rendered_share)`` are rendered, whatever the size of batches.

    Attributes:
        start: number of this device's first image.
        stride: from the first image of a batch to that of the next.
        batch_size: images in a batch, rendered ones included.
        rendered_share: of all images.
    """

    start: int
    stride: int
    batch_size: int
    rendered_share: float = 0.0

    def __iter__(self) -> Iterator[tuple[int, int]]:
        """First number and length of the crops in every batch."""
        for image in count(self.start, self.stride):
            first = image - self.rendered_before(image)
            yield first, self.batch_size - self.rendered_in(image)

    def rendered_before(self, image: int) -> int:
        """How many of the images before a number are rendered."""
        return int(image * self.rendered_share)

    def rendered_in(self, image: int) -> int:
        """How many images of the batch that begins with a number are rendered."""
        return self.rendered_before(image + self.batch_size) - self.rendered_before(image)


def held_out_places(
    source: IndexedSource, held_out: HeldOut, places: Iterable[int], limit: int | None
) -> list[int]:
    """The first of some places where words of the held-out share are, at most ``limit``."""
    found: list[int] = []
    for place in places:
        if limit is not None and len(found) >= limit:
            break
        word = source[place]
        if isinstance(word, LabeledWord) and held_out.chosen(word.image):
            found.append(place)
    return found
