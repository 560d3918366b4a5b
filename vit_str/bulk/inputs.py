"""Which files a user means: image files, archives, folders of both, and globs."""

import glob
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from vit_str.bulk.parts import Kind, kind_of
from vit_str.images import SUFFIXES

_COMPRESSED = (".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tar.xz", ".txz", ".tar.zst", ".zip")


@dataclass(slots=True)
class Inputs:
    """What came of the paths on the command line.

    Attributes:
        paths: image files, tar archives and Parquet files, each once, in the order given; those
            of a folder or glob sorted.
        troubles: (path, what is wrong with it) for each that led to no file.
    """

    paths: list[str] = field(default_factory=list)
    troubles: list[tuple[str, str]] = field(default_factory=list)


def find_inputs(arguments: Iterable[str]) -> Inputs:
    """Resolve the paths on the command line; a file whose name looks like a glob is that file."""
    inputs = Inputs()
    for argument in arguments:
        if os.path.lexists(argument) or not glob.has_magic(argument):
            _add(argument, inputs)
            continue
        matches = sorted(glob.glob(argument, recursive=True))
        if not matches:
            inputs.troubles.append((argument, "matches no file; check the pattern"))
        for match in matches:
            _add(match, inputs)
    inputs.paths = list(dict.fromkeys(inputs.paths))
    return inputs


def _add(path: str, inputs: Inputs) -> None:
    if os.path.isdir(path):
        before = len(inputs.paths) + len(inputs.troubles)
        inputs.paths.extend(_files_in(path, inputs.troubles))
        if len(inputs.paths) + len(inputs.troubles) == before:
            trouble = "a folder without images, .tar or .parquet files; name what to read"
            inputs.troubles.append((path, trouble))
    elif not os.path.lexists(path):
        inputs.troubles.append((path, "no such file; check the path"))
    elif path.lower().endswith(_COMPRESSED):
        trouble = "a compressed archive, which has no places to go on from; unpack it to a .tar"
        inputs.troubles.append((path, trouble))
    else:
        inputs.paths.append(path)


def _files_in(folder: str, troubles: list[tuple[str, str]]) -> Iterator[str]:
    def note(error: OSError) -> None:
        troubles.append((str(error.filename), f"cannot be searched ({error.strerror})"))

    for place, folders, files in os.walk(folder, onerror=note):
        folders.sort()
        for file in sorted(files):
            if not file.startswith(".") and _wanted(file):
                yield os.path.join(place, file)


def _wanted(file: str) -> bool:
    return kind_of(file) is not Kind.FILES or file.lower().endswith(SUFFIXES)
