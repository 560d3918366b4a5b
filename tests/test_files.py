import errno
import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from vit_str.console import one_line
from vit_str.files import (
    check_folder,
    check_writable,
    default_cache,
    find_files,
    folder_to_fill,
    read_text,
    shortened,
    temporary_file,
    write_atomically,
)

ROOT = Path(__file__).parents[1]


def test_a_temporary_file_is_there_closed_and_then_gone():
    with temporary_file(b"content", ".image") as path:
        assert Path(path).suffix == ".image"
        Path(path).replace(f"{path}.moved")  # as Windows allows if it is closed
        Path(f"{path}.moved").replace(path)
        assert Path(path).read_bytes() == b"content"
    assert not Path(path).parent.exists()


def test_a_file_is_written_at_its_end_only(tmp_path):
    path = tmp_path / "new" / "figure.png"
    with write_atomically(path) as temporary:
        assert (temporary.parent, temporary.suffix) == (path.parent, ".png")
        temporary.write_bytes(b"first")
        assert not path.exists()
    assert path.read_bytes() == b"first"
    assert os.listdir(path.parent) == ["figure.png"]


@pytest.mark.skipif(os.name != "posix", reason="links need rights on other systems")
def test_a_link_stays_and_what_it_leads_to_is_replaced(tmp_path):
    (tmp_path / "there").mkdir()
    for content in ("first", "second"):  # it leads nowhere, and then to a file
        link = tmp_path / "link.txt"
        if not link.is_symlink():
            link.symlink_to("there/file.txt")
        with write_atomically(link) as temporary:
            assert temporary.parent.name == "there"
            temporary.write_text(content)
        assert link.is_symlink()
        assert (tmp_path / "there" / "file.txt").read_text() == content
    assert os.listdir(tmp_path / "there") == ["file.txt"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="a pipe with a name")
def test_a_pipe_stays_one(tmp_path):
    """As a device does: to replace /dev/null would break the machine."""
    pipe = tmp_path / "pipe.txt"
    os.mkfifo(pipe)
    with ThreadPoolExecutor(1) as pool:
        taken = pool.submit(pipe.read_text)
        with write_atomically(pipe) as temporary:
            temporary.write_text("all of it")
        assert taken.result(60) == "all of it"
    assert pipe.is_fifo()
    assert os.listdir(tmp_path) == ["pipe.txt"]


def test_names_of_any_length_are_written(tmp_path):
    for name in ("x" * 251 + ".png", "é" * 125 + ".png", "." + "y" * 254):
        with write_atomically(tmp_path / name) as temporary:
            temporary.write_text(name)
        assert (tmp_path / name).read_text() == name
    assert len(os.listdir(tmp_path)) == 3


def test_shortened_names_fit_and_differ():
    assert shortened("a.png", 20) == "a.png"
    first, second = (shortened("é" * 200 + last, 101) for last in "ab")
    assert first != second and first.startswith("é" * 42) and len(first.encode()) <= 101


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_an_error_leaves_the_file_of_before(error, tmp_path):
    path = tmp_path / "kept"
    path.write_text("before")

    def write_half():
        with write_atomically(path) as temporary:
            temporary.write_text("half")
            raise error

    with pytest.raises(error):
        write_half()
    assert path.read_text() == "before"
    assert os.listdir(tmp_path) == ["kept"]


def test_a_folder_is_checked_and_not_made(tmp_path):
    check_folder(tmp_path / "new" / "out")
    (tmp_path / "file").touch()
    for wrong in ("file", "file/out"):
        with pytest.raises(OSError, match="Not a directory"):
            check_folder(tmp_path / wrong)
    assert os.listdir(tmp_path) == ["file"]


def test_a_file_is_checked_by_its_name(tmp_path, monkeypatch):
    check_writable(tmp_path / "new" / "out.md")
    with pytest.raises(IsADirectoryError) as raised:
        check_writable(tmp_path / "new")
    assert raised.value.filename == str(tmp_path / "new")

    def refuse(**folder):
        raise OSError(errno.EROFS, "Read-only file system", f"{folder}, a file")

    monkeypatch.setattr(tempfile, "TemporaryFile", refuse)
    with pytest.raises(OSError, match="Read-only") as raised:
        check_writable(tmp_path / "out.md")
    assert raised.value.filename == str(tmp_path / "out.md")


