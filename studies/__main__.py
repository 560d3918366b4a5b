"""``python -m studies``: run the claims of the posts as experiments."""

import argparse
import sys
import traceback
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from studies import NAMES, Settings, describe
from studies.page import write_page
from studies.running import Result, load_result, run_studies
from vit_str.console import drop_output, positive
from vit_str.machine import cpu_count
from vit_str.torch_runtime.devices import choose_device

_DESCRIPTION = """\
The claims that this project grew from, each as an experiment that anyone can run: what is claimed,
what to expect, a table, a figure, and a verdict computed from the numbers."""

_EPILOG = """\
examples:
  python -m studies list                               all studies, with verdicts of earlier runs
  python -m studies run sinusoid order --quick         two studies, in their small version
  python -m studies run all --out runs/studies         all of them; finished ones are skipped
  python -m studies page runs/studies --out claims.md  a page of the results, with figures

exit codes: 0 success; 1 a study failed, or the output cannot be written; 2 wrong use;
130 interrupted with Ctrl-C: what is finished is kept."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit code."""
    parser = _parser()
    options = parser.parse_args(arguments)
    try:
        return int(options.run(options))
    except ValueError as error:
        parser.error(str(error))
    except BrokenPipeError:  # such as of ``| head``
        drop_output()
        return 0
    except OSError as error:
        print(
            f"{error.filename or options.out}: {error.strerror or error}",
            file=sys.stderr,
        )
        return 1
    except KeyboardInterrupt:
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "python -m studies",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    out = argparse.ArgumentParser(add_help=False)
    folder = Path("runs/studies")
    out.add_argument(
        "--out",
        type=Path,
        default=folder,
        metavar="DIR",
        help=f"({folder})",
    )
    texts = "all studies, with verdicts of earlier runs"
    commands.add_parser("list", help=texts, parents=[out]).set_defaults(run=_list)
    run = commands.add_parser(
        "run",
        help="run studies",
        parents=[out],
        allow_abbrev=False,
    )
    _add_run_options(run)
    page = commands.add_parser(
        "page", help="make a page of results", allow_abbrev=False
    )
    _add_page_options(page)
    return parser


def _add_run_options(run: argparse.ArgumentParser) -> None:
    run.set_defaults(run=_run)
    names = [*NAMES, "all"]
    run.add_argument(
        "names",
        nargs="+",
        choices=names,
        metavar="NAME",
        help="of a study, or all",
    )
    run.add_argument(
        "--quick",
        action="store_true",
        help="the small versions: minutes each",
    )
    run.add_argument(
        "--seeds",
        type=positive,
        default=5,
        metavar="N",
        help="repetitions (5)",
    )
    run.add_argument(
        "--workers",
        type=positive,
        metavar="N",
        help="studies at once (one per CPU)",
    )
    run.add_argument(
        "--device",
        default="cpu",
        help="auto, cpu, cuda, cuda:1 or mps (cpu)",
    )
    run.add_argument("--again", action="store_true", help="repeat what is finished too")


def _add_page_options(page: argparse.ArgumentParser) -> None:
    page.set_defaults(run=_page)
    page.add_argument(
        "results",
        type=Path,
        metavar="DIR",
        help="that was --out of the runs",
    )
    page.add_argument(
        "--out",
        type=Path,
        required=True,
        metavar="FILE",
        help="such as claims.md",
    )


def _list(options: argparse.Namespace) -> int:
    for name in NAMES:
        study = describe(name)
        result = load_result(options.out / name)
        verdict = _verdict(result) if result else "-"
        print(f"{name:<16} {study.posts:<7} {verdict:<20} {study.claim}")
    return 0


def _run(options: argparse.Namespace) -> int:
    settings = Settings(
        options.quick, options.seeds, str(choose_device(options.device))
    )
    left = []
    failed = 0
    for name in NAMES if "all" in options.names else dict.fromkeys(options.names):
        result = None if options.again else load_result(options.out / name)
        if result and result["settings"] == asdict(settings):
            print(f"{_line(result)}, from before")
        else:
            left.append(name)
    for name, future in run_studies(
        left, options.out, settings, options.workers or cpu_count()
    ):
        error = future.exception()
        if error:
            failed = 1
            print(f"{name:<16} FAILED: {type(error).__name__}: {error}", flush=True)
            traceback.print_exception(error)
        else:
            print(_line(future.result()), flush=True)
    return failed


def _page(options: argparse.Namespace) -> int:
    count = write_page(options.results, options.out)
    print(f"{options.out}: {count} of {len(NAMES)} studies")
    return 0


def _line(result: Result) -> str:
    number = f"{result['measure']}: {result['number']}, {result['seconds']:.0f} s"
    return f"{result['name']:<16} {_verdict(result):<20} {number}"


def _verdict(result: Result) -> str:
    return f"{result['verdict']}{' quick' * result['settings']['quick']}"


if __name__ == "__main__":
    sys.exit(main())
