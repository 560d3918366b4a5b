"""SynthText as it is distributed: pictures of scenes, and ``gt.mat`` with a box for every word."""

import warnings
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, Float32, Int64
from PIL import Image

from vit_str.console import one_line
from vit_str.datasets.source import IndexedSource, LabeledWord, Reason, Skipped
from vit_str.runtime.images import UnreadableImage, load_image

TRUTH = "gt.mat"

_VARIABLES = ("imnames", "wordBB", "txt")
_MAX_OUTSIDE = 0.1
"""Largest part of a word that may be outside the picture; more of it lacks letters."""


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


def cut_out(image: Image.Image, corners: Float[np.ndarray, "4 2"]) -> Image.Image:
    """The picture within four corners, turned and straightened by perspective.

    It is as wide and as high as the longer of the two sides that face each other, in whole pixels,
    so that nothing is made smaller on the whole. Where the corners leave the picture a little, its
    edge is repeated.

    Args:
        image: the picture.
        corners: x and y of the top left corner of the text, and so on clockwise, in pixels. A
            pixel reaches from its number to the next: the picture from 0 to its width.

    Raises:
        ValueError: the corners enclose nothing that can be cut out; one line says why.
    """
    import cv2

    corners = np.asarray(corners, dtype=np.float64)
    _check_corners(corners, image.size)
    top, right, bottom, left = np.linalg.norm(np.roll(corners, -1, axis=0) - corners, axis=1)
    width, height = max(1, round(max(top, bottom))), max(1, round(max(left, right)))
    straight = np.array([(0, 0), (width, 0), (width, height), (0, height)], dtype=np.float32)
    try:
        # OpenCV counts from the middle of the first pixel.
        projection = cv2.getPerspectiveTransform(
            straight - 0.5, corners.astype(np.float32) - np.float32(0.5), solveMethod=cv2.DECOMP_SVD
        )
        picture = np.ones((image.height, image.width), dtype=np.uint8)
        flags = cv2.INTER_NEAREST | cv2.WARP_INVERSE_MAP
        inside = cv2.warpPerspective(picture, projection, (width, height), None, flags)
        outside = 1 - inside.mean()
        if outside > _MAX_OUTSIDE:
            raise ValueError(f"the box has {outside:.0%} of its area outside the image")
        flags = cv2.INTER_CUBIC | cv2.WARP_INVERSE_MAP
        pixels = cv2.warpPerspective(
            np.asarray(image), projection, (width, height), None, flags, cv2.BORDER_REPLICATE
        )
    except cv2.error:  # a side of more than 32,767 pixels, or a box without height
        raise ValueError("the box or the image cannot be straightened") from None
    return Image.fromarray(pixels)


def _check_corners(corners: Float[np.ndarray, "4 2"], bounds: tuple[int, int]) -> None:
    if not np.isfinite(corners).all():
        raise ValueError("the box has a corner that is not a finite number")
    if (np.abs(corners - np.array(bounds) / 2) > bounds).any():  # would also take much memory
        raise ValueError("the box has a corner far outside the image")
    sides = np.roll(corners, -1, axis=0) - corners
    after = np.roll(sides, -1, axis=0)
    turns = sides[:, 0] * after[:, 1] - sides[:, 1] * after[:, 0]
    # Mirrored text would come out otherwise, or a picture folded over itself.
    if not (turns > 1e-6).all():
        raise ValueError("the corners of the box do not enclose an area clockwise")
