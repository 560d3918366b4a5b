"""A folder of images with labels in a file, ``labels.tsv`` where we write it, or in their names."""

import os
import re
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from vit_str.datasets.label_file import (
    LABEL_SUFFIXES,
    BadLine,
    LabelFile,
    LabelRow,
    checked_label,
)
from vit_str.datasets.source import Boxes, IndexedSource, LabeledWord, Reason, Skipped
from vit_str.datasets.writer import DatasetWriter, GrowingFile, Layout
from vit_str.files import find_files

IMAGES, LABELS, BOXES = "images", "labels.tsv", "boxes.jsonl"

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
    else; backslashes in names are separators where no file has them in its name.

    Without a label file, the images in the folder and below it are labeled by their names without
    the suffix, and without an underscore and digits at the end: ``word.png``, ``word_17.png`` and
    ``more/word_3.jpg`` all say ``word``. Files come sorted, hidden ones are no words.

    Args:
        path: the folder, or the label file.
        images: the folder that the names in the label file start from; they may lead out of it.

    Raises:
        ValueError: no such folder or file, no images in it, several label files, one that cannot
            be understood, names that are no labels, or a folder of data sets.
    """

    format = "folder"

    def __init__(self, path: str | Path, images: str | Path | None = None) -> None:
        super().__init__(path)
        labels = _label_file_of(self.path) if self.path.is_dir() else self.path
        self._boxes: LabelFile | None = None
        self._rows: LabelFile | Sequence[LabelRow | Skipped]
        if labels is None:
            self._rows = _rows_of_names(self.path)
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
        return path.is_dir() and any(True for _ in chain(_label_files(path), _images_below(path)))

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, index: int) -> LabeledWord | Skipped:
        if index < 0:
            raise IndexError(index)
        row = self._rows[index]
        if isinstance(row, Skipped):
            return row
        path = self._path(row.name)
        if isinstance(path, Skipped):
            return path
        try:
            with open(path, "rb") as file:
                image = file.read()
        except OSError as error:
            return Skipped(row.name, Reason.UNREADABLE, error.strerror or str(error))
        return LabeledWord(image, row.label, row.boxes or self._boxes_of(row, index), row.name)

    def files(self) -> LabeledFiles:
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

    def _path(self, name: str) -> str | Skipped:
        """Where an image is."""
        if self._root is not None:
            path = os.path.abspath(os.path.join(self._root, name.replace("\\", "/")))
            if not path.startswith(os.path.join(self._root, "")):
                return Skipped(name, Reason.MISSING, f"leads out of {self._root}")
        # A dictionary: each name once, as it is first.
        for plain in dict.fromkeys([name, name.replace("\\", "/")]):
            for folder in self._folders:
                if os.path.isfile(path := os.path.join(folder, plain)):
                    return path
        return Skipped(name, Reason.MISSING, f"no such file in {' or '.join(self._folders)}")

    def _boxes_of(self, row: LabelRow, index: int) -> Boxes:
        """Boxes are in a file of their own, in the same order, and may end earlier or later."""
        if self._boxes is None or index >= len(self._boxes):
            return ()
        same = self._boxes[index]
        return same.boxes if isinstance(same, LabelRow) and same.name == row.name else ()


def _rows_of_names(folder: Path) -> list[LabelRow | Skipped]:
    """What the names of the images in a folder and those below it say."""
    if not folder.is_dir():
        raise ValueError(f"{folder}: no such file or folder; check the path")
    names = [os.path.relpath(path, folder) for path in _images_below(folder)]
    if not names:
        raise ValueError(f"{folder}: found no label file and no images; check the path")
    folders = {os.path.dirname(name) for name in names}
    for below in sorted(folders | set(map(os.path.dirname, folders))):
        found = next(_label_files(folder / below), None)
        if found:
            raise ValueError(
                f"{folder} has no label file, but {found} is one: give {folder / below}"
            )
    labels = [_NUMBER.sub("", os.path.splitext(os.path.basename(name))[0]) for name in names]
    if len(labels) >= _SAME_LABELS and len(set(labels)) == 1:
        raise ValueError(
            f"{folder} has no label file, and by their names all images say {labels[0]!r}: put "
            "labels.tsv in it"
        )
    rows: list[LabelRow | Skipped] = []
    for name, label in zip(names, labels, strict=True):
        try:
            rows.append(LabelRow(name, checked_label(label)))
        except BadLine as error:
            rows.append(Skipped(name, error.reason, error.detail))
    return rows


def _images_below(folder: Path) -> Iterator[Path]:
    """The image files in a folder and those below it; those of hidden folders are left out."""
    from vit_str.runtime.images import SUFFIXES

    for path in find_files(folder, SUFFIXES):
        if not any(part.startswith(".") for part in path.relative_to(folder).parts):
            yield path


def _label_file_of(folder: Path) -> Path | None:
    """The label file in a folder; None if there is none.

    Raises:
        ValueError: there are several, and none has a usual name.
    """
    found = list(_label_files(folder))
    if len(found) > 1 and found[0].name not in _USUAL:
        names = ", ".join(sorted(path.name for path in found))
        raise ValueError(f"{folder} holds several label files ({names}): give the path of one")
    return found[0] if found else None


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


class FolderWriter(DatasetWriter):
    """Writes ``images/000000000.png`` and so on, and for each a line: its name, tab, label.

    With boxes, ``boxes.jsonl`` has a line for each too: an object with image, label and boxes.
    Lines follow when the images are there, those of ``labels.tsv`` last.
    """

    def __init__(self, path: Path, layout: Layout) -> None:
        super().__init__(path, layout)
        (path / IMAGES).mkdir(parents=True, exist_ok=True)
        labels, boxes = path / LABELS, path / BOXES
        self.done, end, last = _whole_lines(labels)
        expected = self._name(self.done - 1, self.layout.suffix + "\t" * bool(self.layout.suffix))
        if last and not last.startswith(expected.encode()):
            raise ValueError(
                f"{labels} has been changed since it was written: line {self.done} is not about "
                f"{expected.strip()}; write to a new folder"
            )
        if layout.boxes:
            self.done, end_of_boxes, _ = _whole_lines(boxes, self.done)
            self._boxes = GrowingFile(boxes, end_of_boxes)
            _, end, _ = _whole_lines(labels, self.done)
        self._labels = GrowingFile(labels, end)

    def add(self, words: Sequence[LabeledWord]) -> None:
        named = [
            (self._name(number, self.layout.suffix or word.suffix), word)
            for number, word in enumerate(words, self.done)
        ]
        for name, word in named:
            (self.path / IMAGES / name).write_bytes(word.image)
        if self.layout.boxes:
            lines = [f"{word.json_of_boxes(image=name)}\n" for name, word in named]
            self._boxes.append("".join(lines).encode())
        self._labels.append("".join(f"{name}\t{word.label}\n" for name, word in named).encode())
        self.done += len(words)

    def close(self) -> None:
        if self.layout.boxes:
            self._boxes.close()
        self._labels.close()

    def _name(self, number: int, suffix: str) -> str:
        return f"{self.layout.start + number:09d}{suffix}"


def _whole_lines(path: Path, most: int | None = None) -> tuple[int, int, bytes]:
    """Number of lines that end, at most so many, where the last of them ends, and that line."""
    count, end, last = 0, 0, b""
    if path.exists():
        with path.open("rb") as file:
            for line in file:
                if not line.endswith(b"\n") or count == most:
                    break
                count, end, last = count + 1, end + len(line), line
    return count, end, last
