import csv
import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image

from vit_str.cli import main
from vit_str.files import one_line
from vit_str.reading import Reader
from vit_str.reading.inputs import find_inputs

BAD = {
    "empty.png": b"",
    "text.png": b"hello\n",
    "cut.jpg": b"\xff\xd8\xff\xe0\0\x10JFIF\0\x01\x01\0\0\x01\0\x01\0\0",
}


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def vit_str(*arguments: str | Path, **options: object) -> "subprocess.CompletedProcess[bytes]":
    """Run the command as a user does, in a process of its own."""
    command = [sys.executable, "-m", "vit_str", *map(os.fspath, arguments)]
    return subprocess.run(command, capture_output=True, check=False, timeout=60, **options)


@pytest.fixture
def model(weights_path: Path) -> list[str]:
    return ["--model", str(weights_path), "--device", "cpu"]


def test_text_format(
    model: list[str], words: Path, reader: Reader, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["read", str(words), *model]) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    rows = [line.split("\t") for line in captured.out.splitlines()]
    files = ["a.png", "b.jpg", "c.webp", "d.tiff", os.path.join("more", "e.bmp")]
    assert [row[0] for row in rows] == [str(words / file) for file in files]
    assert all(len(row) == 3 and 0 <= float(row[2]) <= 1 for row in rows)


def test_jsonl_format(model: list[str], words: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["read", str(words), "--format", "jsonl", "--batch-size", "2", *model]) == 0
    readings = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert len(readings) == 5
    for reading in readings:
        assert list(reading) == ["path", "text", "confidence", "characters"]
        assert "".join(each["character"] for each in reading["characters"]) == reading["text"]
        assert all(0 <= each["confidence"] <= 1 for each in reading["characters"])


def test_boxes_in_jsonl(
    model: list[str], words: Path, reader: Reader, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["read", str(words), "--format", "jsonl", *model]) == 0
    plain = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert main(["read", str(words), "--format", "jsonl", "--boxes", *model]) == 0
    readings = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    for reading in readings:
        for each in reading["characters"]:
            left, top, right, bottom = each.pop("box")
            assert 0 <= left < right <= 90
            assert 0 <= top < bottom <= 30
    assert readings == plain


def test_boxes_have_a_place_in_jsonl_only(
    model: list[str], words: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["read", str(words / "a.png"), "--boxes", *model]) == 0
    assert "box" in json.loads(capsys.readouterr().out)["characters"][0]
    for kind in ("text", "csv"):
        assert main(["read", str(words), "--boxes", "--format", kind]) == 2
        captured = capsys.readouterr()
        assert captured.out == ""
        assert captured.err.startswith("vit-str read: --boxes needs --format jsonl")
        assert len(captured.err.splitlines()) == 1


