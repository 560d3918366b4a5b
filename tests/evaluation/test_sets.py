import io
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PIL import Image

from vit_str.datasets import IndexedSource, LabeledWord, Layout, Reason, Skipped, WordSource
from vit_str.datasets.tar import TarWriter
from vit_str.evaluation import LabeledImages, open_set
from vit_str.evaluation.sets import Item, LabeledWords


def test_images_beside_the_labels_or_in_a_folder(
    tmp_path: Path, labeled_set: Callable[..., Path]
) -> None:
    labels = {"1.png": "Café", "2.png": "a b\tc"}
    for images in ("images", "."):
        found = LabeledImages(labeled_set(tmp_path / f"set{images}x", labels, images))
        assert found.labels == list(labels.values())
        assert [path.name for path in found.paths] == list(labels)
        assert len(found) == found.count == 2
        assert [(item.picture, item.label, item.place) for item in found] == [
            (found.paths[0], "Café", 0),
            (found.paths[1], "a b\tc", 1),
        ]
        assert found.pictures([1]) == {1: found.paths[1]}


def test_labels_with_a_byte_order_mark_blank_lines_and_windows_line_ends(
    tmp_path: Path, labeled_set: Callable[..., Path]
) -> None:
    folder = labeled_set(tmp_path / "set", {"1.png": "x"})
    (folder / "labels.tsv").write_bytes(b"\xef\xbb\xbf1.png\tx\r\n\r\n  \n1.png\t y\x0c\r\n")
    assert LabeledImages(folder).labels == ["x", " y\x0c"]


def test_labels_that_cannot_be_understood(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"labels.tsv: no such file; a set is a folder"):
        LabeledImages(tmp_path)
    (tmp_path / "labels.tsv").write_bytes(b"1.png\tcaf\xe9\n")
    with pytest.raises(ValueError, match=r"not UTF-8 at byte 9"):
        LabeledImages(tmp_path)
    (tmp_path / "labels.tsv").write_text("1.png\tx\n2.png y\n")
    with pytest.raises(ValueError, match=r"line 2: expected file, tab, label, found '2.png y'"):
        LabeledImages(tmp_path)


WORDS = [
    LabeledWord(b"first", "a", name="k1"),
    Skipped("k2", Reason.NO_LABEL, "nothing\nafter the tab"),
    LabeledWord(b"third", "c"),
    Skipped("k4", Reason.DAMAGED),
]


class Streamed(WordSource):
    format = "streamed"

    def __iter__(self) -> Iterator[LabeledWord | Skipped]:
        return iter(WORDS)


class Indexed(IndexedSource):
    format = "indexed"

    def __len__(self) -> int:
        return len(WORDS)

    def __getitem__(self, place: int) -> LabeledWord | Skipped:
        return WORDS[place]


@pytest.mark.parametrize("kind", [Streamed, Indexed])
def test_words_of_any_format(kind: type[WordSource], tmp_path: Path) -> None:
    words = LabeledWords(kind(tmp_path / "x.kind"))
    assert words.name == "x.kind"
    assert words.count == (4 if kind is Indexed else None)
    path = tmp_path / "x.kind"
    assert list(words) == [
        Item(b"first", "a", 0, f"{path}: k1"),
        f"{path}: k2: no label (nothing\\nafter the tab)",
        Item(b"third", "c", 2, f"{path}: word 2"),
        f"{path}: k4: entry damaged",
    ]
    assert words.pictures({2, 0, 3}) == {0: b"first", 2: b"third"}
    assert words.pictures(set()) == {}


def test_what_a_path_holds(
    tmp_path: Path, labeled_set: Callable[..., Path], word_image: Callable[..., Image.Image]
) -> None:
    folder = labeled_set(tmp_path / "folder", {"1.png": "x"})
    opened = open_set(str(folder))
    assert isinstance(opened, LabeledImages)
    assert open_set(opened) is opened
    file = io.BytesIO()
    word_image("x").save(file, "PNG")
    with TarWriter(tmp_path / "words.tar", Layout()) as writer:
        writer.add([LabeledWord(file.getvalue(), "한글")])
    words = open_set(tmp_path / "words.tar")
    assert isinstance(words, LabeledWords)
    (item,) = words
    assert isinstance(item, Item)
    assert (item.picture, item.label) == (file.getvalue(), "한글")


@pytest.mark.parametrize("name", ["nothing", "empty", "text.txt"])
def test_what_holds_no_words(name: str, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "text.txt").write_text("hello")
    with pytest.raises(ValueError, match=name):
        list(open_set(tmp_path / name))
