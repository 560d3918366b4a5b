"""Signals while a run starts: it ends at once, with all its processes, wherever they wait.

Python hears a signal between two of its own steps only. A process that waits for the others of a
run does so in a library, up to half an hour. So a thread listens too.
"""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn

from lightning.pytorch import Trainer

_GRACE = 5.0  # seconds in which a process may end by itself
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class StartingRun:
    """A run before its first step.

    Attributes:
        trainer: that of the run, as soon as there is one.
        began: whether training has begun, which hears signals itself.
    """

    def __init__(self) -> None:
        self.trainer: Trainer | None = None
        self.began: Callable[[], bool] = lambda: False
        self._said = False

    def stop(self, number: int, frame: object) -> NoReturn:
        """Stop at once: nothing has been trained, and Lightning would call it a success."""
        self._say()
        raise SystemExit(128 + number)

    def watch(self, pipe: int, ended: threading.Event) -> None:
        """End this process and those that it has started where `stop` is not heard."""
        while number := int.from_bytes(os.read(pipe, 1), "big"):
            if self.began() or number not in _SIGNALS:
                continue
            if ended.wait(_GRACE) or self.began():
                continue
            self._say()
            self.kill_others()
            os._exit(128 + number)
        os.close(pipe)

    def kill_others(self) -> None:
        """End the processes that Lightning has started from here, if this one was asked to end.

        At once, as they have trained nothing: Lightning looks every few seconds whether one of them
        has ended, and then kills this one before it has left in its own way.
        """
        if not self._said:
            return
        others = self._others()
        for process in others:
            process.kill()
        for process in others:
            process.wait()

    def _say(self) -> None:
        if not self._said:
            self._said = True
            sys.stderr.write(
                "vit-str train: stopped; the same command starts again or resumes\n"
            )
            sys.stderr.flush()

    def _others(self) -> Sequence[subprocess.Popen]:
        launcher: Any = self.trainer and self.trainer.strategy.launcher
        return tuple(getattr(launcher, "procs", ()))


@contextmanager
def stop_at_once() -> Iterator[StartingRun]:
    """End a run on Ctrl-C or SIGTERM until its training hears them, see `StopCleanly`."""
    run = StartingRun()
    if threading.current_thread() is not threading.main_thread():
        yield run
        return
    previous = {number: signal.signal(number, run.stop) for number in _SIGNALS}
    heard, told = os.pipe()
    os.set_blocking(told, False)
    wakeup = signal.set_wakeup_fd(told, warn_on_full_buffer=False)
    ended = threading.Event()
    threading.Thread(target=run.watch, args=(heard, ended), daemon=True).start()
    try:
        yield run
    finally:
        run.kill_others()
        ended.set()
        signal.set_wakeup_fd(wakeup)
        for number, handler in previous.items():
            signal.signal(number, handler)
        os.close(told)  # which ends the thread
