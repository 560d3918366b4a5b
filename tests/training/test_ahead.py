"""Batches that a thread makes ahead of time: the same ones, and a thread that ends."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import torch

from vit_str.synthesis.renderer import RenderedBatch
from vit_str.training import data
from vit_str.training.ahead import in_thread, made_ahead
from vit_str.training.module import RecognizerTraining
from vit_str.training.process import keep_compiled, prepare_process

pytestmark = pytest.mark.filterwarnings("default")

CPU = torch.device("cpu")
GPU = torch.device("cuda", 0)
# A process that ends while the thread still makes items, and nobody has closed anything.
ENDS_WITHOUT_CLOSING = """
import itertools, time
from vit_str.training.ahead import in_thread

def items():
    for number in itertools.count():
        time.sleep(0.05)
        yield number

made = in_thread(items())
print(next(made), next(made))
"""


def threads() -> list[str]:
    """Names of the threads that make something."""
    names = [thread.name for thread in threading.enumerate()]
    return [name for name in names if name.startswith("ahead")]


def wait_until(is_so: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.01)


class FakeError(Exception):
    """What the tests raise."""


class Numbers:
    """Counts up and notes what was made, and in which threads."""

    def __init__(self, stop: int = 1000, error: BaseException | None = None) -> None:
        self.made: list[int] = []
        self.threads: set[str] = set()
        self.stop = stop
        self.error = error

    def __iter__(self) -> Iterator[int]:
        for number in range(self.stop):
            self.threads.add(threading.current_thread().name)
            self.made.append(number)
            yield number
        if self.error:
            raise self.error


def test_a_thread_makes_the_same_items_and_ends_after_the_last():
    numbers = Numbers(20)
    assert list(in_thread(iter(numbers))) == list(range(20))
    assert all(name.startswith("ahead") for name in numbers.threads)
    assert not threads()


def test_the_next_three_are_made_meanwhile_and_no_more():
    numbers = Numbers()
    made = in_thread(iter(numbers))
    assert not numbers.made, "nothing begins before something is asked for"
    for taken in range(4):
        assert next(made) == taken
        wait_until(lambda taken=taken: len(numbers.made) == taken + 4)
    time.sleep(0.1)
    assert len(numbers.made) == 7
    made.close()


def test_what_is_raised_in_the_thread_is_raised_here_after_what_came_before():
    error = FakeError("as it is")
    made = in_thread(iter(Numbers(5, error)))
    assert [next(made) for _ in range(5)] == [0, 1, 2, 3, 4]
    with pytest.raises(FakeError) as raised:
        next(made)
    assert raised.value is error
    assert not threads()


@pytest.mark.parametrize("how", ["closed", "dropped"])
def test_the_thread_ends_with_the_iterator(how):
    made = in_thread(iter(Numbers()))
    next(made)
    assert len(threads()) == 1
    if how == "closed":
        made.close()
    del made
    assert not threads()


def test_what_is_being_made_is_finished_before_the_iterator_is_closed():
    begun = threading.Event()
    finished = []

    def slow() -> Iterator[int]:
        yield 0
        begun.set()
        time.sleep(0.2)
        finished.append(1)
        yield 1
        raise AssertionError("nobody asked for more")

    made = in_thread(slow(), ahead=2)
    next(made)
    begun.wait(60)
    made.close()
    assert finished == [1] and not threads()


def test_a_process_ends_though_nothing_was_closed():
    done = subprocess.run(
        [sys.executable, "-c", ENDS_WITHOUT_CLOSING],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "0 1\n", "")


def test_on_a_cpu_batches_are_made_when_they_are_asked_for():
    batches: Any = iter(Numbers())
    assert made_ahead(batches, CPU) is batches


class FakeCuda:
    """Streams of a GPU that note in which order they are used; each thread has a current one."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.log: list[Any] = []
        self.local = threading.local()
        monkeypatch.setattr(torch.cuda, "Stream", lambda _: FakeStream(self, "own"))
        monkeypatch.setattr(torch.cuda, "current_stream", lambda _: self.current)
        monkeypatch.setattr(torch.cuda, "stream", self.stream)

        def record_stream(tensor: torch.Tensor, stream: FakeStream) -> None:
            self.log.append((stream.name, "keeps", tensor.item()))

        monkeypatch.setattr(torch.Tensor, "record_stream", record_stream)

    @property
    def current(self) -> "FakeStream":
        stream: FakeStream = getattr(self.local, "stream", FakeStream(self, "training"))
        return stream

    @contextmanager
    def stream(self, stream: "FakeStream") -> Iterator[None]:
        before = self.current
        self.local.stream = stream
        yield
        self.local.stream = before


class FakeStream:
    def __init__(self, cuda: FakeCuda, name: str) -> None:
        self.cuda = cuda
        self.name = name
        self.events = 0

    def wait_stream(self, other: "FakeStream") -> None:
        self.cuda.log.append((self.name, "waits for", other.name))

    def record_event(self) -> str:
        self.events += 1
        return f"event {self.events}"

    def wait_event(self, event: str) -> None:
        self.cuda.log.append((self.name, "waits for", event))


