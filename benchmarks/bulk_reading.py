"""How fast ``vit-str read --engine ray`` reads with several workers, next to one plain process.

    python benchmarks/bulk_reading.py [FILES_OR_FOLDER ...] [--count 4000] [--workers 2]

All rows read the same files, in interleaved rounds, as commands of their own: copies of those
given (default: the samples) up to ``--count``. The plain engine runs on one CPU with one thread,
and on as many CPUs as there are workers with so many threads; Ray on these CPUs too. "steady" is
the rate from the first result to the last, which is that of a million images; "all" counts from
the start of the command to its end. Takes about five minutes for 4,000 images. Needs
``pip install -e ".[ray]"``.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import NamedTuple

from measuring import (
    REPOSITORY,
    described_parser,
    interleave,
    median_and_range,
    print_machine,
    table,
    write_json,
)

from vit_str.console import positive
from vit_str.reading.options import find_inputs


class Round(NamedTuple):
    """Images per second of one run."""

    whole: float
    steady: float


def main() -> None:
    """Measure, print, write."""
    options = _parser().parse_args()
    cpus = sorted(os.sched_getaffinity(0))[: options.workers]
    if len(cpus) < options.workers:
        sys.exit(
            f"--workers {options.workers} on {len(cpus)} CPUs would measure waiting"
        )
    print_machine()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "images"
        _copy(find_inputs(options.paths).paths, folder, options.count)
        many = f"{options.workers} CPUs"
        runs = {
            "plain, 1 CPU": partial(_plain, folder, options, cpus[:1]),
            f"plain, {many}": partial(_plain, folder, options, cpus),
            f"ray, {many}": partial(_ray, folder, options, cpus),
        }
        rounds = interleave(runs, options.rounds)
    rows = [["images/s", "steady", "range", "all", "range"]]
    for name, results in rounds.items():
        steady = median_and_range([each.steady for each in results])
        whole = median_and_range([each.whole for each in results])
        rows.append([name, *steady, *whole])
    print(
        f"{options.count} images, model {options.model}, median of {options.rounds} "
        "rounds"
    )
    print(table(rows))
    load = os.getloadavg()[0]
    print(f"load average at the end {load:.1f}")
    results = {
        name: [each._asdict() for each in found] for name, found in rounds.items()
    }
    write_json(options.json, {"images_per_second": results, "load": load})


def _parser() -> argparse.ArgumentParser:
    parser = described_parser(__doc__, rounds=3)
    parser.add_argument(
        "paths",
        nargs="*",
        default=[str(REPOSITORY / "data" / "samples")],
    )
    parser.add_argument("--count", type=positive, default=4000, help="images (4000)")
    parser.add_argument("--workers", type=positive, default=2, help="of Ray (2)")
    parser.add_argument("--model", default="tiny", help="weights (tiny)")
    parser.add_argument(
        "--part-size",
        type=positive,
        default=256,
        help="images in a part (256)",
    )
    return parser


def _copy(files: list[str], folder: Path, count: int) -> None:
    folder.mkdir()
    for number in range(count):
        source = Path(files[number % len(files)])
        shutil.copyfile(source, folder / f"{number:07d}{source.suffix}")


def _plain(folder: Path, options: argparse.Namespace, cpus: list[int]) -> Round:
    """The command prints results as they come: their times tell the steady rate."""
    started = time.perf_counter()
    times = []
    command = [*_command(folder, options), "--format", "jsonl"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, preexec_fn=_on(cpus)
    ) as process:
        assert process.stdout is not None
        times = [time.perf_counter() for _ in process.stdout]
    _check(process.returncode, len(times), options.count)
    return Round(
        len(times) / (time.perf_counter() - started),
        (len(times) - 1) / (times[-1] - times[0]),
    )


def _ray(folder: Path, options: argparse.Namespace, cpus: list[int]) -> Round:
    """Every part is a file: their times tell the steady rate."""
    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as place:
        out = Path(place) / "out"
        command = [*_command(folder, options), "--engine", "ray", "--out", str(out)]
        command += [
            "--part-size",
            str(options.part_size),
            "--workers",
            str(options.workers),
        ]
        result = subprocess.run(
            command, stdout=subprocess.DEVNULL, preexec_fn=_on(cpus)
        )
        seconds = time.perf_counter() - started
        times = sorted(part.stat().st_mtime for part in out.glob("part-*"))
    read = min(len(times) * options.part_size, options.count)
    _check(result.returncode, read, options.count)
    # The first part of every worker came with its start; the last to come may be a short one.
    later = times[options.workers :]
    steady = (len(later) - 1) * options.part_size / (later[-1] - later[0])
    return Round(read / seconds, steady)


def _command(folder: Path, options: argparse.Namespace) -> list[str]:
    read = [sys.executable, "-m", "vit_str", "read", str(folder)]
    return [*read, "--model", options.model, "--device", "cpu"]


def _on(cpus: list[int]) -> "partial[None]":
    os.environ["OMP_NUM_THREADS"] = str(len(cpus))
    return partial(os.sched_setaffinity, 0, cpus)


def _check(code: int, read: int, count: int) -> None:
    if code or read != count:
        sys.exit(f"a command ended with {code} after {read} of {count} images")


if __name__ == "__main__":
    main()
