"""Programs that take too long, too much, or are no longer wanted."""

import errno
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from PIL import Image

from vit_str.images import image_decoding, limited_process
from vit_str.images.image_decoding import decode, decode_apart, decode_batches
from vit_str.images.limited_process import ProcessEnded, ProcessLimits, answers
from vit_str.images.preprocessing import Preprocessing
from vit_str.images.refusals import UnreadableImage
from vit_str.pages.pictures import pictures_in

BEGIN = """
import os, time
from vit_str.images.limited_process import answer, limit_time, receive
wanted, data = receive()
limit_time(wanted)
"""
Program = Callable[[str], Path]
posix = pytest.mark.skipif(os.name != "posix", reason="limits of the system")


@pytest.fixture
def program(tmp_path) -> Program:
    def write(work: str) -> Path:
        path = tmp_path / "program.py"
        path.write_text(BEGIN + work)
        return path

    return write


def reason(path: Path, limits: ProcessLimits, **options: Any) -> str:
    with pytest.raises(ProcessEnded) as found:
        list(answers(path, {}, limits=limits, **options))
    return found.value.reason("draw")


def test_answers_come_with_their_data(program):
    path = program("for n in (1, 2): answer({'word': wanted['word']}, n * data)\n")
    found = list(answers(path, {"word": "\udcff"}, b"\n12"))
    assert [(header["word"], data) for header, data in found] == [
        ("\udcff", b"\n12"),
        ("\udcff", b"\n12\n12"),
    ]


@posix
def test_time_of_the_processor_ends(program):
    assert (
        reason(program("while True: pass"), ProcessLimits(1))
        == "takes over 1 seconds to draw"
    )


def test_time_on_the_clock_ends_but_not_while_answers_are_used(program):
    path = program("answer({'n': 1})\nanswer({'n': 2})\ntime.sleep(60)")
    pages = answers(path, {}, limits=ProcessLimits(1, patience=3))
    assert next(pages).header["n"] == 1
    time.sleep(4)
    assert next(pages).header["n"] == 2
    began = time.monotonic()
    with pytest.raises(ProcessEnded) as found:
        next(pages)
    assert 2 < time.monotonic() - began < 30
    assert found.value.reason("draw") == "takes over 1 seconds to draw"


def test_the_time_for_which_the_program_that_asks_was_stopped_does_not_count(
    program, monkeypatch
):
    """As with Ctrl-Z, after which both go on."""
    jumps = iter([0.0, 0.0])
    clock = SimpleNamespace(monotonic=lambda: time.monotonic() + next(jumps, 1000.0))
    monkeypatch.setattr(limited_process, "time", clock)
    path = program("time.sleep(1)\nanswer({'n': 1})")
    assert [answer.header["n"] for answer in answers(path, {})] == [1]


@posix
def test_memory_ends(program):
    limits = ProcessLimits(memory=1 << 30)
    expected = "takes over 1 GB of memory to draw, or breaks the program that draws it"
    assert reason(program("bytearray(1 << 31)"), limits) == expected
    assert reason(program("os.abort()"), limits) == expected


def test_an_answer_that_is_cut_short_is_none(program):
    """A process that is killed amid a long header, such as the text of a page."""
    cut = """sys.stdout.write('{"lines": [1,'); sys.stdout.flush(); os._exit(1)"""
    assert "breaks the program" in reason(
        program(f"import sys\n{cut}"), ProcessLimits()
    )


def test_it_ends_when_nobody_waits(program):
    stop = threading.Event()
    threading.Timer(0.5, stop.set).start()
    began = time.monotonic()
    assert reason(program("time.sleep(60)"), ProcessLimits(), stop=stop)
    assert time.monotonic() - began < 30


@posix
def test_it_ends_when_the_process_that_asked_is_killed(program, tmp_path):
    note = tmp_path / "pid"
    work = f"open({str(note)!r}, 'w').write(str(os.getpid()) + '.')\ntime.sleep(60)\n"
    ask = (
        "import sys; from pathlib import Path; "
        "from vit_str.images.limited_process import answers; "
        "list(answers(Path(sys.argv[1]), {}))"
    )
    asking = subprocess.Popen([sys.executable, "-c", ask, str(program(work))])
    wait_for(lambda: note.exists() and note.read_text().endswith("."))
    asking.kill()
    asking.wait()
    number = int(note.read_text()[:-1])
    wait_for(lambda: not is_running(number))


def is_running(number: int) -> bool:
    state = subprocess.run(
        ["ps", "-o", "stat=", "-p", str(number)], capture_output=True, text=True
    )
    return bool(state.stdout.strip()) and not state.stdout.startswith("Z")


def wait_for(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.fixture
def photograph(tmp_path) -> Path:
    """Larger than what is decoded here."""
    values = np.random.default_rng(0).integers(0, 256, (120, 200, 3), dtype=np.uint8)
    path = tmp_path / "large.png"
    Image.fromarray(values).resize((2000, 1200)).save(path)
    return path


def test_large_pictures_are_decoded_the_same_apart(photograph):
    here = decode(photograph, Preprocessing())
    for source in (photograph, str(photograph), photograph.read_bytes()):
        apart = decode_apart(source, Preprocessing())
        assert (apart.size, apart.window) == (here.size, here.window)
        np.testing.assert_array_equal(apart.pixels, here.pixels)


def test_only_large_files_are_decoded_apart(photograph, tmp_path, monkeypatch):
    apart = []

    def note(source, *arguments):
        apart.append(source)
        return decode_apart(source, *arguments)

    monkeypatch.setattr(image_decoding, "decode_apart", note)
    small = tmp_path / "small.png"
    Image.new("RGB", (200, 50)).save(small)
    data = photograph.read_bytes()
    with photograph.open("rb") as file:
        sources = [
            small,
            photograph,
            data,
            file,
            Image.open(photograph),
            tmp_path / "none.png",
        ]
        (batch,) = decode_batches(sources, Preprocessing(), 8, 2)
    assert sorted(map(str, apart)) == sorted(map(str, [photograph, data, data]))
    assert isinstance(batch[-1][1], UnreadableImage)
    assert all(
        isinstance(found, image_decoding.DecodedImage) for _, found in batch[:-1]
    )


def test_what_is_decoded_apart_is_refused_by_its_own_name(photograph):
    path = photograph.with_name("cut.png")
    path.write_bytes(photograph.read_bytes()[:3000])
    ((_, found),) = next(decode_batches([path], Preprocessing(), 1, 1))
    assert str(found).startswith(f"{path}: damaged or cut short")
    with pytest.raises(
        UnreadableImage, match=r"large\.png: takes over 1 seconds to decode; save"
    ):
        decode_apart(photograph, Preprocessing(), ProcessLimits(1, patience=0.01))


def test_a_process_that_cannot_be_started_is_told_of_its_file(tmp_path, monkeypatch):
    """And the files that need none are read."""

    def full(*_, **__):
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr(limited_process, "Popen", full)
    large = tmp_path / "large.png"
    Image.new("RGB", (2000, 1200)).save(large)
    small = tmp_path / "small.png"
    Image.new("RGB", (200, 120)).save(small)
    expected = "large.png: needs a process to decode it, which cannot be started "
    with pytest.raises(UnreadableImage, match=expected) as found:
        decode_apart(large, Preprocessing(32, 128))
    assert "(Too many open files); raise the limits" in str(found.value)
    (error,) = pictures_in(str(large))
    assert isinstance(error, UnreadableImage)
    assert "needs a process to decode it, which cannot be started" in error.reason
    (page,) = pictures_in(str(small))
    assert isinstance(page, Image.Image)
