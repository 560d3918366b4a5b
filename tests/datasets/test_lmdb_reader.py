"""LMDB without its library, compared with the library."""

import random
import sys
from collections.abc import Callable
from pathlib import Path

import lmdb
import pytest

from vit_str.datasets import LabeledWord, Layout, LmdbReader, Reason, Skipped, open_words, writer_of
from vit_str.datasets.lmdb_file import LmdbFile

Words = Callable[[int], list[LabeledWord]]


def make(path: Path, values: dict[bytes, bytes], **options: object) -> None:
    with lmdb.open(str(path), map_size=1 << 28, **options) as environment:  # noqa: SIM117
        with environment.begin(write=True) as transaction:
            for key, value in values.items():
                transaction.put(key, value)


def values_of(words: list[LabeledWord]) -> dict[bytes, bytes]:
    values = {b"num-samples": b"%d" % len(words)}
    for number, word in enumerate(words, 1):
        values[b"image-%09d" % number] = word.image
        values[b"label-%09d" % number] = word.label.encode()
    return values


@pytest.mark.parametrize("seed", range(3))
def test_every_value_is_what_the_library_says(seed: int, tmp_path: Path) -> None:
    """Keys come and go over many transactions; values around the sizes where pages change."""
    chance = random.Random(seed)
    stored: dict[bytes, bytes] = {}
    keys = [b"image-%09d" % number for number in range(3000)]
    keys += [chance.randbytes(chance.randrange(1, 511)) for _ in range(200)]
    with lmdb.open(str(tmp_path), map_size=1 << 28) as environment:
        for _ in range(12):
            with environment.begin(write=True) as transaction:
                for key in chance.choices(keys, k=500):
                    size = chance.choice([0, 1, 9, 100, 2000, 2010, 2020, 2030, 4080, 4096, 30_000])
                    stored[key] = chance.randbytes(size)
                    transaction.put(key, stored[key])
                for key in chance.sample(sorted(stored), 60):
                    transaction.delete(key)
                    del stored[key]
            file = LmdbFile(tmp_path / "data.mdb")
            assert file.entries == len(stored)
        assert all(file.get(key) == stored.get(key) for key in keys)
        assert file.get(b"\xff" * 300) is None
        assert file.get(b"\0") is None


def test_a_deep_database_with_many_pages(tmp_path: Path) -> None:
    """Long keys make pages of few entries: more levels than 10 million words need."""
    values = {b"%06d" % number * 80: b"%d" % number for number in range(8000)}
    make(tmp_path, values)
    with lmdb.open(str(tmp_path), readonly=True) as environment:
        assert environment.stat()["depth"] >= 5
    file = LmdbFile(tmp_path / "data.mdb")
    assert all(file.get(key) == value for key, value in values.items())


