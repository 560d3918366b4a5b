"""How fast ``vit-str serve`` answers, beside reading in one process and RapidOCR.

    python benchmarks/serving.py [FILES_OR_FOLDER ...] [--threads 1 2 4] [--quick]

Everything that reads has so many CPUs and threads, in a table for each number of them that there
are; clients have the other CPUs, or all if there are no others; the network is loopback. Clients
wait for their answer before they ask again. A column counts per second of CPU that the reader has
used, which others at work on the machine disturb less.
"""

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from http_load import Load, ServerProcess, burst, closed_loop, split_cpus
from measuring import (
    REPOSITORY,
    described_parser,
    interleave,
    print_machine,
    table,
    write_json,
)
from reading_speed import find_words

from vit_str.console import positive

_CLIENTS = (1, 8, 64)
_BATCHES = "in one process, batches of 32"
_MOST_SECONDS = 60.0  # of one measurement
_SERVE = [sys.executable, "-m", "vit_str", "serve", "--port", "0", "--backend", "onnx"]
_SERVE += ["--proxy", "127.0.0.1"]  # all clients are at one address
_PEER = [sys.executable, str(Path(__file__).with_name("serving_peer.py"))]


def main() -> None:
    """Print the tables."""
    parser = _parser()
    options = parser.parse_args()
    if options.quick:
        options.rounds = 1
        options.requests = 64
    os.environ["PYTHONPATH"] = os.pathsep.join(
        [str(REPOSITORY), os.environ.get("PYTHONPATH", "")]
    )
    try:
        files = find_words(options.paths, None).files
    except ValueError as error:
        parser.error(str(error))
    files = [files[index % len(files)] for index in range(options.requests)]
    print_machine()
    cpus = os.sched_getaffinity(0)
    results = {}
    for threads in options.threads:
        if threads > len(cpus):
            print(f"{threads} threads are left out: {len(cpus)} CPUs may be used")
            continue
        results[threads] = _measure(threads, files, options)
        os.sched_setaffinity(0, cpus)
    write_json(options.json, {"threads": results})


def _measure(
    threads: int, files: list[str], options: argparse.Namespace
) -> dict[str, Any]:
    """Print the table of so many threads, and what became of a burst; all numbers of both."""
    os.environ["OMP_NUM_THREADS"] = str(threads)
    server_cpus, client_cpus = split_cpus(threads)
    bodies = [Path(file).read_bytes() for file in files]
    with ExitStack() as stack:
        listed = stack.enter_context(tempfile.NamedTemporaryFile("w", suffix=".txt"))
        listed.write("".join(f"{file}\n" for file in files))
        listed.flush()

        def start(command: list[str]) -> ServerProcess:
            return stack.enter_context(ServerProcess(command, server_cpus))

        batch = start([*_PEER, "batch", listed.name])
        ours = start(_SERVE)
        runs: dict[str, Callable[[], Load]] = {
            _BATCHES: partial(_read_batches, batch, len(files))
        }
        servers = {"vit-str serve": (ours, "/v1/read")}
        if not options.without_rapidocr:
            servers["RapidOCR behind FastAPI"] = start([*_PEER, "rapidocr"]), "/read"
        os.sched_setaffinity(0, client_cpus)
        for name, (server, path) in servers.items():
            closed_loop(server, path, bodies[:64], 8, _MOST_SECONDS)
            for clients in _CLIENTS:
                runs[f"{name}, {clients} clients"] = partial(
                    closed_loop, server, path, bodies, clients, _MOST_SECONDS
                )
        loads = interleave(runs, options.rounds)
        crowd = burst(
            ours, "/v1/read", [bodies[n % len(bodies)] for n in range(options.burst)]
        )
    rows = {name: _row(each, loads[_BATCHES]) for name, each in loads.items()}
    titles = [
        f"threads: {threads}",
        "pictures/s",
        "per CPU s",
        "share of batches",
        "of CPU s",
        "median ms",
        "99 % ms",
    ]
    print(table([titles, *([name, *row] for name, row in rows.items())]))
    slowest = ", ".join(
        f"{s} after {t:.2f} s" for s, t in sorted(crowd.slowest.items())
    )
    print(
        f"\n{options.burst} requests at once: {dict(sorted(crowd.statuses.items()))}, "
        f"the slowest {slowest}; {crowd.cpu_seconds:.2f} s of CPU\n"
    )
    return {"rows": rows, "burst": crowd.statuses, "slowest": crowd.slowest}


def _parser() -> argparse.ArgumentParser:
    parser = described_parser(__doc__, rounds=3)
    samples = str(REPOSITORY / "data" / "samples")
    parser.add_argument(
        "paths", nargs="*", metavar="FILES_OR_FOLDER", default=[samples]
    )
    parser.add_argument(
        "--requests",
        type=positive,
        default=640,
        help="of a measurement (640)",
    )
    parser.add_argument(
        "--burst",
        type=positive,
        default=500,
        help="requests at once (500)",
    )
    parser.add_argument(
        "--threads",
        type=positive,
        nargs="+",
        default=[1, 2, 4],
        help="and CPUs, of what reads (1 2 4)",
    )
    parser.add_argument("--quick", action="store_true", help="one round of 64 requests")
    parser.add_argument("--without-rapidocr", action="store_true", help="leave it out")
    return parser


def _read_batches(process: ServerProcess, count: int) -> Load:
    assert process.process.stdin
    assert process.process.stdout
    process.process.stdin.write("\n")
    process.process.stdin.flush()
    seconds, used = json.loads(process.process.stdout.readline())
    return Load(seconds, [seconds / count] * count, cpu_seconds=used)


def _row(loads: list[Load], batches: list[Load]) -> list[str]:
    rate, cpu_rate = (
        median(getattr(x, n) for x in loads) for n in ("per_second", "per_cpu_second")
    )
    shares = (
        median(
            getattr(x, n) / getattr(b, n) for x, b in zip(loads, batches, strict=True)
        )
        for n in ("per_second", "per_cpu_second")
    )
    cells = [f"{rate:.1f}", f"{cpu_rate:.1f}", *(f"{share:.0%}" for share in shares)]
    if loads is batches:
        return [*cells, "-", "-"]
    return cells + [
        f"{median(x.percentile(p) for x in loads):.0f}" for p in (0.5, 0.99)
    ]


if __name__ == "__main__":
    main()
