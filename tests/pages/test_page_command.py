"""``vit-str read --page`` and ``vit-str evaluate --page``, with a detector that knows the lines."""

import errno
import json
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
from hostile_files import pdf_of_image

from vit_str.pages import reader as pages_reader


@pytest.fixture
def picture(drawn, tmp_path, monkeypatch) -> Path:
    image, detector = drawn
    monkeypatch.setattr(pages_reader, "open_detector", lambda *_: detector)
    (tmp_path / "images").mkdir()
    image.save(tmp_path / "images" / "page.png")
    return tmp_path / "images" / "page.png"


def test_the_text_of_a_page(picture, lines, run):
    code, out, _ = run("read", "--page", picture)
    assert (code, out.splitlines()) == (0, list(lines))
    (picture.parent / "bad.png").write_bytes(b"nothing")
    code, out, err = run("read", "--page", picture.parent)
    assert (code, out.splitlines()[:2]) == (1, [f"==> {picture} <==", lines[0]])
    assert "bad.png: not an image" in err


def test_every_page_of_a_tiff_file(picture, drawn, lines, run):
    path = picture.with_name("pages.tiff")
    drawn[0].save(path, save_all=True, append_images=[drawn[0]])
    code, out, _ = run("read", "--page", path, "--format", "jsonl")
    rows = [json.loads(line) for line in out.splitlines()]
    assert [(row["page"], row["text"]) for row in rows] == [
        (n, "\n".join(lines)) for n in (1, 2)
    ]
    word = rows[0]["words"][0]
    assert code == 0 and word["text"] == "Museum" and len(word["polygon"]) == 4
    assert len(word["characters"]) == 6 and len(word["characters"][0]["box"]) == 4


def test_some_pages_of_a_file(picture, drawn, run):
    path = picture.with_name("pages.tiff")
    blank = Image.new("RGB", drawn[0].size, "white")
    drawn[0].save(path, save_all=True, append_images=[blank, drawn[0]])
    command = ["read", "--page", path, "--format", "jsonl"]
    code, out, _ = run(*command, "--pages", "3-")
    assert (code, [json.loads(line)["page"] for line in out.splitlines()]) == (0, [3])
    code, out, err = run(*command, "--pages", "9")
    assert (code, out) == (1, "") and "none of the pages that are asked for" in err
    code, _, err = run(*command, "--pages", "5-3")
    assert code == 2 and "expected pages such as 3, 3-5 or 2,7-, found '5-3'" in err
    code, out, _ = run("read", "--page", path, "--pages", "1", "--format", "md")
    assert (code, out.split()[:2]) == (0, ["Museum", "station"])


def test_overlays_are_not_among_the_pictures(picture, run):
    """They would be read the next time."""
    for overlay in (picture.parent, picture.parent / "seen"):
        code, out, err = run("read", "--page", picture.parent, "--overlay", overlay)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert f"--overlay lies in {picture.parent}, which is read" in err
        assert picture.parent == overlay or not overlay.exists()


def test_another_detector_is_a_file_or_one_line_of_what_to_do(
    picture, drawn, lines, run, monkeypatch
):
    code, out, err = run("read", "--page", picture, "--detector", "nowhere.onnx")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "--detector nowhere.onnx: no such file; give auto, ours, rapidocr, or" in err
    code, _, err = run("read", picture, "--detector", "nowhere.onnx")
    assert code == 2 and "--detector needs --page" in err
    own = picture.parent.parent / "finder.onnx"
    own.write_bytes(b"known lines")
    opened = []

    def open_detector(name: str) -> object:
        opened.append(name)
        return drawn[1]

    monkeypatch.setattr(pages_reader, "open_detector", open_detector)
    code, out, _ = run("read", "--page", picture, "--detector", own)
    assert (code, out.splitlines(), opened) == (0, list(lines), [str(own)])


