"""SynthText as it is distributed: pictures of scenes, and ``gt.mat`` with a box for every word."""

from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Bool, Float32, Int64
from PIL import Image

from vit_str.datasets.matlab import Cell, byte_order, cells_of
from vit_str.datasets.perspective import cut_out
from vit_str.datasets.source import IndexedSource, Reason, Skipped
from vit_str.datasets.word import LabeledWord
from vit_str.images import MAX_PIXELS, UnreadableImage, load_image, one_line

TRUTH = "gt.mat"


class SynthTextReader(IndexedSource):
    """Every word of every picture, cut out upright by perspective, as a PNG file.

    The words are in the order of ``gt.mat``. Its boxes run clockwise from the top left corner of
    the text; a word is any run of characters without white space. If a picture has not as many
    boxes as words, nobody knows which are whose, and all its words are skipped. So are words
    whose box is mirrored, without area, or more than a tenth outside the picture.

    Read in order, a picture is decoded once; in any other order, once for every word: convert to
    another format to train from.

    Args:
        path: folder with ``gt.mat`` and the folders of pictures, or the ``.mat`` file itself.

    Raises:
        ValueError: there is no such file, or it is no MATLAB file of version 5.
    """

    format = "synthtext"

    def __init__(self, path: str | Path) -> None:
        super().__init__(path)
        self._truth = _truth_of(self.path)
        if not self._truth.is_file():
            raise ValueError(f"expected {TRUTH} of SynthText in {path}, found none; check the path")
        byte_order(self._truth)
        self._index: _Index | None = None
        self._picture: tuple[int, Image.Image | Skipped] | None = None

    @staticmethod
    def recognizes(path: Path) -> bool:
        """Whether a path is SynthText: a ``.mat`` file, or a folder with ``gt.mat``."""
        return _truth_of(path).is_file()

    def __len__(self) -> int:
        return int(self._indexed().places[-1])

    def __getitem__(self, place: int) -> LabeledWord | Skipped:
        index = self._indexed()
        if not 0 <= place < index.places[-1]:
            raise IndexError(f"expected a place from 0 to {index.places[-1] - 1}, found {place}")
        image = int(np.searchsorted(index.places, place, side="right")) - 1
        number = place - int(index.places[image])
        name = f"{index.names[image]}#{number}"
        if not index.sound[image]:
            return Skipped(name, Reason.DAMAGED, index.trouble(image))
        picture = self._decoded(image)
        if isinstance(picture, Skipped):
            return Skipped(name, picture.reason, picture.detail)
        corners = index.boxes[index.first_boxes[image] + number]
        try:
            cut = cut_out(picture, corners)
        except ValueError as error:
            return Skipped(name, Reason.DAMAGED, str(error))
        return LabeledWord(_png(cut), index.words[int(index.first_words[image]) + number], (), name)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_index": None, "_picture": None}

    def _indexed(self) -> "_Index":
        if self._index is None:
            self._index = _index_of(self._truth)
        return self._index

    def _decoded(self, image: int) -> Image.Image | Skipped:
        """A picture, kept until another is asked for: words in order share it."""
        kept = self._picture
        if kept is None or kept[0] != image:
            kept = image, _load(self._truth.parent, self._indexed().names[image])
            self._picture = kept
        return kept[1]


class _Texts:
    """Many strings in little memory: their bytes, and where each begins."""

    def __init__(self) -> None:
        self._bytes, self._starts = bytearray(), array("q", [0])

    def append(self, text: str) -> None:
        self._bytes += text.encode("utf-8", "surrogatepass")
        self._starts.append(len(self._bytes))

    def __len__(self) -> int:
        return len(self._starts) - 1

    def __getitem__(self, place: int) -> str:
        encoded = self._bytes[self._starts[place] : self._starts[place + 1]]
        return encoded.decode("utf-8", "surrogatepass")


@dataclass(frozen=True, slots=True)
class _Index:
    """What ``gt.mat`` says, without the boxes of characters.

    For each image and one more: ``places`` is the number of words before it, as this reader
    counts them; ``first_boxes`` and ``first_words`` say where its own begin.
    """

    names: _Texts
    words: _Texts
    boxes: Float32[np.ndarray, "box corner xy"]
    places: Int64[np.ndarray, " image"]
    first_boxes: Int64[np.ndarray, " image"]
    first_words: Int64[np.ndarray, " image"]
    sound: Bool[np.ndarray, " image"]

    def trouble(self, image: int) -> str:
        """Why the words of an image cannot be told."""
        boxes, words = (
            int(first[image + 1] - first[image]) for first in (self.first_boxes, self.first_words)
        )
        if boxes != words:
            return f"{boxes} boxes for {words} words in this image"
        return f"{TRUTH} is damaged at this image"


