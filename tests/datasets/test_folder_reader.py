"""Folders of images, with labels in files of several kinds."""

import json
import tracemalloc
from pathlib import Path

import pytest

from vit_str.datasets import LabeledWord, Reason, Skipped, open_words
from vit_str.datasets.folder import FolderReader
from vit_str.datasets.named_images import NamedImagesReader
from vit_str.images import loading, refusals

NAMES = ("a.png", "more words/b 2.png", "더.png")


@pytest.fixture
def folder(tmp_path, words_of) -> Path:
    """Three images, one with a space in its path and one with another script."""
    for name, word in zip(NAMES, words_of(3), strict=True):
        path = tmp_path / "crops" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(word.image)
    return tmp_path / "crops"


def labels(source: FolderReader) -> list[str]:
    words = list(source)
    assert all(isinstance(word, LabeledWord) for word in words), words
    return [word.label for word in words if isinstance(word, LabeledWord)]


FILES = {
    "labels.tsv": "a.png\tone\nmore words/b 2.png\ttwo\n더.png\t셋\n",
    "gt.txt": "a.png\tone\nmore words\\b 2.png\ttwo\n더.png\t셋",
    "labels.csv": "a.png,one\nmore words/b 2.png,two\n더.png,셋\n",
    "metadata.csv": ",file_name,width,text\n0,a.png,3,one\n"
    "1,more words/b 2.png,3,two\n2,더.png,4,셋\n",
    "labels.txt": "id\tpath\tlabel\n0\ta.png\tone\n1\tmore words/b 2.png\ttwo\n2\t더.png\t셋\n",
    "metadata.jsonl": '{"file_name": "a.png", "text": "one"}\n'
    '{"word": "two", "path": "more words/b 2.png"}\n'
    '{"file_name": "더.png", "text": "\\uc14b"}\n',
}


@pytest.mark.parametrize("name", FILES)
def test_label_files(name, folder, words_of):
    (folder / name).write_text(FILES[name], encoding="utf-8")
    source = open_words(folder)
    assert isinstance(source, FolderReader)
    words = [word for word in source if isinstance(word, LabeledWord)]
    assert [(word.image, word.label) for word in words] == [
        (word.image, label)
        for word, label in zip(words_of(3), ("one", "two", "셋"), strict=True)
    ]
    assert len(source) == 3
    assert list(open_words(folder / name)) == list(source)


EXACT = (
    " lead and trail  ",
    "tab\tinside",
    'said "hi", he',
    '"quoted"',
    "back\\slash",
    "nai\u0308ve",  # two code points
    "한글",
    "\u1112\u1161\u11ab",  # the letters of one syllable
    "ﬁ",
    "x\u00a0y\u3000",
    "'",
    "1,984.50",
)


@pytest.mark.parametrize(("mark", "end"), [("", "\n"), ("\ufeff", "\r\n")])
@pytest.mark.parametrize(
    "kind", ["labels.tsv", "labels.csv", "metadata.csv", "labels.jsonl"]
)
def test_labels_are_never_changed(kind, mark, end, folder):
    written = [label for label in EXACT if kind != "labels.tsv" or "\t" not in label]
    lines = {
        "labels.tsv": [f"a.png\t{label}" for label in written],
        "labels.csv": [
            f'a.png,"{label.replace(chr(34), chr(34) * 2)}"' for label in EXACT
        ],
        "metadata.csv": [
            "file_name,text",
            *(f'a.png,"{label.replace(chr(34), chr(34) * 2)}"' for label in EXACT),
        ],
        "labels.jsonl": [
            json.dumps({"file": "a.png", "label": label}) for label in EXACT
        ],
    }[kind]
    (folder / kind).write_bytes((mark + end.join(lines) + end).encode())
    assert labels(FolderReader(folder)) == written


def test_a_third_column_is_no_part_of_the_label(folder):
    """Nobody would see why nothing is read right."""
    (folder / "labels.tsv").write_text("a.png\tone\tlatin\na.png\ttwo\n")
    third, good = FolderReader(folder)
    assert isinstance(third, Skipped)
    assert third.detail == (
        "expected 2 columns with tabs, found 3; if there are more, name them in the first line"
    )
    assert isinstance(good, LabeledWord)
    (folder / "labels.tsv").write_text("file\tlabel\tscript\na.png\tone\tlatin\n")
    assert labels(FolderReader(folder)) == ["one"]


def test_names_that_lead_out_of_the_folder(folder, words_of):
    """A label file of somebody else could name any file of this machine."""
    (folder / "truth").mkdir()
    names = ["../a.png", str(folder / "a.png"), "more/../../a.png", "..\\a.png"]
    (folder / "truth" / "labels.tsv").write_text(
        "".join(f"{name}\tone\n" for name in names)
    )
    words = list(FolderReader(folder / "truth"))
    assert [word.reason for word in words if isinstance(word, Skipped)] == [
        Reason.OUTSIDE
    ] * 4
    assert FolderReader(folder / "truth").files().missing == names
    (folder / "truth" / "labels.tsv").write_text(
        f"a.png\tone\n{folder / 'a.png'}\ttwo\n"
    )
    assert labels(FolderReader(folder / "truth", images=folder)) == ["one", "two"]
    (folder / "labels.tsv").write_text(
        f"{folder / 'a.png'}\tone\nmore words/../a.png\ttwo\n"
    )
    assert labels(FolderReader(folder)) == ["one", "two"]


def test_spaces_and_quotes_of_csv(folder):
    (folder / "labels.csv").write_text(
        'a.png, x \na.png,5" pipe\na.png,"open\na.png,two,three\na.png,last\n'
    )
    words = list(FolderReader(folder))
    assert [w.label for w in words if isinstance(w, LabeledWord)] == [
        " x ",
        '5" pipe',
        "last",
    ]
    skipped = [w for w in words if isinstance(w, Skipped)]
    assert [(each.name, each.reason) for each in skipped] == [
        ("labels.csv, line 3", Reason.DAMAGED),
        ("labels.csv, line 4", Reason.DAMAGED),
    ]
    assert "needs quotes" in skipped[1].detail


