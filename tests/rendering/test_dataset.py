import io
import json
import signal
import subprocess
import sys
import time
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
    return {
        path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }


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
        assert all(
            left < right and top < bottom
            for left, top, right, bottom in values["boxes"]
        )


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


@pytest.mark.parametrize("name", ["out", "out.lmdb", "out.tar", "out-%06d.tar"])
def test_a_rendering_that_was_stopped_goes_on_with_the_same_command(
    name, render, tmp_path, monkeypatch
):
    """As one that was not stopped: byte for byte, but for the pages of an LMDB."""
    monkeypatch.setattr("vit_str.datasets.lmdb._WORDS_IN_TRANSACTION", 64)
    more = ["--count", 150, "--start", 10, "--boxes"]
    more += ["--shard-size", 50] if "%" in name else []
    path = tmp_path / "cut" / name
    real = dataset._encode
    calls = []

    def interrupted(*arguments, **named):
        calls.append(1)
        if len(calls) == 130:  # in the third batch; the first holds 54 words
            raise KeyboardInterrupt
        return real(*arguments, **named)

    with monkeypatch.context() as patch:
        patch.setattr(dataset, "_encode", interrupted)
        error = render(*more, "--out", path, code=130).err
    written = 54 + 64
    assert error.splitlines() == [
        f"vit-str: {path}: stopped after {written} words; the same command goes on",
        "vit-str render: interrupted",
    ]
    drawn = render(*more, "--out", path)
    assert f"{path}: going on after {written} words" in drawn.err
    render(*more, "--out", tmp_path / "whole" / name)
    if name == "out.lmdb":
        assert list(open_words(path)) == list(open_words(tmp_path / "whole" / name))
    else:
        assert contents(tmp_path / "cut") == contents(tmp_path / "whole")
    assert "is there already; remove it" in render(*more, "--out", path, code=2).err


def test_another_look_does_not_go_on(render, tmp_path, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(dataset, "_encode", interrupted)
        render("--count", 70, "--out", tmp_path / "out", code=130)
    others = {
        "--height": ["--count", 70, "--height", 48],
        "--count": ["--count", 71],
        "--ingredients": ["--count", 70, "--ingredients", "blur=0"],
    }
    for name, more in others.items():
        error = render(*more, "--out", tmp_path / "out", code=2).err
        assert f"was begun with {name} " in error
        assert "give the same to go on with it" in error
    # The same file of words by its name, with other words.
    (tmp_path / "words.txt").write_text("other words than before")
    error = render("--count", 70, "--out", tmp_path / "out", code=2).err
    assert "was begun with drawing (of fonts, words and libraries) " in error


@pytest.mark.skipif(
    not hasattr(signal, "SIGKILL"), reason="there is no kill -9 on Windows"
)
def test_a_kill_leaves_images_and_labels_that_agree(arguments, render, tmp_path):
    path = tmp_path / "cut" / "out"
    command = [
        sys.executable,
        "-m",
        "vit_str",
        *arguments,
        "--count",
        "500",
        "--out",
        str(path),
    ]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    labels = path / "labels.tsv"
    while process.poll() is None and not (
        labels.exists() and labels.stat().st_size > 1000
    ):
        time.sleep(0.001)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    lines = labels.read_text().splitlines()
    assert lines
    for line in lines:
        with Image.open(path / "images" / line.partition("\t")[0]) as image:
            image.load()
    render("--count", 500, "--out", path)
    render("--count", 500, "--out", tmp_path / "whole" / "out")
    assert contents(tmp_path / "cut") == contents(tmp_path / "whole")


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
        (
            ["--start", "-1"],
            "expected a whole number from 0 on, below 1,000,000,000, found '-1'",
        ),
        (["--seed", "16777216"], "below 16,777,216"),
        (["--difficulty", "2"], "expected a number from 0 to 1"),
        (
            ["--ingredients", "blurr=2"],
            "unknown ingredient 'blurr'; the ingredients are spacing",
        ),
        (
            ["--ingredients", "blur"],
            "expected a strength from 0 on, as in blur=2, found 'blur'",
        ),
        (["--ingredients", "blur=-1"], "expected a strength from 0 on"),
        (["--coun", "5"], "unrecognized arguments"),
    ],
)
def test_wrong_values(wrong, message, capsys):
    with pytest.raises(SystemExit) as caught:
        main(["render", "--out", "out", *wrong])
    assert caught.value.code == 2
    assert message in capsys.readouterr().err
