"""Threads in which clients take turns, so that one does not make all others wait."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from threading import Event
from typing import TypeVar
from weakref import WeakValueDictionary

from vit_str.serving.limits import Refusal

Result = TypeVar("Result")

_WEIGHT_OF_LAST = 0.3  # of the last job in the mean time of all


class FairThreadPool:
    """Some threads for work of one kind.

    Args:
        threads: how many.
        each: how many of them a client may have at the same time. What it asks for beyond that
            waits before it stands in the line of all, so others come first.
        patience: seconds that a job may wait before it begins; None for as long as somebody waits
            for it.
    """

    def __init__(
        self, threads: int, each: int = 1, patience: float | None = None
    ) -> None:
        self._pool = ThreadPoolExecutor(threads)
        self._each = each
        self._patience = patience
        self._turns: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()
        self._began: dict[object, float] = {}
        self._queued: set[object] = set()  # jobs that wait for a thread

    async def do(
        self,
        client: str,
        function: Callable[..., Result],
        *arguments: object,
    ) -> Result:
        """The result of a function; its arguments are let go as soon as nobody waits for it.

        Raises:
            Refusal: it could not begin in time.
        """
        if self._patience is None:
            return await self._done(client, lambda: None, function, *arguments)
        loop = asyncio.get_running_loop()
        clock = asyncio.timeout(self._patience)

        def stop_clock() -> None:
            with suppress(RuntimeError):  # nobody waits any more, or the server stops
                loop.call_soon_threadsafe(_stop, clock)

        try:
            async with clock:
                return await self._done(client, stop_clock, function, *arguments)
        except TimeoutError:
            if not clock.expired():  # one of the function
                raise
            reason = f"others come first, and this did not begin in {self._patience:g} seconds"
            raise Refusal(
                503,
                f"{reason}; send it again later",
                retry_after=round(self._patience) or 1,
            ) from None

    async def _done(
        self,
        client: str,
        on_begin: Callable[[], object],
        function: Callable[..., Result],
        *arguments: object,
    ) -> Result:
        """The result of a function; ``on_begin`` is called in its thread when it begins."""
        waiting = [arguments]
        job = object()

        def work() -> Result:
            on_begin()
            self._queued.discard(job)
            self._began[job] = time.monotonic()
            try:
                return function(*waiting.pop())
            finally:
                del self._began[job]

        turn = self._turns.setdefault(client, asyncio.Semaphore(self._each))
        async with turn:
            self._queued.add(job)
            try:
                return await asyncio.get_running_loop().run_in_executor(
                    self._pool, work
                )
            finally:
                waiting.clear()
                self._queued.discard(job)

    def prepare(self, function: Callable[[], object]) -> None:
        """Do something before all else."""
        self._pool.submit(function)

    def busy_for(self) -> float:
        """Seconds that the longest job in progress has taken; 0 if there is none."""
        began = min(list(self._began.values()), default=None)
        return 0.0 if began is None else time.monotonic() - began

    def others_wait(self) -> bool:
        """Whether clients wait for a thread whose jobs are not among those in progress.

        That is, where a client has one thread at a time.
        """
        return bool(self._queued)

    def jobs(self) -> int:
        """How many are in progress or wait for a thread."""
        return len(self._began) + len(self._queued)

    def close(self) -> None:
        """Begin nothing more, and wait for what is in progress."""
        self._pool.shutdown(cancel_futures=True)


class MeanTime:
    """How long jobs of one kind take, in the mean; late ones count more."""

    def __init__(self) -> None:
        self.seconds = 0.0

    @contextmanager
    def measured(self) -> Iterator[None]:
        """The block is such a job."""
        began = time.monotonic()
        yield
        taken = time.monotonic() - began
        weight = _WEIGHT_OF_LAST if self.seconds else 1.0
        self.seconds += weight * (taken - self.seconds)


def _stop(clock: asyncio.Timeout) -> None:
    """Let what a clock watches take as long as it does."""
    with suppress(RuntimeError):  # it has ended
        clock.reschedule(None)


@contextmanager
def set_at_end() -> Iterator[Event]:
    """An event that tells work in a thread that nobody waits for it any more."""
    over = Event()
    try:
        yield over
    finally:
        over.set()