def test_an_error_names_the_file_that_was_asked_for(tmp_path):
    path = tmp_path / "gone" / "figure.png"

    def write():
        with write_atomically(path) as temporary:
            shutil.rmtree(path.parent)
            temporary.write_bytes(b"")

    with pytest.raises(FileNotFoundError) as caught:
        write()
    assert caught.value.filename == str(path)


def test_a_disk_that_cannot_be_written_is_named_by_the_file(tmp_path, monkeypatch):
    """On one that is read-only, no file can be removed either, also none that is not there."""
    path = tmp_path / "out.txt"

    def refuse(self, *_, **__):
        raise OSError(errno.EROFS, "Read-only file system", str(self))

    monkeypatch.setattr(Path, "unlink", refuse)
    with (
        pytest.raises(OSError, match="Read-only") as raised,
        write_atomically(path) as temporary,
    ):
        refuse(temporary)
    assert raised.value.filename == str(path)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a full disk of Linux")
def test_a_full_disk_is_named_by_its_file(tmp_path):
    path = tmp_path / "out.txt"
    with (
        pytest.raises(OSError, match="No space left") as raised,
        write_atomically(path),
        open("/dev/full", "wb", buffering=0) as file,
    ):
        file.write(b"more")
    assert raised.value.filename == str(path)
    with (
        pytest.raises(OSError, match="No space left") as raised,
        write_atomically("/dev/full") as temporary,
    ):
        temporary.write_text("more")
    assert raised.value.filename == "/dev/full"
    folder = tmp_path / "page"

    def fill():
        with folder_to_fill(folder, "--out"):
            (folder / "half").touch()
            shutil.copyfile(__file__, "/dev/full")  # names what is read

    with pytest.raises(OSError, match="No space left") as raised:
        fill()
    assert raised.value.filename == str(folder)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt])
@pytest.mark.parametrize("was_there", [True, False])
def test_a_folder_that_was_not_filled_is_as_before(error, was_there, tmp_path):
    folder = tmp_path / "page"
    if was_there:
        folder.mkdir()

    def write_half():
        with folder_to_fill(folder, "--out"):
            (folder / "model").mkdir(parents=True)
            (folder / "model" / "half.onnx").touch()
            (folder / "index.html").touch()
            raise error

    for _ in range(2):
        with pytest.raises(error):
            write_half()
        assert folder.exists() == was_there
    with folder_to_fill(folder, "--out"):
        (folder / "whole").touch()
    with pytest.raises(ValueError, match="page: there already, and not empty"):
        write_half()
    assert os.listdir(folder) == ["whole"]


