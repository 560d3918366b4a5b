"""The words of SynthText: what ``gt.mat`` says, and each cut out upright."""

import warnings
from array import array
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, Float32, Int64
from PIL import Image

from vit_str.console import reason_of
from vit_str.datasets.source import Reason, Skipped
from vit_str.files import leads_out
from vit_str.images.headers import open_header
from vit_str.images.loading import load_image
from vit_str.images.refusals import UnreadableImage
from vit_str.machine import install_hint

_NAMES = "imnames"
_BOXES = "wordBB"
_TEXTS = "txt"
# Share of the area of a word outside of the picture: with more, letters lack
_MOST_OUTSIDE = 0.1


class Truth(NamedTuple):
    """The contents of ``gt.mat`` without the boxes of characters, in little memory."""

    names: list[str]  # of the pictures
    texts: list[str]  # of each picture, its words with spaces between them
    corners: Float32[np.ndarray, "box 4 2"]  # x and y of the corners of all boxes
    # Number of the boxes before each picture
    first_boxes: Int64[np.ndarray, " picture+1"]
    # Number of the words before each picture; one with more boxes than words counts these, and one
    # of which nothing is known counts one, so that it is not silently gone
    starts: Int64[np.ndarray, " picture+1"]

    def words_of(self, picture: int) -> list[str]:
        return self.texts[picture].split()

    def boxes_of(self, picture: int) -> Float32[np.ndarray, "box 4 2"]:
        return self.corners[self.first_boxes[picture] : self.first_boxes[picture + 1]]


def load_truth(path: Path) -> Truth:
    """Read the ground truth; the objects that the library makes of it are dropped one by one.

    Raises:
        ValueError: for a file that is damaged, of MATLAB 7.3, or whose parts differ in length.
    """
    corners = array("f")
    box_counts = []
    for cell in _cells(path, _BOXES):
        boxes = _boxes(cell)
        corners.frombytes(boxes.tobytes())
        box_counts.append(len(boxes))
    texts = [" ".join(_words(cell)) for cell in _cells(path, _TEXTS)]
    names = [_name(cell) for cell in _cells(path, _NAMES)]
    if not len(names) == len(box_counts) == len(texts):
        raise ValueError(
            f"{path}: {len(names):,} names of pictures, boxes for "
            f"{len(box_counts):,} and words for {len(texts):,}, expected as many of "
            "each; download it again"
        )
    counts = [
        max(len(text.split()), boxes, 1)
        for text, boxes in zip(texts, box_counts, strict=True)
    ]
    return Truth(
        names=names,
        texts=texts,
        corners=np.array(corners, np.float32).reshape(-1, 4, 2),
        first_boxes=np.cumsum([0, *box_counts]),
        starts=np.cumsum([0, *counts]),
    )


def _cells(path: Path, name: str) -> Iterator[Any]:
    """The elements of a cell array of a MATLAB file; none is kept."""
    try:
        from scipy.io import loadmat
    except ImportError:
        raise ValueError(
            f"SynthText needs scipy, run: {install_hint('train')}"
        ) from None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of variables that have the same name
            matrix = loadmat(path, variable_names=[name]).get(name)
    except NotImplementedError:
        raise ValueError(
            f"{path}: a MATLAB file of version 7.3 (HDF5), expected version 5; load "
            "it in MATLAB and save it with -v7"
        ) from None
    except Exception as error:  # damage makes the library raise anything
        reason = reason_of(error)
        raise ValueError(
            f"{path}: no MATLAB file, or damaged ({reason}); copy it again"
        ) from None
    if not isinstance(matrix, np.ndarray) or matrix.dtype != object:
        raise ValueError(
            f"{path}: no cell array {name}; expected the gt.mat of SynthText"
        )
    cells = matrix.reshape(-1)
    for index, cell in enumerate(cells):
        cells[index] = None
        yield cell


