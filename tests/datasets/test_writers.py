"""What holds for the writers of every format."""

import json
import tarfile
from pathlib import Path

import lmdb
import pytest

from vit_str.datasets import WRITERS, DatasetWriter, LabeledWord, Layout, open_words
from vit_str.datasets.formats import format_of
from vit_str.datasets.source import Boxes

NAMES = ("words", "words.lmdb", "words.tar", "words-%06d.tar")
LAYOUT = Layout(start=7, boxes=True, shard_size=10)

Row = tuple[bytes, str, Boxes]


def word(number: int) -> LabeledWord:
    """Different bytes, lengths and labels for every number."""
    image = b"%d " % number * (1 + number * 37 % 400)
    label = f"{number:x}é가"
    boxes = tuple((float(i), 0.25, i + 1.0, number + 0.5) for i in range(len(label)))
    return LabeledWord(image, label, boxes)


def open_writer(path: Path, layout: Layout = LAYOUT) -> DatasetWriter:
    return WRITERS[format_of(path)](path, layout)


def rows(path: Path) -> list[Row]:
    return [(word.image, word.label, word.boxes) for word in open_words(path)]


def expected(count: int) -> list[Row]:
    words = [word(number) for number in range(LAYOUT.start, LAYOUT.start + count)]
    return [(each.image, each.label, each.boxes) for each in words]


def write(path: Path, count: int, batch: int = 4) -> None:
    with open_writer(path) as writer:
        while writer.done < count:
            first = LAYOUT.start + writer.done
            size = min(batch, count - writer.done)
            writer.add([word(number) for number in range(first, first + size)])


def test_files_hold_what_others_expect_there(tmp_path):
    """Read with the plain libraries."""
    for name in NAMES[:3]:
        write(tmp_path / name, 1)
    image, label, boxes = expected(1)[0]
    as_json = {"label": label, "boxes": list(map(list, boxes))}
    folder = tmp_path / "words"
    assert (folder / "labels.tsv").read_text(
        encoding="utf-8"
    ) == f"000000007.png\t{label}\n"
    assert (folder / "images" / "000000007.png").read_bytes() == image
    line = (folder / "boxes.jsonl").read_text(encoding="utf-8")
    assert json.loads(line) == {"image": "000000007.png", **as_json}
    database = str(tmp_path / "words.lmdb")
    with lmdb.open(database, readonly=True, lock=False) as environment:  # noqa: SIM117
        with environment.begin() as transaction:
            values = {bytes(key): bytes(value) for key, value in transaction.cursor()}
    assert json.loads(values.pop(b"boxes-000000001")) == as_json
    pairs = {b"image-000000001": image, b"label-000000001": label.encode()}
    assert values == {**pairs, b"num-samples": b"1"}
    with tarfile.open(tmp_path / "words.tar") as archive:
        members = {info.name: archive.extractfile(info).read() for info in archive}
    assert json.loads(members.pop("000000007.json")) == as_json
    assert members == {"000000007.png": image, "000000007.txt": label.encode()}


def test_a_map_of_lmdb_grows_with_what_is_in_it(tmp_path):
    image = bytes(1 << 20)
    with open_writer(tmp_path / "words.lmdb", Layout()) as writer:
        writer.add([LabeledWord(image, "x")] * 40)
    assert len(open_words(tmp_path / "words.lmdb")) == 40


@pytest.mark.parametrize("name", NAMES)
def test_what_is_there_stays_as_it_is(name, tmp_path):
    write(tmp_path / name, 3)
    before = rows(tmp_path / name)
    with pytest.raises(
        ValueError, match="is there already; remove it or give another name"
    ):
        open_writer(tmp_path / name)
    assert rows(tmp_path / name) == before
