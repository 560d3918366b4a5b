"""LMDB as others and as we write it, whole and damaged."""

import errno
import os
import random
import re
import shutil
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import lmdb
import pytest
from PIL import Image

from vit_str.cli import main
from vit_str.datasets import WRITERS, LabeledWord, Layout, Reason, Skipped, open_words
from vit_str.datasets.lmdb import LmdbReader
from vit_str.machine import install_hint


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


def test_the_library_is_needed_to_write_only(tmp_path, words_of, monkeypatch):
    make(tmp_path / "words", values_of(words_of(9)))
    monkeypatch.setitem(sys.modules, "lmdb", None)
    assert len(open_words(tmp_path / "words")) == 9
    with pytest.raises(ValueError, match=re.escape(install_hint("train"))):
        WRITERS["lmdb"](tmp_path / "more", Layout())


def test_a_database_that_gets_shorter_costs_its_words(tmp_path, words_of):
    """As by ``cp``, which truncates what it is about to replace."""
    make(tmp_path / "words", values_of(words_of(9)))
    source = open_words(tmp_path / "words")
    assert all(isinstance(word, LabeledWord) for word in source)
    file = tmp_path / "words" / "data.mdb"
    whole = file.read_bytes()
    for size in (len(whole) // 2, 8192, 4096, 0):
        os.truncate(file, size)
        for word in source:
            assert isinstance(word, LabeledWord | Skipped)
        assert isinstance(source[8], Skipped)
    file.write_bytes(whole)
    assert all(isinstance(word, LabeledWord) for word in source)


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
    assert [
        word.reason if isinstance(word, Skipped) else word.label for word in words
    ] == [
        words_of(5)[0].label,
        Reason.MISSING,
        Reason.NO_LABEL,
        Reason.NOT_UTF8,
        words_of(5)[4].label,
    ]
    assert [word.name for word in words] == [
        f"image-{number:09d}" for number in range(1, 6)
    ]


@pytest.mark.parametrize("boxes", [b"[" * 100_000, b'{"boxes": 7}', b"{"])
def test_boxes_that_are_damaged(boxes, tmp_path, words_of):
    make(tmp_path, values_of(words_of(2)) | {b"boxes-000000001": boxes})
    damaged, word = LmdbReader(tmp_path)
    assert (damaged.reason, damaged.name) == (Reason.DAMAGED, "image-000000001")
    assert word.label == words_of(2)[1].label


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
    with pytest.raises(
        ValueError, match="an LMDB without num-samples; expected image-000000001"
    ):
        LmdbReader(tmp_path)


@pytest.mark.parametrize("count", [b"x", b"", b"-1", b"4", b"9" * 17, b"9" * 5000])
def test_a_count_that_cannot_be_is_refused(count, tmp_path, words_of):
    """One of 10 ** 17 words would be looked for until the end of days."""
    path = tmp_path / "words"
    make(path, values_of(words_of(1)) | {b"num-samples": count})
    with pytest.raises(ValueError, match=r"words: num-samples is b'.*make it again"):
        LmdbReader(path)


def test_a_damaged_page_costs_its_words(tmp_path, words_of):
    """The page with a label becomes zeros; words before and behind it stay."""
    words = words_of(400)
    make(tmp_path / "words", values_of(words))
    file = tmp_path / "words" / "data.mdb"
    data = bytearray(file.read_bytes())
    # Also such that are free again
    for found in re.finditer(b"label-000000200", bytes(data)):
        begin = found.start() // 4096 * 4096
        if data[begin + 10] == 2:  # a leaf page
            data[begin : begin + 4096] = bytes(4096)
    file.write_bytes(data)
    source = LmdbReader(tmp_path / "words")
    found = source[199]
    assert isinstance(found, Skipped)
    assert found.reason == Reason.DAMAGED
    assert re.search(r"words: damaged \(page \d+ .*\); copy it again", found.detail)
    assert source[0].label == words[0].label
    assert source[399].label == words[399].label


def test_a_database_that_is_cut_is_refused(tmp_path, words_of):
    """To touch what is no longer there would end the process by a signal."""
    make(tmp_path, values_of(words_of(400)))
    data = (tmp_path / "data.mdb").read_bytes()
    for size in (100, 4096 + 100, 3 * 4096, len(data) // 2, len(data) - 4096):
        (tmp_path / "data.mdb").write_bytes(data[:size])
        with pytest.raises(ValueError, match=r"cut short|damaged or no LMDB") as caught:
            LmdbReader(tmp_path)
        assert "\n" not in str(caught.value)


def store(
    path: Path, images: list[bytes], labels: list[bytes], **options: object
) -> None:
    """As the scripts of others do it: by their own loop, with the map and the folder they make."""
    cache = {}
    environment = lmdb.open(str(path), map_size=1 << 28, **options)
    for count, (image, label) in enumerate(zip(images, labels, strict=True), 1):
        cache[f"image-{count:09d}".encode()] = image
        cache[f"label-{count:09d}".encode()] = label
    cache[b"num-samples"] = str(len(images)).encode()
    with environment.begin(write=True) as transaction:
        for key, value in cache.items():
            transaction.put(key, value)
    environment.close()


def test_a_database_of_deep_text_recognition_benchmark(tmp_path, words_of):
    """Read unchanged: JPEG and PNG as they are, labels with all their case."""
    words = words_of(8)
    path = tmp_path / "data_lmdb_release" / "training" / "MJ"
    path.mkdir(parents=True)
    store(path, [word.image for word in words], [word.label.encode() for word in words])
    source = open_words(path)
    assert isinstance(source, LmdbReader)
    found = [
        (word.image, word.label) for word in source if isinstance(word, LabeledWord)
    ]
    assert found == [(word.image, word.label) for word in words]


def test_a_database_of_parseq(tmp_path, words_of):
    """With sizes of its images beside them, keys that nobody else has."""
    words = words_of(8)
    path = tmp_path / "train" / "real" / "ArT"
    path.mkdir(parents=True)
    store(path, [word.image for word in words], [word.label.encode() for word in words])
    with (
        lmdb.open(str(path)) as environment,
        environment.begin(write=True) as transaction,
    ):
        for number in range(1, 9):
            transaction.put(b"dim-%09d" % number, b"40 24")
    source = open_words(path)
    found = [
        (word.image, word.label) for word in source if isinstance(word, LabeledWord)
    ]
    assert found == [(word.image, word.label) for word in words]
    with WRITERS["lmdb"](tmp_path / "ours", Layout(suffix="")) as writer:
        writer.add(words)
    ours = open_words(tmp_path / "ours")
    assert list(ours) == list(source), "and what we write is the same to them"


@pytest.fixture
def small_disk(tmp_path):
    """A file system of two megabytes; only root can make one."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(folder)]
    if (
        shutil.which("mount") is None
        or subprocess.run(mount, capture_output=True).returncode
    ):
        pytest.skip("cannot mount a file system here")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_a_full_disk_is_said_and_gone_on_from(small_disk, tmp_path, capfd):
    """Not "Input/output error", which is what the library says."""
    noise = random.Random(1).randbytes
    (tmp_path / "labels.tsv").write_text(
        "".join(f"{n}.png\tw{n}\n" for n in range(1500))
    )
    for number in range(1500):
        Image.frombytes("RGB", (40, 30), noise(3600)).save(tmp_path / f"{number}.png")
    command = ["data", "convert", str(tmp_path), str(small_disk / "words.lmdb")]
    assert main(command) == 1
    assert "words.lmdb: No space left on device" in capfd.readouterr().err
    remount = ["mount", "-o", "remount,size=40m", str(small_disk)]
    subprocess.run(remount, check=True)
    assert main(command) == 0
    assert len(open_words(small_disk / "words.lmdb")) == 1500


def test_a_disk_that_is_full_from_the_start(small_disk, tmp_path, words_of):
    with suppress(OSError):
        (small_disk / "filler").write_bytes(bytes(3 << 20))
    with pytest.raises(OSError, match="No space left on device"):
        WRITERS["lmdb"](small_disk / "words.lmdb", Layout()).close()


def test_what_the_system_says_of_a_full_disk(tmp_path, words_of, monkeypatch):
    """The same without a file system that is full."""
    writer = WRITERS["lmdb"](tmp_path / "words.lmdb", Layout())

    def full(**_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    class Environment:
        def begin(self, **_):
            raise lmdb.DiskError("mdb_txn_commit: Input/output error")

        def close(self):
            pass

    writer._environment.close()
    writer._environment = Environment()
    writer.add(words_of(2))
    with pytest.raises(OSError, match="Input/output error"):
        writer.close()
    writer.add(words_of(2))
    monkeypatch.setattr("vit_str.datasets.lmdb.TemporaryFile", full)
    with pytest.raises(OSError, match="No space left on device") as caught:
        writer.close()
    assert caught.value.filename == str(tmp_path / "words.lmdb")
