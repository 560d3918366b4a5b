from pathlib import Path

import pytest
from PIL import Image

from vit_str.synthesis.cli import main


@pytest.fixture
def options(matplotlib_fonts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    fonts = tmp_path / "fonts"
    fonts.mkdir()
    source = matplotlib_fonts / "DejaVuSans.ttf"
    (fonts / "DejaVuSans.ttf").write_bytes(source.read_bytes())
    monkeypatch.setenv("VIT_STR_CACHE", str(tmp_path / "cache"))
    return ["--fonts", str(fonts), "--seed", "3"]


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_folder_of_words_that_evaluate_understands(options: list[str], tmp_path: Path) -> None:
    from vit_str.evaluation import LabeledImages

    assert main([*options, "--count", "70", "--out", str(tmp_path / "out")]) == 0
    images = LabeledImages(tmp_path / "out")
    assert len(images) == 70
    assert all(images.labels)
    with Image.open(images.paths[69]) as image:
        assert image.size == (128, 32)


def test_a_run_that_was_cut_goes_on(options: list[str], tmp_path: Path) -> None:
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    assert main([*options, "--count", "130", "--out", str(whole)]) == 0
    assert main([*options, "--count", "100", "--out", str(cut)]) == 0
    assert main([*options, "--count", "130", "--out", str(cut)]) == 0
    assert contents(whole) == contents(cut)


def test_own_words_on_a_sheet(options: list[str], tmp_path: Path) -> None:
    words, sheet = tmp_path / "words.txt", tmp_path / "sheet.png"
    words.write_text("alpha beta gamma")
    arguments = [*options, "--count", "10", "--words", str(words), "--sheet", str(sheet)]
    assert main(arguments) == 0
    with Image.open(sheet) as image:
        assert image.size[0] > 8 * 128


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (["--count", "0"], "--count must be at least 1"),
        (["--fonts", "nowhere"], "found no folder at nowhere"),
        (["--words", "nowhere.txt"], "nowhere.txt"),
        (["--charset", "aa"], "every character once"),
    ],
)
def test_mistakes_are_one_line(
    wrong: list[str],
    message: str,
    options: list[str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main([*options, "--out", str(tmp_path / "out"), *wrong]) == 2
    captured = capsys.readouterr().err
    assert message in captured
    assert captured.count("\n") == 1
