"""Models and images as users give them in Python -> encoders and batches to measure."""

import math
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
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
from vit_str.images.loading import ImageSource
from vit_str.models import Encoder, Recognizer

_OF_ENCODERS = ("grid", "special_tokens", "image_size")
"""Attributes of a module that say where its tokens lie, as `TokenGrid.of` takes it."""
_MOST_IMAGES = 200  # of a folder and of rendered words, if no number is given


@dataclass(frozen=True, slots=True, eq=False)
class GivenImages:
    """Images for one model after another, see `attention_distance` for what they may be.

    Attributes:
        source: of the images.
        queries: which tokens of the grid count as queries, image by image; None for all.
        count: most images; None for 200 of a folder and of rendered words, for all of tensors.
        batch_size: images at once, where it is not decided by batches that are given.
        device: where the models compute; None for where a module is, and the CPU for others.
        seed: of rendered words.
    """

    source: str | Path | Tensor | Iterable[Any]
    queries: Bool[Tensor, "image token"] | None
    count: int | None
    batch_size: int
    device: torch.device | str | None
    seed: int

    def batches(self, subject: Subject | None) -> Iterator[Tensor]:
        """Batches as a model takes them; None for a torch module, which takes tensors only.

        Raises:
            ValueError: the images are no tensors, and ``subject`` is None.
        """
        source = self.source
        if isinstance(source, Tensor):
            several = _several(source)
            yield from torch.split(several[: self.count], self.batch_size)
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
        device = self.device or "cpu"
        for _, pixels in batches_of(subject, images, self.batch_size, device):
            yield pixels

    def with_queries(
        self, batches: Iterable[Tensor], encoder: nn.Module
    ) -> Iterator[tuple[Tensor, Tensor | None]]:
        """Every batch as the encoder computes, and which of its tokens are queries; None for all.

        Images go where its weights are; their numbers become of the same type, such as bfloat16.
        """
        weights = (each for each in encoder.parameters() if each.is_floating_point())
        weight = next(weights, None)
        seen = 0
        for batch in batches:
            end = seen + len(batch)
            chosen = None
            if self.queries is not None:
                chosen = self.queries[seen:end].flatten(1)
            if weight is not None:
                dtype = weight.dtype if batch.is_floating_point() else batch.dtype
                batch = batch.to(weight.device, dtype)
            yield batch, chosen
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
    """The encoder of a torch module, which knows the grid of its tokens unless one is given.

    Raises:
        ValueError: the grid is not given, and the module does not know it.
    """
    encoder: Any = model.encoder if isinstance(model, Recognizer) else model
    if grid is None and library_of(encoder):
        return encoder_of(encoder, (images.shape[-2], images.shape[-1]))
    missing = [name for name in _OF_ENCODERS if not hasattr(encoder, name)]
    if grid or not missing:
        return encoder
    part = _supported_part(encoder, images)
    instead = f"its part {part!r}, which is supported, or " if part else ""
    raise ValueError(
        f"{type(encoder).__name__} has no attribute {' and no '.join(missing)}: give "
        f"{instead}grid=TokenGrid(rows, columns, (height, width) of a patch, "
        "special_tokens)"
    )


def _supported_part(model: nn.Module, images: Tensor) -> str | None:
    """The name of the first module inside that needs no grid to be given."""
    for name, module in model.named_modules():
        if isinstance(module, Recognizer | Encoder):
            return name
        if library_of(module):
            with suppress(Exception):  # layers of a library are no models of it
                encoder_of(module, (images.shape[-2], images.shape[-1]))
                return name
    return None


def check_images(images: Tensor) -> None:
    """Refuse what no encoder of images takes."""
    if images.ndim != 4 or not images.is_floating_point():
        raise ValueError(
            "images are numbers of (batch, channel, height, width), normalized as the "
            f"model takes them, found {tuple(images.shape)} of {images.dtype}"
        )


def _first_of(batches: Iterable[Any], count: int | None) -> Iterator[Tensor]:
    """Batches of at most so many images; None for all."""
    left = math.inf if count is None else count
    for item in batches:
        batch = _several(pixels_in(item))
        yield batch[: int(min(left, len(batch)))]
        left -= len(batch)
        if left <= 0:
            return


def _several(images: Tensor) -> Tensor:
    """Images as a batch, also if it is one alone."""
    return images[None] if images.ndim == 3 else images


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
            raise ValueError(
                "pixel_values must be a tensor, as processors give with "
                f"return_tensors='pt', found {type(batch).__name__}"
            )
    if not isinstance(batch, Tensor):
        raise ValueError(f"batches are tensors of images, found {type(batch).__name__}")
    return batch
