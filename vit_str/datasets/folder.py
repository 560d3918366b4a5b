"""A folder of images with labels in a file, ``labels.tsv`` where we write it."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from vit_str.datasets.label_file import LabelFile, LabelRow
from vit_str.datasets.source import (
    Boxes,
    DatasetWriter,
    LabeledWord,
    Layout,
    Position,
    Reason,
    Skipped,
    WordSource,
    continued,
    read_image_file,
)
from vit_str.files import leads_out

IMAGES = "images"
LABELS = "labels.tsv"
BOXES = "boxes.jsonl"

LABEL_FILES = (
    LABELS,
    "labels.csv",
    "labels.jsonl",
    "labels.txt",
    "metadata.csv",
    "metadata.jsonl",
    "gt.txt",
)
"""Label files that are found in a folder, first come first; of any other, give the path."""

LABEL_SUFFIXES = (".tsv", ".csv", ".jsonl", ".txt")
"""Suffixes of label files."""


class LabeledFiles(NamedTuple):
    """Image files and what they say."""

    paths: list[Path]
    labels: list[str]
    missing: list[str]


class FolderReader(WordSource):
    """A folder of images with labels in a file, one of ``LABEL_FILES``; see `LabelFile`.

    Images are in the folder ``images`` beside the label file or in the folder itself, or where
    their names say from there, but not outside of it; backslashes in names are separators.

    Args:
        path: the folder, or the label file.
        images: the folder that names start from instead; they may lead out of it.
        rows: the names of the images and what they say, instead of those of the label file.
    """

    format = "folder"

    def __init__(
        self,
        path: str | Path,
        images: str | Path | None = None,
        rows: LabelFile | None = None,
    ) -> None:
        super().__init__(path)
        self._rows = rows or LabelFile(_label_file_of(self.path))
        labels = self._rows.path
        boxes = labels.with_name(BOXES)
        self._boxes = (
            LabelFile(boxes) if labels.name == LABELS and boxes.is_file() else None
        )
        # What no name and no link may lead out of
        self._root = None if images else labels.parent
        self._folders = (
            [Path(images)] if images else [labels.parent / IMAGES, labels.parent]
        )

    @staticmethod
    def recognizes(path: Path) -> bool:
        """Whether a path is a label file, or a folder with one."""
        if path.is_dir():
            return _label_file_in(path) is not None
        return path.is_file() and path.suffix.lower() in LABEL_SUFFIXES

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, index: int) -> LabeledWord | Skipped:
        row = self._rows[index]
        if isinstance(row, Skipped):
            return row
        path = self._path(row.name)
        if isinstance(path, Skipped):
            return path
        image = read_image_file(path, row.name)
        if isinstance(image, Skipped):
            return image
        return LabeledWord(
            image, row.label, row.boxes or self._boxes_of(row, index), row.name
        )

    def files(self) -> LabeledFiles:
        """The image files that are there, and what they say."""
        files = LabeledFiles([], [], [])
        for index in range(len(self)):
            row = self._rows[index]
            path = self._path(row.name) if isinstance(row, LabelRow) else row
            if isinstance(row, Skipped) or isinstance(path, Skipped):
                files.missing.append(row.name)
            else:
                files.paths.append(path)
                files.labels.append(row.label)
        return files

    def _path(self, name: str) -> Path | Skipped:
        """Where an image is."""
        outside = False
        for folder in self._folders:
            path = folder / name.replace("\\", "/")
            if self._root and leads_out(path, self._root):
                outside = True
            elif os.path.isfile(path):  # of a name that is too long too
                return path
        if outside:
            return Skipped(
                name, Reason.OUTSIDE, "say with --images where names start from"
            )
        where = " or ".join(map(str, self._folders))
        return Skipped(name, Reason.MISSING, f"no such file in {where}")

    def _boxes_of(self, row: LabelRow, index: int) -> Boxes:
        """Boxes are in a file of their own, in the same order, and may end earlier or later."""
        if self._boxes is None or index >= len(self._boxes):
            return ()
        same = self._boxes[index]
        return (
            same.boxes if isinstance(same, LabelRow) and same.name == row.name else ()
        )


def _label_file_of(path: Path) -> Path:
    """The label file that a path is, or that is in it."""
    if not path.is_dir():
        return path
    found = _label_file_in(path)
    if found is None:
        raise ValueError(
            f"{path}: found no label file ({', '.join(LABEL_FILES)}) there"
        )
    return found


def _label_file_in(folder: Path) -> Path | None:
    """The label file in a folder; None if there is none."""
    paths = (folder / name for name in LABEL_FILES)
    return next((path for path in paths if path.is_file()), None)


class FolderWriter(DatasetWriter):
    """Writes ``images/000000000.png`` and so on, and for each a line: its name, tab, label.

    With boxes, ``boxes.jsonl`` has a line for each too: an object with image, label and boxes.
    """

    def __init__(
        self,
        path: Path,
        layout: Layout,
        position: Position | None = None,
        done: int = 0,
    ) -> None:
        super().__init__(path, layout, position, done)
        (path / IMAGES).mkdir(parents=True, exist_ok=True)
        ends = position or {}
        names = (LABELS, BOXES) if layout.boxes else (LABELS,)
        self._files = {
            name: continued(path / name, ends.get(name, 0)) for name in names
        }

    def add(self, words: Sequence[LabeledWord]) -> None:
        labels = []
        boxes = []
        for number, word in enumerate(words, self.layout.start + self.done):
            name = f"{number:09d}{self.layout.suffix or word.suffix}"
            (self.path / IMAGES / name).write_bytes(word.image)
            labels.append(f"{name}\t{word.label}\n")
            boxes.append(f"{word.json_of_boxes(image=name)}\n")
        # When the images are there: a line always has its image, however the process ends.
        if self.layout.boxes:
            self._append(BOXES, boxes)
        self._append(LABELS, labels)
        self.done += len(words)

    def position(self) -> Position:
        return {name: file.tell() for name, file in self._files.items()}

    def close(self) -> None:
        for file in self._files.values():
            file.close()

    def _append(self, name: str, lines: Sequence[str]) -> None:
        self._files[name].write("".join(lines).encode())
        self._files[name].flush()
