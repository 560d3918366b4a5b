import asyncio

from vit_str.serving.batching_queue import BatchingQueue


def test_jobs_wait_only_for_others_that_come():
    coming = True
    queue = BatchingQueue(
        lambda items, key: [len(items)] * len(items), 2, 60.0, lambda: coming
    )

    async def ask():
        nonlocal coming
        first = asyncio.ensure_future(queue.do(1))
        await asyncio.sleep(0.1)
        together = await asyncio.gather(first, queue.do(2))
        coming = False
        return together, await asyncio.wait_for(queue.do(3), 30)

    assert asyncio.run(ask()) == ([2, 2], 1)
    queue.close()
