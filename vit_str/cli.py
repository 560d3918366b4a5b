"""The command line: ``vit-str COMMAND``, with every command in the table `COMMANDS`.

Most commands are a module of a room, with ``add_arguments(parser)`` and ``run(options)``, which
returns the exit code. It is imported when its command is asked for, so that help and mistakes are
answered at once, and a command needs only its own libraries.
"""

import argparse
import os
import signal
import sys
import threading
from collections.abc import Sequence
from contextlib import nullcontext
from importlib import import_module
from types import FrameType
from typing import Any, NamedTuple

from vit_str import console
from vit_str.console import positive
from vit_str.machine import threads_for_load, use_threads, wait_passively

_EPILOG = """\
exit codes: 0 success; 1 some image could not be read, or the output not written;
2 wrong use; 130 interrupted with Ctrl-C; 143 ended by SIGTERM."""
_ENDING = ("SIGTERM", "SIGHUP")  # of a time limit, and of a terminal that is closed
_OWN_WAYS = ("train", "serve")  # finish their step, or what clients wait for
_PATHS = {"--out", "--web", "--overlay", "--sheet", "--markdown", "--changes"}
_PATHS |= {"--report", "--folder", "--files-from", "--data", "--words", "--fonts"}

_TRAIN_HELP = """\
usage: vit-str train --config FILE [--folder FOLDER] [--init NAME|FILE] [--charset NAME|FILE]
                     [--ckpt_path last|FILE] [--SECTION.NAME VALUE ...]

Train a model on rendered text, or on your own words. After Ctrl-C or a kill the same command
resumes. Whatever is in the configuration, in YAML, can be given on the command line too.

options:
  -c, --config FILE     a configuration, such as those in configs/
  --folder FOLDER       where the run is kept
  --threads N           threads that compute, in each process
  --init NAME|FILE      start from these weights: of the package, or a .safetensors file
  --charset CHARSET     characters to read: a name, several joined by +, a text file, or themselves
  --pattern REGEX       draw only texts that match this expression
  --only-words FILE     draw only the lines of this text file
  --ckpt_path last|FILE resume from this checkpoint; last: that of the folder of the run, if any
  --print_config        print the whole configuration and exit
  --config FILE --help  describe every option of model, data and trainer

examples:
  vit-str train --config configs/vit_tiny_transformer.yaml
  vit-str train --config configs/vit_tiny_transformer.yaml --trainer.max_time 00:08:00:00
  vit-str train --config configs/finetune.yaml --init tiny --data.init_args.sources '[crops/]'

exit codes: 0 trained; 2 wrong use; 130 interrupted with Ctrl-C."""


class Command(NamedTuple):
    """A command of ``vit-str``."""

    help: str
    module: str
    extra: str | None = None


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns its exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    name = arguments[0] if arguments and arguments[0] in COMMANDS else None
    console.prepare()
    end = _Ending()
    try:
        try:
            with end if name not in _OWN_WAYS else nullcontext():
                return (
                    _run(name, arguments[1:]) if name else _without_command(arguments)
                )
        finally:
            if sys.stdout is not None:
                sys.stdout.flush()
    except KeyboardInterrupt:
        return _fail(name, *end.reason)
    except BrokenPipeError:  # the reader of our output, such as head, has seen enough
        console.drop_output()
        return 141
    except ModuleNotFoundError as error:
        missing = (error.name or "vit_str").partition(".")[0]
        if missing == "shtab":
            return _fail(name, "--completion needs shtab, run: pip install shtab", 2)
        if name is None or missing == "vit_str" or COMMANDS[name].extra is None:
            raise  # a mistake of ours, not a package that the base install leaves out
        from vit_str.machine import install_hint

        hint = install_hint(COMMANDS[name].extra or "")
        return _fail(name, f"needs {error.name}, run: {hint}", 2)
    except (ValueError, MemoryError, OSError) as error:
        return _fail(name, *_reason(error))


def _reason(error: Exception) -> tuple[str, int]:
    """Why a command ends, and its exit code."""
    if isinstance(error, ValueError):
        return str(error), 2
    if not isinstance(error, OSError):
        return "not enough memory; close other programs, or work on less at once", 1
    if error.filename is None:  # perhaps of standard output
        console.drop_output()
    where = f"{error.filename}: " if error.filename else ""
    return f"{where}{error.strerror or error}", 1


class _Ending:
    """Ends a command on SIGTERM and SIGHUP as on Ctrl-C, with nothing half written.

    A second one ends it at once.
    """

    def __init__(self) -> None:
        self._number: int = signal.SIGINT
        self._heard: list[int] = []
        self._process = os.getpid()

    @property
    def reason(self) -> tuple[str, int]:
        """Why it ended, and the exit code."""
        is_usual = self._number == signal.SIGINT
        name = signal.Signals(self._number).name
        return "interrupted" if is_usual else f"ended by {name}", 128 + self._number

    def __enter__(self) -> None:
        if threading.current_thread() is not threading.main_thread():
            return
        for name in _ENDING:
            number = getattr(signal, name, None)
            # Not, as under nohup, what is not to be heard
            if number is not None and signal.getsignal(number) is signal.SIG_DFL:
                signal.signal(number, self._end)
                self._heard.append(number)

    def __exit__(self, *_: object) -> None:
        for number in self._heard:
            signal.signal(number, signal.SIG_DFL)

    def _end(self, number: int, _: FrameType | None) -> None:
        signal.signal(number, signal.SIG_DFL)
        if os.getpid() != self._process:  # one that was forked from it
            os.kill(os.getpid(), number)
        self._number = number
        raise KeyboardInterrupt


