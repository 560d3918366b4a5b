"""SynthText as it is distributed: pictures of scenes, and ``gt.mat`` with a box for every word."""

import warnings
import zlib
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float32, Int64
from PIL import Image

from vit_str.datasets.perspective import cut_out
from vit_str.datasets.source import IndexedSource, LabeledWord, Reason, Skipped
from vit_str.files import one_line
from vit_str.images import UnreadableImage, load_image

TRUTH = "gt.mat"

_MAX_EXPANSION = 40  # decompressed over compressed; the names and boxes of SynthText stay below 10
_HARMLESS = 1 << 26  # bytes that no expansion makes too many
_CHUNK = 1 << 20
_COMPRESSED = 15  # type of an element (MAT-File Format, The MathWorks)
_VARIABLES = ("imnames", "wordBB", "txt")


class SynthTextReader(IndexedSource):
    """Every word of every picture, cut out upright by perspective, as a PNG file.

    The words are in the order of ``gt.mat``. Its boxes run clockwise from the top left corner of
    the text; a word is any run of characters without white space. If a picture has not as many
    boxes as words, which belong together is unknown, and all its words are skipped. So are words
    whose box is mirrored, without area, or more than a tenth outside the picture.

    The whole truth is read at the first word: about 2 GB of memory for the distributed file. Read
    in order, a picture is decoded once; in any other order, once for every word: convert to
    another format to train from.

    Args:
        path: folder with ``gt.mat`` and the folders of pictures, or the ``.mat`` file itself.

    Raises:
        ValueError: there is no such file, or it is no MATLAB file that can be read.
    """

    format = "synthtext"

    def __init__(self, path: str | Path) -> None:
        super().__init__(path)
        self._file = _truth_file(self.path)
        if not self._file.is_file():
            raise ValueError(f"expected {TRUTH} of SynthText in {path}, found none; check the path")
        self._truth: _Truth | None = None
        self._picture: tuple[int, Image.Image | Skipped] | None = None

    @staticmethod
    def recognizes(path: Path) -> bool:
        """Whether a path is SynthText: a ``.mat`` file, or a folder with ``gt.mat``."""
        return _truth_file(path).is_file()

    def __len__(self) -> int:
        return int(self._loaded().starts[-1])

    def __getitem__(self, index: int) -> LabeledWord | Skipped:
        truth = self._loaded()
        if not 0 <= index < len(self):
            raise IndexError(f"expected an index from 0 to {len(self) - 1}, found {index}")
        image = int(np.searchsorted(truth.starts, index, side="right")) - 1
        number = index - int(truth.starts[image])
        name = f"{truth.names[image]}#{number}"
        words, boxes = _words(truth.texts[image]), _boxes(truth.corners[image])
        if boxes is None:
            return Skipped(name, Reason.DAMAGED, f"{TRUTH} is damaged at this image")
        if len(boxes) != len(words):
            detail = f"{len(boxes)} boxes for {len(words)} words in this image"
            return Skipped(name, Reason.DAMAGED, detail)
        picture = self._decoded(image)
        if isinstance(picture, Skipped):
            return Skipped(name, picture.reason, picture.detail)
        try:
            cut = cut_out(picture, boxes[number])
        except ValueError as error:
            return Skipped(name, Reason.DAMAGED, str(error))
        return LabeledWord(_png(cut), words[number], (), name)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_truth": None, "_picture": None}

    def _loaded(self) -> "_Truth":
        if self._truth is None:
            self._truth = _load_truth(self._file)
        return self._truth

    def _decoded(self, image: int) -> Image.Image | Skipped:
        """A picture, kept until another is asked for: words in order share it."""
        kept = self._picture
        if kept is None or kept[0] != image:
            kept = image, _load(self._file.parent, self._loaded().names[image])
            self._picture = kept
        return kept[1]


class _Truth(NamedTuple):
    """What ``gt.mat`` says, without the boxes of characters.

    Attributes:
        names: of the pictures.
        texts: of each picture, an array of rows of characters that hold some words each.
        corners: of each picture, x and y of four corners of every word.
        starts: number of the words before each picture, and of all words.
    """

    names: list[str]
    texts: list[Any]
    corners: list[Any]
    starts: Int64[np.ndarray, " image"]


