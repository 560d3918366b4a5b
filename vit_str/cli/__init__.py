"""The command line: ``vit-str read | evaluate | train | render | analyze``.

Nothing heavy is imported before a command needs it, so that help and mistakes are answered at once.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from types import ModuleType

from vit_str.cli import console

_EPILOG = """\
exit codes: 0 all well; 1 some image could not be read, or the output not written;
2 wrong use; 130 interrupted with Ctrl-C."""

# These commands have a parser of their own: module, and what they do.
_HANDED_OVER = {
    "train": ("vit_str.training.cli", "train a model on rendered text"),
    "render": ("vit_str.cli.render", "render labeled word images"),
    "analyze": ("vit_str.analysis.command", "look into models: how far attention reaches"),
    "data": ("vit_str.cli.data", "inspect, convert and show labeled word images on disk"),
    "doctor": ("vit_str.cli.doctor", "check a weights file and this machine"),
    "calibrate": ("vit_str.cli.calibrate", "make confidences mean what they say"),
    "study": ("vit_str.cli.study", "run the claims behind this project as experiments"),
}

_EXTRAS = {
    **dict.fromkeys(("train", "data"), "train"),
    **dict.fromkeys(("render", "analyze", "study"), "analyze"),
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns its exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    console.prepare()
    try:
        try:
            return _run(arguments)
        finally:
            console.flush()
    except KeyboardInterrupt:
        return console.fail("interrupted", 130)
    except console.UsageError as error:
        return console.fail(str(error), 2)
    except BrokenPipeError:  # the reader of our output, such as head, has seen enough
        console.drop_output()
        return 141
    except console.OutputError as error:
        console.drop_output()
        return console.fail(str(error), 1)


def _run(arguments: list[str]) -> int:
    if arguments and arguments[0] in _HANDED_OVER:
        return _hand_over(arguments[0], arguments[1:])
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.version:
        import vit_str

        console.write(f"vit-str {vit_str.__version__}")
        return 0
    if options.command is None:
        parser.print_help(sys.stderr)
        return 2
    command: Callable[[argparse.Namespace], int]
    command = import_module(f"vit_str.cli.{options.command}").run
    return command(options)


def _hand_over(command: str, arguments: list[str]) -> int:
    module, _ = _HANDED_OVER[command]
    try:
        if command == "analyze":  # until the table of commands is there
            code: int | None = _run_room(command, import_module(module), arguments)
        else:
            code = import_module(module).main(arguments)
    except ModuleNotFoundError as error:
        missing = (error.name or "vit_str").partition(".")[0]
        if missing == "vit_str" or command not in _EXTRAS:
            raise  # a mistake of ours, not a package that the base install leaves out
        raise console.UsageError(
            f'{command} needs {error.name}, run: pip install "vit-str[{_EXTRAS[command]}]"'
        ) from error
    return code or 0


def _run_room(command: str, room: ModuleType, arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(f"vit-str {command}", allow_abbrev=False)
    room.add_arguments(parser)
    code: int = room.run(parser.parse_args(arguments))
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="vit-str",
        description="Read the text in cropped word images with a Vision Transformer.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="store_true", help="print the version and leave")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    _add_read(commands)
    _add_evaluate(commands)
    for name, (_, purpose) in _HANDED_OVER.items():
        commands.add_parser(name, help=f"{purpose} (vit-str {name} --help)", add_help=False)
    return parser


def _add_read(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    read = commands.add_parser(
        "read",
        help="read the text in image files",
        description="Print the text in image files, one line each: path, text, confidence.",
        epilog="The formats: text is path, tab, text, tab, confidence; jsonl is one object per\n"
        "line with path, text, confidence and characters; csv has a header. The confidence is\n"
        "the probability of the whole text, 0 to 1. An image without text gives empty text.\n"
        "A box is left, top, right, bottom, in pixels of the image turned upright.\n\n"
        f"{_EPILOG}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    read.add_argument(
        "paths",
        nargs="+",
        metavar="PATH",
        help="image file, folder (with the folders in it), glob, or - for standard input",
    )
    read.add_argument(
        "--format",
        choices=("text", "jsonl", "csv", "parquet"),
        help="default: text, or parquet with --engine ray, which writes parquet or jsonl",
    )
    read.add_argument(
        "--boxes",
        action="store_true",
        help="say about where each character is, with --format jsonl or parquet",
    )
    _add_model(read)
    _add_bulk(read)


def _add_bulk(read: argparse.ArgumentParser) -> None:
    bulk = read.add_argument_group(
        "many images",
        "--engine ray reads with several processes, also on a cluster: images, folders of them,\n"
        "tar archives and Parquet files. The same command goes on where it was stopped.",
    )
    bulk.add_argument("--engine", choices=("plain", "ray"), default="plain")
    bulk.add_argument("--out", metavar="FOLDER", help="where the results go, a file for each part")
    bulk.add_argument(
        "--characters", action="store_true", help="write each character and its confidence too"
    )
    bulk.add_argument(
        "--column",
        metavar="NAME",
        help="of Parquet files, with image files as bytes or with their paths "
        "(default: the only one of bytes, or else path)",
    )
    bulk.add_argument(
        "--part-size", type=_positive, metavar="N", help="images in a part (default: 1024)"
    )
    bulk.add_argument(
        "--ray-address",
        metavar="ADDRESS",
        help="a cluster: auto or HOST:6379 (default: this machine alone)",
    )


def _add_evaluate(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    evaluate = commands.add_parser(
        "evaluate",
        help="measure accuracy on labeled images",
        description="Read labeled images and compare: word accuracy under 36, 62, 94 and all\n"
        "characters (full: exactly as written, in any script), character accuracy, 1-NED and the\n"
        "error of the confidences, each with a 95 % interval. With --against, also how much\n"
        "better --model is, word by word. JSON and pages of Markdown also have accuracy by kind\n"
        "of word, accuracy if the least sure are rejected, and the most common mistakes.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    evaluate.add_argument(
        "sources",
        nargs="+",
        metavar="SOURCE",
        help="folder with labels.tsv (file, tab, label) and the images, beside it or in images/; "
        "or another data set: LMDB, tar archives, ... (see vit-str data --help)",
    )
    evaluate.add_argument(
        "--against",
        metavar="NAME|FILE",
        help="weights to compare with on the same words",
    )
    evaluate.add_argument("--json", action="store_true", help="print one JSON object, fractions")
    evaluate.add_argument(
        "--breakdown", action="store_true", help="print accuracy by kind of word too"
    )
    evaluate.add_argument(
        "--markdown", metavar="FILE", help="write a page without figures, such as all.md"
    )
    evaluate.add_argument(
        "--report",
        metavar="FOLDER",
        help="write a page with figures: report.md and PNG files, no image of a word",
    )
    evaluate.add_argument(
        "--sheet",
        metavar="FILE",
        help="write a picture with the images of the surest mistakes, such as mistakes.png",
    )
    _add_model(evaluate)


def _add_model(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--model",
        default="tiny",
        metavar="NAME|FILE",
        help="weights of the package or a .safetensors file (default: tiny)",
    )
    command.add_argument(
        "--device", default="auto", help="auto, cpu, cuda, cuda:1 or mps (default: auto)"
    )
    command.add_argument(
        "--care",
        choices=("fast", "careful"),
        help="how to read, for models that can choose (default: as they were saved)",
    )
    command.add_argument(
        "--batch-size",
        type=_positive,
        default=32,
        metavar="N",
        help="images read at once (default: 32)",
    )
    command.add_argument(
        "--workers",
        type=_positive,
        metavar="N",
        help="threads that decode images (default: one per CPU, 4 at most); with --engine ray, "
        "processes that read (default: one per GPU, or else per CPU)",
    )


def _positive(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text) > 0):
        raise argparse.ArgumentTypeError(f"expected a whole number from 1 on, found {text!r}")
    return int(text)
