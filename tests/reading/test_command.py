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


@pytest.mark.parametrize("kind", [[], ["--format", "text"], ["--format", "csv"]])
def test_boxes_have_a_place_in_jsonl_only(
    kind: list[str], words: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["read", str(words), "--boxes", *kind]) == 2
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


def test_all_formats_read_the_same(
    model: list[str], words: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    texts = []
    for kind in ("text", "jsonl", "csv"):
        main(["read", str(words), "--format", kind, *model])
        lines = capsys.readouterr().out.splitlines()
        if kind == "text":
            texts.append([line.split("\t")[1] for line in lines])
        elif kind == "jsonl":
            texts.append([json.loads(line)["text"] for line in lines])
        else:
            texts.append([row[1] for row in csv.reader(lines[1:])])
    assert texts[0] == texts[1] == texts[2]


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


def test_interrupted_while_loading(
    words: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("vit_str.reading.reader.load", interrupt)
    assert main(["read", str(words)]) == 130
    assert capsys.readouterr().err == "vit-str read: interrupted\n"


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
