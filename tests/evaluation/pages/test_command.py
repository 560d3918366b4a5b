from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image

from vit_str.evaluation.pages import command
from vit_str.images.refusals import UnreadableImage
from vit_str.pages.page import Page

LABELS = "0,0,9,0,9,5,0,5,one\n"


class Readers:
    """Stand for the reader of pages: nothing is found, or nothing can be read."""

    def __init__(self) -> None:
        self.count = 0
        self.reason = ""

    def read(self, picture: Path) -> Page:
        self.count += 1
        if self.reason:
            raise UnreadableImage(str(picture), self.reason)
        return Page(20, 10, ())


@pytest.fixture
def readers(monkeypatch) -> Readers:
    """What ``vit-str evaluate --page`` reads with."""
    readers = Readers()
    monkeypatch.setattr(command, "load_page_reader", lambda *_: readers)
    return readers


@pytest.fixture
def evaluate(run, tmp_path) -> Callable[..., tuple[int, str, str]]:
    """Evaluate two pictures with labels."""
    for folder in ("images", "labels"):
        (tmp_path / folder).mkdir()
    for name in "ab":
        Image.new("RGB", (20, 10), "white").save(tmp_path / "images" / f"{name}.png")
        (tmp_path / "labels" / f"{name}.txt").write_text(LABELS)
    return lambda *options: run("evaluate", "--page", tmp_path, *options)


def test_pictures_without_words_are_scored(evaluate, readers):
    code, out, err = evaluate()
    assert (code, err) == (0, "")
    assert "2 pictures, 2 labels" in out and "not found 2" in out


def test_another_detector_finds_the_lines_of_pages_only(
    evaluate, run, tmp_path, monkeypatch
):
    asked = []

    def load(options, model):
        asked.append(options.detector)
        return Readers()

    monkeypatch.setattr(command, "load_page_reader", load)
    assert evaluate("--detector", "own.onnx")[0] == 0
    assert asked == ["own.onnx"]
    code, out, err = run("evaluate", tmp_path, "--detector", "own.onnx")
    assert (code > 0, out, err.count("\n")) == (True, "", 1)
    assert "give it with --page" in err


def test_damaged_labels_are_told_before_anything_is_read(evaluate, readers, tmp_path):
    (tmp_path / "labels" / "b.txt").write_text(f"{LABELS}one,two\n")
    code, out, err = evaluate()
    assert (code, out, err.count("\n"), readers.count) == (2, "", 1, 0)
    assert "b.txt, line 2: expected eight numbers and a text" in err


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--markdown", "report.md"], "--markdown is for words"),
        (["--against", "tiny", "--changes", "won"], "--changes is for words"),
        (["--sheet", "worst.gif"], "a picture needs a name that ends in .png"),
        (["--sheet", "folder.png"], "folder.png: Is a directory"),
    ],
)
def test_outputs_that_cannot_be_are_told_before_anything_is_read(
    options, reason, evaluate, readers, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder.png").mkdir()
    code, out, err = evaluate(*options)
    assert (code > 0, out, err.count("\n"), readers.count) == (True, "", 1, 0)
    assert reason in err


def test_nothing_that_could_be_read_is_no_score(evaluate, readers):
    readers.reason = "damaged"
    code, out, err = evaluate("--sheet", "worst.png")
    assert (code, out, err.count("\n")) == (1, "", 3)
    assert "none of the pictures could be read" in err
