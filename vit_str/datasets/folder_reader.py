"""Images in files, with labels in a file or in their names."""

import os
import re
from collections.abc import Iterator
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from vit_str.datasets.folder import BOXES, IMAGES, LABELS
from vit_str.datasets.label_file import (
    LABEL_SUFFIXES,
    BadLine,
    LabelFile,
    LabelRow,
    checked_label,
)
from vit_str.datasets.source import IndexedSource, LabeledWord, Reason, Skipped
from vit_str.files import find_files

_USUAL = (
    LABELS,
    *("labels.csv", "labels.jsonl", "labels.txt"),
    *("metadata.csv", "metadata.jsonl", "gt.tsv", "gt.csv", "gt.txt"),
)
"""Label files by name; a folder may have one of another name instead."""

_SAME_LABELS = 10
"""As many images whose names say the same have been named by their number."""

_NUMBER = re.compile(r"_\d+$")


class LabeledFiles(NamedTuple):
    """Image files and what they say.

    Attributes:
        paths: of the images that are there.
        labels: of them.
        missing: names of images that are not there, and of lines that cannot be understood.
    """

    paths: list[Path]
    labels: list[str]
    missing: list[str]


class FolderReader(IndexedSource):
    """A folder of images with labels.

    Labels are in a file in the folder: ``labels.tsv``, as `FolderWriter` leaves it, or
    ``labels.csv``, ``metadata.jsonl``, ``gt.txt`` and so on, or the only file there that ends
    as label files do; see `LabelFile` for what it may look like. Images are in the folder
    ``images`` in it or in the folder itself, or where their names say from there, but nowhere
    else; backslashes in names are separators where no file has them in its name. Without a label
    file, the images in the folder and below it are labeled by their names, see `FileNames`.

    Args:
        path: the folder, or the label file.
        images: the folder that the names in the label file start from; they may lead out of it.

    Raises:
        ValueError: no such folder or file, no images in it, several label files, or one that
            cannot be understood.
    """

    format = "folder"

    def __init__(self, path: str | Path, images: str | Path | None = None) -> None:
        super().__init__(path)
        labels = label_file_of(self.path) if self.path.is_dir() else self.path
        self._boxes: LabelFile | None = None
        self._rows: LabelFile | FileNames
        if labels is None:
            self._rows = FileNames(self.path)
            folders = [self.path]
        else:
            self._rows = LabelFile(labels)
            boxes = labels.with_name(BOXES)
            if labels.name == LABELS and boxes.is_file():
                self._boxes = LabelFile(boxes)
            folders = [labels.parent / IMAGES, labels.parent]
        self._root = None if images else os.path.abspath(folders[-1])
        self._folders = [os.fspath(folder) for folder in ([images] if images else folders)]

    @staticmethod
    def recognizes(path: Path) -> bool:
        """Whether a path is a label file, or a folder with one or with images."""
        if path.is_file():
            return path.suffix.lower() in LABEL_SUFFIXES
        return path.is_dir() and (
            next(chain(_label_files(path), images_below(path)), None) is not None
        )

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, index: int) -> LabeledWord | Skipped:
        row = self._rows[index]
        if isinstance(row, Skipped):
            return row
        image = self._image(row.name)
        if isinstance(image, Skipped):
            return image
        return LabeledWord(image, row.label, row.boxes or self._boxes_of(row, index), row.name)

    def files(self) -> "LabeledFiles":
        """The image files that are there, and what they say."""
        files = LabeledFiles([], [], [])
        for row in (self._rows[index] for index in range(len(self))):
            path = self._path(row.name) if isinstance(row, LabelRow) else row
            if isinstance(path, Skipped) or isinstance(row, Skipped):
                files.missing.append(row.name)
            else:
                files.paths.append(Path(path))
                files.labels.append(row.label)
        return files

    def _image(self, name: str) -> bytes | Skipped:
        path = self._path(name)
        if isinstance(path, Skipped):
            return path
        try:
            with open(path, "rb") as file:
                return file.read()
        except OSError as error:
            return Skipped(name, Reason.UNREADABLE, error.strerror or str(error))

    def _path(self, name: str) -> str | Skipped:
        if self._root is not None:
            path = os.path.abspath(os.path.join(self._root, name.replace("\\", "/")))
            if not path.startswith(os.path.join(self._root, "")):
                return Skipped(name, Reason.MISSING, f"leads out of {self._root}")
        found = self._find(name) or (self._find(name.replace("\\", "/")) if "\\" in name else None)
        if found is None:
            folders = " or ".join(self._folders)
            return Skipped(name, Reason.MISSING, f"no such file in {folders}")
        return found

    def _find(self, name: str) -> str | None:
        paths = (os.path.join(folder, name) for folder in self._folders)
        return next((path for path in paths if os.path.isfile(path)), None)

    def _boxes_of(self, row: LabelRow, index: int) -> tuple[tuple[float, ...], ...]:
        """Boxes are in a file of their own, in the same order, and may end earlier or later."""
        if self._boxes is None or index >= len(self._boxes):
            return ()
        same = self._boxes[index]
        return same.boxes if isinstance(same, LabelRow) and same.name == row.name else ()


