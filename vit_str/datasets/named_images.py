"""A folder of images that are named by what they say."""

import os
import re
from functools import cached_property
from pathlib import Path

from vit_str.datasets.mjsynth import label_of_image
from vit_str.datasets.source import (
    LabeledWord,
    Skipped,
    WordSource,
    read_image_file,
)
from vit_str.files import find_files

_NUMBER = re.compile(r"_\d+$")


class NamedImagesReader(WordSource):
    """The images in a folder and below it, labeled by their names.

    ``word.png``, ``word_17.png`` and ``more/word_3.jpg`` all say ``word``: an underscore and digits
    at the end are a number. ``115_Lube_45484.jpg``, as in MJSynth, says ``Lube``. Files come
    sorted; hidden ones are no words.

    Raises:
        ValueError: there is no such folder.
    """

    format = "names"

    def __init__(self, path: str | Path) -> None:
        super().__init__(path)
        if not self.path.is_dir():
            raise ValueError(f"{path}: no such folder; check the path")

    @staticmethod
    def recognizes(path: Path) -> bool:
        """Never: names may be anything, so they are labels only if the user says so."""
        return False

    def __len__(self) -> int:
        return len(self._names)

    def __getitem__(self, index: int) -> LabeledWord | Skipped:
        if not 0 <= index < len(self):
            raise IndexError(index)
        name = self._names[index]
        image = read_image_file(self.path / name, name)
        if isinstance(image, Skipped):
            return image
        return LabeledWord(image, _label_of(Path(name)), name=name)

    @cached_property
    def _names(self) -> list[str]:
        """Paths of the images, from the folder."""
        from vit_str.images.loading import SUFFIXES  # and numpy

        paths = (
            os.path.relpath(path, self.path) for path in find_files(self.path, SUFFIXES)
        )
        return [name for name in paths if not f"{os.sep}{name}".count(f"{os.sep}.")]


def _label_of(path: Path) -> str:
    return label_of_image(path.name) or _NUMBER.sub("", path.stem)
