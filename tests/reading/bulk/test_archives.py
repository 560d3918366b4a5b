import tarfile
from pathlib import Path

import pytest

from vit_str.reading.bulk.archives import ImageRef, list_images, load_images


def listed(
    path: Path | str, column: str | None = None
) -> tuple[list[ImageRef], list[str]]:
    """The images of an archive, and what is wrong with it."""
    problems: list[str] = []
    images = list(
        list_images([str(path)], column, lambda _, problem: problems.append(problem))
    )
    assert not any("\n" in problem for problem in problems)
    return images, problems


@pytest.mark.parametrize(
    "tar_format", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT]
)
def test_tar_archives(tmp_path, tar_of, tar_format):
    long = "folder/" * (12 if tar_format == tarfile.USTAR_FORMAT else 30)
    members = []
    for n in range(10):
        members += [(f"{long}{n}.png", b"x" * (500 + n)), (f"{long}{n}.txt", b"label")]
    members += [(f"{long}._hidden.png", b"no"), ("notes.json", b"{}")]
    path = tar_of(tmp_path / "words.tar", members, format=tar_format)
    images, problems = listed(path)
    assert problems == []
    assert [image.name for image in images] == [
        f"{path}/{long}{n}.png" for n in range(10)
    ]
    assert list(load_images(images[3:])) == [b"x" * (500 + n) for n in range(3, 10)]


def test_damaged_archives_give_what_they_hold_and_one_problem(tmp_path, tar_of):
    whole = tar_of(tmp_path / "a.tar", [(f"{n}.png", b"x" * 600) for n in range(6)])
    assert listed(whole)[1] == []
    data = whole.read_bytes()
    cases = {
        "cut.tar": (data[: 1536 * 3 + 700], (3, 4), "damaged or cut short"),
        "garbage.tar": (
            data[: 1536 * 3] + b"?" * 4096,
            (3,),
            "damaged or cut short after 3",
        ),
        "none.tar": (b"hello" * 300, (0,), "no tar archive"),
        "empty.tar": (b"", (0,), "no tar archive"),
        "words.tar.gz": (b"", (0,), "a compressed archive"),
        "no.parquet": (b"hello", (0,), "damaged, or no Parquet file"),
    }
    for name, (damaged, counts, expected) in cases.items():
        if name.endswith("parquet"):
            pytest.importorskip("pyarrow")
        (tmp_path / name).write_bytes(damaged)
        images, (problem,) = listed(tmp_path / name)
        assert len(images) in counts, name
        assert problem.startswith(expected)
    texts = tar_of(tmp_path / "texts.tar", [("a.txt", b"a")])
    assert listed(texts)[1][0].startswith("an archive without images")
    assert listed(tmp_path / "gone.tar")[1][0].startswith(
        "cannot be read (No such file"
    )


def test_parquet_rows_across_row_groups(tmp_path):
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "words.parquet"
    cells = [b"image %d" % n for n in range(10)]
    table = pa.table({"image": cells, "label": [str(n) for n in range(10)]})
    pq.write_table(table, path, row_group_size=3)
    images, _ = listed(path)
    assert [image.name for image in images] == [f"{path}/{n}" for n in range(10)]
    for chosen in (slice(4), slice(4, 8), slice(1, None, 4)):
        assert list(load_images(images[chosen])) == cells[chosen]


def test_parquet_columns(tmp_path):
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "words.parquet"

    def found(column=None, **columns):
        pq.write_table(pa.table(columns), path)
        images, _ = listed(path, column)
        loaded = zip(images, load_images(images), strict=True)
        return [(image.name, source) for image, source in loaded]

    first, second = f"{path}/0", f"{path}/1"
    hugging_face = [{"bytes": b"c", "path": "c.png"}, None]
    assert found(image=hugging_face, label=["", ""]) == [(first, b"c"), (second, b"")]
    assert found("b", a=[b""], b=[b"b"]) == [(first, b"b")]
    for column, columns in (
        ("x", {"a": [b""]}),
        (None, {"a": [b""], "b": [b""]}),
        ("b", {"b": [1]}),
    ):
        with pytest.raises(ValueError, match="say with --column which of"):
            found(column, **columns)
