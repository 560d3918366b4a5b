"""Values of an LMDB file by their keys, without the C library.

That library maps the file and believes what it finds there: a file that was cut or damaged on its
way ends the whole process. Here every page is checked before it is used. What a page looks like
is in ``mdb.c`` of LMDB 0.9, whose format has been the same since 2011.
"""

import struct
from bisect import bisect_right
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from vit_str.datasets.random_file import RandomFile

_MAGIC, _VERSION = 0xBEEFC0DE, 1
_META = struct.Struct("<16x II QQ 48x IHH QQQQQ QQ")
_FLAGS_OF_META, _PAGE_SIZE = struct.Struct("<10xH"), struct.Struct("<40xI")
_PAGE = struct.Struct("<QHHHH")
_NODE = struct.Struct("<HHHH")
_BRANCH, _LEAF, _OVERFLOW, _META_PAGE = 1, 2, 4, 8
_KINDS = 0x6F  # of a page, without the flag of pages in memory only
_IN_OVERFLOW = 1
_NO_ROOT = (1 << 64) - 1
_DEEPEST = 32
_BRANCHES_KEPT = 1024


class DamagedLmdb(ValueError):  # noqa: N818 - it says what the file is
    """A part of the file is not as LMDB leaves it."""


@dataclass(frozen=True, slots=True)
class _Meta:
    page_size: int
    transaction: int
    flags: int
    root: int
    entries: int


class LmdbFile:
    """The main database of an LMDB file, as the last transaction left it.

    Args:
        path: ``data.mdb``, or a database in a single file.

    Attributes:
        entries: number of keys.

    Raises:
        ValueError: this is no LMDB, or one whose keys are not plain bytes.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = RandomFile(path)
        meta = _meta(self._file)
        if meta.flags:
            raise ValueError(
                f"{path}: an LMDB of another kind (flags {meta.flags:#x}) than of words"
            )
        self.entries = meta.entries
        self._size, self._root = meta.page_size, meta.root
        self._branches: OrderedDict[int, tuple[list[bytes], list[int]]] = OrderedDict()

    def get(self, key: bytes) -> bytes | None:
        """The value of a key, None without one.

        Raises:
            DamagedLmdb: a page on the way to it is damaged or missing.
            OSError: the file cannot be read.
        """
        number = self._root
        if number == _NO_ROOT:
            return None
        for _ in range(_DEEPEST):
            branch = self._branches.get(number)
            if branch is None:
                page = self._page(number)
                if page.kind == _LEAF:
                    return self._value(page, key)
                branch = self._keep(number, page.branch())
            keys, children = branch
            number = children[bisect_right(keys, key) - 1]
        raise DamagedLmdb(f"more than {_DEEPEST} levels of pages")

    def _keep(
        self, number: int, branch: tuple[list[bytes], list[int]]
    ) -> tuple[list[bytes], list[int]]:
        """Remember a page between the root and the leaves, there are few of them."""
        self._branches[number] = branch
        if len(self._branches) > _BRANCHES_KEPT:
            self._branches.popitem(last=False)
        return branch

    def _page(self, number: int) -> "_Page":
        data = self._file.read(number * self._size, self._size)
        return _Page.of(number, data, self._size)

    def _value(self, page: "_Page", key: bytes) -> bytes | None:
        found = page.find(key)
        if found is None:
            return None
        size, flags, value = found
        if flags == 0:
            return value
        if flags != _IN_OVERFLOW:
            raise DamagedLmdb(f"page {page.number} holds a value of an unknown kind")
        number = int.from_bytes(value, "little")
        data = self._file.read(number * self._size, _PAGE.size + size)
        _Page.of(number, data, _PAGE.size + size, _OVERFLOW)
        return data[_PAGE.size :]


@dataclass(frozen=True, slots=True)
class _Page:
    """A page whose header is right; its nodes are checked when they are used."""

    number: int
    data: bytes
    kind: int
    nodes: tuple[int, ...]

    @classmethod
    def of(cls, number: int, data: bytes, size: int, *kinds: int) -> Self:
        if len(data) < size:
            raise DamagedLmdb(f"the file ends before page {number} does")
        found, _, flags, lower, upper = _PAGE.unpack_from(data)
        kind = flags & _KINDS
        if found != number or kind not in (kinds or (_BRANCH, _LEAF)):
            raise DamagedLmdb(f"page {number} is damaged")
        if kind == _OVERFLOW:
            return cls(number, data, kind, ())
        if not _PAGE.size <= lower <= upper <= size:
            raise DamagedLmdb(f"page {number} is damaged")
        count = (lower - _PAGE.size) // 2
        return cls(number, data, kind, struct.unpack_from(f"<{count}H", data, _PAGE.size))

    def branch(self) -> tuple[list[bytes], list[int]]:
        """First key and number of every page below; the key of the first one is below all."""
        keys, children = [], []
        for place in range(len(self.nodes)):
            low, high, top, key, _ = self._node(place)
            keys.append(key)
            children.append(low | high << 16 | top << 32)
        if not keys:
            raise DamagedLmdb(f"page {self.number} is empty")
        keys[0] = b""
        return keys, children

    def find(self, key: bytes) -> tuple[int, int, bytes] | None:
        """Size, flags, and value or number of its page, of a key of a leaf."""
        first, last = 0, len(self.nodes)
        while first < last:
            middle = (first + last) // 2
            low, high, flags, found, end = self._node(middle)
            if found < key:
                first = middle + 1
            elif found > key:
                last = middle
            else:
                size = low | high << 16
                stored = size if flags == 0 else 8
                value = self.data[end : end + stored]
                if len(value) < stored:
                    raise DamagedLmdb(f"page {self.number} is damaged")
                return size, flags, value
        return None

    def _node(self, place: int) -> tuple[int, int, int, bytes, int]:
        """Three numbers, the key, and where it ends."""
        start = self.nodes[place]
        if start + _NODE.size > len(self.data):
            raise DamagedLmdb(f"page {self.number} is damaged")
        low, high, flags, size = _NODE.unpack_from(self.data, start)
        end = start + _NODE.size + size
        return low, high, flags, self.data[start + _NODE.size : end], end


def _meta(file: RandomFile) -> _Meta:
    """The newer one of the two pages that say where the database is."""
    first = file.read(0, 1 << 16)
    if len(first) < _META.size or struct.unpack_from("<I", first, 16)[0] != _MAGIC:
        raise ValueError(f"{file.path}: no LMDB, or one of a 32-bit or big-endian machine")
    (size,) = _PAGE_SIZE.unpack_from(first)
    if size not in {1 << bits for bits in range(9, 17)}:
        raise DamagedLmdb(f"{file.path}: damaged, its pages have {size} bytes")
    metas = [_meta_at(file, number, size) for number in (0, 1)]
    return max(metas, key=lambda meta: meta.transaction)


def _meta_at(file: RandomFile, number: int, page_size: int) -> _Meta:
    data = file.read(number * page_size, _META.size)
    if len(data) == _META.size and _FLAGS_OF_META.unpack_from(data)[0] & _META_PAGE:
        values = _META.unpack(data)
        magic, version = values[:2]
        _, flags, _, _, _, _, entries, root, _, transaction = values[4:]
        if magic == _MAGIC and version == _VERSION:
            return _Meta(page_size, transaction, flags, root, entries)
    raise DamagedLmdb(f"{file.path}: damaged near its start, at byte {number * page_size}")
