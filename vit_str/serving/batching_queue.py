"""A thread that does what coroutines wait for, several items at once where that is faster."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(eq=False, slots=True)
class _Job(Generic[Item, Result]):
    item: Item
    key: Any
    future: Future[Result] = field(default_factory=Future)
    arrived: float = field(default_factory=time.monotonic)

    def finish(self, result: Result | Exception) -> None:
        if not self.future.set_running_or_notify_cancel():  # nobody waits any more
            return
        if isinstance(result, Exception):
            self.future.set_exception(result)
        else:
            self.future.set_result(result)


class BatchingQueue(Generic[Item, Result]):
    """Items in the order in which they come.

    Args:
        work: takes items and the key that they share, gives a result or an exception for each. If
            it raises, items that were done together are done again one by one.
        size: most items that are done together.
        patience: seconds that an item waits for others.
        more_to_come: whether others are on their way; without them nothing waits.
    """

    def __init__(
        self,
        work: Callable[[Sequence[Item], Any], Sequence[Result | Exception]],
        size: int,
        patience: float = 0.0,
        more_to_come: Callable[[], object] = lambda: True,
    ) -> None:
        self._work = work
        self._size = size
        self._patience = patience
        self._more_to_come = more_to_come
        self._waiting: deque[_Job[Item, Result]] = deque()
        self._changed = threading.Condition()
        self._is_open = True
        self._began: float | None = None  # what is in progress
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    async def do(self, item: Item, key: Any = None) -> Result:
        """The result for an item, which is dropped if the coroutine is cancelled."""
        job: _Job[Item, Result] = _Job(item, key)
        with self._changed:
            self._waiting.append(job)
            self._changed.notify()
        try:
            return await asyncio.wrap_future(job.future)
        except asyncio.CancelledError:
            with self._changed:
                if job in self._waiting:
                    self._waiting.remove(job)
            raise

    def busy_for(self) -> float:
        """Seconds since what is in progress was begun; 0 if nothing is."""
        began = self._began
        return 0.0 if began is None else time.monotonic() - began

    def close(self) -> None:
        """Begin nothing more, and wait for what is in progress."""
        with self._changed:
            self._is_open = False
            self._changed.notify_all()
        self._thread.join()

    def _run(self) -> None:
        while jobs := self._next():
            self._began = time.monotonic()
            for job, result in zip(jobs, self._results(jobs), strict=True):
                job.finish(result)
            self._began = None
            del jobs, job, result  # what waits next must not keep them in memory

    def _next(self) -> list[_Job[Item, Result]]:
        """Jobs to do together; none when the queue is closed."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or not self._is_open)
            while (
                self._is_open
                and len(self._waiting) < self._size
                and self._more_to_come()
            ):
                left = self._waiting[0].arrived + self._patience - time.monotonic()
                if left <= 0:
                    break
                self._changed.wait(left)
                if not self._waiting:  # left while others were waited for
                    self._changed.wait_for(lambda: self._waiting or not self._is_open)
            if not self._is_open:
                return []
            key = self._waiting[0].key
            jobs = [job for job in self._waiting if job.key == key][: self._size]
            for job in jobs:
                self._waiting.remove(job)
            return jobs

    def _results(
        self,
        jobs: Sequence[_Job[Item, Result]],
    ) -> Sequence[Result | Exception]:
        try:
            return self._work([job.item for job in jobs], jobs[0].key)
        # Of one of them, perhaps: it must not hurt the others
        except Exception as error:
            if len(jobs) == 1:
                return [error]
            results: list[Result | Exception] = []
            for job in jobs:
                results += self._results([job])
            return results
