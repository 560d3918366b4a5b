"""``vit-str data``: look into labeled word images on disk, convert them, see them augmented."""

import argparse
from collections.abc import Sequence
from importlib import import_module

from vit_str import console
from vit_str.commands.data.options import parse


def main(arguments: Sequence[str]) -> int:
    """Do as the arguments say; returns the exit code.

    Raises:
        UsageError: the arguments make no sense, or what they name cannot be read as a data set.
    """
    options = parse(arguments)
    try:
        # Imported here, so that help and wrong arguments are answered at once.
        return _run(options)
    except ValueError as error:
        raise ValueError(" ".join(str(error).split())) from error
    except OSError as error:
        reason = error.strerror or str(error)
        where = error.filename or getattr(options, "target", None) or options.command
        return console.fail(f"{where}: {reason}; mend that and run it again", 1)


def _run(options: argparse.Namespace) -> int:
    code: int = import_module(f"vit_str.commands.data.{options.command}").run(options)
    return code
