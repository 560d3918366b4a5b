"""MJSynth as it is distributed: nine million images of words, each with its label in its name.

Jaderberg et al. 2014, "Synthetic data and artificial neural networks for natural scene text
recognition".
"""

import re
from pathlib import Path

from vit_str.datasets.folder import FolderReader
from vit_str.datasets.label_file import LabelFile, LabelRow

LISTS = (
    "annotation.txt",
    "annotation_train.txt",
    "annotation_val.txt",
    "annotation_test.txt",
)
"""The lists of images that come with it; the first names all of them."""

_FURTHER_LISTS = ("lexicon.txt", "imlist.txt")
# Where the archive unpacks to, seen from the folders that users name.
_FOLDERS = ("", "90kDICT32px", "max/90kDICT32px", "mnt/ramdisk/max/90kDICT32px")
# 115_Lube_45484.jpg: the number of the image, what it says, the place of the word in the lexicon.
_NAME = re.compile(r"\d+_(?P<label>[^/\t]+)_\d+\.\w+")
_MEMBER = re.compile(rf"(.*/)?\d+/\d+/{_NAME.pattern}", re.DOTALL)
# ./2425/1/115_Lube_45484.jpg 45484
_LINE = re.compile(rf"(?P<name>([^\t]*/)?{_NAME.pattern})( +\d+)?\s*")
_LONGEST_LINE = 4096  # bytes


class MJSynthReader(FolderReader):
    """The images that one of its lists names, with the case of the label as in the file name.

    A line is the path of an image and the place of its word in ``lexicon.txt``, which has small
    letters only and is not looked at. Where lines begin is kept in memory: 110 MB for all images.

    Args:
        path: a list, the folder with the lists, or one that holds it. Of several lists in a folder
            the first of ``LISTS`` is read.
    """

    format = "mjsynth"

    def __init__(self, path: str | Path) -> None:
        self.list = _list_at(Path(path))
        super().__init__(path, rows=_Lines(self.list))

    @staticmethod
    def recognizes(path: Path) -> bool:
        """Whether a path is one of the lists, or a folder with one of them."""
        found = _list_in(path) if path.is_dir() else path
        return (
            found is not None
            and found.suffix.lower() == ".txt"
            and _begins_as_a_list(found)
        )


class _Lines(LabelFile):
    """A list of images whose labels are in their names."""

    def _row(self, line: str) -> LabelRow:
        match = _LINE.fullmatch(line.replace("\\", "/"))
        if match is None:
            raise ValueError(
                f"expected ./2425/1/115_Lube_45484.jpg 45484, found {line[:80]!r}"
            )
        return LabelRow(match["name"], match["label"])


def is_list(name: str) -> bool:
    """Whether a member of an archive is one of the lists."""
    return name.rpartition("/")[2] in (*LISTS, *_FURTHER_LISTS)


def label_of_member(name: str) -> str | None:
    """The label in a name of the archive, ``2425/1/115_Lube_45484.jpg``; None for other names."""
    match = _MEMBER.fullmatch(name)
    return match and match["label"]


def label_of_image(name: str) -> str | None:
    """The label in the name of an image, ``115_Lube_45484.jpg``; None for other names."""
    match = _NAME.fullmatch(name)
    return match and match["label"]


def _list_at(path: Path) -> Path:
    """The list to read."""
    found = _list_in(path) if path.is_dir() else path
    if found is None or not found.is_file():
        raise ValueError(
            f"{path}: found no {LISTS[0]} of MJSynth there; check the path"
        )
    return found


def _list_in(folder: Path) -> Path | None:
    """The first of the lists in a folder or where the archive unpacks to in it."""
    for below in _FOLDERS:
        for name in LISTS:
            path = folder / below / name
            if path.is_file():
                return path
    return None


def _begins_as_a_list(path: Path) -> bool:
    """Whether the first line names an image as MJSynth does: other sets have the same names."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        line = file.readline(_LONGEST_LINE).decode("utf-8", "replace")
    return _LINE.fullmatch(line.replace("\\", "/")) is not None
