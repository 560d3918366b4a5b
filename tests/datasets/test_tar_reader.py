"""Tar archives as several programs make them, whole and damaged."""

import gzip
import json
import tarfile
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import pytest

from vit_str.datasets import LabeledWord, Layout, Reason, Skipped, WordSource, open_words, writer_of
from vit_str.datasets.tar import TarReader, TarStream

Words = Callable[[int], list[LabeledWord]]


def make(
    path: Path, files: dict[str, bytes], mode: str = "w", kind: int = tarfile.PAX_FORMAT
) -> Path:
    with tarfile.open(path, mode, format=kind) as archive:  # type: ignore[call-overload]
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            info.mtime = 1_700_000_000.25  # type: ignore[assignment] # WebDataset: time.time()
            archive.addfile(info, BytesIO(data))
    return path


def files_of(words: list[LabeledWord], stem: str = "%06d") -> dict[str, bytes]:
    files = {}
    for number, word in enumerate(words):
        files[f"{stem % number}.png"] = word.image
        files[f"{stem % number}.txt"] = word.label.encode()
    return files


def labels(source: WordSource) -> list[str]:
    words = list(source)
    assert not [word for word in words if isinstance(word, Skipped)], words
    return [word.label for word in words if isinstance(word, LabeledWord)]


KINDS = {"pax": tarfile.PAX_FORMAT, "gnu": tarfile.GNU_FORMAT, "ustar": tarfile.USTAR_FORMAT}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "stem",
    ["%06d", "words/v1.2/%06d", "단어 %06d", "long" * 20 + "/" + "name" * 10 + "%06d"],
)
def test_archives_of_every_kind(kind: str, stem: str, tmp_path: Path, words_of: Words) -> None:
    words = words_of(9)
    path = make(tmp_path / "words.tar", files_of(words, stem), kind=KINDS[kind])
    source = TarReader(path)
    expected = [(word.image, word.label) for word in words]
    assert [(word.image, word.label) for word in source] == expected  # type: ignore[union-attr]
    found = [source[place] for place in range(len(source))]
    assert found == list(source)
    assert found[3].name == f"words.tar/{stem % 3}.png"


def test_what_stands_between_words(tmp_path: Path, words_of: Words) -> None:
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
            ("a/2.json", json.dumps({"text": two.label, "boxes": [[0, 0, 1, 1]]}).encode()),
            ("a/2.jpg", two.image),
        ):
            info = tarfile.TarInfo(name)
            info.type = tarfile.DIRTYPE if data is None else tarfile.REGTYPE
            info.size = len(data or b"")
            archive.addfile(info, BytesIO(data or b""))
        link = tarfile.TarInfo("a/3.png")
        link.type, link.linkname = tarfile.SYMTYPE, "1.PNG"
        archive.addfile(link)
    source = TarReader(tmp_path / "words.tar")
    assert labels(source) == [one.label, two.label]
    assert [source[0], source[1]] == list(source)
    assert source[1].boxes == ((0.0, 0.0, 1.0, 1.0),)  # type: ignore[union-attr]


def test_words_that_cannot_be_handed_out(tmp_path: Path, words_of: Words) -> None:
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
        },
    )
    source = TarReader(path)
    words = list(source)
    assert [word.reason if isinstance(word, Skipped) else word.label for word in words] == [
        Reason.NO_LABEL,
        Reason.NO_LABEL,
        Reason.MISSING,
        Reason.NOT_UTF8,
        Reason.DAMAGED,
        Reason.NO_LABEL,
        "",
    ]
    assert words[0].detail == "no .txt or .json of this stem next to it"  # type: ignore[union-attr]
    assert [source[place] for place in range(len(source))] == words


@pytest.mark.parametrize(
    "pattern",
    ["w-%06d.tar", "w-%d.tar", "w-00000[0-4].tar", ""],
)
def test_several_archives(pattern: str, tmp_path: Path, words_of: Words) -> None:
    words = words_of(43)
    with writer_of("tar")(tmp_path / "w-%06d.tar", Layout(shard_size=10)) as writer:
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


def test_what_cannot_be_archives(tmp_path: Path) -> None:
    for name in ("none.tar", "none-*.tar", "none-%d.tar", "."):
        with pytest.raises(ValueError, match="found no tar archives"):
            TarReader(tmp_path / name)
    (tmp_path / "folder.tar").mkdir()
    with pytest.raises(ValueError, match="not a file"):
        TarReader(tmp_path)
    with pytest.raises(ValueError, match="ends in"):
        TarStream(tmp_path / "words.zip")
    with pytest.raises(ValueError, match="no such file"):
        TarStream(tmp_path / "words.tar.gz")


