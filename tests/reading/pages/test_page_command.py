"""``vit-str read --page`` and ``vit-str evaluate --page``, with a detector that knows the lines."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image

from vit_str.cli import main
from vit_str.reading.pages import reader as pages_reader

Drawn = tuple[Image.Image, Any]


@pytest.fixture
def picture(drawn: Drawn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    image, detector = drawn
    monkeypatch.setattr(pages_reader, "RapidDetector", lambda: detector)
    (tmp_path / "images").mkdir()
    image.save(tmp_path / "images" / "page.png")
    return tmp_path / "images" / "page.png"


def test_the_text_of_a_page(
    picture: Path, lines: Sequence[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["read", "--page", str(picture)]) == 0
    assert capsys.readouterr().out.splitlines() == list(lines)


def test_several_files_of_which_some_cannot_be_read(
    picture: Path, lines: Sequence[str], capsys: pytest.CaptureFixture[str]
) -> None:
    (picture.parent / "bad.png").write_bytes(b"nothing")
    assert main(["read", "--page", str(picture.parent)]) == 1
    output = capsys.readouterr()
    assert output.out.splitlines()[:2] == [f"==> {picture} <==", lines[0]]
    assert "bad.png: not an image" in output.err


def test_every_page_of_a_tiff_file(
    picture: Path, drawn: Drawn, lines: Sequence[str], capsys: pytest.CaptureFixture[str]
) -> None:
    path = picture.with_name("pages.tiff")
    drawn[0].save(path, save_all=True, append_images=[drawn[0]])
    assert main(["read", "--page", str(path), "--format", "jsonl"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(row["page"], row["text"]) for row in rows] == [(n, "\n".join(lines)) for n in (1, 2)]
    word = rows[0]["words"][0]
    assert word["text"] == "Museum" and len(word["polygon"]) == 4
    assert len(word["characters"]) == 6 and len(word["characters"][0]["box"]) == 4


def test_pages_of_a_pdf_file(
    picture: Path, drawn: Drawn, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("pypdfium2")
    path = picture.with_name("page.pdf")
    drawn[0].save(path, resolution=200)
    assert main(["read", "--page", str(path)]) == 0
    assert "Museum" in capsys.readouterr().out
    path.write_bytes(b"%PDF-nothing")
    assert main(["read", "--page", str(path)]) == 1
    assert "a damaged or locked PDF file" in capsys.readouterr().err


def test_hocr_is_well_formed_and_has_the_words(
    picture: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["read", "--page", str(picture), "--format", "hocr"]) == 0
    text = capsys.readouterr().out
    root = ElementTree.fromstring(text.partition("?>")[2].partition(">")[2])  # noqa: S314 (ours)
    words = [e for e in root.iter() if e.get("class") == "ocrx_word"]
    assert [word.text for word in words][:2] == ["Museum", "station"]
    assert all(word.get("title", "").startswith("bbox ") for word in words)


def test_a_folder_of_results_is_not_written_twice(
    picture: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    command = ["read", "--page", str(picture.parent), "--out", str(out)]
    command += ["--overlay", str(tmp_path / "seen")]
    assert main(command) == 0
    (written,) = out.iterdir()
    assert written.name == "page.png.txt" and written.read_text().startswith("Museum station")
    with Image.open(tmp_path / "seen" / "page.png") as overlay:
        assert np.asarray(overlay).std(axis=2).max() > 20  # colors on black and white
    written.write_text("kept")
    assert main(command) == 0
    assert written.read_text() == "kept" and "1 files are read already" in capsys.readouterr().err


def test_what_needs_pages_is_refused_without(
    picture: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["read", str(picture), "--overlay", "seen"]) == 2
    assert main(["read", str(picture), "--format", "hocr"]) == 2
    assert main(["read", "--page", str(picture), "--format", "csv"]) == 2
    errors = capsys.readouterr().err.splitlines()
    assert ["needs --page" in error for error in errors] == [True, True, False]


def _label(picture: Path, detector: Any, words: Callable[[int], list[str]]) -> None:
    """Label every drawn line as one word, or as the words given."""
    folder = picture.parent.with_name("labels")
    folder.mkdir(exist_ok=True)
    rows = []
    for number, box in enumerate(detector.boxes):
        corners = ",".join(str(round(value)) for value in box.ravel())
        rows.append(f"{corners},{' '.join(words(number))}")
    (folder / f"{picture.stem}.txt").write_text("\n".join(rows))


def test_pages_are_evaluated(
    picture: Path, drawn: Drawn, lines: Sequence[str], capsys: pytest.CaptureFixture[str]
) -> None:
    _label(picture, drawn[1], lambda number: lines[number].split())
    folder = str(picture.parents[1])
    assert main(["evaluate", "--page", folder, "--json"]) == 0
    values = json.loads(capsys.readouterr().out)
    assert values["labels_are_lines"] and values["pictures"] == 1
    assert values["bag_of_words"]["harmonic_mean"] == 1.0
    assert main(["evaluate", "--page", folder]) == 0
    assert "bag of words       100.0   100.0          100.0" in capsys.readouterr().out


def test_pages_are_compared_and_the_worst_shown(
    picture: Path, drawn: Drawn, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _label(picture, drawn[1], lambda number: ["wrong"])
    sheet = tmp_path / "worst.png"
    command = ["evaluate", "--page", str(picture.parents[1]), "--against", "tiny"]
    assert main([*command, "--sheet", str(sheet)]) == 0
    output = capsys.readouterr().out
    assert "difference in end to end: +0.0 [+0.0, +0.0]" in output
    assert "read 0" in output
    with Image.open(sheet) as image:
        assert image.width > 600


def test_labels_that_are_missing_are_one_line(
    picture: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["evaluate", "--page", str(picture.parents[1])]) == 2
    assert main(["evaluate", "--page", str(tmp_path / "nowhere")]) == 2
    first, second = capsys.readouterr().err.splitlines()
    assert "found no labels of page.png" in first and "expected pictures in" in second
