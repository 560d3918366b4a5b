"""Batches made ahead of time, so that a GPU trains while the next words are drawn."""

from collections import deque
from collections.abc import Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import fields
from typing import Any, TypeVar

import torch

from vit_str.synthesis.renderer import RenderedBatch

AHEAD = 3
"""Batches that are made beyond the one that was taken last."""

Item = TypeVar("Item")
_END: Any = object()


def made_ahead(
    batches: Iterator[RenderedBatch], device: torch.device, ahead: int = AHEAD
) -> Iterator[RenderedBatch]:
    """The same batches in the same order; for a GPU, a thread makes the next ones meanwhile.

    To draw words takes thousands of small operations, and some of them wait for the GPU. On a
    stream of their own they wait for each other only, not for the training. On a CPU there is
    nothing to be gained, and batches are made when they are asked for.
    """
    if device.type != "cuda":
        return batches
    return _on_own_stream(batches, device, ahead)


def _on_own_stream(
    batches: Iterator[RenderedBatch], device: torch.device, ahead: int
) -> Iterator[RenderedBatch]:
    stream = torch.cuda.Stream(device)  # type: ignore[no-untyped-call]
    # Fonts and photographs may still be on their way to the GPU.
    stream.wait_stream(torch.cuda.current_stream(device))
    with closing(in_thread(_with_events(batches, stream), ahead)) as made:
        for batch, is_drawn in made:
            training = torch.cuda.current_stream(device)
            training.wait_event(is_drawn)
            for field in fields(batch):
                # Its memory must not be used again before the training is done with it.
                getattr(batch, field.name).record_stream(training)
            yield batch


def _with_events(
    batches: Iterator[RenderedBatch], stream: torch.cuda.Stream
) -> Iterator[tuple[RenderedBatch, torch.cuda.Event]]:
    """Batches made on a stream, and what to wait for before they are used on another."""
    while True:
        with torch.cuda.stream(stream):
            batch = next(batches, None)
        if batch is None:
            return
        yield batch, stream.record_event()


def in_thread(items: Iterator[Item], ahead: int = AHEAD) -> Generator[Item, None, None]:
    """The items in their order, while a thread makes the next ones.

    What is raised in the thread is raised here, in its place among the items. The thread has ended
    when the last item was taken, when something was raised, and when this iterator is closed or
    dropped; then the item that is being made is finished first.

    Args:
        items: what to make; used by the thread alone.
        ahead: most items made beyond the one that was taken last.
    """
    thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="ahead")
    waiting: deque[Future[Item]] = deque()
    try:
        while True:
            while len(waiting) <= ahead:
                waiting.append(thread.submit(next, items, _END))
            item = waiting.popleft().result()
            if item is _END:
                return
            yield item
    finally:
        thread.shutdown(cancel_futures=True)
