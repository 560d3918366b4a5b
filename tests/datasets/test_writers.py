"""What holds for the writers of every format, read back with the plain libraries."""

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

from vit_str.datasets import DatasetWriter, LabeledWord, Layout, format_of, writer_of

NAMES = ("words", "words.lmdb", "words.tar", "words-%06d.tar")
LAYOUT = Layout(start=7, boxes=True, shard_size=10)

Row = tuple[bytes, str, list[list[float]]]


def word(number: int) -> LabeledWord:
    """Different bytes, lengths and labels for every number."""
    image = b"%d " % number * (1 + number * 37 % 400)
    label = f"{number:x}é가"
    boxes = tuple((float(i), 0.25, i + 1.0, number + 0.5) for i in range(len(label)))
    return LabeledWord(image, label, boxes)


def open_writer(path: Path, layout: Layout = LAYOUT) -> DatasetWriter:
    return writer_of(format_of(path))(path, layout)


def rows_of_folder(path: Path) -> list[Row]:
    labels = (path / "labels.tsv").read_text(encoding="utf-8").split("\n")[:-1]
    boxes = (path / "boxes.jsonl").read_text(encoding="utf-8").split("\n")[:-1]
    rows = []
    for place, (line, more) in enumerate(zip(labels, boxes, strict=True)):
        name, label = line.split("\t")
        values = json.loads(more)
        assert (values["image"], values["label"]) == (name, label)
        assert name == f"{place + LAYOUT.start:09d}.png"
        rows.append(((path / "images" / name).read_bytes(), label, values["boxes"]))
    return rows


def rows_of_lmdb(path: Path) -> list[Row]:
    with (
        lmdb.open(str(path), readonly=True, lock=False) as environment,
        environment.begin() as transaction,
    ):
        values = {bytes(key).decode(): bytes(value) for key, value in transaction.cursor()}
    count = int(values.pop("num-samples", b"0"))
    assert len(values) == 3 * count
    return [
        (
            values[f"image-{number:09d}"],
            values[f"label-{number:09d}"].decode(),
            json.loads(values[f"boxes-{number:09d}"])["boxes"],
        )
        for number in range(1, count + 1)
    ]


def rows_of_archives(paths: list[Path]) -> list[Row]:
    members = []
    for path in paths:
        with tarfile.open(path) as archive:
            for info in archive:
                file = archive.extractfile(info)
                assert file is not None
                members.append((info.name, file.read()))
    rows = []
    for place in range(0, len(members), 3):
        names, contents = zip(*members[place : place + 3], strict=True)
        stem = f"{place // 3 + LAYOUT.start:09d}"
        assert names == (f"{stem}.png", f"{stem}.txt", f"{stem}.json")
        rows.append((contents[0], contents[1].decode(), json.loads(contents[2])["boxes"]))
    return rows


def rows(path: Path) -> list[Row]:
    if path.suffix == ".lmdb":
        return rows_of_lmdb(path)
    if path.suffix == ".tar":
        return rows_of_archives(sorted(path.parent.glob(path.name.replace("%06d", "*"))))
    return rows_of_folder(path)


def expected(count: int) -> list[Row]:
    words = [word(number) for number in range(LAYOUT.start, LAYOUT.start + count)]
    return [(each.image, each.label, [list(box) for box in each.boxes]) for each in words]


def write(path: Path, count: int, batch: int = 4) -> None:
    with open_writer(path) as writer:
        while writer.done < count:
            first = LAYOUT.start + writer.done
            size = min(batch, count - writer.done)
            writer.add([word(number) for number in range(first, first + size)])


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*.*")}


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
