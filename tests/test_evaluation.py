import json
from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image

from vit_str.evaluation import LabeledImages, ReadWords, evaluate, read_sets, together
from vit_str.metrics import METRICS
from vit_str.reading import Reader


@pytest.fixture
def labeled_set(word_image: Callable[..., Image.Image]) -> Callable[..., Path]:
    """Makes a folder with one image per label; those named missing.png are left out."""

    def make(folder: Path, labels: dict[str, str], images: str = "images") -> Path:
        (folder / images).mkdir(parents=True)
        for file, label in labels.items():
            if file != "missing.png":
                word_image(label).save(folder / images / file)
        rows = "".join(f"{file}\t{label}\n" for file, label in labels.items())
        (folder / "labels.tsv").write_text(rows, encoding="utf-8")
        return folder

    return make


def test_images_beside_the_labels_or_in_a_folder(
    tmp_path: Path, labeled_set: Callable[..., Path]
) -> None:
    labels = {"1.png": "Café", "2.png": "a b\tc"}
    for images in ("images", "."):
        found = LabeledImages(labeled_set(tmp_path / f"set{images}x", labels, images))
        assert found.labels == list(labels.values())
        assert [path.name for path in found.paths] == list(labels)
        assert len(found) == 2


def test_labels_with_a_byte_order_mark_blank_lines_and_windows_line_ends(
    tmp_path: Path, labeled_set: Callable[..., Path]
) -> None:
    folder = labeled_set(tmp_path / "set", {"1.png": "x"})
    (folder / "labels.tsv").write_bytes(b"\xef\xbb\xbf1.png\tx\r\n\r\n  \n1.png\t y\x0c\r\n")
    assert LabeledImages(folder).labels == ["x", " y\x0c"]


def test_labels_that_cannot_be_understood(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"labels.tsv: no such file; a set is a folder"):
        LabeledImages(tmp_path)
    (tmp_path / "labels.tsv").write_bytes(b"1.png\tcaf\xe9\n")
    with pytest.raises(ValueError, match=r"not UTF-8 at byte 9"):
        LabeledImages(tmp_path)
    (tmp_path / "labels.tsv").write_text("1.png\tx\n2.png y\n")
    with pytest.raises(ValueError, match=r"line 2: expected file, tab, label, found '2.png y'"):
        LabeledImages(tmp_path)


