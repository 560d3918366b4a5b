"""One part, read without Ray: the readings are those of the plain engine."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from vit_str.bulk.parts import Part, divide
from vit_str.bulk.reading import Job, PartError, read_part
from vit_str.bulk.rows import Format
from vit_str.reading import Reader, Reading

Png = Callable[[str], bytes]
TarOf = Callable[..., Path]


def job(folder: Path, file_format: Format = Format.JSONL, **options: bool) -> Job:
    values = {"characters": False, "boxes": False, **options}
    return Job(file_format, batch_size=4, folder=folder, **values)


def lines(data: bytes) -> list[dict[str, object]]:
    return [json.loads(line) for line in data.splitlines()]


def expected(reader: Reader, images: list[bytes]) -> list[tuple[str, float]]:
    """Texts and confidences; other batches round otherwise, and this model makes much of it."""
    readings = [reading for _, reading in reader.stream(images) if isinstance(reading, Reading)]
    return [(each.text, pytest.approx(each.confidence, abs=1e-5)) for each in readings]


def test_files_with_damaged_ones_among_them(tmp_path: Path, reader: Reader, png: Png) -> None:
    images = {f"{n}.png": png(f"w{n}") for n in range(6)}
    for name, data in images.items():
        (tmp_path / name).write_bytes(data)
    (tmp_path / "2.png").write_bytes(b"hello")
    (tmp_path / "4.png").unlink()
    (part,) = divide(sorted(images), 99)
    rows = lines(read_part(reader, part, job(tmp_path)))
    assert [row["path"] for row in rows] == sorted(images)
    assert [row["path"] for row in rows if row["error"]] == ["2.png", "4.png"]
    assert "not an image" in str(rows[2]["error"])
    assert rows[2]["text"] is rows[2]["confidence"] is None
    good = [images[f"{n}.png"] for n in (0, 1, 3, 5)]
    assert [(row["text"], row["confidence"]) for row in rows if row["error"] is None] == expected(
        reader, good
    )


def test_characters_and_boxes(tmp_path: Path, reader: Reader, png: Png) -> None:
    (tmp_path / "a.png").write_bytes(png("abc"))
    (part,) = divide(["a.png"], 9)
    plain = reader.read(tmp_path / "a.png", boxes=True)
    assert plain.text
    (row,) = lines(read_part(reader, part, job(tmp_path, characters=True)))
    assert row["characters"] == [
        {"character": each.character, "confidence": pytest.approx(each.confidence, abs=1e-6)}
        for each in plain.characters
    ]
    (row,) = lines(read_part(reader, part, job(tmp_path, characters=True, boxes=True)))
    boxes = [character["box"] for character in row["characters"]]  # type: ignore[attr-defined]
    assert boxes == [pytest.approx(each.box, abs=0.01) for each in plain.characters]


def test_parquet_in_and_out(tmp_path: Path, reader: Reader, png: Png) -> None:
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    images = [png(f"p{n}") for n in range(5)]
    cells = [*images[:3], None, *images[3:]]
    pq.write_table(pa.table({"image": cells}), tmp_path / "in.parquet", row_group_size=2)
    (part,) = divide([str(tmp_path / "in.parquet")], 99)
    options = {"characters": True, "boxes": True}
    data = read_part(reader, part, job(tmp_path, Format.PARQUET, **options))
    (tmp_path / "out.parquet").write_bytes(data)
    rows = pq.read_table(tmp_path / "out.parquet").to_pylist()
    assert [row["path"] for row in rows] == [f"{tmp_path}/in.parquet/{n}" for n in range(6)]
    assert rows[3]["error"].startswith("empty, 0 bytes")
    assert rows[3]["text"] is rows[3]["characters"] is None
    good = rows[:3] + rows[4:]
    assert [(row["text"], row["confidence"]) for row in good] == expected(reader, images)
    for row in good:
        assert "".join(each["character"] for each in row["characters"]) == row["text"]
        assert all(len(each["box"]) == 4 for each in row["characters"])


def test_tar_with_a_damaged_end(tmp_path: Path, reader: Reader, png: Png, tar_of: TarOf) -> None:
    images = [png(f"t{n}") for n in range(5)]
    members = [(f"{n}.png", image) for n, image in enumerate(images)]
    path = tar_of(tmp_path / "w.tar", members)
    end = path.read_bytes().index(b"4.png") + 600
    path.write_bytes(path.read_bytes()[:end])
    parts = list(divide([str(path)], 3))
    rows = [row for part in parts for row in lines(read_part(reader, part, job(tmp_path)))]
    assert len(rows) == sum(part.count for part in parts) == 6
    assert [(row["text"], row["confidence"]) for row in rows[:4]] == expected(reader, images[:4])
    assert [row["path"] for row in rows[4:]] == [f"{path}/4.png", str(path)]
    assert all(row["error"] for row in rows[4:])


def test_a_file_name_that_is_not_utf8(tmp_path: Path, reader: Reader, png: Png) -> None:
    try:
        (tmp_path / "\udcff.png").write_bytes(png("odd"))
    except (OSError, UnicodeError):
        pytest.skip("this file system takes UTF-8 only")
    (part,) = divide(["\udcff.png"], 9)
    (row,) = lines(read_part(reader, part, job(tmp_path)))
    assert (row["path"], row["error"]) == ("\udcff.png", None)
    pq = pytest.importorskip("pyarrow.parquet")
    (tmp_path / "o.parquet").write_bytes(read_part(reader, part, job(tmp_path, Format.PARQUET)))
    assert pq.read_table(tmp_path / "o.parquet")["path"].to_pylist() == ["\\udcff.png"]


@pytest.mark.parametrize("name", ["a.png", "a.tar", "a.parquet"])
def test_what_this_machine_does_not_see_is_not_written_off(
    tmp_path: Path, reader: Reader, png: Png, tar_of: TarOf, name: str
) -> None:
    path = tmp_path / name
    if name == "a.tar":
        tar_of(path, [("x.png", png("x"))])
    elif name == "a.png":
        path.write_bytes(png("x"))
    else:
        pa = pytest.importorskip("pyarrow")
        pytest.importorskip("pyarrow.parquet").write_table(pa.table({"i": [png("x")]}), path)
    part: Part
    (part,) = divide([str(path)], 9)
    assert lines(read_part(reader, part, job(tmp_path)))[0]["error"] is None
    path.unlink()
    with pytest.raises(PartError, match=rf"{name}"):
        read_part(reader, part, job(tmp_path))
