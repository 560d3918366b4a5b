import json

import pytest

from vit_str.evaluation.words.reading import open_sets, read_words
from vit_str.evaluation.words.report import Report
from vit_str.evaluation.words.results import ReadWords


def test_table(reader, tmp_path, labeled_set):
    folders = [
        labeled_set(tmp_path / "good", {"1.png": "?"}),
        labeled_set(tmp_path / "x" / "good", {"1.png": "wrong", "missing.png": "?"}),
    ]
    sets = {
        name: read_words(reader, source) for name, source in open_sets(folders).items()
    }
    lines = Report(sets).table().splitlines()
    assert lines[0].split()[:4] == ["set", "words", "word", "36"]
    assert lines[0].split()[-2:] == ["word", "full"]
    assert lines[1].split()[:3] == [str(folders[0]), "1", "-"]
    assert lines[2].split()[:5] == [str(folders[1]), "1", "0.0", "[0.0,", "79.3]"]
    assert lines[3].split()[:3] == ["all", "2", "0.0"]
    assert lines[4] == ""
    assert lines[5].split()[-4:] == ["1-NED", "94", "1-NED", "full"]
    assert lines[8].split()[:2] == ["all", "2"]
    assert lines[9] == "percent [95 % interval]"
    assert lines[10].startswith("calibration error of confidences, word 36, 15 bins: ")
    assert "1 labels with none of the 36 characters: not in word 36" in lines
    assert lines[-1] == "1 words without an image or a label: not counted"


def test_calibration_of_what_was_read():
    words = ReadWords(
        ["a", "b", "?!", "x"], ["a", "c", "?!", ""], [0.9, 0.8, 0.7, None]
    )
    report = Report({"set": words})
    values = json.loads(json.dumps(report.to_dict(), allow_nan=False))
    for part in (values["sets"]["set"], values["overall"]):
        assert part["calibration"]["n"] == 2
        assert sum(each["n"] for each in part["calibration"]["bins"]) == 2
        assert part["calibration"]["error"] == pytest.approx((0.1 + 0.8) / 2)
        assert part["calibration_full"]["n"] == 3, "?! can be judged as it is"
    line = next(
        line for line in report.table().splitlines() if line.startswith("calibration")
    )
    assert "set 45.0 [" in line
    assert "all" not in line.split("bins:")[1]
