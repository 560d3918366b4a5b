"""Batches of crops from worker processes, and rendered words with them on the device."""

import os
import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int64, UInt8
from torch import Tensor
from torch.utils.data import DataLoader

from vit_str.charset import PADDING, Charset
from vit_str.models.dense import UNKNOWN
from vit_str.synthesis.renderer import RenderedBatch, Renderer
from vit_str.training.crops import CropBatch, Crops, Numbers, Unusable

_MOST_WORKERS = 8
_PREFETCHED_BATCHES = 4


def default_workers(devices: int = 1) -> int:
    """Half of the processors that this process may use, divided by devices, and at most 8."""
    affinity = getattr(os, "sched_getaffinity", None)
    processors = len(affinity(0)) if affinity else os.cpu_count() or 1
    return min(_MOST_WORKERS, max(1, processors // 2 // devices))


def crop_batches(crops: Crops, numbers: Numbers, workers: int, pinned: bool) -> Iterator[CropBatch]:
    """Batches in order, made ahead of time by worker processes, or here without any.

    Args:
        crops: the stream.
        numbers: what every batch holds.
        workers: number of processes.
        pinned: whether to put images where a GPU can fetch them by itself.
    """
    options: dict[str, Any] = {"prefetch_factor": _PREFETCHED_BATCHES} if workers else {}
    loader: DataLoader[CropBatch] = DataLoader(
        crops,  # type: ignore[arg-type]  # by tuples of numbers
        batch_size=None,
        sampler=numbers,  # without end
        num_workers=workers,
        collate_fn=_as_it_is,
        pin_memory=pinned,
        worker_init_fn=_leave_signals,
        generator=torch.Generator(),  # the global one is that of the training
        **options,
    )
    return iter(loader)


def _as_it_is(batch: Any) -> Any:
    return batch


def _leave_signals(worker: int) -> None:
    """Ctrl-C reaches all processes of a terminal; the trainer finishes its step, and ends these."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)


@dataclass(frozen=True, slots=True)
class OwnStream:
    """Iterating starts one device's share of the endless stream at the same place, every time.

    Attributes:
        crops: the labeled crops.
        numbers: what every batch holds.
        charset: of the labels.
        device: where batches are wanted.
        workers: processes that make them.
        token_count: tokens in a picture.
        report: is told every word that cannot be used.
        renderer: draws the rendered part of each batch; None without any.
        seed: of what is drawn.
        easy_images: images of the run over which rendered words go from easy to hard.
    """

    crops: Crops
    numbers: Numbers
    charset: Charset
    device: torch.device
    workers: int
    token_count: int
    report: Callable[[Unusable], None]
    renderer: Renderer | None = None
    seed: int = 1
    easy_images: int = 0

    def __iter__(self) -> Iterator[RenderedBatch]:
        pinned = self.device.type == "cuda"
        batches = crop_batches(self.crops, self.numbers, self.workers, pinned)
        for image, batch in zip(count(self.numbers.start, self.numbers.stride), batches):
            for unusable in batch.unusable:
                self.report(unusable)
            parts = [self._own(batch)] if batch.labels else []
            size = self.numbers.rendered_in(image)
            if size:
                parts.append(self._rendered(size, image))
            yield joined(parts)

    def _own(self, batch: CropBatch) -> RenderedBatch:
        labels = self.charset.encode_batch(batch.labels)
        size, longest = labels.shape
        return RenderedBatch(
            batch.images.to(self.device, non_blocking=True),
            labels.to(self.device, non_blocking=True),
            torch.full((size, self.token_count), UNKNOWN, device=self.device),
            torch.zeros(size, longest, 4, device=self.device),
        )

    def _rendered(self, size: int, image: int) -> RenderedBatch:
        """Drawn by the number of the first image of the batch, which no other batch has."""
        assert self.renderer is not None
        seen = image + self.numbers.batch_size
        difficulty = min(1.0, seen / self.easy_images) if self.easy_images else 1.0
        return self.renderer.batch(size, self.seed, image, difficulty)


def joined(parts: list[RenderedBatch]) -> RenderedBatch:
    """Batches as one, labels padded to the longest."""
    if len(parts) == 1:
        return parts[0]
    longest = max(part.labels.shape[1] for part in parts)
    return RenderedBatch(
        _images(parts),
        torch.cat([_labels(part, longest) for part in parts]),
        torch.cat([part.token_characters for part in parts]),
        torch.cat([_boxes(part, longest) for part in parts]),
    )


def _images(parts: list[RenderedBatch]) -> UInt8[Tensor, "batch 3 height width"]:
    return torch.cat([part.images for part in parts])


def _labels(part: RenderedBatch, longest: int) -> Int64[Tensor, "batch position"]:
    return F.pad(part.labels, (0, longest - part.labels.shape[1]), value=PADDING)


def _boxes(part: RenderedBatch, longest: int) -> Float[Tensor, "batch position side"]:
    return F.pad(part.boxes, (0, 0, 0, longest - part.boxes.shape[1]))
