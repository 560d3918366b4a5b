"""Documents: what was read in a file, page by page, and what it can be saved as."""

import json
import os
import pickle
import subprocess
import sys
import warnings
from dataclasses import asdict
from io import BytesIO
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image

sys.path.insert(0, str(Path(__file__).parent))
from made_pages import line, page_of, ruled_page

import vit_str
from vit_str.pages import document as documents
from vit_str.pages import reader as pages_reader
from vit_str.pages.pictures import pictures_in
from vit_str.pages.write.document_pages import unread_page
from vit_str.pages.write.html import html_document
from vit_str.pages.write.results import ENDINGS


@pytest.fixture
def scan(drawn, tmp_path) -> Path:
    """A file of two pages."""
    image, _ = drawn
    image.save(tmp_path / "scan.tiff", save_all=True, append_images=[image])
    return tmp_path / "scan.tiff"


def test_a_document_has_pages_blocks_and_words(scan, page_reader, lines):
    document = vit_str.read_document(scan, reader=page_reader)
    assert [page.number for page in document.pages] == [1, 2]
    page = document.pages[0]
    assert page.text.splitlines() == list(lines) and page.error is None
    assert [word.text for word in page.words][:2] == ["Museum", "station"]
    blocks = page.blocks
    assert [block.order for block in blocks] == list(range(len(blocks)))
    assert {block.role for block in blocks} <= {"heading", "paragraph", "running"}
    # Those of the picture, not of the page as it is read
    assert {id(word) for block in blocks for word in block.words} == {
        id(word) for word in page.words
    }
    assert all(0.5 < block.confidence <= 1 for block in blocks)
    left, top, right, bottom = blocks[0].box
    assert 0 <= left < right <= page.width and 0 <= top < bottom <= page.height
    assert lines[0] in document.markdown and "---" in document.markdown
    assert len(document.words) == 2 * len(page.words)


def test_plain_values_are_those_of_the_command_line(
    scan, page_reader, run, monkeypatch
):
    monkeypatch.setattr(pages_reader, "open_detector", lambda *_: page_reader.detector)
    code, out, _ = run("read", "--page", scan, "--format", "jsonl")
    document = vit_str.read_document(str(scan), reader=page_reader, boxes=True)
    rows = [json.loads(each) for each in out.splitlines()]
    assert code == 0 and rows == json.loads(json.dumps(document.to_dict()))["pages"]
    words = rows[0]["words"]
    for row, word in zip(words, document.pages[0].words, strict=True):
        fields = asdict(word)
        assert (row["text"], row["struck"]) == (fields["text"], fields["is_struck"])
        assert row["confidence"] == pytest.approx(fields["confidence"], abs=1e-6)
        corners = np.array(fields["polygon"])
        assert np.array(row["polygon"]) == pytest.approx(corners, abs=0.051)
        letters = [each["character"] for each in fields["characters"]]
        assert [each["character"] for each in row["characters"]] == letters
        sides = [each["box"] for each in fields["characters"]]
        assert [each["box"] for each in row["characters"]] == [
            box and pytest.approx(list(box), abs=0.051) for box in sides
        ]
    (first, *_) = rows[0]["structure"]
    texts = [words[place]["text"] for place in first["words"]]
    assert " ".join(texts) == first["text"].replace("\n", " ")


@pytest.mark.parametrize(
    "kind", ["path", "bytes", "bytearray", "file", "image", "array"]
)
def test_sources(kind, drawn, page_reader, lines, tmp_path):
    image, _ = drawn
    path = tmp_path / "page.png"
    image.save(path)
    source = {
        "path": path,
        "bytes": path.read_bytes(),
        "bytearray": bytearray(path.read_bytes()),
        "file": BytesIO(path.read_bytes()),
        "image": image,
        "array": np.asarray(image),
    }[kind]
    document = vit_str.read_document(source, reader=page_reader)
    assert document.text.splitlines() == list(lines)
    document.save(tmp_path / "searchable.pdf")
    (again,) = pictures_in(str(tmp_path / "searchable.pdf"))
    assert again.width > 100


def test_some_pages(scan, page_reader):
    for pages in ("2", 2, [2], "2-"):
        document = vit_str.read_document(scan, pages=pages, reader=page_reader)
        assert [page.number for page in document.pages] == [2]
    with pytest.raises(vit_str.UnreadableImage, match="none of the pages"):
        vit_str.read_document(scan, pages="7-", reader=page_reader)
    with pytest.raises(ValueError, match="expected pages such as"):
        vit_str.read_document(scan, pages="x", reader=page_reader)


def test_pages_come_one_by_one(scan, page_reader, lines, monkeypatch):
    seen = []
    read = page_reader.read

    def note(picture, boxes=False):
        seen.append(picture.size)
        return read(picture, boxes=boxes)

    monkeypatch.setattr(page_reader, "read", note)
    pages = vit_str.stream_pages(scan, reader=page_reader)
    assert next(pages).number == 1 and len(seen) == 1
    assert next(pages).markdown.startswith(lines[0].split()[0])
    assert list(pages) == []


