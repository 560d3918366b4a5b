import io
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from vit_str.cli import main
from vit_str.datasets import LabeledWord, Skipped, open_words
from vit_str.datasets.inspection import bundled_characters

Data = Callable[..., Any]  # `out` and `err` of what it prints
Row = tuple[str, bytes]

LABELS = (
    "plain",
    "two words",
    "가격표",
    "É=mc²",
    " spaces ",
    "back\\slash",
    '"quoted"',
    "a,b",
)
TARGETS = ("out", "out.lmdb", "out.tar", "out-%06d.tar")


@pytest.fixture
def data(capsys) -> Data:
    """Runs ``vit-str data``, which has to end with ``code``; returns what it prints."""

    def run(*arguments: object, code: int = 0) -> Any:
        capsys.readouterr()
        assert main(["data", *map(str, arguments)]) == code
        return capsys.readouterr()

    return run


def picture(number: int, kind: str = "PNG", size: tuple[int, int] = (24, 8)) -> bytes:
    file = io.BytesIO()
    color = (number % 256, number // 256 % 256, 77)
    Image.new("RGB", size, color).save(file, kind)
    return file.getvalue()


def make(folder: Path, rows: Sequence[tuple[str, str, bytes]]) -> Path:
    """A folder as users have them: names, labels and the bytes of images."""
    folder.mkdir()
    for name, _, image in rows:
        (folder / name).write_bytes(image)
    lines = "".join(f"{name}\t{label}\n" for name, label, _ in rows)
    (folder / "labels.tsv").write_text(lines, encoding="utf-8", newline="\n")
    return folder


def some(
    folder: Path, count: int = 20, bad: bool = False, labels: Sequence[str] = LABELS
) -> Path:
    """Words in several kinds of files; every seventh is damaged if ``bad``."""
    rows = []
    for number in range(count):
        kind = ("PNG", "JPEG", "WEBP", "BMP")[number % 4]
        image = picture(number, kind)
        image = image[:40] if bad and number % 7 == 3 else image
        rows.append(
            (f"word {number}.{kind.lower()}", labels[number % len(labels)], image)
        )
    return make(folder, rows)


def rows_of(path: Path) -> list[Row]:
    words = list(open_words(path))
    assert not [word for word in words if isinstance(word, Skipped)]
    return [(word.label, word.image) for word in words if isinstance(word, LabeledWord)]


def test_every_format_to_every_other(data, tmp_path):
    source = some(tmp_path / "source")
    expected = rows_of(source)
    assert [label for label, _ in expected] == [
        LABELS[i % len(LABELS)] for i in range(20)
    ]
    for target in TARGETS:
        line = f"{tmp_path / target}: 20 words\n"
        assert data("convert", source, tmp_path / target) == (line, "")
        assert rows_of(tmp_path / target) == expected
        again = tmp_path / f"again-{target.replace('out', 'x')}"
        data("convert", tmp_path / target, again)
        assert rows_of(again) == expected
    suffixes = [path.suffix for path in sorted((tmp_path / "out" / "images").iterdir())]
    assert suffixes == [".png", ".jpg", ".webp", ".bmp"] * 5


def test_what_cannot_be_used_is_counted_and_listed(data, tmp_path):
    source = make(
        tmp_path / "source",
        [
            ("good.png", "good", picture(1)),
            ("empty.png", "empty", b""),
            ("cut.png", "cut", picture(2)[:50]),
            ("none.png", "", picture(3)),
            ("long.png", "longest", picture(4)),
            ("korean.png", "가", picture(5)),
            ("small.png", "small", picture(6, size=(20, 3))),
            ("last.png", "last", picture(7)),
        ],
    )
    with (source / "labels.tsv").open("a") as file:
        file.write("gone.png\tgone\n")
    rules = [
        "--charset",
        "ascii",
        "--maximum-length",
        5,
        "--report",
        tmp_path / "report.tsv",
    ]
    said = data("convert", source, tmp_path / "out.lmdb", *rules)
    assert "out.lmdb: 2 words\n" in said.out
    assert "vit-str: words left out: 7\n" in said.err
    assert [label for label, _ in rows_of(tmp_path / "out.lmdb")] == ["good", "last"]
    listed = (tmp_path / "report.tsv").read_text(encoding="utf-8").splitlines()
    assert [line.split("\t")[:2] for line in listed] == [
        ["name", "reason"],
        ["empty.png", "image cannot be read"],
        ["cut.png", "image cannot be read"],
        ["none.png", "no label"],
        ["long.png", "label too long"],
        ["korean.png", "characters outside the charset"],
        ["small.png", "image too small"],
        ["gone.png", "image missing"],
    ]
    values = json.loads(data("inspect", source, *rules, "--json").out)
    assert (values["entries"], values["usable"]["words"]) == (9, 2)
    assert values["skipped"]["image cannot be read"]["examples"] == [
        "empty.png",
        "cut.png",
    ]
    assert (tmp_path / "report.tsv").read_text(encoding="utf-8").splitlines() == listed


def test_inspect_says_what_there_is(data, tmp_path):
    wide = picture(1, "JPEG", (60, 20))
    tall = picture(2, "PNG", (10, 30))
    source = make(
        tmp_path / "source",
        [
            ("a.jpg", "Ab1", wide),
            ("b.jpg", "Ab1", wide),
            ("c.jpg", "éther", wide),
            ("d.png", "가!", tall),
            ("e.jpg", "x" * 40, picture(3, "JPEG", (4000, 1000))),
        ],
    )
    values = json.loads(data("inspect", source, "--json").out)
    usable = values["usable"]
    assert (values["format"], values["entries"], values["skipped"]) == ("folder", 5, {})
    assert usable["lengths"] == {"2": 1, "3": 2, "5": 1, "40": 1}
    assert usable["characters"]["kinds"] == {
        "lower case": 47,
        "upper case": 2,
        "digits": 2,
        "other letters": 1,
        "signs": 1,
    }
    assert usable["characters"]["most_outside_bundled"] == {"가": 1}
    assert usable["images"]["kinds"] == {".jpg": 4, ".png": 1}
    assert usable["images"]["height"] == [20, 20, 20, 806, 1000]
    assert usable["images"]["tall"] == 1
    assert usable["repeated"] == {"images": 2, "with_other_labels": 1}
    lines = data("inspect", source, "--limit", 4).out.splitlines()
    assert lines[:2] == [f"{source}: folder, 4 words", "4 can be used, 0 are left out"]
    assert {
        "    3           2 ########################################",
        "10 different characters; 7 lower case, 2 upper case, 2 digits, 1 other letters, 1 signs",
        f"1 are not among the {len(bundled_characters())} of the bundled weights: 가",
        "  height               20       20       20       28       30",
    } <= set(lines)
    assert lines[-2:] == [
        "1 are so tall that they are turned to the left before they are read",
        "2 are the same file as one before; 1 files come with different labels",
    ]


def test_a_sheet(data, tmp_path):
    source = some(tmp_path / "source", 40, bad=True, labels=["one", "two"])
    data("convert", source, tmp_path / "source.tar")
    sheet = tmp_path / "new" / "sheet.png"
    for path in (source, tmp_path / "source.tar"):
        assert (
            f"{sheet}: 10 words\n"
            in data("show", path, "--out", sheet, "--count", 10).out
        )
        with Image.open(sheet) as image:
            assert image.size == (8 * 166, 2 * 66)
        assert (
            f"{sheet}: 34 words\n"
            in data("show", path, "--out", sheet, "--count", 1000).out
        )


def test_a_sheet_of_augmented_words(data, tmp_path):
    pytest.importorskip("albumentations")
    source = some(tmp_path / "source", 5, labels=["one"])
    sheets = [tmp_path / f"{i}.png" for i in range(3)]
    for seed, sheet in zip([1, 1, 2], sheets, strict=True):
        more = ["--augment", "strong", "--count", 2, "--seed", seed]
        data("show", source, "--out", sheet, *more)
    with Image.open(sheets[0]) as image:
        assert image.size == (8 * 166, 2 * 66)
    assert sheets[0].read_bytes() == sheets[1].read_bytes() != sheets[2].read_bytes()
    assert (
        "wild"
        in data("show", source, "--out", sheets[0], "--augment", "wild", code=2).err
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["inspect", "nowhere"], "nowhere: no such file or folder; check the path"),
        (
            ["inspect", "source", "--charset", "asci"],
            "no charset 'asci', did you mean ascii",
        ),
        (["inspect", "source", "--format", "lmdb"], "found no data.mdb there"),
        (
            ["convert", "source", "out", "--shard-size", "5"],
            "name them with a place for the number",
        ),
        (
            ["convert", "source", "out", "--format", "tar"],
            "expected a name that ends in .tar",
        ),
        (["convert", "source", "out-%d-%d.tar"], "expected one place for the number"),
        (["convert", "source", "."], ". names no data set"),
        (["show", "source", "--out", "sheet"], "needs a name that ends in .png"),
        (
            ["show", "source", "--out", "a.png", "--maximum-length", "1"],
            "no word to show; the first",
        ),
    ],
)
def test_mistakes_are_one_line(arguments, message, data, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    some(Path("source"), 3)
    error = data(*arguments, code=2).err
    assert message in error
    assert error.count("\n") == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["source"]


def test_outputs_that_cannot_be_written(data, tmp_path):
    source = some(tmp_path / "source", 3, labels=["one"])
    nowhere = tmp_path / "source" / "labels.tsv" / "x"
    for arguments in (
        ["inspect", source, "--report", nowhere],
        ["convert", source, nowhere],
        ["show", source, "--out", nowhere.with_suffix(".png")],
    ):
        error = data(*arguments, code=1).err
        assert error.endswith(("Not a directory\n", "File exists\n"))
        assert error.count("\n") == 1
