"""Contents of an LMDB, read page by page; no number in the file is believed.

The library of LMDB follows every number in its file, and one that a broken disk or somebody has
changed ends the process by a signal. Here it costs what is stored there. Pages are read, not mapped
into memory: of a file that gets shorter meanwhile, a map would end the process too.

Pages of one size (``MDB_page`` in the source of LMDB 0.9) form a tree, sorted by key. Each begins
with a header, and those of the tree go on with the places of their nodes. A branch page leads to
other pages, a leaf page holds values, and what is too large for it lies on pages that follow one
another. The first two pages say where the tree begins; the one that was written last counts.
"""

import os
import struct
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from pathlib import Path
from threading import Lock
from typing import NamedTuple

_FORM = 0xBEEFC0DE, 1  # number and version of the format
# Of a page: number, flags, where its free space begins and ends
_HEADER = struct.Struct("<Q2xHHH")
_BRANCH = 1
_LEAF = 2
_OVERFLOW = 4
_META = 8
_FOLLOWING = struct.Struct("<12xI")  # of what lies on several pages: how many
# Of one of the first two: number and version of the format, size of a page; of the sorted tree its
# flags, entries and root; the last page, and the number of the change that wrote this
_START = struct.Struct("<16xII16xI44x4xH2x24xQQQQ")
_OTHER_ORDER = 2 | 4 | 8  # flags of trees that are sorted in other ways
_PLACE = struct.Struct("<H")
_NODE = struct.Struct("<HHHH")  # size, upper half of it, flags, size of the key
_KEY_SIZE = 6  # bytes before it in a node
_NUMBER = struct.Struct("<Q")
_NONE = (1 << 64) - 1  # number of the root of an empty tree
_ELSEWHERE = 1  # flag of a node whose value lies on other pages
_PAGE_SIZES = [1 << power for power in range(9, 16)]
_DEEPEST = 32  # pages from the root to a leaf, as in the library
_LEAST_NODE = 10  # bytes, with its place
_BRANCHES = 8 << 20  # bytes of branch pages whose nodes are kept, in 20 MB


class DamagedPage(ValueError):  # noqa: N818 - it says what is wrong
    """A page that cannot be one of an LMDB."""


class _Start(NamedTuple):
    """The header of an LMDB file: one of its first two pages."""

    form: int
    version: int
    page_size: int
    flags: int
    entries: int
    root: int
    last: int
    change: int


class _Page(NamedTuple):
    """A page of the tree."""

    data: bytes
    is_leaf: bool
    nodes: int


class _Branch(NamedTuple):
    """The nodes of a branch page."""

    keys: list[bytes]  # the first does not count
    below: list[int]  # numbers of the pages that they lead to


