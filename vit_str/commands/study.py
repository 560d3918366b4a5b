"""``vit-str study``: run the claims of the posts as experiments."""

import argparse
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from vit_str import console
from vit_str.arguments import positive

_DESCRIPTION = """\
The claims that this project grew from, each as an experiment that anyone can run: what is claimed,
what to expect, a table, a figure, and a verdict computed from the numbers."""

_EPILOG = """\
examples:
  vit-str study list                               what there is
  vit-str study run sinusoid order --quick         two studies, in their small version
  vit-str study run all --out runs/studies         all of them; the same command goes on
  vit-str study page runs/studies --out claims.md  a page of the results, with figures

exit codes: 0 all well; 1 some study failed, or the output not written; 2 wrong use;
130 interrupted with Ctrl-C: what is finished is kept."""

_OUT = "runs/studies"
_FAILED = "FAILED"


def main(arguments: Sequence[str]) -> int:
    """Do as the arguments say; returns the exit code."""
    options = _parser().parse_args(arguments)
    command: Callable[[argparse.Namespace], int] = options.do
    try:
        return command(options)
    except ValueError as error:
        raise ValueError(str(error)) from error
    except OSError as error:
        reason = error.strerror or str(error)
        return console.fail(f"{error.filename or options.out}: {reason}", 1)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "vit-str study",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    listing = commands.add_parser("list", help="what there is, with verdicts of earlier runs")
    listing.set_defaults(do=_list)
    _add_run(commands.add_parser("run", help="run studies", allow_abbrev=False))
    listing.add_argument("--out", default=_OUT, metavar="DIR", help=f"of the runs ({_OUT})")
    page = commands.add_parser("page", help="make a page of results", allow_abbrev=False)
    page.set_defaults(do=_page)
    page.add_argument("results", type=Path, metavar="DIR", help="that was --out of the runs")
    page.add_argument("--out", required=True, metavar="FILE", help="the page, such as claims.md")
    return parser


def _add_run(run: argparse.ArgumentParser) -> None:
    run.set_defaults(do=_run)
    run.add_argument("ids", nargs="+", metavar="ID", help="of a study, or all")
    run.add_argument("--quick", action="store_true", help="the small versions: a minute each")
    run.add_argument("--seeds", type=positive, default=5, metavar="N", help="repetitions (5)")
    run.add_argument("--out", default=_OUT, metavar="DIR", help=f"for results ({_OUT})")
    run.add_argument(
        "--workers", type=positive, metavar="N", help="studies at once (default: one per CPU)"
    )
    run.add_argument("--device", default="cpu", help="auto, cpu, cuda, cuda:1 or mps (cpu)")
    run.add_argument("--again", action="store_true", help="repeat what is finished too")


def _list(options: argparse.Namespace) -> int:
    studies, results = _module("vit_str.studies"), _module("vit_str.studies.result")
    for name in studies.STUDIES:
        study = studies.study_of(name)
        result = results.load_result(Path(options.out) / name)
        verdict = "-" if result is None else f"{result.verdict}{' quick' * result.quick}"
        console.write(f"{name:<16} {study.posts:<7} {verdict:<20} {study.claim}")
    return 0


def _run(options: argparse.Namespace) -> int:
    from vit_str.devices import choose_device

    runner, settings = _module("vit_str.studies.runner"), _module("vit_str.studies").Settings
    device = str(choose_device(options.device))
    asked = settings(options.quick, options.seeds, device)
    jobs = runner.jobs_of(options.ids, Path(options.out), asked)
    done = {} if options.again else {job.id: runner.finished(job) for job in jobs}
    for result in filter(None, done.values()):
        console.write(f"{_line(result)}, from before")
    left = [job for job in jobs if not done.get(job.id)]
    failed = 0
    outcomes = runner.run_all(left, options.workers or _cpus(), (bar := _Bar(len(left))).look)
    with bar.shown(), closing(outcomes):
        for outcome in outcomes:
            failed += bool(outcome.failure)
            where = Path(options.out) / outcome.id
            with bar.hidden(ended=1):
                console.write(
                    f"{outcome.id:<16} {_FAILED}: {outcome.failure} ({where})"
                    if outcome.failure
                    else _line(outcome.result)
                )
    return 1 if failed else 0


def _page(options: argparse.Namespace) -> int:
    studies, page = _module("vit_str.studies").STUDIES, _module("vit_str.studies.page")
    count = page.write_page(options.results, list(studies), Path(options.out))
    console.write(f"{options.out}: {count} of {len(studies)} studies")
    return 0


def _line(result: Any) -> str:
    verdict = f"{result.verdict}{' quick' * result.quick}"
    return (
        f"{result.id:<16} {verdict:<20} {result.measure}: {result.number}, {result.seconds:.0f} s"
    )


def _module(name: str) -> Any:
    """By name: studies need libraries that reading does without."""
    return import_module(name)


def _cpus() -> int:
    import os

    available = getattr(os, "sched_getaffinity", None)  # what a container may use, on Linux
    return len(available(0)) if available else os.cpu_count() or 1


class _Bar:
    """A bar on standard error, if that is a terminal."""

    def __init__(self, total: int) -> None:
        self._total, self._ended = total, 0
        self._bar: Any = None

    @contextmanager
    def shown(self) -> Iterator[None]:
        import sys

        if sys.stderr and sys.stderr.isatty() and self._total:
            from tqdm import tqdm

            form = "{percentage:3.0f}% |{bar:20}| {elapsed} {postfix}"
            self._bar = tqdm(total=self._total, bar_format=form, leave=False, file=sys.stderr)
        try:
            yield
        finally:
            if self._bar is not None:
                self._bar.close()

    def look(self, shares: dict[str, float]) -> None:
        """Show what runs and how far it is."""
        if self._bar is not None:
            self._bar.n = self._ended + sum(shares.values())
            told = ", ".join(f"{name} {100 * share:.0f} %" for name, share in shares.items())
            self._bar.set_postfix_str(told)

    @contextmanager
    def hidden(self, ended: int) -> Iterator[None]:
        """Take the bar away while a line is printed."""
        self._ended += ended
        if self._bar is not None:
            self._bar.clear()
        yield
        if self._bar is not None:
            self._bar.refresh()
