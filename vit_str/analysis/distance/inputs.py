"""Models and images as users give them in Python -> encoders and batches to measure."""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Bool
from torch import Tensor, nn

from vit_str.analysis.geometry import TokenGrid
from vit_str.analysis.images import ImageSet, batches_of, load_images, read_images
from vit_str.analysis.libraries.load import encoder_of, library_of
from vit_str.analysis.subjects import Subject
from vit_str.models import Recognizer
from vit_str.runtime.images import ImageSource

_MOST_IMAGES = 200  # of a folder and of rendered words, if no number is given


@dataclass(frozen=True, slots=True, eq=False)
class GivenImages:
    """Images for one model after another, see `attention_distance` for what they may be.

    Attributes:
        source: of the images.
        queries: which tokens of the grid count as queries, image by image; None for all.
        count: most images; None for 200 of a folder and of rendered words, for all of tensors.
        batch_size: images at once, where it is not decided by batches that are given.
        device: where the models compute.
        seed: of rendered words.
    """

    source: str | Path | Tensor | Iterable[Any]
    queries: Bool[Tensor, "image token"] | None
    count: int | None
    batch_size: int
    device: torch.device | str
    seed: int

    def batches(self, subject: Subject | None) -> Iterator[Tensor]:
        """Batches as a model takes them; None for a torch module, which takes tensors only."""
        source = self.source
        if isinstance(source, Tensor):
            yield from torch.split(source[: self.count], self.batch_size)
            return
        if not isinstance(source, str | Path):
            items = iter(source)
            first = next(items, None)
            if first is None:
                return
            source = chain([first], items)
            if isinstance(first, Tensor | list | tuple | Mapping):
                yield from _first_of(source, self.count)
                return
        if subject is None:
            raise ValueError(
                "a torch module needs a tensor of images, or batches of it, as it "
                "takes them"
            )
        images = self._image_set(subject, source)
        for _, pixels in batches_of(subject, images, self.batch_size, self.device):
            yield pixels

    def with_queries(
        self, batches: Iterable[Tensor], device: torch.device
    ) -> Iterator[tuple[Tensor, Tensor | None]]:
        """Every batch on a device, and which of its tokens count as queries; None for all."""
        seen = 0
        for batch in batches:
            end = seen + len(batch)
            chosen = None
            if self.queries is not None:
                chosen = self.queries[seen:end].flatten(1)
            yield batch.to(device), chosen
            seen = end

    def _image_set(
        self,
        subject: Subject,
        source: str | Path | Iterable[ImageSource],
    ) -> ImageSet:
        count = _MOST_IMAGES if self.count is None else self.count
        if isinstance(source, str | Path):
            return load_images(subject, str(source), count, self.seed)
        numbered = enumerate(islice(source, count), 1)
        chosen = [(image, None, f"image {number}") for number, image in numbered]
        read = partial(read_images, chosen, subject.preprocessing)
        return ImageSet(f"{len(chosen)} images", len(chosen), read)


def encoder_in(model: Any, grid: TokenGrid | None, images: Tensor) -> nn.Module:
    """The encoder of a torch module, which knows the grid of its tokens unless one is given."""
    encoder: Any = model.encoder if isinstance(model, Recognizer) else model
    if grid is None and library_of(encoder):
        return encoder_of(encoder, (images.shape[-2], images.shape[-1]))
    if grid or (hasattr(encoder, "grid") and hasattr(encoder, "special_tokens")):
        return encoder
    raise ValueError(
        f"{type(encoder).__name__} has no attributes grid and special_tokens: give "
        "grid=TokenGrid(rows, columns, (height, width) of a patch, special_tokens)"
    )


def _first_of(batches: Iterable[Any], count: int | None) -> Iterator[Tensor]:
    """Batches of at most so many images; None for all."""
    left = math.inf if count is None else count
    for item in batches:
        batch = pixels_in(item)
        batch = batch[None] if batch.ndim == 3 else batch
        yield batch[: int(min(left, len(batch)))]
        left -= len(batch)
        if left <= 0:
            return


def pixels_in(batch: Any) -> Tensor:
    """The images of a batch: itself, the first of a tuple, or its ``pixel_values``.

    Raises:
        ValueError: for a batch without images.
    """
    if isinstance(batch, list | tuple):
        return pixels_in(batch[0])
    if isinstance(batch, Mapping):
        if "pixel_values" not in batch:
            known = ", ".join(map(str, batch))
            raise ValueError(f"a batch as a mapping needs pixel_values, found {known}")
        batch = batch["pixel_values"]
    if not isinstance(batch, Tensor):
        raise ValueError(f"batches are tensors of images, found {type(batch).__name__}")
    return batch
