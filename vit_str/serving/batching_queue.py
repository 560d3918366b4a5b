"""Threads that do what coroutines wait for, several jobs at once where that is faster."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Generic, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


class Job(Generic[Item, Result]):
    """Something to do for a coroutine."""

    def __init__(self, item: Item, key: Any) -> None:
        self.item, self.key = item, key
        self.loop = asyncio.get_running_loop()
        self.future: asyncio.Future[Result] = self.loop.create_future()
        self.arrived = time.monotonic()

    @property
    def is_abandoned(self) -> bool:
        """Whether nobody waits for the result."""
        return self.future.done()

    def finish(self, result: Result | Exception) -> None:
        """Hand over the result; in the thread of the loop."""
        if self.future.done():
            return
        if isinstance(result, Exception):
            self.future.set_exception(result)
        else:
            self.future.set_result(result)


class BatchingQueue(Generic[Item, Result]):
    """Jobs in the order in which they come.

    Args:
        work: takes jobs with the same key, gives a result or an exception for each. If it raises,
            jobs that were done together are done again one by one.
        size: most jobs that are done together.
        threads: that work.
        patience: seconds that a job waits for others.
        more_to_come: whether others are on their way; without them nobody waits.
        prepare: is called first, in each thread; jobs wait for it.
    """

    def __init__(
        self,
        work: Callable[[Sequence[Job[Item, Result]]], Sequence[Result | Exception]],
        size: int = 1,
        threads: int = 1,
        patience: float = 0.0,
        more_to_come: Callable[[], bool] = lambda: True,
        prepare: Callable[[], object] = lambda: None,
    ) -> None:
        self._work, self._size, self._patience = work, size, patience
        self._more_to_come, self._prepare = more_to_come, prepare
        self._waiting: deque[Job[Item, Result]] = deque()
        self._changed = threading.Condition()
        self._is_open, self._working = True, 0
        self._threads = [threading.Thread(target=self._run, daemon=True) for _ in range(threads)]
        for thread in self._threads:
            thread.start()

    @property
    def is_busy(self) -> bool:
        """Whether a job waits or is being done."""
        return bool(self._waiting or self._working)

    async def do(self, item: Item, key: Any = None) -> Result:
        """The result for an item; a job whose coroutine is cancelled is dropped."""
        job: Job[Item, Result] = Job(item, key)
        with self._changed:
            self._waiting.append(job)
            self._changed.notify()
        try:
            return await job.future
        except asyncio.CancelledError:
            with self._changed:
                if job in self._waiting:
                    self._waiting.remove(job)
            raise

    def close(self, seconds: float) -> bool:
        """Start no more jobs; returns whether those in progress ended within some seconds."""
        with self._changed:
            self._is_open = False
            self._changed.notify_all()
        end = time.monotonic() + seconds
        for thread in self._threads:
            thread.join(max(0.0, end - time.monotonic()))
        return not any(thread.is_alive() for thread in self._threads)

    def _run(self) -> None:
        with suppress(Exception):  # the jobs that need it will say what is wrong
            self._prepare()
        while jobs := self._next():
            results = self._results(jobs)
            with self._changed:
                self._working -= len(jobs)
            with suppress(RuntimeError):  # the loop is closed, so nobody waits
                jobs[0].loop.call_soon_threadsafe(_finish, jobs, results)
            del jobs, results

    def _next(self) -> list[Job[Item, Result]]:
        """Jobs to do together; none when the queue is closed."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or not self._is_open)
            while self._is_open and len(self._waiting) < self._size and self._more_to_come():
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
            self._working += len(jobs)
            return jobs

    def _results(self, jobs: Sequence[Job[Item, Result]]) -> Sequence[Result | Exception]:
        try:
            return self._work(jobs)
        except Exception as error:  # of one of them, perhaps: it must not hurt the others
            if len(jobs) == 1:
                return [error]
            return [result for job in jobs for result in self._results([job])]


def _finish(jobs: Sequence[Job[Any, Any]], results: Sequence[Any]) -> None:
    for job, result in zip(jobs, results, strict=True):
        job.finish(result)