@pytest.mark.parametrize("lacking", [0, 1, 1200])
def test_pictures_that_another_detector_is_for_are_told(picture, drawn, run, lacking):
    drawn[1].lacking = lacking
    _, _, err = run("read", "--page", picture)
    assert err.count("\n") == bool(lacking)
    told = {0: "", 1: "a picture has little print", 1200: "1,200 pictures have little"}
    assert told[lacking] in err


def test_pages_do_not_come_through_standard_input(run):
    code, out, err = run("read", "--page", "-")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "--page reads no standard input; give a file" in err


def test_pages_whose_image_cannot_be_drawn_are_told(picture, run):
    pytest.importorskip("pypdfium2")
    path = picture.with_name("scan.pdf")
    path.write_bytes(pdf_of_image(b"JPXDecode", b"garbage"))
    code, out, err = run("read", "--page", path)
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert f"{path}: page 1 cannot be drawn (its image is damaged" in err
    path.write_bytes(pdf_of_image(b"JPXDecode", b"garbage", text=b"Hello"))
    code, _, err = run("read", "--page", path)
    assert code == 0
    assert (
        f"{path}: page 1 is read without what PDFium cannot decode: an image\n" in err
    )


def test_a_file_that_says_it_has_very_many_pages_does_not_fill_the_screen(picture, run):
    pytest.importorskip("pypdfium2")
    path = picture.with_name("scan.pdf")
    scan = pdf_of_image(b"JPXDecode", b"garbage")
    path.write_bytes(scan.replace(b"/Count 1/Kids", b"/Count 60/Kids"))
    code, out, err = run("read", "--page", path)
    assert (code, out, err.count("\n")) == (1, "", 21)
    assert err.endswith(f"{path}: 40 more pages cannot be read\n")


def test_hocr_is_well_formed_and_has_the_words(picture, run):
    code, text, _ = run("read", "--page", picture, "--format", "hocr")
    root = ElementTree.fromstring(text.partition("?>")[2].partition(">")[2])  # noqa: S314 (ours)
    words = [e for e in root.iter() if e.get("class") == "ocrx_word"]
    assert code == 0 and [word.text for word in words][:2] == ["Museum", "station"]
    assert all(word.get("title", "").startswith("bbox ") for word in words)


def test_a_folder_of_results_is_written_again_only_where_it_is_stale(
    picture, tmp_path, run
):
    out, seen = tmp_path / "out", tmp_path / "seen"
    command = ["read", "--page", picture.parent, "--out", out, "--overlay", seen]
    code, printed, _ = run(*command)
    assert code == 0 and "1 files, 1 pages and 7 words read" in printed
    (written,) = out.glob("*.txt")
    text = written.read_text()
    assert written.name == "page.png.txt" and text.startswith("Museum station")
    with Image.open(seen / "page.png.png") as overlay:
        assert np.asarray(overlay).std(axis=2).max() > 20  # colors on black and white
    written.write_text("kept")
    code, _, err = run(*command)
    assert (
        code == 0
        and written.read_text() == "kept"
        and "1 files are read already" in err
    )

    code, _, err = run(*command, "--min-confidence", "0.1")
    assert code == 0 and "1 files are read again" in err and written.read_text() == text
    code, _, err = run(*command, "--min-confidence", "0.1", "--language", "none")
    assert code == 0 and "1 files are read again" in err
    written.write_text("kept")
    with Image.open(picture) as image:
        image.crop((0, 0, image.width, 90)).save(picture)
    code, _, err = run(*command, "--min-confidence", "0.1")
    assert (
        code == 0 and "1 files are read again" in err and written.read_text() != "kept"
    )


def test_a_second_run_says_what_is_there(picture, tmp_path, run):
    shutil.copy(picture, picture.with_name("a.png"))
    out = tmp_path / "out"
    command = ["read", "--page", picture.parent, "--out", out]
    assert run(*command)[0] == 0
    _, printed, _ = run(*command)
    assert printed == f"{out}: nothing new to read, 2 files are there from before\n"
    shutil.copy(picture, picture.with_name("b.png"))
    _, printed, _ = run(*command)
    assert "1 files, 1 pages and 7 words read in" in printed
    assert printed.endswith("; 2 files are there from before\n")


