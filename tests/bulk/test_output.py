"""The output folder: what is there is done, and nothing else counts."""

import gzip
import json
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import pytest

from vit_str.bulk.output import OutputFolder
from vit_str.bulk.parts import Part, divide
from vit_str.bulk.rows import Format, Row, encode

SETTINGS = {"boxes": False, "paths": ["words"]}
by_two = partial(divide, size=2)


Opened = Callable[..., OutputFolder]


@pytest.fixture
def opened() -> Iterator[Opened]:
    """Opens folders with some settings, and closes them at the end."""
    with ExitStack() as folders:

        def enter(
            path: Path, file_format: Format = Format.JSONL, **changes: object
        ) -> OutputFolder:
            return folders.enter_context(OutputFolder(path, file_format, SETTINGS | changes))

        yield enter


def test_what_is_written_is_done_and_a_division_stays(opened: Opened, tmp_path: Path) -> None:
    folder = opened(tmp_path / "deep" / "out")
    folder.divide(["a", "b", "c"], by_two)
    folder.write(1, b"")
    assert folder.done() == {1}
    folder.close()
    (folder.path / ".part-000000.jsonl.unfinished").write_bytes(b"half")
    again = opened(folder.path)
    again.divide(["a", "b", "c"], by_two)
    assert [part.names for part in again.parts()] == [("a", "b"), ("c",)]
    assert again.done() == {1}
    assert sorted(os.listdir(again.path)) == [
        *(".lock", "_parts.jsonl.gz", "_reading.json", "part-000001.jsonl")
    ]


def test_what_came_since_makes_parts_of_its_own(opened: Opened, tmp_path: Path) -> None:
    folder = opened(tmp_path / "out")
    folder.divide(["b", "c", "d"], by_two)
    folder.divide(["a", "b", "c", "d", "e", "f"], by_two)
    assert [part.names for part in folder.parts()] == [("b", "c"), ("d",), ("a", "e"), ("f",)]
    folder.divide(["a", "b"], by_two)
    assert len(list(folder.parts())) == 4


def test_a_division_that_fails_leaves_none(opened: Opened, tmp_path: Path) -> None:
    def failing(paths: Iterable[str]) -> Iterator[Part]:
        yield from divide(paths, 1)
        raise ValueError("no such column")

    folder = opened(tmp_path / "out")
    with pytest.raises(ValueError, match="no such column"):
        folder.divide(["a", "b"], failing)
    assert list(folder.parts()) == []
    folder.divide(["a", "b"], by_two)
    assert len(list(folder.parts())) == 1


def test_other_settings_are_refused(opened: Opened, tmp_path: Path) -> None:
    opened(tmp_path).close()
    with pytest.raises(ValueError, match="begun with boxes false, not true; take what it was"):
        opened(tmp_path, boxes=True)
    with pytest.raises(ValueError, match=r'paths \["words"\], not \["others"\]'):
        opened(tmp_path, paths=["others"])
    with pytest.raises(ValueError, match="format jsonl, not parquet"):
        opened(tmp_path, Format.PARQUET)
    opened(tmp_path).close()


def test_folders_of_others_are_refused(opened: Opened, tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("dear")
    with pytest.raises(ValueError, match="holds other files"):
        opened(tmp_path)
    with pytest.raises(ValueError, match="is a file"):
        opened(tmp_path / "letter.txt")
    assert os.listdir(tmp_path) == ["letter.txt"]
    for text in ("", "[]", '{"format": "vit-str render", "settings": {}}'):
        (tmp_path / "_reading.json").write_text(text)
        with pytest.raises(ValueError, match="does not describe a run"):
            opened(tmp_path)


def test_one_run_at_a_time(opened: Opened, tmp_path: Path) -> None:
    pytest.importorskip("fcntl")
    first = opened(tmp_path)
    with pytest.raises(ValueError, match="another run writes into"):
        opened(tmp_path)
    first.close()
    opened(tmp_path).close()


def test_a_changed_archive_is_refused(
    opened: Opened, tmp_path: Path, tar_of: Callable[..., Path]
) -> None:
    archive = tar_of(tmp_path / "a.tar", [("x.png", b"x")])
    folder = opened(tmp_path / "out")
    folder.divide([str(archive)], by_two)
    folder.divide([str(archive)], by_two)
    tar_of(archive, [(f"{n}.png", b"x" * 9999) for n in range(9)])
    with pytest.raises(ValueError, match=r"a\.tar was changed"):
        folder.divide([str(archive)], by_two)


def test_a_damaged_division_is_not_half_a_one(opened: Opened, tmp_path: Path) -> None:
    folder = opened(tmp_path)
    folder.divide([f"{n}" for n in range(999)], by_two)
    listed = tmp_path / "_parts.jsonl.gz"
    lines = gzip.decompress(listed.read_bytes()).splitlines()
    assert len(lines) == 500
    listed.write_bytes(listed.read_bytes()[:-20])
    with pytest.raises(ValueError, match="is damaged"):
        folder.divide(["a"], by_two)


def test_nothing_half_is_left_when_the_disk_is_full(
    opened: Opened, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = opened(tmp_path)

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        folder.write(0, b"x" * 999)
    assert folder.done() == set()
    assert not list(tmp_path.glob("*part-0*"))


@pytest.mark.parametrize("file_format", list(Format))
def test_unreadable_images_are_counted_from_the_files(
    opened: Opened, tmp_path: Path, file_format: Format
) -> None:
    if file_format is Format.PARQUET:
        pytest.importorskip("pyarrow")
    folder = opened(tmp_path, file_format)
    rows = [Row("a\udcff", error="no image"), Row("b", error='torn "\n"')]
    folder.write(0, encode(rows, file_format, False))
    folder.write(1, encode([], file_format, True))
    assert [folder.unreadable(number) for number in (0, 1)] == [2, 0]
    folder.write(2, b"hello")
    with pytest.raises(ValueError, match="delete it to have its images read again"):
        folder.unreadable(2)


def test_the_record_says_what_the_results_are_of(opened: Opened, tmp_path: Path) -> None:
    opened(tmp_path)
    record = json.loads((tmp_path / "_reading.json").read_text())
    assert record["settings"] == {"format": "jsonl", **SETTINGS}


def test_the_folder_is_one_table(opened: Opened, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    pandas = pytest.importorskip("pandas")
    folder = opened(tmp_path / "out", Format.PARQUET)
    folder.divide(["a", "b", "c"], by_two)
    folder.write(0, encode([Row("a", error="no"), Row("b", error="no")], Format.PARQUET, False))
    folder.write(1, encode([Row("c", error="no")], Format.PARQUET, False))
    (folder.path / ".part-000002.parquet.unfinished").write_bytes(b"half")
    table = pandas.read_parquet(folder.path)
    assert list(table.columns) == ["path", "text", "confidence", "error"]
    assert list(table["path"]) == ["a", "b", "c"]
