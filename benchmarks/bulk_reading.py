"""How fast ``vit-str read`` reads words on several CPUs: with threads, and with workers of Ray.

    python benchmarks/bulk_reading.py [FILES_OR_FOLDER ...] [--count 4000] [--workers 1 2 4]

All rows read the same files, in interleaved rounds, as commands of their own: copies of those
given (default: the samples) up to ``--count``. For each number of workers, the plain engine runs on
as many CPUs with so many threads, one by one and in batches of 32, and Ray on these CPUs too, with
one thread each; numbers of CPUs that there are not are left out. "steady" is the rate from the
first result to the last, which is that of a million images; "all" counts from the start of the
command to its end. Takes about five minutes for 4,000 images and one number of workers. Needs
``pip install -e ".[ray]"``, and measures the plain engine alone without it.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
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
from vit_str.words.options import find_inputs

_BATCHES = {"one by one": 1, "batches of 32": 32}


class Round(NamedTuple):
    """Images per second of one run."""

    whole: float
    steady: float


def main() -> None:
    """Measure, print, write."""
    parser = _parser()
    options = parser.parse_args()
    images = find_inputs(options.paths).paths
    if not images:
        names = ", ".join(options.paths)
        parser.error(f"no image to read in {names}; name files or a folder")
    print_machine()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "images"
        _copy(images, folder, options.count)
        rounds = interleave(_runs(folder, options), options.rounds)
    rows = [["words/s", "steady", "range", "all", "range"]]
    for name, found in rounds.items():
        steady = median_and_range([each.steady for each in found])
        whole = median_and_range([each.whole for each in found])
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


def _runs(folder: Path, options: argparse.Namespace) -> dict[str, Callable[[], Round]]:
    """What is measured on each number of CPUs."""
    cpus = sorted(os.sched_getaffinity(0))
    numbers = [number for number in options.workers if number <= len(cpus)]
    for number in options.workers:
        if number > len(cpus):
            print(f"{number} workers are left out: {len(cpus)} CPUs may be used")
    has_ray = find_spec("ray") is not None
    if not has_ray:
        print('Ray is left out; to install it: pip install -e ".[ray]"')
    fewest = options.part_size * (max(numbers, default=0) + 2)
    if has_ray and options.count < fewest:
        sys.exit(f"--count {options.count} has too few parts to time, take {fewest:,}")
    runs: dict[str, Callable[[], Round]] = {}
    for number in numbers:
        used = cpus[:number]
        for name, size in _BATCHES.items():
            runs[f"threads: {number}, {name}"] = partial(
                _plain, folder, options, used, size
            )
        if has_ray:
            runs[f"workers of Ray: {number}"] = partial(_ray, folder, options, used)
    return runs


def _parser() -> argparse.ArgumentParser:
    parser = described_parser(__doc__, rounds=3)
    parser.add_argument(
        "paths",
        nargs="*",
        default=[str(REPOSITORY / "data" / "samples")],
    )
    parser.add_argument("--count", type=positive, default=4000, help="images (4000)")
    parser.add_argument(
        "--workers",
        type=positive,
        nargs="+",
        default=[1, 2, 4],
        help="numbers of CPUs (1 2 4): as many threads, or workers of Ray",
    )
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


def _plain(
    folder: Path, options: argparse.Namespace, cpus: list[int], batch_size: int
) -> Round:
    """The command prints results as they come: their times tell the steady rate."""
    started = time.perf_counter()
    times = []
    command = [*_command(folder, options), "--format", "jsonl"]
    command += ["--batch-size", str(batch_size)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, preexec_fn=_on(cpus, len(cpus))
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
            str(len(cpus)),
        ]
        result = subprocess.run(
            command, stdout=subprocess.DEVNULL, preexec_fn=_on(cpus, 1)
        )
        seconds = time.perf_counter() - started
        times = sorted(part.stat().st_mtime for part in out.glob("part-*"))
    read = min(len(times) * options.part_size, options.count)
    _check(result.returncode, read, options.count)
    # The first part of every worker came with its start; the last to come may be a short one.
    later = times[len(cpus) :]
    steady = (len(later) - 1) * options.part_size / (later[-1] - later[0])
    return Round(read / seconds, steady)


def _command(folder: Path, options: argparse.Namespace) -> list[str]:
    read = [sys.executable, "-m", "vit_str", "read", str(folder)]
    return [*read, "--model", options.model, "--device", "cpu"]


def _on(cpus: list[int], threads: int) -> "partial[None]":
    os.environ["OMP_NUM_THREADS"] = str(threads)
    return partial(os.sched_setaffinity, 0, cpus)


def _check(code: int, read: int, count: int) -> None:
    if code or read != count:
        sys.exit(f"a command ended with {code} after {read} of {count} images")


if __name__ == "__main__":
    main()