class FileNames:
    """The images in a folder and those below it; the names say what they hold.

    The label is the name without its suffix, and without an underscore and digits at its end:
    ``word.png``, ``word_17.png`` and ``more/word_3.jpg`` all say ``word``, ``a_b_1.png`` says
    ``a_b``. Files come sorted, hidden ones are no words.

    Args:
        folder: where to look.

    Raises:
        ValueError: no such folder, no images, names that are no labels, or a folder of data sets,
            whose labels would get lost.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        if not folder.is_dir():
            raise ValueError(f"{folder}: no such file or folder; check the path")
        if not self._names:
            raise ValueError(f"{folder}: found no label file and no images; check the path")
        self._check()

    def __len__(self) -> int:
        return len(self._names)

    def __getitem__(self, index: int) -> LabelRow | Skipped:
        if index < 0:
            raise IndexError(index)
        name = self._names[index]
        try:
            return LabelRow(name, checked_label(_label_of(name)))
        except BadLine as error:
            return Skipped(name, error.reason, error.detail)

    @cached_property
    def _names(self) -> list[str]:
        return [os.path.relpath(path, self.folder) for path in images_below(self.folder)]

    def _check(self) -> None:
        folders = {os.path.dirname(name) for name in self._names}
        for folder in sorted(folders | {os.path.dirname(each) for each in folders}):
            found = next(_label_files(self.folder / folder), None)
            if found:
                raise ValueError(
                    f"{self.folder} has no label file, but {found} is one: "
                    f"give {self.folder / folder}"
                )
        if len(self) >= _SAME_LABELS and len({_label_of(name) for name in self._names}) == 1:
            raise ValueError(
                f"{self.folder} has no label file, and by their names all images say "
                f"{_label_of(self._names[0])!r}: put labels.tsv in it"
            )


def images_below(folder: Path) -> Iterator[Path]:
    """The image files in a folder and those below it; those of hidden folders are left out."""
    from vit_str.images import SUFFIXES

    for path in find_files(folder, SUFFIXES):
        if not any(part.startswith(".") for part in path.relative_to(folder).parts):
            yield path


def label_file_of(folder: Path) -> Path | None:
    """The label file in a folder; None if there is none.

    Raises:
        ValueError: there are several, and none has a usual name.
    """
    found = list(_label_files(folder))
    if len(found) > 1 and found[0].name not in _USUAL:
        names = ", ".join(sorted(path.name for path in found))
        raise ValueError(f"{folder} holds several label files ({names}): give the path of one")
    return found[0] if found else None


def _label_of(path: str) -> str:
    """What the name of a file says; bytes that are not UTF-8 are surrogates."""
    return _NUMBER.sub("", os.path.splitext(os.path.basename(path))[0])


def _label_files(folder: Path) -> Iterator[Path]:
    """Files that may hold labels, the usual ones first.

    A text file has to have a usual name, as most others are notes.
    """
    yield from (path for name in _USUAL if (path := folder / name).is_file())
    suffixes = {*LABEL_SUFFIXES} - {".txt"}
    for path in folder.iterdir():
        unusual = path.suffix.lower() in suffixes and path.name not in (*_USUAL, BOXES)
        if unusual and path.name[0] != "." and path.is_file():
            yield path
