"""Batches of crops from worker processes, and rendered words with them on the device."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path

import torch
import torch.nn.functional as F

from vit_str.characters.charset import Charset
from vit_str.datasets import Skipped, SkipReport
from vit_str.models.auxiliary import UNKNOWN
from vit_str.synthesis.renderer import RenderedBatch, join
from vit_str.training.ahead import made_ahead
from vit_str.training.console import report
from vit_str.training.crops import CropBatch, Crops, CropSampler, widened
from vit_str.training.data import RenderedStream
from vit_str.training.workers import loaded_batches


class SkippedWords:
    """Counts words that a run has to skip, once each, and lists them in a file beside its logs.

    The file is made when there is a word; processes after the first have files of their own.
    """

    def __init__(self, folder: Path, rank: int = 0) -> None:
        self.path = folder / (f"skipped_{rank}.tsv" if rank else "skipped.tsv")
        self._seen: set[Skipped] = set()
        self._report: SkipReport | None = None

    def add(self, word: Skipped) -> None:
        """Count and list a word, if it was not skipped before."""
        if word in self._seen:
            return
        self._seen.add(word)
        if self._report is None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._report = SkipReport(file=self.path)
            report(f"skipped {word.name}: {word.reason}; all are in {self.path}")
        self._report.add(word)

    def close(self) -> None:
        """Finish the list and say how many words are on it."""
        if self._report is None:
            return
        counts = self._report.counts.items()
        reasons = ", ".join(f"{count:,} {reason}" for reason, count in counts)
        self._report.close()
        report(f"words skipped: {reasons}; listed in {self.path}")
        self._report = None


@dataclass(frozen=True, slots=True)
class OwnStream:
    """One device's share of the endless stream; every iteration starts at the same batch."""

    crops: Crops
    sampler: CropSampler
    charset: Charset
    device: torch.device
    workers: int
    token_count: int
    on_skip: Callable[[Skipped], None]
    rendered: RenderedStream | None = None

    def __iter__(self) -> Iterator[RenderedBatch]:
        return made_ahead(self._batches(), self.device)

    def _batches(self) -> Iterator[RenderedBatch]:
        pinned = self.device.type == "cuda"
        batches = loaded_batches(self.crops, self.sampler, self.workers, pinned)
        numbers = count(self.sampler.start, self.sampler.stride)
        for image, batch in zip(numbers, batches, strict=False):
            for skipped in batch.skipped:
                self.on_skip(skipped)
            parts = [self._own(batch)] if batch.labels else []
            size = self.sampler.rendered_in(image)
            if size:
                parts.append(self._rendered(size, image))
            width = max(part.images.shape[-1] for part in parts)
            yield join([self._widened(part, width) for part in parts])

    def _widened(self, part: RenderedBatch, width: int) -> RenderedBatch:
        """Lines that are as wide as the others of the batch."""
        known = part.token_characters
        missing = self._tokens(width) - known.shape[1]
        return replace(
            part,
            images=widened(part.images, width),
            token_characters=F.pad(known, (0, missing), value=UNKNOWN),
        )

    def _tokens(self, width: int) -> int:
        return self.token_count * width // self.crops.preprocessing.width

    def _own(self, batch: CropBatch) -> RenderedBatch:
        labels = self.charset.encode_batch(batch.labels)
        size, longest = labels.shape
        tokens = self._tokens(batch.images.shape[-1])
        return RenderedBatch(
            images=batch.images.to(self.device, non_blocking=True),
            labels=labels.to(self.device, non_blocking=True),
            token_characters=torch.full((size, tokens), UNKNOWN, device=self.device),
            boxes=torch.zeros(size, longest, 4, device=self.device),
        )

    def _rendered(self, size: int, image: int) -> RenderedBatch:
        """Drawn by the number of the first image of the batch, which no other batch has."""
        assert self.rendered is not None
        difficulty = self.rendered.difficulty(image + self.sampler.batch_size)
        return self.rendered.renderer.batch(size, self.rendered.seed, image, difficulty)
