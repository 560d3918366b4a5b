"""Pictures of words: rendered ones, and photographed ones of folders."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import torch

from vit_str.datasets.folder_reader import FolderReader
from vit_str.files import one_line
from vit_str.images import TALL, Preprocessing, UnreadableImage, load_image
from vit_str.realism.statistics import Pictures, Values, label_statistics, picture_statistics
from vit_str.synthesis.renderer import Renderer

RENDERED = "rendered"
ALL = "all folders"
"""What all photographs together are called."""

_BATCH = 64  # part of what a seed means


@dataclass(frozen=True)
class WordPictures:
    """Pictures of words from one source.

    Attributes:
        name: of the source.
        pictures: as a model sees them.
        labels: what they say.
        skipped: a line for each image that is missing or cannot be read.
    """

    name: str
    pictures: Pictures
    labels: list[str]
    skipped: list[str] = field(default_factory=list)

    @cached_property
    def of_pictures(self) -> dict[str, Values]:
        """Statistics of the pictures."""
        return picture_statistics(self.pictures)

    @cached_property
    def values(self) -> dict[str, Values]:
        """Statistics of pictures and labels."""
        return self.of_pictures | label_statistics(self.labels)

    def __len__(self) -> int:
        return len(self.pictures)


def draw(renderer: Renderer, count: int, seed: int) -> WordPictures:
    """The first words of a seed."""
    pictures, labels = [], []
    for index in range(-(-count // _BATCH)):
        batch = renderer.batch(_BATCH, seed, index)
        pictures.append(batch.images.cpu())
        labels += [renderer.charset.decode(ids) for ids in batch.labels.tolist()]
    return WordPictures(RENDERED, torch.cat(pictures)[:count], labels[:count])


def load(folders: Sequence[Path | str], size: tuple[int, int], count: int) -> list[WordPictures]:
    """Photographed words, at most so many of each folder.

    Raises:
        ValueError: a folder without images that can be read.
    """
    sets = [FolderReader(folder) for folder in folders]
    names = [RENDERED, ALL, *(images.name for images in sets)]
    # Tall crops are turned, as lines that run down are in rendered words.
    preprocessing = Preprocessing(*size, turn_above=TALL)
    return [
        _load(
            images,
            str(images.path) if names.count(images.name) > 1 else images.name,
            preprocessing,
            count,
        )
        for images in sets
    ]


def _load(
    folder: FolderReader, name: str, preprocessing: Preprocessing, count: int
) -> WordPictures:
    images = folder.files()
    skipped = [f"{one_line(str(folder.path / file))}: missing" for file in images.missing]
    pictures, labels = [], []
    step = max(len(images.paths) / count, 1)
    for number in range(min(count, len(images.paths))):
        path, label = images.paths[int(number * step)], images.labels[int(number * step)]
        try:
            image = load_image(path)
        except UnreadableImage as error:
            skipped.append(str(error))
            continue
        pictures.append(preprocessing.pixels(image))
        labels.append(label)
    if not pictures:
        raise ValueError(f"{folder.path}: no image in it can be read; give another folder")
    return WordPictures(one_line(name), torch.stack(pictures), labels, skipped)
