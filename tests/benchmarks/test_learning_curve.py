import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
import learning_curve

LOG = "step,images,learning_rate,all/word_accuracy_36\n"


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "no column step, images, learning_rate"),
        (b"a,b\n1,2\n", "no column step, images, learning_rate"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "'utf-8' codec can't decode"),
        (b'{"step": 1}\n', "no column step, images, learning_rate"),
        (LOG.encode() + b"one,2,3,4\n", "could not convert string to float: 'one'"),
        (LOG.encode() + b"1,2,3,4,5,6\n", "float() argument must be"),
        (LOG.encode() + b",2,3,4\n", "a row without a step"),
        (LOG.encode(), "train with validation"),
    ],
)
def test_a_file_that_is_no_log_is_told_in_one_line(
    content, reason, tmp_path, monkeypatch, capsys
):
    file = tmp_path / "metrics.csv"
    file.write_bytes(content)
    monkeypatch.setattr("sys.argv", ["learning_curve", str(file)])
    assert learning_curve.main() == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert reason in err
    if content != LOG.encode():
        assert f"{file}: not the log of a training; give the folder of a run" in err


def test_legs_without_rows_are_passed_over():
    rows = [{"step": 1.0, "images": 8.0, "learning_rate": 1.0}]
    assert learning_curve.joined([[], rows, []]) == rows
