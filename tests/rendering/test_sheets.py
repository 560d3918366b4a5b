import re
from pathlib import Path

import pytest
import torch
from PIL import Image

from vit_str.cli import main
from vit_str.rendering import sheets
from vit_str.rendering.sheets import changed_words
from vit_str.synthesis.ingredients import Ingredients
from vit_str.synthesis.lexicon import Lexicon
from vit_str.synthesis.renderer import Renderer


@pytest.fixture
def fonts(font_folder, tmp_path, monkeypatch) -> list[str]:
    monkeypatch.setenv("VIT_STR_CACHE", str(font_folder.parent / "glyphs"))
    monkeypatch.chdir(tmp_path)
    return ["--fonts", str(font_folder)]


def test_words_are_shown_without_and_with_an_ingredient(
    one_font, tmp_path, monkeypatch
):
    monkeypatch.setattr(sheets, "_MOST_BATCHES", 2)
    (tmp_path / "words.txt").write_text("alpha beta gamma delta")
    lexicon = Lexicon(one_font.charset, words=tmp_path / "words.txt")
    usual = Ingredients().at(0.0)
    renderer = Renderer(one_font, lexicon, ingredients=usual, chunk=64)
    words = changed_words(renderer, "rotation", 6, seed=1)
    assert renderer.ingredients == usual
    assert len(words) == 6
    assert [word.change for word in words] == sorted(
        (w.change for w in words), reverse=True
    )
    for word in words:
        pixels = [
            torch.frombuffer(bytearray(i.tobytes()), dtype=torch.uint8)
            for i in word.images
        ]
        change = [
            (each.float() - pixels[0].float()).abs().mean() for each in pixels[1:]
        ]
        assert float(sum(change)) / len(change) == pytest.approx(word.change, rel=1e-3)
    batches = [renderer.batch(64, 1, index) for index in range(2)]
    plain = {
        image.permute(1, 2, 0).numpy().tobytes()
        for batch in batches
        for image in batch.images
    }
    without = {word.images[0].tobytes() for word in words}
    assert without <= plain, "the first is without it"


def test_what_cannot_be_shown(fonts, capsys):
    assert main(["render", *fonts, "--show", "blurr"]) == 2
    assert (
        "nothing to show by the name 'blurr'; give all or one of"
        in capsys.readouterr().err
    )
    assert main(["render", *fonts, "--show", "blur", "--out", "blur.xyz"]) == 2
    assert "a picture needs a name that ends in .png" in capsys.readouterr().err


def test_own_words_on_a_sheet(fonts):
    Path("words.txt").write_text("alpha beta gamma")
    arguments = ["--count", "10", "--words", "words.txt", "--sheet", "new/sheet.png"]
    assert main(["render", *fonts, *arguments]) == 0
    with Image.open("new/sheet.png") as picture:
        assert picture.size == (8 * 134, 2 * 50)


def test_texts_of_ones_own_are_all_that_is_drawn(fonts, tmp_path):
    (tmp_path / "names.txt").write_text("Nord\nWest\n")
    command = ["render", "--out", "meters", "--count", "40", *fonts]
    command += ["--pattern", "[A-Z]{2}[0-9]{4}", "--only-words", "names.txt"]
    assert main(command) == 0
    rows = (tmp_path / "meters" / "labels.tsv").read_text().splitlines()
    labels = {row.split("\t")[1] for row in rows}
    names = labels & {"Nord", "West"}
    assert names and all(re.fullmatch("[A-Z]{2}[0-9]{4}", e) for e in labels - names)


def test_a_pattern_that_cannot_be_drawn_is_one_line(fonts, capsys):
    assert main(["render", "--out", "x", "--pattern", "(a", *fonts]) == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 1 and "pattern '(a': missing )" in err
