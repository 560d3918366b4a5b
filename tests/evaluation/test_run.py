import json
from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image

from vit_str.datasets import LabeledWord, Reason, Skipped, WordSource
from vit_str.evaluation.metrics import METRICS
from vit_str.evaluation.report import Report
from vit_str.evaluation.run import read_sets, size_of
from vit_str.runtime import Reader
from vit_str.runtime.images import load_sized_image

WordImage = Callable[..., Image.Image]


def test_report(
    reader: Reader, tmp_path: Path, word_image: WordImage, labeled_set: Callable[..., Path]
) -> None:
    right = {f"{word}.png": reader.read(word_image(word)).text for word in ("a", "bcd")}
    first = labeled_set(tmp_path / "first", {"a.png": "a", "bcd.png": "bcd"})
    rows = "".join(f"{file}\t{label}\n" for file, label in right.items())
    (first / "labels.tsv").write_text(rows)
    second = labeled_set(tmp_path / "second", {"x.png": "not this", "missing.png": "x"})
    (second / "images" / "damaged.png").write_text("no image")
    with (second / "labels.tsv").open("a") as file:
        file.write("damaged.png\t한글\n")

    advanced: list[None] = []
    report = Report(read_sets(reader, [first, second], advance=lambda: advanced.append(None)))
    assert len(advanced) == 4
    values = json.loads(json.dumps(report.to_dict(), allow_nan=False))
    assert list(values) == ["sets", "overall", "mistakes"]
    assert list(values["sets"]) == ["first", "second"]
    sets, overall = values["sets"], values["overall"]
    assert [sets["first"][metric] for metric in METRICS] == [1] * 8
    assert sets["second"]["word_accuracy_36"] == 0
    assert [sets[name]["n"] for name in sets] == [2, 2]
    assert (overall["n"], overall["unreadable"], overall["missing"]) == (4, 1, 1)
    assert overall["word_accuracy_94"] == pytest.approx(2 / 3)
    assert overall["word_accuracy_full"] == 1 / 2
    assert [line.split(": ")[:2] for line in report.problems] == [
        [str(second), "missing.png"],
        [str(second), "damaged.png"],
    ]
    assert [mistake["label"] for mistake in values["mistakes"]] == ["not this"]


def test_nothing_to_evaluate(reader: Reader, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"nothing to evaluate"):
        read_sets(reader, [])
    (tmp_path / "labels.tsv").touch()
    report = Report(read_sets(reader, [tmp_path]))
    assert report.to_dict()["overall"]["n"] == 0
    assert report.to_dict()["overall"]["word_accuracy_36"] is None
    assert report.table().splitlines()[1].split()[1:] == ["0", "-", "-", "-", "-"]


class Made(WordSource):
    """Words in memory, in a format of its own."""

    format = "made"
    words: tuple[LabeledWord | Skipped, ...] = ()

    def __len__(self) -> int:
        return len(self.words)

    def __getitem__(self, index: int) -> LabeledWord | Skipped:
        return self.words[index]


def test_words_that_are_bytes_read_as_those_in_files(
    reader: Reader, tmp_path: Path, word_image: WordImage, labeled_set: Callable[..., Path]
) -> None:
    folder = labeled_set(tmp_path / "set", {f"{n}.png": f"word{n}" for n in range(9)})
    from_files = read_sets(reader, [folder], batch_size=2)["set"]
    images = [(folder / "images" / f"{n}.png").read_bytes() for n in range(9)]
    read = reader.read(images, 2)
    assert from_files.confidences == pytest.approx([reading.confidence for reading in read])
    made = Made(tmp_path / "made")
    made.words = (
        *(LabeledWord(image, f"word{n}") for n, image in enumerate(images[:4])),
        Skipped("key 4", Reason.NO_LABEL),
        LabeledWord(b"no image", "x", name="key 5"),
        *(LabeledWord(image, f"word{n}") for n, image in enumerate(images[4:], 4)),
    )
    found = read_sets(reader, [made], batch_size=2)["made"]
    assert found.places == [0, 1, 2, 3, 5, 6, 7, 8, 9, 10]
    assert found.texts.pop(4) == found.labels.pop(4).replace("x", "") == ""
    assert found.confidences.pop(4) is None
    assert found.sizes.pop(4) is None
    assert (found.labels, found.texts) == (from_files.labels, from_files.texts)
    assert found.confidences == pytest.approx(from_files.confidences, rel=1e-3)
    assert found.sizes == from_files.sizes == [(32, 128)] * 9
    assert found.missing == [f"{tmp_path / 'made'}: key 4: no label"]
    (damaged,) = found.damaged
    assert damaged.startswith(f"{tmp_path / 'made'}: key 5: not an image")


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "TIFF", "BMP"])
@pytest.mark.parametrize("orientation", [None, 6])
def test_sizes_are_those_of_the_image_upright(
    kind: str, orientation: int | None, tmp_path: Path, word_image: WordImage
) -> None:
    exif = Image.Exif()
    if orientation:
        exif[0x0112] = orientation
    path = tmp_path / "image"
    keep = {} if kind == "BMP" else {"exif": exif}
    word_image("x", size=(90, 31)).save(path, kind, **keep)
    expected = load_sized_image(path)[1]
    assert expected == ((90, 31) if orientation == 6 and kind != "BMP" else (31, 90))
    assert size_of(path.read_bytes()) == expected
