"""Sources -> readings in order, in memory that does not grow with their number."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

from vit_str.images.image_decoding import DecodedImage, Source, decode_batches
from vit_str.images.loading import source_name

if TYPE_CHECKING:
    from vit_str.decoding.readings import Reading
    from vit_str.images.preprocessing import Preprocessing
    from vit_str.images.refusals import UnreadableImage

ReadDecoded = Callable[[Sequence[DecodedImage]], list["Reading"]]
"""Reads images together."""


def read_stream(
    read: ReadDecoded,
    sources: Iterable[Source],
    preprocessing: Preprocessing,
    batch_size: int,
    workers: int,
) -> Iterator[tuple[Source, Reading | UnreadableImage]]:
    """Each source with its reading, or with why it cannot be read.

    Args:
        read: reads decoded images.
        sources: any number of images.
        preprocessing: of the model.
        batch_size: images that are read at once.
        workers: threads that decode images ahead of the model.
    """
    batches = decode_batches(sources, preprocessing, batch_size, workers)
    with closing(batches):
        for batch in batches:
            decoded = []
            for source, image in batch:
                if isinstance(image, DecodedImage):
                    decoded.append((source, image))
            readings = iter(read_sources(read, decoded) if decoded else ())
            for source, image in batch:
                if isinstance(image, DecodedImage):
                    yield source, next(readings)
                else:
                    yield source, image


def read_sources(
    read: ReadDecoded, batch: Sequence[tuple[Source, DecodedImage]]
) -> list[Reading]:
    """Readings with the paths of their images, where these are files."""
    readings = read([image for _, image in batch])
    for place, (source, _) in enumerate(batch):
        if isinstance(source, str | os.PathLike):
            path = source_name(source)
            readings[place] = replace(readings[place], path=path)
    return readings
