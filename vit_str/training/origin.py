"""What weights say of the run that they come from."""

import sys
from collections.abc import Sequence
from pathlib import PurePath

_ENDS = "[]{}\"',"  # what may stand beside a path in a list


def train_command(arguments: Sequence[str] | None = None) -> str:
    """The command of a run, without folders of the machine that it ran on.

    Weights are given to others: of absolute paths only the names are kept.

    Args:
        arguments: behind ``vit-str train``; those of this process if None.
    """
    arguments = sys.argv[2:] if arguments is None else arguments
    return " ".join(["vit-str", "train", *map(without_folders, arguments)])


def without_folders(argument: str) -> str:
    """An argument with the names of absolute paths in place of these."""
    option, is_given, value = argument.rpartition("=")
    parts = [_name(part) for part in value.split(",")]
    return option + is_given + ",".join(parts)


def _name(part: str) -> str:
    inner = part.strip(_ENDS + " ")
    if not PurePath(inner).is_absolute():
        return part
    return part.replace(inner, PurePath(inner).name)
