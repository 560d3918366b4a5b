"""``vit-str render --pages`` writes records of pages, and goes on where it was stopped."""

import shutil

import numpy as np
import pytest

from vit_str.cli import main
from vit_str.datasets.page_records import read_pages, read_shard, shard_paths
from vit_str.datasets.picture_records import PictureRecord, read_picture_shard
from vit_str.synthesis.pages.truth import ROLES

needs_browser = pytest.mark.skipif(
    not any(map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))),
    reason="needs Chromium",
)


@needs_browser
def test_pages_are_written_and_resumed(tmp_path, capsys):
    command = ["render", "--out", str(tmp_path / "pages"), "--processes", "1"]
    assert main([*command, "--pages", "3"]) == 0
    first = list(read_pages(tmp_path / "pages"))
    assert [page.number for page in first] == [0, 1, 2]
    assert all(page.way == "drawn" for page in first)
    assert main([*command, "--pages", "5"]) == 0
    more = read_shard(tmp_path / "pages", 0)
    assert len(more) == 5
    for one, other in zip(first, more, strict=False):
        assert one.words == other.words
        assert np.array_equal(one.polygons, other.polygons)
    before = shard_paths(tmp_path / "pages", 0)[1].stat().st_mtime_ns
    assert main([*command, "--pages", "5"]) == 0
    assert shard_paths(tmp_path / "pages", 0)[1].stat().st_mtime_ns == before
    assert main([*command, "--pages", "5", "--seed", "2"]) == 2
    assert "begun with other seed" in capsys.readouterr().err


@needs_browser
def test_pages_of_ones_own_are_drawn_in_turns(tmp_path):
    own = tmp_path / "own"
    own.mkdir()
    (own / "order.html").write_text(
        "<html><body><h1>Work order</h1><p>Repair the gate.</p>"
        "<table><tr><th>Part</th><th>Count</th></tr>"
        "<tr><td>Hinge</td><td>2</td></tr></table></body></html>"
    )
    (own / "note.html").write_text("<html><body><p>A short note.</p></body></html>")
    out = tmp_path / "pages"
    command = ["render", "--out", str(out), "--html", str(own), "--processes", "1"]
    assert main([*command, "--pages", "3"]) == 0
    note, order, again = read_pages(out)
    assert (note.family, order.family, again.family) == ("note", "order", "note")
    assert note.words == again.words == ["A", "short", "note."]
    roles = [ROLES[role] for role in order.blocks[:, 0].tolist()]
    assert roles == ["heading", "paragraph", *2 * ["head cell"], *2 * ["cell"]]


@needs_browser
def test_pictures_are_written_and_resumed(tmp_path, capsys):
    out = tmp_path / "pictures"
    command = ["render", "--find", "--out", str(out), "--processes", "1"]
    assert main([*command, "--pages", "2"]) == 0
    first = read_picture_shard(out / "00000.safetensors")
    assert [record.number for record in first] == [0, 1]
    for record in first:
        assert max(record.image.size) <= 640
        assert len(record.boxes) == len(record.sizes) == len(record.lines) > 0
        gray = np.asarray(record.image.convert("L"), float)
        inside = [gray[y0:y1, x0:x1].std() for x0, y0, x1, y1 in whole_boxes(record)]
        assert np.median(inside) > 15
    assert main([*command, "--pages", "3"]) == 0
    more = read_picture_shard(out / "00000.safetensors")
    assert len(more) == 3
    assert np.array_equal(more[1].boxes, first[1].boxes)
    assert main(["render", "--out", str(out), "--pages", "3"]) == 2
    assert "begun with other families and find" in capsys.readouterr().err


def whole_boxes(record: PictureRecord) -> np.ndarray:
    """Boxes of the words that no edge cuts, in whole pixels."""
    width, height = record.image.size
    boxes = record.boxes.round().astype(int)
    is_inside = (boxes[:, :2] > 0).all(1) & (boxes[:, 2:] < (width, height)).all(1)
    return boxes[is_inside]


@needs_browser
@pytest.mark.slow
def test_pages_are_captured_and_read(tmp_path):
    out = tmp_path / "pages"
    assert main(["render", "--out", str(out), "--pages", "6", "--read", "1"]) == 0
    pages = list(read_pages(out))
    words = sum(len(page.words) for page in pages)
    assert words > 200
    unmatched = sum(int((page.word_block < 0).sum()) for page in pages)
    assert unmatched < 0.03 * words
    assert sum(page.missed for page in pages) < 0.06 * words
    assert {page.way for page in pages} <= {"file", "scan", "fax", "photo"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--pages", "3"], "say where pages go"),
        (
            ["--pages", "3", "--out", "x", "--charset", "latin"],
            "--pages takes no --charset",
        ),
        (
            ["--pages", "3", "--out", "x", "--language", "xx"],
            "pages are written in en, de",
        ),
        (
            ["--pages", "3", "--out", "x", "--find", "--read", "1"],
            "--find takes no --read",
        ),
        (["--pages", "3", "--out", "x.tar"], "would be a folder"),
        (["--pages", "3", "--out", "x", "--start", "7"], "expected a multiple of 100"),
        (
            ["--pages", "3", "--out", "x", "--html", "."],
            "holds no .html or .xhtml files",
        ),
        (
            ["--pages", "3", "--out", "x", "--html", ".", "--held-out"],
            "leave it out with --html",
        ),
    ],
)
def test_mistakes_are_one_line(arguments, message, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["render", *arguments]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


@needs_browser
def test_a_sheet_shows_pages_with_their_truth(tmp_path):
    sheet = tmp_path / "sheet.png"
    assert main(["render", "--pages", "2", "--sheet", str(sheet)]) == 0
    assert sheet.stat().st_size > 10_000
