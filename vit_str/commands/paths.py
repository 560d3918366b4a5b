"""Which images a user means: files, folders, globs and standard input."""

import glob
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from vit_str.images import SUFFIXES

STANDARD_INPUT = "-"


@dataclass(slots=True)
class Found:
    """What came of the paths on the command line.

    Attributes:
        paths: files in the order given, those of a folder or glob sorted; ``-`` stays.
        troubles: (path, what is wrong with it) for each that led to no file.
    """

    paths: list[str] = field(default_factory=list)
    troubles: list[tuple[str, str]] = field(default_factory=list)


def find_images(arguments: Iterable[str]) -> Found:
    """Resolve the paths on the command line.

    Globs are resolved here because not every shell does it. A file whose name looks like a glob
    is that file.
    """
    found = Found()
    for argument in arguments:
        if argument == STANDARD_INPUT:
            found.paths.append(argument)
        elif not os.path.lexists(argument) and glob.has_magic(argument):
            matches = sorted(glob.glob(argument, recursive=True))
            if not matches:
                found.troubles.append((argument, "matches no file; check the pattern"))
            for match in matches:
                _add(match, found)
        else:
            _add(argument, found)
    return found


def _add(path: str, found: Found) -> None:
    if os.path.isdir(path):
        before = len(found.paths) + len(found.troubles)
        found.paths.extend(_images_in(path, found.troubles))
        if len(found.paths) + len(found.troubles) == before:
            found.troubles.append((path, "a folder without images; name the files to read"))
    elif os.path.lexists(path):
        found.paths.append(path)
    else:
        found.troubles.append((path, "no such file; check the path"))


def _images_in(folder: str, troubles: list[tuple[str, str]]) -> Iterator[str]:
    def note(error: OSError) -> None:
        troubles.append((str(error.filename), f"cannot be searched ({error.strerror})"))

    for place, folders, files in os.walk(folder, onerror=note):
        folders.sort()
        for file in sorted(files):
            hidden = file.startswith(".")  # such as the ._ files that macOS leaves
            if not hidden and file.lower().endswith(SUFFIXES):
                yield os.path.join(place, file)