def test_pages_that_cannot_be_read_say_why(scan, page_reader, monkeypatch, tmp_path):
    broken = vit_str.UnreadableImage("kept.image", "damaged")

    def one_is_broken(path, options):
        pictures = pictures_in(path, options)
        next(pictures)
        yield broken
        yield next(pictures)

    monkeypatch.setattr(documents, "pictures_in", one_is_broken)
    document = vit_str.read_document(scan, reader=page_reader)
    bad, good = document.pages
    assert (bad.number, bad.error, bad.words, bad.tables) == (1, "damaged", [], [])
    assert good.number == 2 and good.words
    rows = document.to_dict()["pages"]
    assert rows[0]["error"] == "damaged" and rows[1]["error"] is None
    for ending in ENDINGS.values():
        with warnings.catch_warnings(action="ignore"):
            document.save(tmp_path / f"out{ending}")
    monkeypatch.setattr(documents, "pictures_in", lambda *_: iter([broken]))
    with pytest.raises(vit_str.UnreadableImage, match=r"scan\.tiff: damaged"):
        vit_str.read_document(scan, reader=page_reader)
    with pytest.raises(vit_str.UnreadableImage):
        list(vit_str.stream_pages(scan, reader=page_reader))


def test_files_that_are_none(page_reader, tmp_path):
    for source in (b"nothing", tmp_path / "missing.pdf", b"%PDF-1.7 nothing"):
        with pytest.raises(vit_str.UnreadableImage):
            vit_str.read_document(source, reader=page_reader)
    with pytest.raises(ValueError, match="an image is a path"):
        vit_str.read_document(7, reader=page_reader)
    with pytest.raises(ValueError, match="give one of both"):
        vit_str.read_document(b"", reader=page_reader, language="de")


def test_what_a_document_is_saved_as(scan, page_reader, tmp_path, lines):
    document = vit_str.read_document(scan, reader=page_reader)
    for ending in (".md", ".txt", ".html", ".json", ".jsonl", ".hocr", ".tsv", ".pdf"):
        path = tmp_path / f"out{ending}"
        document.save(path)
        assert path.stat().st_size > 50
    with pytest.warns(UserWarning, match="no tables found"):
        document.save(tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text("utf-8-sig").splitlines()[0] == lines[0]
    assert json.loads((tmp_path / "out.json").read_text())["pages"][1]["page"] == 2
    with pytest.raises(
        ValueError, match=r"out\.docx: no ending of what can be written"
    ):
        document.save(tmp_path / "out.docx")


def test_a_full_disk_leaves_what_was_there(scan, page_reader, tmp_path, monkeypatch):
    document = vit_str.read_document(scan, reader=page_reader)
    for ending in (".xlsx", ".pdf", ".md"):
        path = tmp_path / f"out{ending}"
        path.write_text("before")
        with monkeypatch.context() as patch:

            def fail(_):
                raise OSError(28, "No space left on device")

            patch.setattr(os, "fsync", fail)
            with pytest.raises(OSError, match="No space left") as error:
                document.save(path)
        assert error.value.filename == str(path) and path.read_text() == "before"
        assert not list(tmp_path.glob(".*partial*"))


def test_two_processes_may_save_to_one_file(scan, page_reader, tmp_path):
    document = vit_str.read_document(scan, reader=page_reader)
    code = (
        "import pickle, sys\n"
        "document = pickle.load(open(sys.argv[1], 'rb'))\n"
        "for _ in range(20): document.save(sys.argv[2])\n"
    )
    kept = tmp_path / "document.pickle"
    kept.write_bytes(pickle.dumps(document))
    target = tmp_path / "out.pdf"
    command = [sys.executable, "-c", code, str(kept), str(target)]
    others = [subprocess.Popen(command, env={**os.environ}) for _ in range(2)]
    assert [other.wait(120) for other in others] == [0, 0]
    assert len(list(pictures_in(str(target)))) == 2
    assert not list(tmp_path.glob(".*partial*"))


def test_html_is_well_formed_and_keeps_tables():
    table = ruled_page([["Article", "Price"], ["<b>", "2 & 3"]])
    items = [line(text, 60, 100 + 40 * n) for n, text in enumerate(["- one", "- two"])]
    text = html_document(
        "a & b", [table, page_of(items, number=2), unread_page("", 3, "")]
    )
    root = ElementTree.fromstring(  # noqa: S314 (ours)
        text.removeprefix("<!DOCTYPE html>\n").replace('<meta charset="utf-8">', "")
    )
    cells = [
        "".join(cell.itertext()) for cell in root.iter() if cell.tag in ("th", "td")
    ]
    assert cells == ["Article", "Price", "<b>", "2 & 3"]
    assert [item.text.strip() for item in root.iter("li")] == ["one", "two"]
    assert len(list(root.iter("section"))) == 2


def test_tables_give_rows_and_frames():
    (table,) = ruled_page([["Article", "Price"], ["Coffee", "2,50"]]).tables
    assert table.rows == [["Article", "Price"], ["Coffee", "2,50"]]
    frame = table.to_frame()
    assert list(frame.columns) == ["Article", "Price"] and len(frame) == 1
    assert table.to_html().startswith("<table>\n<tr><th>Article</th>")


def test_page_readers_of_load_can_be_pickled(drawn, lines, monkeypatch):
    image, detector = drawn
    monkeypatch.setattr(pages_reader, "open_detector", lambda *_: detector)
    reader = vit_str.load_page(minimum_confidence=0.5)
    again = pickle.loads(pickle.dumps(reader))  # noqa: S301 (ours)
    assert again.minimum_confidence == 0.5
    assert again.read(image).text == reader.read(image).text == "\n".join(lines)
    with pytest.raises(TypeError, match=r"only readers of vit_str\.load_page"):
        pickle.dumps(pages_reader.PageReader(reader.reader, detector))


def test_a_reader_is_kept_for_the_next_document(drawn, monkeypatch):
    image, detector = drawn
    monkeypatch.setattr(pages_reader, "open_detector", lambda *_: detector)
    documents._loaded.cache_clear()
    vit_str.read_document(image)
    vit_str.read_document(Image.fromarray(np.asarray(image)))
    assert documents._loaded.cache_info().misses == 1
    documents._loaded.cache_clear()
