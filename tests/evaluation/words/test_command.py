import json
from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image

from vit_str.datasets import LabeledWord, Layout
from vit_str.datasets.tar import TarWriter
from vit_str.evaluation.words import command
from vit_str.torch_runtime.weights_file import save_weights

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def folder(tmp_path, labeled_set) -> Path:
    labels = {"1.png": "Hotel", "2.png": "EXIT", "3.png": "42"}
    return labeled_set(tmp_path / "my words", labels, images="")


@pytest.fixture
def evaluate(folder, model, run) -> Run:
    """Runs the command on the folder with the small model."""
    return lambda *options: run("evaluate", folder, *options, *model)


def test_page_and_sheet(evaluate, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, _, err = evaluate("--sheet", "new/worst.jpg", "--markdown", "docs/report.md")
    assert (code, err) == (0, "")
    page = Path("docs/report.md").read_text(encoding="utf-8")
    assert "# How well small reads\n" in page
    command = "vit-str evaluate 'my words' --model small --markdown docs/report.md\n"
    assert f"```text\n{command}```" in page
    assert str(tmp_path) not in page
    assert "](" not in page
    with Image.open("new/worst.jpg") as sheet:
        assert sheet.format == "JPEG"
        assert sheet.width == 3 * 262


def test_against_another_model(evaluate, weights, tmp_path, small_recognizer):
    other = tmp_path / "other.safetensors"
    save_weights(
        other, small_recognizer(seed=1), weights.charset, weights.preprocessing, {}
    )
    page = tmp_path / "page.md"
    code, out, _ = evaluate("--against", other, "--markdown", page)
    assert code == 0
    assert "only other  only small  McNemar p" in out
    assert "small minus other" in out
    text = page.read_text(encoding="utf-8")
    assert "## small against other" in text
    assert "--against other" in text
    values = json.loads(evaluate("--against", other, "--json")[1])
    assert values["against"]["overall"]["n"] == 3
    differences = values["comparison"]["differences"]
    assert differences["word_accuracy_full"]["my words"]["n"] == 3


def test_other_formats(evaluate, folder, model, tmp_path, run):
    values = json.loads(evaluate("--json")[1])
    expected = values["overall"]
    assert values["sets"] == {"my words": expected}
    words = [
        LabeledWord((folder / f"{number}.png").read_bytes(), label)
        for number, label in ((1, "Hotel"), (2, "EXIT"), (3, "42"))
    ]
    with TarWriter(tmp_path / "words.tar", Layout()) as writer:
        writer.add([*words, LabeledWord(b"damaged", "x")])
    sheet = tmp_path / "worst.png"
    path = tmp_path / "words.tar"
    code, out, err = run("evaluate", path, "--json", "--sheet", sheet, *model)
    assert (code, err.count("\n")) == (1, 1)
    assert err.startswith(f"vit-str: {path}: ")
    assert "not an image that can be read" in err
    found = json.loads(out)["sets"]["words.tar"]
    assert (found["n"], found["unreadable"]) == (4, 1)
    assert found["breakdown"]["height"] == expected["breakdown"]["height"]
    with Image.open(sheet) as picture:
        assert picture.width == 3 * 262
    (folder / "2.png").unlink()
    code, _, err = evaluate()
    assert (code, err.count("\n")) == (1, 1)
    assert err.startswith(f"vit-str: {folder}: 2.png: image missing (no such file in ")


def test_labels_that_would_silently_make_everything_wrong(evaluate, folder):
    """A third column is no part of a label, and quotes around all labels are told of."""
    rows = {"1.png": "Hotel", "2.png": "EXIT", "3.png": "42"}
    write = (folder / "labels.tsv").write_text
    write("".join(f"{name}\t{label}\tlatin\n" for name, label in rows.items()))
    code, _, err = evaluate()
    assert code == 1
    assert (
        "labels.tsv, line 1: entry damaged (expected 2 columns with tabs, found 3; if"
        in err
    )
    assert "holds no word to judge" in err
    write(
        "file\tlabel\tscript\n"
        + "".join(f"{n}\t{row}\tlatin\n" for n, row in rows.items())
    )
    assert evaluate("--json")[0] == 0
    assert json.loads(evaluate("--json")[1])["overall"]["n"] == 3
    write("".join(f'{name}\t"{label}"\n' for name, label in rows.items()))
    code, _, err = evaluate()
    assert code == 0
    assert err == (
        "vit-str: my words: 3 of 3 labels are in quotes, which count as characters; only .csv "
        "files have quotes around labels\n"
    )


def test_a_folder_without_words_is_no_success(evaluate, folder):
    (folder / "labels.tsv").write_text("")
    code, _, err = evaluate()
    assert code == 2
    assert err.endswith("holds no labeled words; check the path and the labels\n")


@pytest.mark.parametrize(
    ("options", "exit_code", "trouble"),
    [
        (
            ["--sheet", "sheet.txt"],
            2,
            "a name that ends in .png, .jpg or .webp, found sheet.txt",
        ),
        (["--markdown", "taken/x.md"], 1, "taken: File exists"),
        (["more"], 2, "found no data set there; looked for labels.tsv"),
    ],
)
def test_what_cannot_be_used_is_reported_before_reading(
    options, exit_code, trouble, evaluate, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    Path("taken").write_text("a file")
    Path("more").mkdir()
    monkeypatch.setattr(command, "load", lambda *_, **__: pytest.fail("too late"))
    code, out, err = evaluate(*options)
    assert (code, out, err.count("\n")) == (exit_code, "", 1)
    assert trouble in err


def test_labels_and_lists_are_not_written_over(evaluate, folder, tmp_path):
    labels = folder / "labels.tsv"
    before = labels.read_bytes()
    words = tmp_path / "words.txt"
    words.write_text("Hotel\n")
    for path, options in ((labels, ()), (words, ("--lexicon", words))):
        code, out, err = evaluate("--markdown", path, *options)
        assert (code, out) == (2, "")
        assert f"--markdown {path} is read itself; give another file" in err
    assert labels.read_bytes() == before


def test_results_stay_when_a_file_cannot_be_written_after_all(
    evaluate, tmp_path, monkeypatch
):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    page = tmp_path / "page.md"
    code, out, err = evaluate("--markdown", page)
    assert code == 1
    assert out.startswith("set ")
    assert "No space left on device" in err
    assert not page.exists()
    assert not list(tmp_path.glob(".page*"))
