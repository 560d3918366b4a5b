"""The folder that the texts of pages go to."""

import os

import pytest

from vit_str.pages.write.results import PageFolder


def names_of(folder, *sources):
    return [folder.name(str(source)) for source in sources]


def test_names_that_differ_in_capitals_or_accents_are_kept_apart(tmp_path):
    """Where a file system takes them for one, a text would replace another."""
    sources = [
        tmp_path / name for name in ("a/W.png", "b/w.png", "c/ü.png", "d/u\u0308.png")
    ]
    first, second, third, fourth = names_of(
        PageFolder(tmp_path / "out", ".txt", {}), *sources
    )
    assert (first, third) == ("W.png", "ü.png")
    assert second == str(sources[1]).strip(os.sep).replace(os.sep, "__")
    assert fourth == str(sources[3]).strip(os.sep).replace(os.sep, "__")


def test_a_damaged_record_is_passed_over(tmp_path):
    folder = PageFolder(tmp_path, ".txt", {})
    page = tmp_path / "page.png"
    page.touch()
    folder.note(folder.state(str(page)))
    whole = folder.record.read_bytes()
    others = b'{"source": ["a"], "name": "b"}\n{"source": "a", "name": null}\n'
    folder.record.write_bytes(
        b"\xff\x00\n" + b"[" * 100_000 + b"\n7\n" + others + whole + whole[:20]
    )
    again = PageFolder(tmp_path, ".txt", {})
    again.target(str(page)).touch()
    assert again.is_done(str(page))


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a full disk of Linux")
def test_a_full_disk_names_the_record(tmp_path):
    folder = PageFolder(tmp_path, ".txt", {})
    folder.record = tmp_path / "record"
    folder.record.symlink_to("/dev/full")
    with pytest.raises(OSError, match="No space left") as raised:
        folder.note({"source": "a.png"})
    assert raised.value.filename == str(folder.record)