def test_on_a_gpu_batches_are_drawn_on_a_stream_that_the_training_waits_for(
    monkeypatch,
):
    cuda = FakeCuda(monkeypatch)
    drawn_on = []

    def batches() -> Iterator[RenderedBatch]:
        for number in range(2):
            drawn_on.append((cuda.current.name, threads() != []))
            values = torch.full((1, 1), number)
            yield RenderedBatch(values, values + 10, values + 20, values + 30)

    received = []
    for batch in made_ahead(batches(), GPU):
        received.append(batch.images.item())
        cuda.log.append("trained")
    assert received == [0, 1]
    assert drawn_on == [("own", True)] * 2
    assert cuda.log == [
        ("own", "waits for", "training"),
        ("training", "waits for", "event 1"),
        *[("training", "keeps", number) for number in (0, 10, 20, 30)],
        "trained",
        ("training", "waits for", "event 2"),
        *[("training", "keeps", number) for number in (1, 11, 21, 31)],
        "trained",
    ]
    assert not threads()


def test_with_a_gpu_threads_take_turns_more_often(monkeypatch, tmp_path):
    intervals: list[float] = []
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch, "set_float32_matmul_precision", lambda _: None)
    monkeypatch.setattr(sys, "setswitchinterval", intervals.append)
    prepare_process()
    assert len(intervals) == 1 and intervals[0] < sys.getswitchinterval()


def test_what_is_compiled_is_kept_with_what_is_drawn(monkeypatch, tmp_path):
    name = "TORCHINDUCTOR_CACHE_DIR"
    monkeypatch.setenv("VIT_STR_CACHE", str(tmp_path))
    monkeypatch.setenv(name, "elsewhere")
    keep_compiled()
    assert os.environ[name] == "elsewhere"
    monkeypatch.delenv(name)
    keep_compiled()
    assert os.environ[name] == str(tmp_path / "compiled")
    assert (tmp_path / "compiled").is_dir()
    monkeypatch.delenv(name)
    blocked = tmp_path / "file"
    blocked.touch()
    monkeypatch.setenv("VIT_STR_CACHE", str(blocked))
    keep_compiled()
    assert name not in os.environ


@pytest.fixture
def as_on_a_gpu(monkeypatch) -> None:
    """Words of a training are drawn in a thread."""
    monkeypatch.setattr(
        data, "made_ahead", lambda batches, _, ahead: in_thread(batches, ahead)
    )


def test_a_run_that_is_cut_is_the_same_with_words_drawn_ahead(
    uncut, run, as_on_a_gpu, monkeypatch
):
    """Its place in the stream is that of what was trained on, not of what was drawn."""
    step = RecognizerTraining.training_step

    def cut_at_the_fourth(self: RecognizerTraining, *batch: Any) -> torch.Tensor:
        if self.trainer.fit_loop.total_batch_idx == 3 and not self.resumed_at:
            signal.raise_signal(signal.SIGINT)
        return step(self, *batch)

    monkeypatch.setattr(RecognizerTraining, "training_step", cut_at_the_fourth)
    folder = run("ahead", code=130)
    found = torch.load(folder / "last.ckpt", weights_only=True)
    assert found["RenderedWords"] == {"images": 16, "batches": 4}
    run("ahead")
    found = torch.load(folder / "last.ckpt", weights_only=True)
    expected = torch.load(uncut / "last.ckpt", weights_only=True)
    assert found["RenderedWords"] == expected["RenderedWords"]
    assert found["state_dict"].keys() == expected["state_dict"].keys()
    for name, value in expected["state_dict"].items():
        assert torch.equal(found["state_dict"][name], value), name
    assert not threads()


def test_a_run_that_is_cut_is_the_same_with_words_drawn_together(
    run, as_on_a_gpu, monkeypatch
):
    """Of groups of four batches, cut within the second."""
    monkeypatch.setattr(data, "drawn_together", lambda *_: 4)
    whole = torch.load(run("whole") / "last.ckpt", weights_only=True)
    step = RecognizerTraining.training_step

    def cut_at_the_fifth(self: RecognizerTraining, *batch: Any) -> torch.Tensor:
        if self.trainer.fit_loop.total_batch_idx == 4 and not self.resumed_at:
            signal.raise_signal(signal.SIGINT)
        return step(self, *batch)

    monkeypatch.setattr(RecognizerTraining, "training_step", cut_at_the_fifth)
    run("together", code=130)
    found = torch.load(run("together") / "last.ckpt", weights_only=True)
    for name, value in whole["state_dict"].items():
        assert torch.equal(found["state_dict"][name], value), name


@pytest.mark.parametrize("error", [FakeError, KeyboardInterrupt])
def test_the_thread_ends_with_a_run_that_fails(error, run, as_on_a_gpu, monkeypatch):
    def fail(self: RecognizerTraining, *_: Any) -> None:
        assert threads()
        raise error

    monkeypatch.setattr(RecognizerTraining, "training_step", fail)
    with pytest.raises((FakeError, SystemExit)):
        run("fails")
    assert not threads()


def test_what_cannot_be_drawn_ends_a_run_as_without_a_thread(
    run, as_on_a_gpu, monkeypatch
):
    def fail(*_: Any) -> None:
        raise FakeError("no ink")

    monkeypatch.setattr(data.Renderer, "batch", fail)
    monkeypatch.setattr(data.RenderedWords, "val_dataloader", lambda _: [])
    with pytest.raises(FakeError, match="no ink"):
        run("broken")
    assert not threads()
