"""Run studies, several at once, each in a process of its own."""

import multiprocessing
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from pathlib import Path

from vit_str.studies import STUDIES, study_of
from vit_str.studies.result import FIGURE, TABLE, Result, load_result, renew
from vit_str.studies.sources import digest
from vit_str.studies.study import Settings
from vit_str.studies.worker import Job, work

Look = Callable[[dict[str, float]], None]
"""Is told the share that is done of every study that runs, by id."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How it ended with a study.

    Attributes:
        id: of the study.
        result: what was found; None if it failed.
        failure: what went wrong, in one line; empty if nothing.
        is_new: whether it was run now; else the result was there.
    """

    id: str
    result: Result | None = None
    failure: str = ""
    is_new: bool = True


def jobs_of(ids: Sequence[str], out: Path, settings: Settings) -> list[Job]:
    """What to run; each study has a folder of its own in ``out``.

    Args:
        ids: of the studies; ``all`` stands for all of them.
        out: the folder.
        settings: how large they are; the progress is not used.

    Raises:
        ValueError: there is no such study; known ones are named.
    """
    wanted = list(dict.fromkeys(STUDIES if "all" in ids else ids))
    unknown = [name for name in ids if name not in STUDIES and name != "all"]
    if unknown:
        raise ValueError(
            f"no study {', '.join(map(repr, unknown))}; known are all, {', '.join(STUDIES)}"
        )
    how = settings.quick, settings.seeds, settings.device
    return [
        Job(name, f"vit_str.studies.{name.replace('-', '_')}", STUDIES[name], out / name, *how)
        for name in wanted
    ]


def finished(job: Job) -> Result | None:
    """The result of an earlier run, if it is the one that this job would make.

    If the study says its claim in other words since, the result does so too.

    Raises:
        ValueError: there is a file in its place that is damaged.
        OSError: the new words cannot be written.
    """
    result = load_result(job.folder)
    if result is None or not all((job.folder / name).exists() for name in (TABLE, FIGURE)):
        return None
    asked = job.quick, job.seeds, job.device
    if (result.quick, result.seeds, result.device) != asked:
        return None
    if not result.modules or digest(result.modules) != result.digest:
        return None
    renewed = renew(result, study_of(job.id))
    if renewed != result:
        renewed.save(job.folder)
    return renewed


def run_all(
    jobs: Sequence[Job], workers: int, look: Look = lambda shares: None
) -> Iterator[Outcome]:
    """Run so many studies at once; outcomes come as they end.

    Closing the iterator, or an interrupt, stops those that run; what is written stays.
    """
    waiting = list(reversed(jobs))
    running: dict[Connection, _Run] = {}
    try:
        while waiting or running:
            while waiting and len(running) < workers:
                started = _Run(waiting.pop())
                running[started.messages] = started
            # With a limit: on some systems Ctrl-C is not seen in a wait without end.
            for messages in wait(list(running), timeout=1.0):
                assert isinstance(messages, Connection)
                outcome = running[messages].listen()
                if outcome:
                    del running[messages]
                    yield outcome
            look({each.job.id: each.share for each in running.values()})
    finally:
        for each in running.values():
            each.stop()


class _Run:
    """A study in a process of its own."""

    def __init__(self, job: Job) -> None:
        self.job, self.share = job, 0.0
        # A fresh process: a forked one would share threads and random states with this one.
        context = multiprocessing.get_context("spawn")
        self.messages, report = context.Pipe(duplex=False)
        self._process: SpawnProcess = context.Process(target=work, args=(job, report), name=job.id)
        with _without_interrupts():
            self._process.start()
        report.close()  # so that its end is seen here

    def listen(self) -> Outcome | None:
        """Take one message; how it ended, if it did."""
        try:
            message = self.messages.recv()
        except EOFError:
            self._process.join()
            failure = f"its process died with exit code {self._process.exitcode}"
            return self._ended(failure)
        if isinstance(message, str):
            return self._ended(message)
        self.share = float(message)
        return None

    def stop(self) -> None:
        """End the process now."""
        self._process.terminate()
        self._process.join()
        self.messages.close()

    def _ended(self, failure: str) -> Outcome:
        self._process.join()
        self.messages.close()
        if failure:
            return Outcome(self.job.id, failure=failure)
        return Outcome(self.job.id, load_result(self.job.folder))


@contextmanager
def _without_interrupts() -> Iterator[None]:
    """Ctrl-C goes to every process of a terminal; those started here leave it to this one."""
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread decides about signals
        return
    previous = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)
