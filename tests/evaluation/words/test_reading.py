import json

import pytest

from vit_str.datasets import open_words
from vit_str.evaluation.metrics import METRICS
from vit_str.evaluation.words.reading import open_sets, read_words
from vit_str.evaluation.words.report import Report


def test_report(reader, tmp_path, word_image, labeled_set):
    right = {f"{word}.png": reader.read(word_image(word)).text for word in ("a", "bcd")}
    first = labeled_set(tmp_path / "first", {"a.png": "a", "bcd.png": "bcd"})
    rows = "".join(f"{file}\t{label}\n" for file, label in right.items())
    (first / "labels.tsv").write_text(rows)
    second = labeled_set(tmp_path / "second", {"x.png": "not this", "missing.png": "x"})
    (second / "images" / "damaged.png").write_text("no image")
    with (second / "labels.tsv").open("a") as file:
        file.write("damaged.png\t한글\n")

    advanced: list[None] = []
    how = 32, None, lambda: advanced.append(None)
    sets = open_sets([first, second])
    report = Report({name: read_words(reader, sets[name], *how) for name in sets})
    assert len(advanced) == 4
    values = json.loads(json.dumps(report.to_dict(), allow_nan=False))
    assert list(values) == ["sets", "overall", "mistakes"]
    assert list(values["sets"]) == ["first", "second"]
    sets = values["sets"]
    overall = values["overall"]
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


def test_nothing_to_evaluate(reader, tmp_path):
    (tmp_path / "labels.tsv").touch()
    report = Report({"x": read_words(reader, open_words(tmp_path))})
    assert report.to_dict()["overall"]["n"] == 0
    assert report.to_dict()["overall"]["word_accuracy_36"] is None
    assert report.table().splitlines()[1].split()[1:] == ["0", "-", "-", "-", "-"]


def test_a_folder_without_words_is_refused(tmp_path, run):
    (tmp_path / "labels.tsv").touch()
    code, out, err = run("evaluate", tmp_path)
    assert (code, out) == (2, "") and "holds no labeled words" in err