def test_another_detector_reads_again(picture, tmp_path, run):
    command = ["read", "--page", picture.parent, "--out", tmp_path / "out"]
    for name in ("auto", "rapidocr", "ours"):
        detector = ["--detector", name]
        assert "1 files, 1 pages and 7 words" in run(*command, *detector)[1]
        assert "nothing new to read" in run(*command, *detector)[1]
    assert "1 files, 1 pages and 7 words" in run(*command)[1]
    assert "nothing new to read" in run(*command, "--detector", "auto")[1]


def test_the_text_of_one_picture_goes_to_the_file_that_is_named(
    picture, tmp_path, lines, run
):
    book = tmp_path / "new" / "book.md"
    code, printed, _ = run("read", "--page", picture, "--out", book)
    assert code == 0 and printed.startswith(f"{book}: 1 files, 1 pages")
    assert lines[0] in book.read_text()
    assert [path.name for path in book.parent.iterdir()] == ["book.md"]
    book.write_text("old")
    assert run("read", "--page", picture, "--out", book, "--format", "jsonl")[0] == 0
    assert json.loads(book.read_text())["path"] == str(picture)
    folder = tmp_path / "texts.md"
    command = ["read", "--page", picture.parent, "--format", "md", "--out"]
    assert run(*command, f"{folder}/")[0] == 0
    assert (folder / "page.png.md").is_file()
    for option in ("--out", "--overlay"):
        code, _, err = run("read", "--page", picture.parent, option, book)
        assert (code, err.count("\n")) == (2, 1)
        assert f"{book} is a file; give a folder" in err


def test_results_of_files_of_one_name_are_kept_apart(picture, tmp_path, run):
    out, seen = tmp_path / "out", tmp_path / "seen"
    paths = [tmp_path / name for name in ("a/w.png", "b/w.png", "a/w.jpg")]
    for path in paths:
        path.parent.mkdir(exist_ok=True)
        with Image.open(picture) as image:
            image.save(path)
    for some in (paths[:1], paths[1:]):  # also in runs of their own
        assert run("read", "--page", *some, "--out", out, "--overlay", seen)[0] == 0
    other = str(paths[1]).strip("/").replace("/", "__")
    names = {"w.png", other, "w.jpg"}
    assert {path.name for path in out.glob("*.txt")} == {
        f"{name}.txt" for name in names
    }
    assert {path.name for path in seen.glob("*.png")} == {
        f"{name}.png" for name in names
    }


@pytest.mark.parametrize("length", [201, 245, 251])
def test_a_long_name_has_results_under_a_shorter_one(length, picture, tmp_path, run):
    names = ["x" * (length - 4) + ".png", "é" * (length // 2 - 2) + ".png"]
    for name in names:
        shutil.copy(picture, picture.with_name(name))
    out, seen = tmp_path / "out", tmp_path / "seen"
    command = ["read", "--page", picture.parent, "--out", out, "--overlay", seen]
    code, printed, err = run(*command)
    assert (code, err) == (0, "") and "3 files" in printed
    assert len(list(out.glob("*.txt"))) == len(list(seen.glob("*.png"))) == 3
    assert all(len(os.fsencode(path.name)) <= 210 for path in out.iterdir())
    code, _, err = run(*command)
    assert code == 0 and "3 files are read already" in err


def test_a_result_that_cannot_be_written_stops_no_other(picture, tmp_path, run):
    shutil.copy(picture, picture.with_name("a.png"))
    out = tmp_path / "out"
    (out / "a.png.txt").mkdir(parents=True)  # a folder stands where the text should
    command = ["read", "--page", picture.parent, "--out", out]
    code, printed, err = run(*command)
    assert (
        code == 1
        and "1 files with errors" in printed
        and "a.png: its result cannot" in err
    )
    assert (out / "page.png.txt").read_text().startswith("Museum")
    (out / "a.png.txt").rmdir()
    assert run(*command)[0] == 0 and (out / "a.png.txt").is_file()


def test_a_full_disk_stops_at_once(picture, tmp_path, run, monkeypatch):
    shutil.copy(picture, picture.with_name("a.png"))

    def fail(path):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))

    monkeypatch.setattr("vit_str.pages.write.formats.write_atomically", fail)
    code, _, err = run("read", "--page", picture.parent, "--out", tmp_path / "out")
    assert code == 1 and err.count("No space left on device") == 1


