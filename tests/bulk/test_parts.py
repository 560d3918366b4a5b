"""The division of the input: nothing is lost, nothing is there twice, whatever is damaged."""

import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from vit_str.bulk.inputs import find_inputs
from vit_str.bulk.item import Item
from vit_str.bulk.parts import Kind, Part, divide

TarOf = Callable[..., Path]


def names(parts: list[Part]) -> list[str]:
    return [item.name for part in parts for item in part.items(Path())]


def test_files_in_a_row_are_put_together() -> None:
    parts = list(divide([f"{n}.png" for n in range(7)], 3))
    assert [part.count for part in parts] == [3, 3, 1]
    assert names(parts) == [f"{n}.png" for n in range(7)]
    assert list(parts[2].items(Path("/there"))) == [Item("6.png", "/there/6.png")]
    assert parts == list(divide([f"{n}.png" for n in range(7)], 3))


def test_a_part_is_the_same_after_it_was_written_down() -> None:
    for name in ("ä.png", "line\nbreak.png", "\udcff.png"):
        (part,) = divide([name], 3)
        assert Part.from_json(part.to_json()) == part
        assert "\n" not in part.to_json()
    for line in ("", "[]", "{}", '{"kind": "zip", "names": [], "stretch": {}}'):
        with pytest.raises(ValueError, match=r".+"):
            Part.from_json(line)


