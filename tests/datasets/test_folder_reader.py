"""Folders of images, with labels in files of many kinds or in names."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from vit_str.datasets import LabeledWord, Reason, Skipped, open_words
from vit_str.datasets.folder import FolderReader

Words = Callable[[int], list[LabeledWord]]
NAMES = ("a.png", "more words/b 2.png", "더.png")


@pytest.fixture
def folder(tmp_path: Path, words_of: Words) -> Path:
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
    "gt.txt": "a.png\tone\nmore words/b 2.png\ttwo\n더.png\t셋",
    "labels.txt": "a.png one\n더.png 셋\n",
    "train.csv": "a.png,one\nmore words/b 2.png,two\n더.png,셋\n",
    "metadata.csv": ",file_name,width,text\n0,a.png,3,one\n"
    "1,more words/b 2.png,3,two\n2,더.png,4,셋\n",
    "labels.csv": "Filename;Words\na.png;one\nmore words/b 2.png;two\n더.png;셋\n",
    "gt.tsv": "id\tpath\tlabel\n0\ta.png\tone\n1\tmore words/b 2.png\ttwo\n2\t더.png\t셋\n",
    "metadata.jsonl": '{"file_name": "a.png", "text": "one"}\n'
    '{"text": "two", "file_name": "more words/b 2.png"}\n'
    '{"file_name": "더.png", "text": "\\uc14b"}\n',
    "other.ndjson": '{"image": "a.png", "label": "one"}\n{"path": "더.png", "word": "셋"}\n',
}


@pytest.mark.parametrize("name", FILES)
def test_label_files(name: str, folder: Path, words_of: Words) -> None:
    (folder / name).write_text(FILES[name], encoding="utf-8")
    source = open_words(folder)
    assert isinstance(source, FolderReader)
    words = {word.name: word for word in source if isinstance(word, LabeledWord)}
    expected = dict(zip(NAMES, ("one", "two", "셋"), strict=True))
    assert {each: word.label for each, word in words.items()} == {
        each: expected[each] for each in words
    }
    assert len(words) == len(source) >= 2
    assert list(open_words(folder / name)) == list(source)
    images = dict(zip(NAMES, (word.image for word in words_of(3)), strict=True))
    assert all(word.image == images[each] for each, word in words.items())


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
@pytest.mark.parametrize("kind", ["labels.tsv", "labels.csv", "titles.csv", "labels.jsonl"])
def test_labels_are_never_changed(kind: str, mark: str, end: str, folder: Path) -> None:
    lines = {
        "labels.tsv": [f"a.png\t{label}" for label in EXACT],
        "labels.csv": [f'a.png,"{label.replace(chr(34), chr(34) * 2)}"' for label in EXACT],
        "titles.csv": [
            "file_name,text",
            *(f'a.png,"{label.replace(chr(34), chr(34) * 2)}"' for label in EXACT),
        ],
        "labels.jsonl": [json.dumps({"file": "a.png", "label": label}) for label in EXACT],
    }[kind]
    (folder / kind).write_bytes((mark + end.join(lines) + end).encode())
    assert labels(FolderReader(folder)) == list(EXACT)


def test_spaces_and_quotes_of_csv(folder: Path) -> None:
    """Spaces are part of a label; that of ICDAR between comma and quote is not."""
    (folder / "labels.csv").write_text(
        'a.png, x \na.png, "Genaxis Theatre"\na.png,5" pipe\na.png,"open\na.png,two,three\n'
        "a.png,last\n"
    )
    words = list(FolderReader(folder))
    assert [w.label for w in words if isinstance(w, LabeledWord)] == [
        " x ",
        "Genaxis Theatre",
        '5" pipe',
        "last",
    ]
    skipped = [w for w in words if isinstance(w, Skipped)]
    assert [(each.name, each.reason) for each in skipped] == [
        ("labels.csv, line 4", Reason.DAMAGED),
        ("labels.csv, line 5", Reason.DAMAGED),
    ]
    assert "3" in skipped[1].detail
    assert "needs quotes" in skipped[1].detail


def test_words_that_cannot_be_handed_out(folder: Path) -> None:
    (folder / "dir.png").mkdir()
    (folder / "labels.tsv").write_bytes(
        b"\n a.png \tfine\n\n  \nnone.png\tx\ndir.png\tx\na.png\tcaf\xe9\nno tab\na.png\t\n"
        b"nul\0.png\tx\n"
    )
    words = list(FolderReader(folder))
    assert [word.reason if isinstance(word, Skipped) else word.label for word in words] == [
        "fine",
        Reason.MISSING,
        Reason.MISSING,
        Reason.NOT_UTF8,
        Reason.DAMAGED,
        "",  # rules say that this is no label
        Reason.MISSING,
    ]
    by_line = [word.name for word in words if isinstance(word, Skipped) and "line" in word.name]
    assert by_line == ["labels.tsv, line 7", "labels.tsv, line 8"]


def test_json_lines_that_cannot_be_handed_out(folder: Path) -> None:
    lines = [
        '{"file": "a.png", "label": "fine"}',
        '{"file": "a.png", "label": 1984}',
        '{"file": "a.png", "label": 7, "text": "fine too"}',
        '{"file": "a.png"}',
        '{"label": "x"}',
        '["a.png", "x"]',
        '{"file": "a.png", "label": "half',
        '{"file": "a.png", "label": "\\ud83d"}',
        "[" * 100_000,
    ]
    (folder / "labels.jsonl").write_text("\n".join(lines))
    words = list(FolderReader(folder))
    assert [isinstance(word, LabeledWord) for word in words] == [True, False, True, *[False] * 6]
    reasons = [word.reason for word in words if isinstance(word, Skipped)]
    assert reasons == [Reason.DAMAGED] * 5 + [Reason.NOT_UTF8, Reason.DAMAGED]
    assert "1984" in words[1].detail  # type: ignore[union-attr]


def test_images_from_another_folder(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "gt.txt").write_text("a.png\tone\n")
    assert labels(FolderReader(tmp_path / "gt.txt", images=folder)) == ["one"]
    (tmp_path / "gt.txt").write_text(f"{folder / 'a.png'}\tone\n")
    assert labels(FolderReader(tmp_path / "gt.txt")) == ["one"]


@pytest.mark.parametrize(
    "name", ["../secret.png", "images/../../secret.png", "..\\secret.png", "{}"]
)
def test_images_outside_the_folder_are_read_only_if_asked(name: str, tmp_path: Path) -> None:
    (tmp_path / "secret.png").write_bytes(b"secret")
    (tmp_path / "set" / "images").mkdir(parents=True)
    name = name.format(tmp_path / "secret.png")
    (tmp_path / "set" / "labels.tsv").write_text(f"{name}\tx\n")
    (word,) = FolderReader(tmp_path / "set")
    assert isinstance(word, Skipped) and word.reason is Reason.MISSING
    assert "leads out of" in word.detail
    assert labels(FolderReader(tmp_path / "set", images=tmp_path / "set")) == ["x"]


def test_names_as_labels(tmp_path: Path, words_of: Words) -> None:
    image = words_of(1)[0].image
    names = ("Open.png", "Open_2.JPG", "sub/a_b_17.webp", "sub/1984.png", "가_0.png", "x y_3.png")
    for name in (*names, ".hidden.png", "._Open.png", "notes.txt", ".git/x.png"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(image)
    source = open_words(tmp_path)
    assert isinstance(source, FolderReader)
    assert len(source) == 6
    assert {word.name.replace(os.sep, "/"): word.label for word in source} == {  # type: ignore[union-attr]
        "Open.png": "Open",
        "Open_2.JPG": "Open",
        "sub/a_b_17.webp": "a_b",
        "sub/1984.png": "1984",
        "가_0.png": "가",
        "x y_3.png": "x y",
    }


def test_names_that_are_no_labels_are_refused(tmp_path: Path, words_of: Words) -> None:
    for number in range(12):
        (tmp_path / f"IMG_{number}.png").write_bytes(words_of(1)[0].image)
    with pytest.raises(ValueError, match=r"all images say 'IMG': put labels\.tsv"):
        open_words(tmp_path)


def test_a_folder_of_data_sets_is_refused(folder: Path) -> None:
    (folder / "more words" / "labels.tsv").write_text("b 2.png\ttwo\n")
    with pytest.raises(ValueError, match=r"has no label file, but .*labels\.tsv is one: give"):
        open_words(folder)


def test_what_cannot_be_a_data_set(tmp_path: Path, folder: Path) -> None:
    with pytest.raises(ValueError, match="no such file; check"):
        FolderReader(tmp_path / "nowhere")
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match="no label file and no images"):
        FolderReader(tmp_path / "empty")
    for name in ("x.csv", "y.tsv"):
        (folder / name).write_text("a.png,one\n".replace(",", "\t" if name == "y.tsv" else ","))
    with pytest.raises(ValueError, match=r"several label files \(x\.csv, y\.tsv\)"):
        FolderReader(folder)
    (folder / "x.csv").write_text("a.png,one,0\na.png,two,1\n")
    with pytest.raises(ValueError, match="found 3 columns and no titles"):
        FolderReader(folder / "x.csv")
    (folder / "y.tsv").write_bytes("a.png\tone\n".encode("utf-16"))
    with pytest.raises(ValueError, match="UTF-16; save it as UTF-8"):
        FolderReader(folder / "y.tsv")
    (folder / "labels.tsv").write_text("only names\nin this file\n")
    with pytest.raises(ValueError, match=r"labels\.tsv, line 1.*expected the image, a tab"):
        FolderReader(folder)


def test_boxes_are_only_taken_for_their_own_image(folder: Path) -> None:
    (folder / "labels.tsv").write_text("a.png\tone\n더.png\t셋\na.png\tthree\n", encoding="utf-8")
    boxes = [[1.0, 2.0, 3.0, 4.0]] * 3
    rows = [{"image": name, "label": "x", "boxes": boxes} for name in ("a.png", "b.png")]
    (folder / "boxes.jsonl").write_text("\n".join(map(json.dumps, rows)))
    found = [len(word.boxes) for word in FolderReader(folder) if isinstance(word, LabeledWord)]
    assert found == [3, 0, 0]


def test_files_are_those_of_the_words(folder: Path) -> None:
    (folder / "images").mkdir()
    (folder / "a.png").rename(folder / "images" / "a.png")
    text = '\ufeffa.png\t x\ty \r\n\r\nmore words/b 2.png\t"two"\r\n더.png\t\nnone.png\tz'
    (folder / "labels.tsv").write_bytes(text.encode())
    images = FolderReader(folder).files()
    words = [word for word in FolderReader(folder) if isinstance(word, LabeledWord)]
    assert images.labels == [word.label for word in words] == [" x\ty ", '"two"', ""]
    assert [path.read_bytes() for path in images.paths] == [word.image for word in words]
    assert images.missing == ["none.png"]