class LmdbPages:
    """The pages of a database in a file.

    Attributes:
        entries: keys that there are, or fewer.

    Raises:
        DamagedPage: it is no LMDB, one of another version, or damaged at its start.
        OSError: it cannot be opened.
    """

    def __init__(self, path: Path) -> None:
        self._file = _File(path)
        if not self._file.size:
            raise DamagedPage("0 bytes")
        first = self._start(0)
        start = max(first, self._start(first.page_size), key=lambda each: each.change)
        if start.page_size != first.page_size or start.flags & _OTHER_ORDER:
            raise DamagedPage("sorted in another way")
        self._page_size = start.page_size
        self._root = start.root
        self._branches: dict[int, _Branch] = {}
        needed = (start.last + 1) * start.page_size
        if self._file.size < needed:
            raise DamagedPage(f"cut short, expected {needed:,} bytes")
        self.entries = min(start.entries, self._file.size // _LEAST_NODE)

    def get(self, key: bytes) -> bytes | None:
        """The value of a key, None without one.

        Raises:
            DamagedPage: on the way to it, or where it is.
        """
        if self._root == _NONE:
            return None
        try:
            return self._search(key)
        except struct.error:
            raise DamagedPage("a place beyond the end") from None

    def _search(self, key: bytes) -> bytes | None:
        number = self._root
        for _ in range(_DEEPEST):
            branch = self._branches.get(number)
            if branch is None:
                page = self._page(number)
                if page.is_leaf:
                    return self._value_in(page, key)
                branch = self._keep(number, page)
            # The first node leads to all that comes before the key of the second
            number = branch.below[bisect_right(branch.keys, key, 1) - 1]
        raise DamagedPage("pages in a circle")

    def _keep(self, number: int, page: _Page) -> _Branch:
        """The nodes of a branch page, for the next time."""
        if len(self._branches) >= _BRANCHES // self._page_size:
            self._branches.clear()
        key_of = self._key_on(page)
        keys = []
        free = self._page_size
        for index in range(page.nodes):
            keys.append(key_of(index))
            free -= len(keys[-1])
            if free < 0:
                raise DamagedPage(f"page {number} holds more keys than it can")
        below = [self._number_below(page, index) for index in range(page.nodes)]
        branch = self._branches[number] = _Branch(keys, below)
        return branch

    def _number_below(self, page: _Page, index: int) -> int:
        """The page that a node of a branch page leads to."""
        low, high, highest, _ = _NODE.unpack_from(page.data, _place(page, index))
        return low | high << 16 | highest << 32

    def _value_in(self, page: _Page, key: bytes) -> bytes | None:
        """The value of a key on a leaf page."""
        key_of = self._key_on(page)
        index = bisect_left(range(page.nodes), key, key=key_of)
        if index == page.nodes or key_of(index) != key:
            return None
        place = _place(page, index)
        low, high, flags, key_size = _NODE.unpack_from(page.data, place)
        size = low | high << 16
        begin = place + _NODE.size + key_size
        if flags == _ELSEWHERE:
            return self._large_value(_NUMBER.unpack_from(page.data, begin)[0], size)
        if flags or begin + size > self._page_size:
            raise DamagedPage("a value that does not fit")
        return page.data[begin : begin + size]

    def _large_value(self, number: int, size: int) -> bytes:
        """A value on pages of its own."""
        page = number * self._page_size
        head = self._file.read(page, _HEADER.size)
        if len(head) < _HEADER.size:
            raise DamagedPage(f"page {number} is beyond the end")
        _, flags, _, _ = _HEADER.unpack(head)
        (pages,) = _FOLLOWING.unpack(head)
        begin = page + _HEADER.size
        if not flags & _OVERFLOW or begin + size > page + pages * self._page_size:
            raise DamagedPage("a large value that does not fit")
        value = self._file.read(begin, size)
        if len(value) < size:
            raise DamagedPage("a large value beyond the end")
        return value

    def _page(self, number: int) -> _Page:
        data = self._file.read(number * self._page_size, self._page_size)
        if len(data) < self._page_size:
            raise DamagedPage(f"page {number} is beyond the end")
        own_number, flags, free, end_of_free = _HEADER.unpack_from(data)
        if own_number != number or flags & (_BRANCH | _LEAF) not in (_BRANCH, _LEAF):
            raise DamagedPage(f"page {number} is none of the tree")
        if not _HEADER.size < free <= end_of_free <= self._page_size:
            raise DamagedPage(f"page {number} holds nothing")
        nodes = (free - _HEADER.size) // _PLACE.size
        if nodes * _LEAST_NODE > self._page_size:
            raise DamagedPage(f"page {number} holds more than it can")
        return _Page(data, bool(flags & _LEAF), nodes)

    def _key_on(self, page: _Page) -> Callable[[int], bytes]:
        """A function from places to keys of a page; most of the time is spent there."""
        data = page.data
        places = _HEADER.size
        unpack = _PLACE.unpack_from

        def key_of(index: int) -> bytes:
            place = unpack(data, places + 2 * index)[0]
            size = unpack(data, place + _KEY_SIZE)[0]
            key = data[place + _NODE.size : place + _NODE.size + size]
            if len(key) < size:
                raise DamagedPage("a page holds more than it can")
            return key

        return key_of

    def _start(self, begin: int) -> _Start:
        data = self._file.read(begin, _START.size)
        try:
            _, flags, _, _ = _HEADER.unpack_from(data)
            found = _Start(*_START.unpack_from(data))
        except struct.error:
            raise DamagedPage("too short") from None
        if not flags & _META or (found.form, found.version) != _FORM:
            raise DamagedPage("not the start of one, or of another version")
        if found.page_size not in _PAGE_SIZES:
            raise DamagedPage(f"pages of {found.page_size:,} bytes")
        return found


def _place(page: _Page, index: int) -> int:
    """Where a node is on its page."""
    place: int = _PLACE.unpack_from(page.data, _HEADER.size + index * _PLACE.size)[0]
    return place


class _File:
    """A file whose parts threads read at the same time.

    Attributes:
        size: in bytes, when it was opened.

    Raises:
        OSError: it cannot be opened.
    """

    def __init__(self, path: Path) -> None:
        self._file = path.open("rb", buffering=0)
        self._lock = Lock()
        self.size = os.fstat(self._file.fileno()).st_size

    def __del__(self) -> None:
        if hasattr(self, "_file"):
            self._file.close()

    def read(self, begin: int, size: int) -> bytes:
        """Some bytes, or fewer where the file ends.

        Raises:
            DamagedPage: the system does not give them, as of a broken disk.
        """
        if begin + size > self.size:  # before there is memory for them
            return b""
        try:
            if hasattr(os, "pread"):
                return os.pread(self._file.fileno(), size, begin)
            with self._lock:
                self._file.seek(begin)
                return self._file.read(size)
        except OSError as error:
            raise DamagedPage(f"cannot be read ({error.strerror})") from None
