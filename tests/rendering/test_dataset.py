import io
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from vit_str.cli import main
from vit_str.datasets import LabeledWord, open_words
from vit_str.datasets.folder import FolderReader
from vit_str.files import exclusive
from vit_str.rendering import dataset

Render = Callable[..., Any]  # `out` and `err` of what it prints


@pytest.fixture
def arguments(font_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """One font and few words, so that every command takes less than a second."""
    words = tmp_path / "words.txt"
    words.write_text("alpha beta gamma delta")
    monkeypatch.setenv("VIT_STR_CACHE", str(font_folder.parent / "glyphs"))
    return ["render", "--fonts", str(font_folder), "--words", str(words), "--seed", "3"]


@pytest.fixture
def render(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> Render:
    """Runs ``vit-str render``, which has to end with ``code``; returns what it prints."""

    def run(*more: object, code: int = 0) -> Any:
        capsys.readouterr()
        assert main([*arguments, *map(str, more)]) == code
        return capsys.readouterr()

    return run


def contents(folder: Path) -> dict[str, bytes]:
    """The files of a data set, without its description, which names the count."""
    return {
        path.name: path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.suffix != ".json"
    }


def test_a_folder_that_evaluate_understands(render: Render, tmp_path: Path) -> None:
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


def test_a_run_resumes_and_a_finished_one_is_left_alone(render: Render, tmp_path: Path) -> None:
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    render("--count", 130, "--out", whole)
    render("--count", 70, "--out", cut)
    render("--count", 130, "--out", cut)
    assert contents(whole) == contents(cut)
    render("--count", 40, "--start", 60, "--out", tmp_path / "part")
    part = contents(tmp_path / "part")
    del part["labels.tsv"]
    assert part.items() < contents(whole).items()
    stamps = [path.stat().st_mtime_ns for path in sorted(cut.rglob("*.png"))]
    said = render("--count", 130, "--out", cut)
    assert said.out.splitlines()[-1].endswith(" words")
    assert said.err == f"vit-str: {cut}: all 130 words are there already\n"
    assert [path.stat().st_mtime_ns for path in sorted(cut.rglob("*.png"))] == stamps
    error = render("--count", 100, "--out", cut, code=2).err
    assert "holds 130 words, more than --count 100" in error


def test_two_renderings_into_one_folder_are_refused(render: Render, tmp_path: Path) -> None:
    out = tmp_path / "out"
    render("--count", 10, "--out", out)
    with exclusive(out / ".render.json.lock"):
        error = render("--count", 20, "--out", out, code=2).err
    assert "another process writes there" in error
    render("--count", 20, "--out", out)


def test_every_format_holds_the_same_words(render: Render, tmp_path: Path) -> None:
    for name in ("out", "out.lmdb", "out-%06d.tar"):
        render("--count", 20, "--out", tmp_path / name, "--image-format", "jpg")
    folder, *others = (
        [(word.image, word.label) for word in open_words(tmp_path / name)]  # type: ignore[union-attr]
        for name in ("out", "out.lmdb", "out-%06d.tar")
    )
    assert len(folder) == 20
    assert others == [folder, folder]
    with Image.open(io.BytesIO(folder[0][0])) as image:
        assert image.format == "JPEG"


def test_other_words_are_not_mixed_in(
    render: Render, matplotlib_fonts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    render("--count", 5, "--out", "out")
    before = contents(tmp_path / "out")
    Path("words").write_text("alpha beta gamma delta epsilon")
    Path("fonts").mkdir()
    shutil.copy(matplotlib_fonts / "DejaVuSans-Bold.ttf", "fonts")
    for other, message in (
        (["--seed", "4"], "--seed 3, not 4"),
        (["--ingredients", "blur=2"], "--ingredients all at 1, not blur=2"),
        (["--boxes"], "--boxes off, not on"),
        (["--words", "words"], "other --words"),
        (["--difficulty", "0.5"], "--difficulty 1.0, not 0.5"),
        (["--fonts", "fonts"], "other fonts"),
    ):
        assert render("--count", 9, "--out", "out", *other, code=2).err == (
            f"vit-str render: out was begun with {message}: give the same arguments to resume, "
            "or another --out\n"
        )
    assert contents(tmp_path / "out") == before


def test_another_program_does_not_resume(
    render: Render, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    render("--count", 5, "--out", tmp_path / "out")
    monkeypatch.setattr("vit_str.synthesis.lexicon.CASES", {"upper": 1.0})
    error = render("--count", 9, "--out", tmp_path / "out", code=2).err
    assert "another version of vit-str, of torch or of the word list" in error


def test_foreign_folders_stay_as_they_are(render: Render, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "labels.tsv").write_text("mine")
    (tmp_path / "out.tar").write_text("mine")
    for name in ("out", "out.tar"):
        error = render("--count", 5, "--out", tmp_path / name, code=2).err
        assert "is there and was not made by vit-str render; give a new name" in error
        assert error.count("\n") == 1
    assert (tmp_path / "out" / "labels.tsv").read_text() == "mine"


def test_ctrl_c_is_one_line_and_the_run_resumes(
    render: Render, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, real = tmp_path / "out.lmdb", dataset._encode
    calls = []

    def interrupted(*arguments: object, **named: object) -> bytes:
        calls.append(1)
        if len(calls) == 100:
            raise KeyboardInterrupt
        return real(*arguments, **named)  # type: ignore[arg-type]

    with monkeypatch.context() as patch:
        patch.setattr(dataset, "_encode", interrupted)
        error = render("--count", 150, "--out", path, code=130).err
    assert error.splitlines() == [
        "vit-str: stopped after 64 of 150 words; the same command resumes",
        "vit-str render: interrupted",
    ]
    assert "resuming after 64 words" in render("--count", 150, "--out", path).err
    assert "all 150 words are there already" in render("--count", 150, "--out", path).err


@pytest.mark.skipif(os.name != "posix", reason="limits of POSIX")
def test_a_full_disk_is_one_line(arguments: list[str], tmp_path: Path) -> None:
    """A limit on the size of files stands for a full disk: writing fails in the same place."""
    program = """
import resource, sys
from vit_str.cli import main
resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))
sys.exit(main(sys.argv[1:]))
"""
    more = ["--count", "300", "--out", str(tmp_path / "out.tar")]
    command = [sys.executable, "-c", program, *arguments, *more]
    answer = subprocess.run(command, capture_output=True, check=False)
    error = answer.stderr.decode()
    assert answer.returncode == 1, error
    assert error.startswith("vit-str render: cannot write ")
    assert error.count("\n") == 1
    assert main([*arguments, *more]) == 0, "with room again, it resumes"


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
def test_mistakes_are_one_line(
    wrong: list[str], message: str, render: Render, tmp_path: Path
) -> None:
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
def test_wrong_values(wrong: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["render", "--out", "out", *wrong])
    assert caught.value.code == 2
    assert message in capsys.readouterr().err


def test_boxes_are_one_line_of_json() -> None:
    word = LabeledWord(b"", "가b", ((1.0, 2.25, 3.0, 4.0), (3.0, 2.0, 5.5, 4.0)))
    assert word.json_of_boxes(image="x.png") == (
        '{"image":"x.png","label":"가b","boxes":[[1.0,2.25,3.0,4.0],[3.0,2.0,5.5,4.0]]}'
    )
