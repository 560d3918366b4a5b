import asyncio
import threading
import time

import pytest

from vit_str.serving.limits import Refusal, site_of
from vit_str.serving.thread_pools import FairThreadPool, MeanTime, set_at_end


def test_clients_take_turns_and_have_their_share():
    pool, order, at_once = FairThreadPool(3, each=2), [], []
    running = {"a": 0, "b": 0}

    def work(client, number):
        running[client] += 1
        at_once.append(dict(running))
        order.append((client, number))
        time.sleep(0.05)
        running[client] -= 1

    async def ask():
        clients = [("a", n) for n in range(10)] + [("b", n) for n in range(2)]
        await asyncio.gather(
            *(pool.do(client, work, client, n) for client, n in clients)
        )

    asyncio.run(ask())
    assert max(each["a"] for each in at_once) == 2
    assert order.index(("b", 0)) < 4
    assert len(order) == 12
    pool.close()


def test_it_knows_for_how_long_it_has_been_busy():
    pool, go = FairThreadPool(1), threading.Event()
    assert pool.busy_for() == 0

    async def ask():
        job = asyncio.ensure_future(pool.do("a", go.wait, 20))
        await asyncio.sleep(0.3)
        assert 0.2 < pool.busy_for() < 10
        job.cancel()
        with pytest.raises(asyncio.CancelledError):
            await job
        assert pool.busy_for() > 0.2  # nobody waits, and it is still at work
        go.set()

    asyncio.run(ask())
    pool.close()
    assert pool.busy_for() == 0


def test_work_is_told_that_nobody_waits():
    pool, told = FairThreadPool(1), threading.Event()

    def work(over):
        assert over.wait(20)
        told.set()

    async def ask():
        with set_at_end() as over:
            await asyncio.wait_for(pool.do("a", work, over), 0.2)

    with pytest.raises(TimeoutError):
        asyncio.run(ask())
    assert told.wait(10)
    pool.close()


def test_it_knows_whether_others_wait():
    pool, go = FairThreadPool(1), threading.Event()

    async def ask():
        first = asyncio.ensure_future(pool.do("a", go.wait, 20))
        own = asyncio.ensure_future(pool.do("a", go.wait, 20))
        await asyncio.sleep(0.2)
        assert not pool.others_wait()
        other = asyncio.ensure_future(pool.do("b", go.wait, 20))
        await asyncio.sleep(0.2)
        assert pool.others_wait()
        other.cancel()
        await asyncio.sleep(0.2)
        assert not pool.others_wait()
        go.set()
        await asyncio.gather(first, own)

    asyncio.run(ask())
    pool.close()


def test_what_does_not_begin_in_time_is_refused():
    pool, begun, go = FairThreadPool(1), threading.Event(), threading.Event()

    def work():
        begun.set()
        return go.wait(20)

    async def ask():
        first = asyncio.ensure_future(pool.do("a", work))
        assert await asyncio.to_thread(begun.wait, 20)
        pool._patience = 0.3
        for client in ("a", "b"):  # behind its own, and in the line of all
            with pytest.raises(Refusal, match="did not begin in") as refused:
                await pool.do(client, work)
            assert (refused.value.status, refused.value.retry_after) == (503, 1)
        assert not pool.others_wait()
        assert not first.done()  # which had begun
        go.set()
        assert await first
        pool._patience = 20
        assert await pool.do("b", work)

    asyncio.run(ask())
    pool.close()


def test_a_timeout_of_the_work_is_its_own():
    pool = FairThreadPool(1, patience=20)

    def work():
        raise TimeoutError("the disk")

    async def ask():
        with pytest.raises(TimeoutError, match="the disk"):
            await pool.do("a", work)

    asyncio.run(ask())
    pool.close()


@pytest.mark.parametrize(
    ("address", "site"),
    [
        ("10.0.0.1", "10.0.0.1"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("::ffff:10.0.0.1", "::ffff:10.0.0.1"),
        ("::1", "::/64"),
        ("", ""),
        ("no address", "no address"),
    ],
)
def test_clients_are_told_apart_by_address_or_network(address, site):
    assert site_of(address) == site


def test_the_mean_time_follows_the_last_jobs():
    mean = MeanTime()
    assert mean.seconds == 0
    with mean.measured():
        time.sleep(0.1)
    first = mean.seconds
    assert 0.09 < first < 0.3
    with mean.measured():
        pass
    assert 0.5 * first < mean.seconds < first
    with pytest.raises(KeyError), mean.measured():
        raise KeyError
    assert mean.seconds > 0.5 * first
