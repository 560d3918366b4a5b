"""Work that a file may make endless, in a process of its own with limits of time and memory.

Pictures are decoded and pages drawn by libraries in C. A file that was made to do harm takes them
hours or gigabytes, or takes them down; then that process ends, and nothing else.

The process that wants something asks with `answers`. The program it names begins with `receive`,
calls `limit_time` before each piece of work, and writes its results with `answer`.
"""

import json
import os
import signal
import sys
import threading
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from subprocess import DEVNULL, PIPE, Popen
from typing import Any, NamedTuple

_INTERVAL = 0.1  # seconds between looks at the clock and at whether anybody waits
# Of the seconds between two looks, at most, that count: a process that was stopped, as with
# Ctrl-Z, comes back much later
_MOST_BETWEEN = 1.0
# Each reserves memory
_ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


@dataclass(frozen=True, slots=True)
class ProcessLimits:
    """Limits of the process; on Windows only the time on the clock is limited."""

    seconds: int = 20  # of the processor, for a picture or page
    # How often the same time may go by on the clock, on a busy machine
    patience: float = 5
    memory: int = 2 << 30  # bytes


DEFAULT_LIMITS = ProcessLimits()


class Answer(NamedTuple):
    """A result of the program."""

    header: dict[str, Any]
    data: bytes


class ProcessEnded(Exception):  # noqa: N818 - it says what happened
    """The process came to one of its limits, or broke."""

    def __init__(self, limits: ProcessLimits, out_of_time: bool) -> None:
        super().__init__(limits, out_of_time)
        self._limits = limits
        self._out_of_time = out_of_time

    def reason(self, verb: str) -> str:
        """Why the process ended, as told of its file: too slow to ``draw``, for example."""
        if self._out_of_time:
            return f"takes over {self._limits.seconds} seconds to {verb}"
        gigabytes = self._limits.memory >> 30
        breaks = f"breaks the program that {verb}s it"
        return f"takes over {gigabytes} GB of memory to {verb}, or {breaks}"


class ProcessNotStarted(ProcessEnded):
    """The process could not be started: too many files or processes, or no memory."""

    def __init__(self, error: OSError) -> None:
        super().__init__(DEFAULT_LIMITS, False)
        self._error = error

    def reason(self, verb: str) -> str:
        """Why no process could be started, as told of a file to ``draw``, for example."""
        why = self._error.strerror or str(self._error)
        return f"needs a process to {verb} it, which cannot be started ({why})"


def answers(
    program: Path,
    wanted: dict[str, Any],
    data: bytes = b"",
    limits: ProcessLimits = DEFAULT_LIMITS,
    stop: threading.Event | None = None,
) -> Generator[Answer, None, None]:
    """The answers of a program.

    Args:
        program: a file of Python.
        wanted: for it, as JSON; not on the command line, which all users of a machine see.
        data: for it, such as the bytes of a file.
        limits: of the process.
        stop: ends the process as soon as it is set: nobody waits for the answers any more.

    Raises:
        ProcessEnded: before all was answered, or because it could not be started.
    """
    request = {
        **wanted,
        "seconds": limits.seconds,
        "memory": limits.memory,
        "bytes": len(data),
    }
    path = {"PYTHONPATH": os.pathsep.join(sys.path)}
    try:
        started = Popen(  # noqa: S603 - our own program
            [sys.executable, "-P", str(program)],
            stdin=PIPE,
            stdout=PIPE,
            stderr=DEVNULL,
            env={**os.environ, **_ONE_THREAD, **path},
        )
    except OSError as error:
        raise ProcessNotStarted(error) from error
    with started as process:
        watch = _Watch(process, limits.patience * limits.seconds, stop)
        try:
            with watch.clock():
                _ask(process, request, data)
            while True:
                with watch.clock():
                    found = _next_answer(process)
                if found is None:
                    break
                yield found
            if process.wait():
                timed_out = watch.timed_out or process.returncode == _out_of_time()
                raise ProcessEnded(limits, timed_out)
        finally:
            watch.end()
            process.kill()


def _ask(process: Popen[bytes], request: dict[str, Any], data: bytes) -> None:
    """Say what is wanted; the pipe stays open, so that the process ends when this one does."""
    assert process.stdin
    try:
        process.stdin.write(json.dumps(request).encode() + b"\n")
        process.stdin.write(data)
        process.stdin.flush()
    except BrokenPipeError:  # it has ended, and the return code says why
        with suppress(BrokenPipeError):
            process.stdin.close()


def _next_answer(process: Popen[bytes]) -> Answer | None:
    """None when the program has ended, also amid an answer."""
    assert process.stdout
    line = process.stdout.readline()
    if not line.endswith(b"\n"):
        return None
    header = json.loads(line)
    data = process.stdout.read(header["bytes"])
    return Answer(header, data) if len(data) == header["bytes"] else None


def _out_of_time() -> int | None:
    """The return code of a process that has used up its time of the processor."""
    return -signal.SIGXCPU if hasattr(signal, "SIGXCPU") else None


class _Watch:
    """Kills a process that takes too long while somebody waits, or for which nobody does."""

    def __init__(
        self,
        process: Popen[bytes],
        seconds: float,
        stop: threading.Event | None,
    ) -> None:
        self.timed_out = False
        self._process = process
        self._seconds = seconds
        self._stop = stop
        self._is_counting = False  # not while the answer is used
        self._waited = 0.0  # seconds on the clock
        self._is_over = threading.Event()
        threading.Thread(target=self._run, daemon=True).start()

    @contextmanager
    def clock(self) -> Iterator[None]:
        """While the block runs, time counts."""
        self._waited = 0.0
        self._is_counting = True
        try:
            yield
        finally:
            self._is_counting = False

    def end(self) -> None:
        """Watch no more."""
        self._is_over.set()

    def _run(self) -> None:
        before = time.monotonic()
        while not self._is_over.wait(_INTERVAL):
            now = time.monotonic()
            self._waited += min(now - before, _MOST_BETWEEN)
            before = now
            self.timed_out = self._is_counting and self._waited > self._seconds
            if self.timed_out or (self._stop is not None and self._stop.is_set()):
                self._process.kill()
                return


def receive(niceness: int = 0) -> tuple[dict[str, Any], bytes]:
    """Get what is wanted, and the data, in the program; from here on its memory is limited.

    It steps back behind others by some ``niceness``, where the system has that, and ends when the
    process that asked does.
    """
    wanted = json.loads(sys.stdin.buffer.readline())
    data = sys.stdin.buffer.read(wanted["bytes"])
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _limit("RLIMIT_AS", wanted["memory"])
    if hasattr(os, "nice"):
        os.nice(niceness)
    return wanted, data


def _end_with_parent() -> None:
    os.read(sys.stdin.fileno(), 1)  # nothing comes, until the other end is closed
    os._exit(1)


def limit_time(wanted: dict[str, Any]) -> None:
    """Allow what comes next in the program the CPU seconds that are wanted."""
    _limit("RLIMIT_CPU", int(time.process_time()) + wanted["seconds"] + 1)


def answer(header: dict[str, Any], data: bytes = b"") -> None:
    """Hand out a result, in the program."""
    line = json.dumps({**header, "bytes": len(data)}).encode()
    sys.stdout.buffer.write(line + b"\n")
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def _limit(name: str, value: int) -> None:
    """Lower a limit of this process, where the system has it."""
    with suppress(ImportError, AttributeError, ValueError, OSError):
        import resource

        hard = resource.getrlimit(getattr(resource, name))[1]
        resource.setrlimit(getattr(resource, name), (value, hard))