def test_report(
    reader: Reader,
    tmp_path: Path,
    word_image: Callable[..., Image.Image],
    labeled_set: Callable[..., Path],
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
    report = evaluate(reader, [first, second], advance=lambda: advanced.append(None))
    assert len(advanced) == 4
    values = json.loads(json.dumps(report.to_dict(), allow_nan=False))
    assert list(values) == ["sets", "overall"]
    assert list(values["sets"]) == ["first", "second"]
    sets, overall = values["sets"], values["overall"]
    assert [sets["first"][metric] for metric in METRICS] == [1] * 5
    assert sets["second"]["word_accuracy_36"] == 0
    assert [sets[name]["n"] for name in sets] == [2, 2]
    assert (overall["n"], overall["unreadable"], overall["missing"]) == (4, 1, 1)
    assert overall["left_out"]["word_accuracy_94"] == 1
    assert overall["word_accuracy_94"] == pytest.approx(2 / 3)
    for metric in METRICS:
        low, high = overall["interval"][metric]
        assert 0 <= low <= overall[metric] <= high <= 1
    assert [line.partition(": ")[0] for line in report.troubles] == [
        str(second / "missing.png"),
        str(second / "images" / "damaged.png"),
    ]


def test_table(reader: Reader, tmp_path: Path, labeled_set: Callable[..., Path]) -> None:
    folders = [
        labeled_set(tmp_path / "good", {"1.png": "?"}),
        labeled_set(tmp_path / "x" / "good", {"1.png": "wrong", "missing.png": "?"}),
    ]
    lines = evaluate(reader, folders).table().splitlines()
    assert lines[0].split()[:4] == ["set", "words", "word", "36"]
    assert lines[0].split()[-2:] == ["character", "1-NED"]
    assert lines[1].split()[:3] == [str(folders[0]), "1", "-"]
    assert lines[2].split()[:5] == [str(folders[1]), "1", "0.0", "[0.0,", "79.3]"]
    assert lines[3].split()[:3] == ["all", "2", "0.0"]
    assert lines[4] == "percent [95 % interval]"
    assert lines[5].startswith("calibration error of confidences, word 36, 15 bins: ")
    assert "1 labels with none of the 36 characters: not in word 36" in lines
    assert lines[-1] == "1 labels without an image: not counted"


def test_damaged_images_count_as_wrong(
    reader: Reader,
    tmp_path: Path,
    word_image: Callable[..., Image.Image],
    labeled_set: Callable[..., Path],
) -> None:
    text = reader.read(word_image("a")).text
    folder = labeled_set(tmp_path / "set", {"a.png": "a"})
    (folder / "bad.png").write_bytes(b"")
    (folder / "labels.tsv").write_text(f"a.png\t{text}\nbad.png\t{text}\n")
    report = evaluate(reader, [folder])
    assert report.overall.values["word_accuracy_94"] == 0.5
    assert report.overall.values["character_accuracy"] == 0.5
    assert report.table().splitlines()[-1] == "1 damaged images: counted as read wrong"


def test_nothing_to_evaluate(reader: Reader, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"nothing to evaluate"):
        evaluate(reader, [])
    (tmp_path / "labels.tsv").touch()
    report = evaluate(reader, [tmp_path])
    assert report.to_dict()["overall"]["n"] == 0
    assert report.to_dict()["overall"]["word_accuracy_36"] is None
    assert report.table().splitlines()[1].split()[1:] == ["0", "-", "-", "-", "-", "-"]


def test_calibration_of_what_was_read(
    reader: Reader,
    tmp_path: Path,
    word_image: Callable[..., Image.Image],
    labeled_set: Callable[..., Path],
) -> None:
    """One word right, one wrong; none of the other two has anything to be sure of."""
    reading = reader.read(word_image("a"))
    folder = labeled_set(tmp_path / "set", {"1.png": "a", "2.png": "a", "3.png": "a"})
    (folder / "bad.png").write_bytes(b"")
    labels = [f"1.png\t{reading.text}x1", f"2.png\t{reading.text}wrong", "3.png\t?!", "bad.png\tx"]
    (folder / "labels.tsv").write_text("\n".join(labels) + "\n")
    words = read_sets(reader, [folder])["set"]
    assert words.confidences[3] is None
    words.texts[0] = words.labels[0]
    found = words.calibration()
    assert found.n == 2
    assert found.error == pytest.approx(abs(reading.confidence - 0.5), abs=1e-4)
    report = evaluate(reader, [folder])
    values = json.loads(json.dumps(report.to_dict(), allow_nan=False))
    for part in (values["sets"]["set"], values["overall"]):
        assert part["calibration"]["n"] == 2
        assert sum(each["n"] for each in part["calibration"]["bins"]) == 2
        assert part["calibration"]["error"] == pytest.approx(reading.confidence, abs=1e-4)
    line = next(line for line in report.table().splitlines() if line.startswith("calibration"))
    assert f"set {100 * report.overall_calibration.error:.1f} [" in line
    assert "all" not in line.split("bins:")[1]


def test_words_of_all_sets_together() -> None:
    first = ReadWords(["a", "b"], ["a", "x"], [0.9, 0.1], ["m: missing"])
    second = ReadWords(["c"], [""], [None], [], ["d: damaged"])
    whole = together([first, second])
    assert whole.labels == ["a", "b", "c"]
    assert whole.confidences == [0.9, 0.1, None]
    assert (whole.missing, whole.damaged) == (["m: missing"], ["d: damaged"])
    assert whole.right().tolist() == [True, False, False]
    assert first.labels == ["a", "b"]
    scores = whole.scores()
    assert (scores.n, scores.unreadable, scores.missing) == (3, 1, 1)
