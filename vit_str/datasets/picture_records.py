"""Parts of pictures of pages with what is where on them: compact files of a hundred.

A folder holds ``pages.json``, what all of them are made with, and for every hundred pages a file
``00012.safetensors``: the pictures as files of WebP one behind the other, and numbers. Nothing is
drawn to use it, so a machine without a browser trains from a copy.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, overload

import numpy as np
from PIL import Image
from safetensors import SafetensorError
from safetensors.numpy import load, save

from vit_str.files import write_atomically

if TYPE_CHECKING:
    from jaxtyping import Float, Int32

_UNITS = 8  # of a pixel: places are kept as whole numbers of 16 bits
_QUALITY = 40  # of WebP
_ABOUT = "about"


@dataclass(frozen=True)
class PictureRecord:
    """A part of a picture of a page, and what is where on it, in its pixels.

    What lies across its edge is whole, so that places may be outside.

    Attributes:
        image: in RGB.
        family: of the design of its page.
        number: of the page.
        boxes: of words: left, top, right, bottom.
        sizes: of their type.
        turns: of their text, in degrees to the right.
        lines: number of the line of each word; words of a line follow each other.
        rules: ends of ruled lines, and their width: x0, y0, x1, y1, width.
        pictures: left, top, right, bottom.
        checks: boxes to tick: left, top, right, bottom, 1 if ticked.
    """

    image: Image.Image
    family: str
    number: int
    boxes: "Float[np.ndarray, 'word 4']"
    sizes: "Float[np.ndarray, ' word']"
    turns: "Int32[np.ndarray, ' word']"
    lines: "Int32[np.ndarray, ' word']"
    rules: "Float[np.ndarray, 'rule 5']"
    pictures: "Float[np.ndarray, 'picture 4']"
    checks: "Float[np.ndarray, 'check 5']"


_PLACES = {"boxes": (4,), "sizes": (), "rules": (5,), "pictures": (4,), "checks": (5,)}
_NUMBERS = {"turns": np.int16, "lines": np.int32}


def picture_shard(folder: Path, shard: int) -> Path:
    """The file of a hundred pages."""
    return folder / f"{shard:05}.safetensors"


def write_picture_shard(
    folder: Path, shard: int, records: Sequence[PictureRecord]
) -> None:
    """Write pages to one file."""
    with write_atomically(picture_shard(folder, shard)) as temporary:
        temporary.write_bytes(shard_of(records))


def shard_of(records: Sequence[PictureRecord]) -> bytes:
    """What a file of pages holds."""
    about = json.dumps([[record.family, record.number] for record in records])
    parts = {"files": [_as_webp(record.image) for record in records]}
    for name, shape in _PLACES.items():
        parts[name] = [
            _in_units(getattr(each, name)).reshape(-1, *shape) for each in records
        ]
    for name, dtype in _NUMBERS.items():
        parts[name] = [np.asarray(getattr(each, name), dtype) for each in records]
    arrays = {_ABOUT: np.frombuffer(about.encode(), np.uint8)}
    for name, each_part in parts.items():
        arrays[name] = np.concatenate(each_part)
        arrays[f"{name}.end"] = np.cumsum([len(part) for part in each_part])
    return save(arrays)


class PictureShard(Sequence[PictureRecord]):
    """The pages of a file, in memory; a picture is decoded when it is looked at.

    Args:
        data: what the file holds.
        name: of the file, for messages.

    Raises:
        ValueError: it is damaged, or another file; one line that names it.
    """

    def __init__(self, data: bytes, name: str) -> None:
        try:
            self._arrays = load(data)
            about = json.loads(self._arrays[_ABOUT].tobytes())
            self._about = [(str(family), int(number)) for family, number in about]
            ends = [self._arrays[f"{part}.end"] for part in ("files", *_PLACES)]
        except (SafetensorError, KeyError, TypeError, ValueError) as error:
            raise _damaged(name, str(error)) from None
        if any(len(end) != len(self._about) for end in ends):
            raise _damaged(name, "pages are missing")

    @property
    def families(self) -> list[str]:
        """That of each page, without a look at its picture."""
        return [family for family, _ in self._about]

    def __len__(self) -> int:
        return len(self._about)

    @overload
    def __getitem__(self, at: int) -> PictureRecord: ...

    @overload
    def __getitem__(self, at: slice) -> list[PictureRecord]: ...

    def __getitem__(self, at: int | slice) -> PictureRecord | list[PictureRecord]:
        if isinstance(at, slice):
            return [self[place] for place in range(*at.indices(len(self)))]
        family, number = self._about[at]
        at %= len(self)
        places = {
            name: self._part(name, at).astype(np.float32) / _UNITS for name in _PLACES
        }
        numbers = {name: self._part(name, at).astype(np.int32) for name in _NUMBERS}
        image = Image.open(BytesIO(self._part("files", at).tobytes()))
        return PictureRecord(image, family, number, **places, **numbers)

    def _part(self, name: str, at: int) -> np.ndarray:
        ends = self._arrays[f"{name}.end"]
        return self._arrays[name][int(ends[at - 1]) if at else 0 : int(ends[at])]


def read_picture_shard(path: Path) -> PictureShard:
    """The pages of a file.

    Raises:
        ValueError: it cannot be read; one line that names it.
    """
    try:
        return PictureShard(path.read_bytes(), str(path))
    except OSError as error:
        raise _damaged(str(path), error.strerror or str(error)) from None


def pictures_of_shard(folder: Path, shard: int) -> int:
    """How many pages a shard holds; none if it is not there."""
    path = picture_shard(folder, shard)
    return len(read_picture_shard(path)) if path.exists() else 0


def picture_shards_of(folder: Path) -> list[Path]:
    """The files of a folder.

    Raises:
        ValueError: there are none.
    """
    found = sorted(folder.glob("[0-9]" * 5 + ".safetensors"))
    if not found:
        raise ValueError(
            f"{folder} holds no pictures of pages; draw some: "
            f"vit-str render --pages 2000 --find --out {folder}"
        )
    return found


def _damaged(name: str, reason: str) -> ValueError:
    reason = " ".join(reason.split())
    return ValueError(f"{name}: no pictures of pages, or damaged ones: {reason}")


def _in_units(values: np.ndarray) -> np.ndarray:
    limits = np.iinfo(np.int16)
    scaled = np.round(np.asarray(values, np.float64) * _UNITS)
    return scaled.clip(limits.min, limits.max).astype(np.int16)


def _as_webp(image: Image.Image) -> np.ndarray:
    file = BytesIO()
    image.save(file, "WEBP", quality=_QUALITY, method=4)
    return np.frombuffer(file.getvalue(), np.uint8)
