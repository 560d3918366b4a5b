import asyncio
import threading
from collections.abc import Sequence
from typing import Any

from vit_str.serving.batching_queue import BatchingQueue, Job


def run(queue: BatchingQueue, coroutine: Any) -> Any:
    try:
        return asyncio.run(coroutine)
    finally:
        assert queue.close(5)


def test_jobs_with_the_same_key_are_done_together_and_failures_alone() -> None:
    seen, go = [], threading.Event()

    def work(jobs: Sequence[Job[int, int]]) -> list[int]:
        assert go.wait(10)
        seen.append([job.item for job in jobs])
        return [10 // job.item for job in jobs]

    queue = BatchingQueue(work, size=3)

    async def ask() -> list[Any]:
        asking = [asyncio.ensure_future(queue.do(0, "first"))]
        await asyncio.sleep(0.05)
        asking += [asyncio.ensure_future(queue.do(n, n > 2)) for n in (1, 2, 3, 0, 5)]
        await asyncio.sleep(0.05)
        asking[2].cancel()
        await asyncio.sleep(0)
        go.set()
        return await asyncio.gather(*asking, return_exceptions=True)

    first, one, two, three, zero, five = run(queue, ask())
    assert isinstance(first, ZeroDivisionError)
    assert (one, three, five) == (10, 3, 2)
    assert isinstance(two, asyncio.CancelledError)
    assert isinstance(zero, ZeroDivisionError)
    assert [3, 5] in seen
    assert not any(2 in items for items in seen)


def test_jobs_wait_only_for_others_that_come() -> None:
    coming = True
    queue = BatchingQueue(lambda jobs: [len(jobs)] * len(jobs), 2, 1, 60.0, lambda: coming)

    async def ask() -> tuple[list[int], int]:
        nonlocal coming
        first = asyncio.ensure_future(queue.do(1))
        await asyncio.sleep(0.1)
        together = await asyncio.gather(first, queue.do(2))
        coming = False
        return together, await asyncio.wait_for(queue.do(3), 30)

    assert run(queue, ask()) == ([2, 2], 1)
