"""Batches that worker processes make, in order and ahead of the training."""

import signal
from collections.abc import Iterable, Iterator
from typing import Protocol, TypeVar

import torch
from torch.utils.data import DataLoader

from vit_str.machine import cpu_count

_MOST_WORKERS = 8  # processes, if no number is given
_PREFETCHED_BATCHES = 4  # of each worker

Index = TypeVar("Index", contravariant=True)
Batch = TypeVar("Batch", covariant=True)


class BatchMaker(Protocol[Index, Batch]):
    """Makes the batch of an index, always the same one."""

    def __getitem__(self, index: Index, /) -> Batch: ...


def default_workers(devices: int = 1) -> int:
    """Half of the processors that this process may use, divided by devices, and at most 8."""
    return min(_MOST_WORKERS, max(1, cpu_count() // 2 // devices))


def check_workers(workers: int) -> None:
    """Refuse a number of processes that there cannot be."""
    if workers < 0:
        raise ValueError(f"workers must be 0 or more, found {workers}")


def loaded_batches(
    batches: BatchMaker[Index, Batch],
    indices: Iterable[Index],
    workers: int,
    pinned: bool,
) -> Iterator[Batch]:
    """The batches of some indices in their order, made by worker processes, or here without any.

    Each process computes with one thread. All begin with this call and end with the iterator.

    Args:
        batches: makes them; of it every process has its own.
        indices: of the batches; may be without end.
        workers: number of processes.
        pinned: whether to put batches where they can be copied to a GPU without waiting.
    """
    loader: DataLoader[Batch] = DataLoader(
        batches,  # type: ignore[arg-type]  # of any index
        batch_size=None,
        sampler=indices,
        num_workers=workers,
        prefetch_factor=_PREFETCHED_BATCHES if workers else None,
        pin_memory=pinned,
        worker_init_fn=_ignore_signals,
        generator=torch.Generator(),  # the global one is that of the training
    )
    return iter(loader)


def _ignore_signals(worker: int) -> None:
    """Ctrl-C reaches all processes of a terminal; the trainer finishes its step, and ends these."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
