"""Pages of LMDB: what the library has written is found, and no damage ends the process."""

import random
import struct
from contextlib import suppress
from pathlib import Path

import lmdb
import pytest

from vit_str.datasets.lmdb_pages import DamagedPage, LmdbPages

PAGE = 4096  # bytes
BRANCH = struct.pack("<H", 1)
ROOT = struct.Struct("<Q")
WORDS = 3000


def store(path: Path, values: dict[bytes, bytes]) -> Path:
    """A database in a file."""
    options = {"subdir": False, "lock": False, "map_size": 1 << 28}
    with lmdb.open(str(path), **options) as environment:
        for part in range(0, len(values), 700):  # several changes of the tree
            with environment.begin(write=True) as transaction:
                for key in [*values][part : part + 700]:
                    transaction.put(key, values[key])
    return path


@pytest.fixture(scope="module")
def values() -> dict[bytes, bytes]:
    """Small and large values; with keys so long that the tree has four floors."""
    draw = random.Random(0)
    sizes = (0, 5, 1000, 3000, 20_000)
    stored = {}
    for number in range(WORDS):
        key = b"%d %d" % (draw.randrange(10**9), number)
        stored[key.ljust(draw.choice((1, 200, 500)), b"x")] = draw.randbytes(
            draw.choice(sizes)
        )
    return stored


@pytest.fixture(scope="module")
def whole(values, tmp_path_factory) -> Path:
    return store(tmp_path_factory.mktemp("lmdb") / "whole.mdb", values)


def test_what_the_library_has_written_is_found(values, whole):
    with lmdb.open(str(whole), subdir=False, readonly=True, lock=False) as environment:
        assert environment.stat()["depth"] == 4
    pages = LmdbPages(whole)
    assert pages.entries == WORDS
    assert all(pages.get(key) == value for key, value in values.items())
    for key in (b"", b"0", b"5", b"\xff", *(key[:-1] for key in values)):
        assert pages.get(key) == values.get(key)


def test_the_tree_is_that_of_the_last_change(tmp_path):
    for number in range(4):
        store(tmp_path / "a.mdb", {b"a": b"%d" % number})
        assert LmdbPages(tmp_path / "a.mdb").get(b"a") == b"%d" % number


def test_an_empty_database(tmp_path):
    with lmdb.open(str(tmp_path / "a.mdb"), subdir=False, lock=False):
        pass
    pages = LmdbPages(tmp_path / "a.mdb")
    assert pages.get(b"a") is None
    assert pages.entries == 0


@pytest.mark.parametrize("seed", range(20))
def test_no_changed_bytes_end_the_process(seed, values, whole, tmp_path):
    """The library of LMDB is killed by SIGSEGV with two of these files."""
    draw = random.Random(seed)
    damaged = bytearray(whole.read_bytes())
    pages = range(len(damaged) // PAGE)
    for page in pages if seed % 2 else draw.sample(pages, 50):
        place = page * PAGE + draw.randrange(draw.choice((24, 200, PAGE)))
        size = draw.choice((1, 2, 8))
        extreme = draw.choice((bytes(size), size * b"\xff", draw.randbytes(size)))
        if page > 1 or not seed:
            damaged[place : place + size] = extreme
    path = tmp_path / "damaged.mdb"
    path.write_bytes(damaged[: whole.stat().st_size])
    with suppress(DamagedPage):
        opened = LmdbPages(path)
        for key in values:
            with suppress(DamagedPage):
                assert isinstance(opened.get(key), bytes | None)


def root_of(data: bytearray) -> int:
    """The number of the page where the tree begins."""
    last = max(0, PAGE, key=lambda page: ROOT.unpack_from(data, page + 144))
    (root,) = ROOT.unpack_from(data, last + 128)
    assert data[root * PAGE + 10 : root * PAGE + 12] == BRANCH
    return root


def nodes_of(data: bytearray, begin: int) -> list[int]:
    """Where the nodes of a page are."""
    (free,) = struct.unpack_from("<H", data, begin + 12)
    places = range(begin + 16, begin + free, 2)
    return [begin + struct.unpack_from("<H", data, place)[0] for place in places]


def test_pages_in_a_circle(whole, tmp_path, values):
    """Every node of the root leads to the root."""
    data = bytearray(whole.read_bytes())
    root = root_of(data)
    for place in nodes_of(data, root * PAGE):
        struct.pack_into("<IH", data, place, root, 0)
    (tmp_path / "circle.mdb").write_bytes(data)
    pages = LmdbPages(tmp_path / "circle.mdb")
    with pytest.raises(DamagedPage, match="in a circle"):
        pages.get(next(iter(values)))


@pytest.mark.parametrize("free", [None, 4000])
def test_a_page_holds_no_more_than_fits(free, whole, tmp_path, values):
    """Keys of 64 kB each, or thousands of nodes at one place: gigabytes of a small file."""
    data = bytearray(whole.read_bytes())
    begin = root_of(data) * PAGE
    if free:
        struct.pack_into("<HH", data, begin + 12, free, free)
    else:
        struct.pack_into("<H", data, nodes_of(data, begin)[1] + 6, 0xFFFF)
    (tmp_path / "large.mdb").write_bytes(data)
    pages = LmdbPages(tmp_path / "large.mdb")
    with pytest.raises(DamagedPage, match=r"holds more .*than it can"):
        pages.get(next(iter(values)))


def test_a_large_value_that_says_it_is_larger(tmp_path):
    path = store(tmp_path / "a.mdb", {b"large": 10_000 * b"v"})
    data = bytearray(path.read_bytes())
    place = data.index(b"large") - 8
    assert struct.unpack_from("<I", data, place) == (10_000,)
    struct.pack_into("<I", data, place, 1 << 31)
    path.write_bytes(data)
    with pytest.raises(DamagedPage, match="does not fit"):
        LmdbPages(path).get(b"large")


@pytest.mark.parametrize(
    ("place", "value", "reason"),
    [
        (10, b"\0\0", "not the start"),
        (16, b"\0", "not the start"),
        (20, b"\2", "another version"),
        (40, b"\1\0\0\0", "pages of 1 bytes"),
        (136, b"\xff\xff", "cut short"),
    ],
)
def test_a_start_that_cannot_be(place, value, reason, whole, tmp_path):
    data = bytearray(whole.read_bytes())
    for page in (0, PAGE):
        data[page + place : page + place + len(value)] = value
    (tmp_path / "a.mdb").write_bytes(data)
    with pytest.raises(DamagedPage, match=reason):
        LmdbPages(tmp_path / "a.mdb")