def test_csv_format(
    model: list[str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    word_image: Callable[..., Image.Image],
) -> None:
    path = tmp_path / 'with, comma and "quotes".png'
    word_image("x").save(path)
    assert main(["read", str(path), "--format", "csv", *model]) == 0
    rows = list(csv.reader(io.StringIO(capsys.readouterr().out)))
    assert rows[0] == ["path", "text", "confidence"]
    assert rows[1][0] == str(path)
    assert 0 <= float(rows[1][2]) <= 1


@pytest.mark.skipif(os.name != "posix", reason="other systems have no such file names")
@pytest.mark.parametrize("kind", ["text", "csv", "jsonl"])
@pytest.mark.parametrize("name", ["a\nb", "a\rb", "a\u2028b", "a\x1b[31mb", "=1+1", "<script>"])
def test_every_name_stays_in_one_row(
    kind: str,
    name: str,
    model: list[str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    word_image: Callable[..., Image.Image],
) -> None:
    paths = [tmp_path / f"{name}.png", tmp_path / "z.png"]
    for path in paths:
        word_image("x").save(path)
    assert main(["read", *map(str, paths), "--format", kind, *model]) == 0
    out = capsys.readouterr().out
    lines = out.splitlines()  # of every kind of line end
    assert out.isascii()
    assert len(lines) == 2 + (kind == "csv")
    if kind == "jsonl":
        assert json.loads(lines[0])["path"] == str(paths[0])
    elif kind == "csv":
        rows = list(csv.DictReader(io.StringIO(out)))
        assert [row["path"] for row in rows] == [one_line(str(path)) for path in paths]
    else:
        assert lines[0].split("\t")[0] == one_line(str(paths[0]))


def test_unreadable_images_have_a_record(
    model: list[str], words: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (words / "bad.png").write_bytes(b"no image")
    missing = words / "missing.png"
    assert main(["read", str(words), str(missing), "--format", "jsonl", *model]) == 1
    captured = capsys.readouterr()
    rows = {row["path"]: row for row in map(json.loads, captured.out.splitlines())}
    assert len(rows) == 7
    bad = rows[str(words / "bad.png")]
    assert bad["error"].startswith("not an image that can be read")
    assert bad["text"] is bad["confidence"] is None
    assert rows[str(missing)]["error"] == "no such file; check the path"
    assert "error" not in rows[str(words / "a.png")]
    assert len(captured.err.splitlines()) == 2


def test_out_and_files_from(
    model: list[str], words: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["read", str(words / "a.png"), str(words / "more"), *model]) == 0
    expected = capsys.readouterr().out
    listed, out = tmp_path / "list.txt", tmp_path / "new" / "texts.tsv"
    listed.write_text(f"{words / 'a.png'}\n\n{words / 'more'}\n")
    options = ["--files-from", str(listed), "--out", str(out)]
    assert main(["read", *options, *model]) == 0
    assert capsys.readouterr().out == ""
    assert out.read_text() == expected
    listed.write_text("missing.png\n")
    assert main(["read", *options, *model]) == 2
    assert out.read_text() == expected
    assert os.listdir(out.parent) == [out.name]
    for wrong in ([], ["--files-from", "missing"], ["x.png", "--out", str(tmp_path)]):
        assert main(["read", *wrong]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 4


def test_minimum_confidence(
    model: list[str], words: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["read", str(words), "--format", "jsonl", *model]) == 0
    plain = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    least = sorted(row["confidence"] for row in plain)[2]
    options = ["--format", "jsonl", "--min-confidence", str(least + 1e-6)]
    assert main(["read", str(words), *options, *model]) == 0
    for row, before in zip(capsys.readouterr().out.splitlines(), plain, strict=True):
        doubtful = before["confidence"] <= least
        assert json.loads(row) == before | ({"text": "", "characters": []} if doubtful else {})
    for wrong in ("2", "-1", "nan", "x"):
        with pytest.raises(SystemExit):
            main(["read", "x.png", "--min-confidence", wrong])


def test_pages_are_told_from_words(
    model: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    word_image: Callable[..., Image.Image],
) -> None:
    for name, size in {"word": (400, 100), "page": (700, 990), "photo": (1024, 768)}.items():
        word_image("word", size=size).save(tmp_path / f"{name}.png")
    for confidence, hints in ((1.0, 1), (0.0, 0)):
        monkeypatch.setattr("vit_str.reading.command._PAGE_CONFIDENCE", confidence)
        assert main(["read", str(tmp_path), *model]) == 0
        lines = capsys.readouterr().err.splitlines()
        assert len(lines) == hints
    monkeypatch.setattr("vit_str.reading.command._PAGE_CONFIDENCE", 1.0)
    assert main(["read", str(tmp_path / "word.png"), *model]) == 0
    assert capsys.readouterr().err == ""
    assert main(["read", str(tmp_path / "page.png"), *model]) == 0
    assert "page.png looks like a whole photograph or page: --page finds its words" in (
        capsys.readouterr().err
    )


def test_bad_images_are_named_and_the_others_read(
    model: list[str], words: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for file, data in BAD.items():
        (words / file).write_bytes(data)
    missing = words / "missing.png"
    assert main(["read", str(words), str(missing), "zz*.png", *model]) == 1
    captured = capsys.readouterr()
    assert len(captured.out.splitlines()) == 5
    lines = captured.err.splitlines()
    assert len(lines) == 5
    assert lines[0] == f"vit-str: {missing}: no such file; check the path"
    assert lines[1] == "vit-str: zz*.png: matches no file; check the pattern"
    for file in BAD:
        assert sum(line.startswith(f"vit-str: {words / file}: ") for line in lines) == 1


@pytest.mark.parametrize("argument", ["missing.png", "*.nothing", "empty folder"])
def test_nothing_to_read(
    argument: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty folder").mkdir()
    assert main(["read", argument]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert len(captured.err.splitlines()) == 1
    assert captured.err.startswith(f"vit-str: {argument}: ")


def test_standard_input(
    model: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    word_image: Callable[..., Image.Image],
) -> None:
    image = io.BytesIO()
    word_image("x").save(image, "PNG")
    for data, code in ((image.getvalue(), 0), (b"", 1), (b"no image", 1)):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        assert main(["read", "-", *model]) == code
        captured = capsys.readouterr()
        assert captured.out.startswith("-\t" if code == 0 else "")
        assert captured.err.startswith("vit-str: standard input: " if code else "")
        assert captured.err.count("\n") == code


@pytest.mark.parametrize("closed", [True, False])
def test_standard_input_that_holds_no_image(
    closed: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", None if closed else Terminal())
    assert main(["read", "-"]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_a_large_header_leaks_no_warning(model: list[str], tmp_path: Path) -> None:
    path = tmp_path / "large.pgm"
    path.write_bytes(b"P5 10000 10000 255\n" + bytes(10))
    answer = vit_str("read", path, *model)
    assert answer.returncode == 1
    assert answer.stderr.decode().splitlines() == [
        f"vit-str: {path}: larger than 89 million pixels; cut out the word or scale it down"
    ]


@pytest.mark.skipif(os.name != "posix", reason="other systems have no such file names")
def test_file_names_of_any_bytes(
    model: list[str],
    tmp_path: Path,
    capfdbinary: pytest.CaptureFixture[bytes],
    word_image: Callable[..., Image.Image],
) -> None:
    folder = tmp_path / "names"
    folder.mkdir()
    names = [b"caf\xe9.png", b"new\nline.png", "한글.png".encode()]
    paths = [os.path.join(os.fsencode(folder), name) for name in names]
    try:
        for path in paths:
            Path(os.fsdecode(path)).touch()
    except OSError:
        pytest.skip("this file system wants UTF-8")
    assert main(["read", str(folder), *model]) == 1
    assert capfdbinary.readouterr().err.count(b"\n") == 3
    for path in paths:
        word_image("x").save(os.fsdecode(path))
    assert main(["read", str(folder), *model]) == 0
    text = capfdbinary.readouterr().out
    assert text.count(b"\n") == 3
    for path in paths:
        assert path.replace(b"\n", b"\\n") + b"\t" in text
    assert main(["read", str(folder), "--format", "jsonl", *model]) == 0
    lines = capfdbinary.readouterr().out.decode().splitlines()
    assert sorted(os.fsencode(json.loads(line)["path"]) for line in lines) == sorted(paths)


def test_find_inputs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("b/deep").mkdir(parents=True)
    for file in ("b/2.PNG", "b/1.jpg", "b/deep/0.tif", "b/._1.jpg", "b/notes.txt", "[1].png", "x"):
        Path(file).touch()
    inside = [os.path.join("b", file) for file in ("1.jpg", "2.PNG", os.path.join("deep", "0.tif"))]
    assert find_inputs(["b"]).paths == inside
    assert find_inputs(["b/*"]).paths == [inside[0], inside[1], inside[2], "b/notes.txt"]
    assert find_inputs(["**/*.tif", "x", "-", "[1].png"]).paths == [inside[2], "x", "-", "[1].png"]
    assert find_inputs(["b", "b"]).paths == inside * 2
    assert find_inputs(["**/*.tif", "b/**/*.tif", "./**/0.tif"]).paths == [
        inside[2],
        inside[2],
        os.path.join(".", inside[2]),
    ]


@pytest.mark.skipif(os.name != "posix", reason="links and pipes of POSIX")
def test_circles_of_links_and_pipes_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a/b").mkdir(parents=True)
    Path("a/b/1.png").touch()
    for name in ("a/first", "a/second", "a/b/third"):
        os.symlink(tmp_path / "a", name)
    os.mkfifo("a/pipe.png")
    assert find_inputs(["a"]).paths == ["a/b/1.png"]
    assert find_inputs(["a/**/*.png"]).paths == ["a/b/1.png", "a/pipe.png"]
    assert find_inputs([f"{tmp_path}/**/1.png"]).paths == [str(tmp_path / "a/b/1.png")]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes of POSIX")
def test_a_child_reads_after_its_parent_read_with_two_threads(weights_path: Path) -> None:
    program = f"""
import os, signal, torch
torch.set_num_threads(2)
import vit_str
reader = vit_str.load({str(weights_path)!r}, "cpu")
images = [torch.zeros(3, 32, 128)] * 64
expected = reader.read(images)
child = os.fork()
if not child:
    signal.alarm(30)
    os._exit(reader.read(images)[0].text != expected[0].text)
assert os.waitpid(child, 0)[1] == 0
"""
    environment = {**os.environ, "OMP_NUM_THREADS": "2"}
    subprocess.run([sys.executable, "-c", program], check=True, timeout=100, env=environment)
