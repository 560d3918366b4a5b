"""The command line: ``vit-str read | evaluate | train | render | analyze``.

Nothing heavy is imported before a command needs it, so that help and mistakes are answered at once.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from importlib import import_module

from vit_str.cli import console

_EPILOG = """\
exit codes: 0 all well; 1 some image could not be read, or the output not written;
2 wrong use; 130 interrupted with Ctrl-C."""

# These commands have a parser of their own: module, and what they do.
_HANDED_OVER = {
    "train": ("vit_str.training.cli", "train a model on rendered text"),
    "render": ("vit_str.cli.render", "render labeled word images"),
    "analyze": ("vit_str.analysis.cli", "look into models: how far attention reaches, and more"),
}

_EXTRAS = {"train": "train", "render": "analyze", "analyze": "analyze"}


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
        code: int | None = import_module(module).main(arguments)
    except ModuleNotFoundError as error:
        if (error.name or "vit_str").partition(".")[0] == "vit_str":
            raise  # a mistake of ours, not a package that the base install leaves out
        raise console.UsageError(
            f'{command} needs {error.name}, run: pip install "vit-str[{_EXTRAS[command]}]"'
        ) from error
    return code or 0


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
    read.add_argument("--format", choices=("text", "jsonl", "csv"), default="text")
    read.add_argument(
        "--boxes",
        action="store_true",
        help="say about where each character is, with --format jsonl",
    )
    _add_model(read)


def _add_evaluate(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    evaluate = commands.add_parser(
        "evaluate",
        help="measure accuracy on labeled images",
        description="Read labeled images and compare: word accuracy under 36, 62 and 94\n"
        "characters, character accuracy, 1-NED and the error of the confidences, each with a\n"
        "95 % interval. With --against, also how much better --model is, word by word.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    evaluate.add_argument(
        "folders",
        nargs="+",
        metavar="FOLDER",
        help="folder with labels.tsv (file, tab, label) and the images, beside it or in images/",
    )
    evaluate.add_argument(
        "--against",
        metavar="NAME|FILE",
        help="weights to compare with on the same words",
    )
    evaluate.add_argument("--json", action="store_true", help="print one JSON object, fractions")
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
        help="threads that decode images (default: one per CPU, 4 at most)",
    )


def _positive(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text) > 0):
        raise argparse.ArgumentTypeError(f"expected a whole number from 1 on, found {text!r}")
    return int(text)