@pytest.mark.skipif(os.name != "posix", reason="locks of POSIX")
def test_what_a_killed_process_left_is_written_over(tmp_path):
    """And what another process holds is left alone."""
    program = """
import os, sys
from pathlib import Path
from vit_str.files import folder_to_fill, write_atomically
with write_atomically("out.txt") as file, folder_to_fill(Path("page"), "--out"):
    file.write_text("half")
    Path("page", "model").mkdir()
    Path("page", "model", "half.onnx").touch()
    print("writing", flush=True)
    sys.stdin.read()
"""
    folder = tmp_path / "page"
    with subprocess.Popen(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None and process.stdout.readline() == b"writing\n"
        with write_atomically(tmp_path / "out.txt") as temporary:
            temporary.write_text("of another process")
        with pytest.raises(ValueError, match="another process writes there"):
            fill(folder)
        process.kill()
    assert (tmp_path / "out.txt").read_text() == "of another process"
    assert (folder / "model" / "half.onnx").exists()
    left = {entry.name for entry in tmp_path.iterdir()} - {"out.txt", "page"}
    assert len(left) == 1
    with write_atomically(tmp_path / "out.txt") as temporary:
        assert temporary.name in left
        temporary.write_text("whole")
    fill(folder)
    assert (tmp_path / "out.txt").read_text() == "whole"
    assert sorted(os.listdir(tmp_path)) == ["out.txt", "page"]
    assert os.listdir(folder) == ["whole"]
    with pytest.raises(ValueError, match="there already, and not empty"):
        fill(folder)


def fill(folder: Path) -> None:
    with folder_to_fill(folder, "--out"):
        (folder / "whole").touch()


@pytest.mark.parametrize("note", [b"", b"notes of mine\n"])
def test_a_folder_with_a_note_of_somebody_else_keeps_its_files(note, tmp_path):
    (tmp_path / ".unfinished").write_bytes(note)
    (tmp_path / "mine.txt").touch()
    with pytest.raises(ValueError, match="there already, and not empty"):
        fill(tmp_path)
    assert sorted(os.listdir(tmp_path)) == [".unfinished", "mine.txt"]


def test_two_writers_of_one_file_do_not_meet(tmp_path):
    path = tmp_path / "out.txt"
    with write_atomically(path) as first, write_atomically(path) as second:
        first.write_text("first")
        second.write_text("second")
    assert path.read_text() == "first"
    assert os.listdir(tmp_path) == ["out.txt"]


@pytest.mark.skipif(os.name != "posix", reason="links need rights on other systems")
def test_nothing_is_written_through_a_link_in_the_place_of_the_temporary_file(tmp_path):
    (tmp_path / "of-others.txt").write_text("theirs")
    (tmp_path / ".out.partial.txt").symlink_to("of-others.txt")
    with write_atomically(tmp_path / "out.txt") as temporary:
        temporary.write_text("ours")
    assert (tmp_path / "of-others.txt").read_text() == "theirs"
    assert (tmp_path / "out.txt").read_text() == "ours"


def test_files_of_a_folder_come_before_those_of_its_folders(tmp_path):
    for name in ("b.png", "a.JPG", "a/x.png", "._b.png", "notes.txt", "z.png/c.png"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "a" / "circle").symlink_to(tmp_path)
    os.mkfifo(tmp_path / "waits.png")
    found = [
        str(path.relative_to(tmp_path))
        for path in find_files(tmp_path, (".png", ".jpg"))
    ]
    assert found == ["a.JPG", "b.png", "a/x.png", "z.png/c.png"]


def test_a_folder_that_cannot_be_searched_is_reported(tmp_path):
    errors: list[OSError] = []
    assert find_files(tmp_path / "missing", (".png",), errors.append) == []
    assert [error.filename for error in errors] == [str(tmp_path / "missing")]


def test_control_characters_are_escaped():
    assert one_line("a\nb\t\x1b\x9b\u2028é\udcff") == "a\\nb\\t\\x1b\\x9b\\u2028é\udcff"


@pytest.mark.skipif(os.name != "posix", reason="devices and pipes of POSIX")
def test_a_text_file_may_be_a_device_without_an_end(tmp_path):
    (tmp_path / "zero").symlink_to("/dev/zero")
    with (tmp_path / "sparse").open("wb") as file:
        file.truncate(1 << 32)
    for name in ("zero", "sparse"):
        with pytest.raises(OSError, match="more than 64 MB"):
            read_text(tmp_path / name)
    os.mkfifo(tmp_path / "pipe")
    assert read_text(tmp_path / "pipe") == ""  # nobody writes to it


def test_text_files_are_utf_8_with_or_without_a_mark(tmp_path):
    path = tmp_path / "text"
    for mark in (b"", b"\xef\xbb\xbf"):
        path.write_bytes(mark + "é\n".encode())
        assert read_text(path) == "é\n"
    path.write_bytes("é".encode("latin-1"))
    with pytest.raises(UnicodeDecodeError):
        read_text(path)


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="users of POSIX")
def test_a_cache_of_others_is_refused(tmp_path, monkeypatch):
    cache = tmp_path / "cache"
    monkeypatch.setenv("VIT_STR_CACHE", str(cache))
    assert default_cache() == cache  # not there yet
    cache.mkdir(mode=0o755)
    assert default_cache() == cache
    cache.chmod(0o777)
    with pytest.raises(ValueError, match=r"all users may write to the cache .*set VIT"):
        default_cache()
    cache.chmod(0o755)
    other = os.geteuid() + 1
    if os.geteuid() == 0:
        os.chown(cache, other, -1)
    else:
        monkeypatch.setattr(os, "geteuid", lambda: other)
    with pytest.raises(
        ValueError, match=r"cache folder .* is of another user; set VIT"
    ):
        default_cache()
    link = tmp_path / "link"
    link.symlink_to(cache)
    monkeypatch.setenv("VIT_STR_CACHE", str(link))
    with pytest.raises(ValueError, match="is of another user"):
        default_cache()
