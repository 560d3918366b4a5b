"""Tar archives as several programs make them, whole and damaged."""

import bz2
import gzip
import json
import lzma
import tarfile
from io import BytesIO
from pathlib import Path

import pytest

from vit_str.datasets import (
    WRITERS,
    LabeledWord,
    Layout,
    Reason,
    Skipped,
    WordStream,
    open_stream,
    open_words,
)
from vit_str.datasets.tar import TarReader, TarStream


def make(path: Path, files: dict[str, bytes], kind: int = tarfile.PAX_FORMAT) -> Path:
    with tarfile.open(path, "w", format=kind) as archive:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            info.mtime = 1_700_000_000.25  # WebDataset: time.time()
            archive.addfile(info, BytesIO(data))
    return path


def files_of(words: list[LabeledWord], stem: str = "%06d") -> dict[str, bytes]:
    files = {}
    for number, word in enumerate(words):
        files[f"{stem % number}.png"] = word.image
        files[f"{stem % number}.txt"] = word.label.encode()
    return files


def labels(source: WordStream) -> list[str]:
    words = list(source)
    assert not [word for word in words if isinstance(word, Skipped)], words
    return [word.label for word in words if isinstance(word, LabeledWord)]


KINDS = {
    "pax": tarfile.PAX_FORMAT,
    "gnu": tarfile.GNU_FORMAT,
    "ustar": tarfile.USTAR_FORMAT,
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "stem",
    ["%06d", "words/v1.2/%06d", "단어 %06d", "long" * 20 + "/" + "name" * 10 + "%06d"],
)
def test_archives_of_every_kind(kind, stem, tmp_path, words_of):
    words = words_of(9)
    path = make(tmp_path / "words.tar", files_of(words, stem), kind=KINDS[kind])
    source = TarReader(path)
    expected = [(word.image, word.label) for word in words]
    assert [(word.image, word.label) for word in source] == expected
    found = [source[place] for place in range(len(source))]
    assert found == list(source)
    assert found[3].name == f"words.tar/{stem % 3}.png"


def test_what_stands_between_words(tmp_path, words_of):
    """Folders, links, notes and the files that macOS adds are no words."""
    one, two = words_of(2)
    with tarfile.open(tmp_path / "words.tar", "w") as archive:
        for name, data in (
            ("README.md", b"# words"),
            ("a/", None),
            ("a/._1.png", b"resource"),
            ("a/1.PNG", one.image),
            ("a/1.txt", one.label.encode() + b"\r\n"),
            ("a/1.points", b"0 0"),
            (
                "a/2.json",
                json.dumps({"text": two.label, "boxes": [[0, 0, 1, 1]]}).encode(),
            ),
            ("a/2.jpg", two.image),
        ):
            info = tarfile.TarInfo(name)
            info.type = tarfile.DIRTYPE if data is None else tarfile.REGTYPE
            info.size = len(data or b"")
            archive.addfile(info, BytesIO(data or b""))
        link = tarfile.TarInfo("a/3.png")
        link.type = tarfile.SYMTYPE
        link.linkname = "1.PNG"
        archive.addfile(link)
    source = TarReader(tmp_path / "words.tar")
    assert labels(source) == [one.label, two.label]
    assert [source[0], source[1]] == list(source)
    assert source[1].boxes == ((0.0, 0.0, 1.0, 1.0),)


def test_words_that_cannot_be_handed_out(tmp_path, words_of):
    image = words_of(1)[0].image
    path = make(
        tmp_path / "words.tar",
        {
            "0.png": image,
            "1.png": image,
            "2.txt": b"alone",
            "3.png": image,
            "3.txt": b"caf\xe9",
            "4.png": image,
            "4.json": b"{",
            "5.png": image,
            "5.json": b'{"id": 5}',
            "6.png": image,
            "6.txt": b"",
            "7.png": image,
            "7.json": b"[" * 100_000,
        },
    )
    source = TarReader(path)
    words = list(source)
    assert [
        word.reason if isinstance(word, Skipped) else word.label for word in words
    ] == [
        Reason.NO_LABEL,
        Reason.NO_LABEL,
        Reason.MISSING,
        Reason.NOT_UTF8,
        Reason.DAMAGED,
        Reason.NO_LABEL,
        "",
        Reason.DAMAGED,
    ]
    assert [source[place] for place in range(len(source))] == words