@pytest.mark.skipif(
    sys.platform != "linux", reason="other systems have names in Unicode only"
)
@pytest.mark.parametrize("name", ["text", "jsonl", "hocr", "tsv", "md"])
def test_a_name_that_is_not_utf8_comes_back(name, picture, tmp_path, run):
    raw = os.fsencode(picture.parent) + b"/a\xff\\n\x85\xc3\xa9.png"
    picture.rename(os.fsdecode(raw))
    out = tmp_path / "out"
    command = ["read", "--page", os.fsdecode(raw), "--format", name]
    code, printed, _ = run(*command)
    assert code == 0
    assert run(*command, "--out", out, "--overlay", tmp_path / "seen")[0] == 0
    assert (
        "read already" in run(*command, "--out", out, "--overlay", tmp_path / "seen")[2]
    )
    (written,) = (path for path in out.iterdir() if not path.name.startswith("."))
    assert os.fsencode(written.name).startswith(b"a\xff")
    text = written.read_text(encoding="utf-8")
    assert text == printed
    if name == "jsonl":
        assert os.fsencode(json.loads(text)["path"]) == raw
    if name == "hocr":
        root = ElementTree.fromstring(text.partition("?>")[2].partition(">")[2])  # noqa: S314 (ours)
        (page,) = (e for e in root.iter() if e.get("class") == "ocr_page")
        shown = page.get("title", "").split('"')[1]
        assert shown.isprintable() and shown.endswith("/a\\xff\\\\n\\x85é.png")
        assert shown.encode().decode("unicode_escape").encode("latin-1") == raw


def test_what_needs_pages_is_refused_without(picture, run):
    for options, reason in (
        ([picture, "--overlay", "seen"], "--overlay needs --page"),
        ([picture, "--format", "hocr"], "--format hocr needs --page"),
        ([picture, "--format", "tsv"], "--format tsv needs --page"),
        ([picture, "--text-layer"], "--text-layer needs --page"),
        (["--page", picture, "--format", "parquet"], "--page writes --format"),
        (["--page", picture, "--format", "xlsx"], "is no text: give --out"),
        ([picture, "--format", "xlsx"], "--format xlsx needs --page"),
    ):
        code, _, err = run("read", *options)
        assert code == 2 and reason in err


def _label(picture: Path, detector: Any, words: Callable[[int], list[str]]) -> None:
    """Label every drawn line as one word, or as the words given."""
    folder = picture.parent.with_name("labels")
    folder.mkdir(exist_ok=True)
    rows = []
    for number, box in enumerate(detector.boxes):
        corners = ",".join(str(round(value)) for value in box.ravel())
        rows.append(f"{corners},{' '.join(words(number))}")
    (folder / f"{picture.stem}.txt").write_text("\n".join(rows))


def test_pages_are_evaluated(picture, drawn, lines, run):
    _label(picture, drawn[1], lambda number: lines[number].split())
    folder = picture.parents[1]
    values = json.loads(run("evaluate", "--page", folder, "--json")[1])
    assert values["labels_are_lines"] and values["pictures"] == 1
    assert values["bag_of_words"]["harmonic_mean"] == 1.0
    code, out, _ = run("evaluate", "--page", folder)
    assert code == 0 and "bag of words           100.0   100.0          100.0" in out