@pytest.mark.parametrize("kind", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_tar_archives_are_entered_anywhere(tmp_path: Path, tar_of: TarOf, kind: int) -> None:
    long = "folder/" * 12 if kind == tarfile.USTAR_FORMAT else "folder/" * 30
    members = []
    for n in range(10):
        members += [(f"{long}{n}.png", b"x" * (500 + n)), (f"{long}{n}.txt", b"label")]
    members += [(f"{long}._hidden.png", b"no"), ("notes.json", b"{}")]
    path = str(tar_of(tmp_path / "words.tar", members, format=kind))
    parts = list(divide([path], 4))
    assert [part.count for part in parts] == [4, 4, 2]
    assert names(parts) == [f"{path}/{long}{n}.png" for n in range(10)]
    sources = [item.source for part in parts for item in part.items(Path())]
    assert sources == [b"x" * (500 + n) for n in range(10)]
    assert len({part.stretch.start for part in parts}) == 3


def test_damaged_archives_give_what_they_hold_and_one_error(tmp_path: Path, tar_of: TarOf) -> None:
    whole = tar_of(tmp_path / "a.tar", [(f"{n}.png", b"x" * 600) for n in range(6)])
    data = whole.read_bytes()
    cases = {
        "cut.tar": data[: 1536 * 3 + 700],  # in the fourth image
        "garbage.tar": data[: 1536 * 3] + b"?" * 4096,
        "none.tar": b"hello" * 300,
        "empty.tar": b"",
    }
    for name, damaged in cases.items():
        (tmp_path / name).write_bytes(damaged)
        parts = list(divide([str(tmp_path / name)], 2))
        found = names(parts)
        assert len(found) in ((3, 4) if name in ("cut.tar", "garbage.tar") else (0,)), name
        assert [bool(part.trouble) for part in parts] == [False] * (len(parts) - 1) + [True]
        assert "\n" not in parts[-1].trouble
        assert sum(part.count for part in parts) == len(found) + 1
    assert not any(part.trouble for part in divide([str(whole)], 2))


def test_archives_without_images_or_access_are_one_error(tmp_path: Path, tar_of: TarOf) -> None:
    texts = tar_of(tmp_path / "texts.tar", [("a.txt", b"a")])
    (part,) = divide([str(texts)], 2)
    assert (part.count, part.trouble.partition(";")[0]) == (1, "an archive without images")
    (part,) = divide([str(tmp_path / "gone.tar")], 2)
    assert part.trouble == "cannot be read (No such file or directory); check the file"
    (tmp_path / "no.parquet").write_bytes(b"hello")
    pytest.importorskip("pyarrow")
    (part,) = divide([str(tmp_path / "no.parquet")], 2)
    assert part.trouble.startswith("damaged, or no Parquet file")


def test_an_archive_that_changed_is_not_read_for_another(tmp_path: Path, tar_of: TarOf) -> None:
    path = tar_of(tmp_path / "a.tar", [(f"{n}.png", b"x" * 600) for n in range(6)])
    _, second, _ = divide([str(path)], 2)
    tar_of(path, [("other.png", b"y")])
    with pytest.raises(OSError, match="was changed"):
        list(second.items(Path()))


def test_parquet_rows_across_row_groups(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    path = str(tmp_path / "words.parquet")
    images = [b"image %d" % n for n in range(10)]
    table = pa.table({"image": images, "label": [str(n) for n in range(10)]})
    pq.write_table(table, path, row_group_size=3)
    parts = list(divide([path], 4))
    assert [part.count for part in parts] == [4, 4, 2]
    items = [item for part in parts for item in part.items(Path())]
    assert items == [Item(f"{path}/{n}", image) for n, image in enumerate(images)]


def test_parquet_columns(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    path = str(tmp_path / "words.parquet")

    def items(column: str | None = None, **columns: list[object]) -> list[Item]:
        pq.write_table(pa.table(columns), path)
        return [item for part in divide([path], 9, column) for item in part.items(Path())]

    empty = Item(f"{path}/1", b"")
    assert items(path=["a.png", None]) == [Item("a.png", str(tmp_path / "a.png")), empty]
    assert items("file", file=["/b.png", ""], x=[b"", b""]) == [Item("/b.png", "/b.png"), empty]
    hugging_face = [{"bytes": b"c", "path": "c.png"}, None]
    assert items(image=hugging_face) == [Item(f"{path}/0", b"c"), empty]
    with pytest.raises(ValueError, match="no column 'x'; it has a, b"):
        items("x", a=[b""], b=[""])
    with pytest.raises(ValueError, match="say with --column which of a, b"):
        items(None, a=[b""], b=[b""])
    with pytest.raises(ValueError, match="'b' holds int64"):
        items("b", a=[b""], b=[1])


def test_a_damaged_row_group_is_an_error_for_its_rows_only(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "words.parquet"
    images = [bytes([n]) * 999 for n in range(9)]
    pq.write_table(pa.table({"image": images}), path, row_group_size=3, use_dictionary=False)
    data = bytearray(path.read_bytes())
    start = pq.ParquetFile(path).metadata.row_group(1).column(0).data_page_offset
    data[start : start + 60] = b"\xff" * 60
    path.write_bytes(data)
    for size in (9, 4, 1):
        items = [item for part in divide([str(path)], size) for item in part.items(Path())]
        assert [item.name for item in items] == [f"{path}/{n}" for n in range(9)]
        assert [item.source for item in items] == [*images[:3], b"", b"", b"", *images[6:]]
        troubles = [item.trouble.partition(",")[0] for item in items]
        assert troubles == [""] * 3 + ["damaged"] * 3 + [""] * 3


def test_inputs(tmp_path: Path) -> None:
    for file in ("b/2.png", "b/1.JPG", "a/words-1.tar", "a/words-0.tar", "c.parquet", ".x.png"):
        (tmp_path / file).parent.mkdir(exist_ok=True)
        (tmp_path / file).touch()
    (tmp_path / "labels.tsv").touch()
    (tmp_path / "d.tar.gz").touch()
    found = find_inputs([str(tmp_path), str(tmp_path / "a" / "*.tar")])
    expected = ["c.parquet", "a/words-0.tar", "a/words-1.tar", "b/1.JPG", "b/2.png"]
    assert found.paths == [str(tmp_path / file) for file in expected]
    assert found.troubles == []
    (tmp_path / "empty").mkdir()
    arguments = [str(tmp_path / name) for name in ("empty", "x.png", "*.tif", "d.tar.gz")]
    found = find_inputs(arguments)
    assert found.paths == []
    assert [path for path, _ in found.troubles] == arguments


def test_kinds_in_one_listing_keep_their_order(tmp_path: Path, tar_of: TarOf) -> None:
    archive = str(tar_of(tmp_path / "a.tar", [("x.png", b"x")]))
    parts = list(divide(["1.png", archive, "2.png", "3.png"], 9))
    assert [part.kind for part in parts] == [Kind.FILES, Kind.TAR, Kind.FILES]
    assert names(parts) == ["1.png", f"{archive}/x.png", "2.png", "3.png"]
