import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from vit_str.cli import main
from vit_str.datasets import open_words
from vit_str.datasets.folder import FolderReader
from vit_str.rendering import dataset

Render = Callable[..., Any]  # `out` and `err` of what it prints


@pytest.fixture
def arguments(font_folder, tmp_path, monkeypatch) -> list[str]:
    """One font and few words, so that every command takes less than a second."""
    words = tmp_path / "words.txt"
    words.write_text("alpha beta gamma delta")
    monkeypatch.setenv("VIT_STR_CACHE", str(font_folder.parent / "glyphs"))
    return ["render", "--fonts", str(font_folder), "--words", str(words), "--seed", "3"]


@pytest.fixture
def render(arguments, capsys) -> Render:
    """Runs ``vit-str render``, which has to end with ``code``; returns what it prints."""

    def run(*more: object, code: int = 0) -> Any:
        capsys.readouterr()
        assert main([*arguments, *map(str, more)]) == code
        return capsys.readouterr()

    return run


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_folder_that_evaluate_understands(render, tmp_path):
    render("--count", 70, "--out", tmp_path / "out", "--boxes")
    images = FolderReader(tmp_path / "out").files()
    assert len(images.paths) == 70
    assert all(images.labels)
    with Image.open(images.paths[69]) as image:
        assert (image.size, image.format) == ((128, 32), "PNG")
    lines = (tmp_path / "out" / "boxes.jsonl").read_text(encoding="utf-8").splitlines()
    for path, label, line in zip(images.paths, images.labels, lines, strict=True):
        values = json.loads(line)
        assert (values["image"], values["label"]) == (path.name, label)
        assert len(values["boxes"]) == len(label)
        assert all(left < right and top < bottom for left, top, right, bottom in values["boxes"])


def test_a_part_holds_the_words_that_the_whole_has_there(render, tmp_path):
    render("--count", 130, "--out", tmp_path / "whole")
    render("--count", 40, "--start", 60, "--out", tmp_path / "part")
    part = contents(tmp_path / "part")
    del part["labels.tsv"]
    assert len(part) == 40
    assert part.items() < contents(tmp_path / "whole").items()


def test_every_format_holds_the_same_words(render, tmp_path):
    for name in ("out", "out.lmdb", "out-%06d.tar"):
        render("--count", 20, "--out", tmp_path / name, "--image-format", "jpg")
    folder, *others = (
        [(word.image, word.label) for word in open_words(tmp_path / name)]
        for name in ("out", "out.lmdb", "out-%06d.tar")
    )
    assert len(folder) == 20
    assert others == [folder, folder]
    with Image.open(io.BytesIO(folder[0][0])) as image:
        assert image.format == "JPEG"


def test_ctrl_c_says_how_to_write_the_others(render, tmp_path, monkeypatch):
    path, real = tmp_path / "out.lmdb", dataset._encode
    calls = []

    def interrupted(*arguments, **named):
        calls.append(1)
        if len(calls) == 100:
            raise KeyboardInterrupt
        return real(*arguments, **named)

    with monkeypatch.context() as patch:
        patch.setattr(dataset, "_encode", interrupted)
        error = render("--count", 150, "--out", path, code=130).err
    assert error.splitlines() == [
        "vit-str: stopped after 64 of 150 words; --start 64 --count 86 writes the others to "
        "another --out",
        "vit-str render: interrupted",
    ]
    assert len(open_words(path)) == 64


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (["--fonts", "nowhere"], "found no folder at nowhere"),
        (["--words", "nowhere.txt"], "nowhere.txt"),
        (["--charset", "aa"], "every character once"),
        (["--charset", "a\n"], "characters that can be seen"),
        (["--out", "words.png"], "for a picture give --sheet"),
        (["--shard-size", "5"], "name them with a place for the number"),
        (["--format", "tar"], "expected a name that ends in .tar"),
        (["--sheet", "x.png"], "leave out --out"),
        (["--device", "abacus"], "unknown device 'abacus'"),
        (["--pictures", "nowhere"], "found no folder at nowhere"),
    ],
)
def test_mistakes_are_one_line(wrong, message, render, tmp_path):
    error = render("--out", tmp_path / "out", *wrong, code=2).err
    assert message in error
    assert error.count("\n") == 1
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (["--count", "0"], "expected a whole number from 1 on, found '0'"),
        (["--start", "-1"], "expected a whole number from 0 on, below 1,000,000,000, found '-1'"),
        (["--seed", "16777216"], "below 16,777,216"),
        (["--difficulty", "2"], "expected a number from 0 to 1"),
        (["--ingredients", "blurr=2"], "unknown ingredient 'blurr'; the ingredients are spacing"),
        (["--ingredients", "blur"], "expected a strength from 0 on, as in blur=2, found 'blur'"),
        (["--ingredients", "blur=-1"], "expected a strength from 0 on"),
        (["--coun", "5"], "unrecognized arguments"),
    ],
)
def test_wrong_values(wrong, message, capsys):
    with pytest.raises(SystemExit) as caught:
        main(["render", "--out", "out", *wrong])
    assert caught.value.code == 2
    assert message in capsys.readouterr().err