def _name(cell: Any) -> str:
    text = cell.flat[0] if isinstance(cell, np.ndarray) and cell.size == 1 else ""
    return str(text).strip().replace("\\", "/")


def _words(cell: Any) -> list[str]:
    """The words of a picture: of blocks of text that hold spaces and line breaks."""
    blocks = (
        cell.flat if isinstance(cell, np.ndarray) and cell.dtype.kind == "U" else ()
    )
    return " ".join(map(str, blocks)).split()


def _boxes(cell: Any) -> Float32[np.ndarray, "box 4 2"]:
    """The corners of a picture's words, 2 x 4 x words, or 2 x 4 for one; none if it is damaged."""
    is_numbers = isinstance(cell, np.ndarray) and cell.dtype.kind in "fiu"
    if not is_numbers or cell.shape[:2] != (2, 4) or cell.ndim > 3:
        return np.empty((0, 4, 2), np.float32)
    return cell.reshape(2, 4, -1).transpose(2, 1, 0).astype(np.float32)


def load_scene(folder: Path, name: str) -> Image.Image | Skipped:
    """A picture at full size, in the pixels in which its boxes count."""
    path = folder / name
    if leads_out(path, folder):
        return Skipped(name, Reason.OUTSIDE, f"only files in {folder} are read")
    if not path.is_file():
        return Skipped(name, Reason.MISSING, f"no such file in {folder}")
    try:
        image = load_image(path)
    except UnreadableImage as error:
        return Skipped(name, Reason.UNREADABLE, error.reason)
    with open_header(path) as stored:
        is_whole = stored is not None and stored.size == image.size
    if not is_whole:
        return Skipped(
            name, Reason.UNREADABLE, "turned by its EXIF, or larger than is decoded"
        )
    return image


def png_of(image: Image.Image) -> bytes:
    """The picture as a PNG file, compressed fast."""
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
        ValueError: the corners enclose nothing that can be cut out.
    """
    import cv2

    corners = np.asarray(corners, dtype=np.float64)
    _check_corners(corners, image.size)
    sides = np.roll(corners, -1, axis=0) - corners
    top, right, bottom, left = np.linalg.norm(sides, axis=1)
    width = max(1, round(max(top, bottom)))
    height = max(1, round(max(left, right)))
    straight = np.array([(0, 0), (width, 0), (width, height), (0, height)])
    # The library counts from the middle of the first pixel.
    middle = np.float32(0.5)
    projection = cv2.getPerspectiveTransform(
        straight.astype(np.float32) - middle, corners.astype(np.float32) - middle
    )
    covered = cv2.warpPerspective(
        np.ones((image.height, image.width), np.uint8),
        projection,
        (width, height),
        flags=cv2.INTER_NEAREST | cv2.WARP_INVERSE_MAP,
    )
    outside = 1 - covered.mean()
    if outside > _MOST_OUTSIDE:
        raise ValueError(f"{outside:.0%} of the box is outside of the picture")
    pixels = cv2.warpPerspective(
        np.asarray(image),
        projection,
        (width, height),
        flags=cv2.INTER_CUBIC | cv2.WARP_INVERSE_MAP,
        borderMode=cv2.BORDER_REPLICATE,
    )
    return Image.fromarray(pixels)


def _check_corners(corners: Float[np.ndarray, "4 2"], size: tuple[int, int]) -> None:
    if not np.isfinite(corners).all():
        raise ValueError("a corner of the box is no finite number")
    # What is so far away would also take much memory.
    is_far = np.abs(corners - np.array(size) / 2) > size
    if is_far.any():
        raise ValueError("a corner of the box is far outside of the picture")
    sides = np.roll(corners, -1, axis=0) - corners
    after = np.roll(sides, -1, axis=0)
    x, y = sides.T
    next_x, next_y = after.T
    turns = x * next_y - y * next_x
    # Mirrored text would come out otherwise, or a picture folded over itself.
    if not (turns > 1e-6).all():
        raise ValueError("the corners of the box enclose no area clockwise")
