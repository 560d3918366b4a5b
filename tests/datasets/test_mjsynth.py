from pathlib import Path

import pytest

from vit_str.datasets import LabeledWord, Reason, Skipped, open_words
from vit_str.datasets.published.mjsynth import MJSynthReader

FOLDER = "mnt/ramdisk/max/90kDICT32px"
NAMES = [
    "./2425/1/115_Lube_45484.jpg 45484",
    "./2425/1/114_Spencerian_73323.jpg 73323",
    "./2425/1/113_accommodatingly_613.jpg 613",
    "./1/2/9_DON'T_3.jpg 3",
]


def make(folder: Path, lines: list[str], name: str = "annotation.txt", end: str = "\n") -> Path:
    """The tree as the archive unpacks, with bytes that say which image they are."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes("".join(line + end for line in lines).encode())
    for line in lines:
        path = folder / line.rpartition(" ")[0].replace("\\", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(line.encode())
    return folder


def test_words_as_distributed(tmp_path: Path) -> None:
    windows = [line.replace("/", "\\") for line in NAMES[1:3]]
    make(tmp_path / FOLDER, windows, "annotation_train.txt", "\r\n")
    make(tmp_path / FOLDER, NAMES)
    source = open_words(tmp_path)
    assert isinstance(source, MJSynthReader)
    words = list(source)
    assert all(isinstance(word, LabeledWord) for word in words)
    assert [word.label for word in words] == ["Lube", "Spencerian", "accommodatingly", "DON'T"]
    assert words[0].name == "2425/1/115_Lube_45484.jpg"
    assert [word.image.decode() for word in words] == NAMES
    for path in (tmp_path, tmp_path / "mnt/ramdisk/max", tmp_path / FOLDER):
        train = MJSynthReader(path, split="train")
        assert [word.label for word in train] == ["Spencerian", "accommodatingly"]
    assert len(open_words(tmp_path / FOLDER / "annotation_train.txt")) == 2


def test_what_cannot_be_used_is_reported_and_the_rest_is_read(tmp_path: Path) -> None:
    bad = ["../1/5_out_6.jpg 3", "./1/1/no-number.jpg 5", "./1/1/5_noid_6.jpg", "./1/1/7__8.jpg 8"]
    lines = [NAMES[0], *bad, "./9/9/1_gone_2.jpg 2", NAMES[1]]
    folder = make(tmp_path, NAMES[:2])
    listed = "\n".join(lines).encode() + b"\n./1/1/3_caf\xe9_4.jpg 4\n"
    (folder / "annotation.txt").write_bytes(listed)
    words = list(MJSynthReader(folder))
    reasons = [word.reason if isinstance(word, Skipped) else word.label for word in words]
    damaged = [Reason.DAMAGED] * 4
    assert reasons == ["Lube", *damaged, Reason.MISSING, "Spencerian", Reason.NOT_UTF8]
    assert words[1].name == "line 2"
    assert "found './1/1/no-number.jpg 5'" in words[2].detail


def test_without_a_list_it_is_refused(tmp_path: Path) -> None:
    make(tmp_path, NAMES, "annotation_val.txt")
    with pytest.raises(ValueError, match=r"expected annotation.txt, .*; give split val"):
        MJSynthReader(tmp_path)
    (tmp_path / "annotation_val.txt").unlink()
    with pytest.raises(ValueError, match="unpack it from the archive"):
        MJSynthReader(tmp_path)
    with pytest.raises(ValueError, match="no such file or folder"):
        MJSynthReader(tmp_path / "nowhere")
    with pytest.raises(ValueError, match="split must be one of all, train, val, test, found 'x'"):
        MJSynthReader(tmp_path, split="x")


def test_lists_of_others_are_not_taken_for_it(tmp_path: Path) -> None:
    (tmp_path / "annotation.txt").write_text("img_1.png hello\n")
    assert not MJSynthReader.recognizes(tmp_path)
    assert not MJSynthReader.recognizes(tmp_path / "annotation.txt")
    (tmp_path / "lexicon.txt").write_text("hello\n")
    assert not MJSynthReader.recognizes(tmp_path)