def _truth_file(path: Path) -> Path:
    return path if path.suffix.lower() == ".mat" else path / TRUTH


def _load_truth(path: Path) -> _Truth:
    try:
        from scipy.io import loadmat
    except ImportError:
        raise ValueError("SynthText needs scipy: pip install 'vit-str[train]'") from None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # variables of the same name
            _check_expansion(path)
            values = loadmat(path, variable_names=_VARIABLES)
    except NotImplementedError:
        raise ValueError(
            f"{path} is a MATLAB file of version 7.3 (HDF5), expected version 5: load it in "
            "MATLAB and save it with -v7"
        ) from None
    except Exception as error:  # damage makes scipy raise anything
        why = one_line(str(error)) or type(error).__name__
        raise ValueError(f"{path} cannot be read as a MATLAB file ({why})") from None
    cells = [values.get(name) for name in _VARIABLES]
    for name, cell in zip(_VARIABLES, cells, strict=True):
        if not isinstance(cell, np.ndarray) or cell.dtype != object:
            raise ValueError(f"{path} has no cell array {name}; expected the gt.mat of SynthText")
    names, corners, texts = (list(cell.flat) for cell in cells)
    if not len(names) == len(corners) == len(texts):
        raise ValueError(
            f"{path} has {len(names):,} names, boxes for {len(corners):,} images and "
            f"words for {len(texts):,}, expected as many of each; download it again"
        )
    # An image of which nothing is known counts as one word, so that it is not silently gone.
    counts = [0]
    for text, box in zip(texts, corners, strict=True):
        boxes = _boxes(box)
        counts.append(max(len(_words(text)), 1 if boxes is None else len(boxes)))
    return _Truth([_name(name) for name in names], texts, corners, np.cumsum(counts))


def _check_expansion(path: Path) -> None:
    """Refuse variables that are small in the file and fill the memory."""
    with path.open("rb") as file:
        order = "big" if file.read(128)[126:] == b"MI" else "little"
        while len(tag := file.read(8)) == 8:
            kind, size = (int.from_bytes(tag[i : i + 4], order) for i in (0, 4))  # type: ignore[arg-type]
            end = file.tell() + size
            if kind == _COMPRESSED:
                inflate, total = zlib.decompressobj(), 0
                while file.tell() < end and (data := file.read(min(_CHUNK, end - file.tell()))):
                    while data:
                        total += len(inflate.decompress(data, _CHUNK))
                        data = inflate.unconsumed_tail
                        if total > max(_HARMLESS, _MAX_EXPANSION * size):
                            raise ValueError("too large when decompressed")
            file.seek(end)


def _name(cell: Any) -> str:
    text = cell.flat[0] if isinstance(cell, np.ndarray) and cell.size == 1 else ""
    return str(text).strip().replace("\\", "/")


def _words(cell: Any) -> list[str]:
    rows = cell.flat if isinstance(cell, np.ndarray) and cell.dtype.kind == "U" else ()
    return [word for row in rows for word in str(row).split()]


def _boxes(cell: Any) -> Float32[np.ndarray, "word corner xy"] | None:
    """A picture with one word has a matrix, one with more has one more axis."""
    if not isinstance(cell, np.ndarray) or cell.dtype.kind not in "fiu":
        return None
    if cell.size and (cell.shape[:2] != (2, 4) or cell.ndim > 3):
        return None
    return cell.reshape(2, 4, -1).transpose(2, 1, 0).astype(np.float32)


def _load(folder: Path, name: str) -> Image.Image | Skipped:
    """A picture at full size, in the pixels in which its boxes count."""
    try:
        with Image.open(folder / name) as picture:
            image = load_image(picture)
            if image.width * image.height != picture.width * picture.height:
                return Skipped(name, Reason.UNREADABLE, "larger than is decoded at full size")
            return image
    except FileNotFoundError:
        return Skipped(name, Reason.MISSING, "no such file")
    except UnreadableImage as error:
        return Skipped(name, Reason.UNREADABLE, error.reason)
    except Exception as error:  # Pillow raises anything for a damaged header
        return Skipped(name, Reason.UNREADABLE, one_line(str(error)) or type(error).__name__)


def _png(image: Image.Image) -> bytes:
    file = BytesIO()
    image.save(file, "PNG", compress_level=1)
    return file.getvalue()
