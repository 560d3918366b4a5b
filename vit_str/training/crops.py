"""Labeled crops for training: the word of every index, checked, augmented and resized."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from hashlib import blake2b
from itertools import count, islice
from typing import NamedTuple

import torch
from jaxtyping import UInt8
from PIL import Image
from torch import Tensor

from vit_str.datasets import LabeledWord, Mixture, Rules, Skipped, WordSource
from vit_str.datasets.augmentation import Augmentation
from vit_str.images.preprocessing import Preprocessing

_DIGEST_BYTES = 8  # of the digest of an image
_MOST_TRIES = 1000  # to draw a crop that can be used
_TURN = Image.Transpose.ROTATE_90


@dataclass(frozen=True, slots=True)
class HeldOut:
    """Words that training never sees, identified by the bytes of their images.

    The same image is held out whatever it is called, wherever it is stored, and whatever is added
    to the data later; two copies of it are on the same side.
    """

    share: float = 0.0  # of all images, chosen by their bytes
    digests: frozenset[bytes] = frozenset()  # of further images that are held out

    def chosen(self, image: bytes) -> bool:
        """Whether an image is one of the share."""
        number = int.from_bytes(digest(image), "big")
        return number < self.share * (1 << 8 * _DIGEST_BYTES)

    def __contains__(self, image: bytes) -> bool:
        if self.chosen(image):
            return True
        return bool(self.digests) and digest(image) in self.digests

    def indices(self, source: WordSource, order: Iterable[int]) -> Iterator[int]:
        """Indices of a source, in an order, where words of the share are."""
        for index in order:
            word = source[index]
            if isinstance(word, LabeledWord) and self.chosen(word.image):
                yield index


def digest(image: bytes) -> bytes:
    """An identifier of an image: 8 bytes computed from all of its file."""
    return blake2b(image, digest_size=_DIGEST_BYTES).digest()


class CropBatch(NamedTuple):
    """Some words of a stream."""

    images: UInt8[Tensor, "batch 3 height width"]
    labels: list[str]
    skipped: list[Skipped]


@dataclass(frozen=True, slots=True)
class Crops:
    """The stream of crops to train on; a batch of it by its first index and its length.

    In the place of a word that cannot be used or is held out comes the next of its source in the
    order of the epoch. So the shares stay, and a batch depends on its indices alone.
    """

    mixture: Mixture
    rules: Rules
    held_out: HeldOut
    augmentation: Augmentation
    preprocessing: Preprocessing

    def __getitem__(self, batch: tuple[int, int]) -> CropBatch:
        start, length = batch
        # Tall images are turned already.
        resize = replace(self.preprocessing, turn_above=None)
        images: list[Tensor] = []
        labels: list[str] = []
        skipped: list[Skipped] = []
        for number in range(start, start + length):
            image, label = self._usable(number, skipped)
            labels.append(label)
            images.append(resize.pixels(self.augmentation(image, number)))
        if not images:
            size = self.preprocessing.height, self.preprocessing.width
            none = torch.empty(0, 3, *size, dtype=torch.uint8)
            return CropBatch(none, labels, skipped)
        width = max(image.shape[-1] for image in images)
        pixels = torch.stack([widened(image, width) for image in images])
        return CropBatch(pixels, labels, skipped)

    def _usable(self, number: int, skipped: list[Skipped]) -> tuple[Image.Image, str]:
        """The upright image and the label of a number, or of the next that has one."""
        chosen, _ = self.mixture.picks(number)
        source = self.mixture.sources[chosen]
        picks = (self.mixture.picks(later) for later in count(number))
        of_source = (index for picked, index in picks if picked == chosen)
        for index in islice(of_source, _MOST_TRIES):
            word = source[index]
            if isinstance(word, LabeledWord):
                if word.image in self.held_out:
                    continue
                image = self.rules.decode(word)
                if isinstance(image, Image.Image):
                    # Turned as in reading, and before augmentation: the line runs along then.
                    tall = self.preprocessing.turns(image.height, image.width)
                    label = self.rules.text_of(word.label)
                    return image.transpose(_TURN) if tall else image, label
                word = image
            skipped.append(replace(word, name=f"{source.path}: {word.name}"))
        raise ValueError(
            f"{source.path}: {_MOST_TRIES} words one after the other cannot be used; "
            "look at skipped.tsv beside the logs"
        )


def widened(
    images: UInt8[Tensor, "*batch channel row column"], width: int
) -> UInt8[Tensor, "*batch channel row wide_column"]:
    """Images with their last column again and again, up to a width."""
    last = images[..., -1:].expand(*images.shape[:-1], width - images.shape[-1])
    return torch.cat([images, last], -1)


@dataclass(frozen=True, slots=True)
class CropSampler:
    """Which words of a stream belong to each batch of a device, without end.

    The images of a run are numbered over all devices. Of the first n of them,
    ``floor(n x rendered_share)`` are rendered, whatever the size of batches.
    """

    start: int  # number of this device's first image
    stride: int  # from the first image of a batch to that of the next
    batch_size: int  # images in a batch, rendered ones included
    rendered_share: float = 0.0  # of all images

    def __iter__(self) -> Iterator[tuple[int, int]]:
        """First index and length of the crops in each batch."""
        for image in count(self.start, self.stride):
            first = image - self._rendered_before(image)
            yield first, self.batch_size - self.rendered_in(image)

    def _rendered_before(self, image: int) -> int:
        return int(image * self.rendered_share)

    def rendered_in(self, image: int) -> int:
        """How many images of the batch that begins with this one are rendered."""
        after = self._rendered_before(image + self.batch_size)
        return after - self._rendered_before(image)