def test_pages_are_compared_and_the_worst_shown(picture, drawn, tmp_path, run):
    _label(picture, drawn[1], lambda number: ["wrong"])
    sheet = tmp_path / "worst.png"
    command = [
        "evaluate",
        "--page",
        picture.parents[1],
        "--against",
        "tiny",
        "--sheet",
        sheet,
    ]
    code, out, _ = run(*command)
    assert code == 0
    assert "difference in end to end: +0.0 [+0.0, +0.0]" in out
    assert "read 0" in out
    with Image.open(sheet) as image:
        assert image.width > 600


def test_labels_that_are_missing_are_one_line(picture, tmp_path, run):
    for folder, reason in (
        (picture.parents[1], "found no labels of page.png"),
        (tmp_path / "nowhere", "expected pictures in"),
    ):
        code, _, err = run("evaluate", "--page", folder)
        assert (code, err.count("\n"), reason in err) == (2, 1, True)


def test_names_that_cannot_be_written_are_refused_before_anything_is_read(
    picture, tmp_path, run
):
    for name in ("notes.docx", "page.jpeg", "data.json5"):
        code, out, err = run("read", "--page", picture, "--out", tmp_path / name)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert f"{name}: files are written as .txt, .jsonl, .hocr" in err
        assert f"a folder of this name is {tmp_path / name}{os.sep}" in err
    two = tmp_path / "two.txt"
    for inputs in ([picture, picture], [picture.parent]):
        code, out, err = run("read", "--page", *inputs, "--out", two)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert "two.txt is a file for one picture; give a folder" in err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["images"]
    for name in ("results", "2024.11", "notes.docx/"):
        assert run("read", "--page", picture, "--out", f"{tmp_path}/{name}")[0] == 0
        assert (tmp_path / name / "page.png.txt").is_file()


def test_a_file_that_is_read_is_not_written_over(picture, run):
    pytest.importorskip("pikepdf")
    scan = picture.with_name("scan.pdf")
    assert run("read", "--page", picture, "--out", scan)[0] == 0
    before = scan.read_bytes()
    code, _, err = run("read", "--page", scan, "--out", scan)
    assert code == 2 and "scan.pdf is read itself; give another file" in err
    assert scan.read_bytes() == before


def test_several_pictures_make_one_searchable_file(picture, lines, tmp_path, run):
    pytest.importorskip("pikepdf")
    pytest.importorskip("pypdfium2")
    shutil.copy(picture, picture.with_name("second.png"))
    book = tmp_path / "book.pdf"
    code, out, err = run("read", "--page", picture.parent, "--out", book)
    assert (code, err) == (0, "") and out.startswith(f"{book}: 2 files, 2 pages")
    code, text, _ = run("read", "--page", book, "--text-layer")
    assert code == 0 and text.split("\f")[1].split() == " ".join(lines).split()
    again = tmp_path / "again.pdf"
    code, _, err = run("read", "--page", book, "--out", again)
    assert code == 0 and "with the text that they have: 2" in err


def test_tables_of_a_page_without_any_are_told(picture, lines, tmp_path, run):
    pytest.importorskip("openpyxl")
    for name in ("bill.xlsx", "bill.csv"):
        code, _, err = run("read", "--page", picture, "--out", tmp_path / name)
        assert code == 0 and "no tables found, the lines of its text are written" in err
        assert (tmp_path / name).is_file()
    assert (tmp_path / "bill.csv").read_text("utf-8-sig").splitlines() == list(lines)
    code, out, _ = run("read", "--page", picture, "--format", "csv")
    assert code == 0 and out.splitlines() == list(lines)


def test_a_page_as_html(picture, lines, tmp_path, run):
    code, out, _ = run("read", "--page", picture, "--format", "html")
    assert code == 0 and out.startswith("<!DOCTYPE html>") and lines[0] in out