@pytest.mark.parametrize(
    "pattern",
    ["w-%06d.tar", "w-%d.tar", "w-00000[0-4].tar", ""],
)
def test_several_archives(pattern, tmp_path, words_of):
    words = words_of(43)
    with WRITERS["tar"](tmp_path / "w-%06d.tar", Layout(shard_size=10)) as writer:
        writer.add(words)
    (tmp_path / "other.txt").write_text("no archive")
    source = open_words(tmp_path / pattern)
    assert isinstance(source, TarReader)
    assert len(source) == 43
    assert labels(source) == [word.label for word in words]
    assert [source[place].name for place in (9, 10, 42)] == [
        "w-000000.tar/000000009.png",
        "w-000001.tar/000000010.png",
        "w-000004.tar/000000042.png",
    ]


def test_what_cannot_be_archives(tmp_path):
    for name in ("none.tar", "none-*.tar", "none-%d.tar", "."):
        with pytest.raises(ValueError, match="found no tar archives"):
            TarReader(tmp_path / name)


def test_an_archive_that_is_cut_or_damaged_is_refused(tmp_path, words_of):
    data = make(
        tmp_path / "words.tar", files_of(words_of(6)), kind=tarfile.USTAR_FORMAT
    )
    whole = data.read_bytes()
    with tarfile.open(data) as archive:
        header = archive.getmembers()[4].offset
        content = archive.getmembers()[5].offset_data
    damaged = whole[: header + 3] + b"\xff" + whole[header + 4 :]
    for content_of_file in (b"", b"x" * 2000, whole[: content + 1], damaged):
        (tmp_path / "bad.tar").write_bytes(content_of_file)
        with pytest.raises(ValueError, match=r"bad\.tar: .*make it again"):
            len(TarReader(tmp_path / "bad.tar"))


def test_a_sparse_file_of_a_terabyte_takes_no_memory(tmp_path, words_of):
    """GNU tar stores files with holes without them: such an archive has some kilobytes."""
    path = make(tmp_path / "words.tar", files_of(words_of(3)))
    header = tarfile.TarInfo("holes.png")
    header.type = tarfile.GNUTYPE_SPARSE
    block = bytearray(header.tobuf(tarfile.GNU_FORMAT))
    block[483:495] = b"\x80" + (1 << 40).to_bytes(11, "big")  # the size with holes
    total, _ = tarfile.calc_chksums(block)  # type: ignore[attr-defined]
    block[148:156] = b"%06o\0 " % total
    path.write_bytes(block + path.read_bytes())
    packed = tmp_path / "packed.tar.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    for source in (TarReader(path), TarStream(packed)):
        first, *others = source
        assert str(first) == (
            f"{source.path.name}/holes: image cannot be read (larger than 268 million bytes)"
        )
        assert [type(word) for word in others] == 3 * [LabeledWord]


@pytest.mark.parametrize("kind", ["tar.gz", "tgz", "tar.bz2", "tar.xz"])
def test_compressed_archives(kind, tmp_path, words_of):
    words = words_of(9)
    plain = make(tmp_path / "plain.tar", files_of(words))
    pack = {"tar.gz": gzip, "tgz": gzip, "tar.bz2": bz2, "tar.xz": lzma}[kind]
    path = tmp_path / f"words.{kind}"
    path.write_bytes(pack.compress(plain.read_bytes()))
    source = open_stream(path)
    assert isinstance(source, TarStream)
    assert source.known_length is None
    assert labels(source) == [word.label for word in words]
    assert labels(source) == [word.label for word in words]  # again from the front
    assert source.share_read == 1
    with pytest.raises(
        ValueError, match=f"convert it first: vit-str data convert {path} "
    ):
        open_words(path)


def test_a_compressed_archive_that_is_cut_or_damaged(tmp_path, words_of):
    """What is before the damage has been handed out when it is found."""
    plain = make(
        tmp_path / "words.tar", files_of(words_of(6)), kind=tarfile.USTAR_FORMAT
    )
    with tarfile.open(plain) as archive:
        header = archive.getmembers()[4].offset
    whole = plain.read_bytes()
    packed = gzip.compress(whole)
    cases = {
        "cut": packed[: len(packed) * 2 // 3],
        "cut before it was packed": gzip.compress(whole[: header + 100]),
        "without an end": gzip.compress(whole[:header]),
        "damaged": gzip.compress(whole[: header + 3] + b"\xff" + whole[header + 4 :]),
        "no archive": gzip.compress(b"x" * 2000),
        "not compressed with it": b"x" * 2000,
        "empty": b"",
    }
    for content in cases.values():
        (tmp_path / "bad.tar.gz").write_bytes(content)
        found = []
        with pytest.raises(
            ValueError, match=r"bad\.tar\.gz: damaged or cut short after \d word"
        ):
            found.extend(open_stream(tmp_path / "bad.tar.gz"))
        assert len(found) <= 3
