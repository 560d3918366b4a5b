"""Cell arrays in MATLAB files of version 5, read one cell after another.

Written for one purpose: the ground truth of SynthText is a file of gigabytes with millions of
little arrays, of which a general reader makes as many objects before the first can be used. Here
a cell is forgotten when the next is read. The layout is described in "MAT-File Format", The
MathWorks: an element is a type, a size and so many bytes, and may be compressed or hold others.
"""

import struct
import zlib
from collections.abc import Iterator
from io import BufferedReader
from pathlib import Path
from typing import Protocol

import numpy as np
from jaxtyping import Shaped

Cell = Shaped[np.ndarray, "..."] | list[str] | None
"""An array of numbers, or the rows of an array of characters; None: another thing, or damaged."""

_HEADER = 128
_HDF5 = b"\x89HDF"
_MATRIX, _COMPRESSED = 14, 15
_CELLS, _CHARACTERS = 1, 4
_LARGEST_CELL = 1 << 28
_CHUNK = 1 << 20
_NUMBERS = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4"}
_NUMBERS |= {7: "f4", 9: "f8", 12: "i8", 13: "u8"}
_ENCODINGS = {1: "latin-1", 2: "latin-1", 4: "utf-16", 16: "utf-8", 17: "utf-16", 18: "utf-32"}


class _Source(Protocol):
    def read(self, size: int, /) -> bytes: ...


def byte_order(path: Path) -> str:
    """The byte order of a file, as `struct` writes it, after a look at what kind of file it is.

    Raises:
        ValueError: it is no MATLAB file of version 5 (what MATLAB saves as -v6 and -v7).
    """
    with path.open("rb") as file:
        header = file.read(_HEADER)
        file.seek(512)
        if header.startswith(b"MATLAB 7.3") or _HDF5 in (header[:4], file.read(4)):
            raise ValueError(
                f"{path} is a MATLAB file of version 7.3 (HDF5), expected version 5: load it in "
                "MATLAB and save it with -v7"
            )
    order = {b"IM": "<", b"MI": ">"}.get(header[126:])
    if order is None or struct.unpack(f"{order}H", header[124:126])[0] != 0x0100:
        raise ValueError(
            f"{path} is no MATLAB file of version 5; download it again or check the path"
        )
    return order


def cells_of(path: Path, name: str) -> Iterator[Cell]:
    """The cells of a variable in their order.

    Args:
        path: the file.
        name: of a variable that is a cell array.

    Raises:
        ValueError: no such file, no such cell array in it, or it is damaged so far that the rest
            cannot be told apart.
    """
    try:
        order = byte_order(path)
        with path.open("rb") as file:
            for body in _variables(file, order):
                kind, shape, found = _head(body, order)
                if found == name and kind == _CELLS:
                    for _ in range(int(np.prod(shape, dtype=object))):
                        yield _cell(_matrix(body, order), order)
                    return
    except (struct.error, zlib.error, EOFError) as error:
        raise ValueError(
            f"{path} is damaged or cut short in {name} ({error}); download it again"
        ) from error
    raise ValueError(f"{path} has no cell array {name}; expected the gt.mat of SynthText")


def _variables(file: BufferedReader, order: str) -> Iterator[_Source]:
    """What can be read after the tag of every variable."""
    position = _HEADER
    while True:
        file.seek(position)
        tag = file.read(8)
        if not tag:
            return
        kind, size = struct.unpack(f"{order}II", tag)
        position += 8 + size
        source: _Source = _Exact(file)
        if kind == _COMPRESSED:
            source = _Inflated(file, size)
            kind, _ = struct.unpack(f"{order}II", source.read(8))
        if kind == _MATRIX:  # nothing else means anything here
            yield source


class _Exact:
    """Reads as much as is asked for or says that the file ends."""

    def __init__(self, file: BufferedReader) -> None:
        self._file = file

    def read(self, size: int, /) -> bytes:
        data = self._file.read(size)
        if len(data) < size:
            raise EOFError("the file ends too soon")
        return data


