"""What holds for the writers of every format."""

import io
import json
import signal
import subprocess
import sys
import tarfile
import time
from pathlib import Path

import lmdb
import pytest

from vit_str.datasets import DatasetWriter, LabeledWord, Layout, format_of, open_words, writer_of
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
    return writer_of(format_of(path))(path, layout)


def rows(path: Path) -> list[Row]:
    return [(word.image, word.label, word.boxes) for word in open_words(path)]  # type: ignore


def expected(count: int) -> list[Row]:
    words = [word(number) for number in range(LAYOUT.start, LAYOUT.start + count)]
    return [(each.image, each.label, each.boxes) for each in words]


def write(path: Path, count: int, batch: int = 4) -> None:
    with open_writer(path) as writer:
        while writer.done < count:
            first = LAYOUT.start + writer.done
            size = min(batch, count - writer.done)
            writer.add([word(number) for number in range(first, first + size)])


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*.*")}


def test_files_hold_what_others_expect_there(tmp_path: Path) -> None:
    """Read with the plain libraries."""
    for name in NAMES[:3]:
        write(tmp_path / name, 1)
    image, label, boxes = expected(1)[0]
    as_json = {"label": label, "boxes": list(map(list, boxes))}
    folder = tmp_path / "words"
    assert (folder / "labels.tsv").read_text(encoding="utf-8") == f"000000007.png\t{label}\n"
    assert (folder / "images" / "000000007.png").read_bytes() == image
    line = (folder / "boxes.jsonl").read_text(encoding="utf-8")
    assert json.loads(line) == {"image": "000000007.png", **as_json}
    with lmdb.open(str(tmp_path / "words.lmdb"), readonly=True, lock=False) as environment:  # noqa: SIM117
        with environment.begin() as transaction:
            values = {bytes(key): bytes(value) for key, value in transaction.cursor()}
    assert json.loads(values.pop(b"boxes-000000001")) == as_json
    pairs = {b"image-000000001": image, b"label-000000001": label.encode()}
    assert values == {**pairs, b"num-samples": b"1"}
    with tarfile.open(tmp_path / "words.tar") as archive:
        members = {info.name: archive.extractfile(info).read() for info in archive}  # type: ignore
    assert json.loads(members.pop("000000007.json")) == as_json
    assert members == {"000000007.png": image, "000000007.txt": label.encode()}


@pytest.mark.parametrize("name", NAMES)
def test_what_is_written_is_read_and_can_be_added_to(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    for count in (0, 1, 13, 13, 46):
        write(path, count)
        assert open_and_count(path) == count
        assert not count or rows(path) == expected(count)


def open_and_count(path: Path) -> int:
    with open_writer(path) as writer:
        return writer.done


@pytest.mark.parametrize("name", ["words", "words.tar", "words-%06d.tar"])
def test_pieces_make_no_difference_to_the_files(name: str, tmp_path: Path) -> None:
    for folder, counts, batch in (("whole", [46], 46), ("pieces", [3, 20, 33, 46], 7)):
        (tmp_path / folder).mkdir()
        for count in counts:
            write(tmp_path / folder / name, count, batch)
    assert files(tmp_path / "whole") == files(tmp_path / "pieces")


def test_an_archive_cut_anywhere_resumes(tmp_path: Path) -> None:
    name = "words-%06d.tar"
    (tmp_path / "whole").mkdir()
    write(tmp_path / "whole" / name, 22)
    last = max((tmp_path / "whole").glob("*.tar"))
    data = last.read_bytes()
    for end in [*range(0, len(data), 9973), len(data)]:
        last.write_bytes(data[:end])
        write(tmp_path / "whole" / name, 22)
        assert last.read_bytes() == data, end


def test_a_folder_cut_anywhere_resumes(tmp_path: Path) -> None:
    path = tmp_path / "words"
    write(path, 9)
    whole = files(path)
    for file in ("labels.tsv", "boxes.jsonl"):
        data = (path / file).read_bytes()
        for end in range(0, len(data), 53):
            (path / file).write_bytes(data[:end])
            (path / "images" / "000000015.png").write_bytes(b"half")  # the image of the last line
            write(path, 9)
            assert files(path) == whole, (file, end)


@pytest.mark.parametrize("name", ["words.lmdb", "words-%06d.tar"])
def test_a_killed_writer_leaves_whole_words(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    program = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
from pathlib import Path
from test_writers import LAYOUT, open_writer, word
writer = open_writer(Path({str(path)!r}))
while True:
    first = LAYOUT.start + writer.done
    writer.add([word(number) for number in range(first, first + 64)])
    print(writer.done, flush=True)
"""
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE)
    assert process.stdout is not None
    while int(process.stdout.readline()) < 2500:
        pass
    time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    with open_writer(path) as writer:
        done = writer.done
    assert done >= 1024
    write(path, done + 5)
    assert rows(path) == expected(done + 5)


def test_other_files_are_not_taken_for_ours(tmp_path: Path) -> None:
    (tmp_path / "words").mkdir()
    (tmp_path / "words" / "labels.tsv").write_text("other.png\tword\n")
    with pytest.raises(ValueError, match=r"labels\.tsv has been changed"):
        open_writer(tmp_path / "words")
    with tarfile.open(tmp_path / "words.tar", "w") as archive:
        archive.addfile(tarfile.TarInfo("other.png"), io.BytesIO())
    with pytest.raises(ValueError, match=r"words\.tar has been changed"):
        open_writer(tmp_path / "words.tar")
    (tmp_path / "words.lmdb").mkdir()
    (tmp_path / "words.lmdb" / "data.mdb").write_bytes(bytes(range(256)) * 64)
    with pytest.raises(ValueError, match="no LMDB"):
        open_writer(tmp_path / "words.lmdb")
