"""Threads that ask for the same at the same time have it opened once."""

import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from vit_str.engines.opened_once import OpenedOnce

THREADS = 32


def open_slowly(opened: list[object], key: object = None) -> object:
    opened.append(key)
    time.sleep(0.05)
    return object()


def of_all_threads(ask) -> list[object]:
    together = threading.Barrier(THREADS)

    def one(_: int) -> object:
        together.wait()
        return ask()

    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(one, range(THREADS)))


def test_the_readers_of_another_script_are_opened_once():
    opened: list[object] = []
    found = of_all_threads(OpenedOnce(lambda: open_slowly(opened)))
    assert len(opened) == 1
    assert len(set(found)) == 1


def test_the_last_ones_are_kept():
    opened: list[object] = []
    cache = OpenedOnce(lambda key: open_slowly(opened, key), size=2)
    for key in "abab":
        cache(key)
    assert opened == ["a", "b"]
    cache("c")
    cache("a")
    assert opened == ["a", "b", "c", "a"]


def test_what_could_not_be_opened_is_tried_again():
    tries = []

    def fail() -> None:
        tries.append(1)
        raise OSError("no such file")

    cache = OpenedOnce(fail)
    for _ in range(2):
        with pytest.raises(OSError, match="no such file"):
            cache()
    assert len(tries) == 2


@pytest.mark.skipif(not hasattr(os, "fork"), reason="a system without fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_process_does_not_wait_for_a_thread_that_it_has_not():
    begun, end = threading.Event(), threading.Event()

    def open_and_wait(key: str) -> str:
        if key == "slow":
            begun.set()
            end.wait(20)
        return key

    cache = OpenedOnce(open_and_wait, size=2)
    thread = threading.Thread(target=cache, args=("slow",))
    thread.start()
    assert begun.wait(20)
    child = os.fork()
    if not child:
        os._exit(0 if cache("fast") == "fast" else 1)
    deadline = time.monotonic() + 10
    while not (ended := os.waitpid(child, os.WNOHANG))[0]:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    end.set()
    thread.join()
    assert ended[1] == 0
