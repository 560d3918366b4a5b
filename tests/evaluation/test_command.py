import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from vit_str.cli import main
from vit_str.datasets import LabeledWord, Layout
from vit_str.datasets.tar import TarWriter
from vit_str.evaluation.markdown import FIGURES
from vit_str.weights import WeightsFile, save_weights


@pytest.fixture
def model(weights_path: Path) -> list[str]:
    return ["--model", str(weights_path), "--device", "cpu"]


@pytest.fixture
def folder(tmp_path: Path, word_image: Callable[..., Image.Image]) -> Path:
    folder = tmp_path / "my words"
    folder.mkdir()
    labels = {"1.png": "Hotel", "2.png": "EXIT", "3.png": "42"}
    for file, label in labels.items():
        word_image(label).save(folder / file)
    rows = "".join(f"{file}\t{label}\n" for file, label in labels.items())
    (folder / "labels.tsv").write_text(rows)
    return folder


def test_breakdown(folder: Path, model: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["evaluate", str(folder), *model]) == 0
    short = capsys.readouterr().out
    assert main(["evaluate", str(folder), "--breakdown", *model]) == 0
    captured = capsys.readouterr()
    assert captured.out.startswith(short.rstrip("\n"))
    assert captured.err == ""
    for title in ("length", "case", "orientation", "aspect", "height", "confidence", "kept"):
        assert f"\n{title} " in captured.out


def test_report_sheet_and_plain_page(
    folder: Path,
    model: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    files = ["--report", "docs/evaluation", "--sheet", "new/worst.jpg", "--markdown", "plain.md"]
    assert main(["evaluate", str(folder), *files, *model]) == 0
    assert capsys.readouterr().err == ""
    written = sorted(path.name for path in Path("docs/evaluation").iterdir())
    assert written == sorted(["report.md", *(f"{name}.png" for name in FIGURES)])
    page = Path("docs/evaluation/report.md").read_text(encoding="utf-8")
    assert "# How well small reads\n" in page
    command = "vit-str evaluate 'my words' --model small --report docs/evaluation\n"
    assert f"```text\n{command}```" in page
    assert str(tmp_path) not in page
    assert page.count("](") == len(FIGURES)
    plain = Path("plain.md").read_text(encoding="utf-8")
    assert "](" not in plain
    with Image.open("new/worst.jpg") as sheet:
        assert sheet.format == "JPEG"
        assert sheet.width == 3 * 262


def test_against_another_model(
    folder: Path,
    model: list[str],
    weights: WeightsFile,
    tmp_path: Path,
    small_recognizer: Callable[..., Any],
    capsys: pytest.CaptureFixture[str],
) -> None:
    other = tmp_path / "other.safetensors"
    save_weights(other, small_recognizer(seed=1), weights.charset, weights.preprocessing, {})
    against = ["--against", str(other)]
    page = tmp_path / "page.md"
    assert main(["evaluate", str(folder), *model, *against, "--markdown", str(page)]) == 0
    out = capsys.readouterr().out
    assert "only other  only small  McNemar p" in out
    assert "small minus other" in out
    text = page.read_text(encoding="utf-8")
    assert "## small against other" in text
    assert "--against other" in text
    assert main(["evaluate", str(folder), *model, *against, "--json"]) == 0
    values = json.loads(capsys.readouterr().out)
    assert values["against"]["overall"]["n"] == 3
    differences = values["comparison"]["differences"]
    assert differences["word_accuracy_full"]["my words"]["n"] == 3


def test_other_formats(
    folder: Path, model: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["evaluate", str(folder), "--json", *model]) == 0
    expected = json.loads(capsys.readouterr().out)["overall"]
    words = [
        LabeledWord((folder / f"{number}.png").read_bytes(), label)
        for number, label in ((1, "Hotel"), (2, "EXIT"), (3, "42"))
    ]
    with TarWriter(tmp_path / "words.tar", Layout()) as writer:
        writer.add([*words, LabeledWord(b"damaged", "x")])
    sheet = tmp_path / "worst.png"
    path = str(tmp_path / "words.tar")
    assert main(["evaluate", path, "--json", "--sheet", str(sheet), *model]) == 1
    captured = capsys.readouterr()
    (line,) = captured.err.splitlines()
    assert line.startswith(f"vit-str: {path}: ")
    assert "not an image that can be read" in line
    found = json.loads(captured.out)["sets"]["words.tar"]
    assert (found["n"], found["unreadable"]) == (4, 1)
    assert found["breakdown"]["height"] == expected["breakdown"]["height"]
    with Image.open(sheet) as picture:
        assert picture.width == 3 * 262


@pytest.mark.parametrize(
    ("options", "trouble"),
    [
        (["--sheet", "sheet.txt"], "a name that ends in .png, .jpg or .webp, found sheet.txt"),
        (["--report", "taken"], "cannot write taken"),
        (["--markdown", "taken/x.md"], "cannot write taken"),
    ],
)
def test_what_cannot_be_written_is_reported_before_reading(
    options: list[str],
    trouble: str,
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("taken").write_text("a file")
    monkeypatch.setattr("vit_str.reading.reader.load", lambda *_, **__: pytest.fail("too late"))
    assert main(["evaluate", str(folder), *options]) == 2
    captured = capsys.readouterr()
    assert trouble in captured.err
    assert len(captured.err.splitlines()) == 1
    assert captured.out == ""


def test_results_stay_when_a_file_cannot_be_written_after_all(
    folder: Path,
    model: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    page = tmp_path / "page.md"
    assert main(["evaluate", str(folder), "--markdown", str(page), *model]) == 1
    captured = capsys.readouterr()
    assert captured.out.startswith("set ")
    assert "No space left on device" in captured.err
    assert not page.exists()
    assert not list(tmp_path.glob(".page*"))
