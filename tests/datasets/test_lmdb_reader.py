"""LMDB as others and as we write it, whole and damaged."""

import re
import sys
from pathlib import Path

import lmdb
import pytest

from vit_str.datasets import WRITERS, LabeledWord, Layout, Reason, Skipped, open_words
from vit_str.datasets.lmdb import LmdbReader
from vit_str.runtime.machine import install_hint


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


def test_the_library_is_named_where_it_is_missing(tmp_path, words_of, monkeypatch):
    make(tmp_path / "words", values_of(words_of(9)))
    monkeypatch.setitem(sys.modules, "lmdb", None)
    with pytest.raises(ValueError, match=re.escape(install_hint("train"))):
        open_words(tmp_path / "words")
    with pytest.raises(ValueError, match=re.escape(install_hint("train"))):
        WRITERS["lmdb"](tmp_path / "more", Layout())


@pytest.mark.parametrize("name", ["words.lmdb", "words.mdb", "words"])
def test_a_database_in_a_single_file(name, tmp_path, words_of):
    make(tmp_path / name, values_of(words_of(9)), subdir=False, lock=False)
    source = LmdbReader(tmp_path / name)
    assert [word.label for word in source] == [word.label for word in words_of(9)]
    assert open_words(tmp_path / name, "lmdb").format == "lmdb"
    assert LmdbReader.recognizes(tmp_path / name) == (name != "words")


def test_words_that_cannot_be_handed_out(tmp_path, words_of):
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


def test_what_is_no_such_database(tmp_path):
    with pytest.raises(ValueError, match=r"found no data\.mdb there"):
        LmdbReader(tmp_path)
    (tmp_path / "data.mdb").write_bytes(b"x" * 9000)
    with pytest.raises(ValueError, match="damaged or no LMDB"):
        LmdbReader(tmp_path)
    (tmp_path / "data.mdb").write_bytes(b"")
    with pytest.raises(ValueError, match="damaged or no LMDB"):
        LmdbReader(tmp_path)
    (tmp_path / "data.mdb").unlink()
    make(tmp_path, {b"something": b"else"})
    with pytest.raises(ValueError, match="an LMDB without num-samples; expected image-000000001"):
        LmdbReader(tmp_path)


def test_a_database_that_is_cut_is_refused(tmp_path, words_of):
    """The library would map what is no longer there and end the process by a signal."""
    make(tmp_path, values_of(words_of(400)))
    data = (tmp_path / "data.mdb").read_bytes()
    for size in (100, 4096 + 100, 3 * 4096, len(data) // 2, len(data) - 4096):
        (tmp_path / "data.mdb").write_bytes(data[:size])
        with pytest.raises(ValueError, match=r"cut short|damaged or no LMDB") as caught:
            LmdbReader(tmp_path)
        assert "\n" not in str(caught.value)