def _truth_of(path: Path) -> Path:
    return path if path.suffix.lower() == ".mat" else path / TRUTH


def _index_of(truth: Path) -> _Index:
    try:
        names, unnamed = _read_names(truth)
        boxes, first_boxes, unboxed = _read_boxes(truth)
        words, first_words, unread = _read_words(truth)
    except OSError as error:
        raise ValueError(f"cannot read {truth}: {error.strerror}; check it and its disk") from error
    if not len(names) + 1 == len(first_boxes) == len(first_words):
        raise ValueError(
            f"{truth} has {len(names):,} names, boxes for {len(first_boxes) - 1:,} images and "
            f"words for {len(first_words) - 1:,}, expected as many of each; download it again"
        )
    counts = np.stack([np.diff(first_boxes), np.diff(first_words)])
    damaged = np.zeros(len(names), dtype=bool)
    damaged[[*unnamed, *unboxed, *unread]] = True
    # An image of which nothing is known counts as one word, so that it is not silently gone.
    most = np.maximum(counts.max(axis=0, initial=0), damaged)
    places = np.concatenate([[0], np.cumsum(most)])
    sound = (counts[0] == counts[1]) & ~damaged
    return _Index(names, words, boxes, places, first_boxes, first_words, sound)


def _read_names(truth: Path) -> tuple[_Texts, list[int]]:
    names, damaged = _Texts(), []
    for place, cell in enumerate(cells_of(truth, "imnames")):
        name = _first_text(cell)
        if name is None:
            damaged.append(place)
        names.append(f"image {place + 1}" if name is None else name.replace("\\", "/"))
    return names, damaged


def _first_text(cell: Cell) -> str | None:
    return cell[0].strip() if isinstance(cell, list) and len(cell) == 1 else None


def _read_boxes(
    truth: Path,
) -> tuple[Float32[np.ndarray, "box corner xy"], Int64[np.ndarray, " image"], list[int]]:
    values, firsts, damaged = array("f"), array("q", [0]), []
    for place, cell in enumerate(cells_of(truth, "wordBB")):
        if isinstance(cell, np.ndarray) and cell.size == 0:
            pass  # a picture without words
        elif isinstance(cell, np.ndarray) and cell.shape[:2] == (2, 4) and cell.ndim <= 3:
            # A picture with one word has a matrix, one with more has one more axis.
            boxes = cell.reshape(2, 4, -1).transpose(2, 1, 0).astype(np.float32)
            values.frombytes(boxes.tobytes())
        else:
            damaged.append(place)
        firsts.append(len(values) // 8)
    boxes = np.frombuffer(values, np.float32).reshape(-1, 4, 2)
    return boxes, np.frombuffer(firsts, np.int64), damaged


def _read_words(truth: Path) -> tuple[_Texts, Int64[np.ndarray, " image"], list[int]]:
    words, firsts, damaged = _Texts(), array("q", [0]), []
    for place, cell in enumerate(cells_of(truth, "txt")):
        for word in _words(cell):
            words.append(word)
        if not isinstance(cell, list | np.ndarray):
            damaged.append(place)
        firsts.append(len(words))
    return words, np.frombuffer(firsts, np.int64), damaged


def _words(cell: Cell) -> Iterator[str]:
    """The words of an image: each row of characters holds some, between white space."""
    for row in cell if isinstance(cell, list) else ():
        yield from row.split()


def _load(folder: Path, name: str) -> Image.Image | Skipped:
    """A picture at full size, in the pixels in which its boxes count."""
    try:
        with Image.open(folder / name) as image:
            if image.width * image.height > MAX_PIXELS:
                return Skipped(name, Reason.UNREADABLE, "larger than can be decoded")
            return load_image(image)
    except FileNotFoundError:
        return Skipped(name, Reason.MISSING, "no such file")
    except UnreadableImage as error:
        return Skipped(name, Reason.UNREADABLE, error.trouble)
    except Exception as error:  # Pillow finds many words for a damaged header, names for no file
        return Skipped(name, Reason.UNREADABLE, one_line(str(error)) or type(error).__name__)


def _png(image: Image.Image) -> bytes:
    file = BytesIO()
    image.save(file, "PNG", compress_level=1)
    return file.getvalue()
