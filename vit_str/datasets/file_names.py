"""Images whose names are what they say."""

import os
import re
from array import array
from collections.abc import Iterator
from pathlib import Path

from vit_str.datasets.label_lines import BadLine, Row, decoded
from vit_str.datasets.source import Skipped

_NUMBER = re.compile(r"_\d+$")


class FileNames:
    """The images in a folder and those below it; the names say what they hold.

    The label is the name without its ending, and without an underscore and digits at its end:
    ``word.png``, ``word_17.png`` and ``more/word_3.jpg`` all say ``word``, ``a_b_1.png`` says
    ``a_b``. Files come sorted, hidden ones are no words.

    Args:
        folder: where to look.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._names: bytes | None = None
        self._ends: array[int] = array("Q")

    def __len__(self) -> int:
        self._find()
        return len(self._ends)

    def __getitem__(self, place: int) -> Row | Skipped:
        names = self._find()
        if not 0 <= place < len(self._ends):
            raise IndexError(place)
        start = self._ends[place - 1] if place else 0
        raw = names[start : self._ends[place]]
        name = raw.decode("utf-8", "surrogateescape")
        try:
            return Row(name, decoded(label_of(name).encode("utf-8", "surrogateescape")))
        except BadLine as error:
            return Skipped(name, error.reason, error.detail)

    def _find(self) -> bytes:
        """All names in one piece: as objects they would take five times the memory."""
        if self._names is None:
            names = bytearray()
            for path in images_below(self.folder):
                names += os.path.relpath(path, self.folder).encode("utf-8", "surrogateescape")
                self._ends.append(len(names))
            self._names = bytes(names)
        return self._names


def label_of(path: str) -> str:
    """What the name of a file says; bytes that are not UTF-8 are surrogates."""
    return _NUMBER.sub("", os.path.splitext(os.path.basename(path))[0])


def images_below(folder: Path) -> Iterator[str]:
    """Paths of the image files in a folder and those below it, sorted by folder."""
    from vit_str.images import SUFFIXES

    for place, folders, files in os.walk(folder):
        folders[:] = sorted(each for each in folders if not each.startswith("."))
        for file in sorted(files):
            hidden = file.startswith(".")  # such as the ._ files that macOS leaves
            if not hidden and file.lower().endswith(SUFFIXES):
                yield os.path.join(place, file)
