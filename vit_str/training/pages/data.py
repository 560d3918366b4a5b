"""Drawn and read pages, batch by batch, with fresh noise each time a page is seen."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from torch.utils.data import DataLoader, IterableDataset, get_worker_info

from vit_str.datasets.page_records import (
    ABOUT,
    PageRecord,
    read_pages,
    read_shard,
    shards_of,
)
from vit_str.training.networks import FixedBatches, NetworkData
from vit_str.training.pages.examples import Batch, Example, batch_of, example_of
from vit_str.training.pages.variation import NONE, Variation, paired

NOTHING = "nothing"
"""The role of what is no text of the page."""

_WINDOW = 6  # shards whose pages are mixed, and sorted by their lengths
_FEWEST = 3  # pieces of a page that there is something to arrange on


class PageBatches(IterableDataset[Batch]):
    """Batches of pages without an end.

    Args:
        folders: of pages, see ``vit-str render --pages``.
        pairs: of tokens in a batch, at most: pages times the square of their length.
        longest: tokens of a page; longer ones are left out.
        seed: of order and noise.
        variation: how pages are varied.
        seen: pages of an earlier session of the run, whose order and noise are others.
    """

    def __init__(
        self,
        folders: Sequence[Path],
        pairs: int,
        longest: int,
        seed: int,
        variation: Variation = NONE,
        seen: int = 0,
    ) -> None:
        for folder in folders:
            shards_of(folder)  # a folder without pages is an error now
        self.folders = folders
        self.pairs = pairs
        self.longest = longest
        self.seed = seed
        self.variation = variation
        self.seen = seen

    def __iter__(self) -> Iterator[Batch]:
        worker = get_worker_info()
        number, count = (worker.id, worker.num_workers) if worker else (0, 1)
        random = np.random.default_rng([self.seed, number, self.seen])
        while True:
            # Anew each time: pages may be drawn while others are trained on
            shards = [
                (folder, shard)
                for folder in self.folders
                for shard in shards_of(folder)
            ]
            own = shards[number % len(shards) :: count] or shards
            order = random.permutation(len(own))
            for start in range(0, len(order), _WINDOW):
                pages: list[PageRecord] = []
                for place in order[start : start + _WINDOW]:
                    pages += read_shard(*own[place])
                yield from self._batches(pages, random)

    def _batches(
        self, pages: Sequence[PageRecord], random: np.random.Generator
    ) -> Iterator[Batch]:
        examples = [
            example_of(page, random, is_training=True, variation=self.variation)
            for page in paired(pages, random, self.variation)
        ]
        parts = list(parted(examples, self.pairs, self.longest))
        for place in random.permutation(len(parts)):
            yield batch_of(parts[place])


def parted(
    examples: Sequence[Example], pairs: int, longest: int
) -> Iterator[list[Example]]:
    """Examples of about one length together, so many that their pairs of tokens are no more."""
    part: list[Example] = []
    for example in sorted(examples, key=lambda each: len(each.tokens.features)):
        length = len(example.tokens.features)
        if example.tokens.pieces < _FEWEST or length > longest:
            continue
        if part and (len(part) + 1) * length**2 > pairs:
            yield part
            part = []
        part.append(example)
    if part:
        yield part


class DrawnPages(NetworkData):
    """Pages to train on, and others to look how well that goes.

    Args:
        folders: of pages, see ``vit-str render --pages``.
        validation: folders of others, such as of families that are held out.
        pairs: of tokens in a batch, at most: decides how much memory a step takes.
        longest: tokens of a page; longer ones are left out of training.
        seed: of order and noise.
        variation: how pages are varied in training.
        workers: processes that prepare batches.
    """

    def __init__(
        self,
        folders: list[Path],
        validation: list[Path] | None = None,
        pairs: int = 400_000,
        longest: int = 450,
        seed: int = 1,
        variation: Variation | None = None,
        workers: int = 0,
    ) -> None:
        super().__init__(folders, validation, seed, workers)
        self.pairs = pairs
        self.longest = longest
        self.variation = variation or Variation()

    @property
    def names(self) -> Sequence[str]:
        """Of the roles, as the pages name them."""
        about = json.loads((self.folders[0] / ABOUT).read_text("utf-8"))
        return [*about["roles"], NOTHING]

    def train_dataloader(self) -> DataLoader[Batch]:
        """Batches without an end."""
        batches = PageBatches(
            folders=self.folders,
            pairs=self.pairs,
            longest=self.longest,
            seed=self.seed,
            variation=self.variation,
            seen=self.examples_seen,
        )
        return self.endless(batches)

    def val_dataloader(self) -> list[DataLoader[Batch]]:
        """The pages of each folder, always with the same noise."""
        return [
            DataLoader(
                validation_batches(folder, self.pairs, self.longest), batch_size=None
            )
            for folder in self.validation
        ]


def validation_batches(folder: Path, pairs: int, longest: int) -> FixedBatches[Batch]:
    """All pages of a folder."""
    random = np.random.default_rng(0)
    pages = read_pages(folder)
    examples = [example_of(page, random, is_training=False) for page in pages]
    parts = parted(examples, pairs, longest)
    batches = [batch_of(part, folder.name) for part in parts]
    return FixedBatches(batches.__getitem__, len(batches))
