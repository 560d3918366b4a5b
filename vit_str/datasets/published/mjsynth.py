"""MJSynth as it is distributed: nine million word images, each with its label in its name."""

import re
from pathlib import Path

from vit_str.datasets.label_file import BadLine, Lines, checked_label
from vit_str.datasets.source import IndexedSource, LabeledWord, Reason, Skipped

SPLITS = {
    "all": "annotation.txt",
    "train": "annotation_train.txt",
    "val": "annotation_val.txt",
    "test": "annotation_test.txt",
}
"""The lists of images that come with MJSynth."""

# Where the archive unpacks to, seen from the folders that users name.
_INSIDE = ("", "90kDICT32px", "max/90kDICT32px", "mnt/ramdisk/max/90kDICT32px")
# 115_Lube_45484.jpg: the number of the image, what it says, the index of the word in the lexicon.
_NAME = re.compile(r"\d+_(.+)_\d+\.\w+", re.DOTALL)
_LONGEST_LINE = 4096


class MJSynthReader(IndexedSource):
    """The images that a list names, with the case of the label as in the file name.

    Every line of a list, such as ``./2425/1/115_Lube_45484.jpg 45484``, is a word; the number
    after the name is its index in ``lexicon.txt``, which has small letters only, and is ignored.
    Where lines begin is kept in memory: 110 MB for the whole set.

    Args:
        path: the folder with the lists, one above it, or a list itself.
        split: all, train, val or test; does not matter if ``path`` is a list.

    Raises:
        ValueError: there is no such list, or no such split.
    """

    format = "mjsynth"

    def __init__(self, path: str | Path, split: str = "all") -> None:
        super().__init__(path)
        if split not in SPLITS:
            raise ValueError(f"split must be one of {', '.join(SPLITS)}, found {split!r}")
        self.split = split
        self.list = self.path if self.path.is_file() else _folder_of(self.path) / SPLITS[split]
        if not self.list.is_file():
            raise ValueError(_missing(self.path, self.list))
        self._lines = Lines(self.list)

    @staticmethod
    def recognizes(path: Path) -> bool:
        """Whether a path is one of the lists, or a folder with some of them."""
        if path.is_file():
            return path.name in SPLITS.values() and _begins_as_a_list(path)
        return _has_lists(_folder_of(path))

    def __len__(self) -> int:
        return len(self._lines)

    def __getitem__(self, index: int) -> LabeledWord | Skipped:
        line = self._lines[index]
        # The bytes of a name stay what they are, whatever its encoding.
        name = line.rpartition(b" ")[0].strip().decode("utf-8", "surrogateescape")
        name = name.replace("\\", "/").removeprefix("./")
        match = _NAME.fullmatch(name.rpartition("/")[2])
        if match is None or name.startswith("/") or ".." in name.split("/"):
            shown = line[:80].decode("utf-8", "backslashreplace")
            detail = f"expected ./2425/1/115_Lube_45484.jpg 45484 or the like, found {shown!r}"
            return Skipped(f"line {self._lines.number(index)}", Reason.DAMAGED, detail)
        try:
            label = checked_label(match[1])
            return LabeledWord((self.list.parent / name).read_bytes(), label, (), name)
        except BadLine as error:
            return Skipped(name, error.reason, "the label in the file name")
        except (FileNotFoundError, NotADirectoryError):
            return Skipped(name, Reason.MISSING, "no such file")
        except (OSError, ValueError) as error:
            return Skipped(name, Reason.UNREADABLE, getattr(error, "strerror", None) or str(error))


def _folder_of(path: Path) -> Path:
    """The folder with the lists, in or below a folder."""
    return next(filter(_has_lists, (path / inside for inside in _INSIDE)), path)


def _has_lists(folder: Path) -> bool:
    lists = (folder / name for name in SPLITS.values())
    return any(path.is_file() and _begins_as_a_list(path) for path in lists)


def _begins_as_a_list(path: Path) -> bool:
    """Whether the first line is of MJSynth: lists of others have the same names."""
    with path.open("rb") as file:
        line = file.readline(_LONGEST_LINE).decode("utf-8", "replace")
    name = line.replace("\\", "/").rpartition(" ")[0].rpartition("/")[2]
    return _NAME.fullmatch(name.strip()) is not None


def _missing(path: Path, wanted: Path) -> str:
    if not path.exists():
        return f"{path}: no such file or folder; check the path"
    others = [split for split, name in SPLITS.items() if (wanted.parent / name).is_file()]
    advice = f"give split {' or '.join(others)}" if others else "unpack it from the archive"
    return f"{path}: expected {wanted.name}, which names the images of MJSynth; {advice}"