def _fail(command: str | None, reason: str, code: int) -> int:
    """Print why a command ends, in one line; returns the exit code."""
    console.warn(" ".join(reason.split()), command)
    return code


def _without_command(arguments: Sequence[str]) -> int:
    parser = _parser("vit-str")
    parser.description = (
        "Read the text in cropped word images with a Vision Transformer."
    )
    parser.epilog = f"vit-str COMMAND --help describes a command\n\n{_EPILOG}"
    parser.add_argument(
        "--version",
        action="store_true",
        help="print the versions of program and weights, and exit",
    )
    parser.add_argument(
        "--completion",
        choices=("bash", "zsh", "tcsh"),
        help="print a completion script for this shell, and exit",
    )
    commands = parser.add_subparsers(metavar="COMMAND")
    for name, command in COMMANDS.items():
        commands.add_parser(name, help=command.help, add_help=False)
    options = parser.parse_args(arguments)
    if options.version or options.completion:
        shown = _completion(options.completion) if options.completion else _version()
        console.write(shown)
        return 0
    parser.print_help(sys.stderr)
    return 2


def _version() -> str:
    """The package, and the SHA-256 of its weights."""
    import hashlib
    from pathlib import Path

    import vit_str

    bundled = Path(__file__).with_name("bundled")
    files = [*bundled.glob("*.safetensors"), *bundled.glob("*.onnx")]
    weights = [
        f"{path.stem} sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}"
        for path in sorted(files)
    ]
    return ", ".join([f"vit-str {vit_str.__version__}", *weights])


def _completion(shell: str) -> str:
    """A script for a shell; made of the parsers of all commands but that of training."""
    import shtab

    parser = _parser("vit-str")
    commands = parser.add_subparsers()
    for name, command in COMMANDS.items():
        own = commands.add_parser(name, help=command.help)
        if name != "train":
            _add_arguments(own, name)
        for action in own._actions:
            if action.nargs != 0 and not action.choices:
                action.complete = shtab.FILE  # type: ignore[attr-defined]
    return str(shtab.complete(parser, shell))


def _run(name: str, arguments: Sequence[str]) -> int:
    _refuse_empty(arguments)
    wait_passively()
    if name == "train":
        return _train(arguments)
    parser = _parser(f"vit-str {name}")
    command = _add_arguments(parser, name)
    options = parser.parse_args(arguments)
    _limit_threads(options.threads, name)
    code: int = command.run(options)
    return code


def _refuse_empty(arguments: Sequence[str]) -> None:
    """Refuse paths without a name, which would be the folder that the user is in, or none."""
    for place, argument in enumerate(arguments):
        option, is_joined, value = argument.partition("=")
        values = [value] if is_joined else arguments[place + 1 : place + 2]
        if option in _PATHS and list(values) == [""]:
            raise ValueError(
                f"{option} has an empty name; perhaps a variable of the shell is not set"
            )


def _limit_threads(asked: int | None, command: str) -> None:
    """Compute with as many threads as asked for; fewer than usual where a machine is busy."""
    if asked:
        use_threads(asked)
        return
    fewer = threads_for_load()
    if fewer:
        use_threads(fewer)
        warning = f"this machine is busy, threads that compute: {fewer} (--threads N)"
        console.warn(warning, command)


def _add_arguments(parser: argparse.ArgumentParser, name: str) -> Any:
    """Add the options of a command; returns its module."""
    command = import_module(f"vit_str.{COMMANDS[name].module}")
    command.add_arguments(parser)
    _add_threads(parser, default=None)
    return command


def _add_threads(parser: argparse.ArgumentParser, default: str | None) -> None:
    """Add ``--threads``, behind the names of subcommands too, where leaving it out unsets none."""
    parser.add_argument(
        "--threads",
        type=positive,
        default=default,
        metavar="N",
        help="computing threads of each process (default: one per CPU that may "
        "be used)",
    )
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for subcommand in action.choices.values():
                _add_threads(subcommand, default=argparse.SUPPRESS)


def _parser(program: str) -> argparse.ArgumentParser:
    return argparse.ArgumentParser(
        program,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )


def _train(arguments: Sequence[str]) -> int:
    if list(arguments) in (["-h"], ["--help"]):
        # The parser of training needs its libraries, and seconds
        console.write(_TRAIN_HELP)
        return 0
    if arguments:  # silent seconds otherwise, of the libraries of training
        console.warn("loads its libraries, then fonts and lists of words", "train")
    from vit_str.training.cli import main

    return main(arguments)


COMMANDS = {
    "read": Command("read the text in image files", "reading.command"),
    "check": Command(
        "check a text that something else wrote against a picture",
        "reading.checking.command",
        "page",
    ),
    "evaluate": Command(
        "measure accuracy on labeled images", "evaluation.command", "analyze"
    ),
    "train": Command("train a model on rendered text", "training.cli", "train"),
    "kit": Command(
        "write all that training draws with to one file",
        "rendering.kit_command",
        "train",
    ),
    "render": Command("render labeled word images", "rendering.command", "analyze"),
    "analyze": Command(
        "look into models: where attention goes, and more",
        "analysis.command",
        "analyze",
    ),
    "data": Command(
        "inspect, convert and show labeled word images on disk",
        "datasets.command",
        "train",
    ),
    "calibrate": Command(
        "make confidences mean what they say", "evaluation.calibration.command", "torch"
    ),
    "export": Command("write a model for onnxruntime", "export.command", "export"),
    "serve": Command("read pictures that come over HTTP", "serving.command", "serve"),
    "mcp": Command(
        "read pictures and documents for an assistant",
        "serving.assistant_command",
        "mcp",
    ),
}
