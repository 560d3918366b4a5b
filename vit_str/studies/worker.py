"""A process that runs one study and writes what it found."""

import signal
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from multiprocessing.connection import Connection
from pathlib import Path

import torch
from matplotlib.figure import Figure

from vit_str.devices import software
from vit_str.images import one_line
from vit_str.pages.style import figure, ready_to_draw, styled
from vit_str.studies.result import (
    ERROR,
    FIGURE,
    RESULT,
    TABLE,
    Result,
    check,
    replace_file,
    texts_of,
    write_table,
)
from vit_str.studies.sources import digest, used_files
from vit_str.studies.study import Findings, Settings, Study

_SHARPNESS = 150  # dots per inch
_PAUSE = 0.1  # seconds between reports of progress


@dataclass(frozen=True, slots=True)
class Job:
    """A study to run.

    Attributes:
        id: of the study.
        module: that has its class.
        name: of the class.
        folder: of the study, where results go.
        quick: see `Settings`, as the two below.
        seeds: number of repetitions.
        device: to compute on.
    """

    id: str
    module: str
    name: str
    folder: Path
    quick: bool = False
    seeds: int = 5
    device: str = "cpu"

    def study(self) -> Study:
        """The study itself; this loads its module."""
        study: Study = getattr(import_module(self.module), self.name)()
        return study


def work(job: Job, report: Connection) -> None:
    """Run in a process of its own; sends the share that is done now and then.

    The last message is an empty text if all went well, else what went wrong in one line.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C: the process that started us decides
    torch.set_num_threads(1)  # as many processes as CPUs
    try:
        run(job, _Reporter(report))
        report.send("")
    except Exception as error:  # whatever it is must not take the other studies with it
        job.folder.mkdir(parents=True, exist_ok=True)
        (job.folder / ERROR).write_text(traceback.format_exc(), encoding="utf-8")
        reason = one_line(str(error).strip().partition("\n")[0])
        report.send(f"{type(error).__name__}: {reason}" if reason else type(error).__name__)


def run(job: Job, progress: Callable[[float], None]) -> Result:
    """Run a study in this process and write its files."""
    study = job.study()
    settings = Settings(job.quick, job.seeds, job.device, progress)
    start = time.perf_counter()
    findings = study.run(settings)
    seconds = time.perf_counter() - start
    check(findings)
    sheet = draw(findings)
    files = used_files()
    result = Result(
        id=job.id,
        **texts_of(study),
        quick=job.quick,
        seeds=job.seeds,
        device=job.device,
        verdict=findings.verdict,
        measure=findings.measure,
        value=float(findings.value),
        interval=(float(findings.interval[0]), float(findings.interval[1])),
        because=findings.because,
        surprises=tuple(findings.surprises),
        summary=tuple(dict(row) for row in findings.summary),
        seconds=round(seconds, 1),
        versions=software(),
        modules=files,
        digest=digest(files),
    )
    _write(job.folder, findings, sheet, result)
    return result


def draw(findings: Findings) -> Figure:
    """The figure of a study in the style of the house."""
    sheet = figure(7.5, 3.6)
    with styled():
        findings.draw(sheet)
    return sheet


def save_figure(sheet: Figure, path: Path) -> None:
    """Write a figure as a picture, at once or not at all."""
    with ready_to_draw(sheet):
        replace_file(path, lambda unfinished: sheet.savefig(unfinished, dpi=_SHARPNESS))


def _write(folder: Path, findings: Findings, sheet: Figure, result: Result) -> None:
    """Write the file that says the rest last: what it speaks of is there, and of the same run."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / RESULT).unlink(missing_ok=True)
    write_table(findings.rows, folder / TABLE)
    save_figure(sheet, folder / FIGURE)
    result.save(folder)
    (folder / ERROR).unlink(missing_ok=True)


class _Reporter:
    """Sends progress, but not so often that it takes time."""

    def __init__(self, report: Connection) -> None:
        self._report, self._last = report, 0.0

    def __call__(self, share: float) -> None:
        now = time.monotonic()
        if now - self._last >= _PAUSE:
            self._last = now
            self._report.send(float(share))
