"""Which files a user means: files, folders, globs and standard input."""

import glob
import os
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from vit_str.console import one_line, warn
from vit_str.files import find_files
from vit_str.runtime.images import SUFFIXES

STANDARD_INPUT = "-"


class Inputs(NamedTuple):
    """What came of the paths on the command line.

    Attributes:
        paths: files in the order given, those of a folder or glob sorted; ``-`` stays.
        problems: (path, what is wrong with it) for each that led to no file.
    """

    paths: list[str]
    problems: list[tuple[str, str]]

    def add_problem(self, path: str, problem: str) -> None:
        """Note what is wrong with a path."""
        self.problems.append((path, problem))


def find_inputs(arguments: Iterable[str], suffixes: tuple[str, ...] = SUFFIXES) -> Inputs:
    """Resolve the paths on the command line.

    Globs are resolved here because not every shell does it. A file whose name looks like a glob
    is that file.

    Args:
        arguments: files, folders, globs, or ``-`` for standard input.
        suffixes: of the files to find in folders.
    """
    found = Inputs([], [])
    for argument in arguments:
        if argument == STANDARD_INPUT:
            found.paths.append(argument)
        elif os.path.lexists(argument) or not glob.has_magic(argument):
            _add(argument, suffixes, found)
        else:
            matches = sorted(_matches(argument))
            if not matches:
                found.add_problem(argument, "matches no file; check the pattern")
            for match in matches:
                _add(match, suffixes, found)
    return found


def _matches(pattern: str) -> set[str]:
    """What a glob matches; ``**`` does not follow links to folders, so that circles end."""
    parts = pattern.replace(os.altsep or os.sep, os.sep).split(os.sep)
    if "**" not in parts:
        return set(glob.glob(pattern))
    place = parts.index("**")
    head, tail = os.sep.join(parts[:place]), os.sep.join(parts[place + 1 :] or ["*"])
    if place and not head:  # the root
        head = os.sep
    found = set()
    for folder in glob.glob(head) if head else [""]:
        for parent, folders, _ in os.walk(folder or "."):
            folders[:] = [name for name in folders if not name.startswith(".")]
            inside = os.path.relpath(parent, folder or ".")
            start = folder if inside == "." else os.path.join(folder, inside)
            found |= _matches(os.path.join(glob.escape(start), tail))
    return found


def listed(path: str) -> list[str]:
    """The lines of a file that names inputs, or of standard input for ``-``."""
    try:
        with open(0 if path == STANDARD_INPUT else path, "rb", closefd=path != "-") as file:
            content = file.read()
    except OSError as error:
        raise ValueError(f"--files-from {path}: {error.strerror}; check the path") from None
    return [os.fsdecode(line) for line in content.splitlines() if line]


def _add(path: str, suffixes: tuple[str, ...], found: Inputs) -> None:
    if not os.path.isdir(path):
        if os.path.lexists(path):
            found.paths.append(path)
        else:
            found.add_problem(path, "no such file; check the path")
        return

    def note(error: OSError) -> None:
        found.add_problem(str(error.filename), f"cannot be searched ({error.strerror})")

    before = len(found.problems)
    files = find_files(path, suffixes, note)
    # Under the name that was given, such as ./words, which pathlib would change.
    found.paths.extend(os.path.join(path, file.relative_to(Path(path))) for file in files)
    if not files and len(found.problems) == before:
        found.add_problem(path, "a folder without images; name the files to read")


def report(problems: Iterable[tuple[str, str]]) -> None:
    """Say what is wrong with paths, a line each."""
    for path, problem in problems:
        warn(f"{one_line(path)}: {problem}")
