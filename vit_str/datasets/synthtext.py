"""SynthText as it is distributed: pictures of scenes, and ``gt.mat`` with a box for every word.

Gupta et al. 2016, "Synthetic data for text localisation in natural images".
"""

from bisect import bisect_right
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vit_str.datasets.source import LabeledWord, Reason, Skipped, WordSource

if TYPE_CHECKING:
    from PIL import Image

    from vit_str.datasets.synthtext_words import Truth

TRUTH = "gt.mat"

_FOLDERS = ("", "SynthText")  # where gt.mat is, seen from the folders that users name


class SynthTextReader(WordSource):
    """Every word of every picture, cut out upright by perspective, as a PNG file.

    The words are in the order of ``gt.mat``. Its boxes run clockwise from the top left corner of
    the text; a word is a run of characters without white space. All words of a picture that has
    not as many boxes as words are left out, as which belong together is unknown; so is a word
    whose box encloses no area clockwise, or is more than a tenth outside of the picture.

    The first use of a length or an index reads ``gt.mat``: about a minute and 1.3 GB of memory for
    the 858,750 pictures that are distributed. In order, a picture is decoded once; in any other
    order, once for every word.

    Args:
        path: the folder with ``gt.mat`` and the folders of pictures, one above it, or the file.

    Raises:
        ValueError: there is no ``gt.mat``.
    """

    format = "synthtext"

    def __init__(self, path: str | Path) -> None:
        super().__init__(path)
        found = _truth_at(self.path)
        if found is None:
            raise ValueError(
                f"{path}: found no {TRUTH} of SynthText there; check the path"
            )
        self._file = found
        self._picture: tuple[int, Image.Image | Skipped] | None = None

    @staticmethod
    def recognizes(path: Path) -> bool:
        """Whether a path is a ``.mat`` file, or a folder with ``gt.mat``."""
        return _truth_at(path) is not None

    def __len__(self) -> int:
        return int(self._truth.starts[-1])

    def __getitem__(self, index: int) -> LabeledWord | Skipped:
        if not 0 <= index < len(self):
            raise IndexError(index)
        picture = bisect_right(self._truth.starts, index) - 1
        number = index - int(self._truth.starts[picture])
        name = f"{self._truth.names[picture]}#{number}"
        words = self._truth.words_of(picture)
        boxes = self._truth.boxes_of(picture)
        if len(boxes) != len(words):
            detail = f"{len(boxes)} boxes for {len(words)} words in this picture"
            return Skipped(name, Reason.DAMAGED, detail)
        from vit_str.datasets.synthtext_words import cut_out, png_of

        image = self._decoded(picture)
        if isinstance(image, Skipped):
            return Skipped(name, image.reason, image.detail)
        try:
            return LabeledWord(
                png_of(cut_out(image, boxes[number])),
                words[number],
                name=name,
            )
        except ValueError as error:
            return Skipped(name, Reason.DAMAGED, str(error))

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_picture": None}

    @cached_property
    def _truth(self) -> "Truth":
        from vit_str.datasets.synthtext_words import (
            load_truth,  # and NumPy, which help does without
        )

        return load_truth(self._file)

    def _decoded(self, picture: int) -> "Image.Image | Skipped":
        """A picture, kept until another is asked for: words in order share it."""
        from vit_str.datasets.synthtext_words import load_scene

        kept = self._picture
        if kept is None or kept[0] != picture:
            kept = picture, load_scene(self._file.parent, self._truth.names[picture])
            self._picture = kept
        return kept[1]


def _truth_at(path: Path) -> Path | None:
    """The ground truth that a path is, or that is in it."""
    if path.suffix.lower() == ".mat":
        return path if path.is_file() else None
    return next(
        filter(Path.is_file, (path / below / TRUTH for below in _FOLDERS)), None
    )
