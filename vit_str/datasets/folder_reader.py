"""Images in files, with labels in a file or in their names."""

import os
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from vit_str.datasets.file_names import FileNames, images_below, label_of
from vit_str.datasets.folder import BOXES, IMAGES, LABELS
from vit_str.datasets.label_file import LABEL_SUFFIXES, LabelFile
from vit_str.datasets.label_lines import Row
from vit_str.datasets.source import IndexedSource, Reason, Skipped
from vit_str.datasets.word import LabeledWord

_USUAL = (
    LABELS,
    *("labels.csv", "labels.jsonl", "labels.txt"),
    *("metadata.csv", "metadata.jsonl", "gt.tsv", "gt.csv", "gt.txt"),
)
"""Label files by name; a folder may have one of another name instead."""

_SAME_LABELS = 10
"""As many images whose names say the same have been named by their number."""


class FolderReader(IndexedSource):
    """A folder of images with labels.

    Labels are in a file in the folder: ``labels.tsv``, as `FolderWriter` leaves it, or
    ``labels.csv``, ``metadata.jsonl``, ``gt.txt`` and so on, or the only file there that ends
    as label files do; see `LabelFile` for what it may look like. Images are in the folder
    ``images`` beside it or beside it themselves, or where their names say from there; backslashes
    in names are separators where no file has them in its name. Without a label file, the images
    in the folder and below it are labeled by their names, see `FileNames`.

    Args:
        path: the folder, or the label file.
        images: the folder that the names in the label file start from.

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
            self._check_names()
            places = [self.path]
        else:
            self._rows = LabelFile(labels)
            boxes = labels.with_name(BOXES)
            if labels.name == LABELS and boxes.is_file():
                self._boxes = LabelFile(boxes)
            places = [labels.parent / IMAGES, labels.parent]
        self._places = [os.fspath(place) for place in ([images] if images else places)]

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

    def __getitem__(self, place: int) -> LabeledWord | Skipped:
        row = self._rows[place]
        if isinstance(row, Skipped):
            return row
        image = self._image(row.name)
        if isinstance(image, Skipped):
            return image
        return LabeledWord(image, row.label, row.boxes or self._boxes_of(row, place), row.name)

    def _image(self, name: str) -> bytes | Skipped:
        path = self._find(name) or (self._find(name.replace("\\", "/")) if "\\" in name else None)
        if path is None:
            places = " or ".join(self._places)
            return Skipped(name, Reason.MISSING, f"no such file in {places}")
        try:
            with open(path, "rb") as file:
                return file.read()
        except OSError as error:
            return Skipped(name, Reason.UNREADABLE, error.strerror or str(error))

    def _find(self, name: str) -> str | None:
        paths = (os.path.join(place, name) for place in self._places)
        return next((path for path in paths if os.path.isfile(path)), None)

    def _boxes_of(self, row: Row, place: int) -> tuple[tuple[float, ...], ...]:
        """Boxes are in a file of their own, in the same order, and may end earlier or later."""
        if self._boxes is None or place >= len(self._boxes):
            return ()
        same = self._boxes[place]
        return same.boxes if isinstance(same, Row) and same.name == row.name else ()

    def _check_names(self) -> None:
        """Refuse a folder whose names are no labels, or one of data sets, whose labels get lost.

        Raises:
            ValueError: so it is, or there is no such folder.
        """
        if not self.path.is_dir():
            raise ValueError(f"{self.path}: no such file or folder; check the path")
        labels: set[str] = set()
        folders: set[str] = set()
        images = 0
        for path in images_below(self.path):
            images += 1
            folders.add(os.path.dirname(path))
            if len(labels) < 2:
                labels.add(label_of(path))
        if not images:
            raise ValueError(f"{self.path}: found no label file and no images; check the path")
        below = folders | {os.path.dirname(each) for each in folders} - {str(self.path.parent)}
        for folder in sorted(below):
            found = next(_label_files(Path(folder)), None)
            if found:
                raise ValueError(
                    f"{self.path} has no label file, but {found} is one: give {folder}"
                )
        if len(labels) == 1 and images >= _SAME_LABELS:
            raise ValueError(
                f"{self.path} has no label file, and by their names all images say "
                f"{labels.pop()!r}: put labels.tsv beside them"
            )


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


def _label_files(folder: Path) -> Iterator[Path]:
    """Files that may hold labels, the usual ones first.

    A text file has to have a usual name, as most others are notes.
    """
    yield from (path for name in _USUAL if (path := folder / name).is_file())
    with os.scandir(folder) as entries:
        for entry in entries:
            suffix = os.path.splitext(entry.name)[1].lower()
            labels = suffix in LABEL_SUFFIXES and suffix != ".txt" and entry.name[0] != "."
            if labels and entry.name not in (*_USUAL, BOXES) and entry.is_file():
                yield Path(entry.path)