def test_words_that_cannot_be_handed_out(folder):
    (folder / "dir.png").mkdir()
    (folder / "labels.tsv").write_bytes(
        b"\n a.png \tfine\n\n  \nnone.png\tx\ndir.png\tx\na.png\tcaf\xe9\nno tab\na.png\t\n"
    )
    words = list(FolderReader(folder))
    assert [
        word.reason if isinstance(word, Skipped) else word.label for word in words
    ] == [
        "fine",
        Reason.MISSING,
        Reason.MISSING,
        Reason.NOT_UTF8,
        Reason.DAMAGED,
        "",  # rules say that this is no label
    ]
    by_line = [
        word.name for word in words if isinstance(word, Skipped) and "line" in word.name
    ]
    assert by_line == ["labels.tsv, line 7", "labels.tsv, line 8"]


def test_names_that_are_too_long_are_of_no_file(folder):
    (folder / "labels.tsv").write_text("x" * 300 + ".png\ttoo long\na.png\tfine\n")
    first, second = FolderReader(folder)
    assert first.reason == Reason.MISSING and second.label == "fine"


def test_files_that_are_larger_than_any_image_are_not_read(folder, monkeypatch):
    for module in (loading, refusals):
        monkeypatch.setattr(module, "MAX_BYTES", 2_000_000)
    with (folder / "a.png").open("r+b") as file:
        file.truncate(2_000_001)
    (folder / "labels.tsv").write_text("a.png\tone\n")
    for source in (FolderReader(folder), NamedImagesReader(folder)):
        found = source[0]
        assert isinstance(found, Skipped)
        assert str(found).endswith("cannot be read (larger than 2 million bytes)")


@pytest.mark.parametrize("name", ["labels.tsv", "labels.csv", "labels.jsonl"])
def test_a_line_without_an_end_is_one_that_is_damaged(name, folder):
    rows = {
        "labels.tsv": "a.png\tfine",
        "labels.csv": "a.png,fine",
        "labels.jsonl": '{"file": "a.png", "text": "fine"}',
    }
    row = rows[name]
    with (folder / name).open("wb") as file:
        file.write(f"{row}\n".encode())
        file.truncate(100_000_000)  # zeros
        file.seek(0, 2)
        file.write(f"\n{row}\n".encode())
    tracemalloc.start()
    first, damaged, last = FolderReader(folder)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert [first.label, last.label] == ["fine", "fine"]
    assert (
        str(damaged) == f"{name}, line 2: entry damaged (longer than 1,048,576 bytes)"
    )
    assert peak < 20_000_000


@pytest.mark.parametrize("first", ['"path,text', f"path,{'x' * 200_000}"])
def test_a_first_line_that_is_no_csv(first, folder):
    (folder / "labels.csv").write_text(f"{first}\na.png,fine\n")
    damaged, word = FolderReader(folder)
    assert (damaged.name, damaged.reason) == ("labels.csv, line 1", Reason.DAMAGED)
    assert word.label == "fine"


def test_json_lines_that_cannot_be_handed_out(folder):
    lines = [
        '{"file": "a.png", "label": "fine"}',
        '{"file": "a.png", "label": 1984}',
        '{"file": "a.png", "label": 7, "text": "fine too"}',
        '{"file": "a.png"}',
        '{"label": "x"}',
        '["a.png", "x"]',
        '{"file": "a.png", "label": "half',
        "[" * 100_000,
    ]
    (folder / "labels.jsonl").write_text("\n".join(lines))
    words = list(FolderReader(folder))
    assert [isinstance(word, LabeledWord) for word in words] == [
        True,
        False,
        True,
        *[False] * 5,
    ]
    reasons = [word.reason for word in words if isinstance(word, Skipped)]
    assert reasons == [Reason.DAMAGED] * 6


def test_what_cannot_be_a_data_set(tmp_path, folder):
    with pytest.raises(ValueError, match="no such file; check"):
        FolderReader(tmp_path / "nowhere")
    with pytest.raises(ValueError, match=r"found no label file \(labels\.tsv"):
        FolderReader(folder)


def test_boxes_are_only_taken_for_their_own_image(folder):
    (folder / "labels.tsv").write_text(
        "a.png\tone\n더.png\t셋\na.png\tthree\n", encoding="utf-8"
    )
    boxes = [[1.0, 2.0, 3.0, 4.0]] * 3
    rows = [
        {"image": name, "label": "x", "boxes": boxes} for name in ("a.png", "b.png")
    ]
    (folder / "boxes.jsonl").write_text("\n".join(map(json.dumps, rows)))
    found = [
        len(word.boxes)
        for word in FolderReader(folder)
        if isinstance(word, LabeledWord)
    ]
    assert found == [3, 0, 0]


def test_files_are_those_of_the_words(folder):
    (folder / "images").mkdir()
    (folder / "a.png").rename(folder / "images" / "a.png")
    text = (
        '\ufeffa.png\t x y \r\n\r\nmore words/b 2.png\t"two"\r\n더.png\t\nnone.png\tz'
    )
    (folder / "labels.tsv").write_bytes(text.encode())
    images = FolderReader(folder).files()
    words = [word for word in FolderReader(folder) if isinstance(word, LabeledWord)]
    assert images.labels == [word.label for word in words] == [" x y ", '"two"', ""]
    assert [path.read_bytes() for path in images.paths] == [
        word.image for word in words
    ]
    assert images.missing == ["none.png"]
