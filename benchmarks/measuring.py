"""What the benchmarks share: pinned threads, interleaved rounds, a table, a file."""

import argparse
import json
import os
import platform
import statistics
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import torch

from vit_str import configuration
from vit_str.console import aligned, positive
from vit_str.machine import processor

REPOSITORY = Path(__file__).resolve().parent.parent

Measured = TypeVar("Measured")


def pin(threads: int = 1) -> None:
    """Compute on so many threads, each process started from now on too.

    Where the system can, on the first CPUs that this process may use and on no others.
    """
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])
    for name in ("OMP_NUM_THREADS", "OMP_THREAD_LIMIT", "MKL_NUM_THREADS"):
        os.environ[name] = str(threads)
    torch.set_num_threads(threads)


def interleave(
    runs: Mapping[str, Callable[[], Measured]], rounds: int
) -> dict[str, list[Measured]]:
    """Results of A B C A B C ...: what disturbs the machine for a while disturbs them all."""
    results: dict[str, list[Measured]] = {name: [] for name in runs}
    for number in range(1, rounds + 1):
        for name, run in runs.items():
            print(f"round {number} of {rounds}: {name}", file=sys.stderr)
            results[name].append(run())
    return results


def synchronize(device: torch.device | str) -> None:
    """Wait until a GPU has done what it was told; nothing to wait for on a CPU."""
    if torch.device(device).type == "cuda":
        torch.cuda.synchronize(device)


def median_and_range(values: Sequence[float]) -> tuple[str, str]:
    """Two cells: the median, and the lowest and highest value."""
    low = _number(min(values))
    high = _number(max(values))
    return _number(statistics.median(values)), f"{low}-{high}"


def table(rows: Sequence[Sequence[str]]) -> str:
    """Rows as aligned text, the first one the titles, the first column to the left."""
    return "\n".join(aligned(rows))


def machine() -> dict[str, Any]:
    """What was measured on."""
    gpus = [
        torch.cuda.get_device_name(index) for index in range(torch.cuda.device_count())
    ]
    return {
        "cpu": processor(),
        "gpus": gpus,
        "system": platform.system(),
        "python": platform.python_version(),
        "torch": torch.__version__,
        "threads": torch.get_num_threads(),
    }


def print_machine() -> None:
    """One line, and a warning if others are at work too."""
    found = machine()
    names = ", ".join([found["cpu"], *found["gpus"]])
    print(f"{names}; torch {found['torch']}, {found['threads']} thread(s)\n")
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    if load > 0.5:
        print(f"load average {load:.1f}: others compute here too, wait for quiet\n")


def described_parser(
    text: str | None,
    rounds: int | None = None,
) -> argparse.ArgumentParser:
    """A parser whose help begins with a text, and with ``--rounds`` and ``--json`` if asked for."""
    parser = argparse.ArgumentParser(
        description=text, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    if rounds:
        parser.add_argument(
            "--rounds",
            type=positive,
            default=rounds,
            help=f"rounds ({rounds})",
        )
        add_json(parser)
    return parser


def add_json(parser: argparse.ArgumentParser) -> None:
    """Add a file for what `write_json` writes."""
    parser.add_argument(
        "--json",
        type=Path,
        metavar="FILE",
        help="write all numbers here too",
    )


def add_config(parser: argparse.ArgumentParser, several: bool = False) -> None:
    """Add the configuration that a benchmark trains, or a list of them."""
    config = REPOSITORY / "configs" / "vit_tiny_transformer.yaml"
    parser.add_argument(
        "--config",
        type=_configuration,
        nargs="+" if several else None,
        default=[config] if several else config,
        help=f"YAML file ({config.name})",
    )


def _configuration(path: str) -> Path:
    """The path of a configuration; ends with one line if it cannot be read."""
    try:
        configuration.load(path)
    except (OSError, ValueError) as error:
        raise SystemExit(str(error)) from None
    return Path(path)


def add_run_arguments(parser: argparse.ArgumentParser, several: bool = False) -> None:
    """Add what a benchmark of training trains: a configuration, threads, the size of a batch."""
    add_config(parser, several)
    parser.add_argument(
        "--threads",
        type=positive,
        default=1,
        help="of a CPU, pinned (1)",
    )
    parser.add_argument(
        "--batch-size",
        type=positive,
        help="words in a step (the config's)",
    )


def write_json(path: Path | None, results: dict[str, Any]) -> None:
    """Write the machine and the results, if there is a place to."""
    if path is not None:
        text = json.dumps({"machine": machine(), **results}, indent=1)
        path.write_text(text + "\n", encoding="utf-8")


def _number(value: float) -> str:
    """At least three digits."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"