class _Inflated:
    """Reads what is compressed in the next ``size`` bytes of a file."""

    def __init__(self, file: BufferedReader, size: int) -> None:
        self._file, self._left = file, size
        self._inflate = zlib.decompressobj()
        self._ready, self._place = b"", 0

    def read(self, size: int, /) -> bytes:
        parts, missing = [], size
        while missing:
            if self._place == len(self._ready):
                self._ready, self._place = self._more(), 0
            part = self._ready[self._place : self._place + missing]
            self._place += len(part)
            missing -= len(part)
            parts.append(part)
        return b"".join(parts)

    def _more(self) -> bytes:
        waiting = self._inflate.unconsumed_tail
        while True:
            if not waiting:
                waiting = self._file.read(min(_CHUNK, self._left))
                self._left -= len(waiting) or self._left  # nothing comes: the file is cut short
            data = self._inflate.decompress(waiting, _CHUNK)
            waiting = self._inflate.unconsumed_tail
            if data:
                return data
            if self._inflate.eof or not (waiting or self._left):
                raise EOFError("compressed data ends too soon")


def _head(body: _Source, order: str) -> tuple[int, tuple[int, ...], str]:
    """Class, shape and name of a matrix, read up to what it holds."""
    flags = _element(body, order)
    dims = _element(body, order)
    name = _element(body, order)
    shape = struct.unpack(f"{order}{len(dims) // 4}i", dims[: len(dims) // 4 * 4])
    if min(shape, default=0) < 0:
        raise EOFError(f"an array of shape {shape}")
    return struct.unpack_from(f"{order}I", flags)[0] & 0xFF, shape, name.decode("latin-1")


def _element(body: _Source, order: str) -> bytes:
    """The data of an element, read with what pads it to 8 bytes."""
    tag = body.read(8)
    small, data = _small(tag, order)
    if small is not None:
        return data
    _, size = struct.unpack(f"{order}II", tag)
    if size > _LARGEST_CELL:
        raise EOFError(f"an element of {size:,} bytes")
    return body.read(size + -size % 8)[:size]


def _small(tag: bytes, order: str) -> tuple[int | None, bytes]:
    """Type and data of an element that is as small as a tag; None if it is not."""
    (word,) = struct.unpack_from(f"{order}I", tag)
    if not word >> 16:
        return None, b""
    return word & 0xFFFF, tag[4 : 4 + (word >> 16)]


def _matrix(body: _Source, order: str) -> bytes:
    """The next cell, as it is stored."""
    kind, size = struct.unpack(f"{order}II", body.read(8))
    if kind != _MATRIX or size > _LARGEST_CELL:
        raise EOFError(f"a cell of type {kind} with {size:,} bytes")
    return body.read(size)


def _cell(data: bytes, order: str) -> Cell:
    try:
        return _parsed(data, order)
    except (struct.error, UnicodeDecodeError, ValueError, EOFError):
        return None  # the cells after it are where they were


def _parsed(data: bytes, order: str) -> Cell:
    if not data:
        return None
    (flags,) = struct.unpack_from(f"{order}I", data, 8)
    _, dims, place = _part(data, 16, order)
    _, _, place = _part(data, place, order)
    shape = struct.unpack(f"{order}{len(dims) // 4}i", dims)
    kind, values, _ = _part(data, place, order)
    if flags & 0xFF == _CHARACTERS:
        return _rows(kind, values, shape, order)
    if kind not in _NUMBERS or flags & 0xFF < 6:
        return None
    return np.frombuffer(values, f"{order}{_NUMBERS[kind]}").reshape(shape, order="F")


def _part(data: bytes, place: int, order: str) -> tuple[int, bytes, int]:
    """Type and data of an element within a cell, and where the next begins."""
    kind, size = struct.unpack_from(f"{order}II", data, place)
    small, values = _small(data[place : place + 8], order)
    if small is not None:
        return small, values, place + 8
    values = data[place + 8 : place + 8 + size]
    if len(values) < size:
        raise EOFError("an element is longer than its cell")
    return kind, values, place + 8 + size + -size % 8


def _rows(kind: int, values: bytes, shape: tuple[int, ...], order: str) -> list[str] | None:
    """The rows of characters that are stored column by column."""
    if kind not in _ENCODINGS or len(shape) != 2:
        return None
    encoding = _ENCODINGS[kind]
    if encoding in {"utf-16", "utf-32"}:
        encoding += "-le" if order == "<" else "-be"
    text = values.decode(encoding)
    rows, columns = shape
    if len(text) != rows * columns:
        return None
    return [text[row::rows] for row in range(rows)]
