"""A file that is read at any place."""

import os
import pickle
import threading
from pathlib import Path

import pytest

from vit_str.datasets.random_file import RandomFile


@pytest.fixture(params=["as it is", "as on Windows"])
def file(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> RandomFile:
    if request.param == "as on Windows":
        monkeypatch.delattr(os, "pread", raising=False)
    (tmp_path / "file").write_bytes(bytes(range(256)) * 100)
    return RandomFile(tmp_path / "file")


def test_any_place(file: RandomFile) -> None:
    assert file.read(255, 3) == b"\xff\0\1"
    assert file.read(25_599, 10) == b"\xff"
    assert file.read(25_600, 10) == b""
    assert file.read(0, 0) == b""
    assert len(file) == 25_600
    assert pickle.loads(pickle.dumps(file)).read(65, 3) == b"ABC"  # noqa: S301 - our own


def test_threads(file: RandomFile) -> None:
    wrong: list[int] = []

    def read(first: int) -> None:
        places = range(first, 25_000, 97)
        wrong.extend(place for place in places if file.read(place, 3)[0] != place % 256)

    threads = [threading.Thread(target=read, args=(first,)) for first in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_the_file_is_closed_with_the_object() -> None:
    file = RandomFile(Path(__file__))
    file.read(0, 1)
    descriptor = file._descriptor
    assert descriptor is not None
    os.fstat(descriptor)
    del file
    with pytest.raises(OSError, match="descriptor"):
        os.fstat(descriptor)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        RandomFile(tmp_path / "none").read(0, 1)
