"""Files of pages, on disks that are full and beside other processes."""

import errno
import os
import sys
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

sys.path.insert(0, str(Path(__file__).parents[1]))
from made_pages import HEIGHT, WIDTH, ruled_page

from vit_str.files import write_atomically
from vit_str.pages.write.formats import write_file
from vit_str.pages.write.searchable_pdf import ReadFile

resource = pytest.importorskip("resource")
LIBRARIES = {"xlsx": "openpyxl", "pdf": "pikepdf"}


@pytest.fixture(scope="module")
def file() -> ReadFile:
    """A picture of noise, which takes room, and a page with a table of many rows."""
    noise = np.random.default_rng(1).integers(0, 256, (HEIGHT, WIDTH), np.uint8)
    picture = BytesIO()
    Image.fromarray(noise).save(picture, "PNG")
    page = ruled_page([["Article", "Price"], *[["Coffee", "12,50"]] * 200])
    return ReadFile(picture.getvalue(), "scan.png", [page])


@pytest.fixture
def full_disk():
    """No file may be longer than a kilobyte."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1024, limits[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, limits)


@pytest.mark.parametrize("format_", ["csv", "html", "pdf"])
def test_on_a_full_disk_a_file_stays_as_it_was(format_, file, tmp_path, request):
    pytest.importorskip(LIBRARIES.get(format_, "csv"))
    target = tmp_path / f"bill.{format_}"
    target.write_text("of yesterday")
    request.getfixturevalue("full_disk")
    with pytest.raises(OSError, match="too large") as caught:
        write_file(format_, file, target)
    assert (caught.value.errno, caught.value.filename) == (errno.EFBIG, str(target))
    assert target.read_text() == "of yesterday"
    assert [path.name for path in tmp_path.iterdir()] == [target.name]


def test_a_workbook_that_has_no_room_is_one_error(file, tmp_path, monkeypatch):
    openpyxl = pytest.importorskip("openpyxl")
    target = tmp_path / "bill.xlsx"
    target.write_text("of yesterday")

    def full(path: Path, content: bytes) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", full)
        with pytest.raises(OSError, match="No space left") as caught:
            write_file("xlsx", file, target)
    assert caught.value.filename == str(target)
    lxml = pytest.importorskip("lxml.etree")

    def no_temporary_files(book: object, path: object) -> None:
        raise lxml.SerialisationError("IO_ENOSPC")

    monkeypatch.setattr(openpyxl.Workbook, "save", no_temporary_files)
    with pytest.raises(ValueError, match="folder for temporary files; make room"):
        write_file("xlsx", file, target)
    assert target.read_text() == "of yesterday"
    assert [path.name for path in tmp_path.iterdir()] == [target.name]


@pytest.mark.parametrize("format_", ["csv", "xlsx", "pdf"])
def test_two_that_write_one_file_leave_a_whole_one(format_, file, tmp_path):
    """Of the one that ends last; the other is not disturbed."""
    pytest.importorskip(LIBRARIES.get(format_, "csv"))
    target = tmp_path / f"bill.{format_}"
    write_file(format_, file, target)
    alone = target.read_bytes()
    target.unlink()
    with write_atomically(target) as temporary:
        temporary.write_text("begun before")
        write_file(format_, file, target)
        assert abs(len(target.read_bytes()) - len(alone)) < 0.01 * len(alone)
        assert temporary.read_text() == "begun before"
    assert target.read_text() == "begun before"
    assert [path.name for path in tmp_path.iterdir()] == [target.name]
