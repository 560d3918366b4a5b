"""Run studies, several at once in processes, and keep what they find."""

import json
import multiprocessing
import signal
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch

from studies import describe, load_study
from studies.study import Findings, Settings
from vit_str.analysis.subjects import weights_hash
from vit_str.engines.weights_contents import resolve
from vit_str.files import write_atomically
from vit_str.reports.style import figure, ready_to_draw, styled
from vit_str.reports.tables import write_csv, write_json

RESULT = "result.json"
TABLE = "table.csv"
FIGURE = "figure.png"
"""Files in the folder of a study."""

Result = dict[str, Any]
"""What a run found, as in ``result.json``: see `Findings`, and how and where it was run."""

_DOTS_PER_INCH = 150


def load_result(folder: Path, name: str = RESULT) -> Result | None:
    """The result in the folder of a study; None if there is none."""
    path = folder / name
    if not path.exists():
        return None
    with suppress(ValueError):
        result = json.loads(path.read_text(encoding="utf-8"))
        if isinstance(result, dict) and "verdict" in result:
            return result
    raise ValueError(f"{path} is no result of a study; remove it or take another --out")


def run_study(name: str, folder: Path, settings: Settings) -> Result:
    """Run a study in this process and write its files; the result comes last."""
    module = load_study(name)
    study = describe(name)
    start = time.perf_counter()
    findings: Findings = module.run(settings)
    seconds = round(time.perf_counter() - start, 1)
    value = findings.values.mean
    low, high = findings.values.interval
    result: Result = {
        "name": name,
        "command": command(name, settings),
        "settings": asdict(settings),
        "verdict": findings.verdict,
        "measure": findings.measure,
        "number": f"{value:.4g}" + (f" [{low:.4g}, {high:.4g}]" if low != high else ""),
        "value": value,
        "interval": [low, high],
        "because": findings.because,
        "surprises": [text for text, holds in findings.surprises.items() if holds],
        "summary": list(findings.summary),
        "seconds": seconds,
        "weights": {name: weights_hash(resolve(name)) for name in study.weights},
        "torch": torch.__version__.partition("+")[0],
    }
    (folder / RESULT).unlink(missing_ok=True)
    rows = ([str(cell) for cell in row.values()] for row in findings.table)
    write_csv(folder / TABLE, list(findings.table[0]), rows)
    sheet = figure(7.5, 3.6)
    with styled():
        findings.draw(sheet)
    with ready_to_draw(sheet), write_atomically(folder / FIGURE) as path:
        sheet.savefig(path, dpi=_DOTS_PER_INCH)
    write_json(folder / RESULT, result)
    return result


def command(name: str, settings: Settings) -> str:
    """What runs a study with these settings."""
    parts = ["python -m studies run", name]
    parts += ["--quick"] if settings.quick else []
    parts += [f"--seeds {settings.seeds}"] if settings.seeds != Settings().seeds else []
    parts += [f"--device {settings.device}"] if settings.device != "cpu" else []
    return " ".join(parts)


def run_studies(
    names: Sequence[str], out: Path, settings: Settings, workers: int
) -> Iterator[tuple[str, "Future[Result]"]]:
    """Run so many studies at once; each is given as it ends, with its result or its error.

    Closing the iterator, or an interrupt, stops those that run; what is written stays.
    """
    # A fork would share threads, random states
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, context, initializer=_start_worker) as pool:
        futures = {
            pool.submit(run_study, name, out / name, settings): name for name in names
        }
        try:
            for future in as_completed(futures):
                yield futures[future], future
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for process in multiprocessing.active_children():
                process.terminate()
            raise


def _start_worker() -> None:
    # Ctrl-C in a terminal: end without a traceback
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    torch.set_num_threads(1)  # as many processes as CPUs