@pytest.mark.parametrize("ending", ["tar.gz", "tgz", "tar.bz2", "tar.xz"])
def test_compressed_archives_are_streams(ending: str, tmp_path: Path, words_of: Words) -> None:
    mode = {"tgz": "gz"}.get(ending, ending.removeprefix("tar."))
    words = words_of(30)
    path = make(tmp_path / f"words.{ending}", files_of(words), f"w:{mode}")
    source = open_words(path)
    assert isinstance(source, TarStream)
    for _ in range(2):
        assert [(word.image, word.label) for word in source] == [  # type: ignore[union-attr]
            (word.image, word.label) for word in words
        ]


def test_an_archive_that_is_cut_keeps_its_whole_words(tmp_path: Path, words_of: Words) -> None:
    words = words_of(6)
    with writer_of("tar")(tmp_path / "words.tar", Layout(boxes=True)) as writer:
        writer.add(words)
    data = (tmp_path / "words.tar").read_bytes()
    end = data.rstrip(b"\0").rfind(b"}") + 1
    counts = set()
    for size in [*range(0, end, 997), *range(0, end, 1024)]:
        (tmp_path / "cut.tar").write_bytes(data[:size])
        source = TarReader(tmp_path / "cut.tar")
        found = list(source)
        assert [source[place] for place in range(len(source))] == found
        *whole, last = found
        assert (
            [(word.image, word.label) for word in whole]
            == [  # type: ignore[union-attr]
                (word.image, word.label) for word in words[: len(whole)]
            ]
        )
        assert isinstance(last, Skipped) and last.reason is Reason.DAMAGED
        counts.add(len(whole))
    assert counts == set(range(7)) - {6} or counts == set(range(7))


def test_words_before_a_damaged_header_are_kept(tmp_path: Path, words_of: Words) -> None:
    words = words_of(20)
    path = make(tmp_path / "words.tar", files_of(words), kind=tarfile.USTAR_FORMAT)
    data = path.read_bytes()
    with tarfile.open(path) as archive:
        headers = [info.offset for info in archive]
    for number, header in list(enumerate(headers))[::5]:
        path.write_bytes(data[: header + 3] + b"\xff" + data[header + 4 :])
        source = TarReader(path)
        *whole, last = source
        assert [source[index] for index in range(len(source))] == [*whole, last]
        assert [word.label for word in whole] == [word.label for word in words[: number // 2]]  # type: ignore[union-attr]
        assert isinstance(last, Skipped) and last.reason is Reason.DAMAGED
        assert "damaged from byte" in last.detail


def test_a_compressed_archive_that_is_cut(tmp_path: Path, words_of: Words) -> None:
    words = words_of(200)
    data = make(tmp_path / "words.tar.gz", files_of(words), "w:gz").read_bytes()
    for size in range(0, len(data) - 20, len(data) // 5):
        (tmp_path / "cut.tar.gz").write_bytes(data[:size])
        *whole, last = TarStream(tmp_path / "cut.tar.gz")
        assert isinstance(last, Skipped) and last.reason is Reason.DAMAGED
        assert [word.label for word in whole] == [word.label for word in words[: len(whole)]]  # type: ignore[union-attr]
    assert len(whole) > 100


def test_sizes_that_lie_are_not_believed(tmp_path: Path) -> None:
    """A few bytes that say they are 8 gigabytes, or less than none, or unpack to many."""
    for size in (8 << 30, 1 << 60, -512):
        info = tarfile.TarInfo("x.png")
        info.size = size
        header = info.tobuf(tarfile.GNU_FORMAT)
        (tmp_path / "x.tar").write_bytes(header + bytes(2048))
        words = list(TarReader(tmp_path / "x.tar"))
        assert words and all(isinstance(word, Skipped) for word in words)
    with gzip.open(tmp_path / "x.tar.gz", "wb") as file:
        file.write(bytes(1 << 24))
    assert list(TarStream(tmp_path / "x.tar.gz")) == []


def test_headers_that_would_take_minutes_or_lead_in_circles(tmp_path: Path) -> None:
    """Extended values of megabytes, which tarfile parses in quadratic time, and nested headers."""
    info = tarfile.TarInfo("x.png")
    for headers in ({"path": "1" * (1 << 20)}, {"size": "-1024"}, {"GNU.sparse.major": "1"}):
        info.pax_headers = headers
        (tmp_path / "x.tar").write_bytes(info.tobuf(tarfile.PAX_FORMAT) + bytes(1024))
        words = list(TarReader(tmp_path / "x.tar"))
        assert all(isinstance(word, Skipped) for word in words)
    info.pax_headers = {"comment": "x"}
    block = info.tobuf(tarfile.PAX_FORMAT)[:1024]
    (tmp_path / "x.tar").write_bytes(block * 3000)
    (word,) = TarReader(tmp_path / "x.tar")
    assert isinstance(word, Skipped)
