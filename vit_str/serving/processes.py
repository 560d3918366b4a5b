"""``vit-str serve``: one process, or several with one that looks after them."""

from __future__ import annotations

import os
import signal
import socket
import tempfile
import threading
import time
from collections.abc import Callable
from multiprocessing import connection, get_context
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from types import FrameType

from vit_str import console
from vit_str.runtime.machine import cpu_count
from vit_str.serving.metrics import FOLDER
from vit_str.serving.server import SIGNALS, Settings, serve_alone

_STOPPING = 9.5  # seconds after which processes that have not stopped are killed
_FAILED = 1
_LOCAL = {"localhost", "::1"}


def serve(settings: Settings, host: str, port: int, workers: int) -> int:
    """Serve until a signal comes; returns the exit code.

    Raises:
        ValueError: a host or port that cannot be listened on, or a model that cannot be used.
    """
    for number in SIGNALS:  # before there is anything to finish
        signal.signal(number, _leave)
    with _bound(host, port) as listener:
        number = listener.getsockname()[1]
        url = f"http://{f'[{host}]' if ':' in host else host}:{number}"

        def announce() -> None:
            if settings.key is None and not host.startswith("127.") and host not in _LOCAL:
                console.warn("others can reach this without a key: set VIT_STR_KEY", "serve")
            console.write(f"reading with {settings.model} at {url} (requests: {url}/docs)")

        if workers == 1:
            return serve_alone(settings, listener, announce)
        return _Workers(settings, listener).run(workers, announce)


def _leave(number: int, frame: FrameType | None) -> None:
    """End at once: an exception raised while a library is being imported would become another."""
    os._exit(130 if number == signal.SIGINT else 0)


def _bound(host: str, port: int) -> socket.socket:
    """A socket that does not listen yet: nobody comes before the model is warm.

    Raises:
        ValueError: the address is wrong or taken.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ValueError(f"--host {host}: no address of this machine ({reason})") from None
    listener = socket.socket(family, kind, protocol)
    try:
        if os.name == "posix":
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
    except OSError as error:
        listener.close()
        raise ValueError(
            f"cannot listen on {host}, port {port} ({error.strerror}); give another --host or "
            "--port, or stop what listens there"
        ) from None
    return listener


class _Workers:
    """Looks after processes that serve on one socket.

    Args:
        settings: for each.
        listener: their socket.
    """

    def __init__(self, settings: Settings, listener: socket.socket) -> None:
        self._settings, self._listener = settings, listener
        self._context = get_context("spawn")
        self._processes: dict[BaseProcess, Connection] = {}
        self._stop_signal = 0

    def run(self, count: int, announce: Callable[[], None]) -> int:
        """Start processes and replace those that die; returns the exit code."""
        threads = max(1, cpu_count() // count)
        os.environ.setdefault("OMP_NUM_THREADS", str(threads))
        for number in SIGNALS:
            signal.signal(number, self._stop)
        with tempfile.TemporaryDirectory(prefix="vit-str-metrics-") as folder:
            os.environ[FOLDER] = folder
            try:
                first = self._start()
                started = self._serves(first)  # before the others: a mistake is told once
                if started:
                    others = [self._start() for _ in range(count - 1)]
                    started = all(map(self._serves, others))
                if started:
                    announce()
                failed = not started or not self._look_after()
            finally:
                self._end()
        if failed and not self._stop_signal:
            return _FAILED
        return 130 if self._stop_signal == signal.SIGINT else 0

    def _stop(self, number: int, frame: FrameType | None) -> None:
        self._stop_signal = number

    def _start(self) -> BaseProcess:
        ours, theirs = self._context.Pipe()
        process = self._context.Process(
            target=_work, args=(self._settings, self._listener, theirs), name="vit-str serve"
        )
        process.start()
        theirs.close()
        self._processes[process] = ours
        return process

    def _serves(self, process: BaseProcess) -> bool:
        """Wait until a process serves; False if it ends before, or all have to stop."""
        pipe = self._processes[process]
        while not self._stop_signal:
            if pipe.poll(0.1):
                try:
                    return bool(pipe.recv())
                except EOFError:
                    break
        process.join(1.0)
        code = process.exitcode or 0
        if code < 0 and not self._stop_signal:
            console.warn(f"a process was killed (signal {-code}) before it served")
        return False

    def _look_after(self) -> bool:
        """Until a signal comes; returns whether all that died could be replaced."""
        from prometheus_client.multiprocess import mark_process_dead

        while not self._stop_signal:
            connection.wait([process.sentinel for process in self._processes], timeout=0.2)
            for process in [p for p in self._processes if not p.is_alive()]:
                self._processes.pop(process).close()
                if self._stop_signal:
                    break
                mark_process_dead(process.pid)  # type: ignore[no-untyped-call]
                console.warn(f"a process died (exit code {process.exitcode}); starting another")
                if not self._serves(self._start()):
                    return False
        return True

    def _end(self) -> None:
        """Stop all processes, by force if they take too long."""
        self._listener.close()
        end = time.monotonic() + _STOPPING
        for process in self._processes:
            process.terminate()
        for process in self._processes:
            process.join(max(0.0, end - time.monotonic()))
            if process.is_alive():
                process.kill()
                process.join()


def _work(settings: Settings, listener: socket.socket, parent: Connection) -> None:
    """Serve in a process that ends when its parent does."""
    signal.signal(signal.SIGTERM, _leave)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent hears it, and tells

    def on_start() -> None:
        parent.send(True)
        threading.Thread(target=_follow, args=(parent,), daemon=True).start()

    try:
        raise SystemExit(serve_alone(settings, listener, on_start))
    except (ValueError, OSError) as error:
        console.warn(str(error), "serve")
        raise SystemExit(2) from None


def _follow(parent: Connection) -> None:
    """Stop when the parent is gone."""
    try:
        parent.recv()
    except (EOFError, OSError):
        os.kill(os.getpid(), signal.SIGTERM)
