"""A folder of images with labels in a file, ``labels.tsv`` where we write it."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from vit_str.datasets.label_file import LabelFile, LabelRow
from vit_str.datasets.source import (
    Boxes,
    DatasetWriter,
    LabeledWord,
    Layout,
    Reason,
    Skipped,
    WordSource,
)

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
"""What label files end in."""


class LabeledFiles(NamedTuple):
    """Image files and what they say."""

    paths: list[Path]
    labels: list[str]
    missing: list[str]


class FolderReader(WordSource):
    """A folder of images with labels in a file, one of ``LABEL_FILES``; see `LabelFile`.

    Images are in the folder ``images`` beside the label file or in the folder itself, or where
    their names say from there; backslashes in names are separators.
    """

    format = "folder"

    def __init__(self, path: str | Path) -> None:
        super().__init__(path)
        labels = _label_file_in(self.path) if self.path.is_dir() else self.path
        if labels is None:
            raise ValueError(f"{path}: found no label file ({', '.join(LABEL_FILES)}) there")
        self._rows = LabelFile(labels)
        boxes = labels.with_name(BOXES)
        self._boxes = LabelFile(boxes) if labels.name == LABELS and boxes.is_file() else None
        self._folders = [labels.parent / IMAGES, labels.parent]

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
        if path is None:
            where = " or ".join(map(str, self._folders))
            return Skipped(row.name, Reason.MISSING, f"no such file in {where}")
        try:
            image = path.read_bytes()
        except OSError as error:
            return Skipped(row.name, Reason.UNREADABLE, error.strerror or str(error))
        return LabeledWord(image, row.label, row.boxes or self._boxes_of(row, index), row.name)

    def files(self) -> LabeledFiles:
        """The image files that are there, and what they say."""
        files = LabeledFiles([], [], [])
        for index in range(len(self)):
            row = self._rows[index]
            path = self._path(row.name) if isinstance(row, LabelRow) else None
            if isinstance(row, Skipped) or path is None:
                files.missing.append(row.name)
            else:
                files.paths.append(path)
                files.labels.append(row.label)
        return files

    def _path(self, name: str) -> Path | None:
        """Where an image is; None if there is no such file."""
        paths = (folder / name.replace("\\", "/") for folder in self._folders)
        return next((path for path in paths if path.is_file()), None)

    def _boxes_of(self, row: LabelRow, index: int) -> Boxes:
        """Boxes are in a file of their own, in the same order, and may end earlier or later."""
        if self._boxes is None or index >= len(self._boxes):
            return ()
        same = self._boxes[index]
        return same.boxes if isinstance(same, LabelRow) and same.name == row.name else ()


def _label_file_in(folder: Path) -> Path | None:
    """The label file in a folder; None if there is none."""
    return next((path for name in LABEL_FILES if (path := folder / name).is_file()), None)


class FolderWriter(DatasetWriter):
    """Writes ``images/000000000.png`` and so on, and for each a line: its name, tab, label.

    With boxes, ``boxes.jsonl`` has a line for each too: an object with image, label and boxes.
    """

    def __init__(self, path: Path, layout: Layout) -> None:
        super().__init__(path, layout)
        (path / IMAGES).mkdir(parents=True, exist_ok=True)
        self._labels = (path / LABELS).open("w", encoding="utf-8", newline="\n")
        self._boxes = None
        if layout.boxes:
            self._boxes = (path / BOXES).open("w", encoding="utf-8", newline="\n")

    def add(self, words: Sequence[LabeledWord]) -> None:
        for word in words:
            number = self.layout.start + self.done
            name = f"{number:09d}{self.layout.suffix or word.suffix}"
            (self.path / IMAGES / name).write_bytes(word.image)
            if self._boxes:
                self._boxes.write(f"{word.json_of_boxes(image=name)}\n")
            self._labels.write(f"{name}\t{word.label}\n")
            self.done += 1

    def close(self) -> None:
        self._labels.close()
        if self._boxes:
            self._boxes.close()
