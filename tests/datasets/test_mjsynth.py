"""MJSynth, as a folder and as archives, in the layout in which it is distributed."""

import os
import pickle
import shutil
import tarfile
from pathlib import Path

import pytest

from vit_str.datasets import LabeledWord, Reason, Skipped, open_stream, open_words
from vit_str.datasets.mjsynth import MJSynthReader
from vit_str.datasets.tar import TarReader, TarStream

INSIDE = "mnt/ramdisk/max/90kDICT32px"
NAMES = (
    "2425/1/115_Lube_45484.jpg",
    "2425/1/114_Spencerian_73323.jpg",
    "2425/2/1_SALES_67384.jpg",
    "17/7/9_don_22793.jpg",
    "3000/7/182_slinking_71711.jpg",
)
LABELS = ["Lube", "Spencerian", "SALES", "don", "slinking"]


@pytest.fixture
def tree(tmp_path, words_of) -> Path:
    """The folder that the archive unpacks to; the train list names the first three."""
    folder = tmp_path / "data" / INSIDE
    for name, word in zip(NAMES, words_of(5), strict=True):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(word.image)
    parts = {"": NAMES, "_train": NAMES[:3], "_val": NAMES[3:4], "_test": NAMES[4:]}
    for part, names in parts.items():
        lines = [
            f"./{name} {name.rpartition('_')[2].removesuffix('.jpg')}\n"
            for name in names
        ]
        (folder / f"annotation{part}.txt").write_text("".join(lines))
    (folder / "lexicon.txt").write_text("lube\nspencerian\n")
    (folder / "imlist.txt").write_text("".join(f"./{name}\n" for name in NAMES))
    return folder


def packed(tree: Path, path: Path) -> Path:
    """The archive that is distributed, compressed or not."""
    with tarfile.open(path, "w:gz" if path.suffix == ".gz" else "w") as archive:
        archive.add(tree.parents[2], "mnt")
    return path


def labels(source) -> list[str]:
    words = list(source)
    assert all(isinstance(word, LabeledWord) for word in words), words
    return [word.label for word in words if isinstance(word, LabeledWord)]


@pytest.mark.parametrize("above", ["", "90kDICT32px", "max/90kDICT32px", INSIDE])
def test_the_folder_or_one_above_it(above, tree, words_of):
    path = Path(str(tree).removesuffix(above)) if above else tree
    source = open_words(path)
    assert isinstance(source, MJSynthReader)
    assert labels(source) == LABELS
    images = [word.image for word in source if isinstance(word, LabeledWord)]
    assert images == [word.image for word in words_of(5)]
    assert list(pickle.loads(pickle.dumps(source))) == list(source)  # noqa: S301


def test_a_list_says_which_images(tree):
    parts = {
        "annotation_train": LABELS[:3],
        "annotation_val": LABELS[3:4],
        "annotation": LABELS,
    }
    for name, expected in parts.items():
        assert labels(open_words(tree / f"{name}.txt")) == expected
    (tree / "mine.txt").write_text("2425/2/1_SALES_67384.jpg\n")
    assert labels(open_words(tree / "mine.txt")) == ["SALES"]
    (tree / "annotation.txt").unlink()
    assert labels(open_words(tree)) == LABELS[:3]


def test_images_that_are_not_there_or_damaged_are_skipped(tree):
    (tree / NAMES[1]).unlink()
    with (tree / "annotation.txt").open("a") as file:
        file.write("nonsense\n./../../1_away_2.jpg 3\n")
    words = list(open_words(tree))
    assert [word.reason for word in words if isinstance(word, Skipped)] == [
        Reason.MISSING,
        Reason.DAMAGED,
        Reason.OUTSIDE,
    ]
    assert [word.label for word in words if isinstance(word, LabeledWord)] == [
        label for label in LABELS if label != "Spencerian"
    ]


@pytest.mark.skipif(os.name != "posix", reason="links need rights on other systems")
def test_links_that_lead_out_of_the_folder(tree, tmp_path):
    """Archives may hold them: they could be of any file of this machine."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    inside = tree / NAMES[0]
    outside = elsewhere / inside.name
    shutil.move(inside, outside)
    inside.symlink_to(outside)
    shutil.move(tree / "17", elsewhere / "17")
    (tree / "17").symlink_to(elsewhere / "17")
    (tree / NAMES[4]).unlink()
    (tree / NAMES[4]).symlink_to(tree / NAMES[1])  # it stays in the folder
    words = list(MJSynthReader(tree))
    reasons = [word.reason if isinstance(word, Skipped) else None for word in words]
    assert reasons == [Reason.OUTSIDE, None, None, Reason.OUTSIDE, None]


def test_lists_of_others_with_these_names_are_not_taken_for_it(tmp_path, words_of):
    (tmp_path / "annotation.txt").write_text("images/a.png\tone\n")
    with pytest.raises(ValueError, match="found no data set there"):
        open_words(tmp_path)
    with pytest.raises(ValueError, match=r"found no annotation\.txt of MJSynth"):
        MJSynthReader(tmp_path / "nowhere")


def test_the_archive_that_is_distributed(tree, tmp_path):
    """Its lists, millions of lines long, are no words."""
    plain = open_words(packed(tree, tmp_path / "mjsynth.tar"))
    assert isinstance(plain, TarReader)
    assert sorted(labels(plain)) == sorted(LABELS)
    assert [plain[place] for place in range(len(plain))] == list(plain)
    stream = open_stream(packed(tree, tmp_path / "mjsynth.tar.gz"))
    assert isinstance(stream, TarStream)
    assert labels(stream) == labels(plain)
    with tarfile.open(tmp_path / "mjsynth.tar.gz") as archive:
        assert {f"{INSIDE}/annotation_train.txt", f"{INSIDE}/{NAMES[0]}"} <= {
            *archive.getnames()
        }


def test_an_image_elsewhere_in_an_archive_needs_its_label(tmp_path, words_of):
    """Only the folders of MJSynth make a name a label."""
    (tmp_path / "115_Lube_45484.jpg").write_bytes(words_of(1)[0].image)
    with tarfile.open(tmp_path / "words.tar", "w") as archive:
        archive.add(tmp_path / "115_Lube_45484.jpg", "115_Lube_45484.jpg")
    (word,) = open_words(tmp_path / "words.tar")
    assert isinstance(word, Skipped)
    assert word.reason == Reason.NO_LABEL