def test_reading_needs_no_library(
    tmp_path: Path, words_of: Words, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(tmp_path / "words", values_of(words_of(9)))
    monkeypatch.setitem(sys.modules, "lmdb", None)
    words = list(open_words(tmp_path / "words"))
    assert [word.label for word in words] == [word.label for word in words_of(9)]  # type: ignore[union-attr]
    with pytest.raises(ValueError, match="pip install 'vit-str"):
        writer_of("lmdb")(tmp_path / "more", Layout())


@pytest.mark.parametrize("name", ["words.lmdb", "words.mdb", "words"])
def test_a_database_in_a_single_file(name: str, tmp_path: Path, words_of: Words) -> None:
    make(tmp_path / name, values_of(words_of(9)), subdir=False, lock=False)
    source = LmdbReader(tmp_path / name)
    assert [word.label for word in source] == [word.label for word in words_of(9)]  # type: ignore[union-attr]
    assert open_words(tmp_path / name, "lmdb").format == "lmdb"
    assert LmdbReader.recognizes(tmp_path / name) == (name != "words")


def test_a_map_of_a_terabyte(tmp_path: Path, words_of: Words) -> None:
    """What the scripts of clovaai and PARSeq ask for; the file is as small as its words."""
    with lmdb.open(str(tmp_path), map_size=1 << 40) as environment:  # noqa: SIM117
        with environment.begin(write=True) as transaction:
            for key, value in values_of(words_of(3)).items():
                transaction.put(key, value)
    assert len(LmdbReader(tmp_path)) == 3
    assert (tmp_path / "data.mdb").stat().st_size < 1 << 20


def test_words_that_cannot_be_handed_out(tmp_path: Path, words_of: Words) -> None:
    values = values_of(words_of(5))
    del values[b"image-000000002"]
    del values[b"label-000000003"]
    values[b"label-000000004"] = b"caf\xe9"
    make(tmp_path, values)
    words = list(LmdbReader(tmp_path))
    assert [word.reason if isinstance(word, Skipped) else word.label for word in words] == [
        words_of(5)[0].label,
        Reason.MISSING,
        Reason.NO_LABEL,
        Reason.NOT_UTF8,
        words_of(5)[4].label,
    ]
    assert [word.name for word in words] == [f"image-{number:09d}" for number in range(1, 6)]


def test_what_is_no_such_database(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"found no data\.mdb there"):
        LmdbReader(tmp_path)
    (tmp_path / "data.mdb").write_bytes(b"x" * 9000)
    with pytest.raises(ValueError, match="no LMDB"):
        LmdbReader(tmp_path)
    (tmp_path / "data.mdb").write_bytes(b"")
    with pytest.raises(ValueError, match="no LMDB"):
        LmdbReader(tmp_path)


@pytest.mark.parametrize(
    ("values", "what"),
    [
        ({b"something": b"else"}, "an LMDB without num-samples; expected image-000000001"),
        ({b"num-samples": b"many"}, "num-samples is b'many'"),
        ({b"num-samples": b"-1"}, "num-samples is b'-1'"),
        ({b"num-samples": b"9" * 30}, "num-samples is b'99999999999999999999'"),
    ],
)
def test_databases_of_other_layouts(values: dict[bytes, bytes], what: str, tmp_path: Path) -> None:
    make(tmp_path, values)
    with pytest.raises(ValueError, match=what):
        LmdbReader(tmp_path)


def test_keys_that_are_no_plain_bytes(tmp_path: Path) -> None:
    with (
        lmdb.open(str(tmp_path), max_dbs=1) as environment,
        environment.begin(write=True) as transaction,
    ):
        environment.open_db(b"num-samples", transaction)
    with pytest.raises(ValueError, match="damaged or cut short"):
        LmdbReader(tmp_path)


def test_a_database_that_is_cut_costs_the_words_behind(tmp_path: Path, words_of: Words) -> None:
    """The library would map what is no longer there and end the process by a signal."""
    words = words_of(400)
    make(tmp_path, values_of(words))
    path = tmp_path / "data.mdb"
    data = path.read_bytes()
    whole = [(word.image, word.label) for word in words]
    usable = set()
    for pages in range(0, len(data) // 4096, 5):
        path.write_bytes(data[: pages * 4096 + 100])
        found = open_or_refuse(tmp_path)
        if found:
            assert len(found) == 400
            pairs = zip(found, whole, strict=True)
            assert all(isinstance(w, Skipped) or (w.image, w.label) == right for w, right in pairs)
            usable.add(sum(isinstance(word, LabeledWord) for word in found))
    assert usable
    path.write_bytes(data)
    assert [(word.image, word.label) for word in LmdbReader(tmp_path)] == whole  # type: ignore[union-attr]


def open_or_refuse(path: Path) -> list[LabeledWord | Skipped]:
    """The words; none if the database is refused in one line."""
    try:
        source = LmdbReader(path)
    except ValueError as error:
        lines = str(error).split("\n")
    else:
        return list(source)
    assert len(lines) == 1
    return []


def test_a_database_that_is_cut_is_not_written_to(tmp_path: Path, words_of: Words) -> None:
    make(tmp_path, values_of(words_of(100)))
    data = (tmp_path / "data.mdb").read_bytes()
    for size in (3 * 4096, len(data) // 2):
        (tmp_path / "data.mdb").write_bytes(data[:size])
        with pytest.raises(ValueError, match=r"is damaged or no LMDB: .*; write elsewhere"):
            writer_of("lmdb")(tmp_path, Layout())
        assert (tmp_path / "data.mdb").read_bytes() == data[:size]


def test_a_full_disk_is_called_by_its_name(
    tmp_path: Path, words_of: Words, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Usage:
        free = 0

    writer = writer_of("lmdb")(tmp_path / "words", Layout())

    def refuse(**_: object) -> None:
        raise lmdb.DiskError("mdb_txn_commit: Input/output error")

    class Environment:
        begin = staticmethod(refuse)
        close = writer._environment.close  # type: ignore[attr-defined]

    monkeypatch.setattr(writer, "_environment", Environment())
    monkeypatch.setattr("shutil.disk_usage", lambda _: Usage())
    writer.add(words_of(3))
    with pytest.raises(OSError, match="No space left on device"):
        writer.close()
