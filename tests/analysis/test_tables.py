import csv
from pathlib import Path

import pytest
import torch

from vit_str.analysis.results import COLUMNS, Row, layer_rows, write_csv, write_rows, write_whole
from vit_str.statistics import mean_over_images


def test_rows_of_whole_layers() -> None:
    values = torch.tensor([[1.0, 5.0], [3.0, 5.0]], dtype=torch.float64)
    first, second = layer_rows("model", "reach", "px", mean_over_images(values))
    assert (first.layer, first.head, first.mean, first.n) == (1, None, 2.0, 2)
    assert (second.layer, second.mean, second.low, second.high) == (2, 5.0, 5.0, 5.0)


def test_a_table_reads_back(tmp_path: Path) -> None:
    path = tmp_path / "new" / "rows.csv"
    write_rows(path, [Row('a, "b"', 1, None, "reach", "px", "", 1 / 3, 0.0, 1.0, 9)])
    with path.open(newline="") as file:
        (row,) = csv.DictReader(file)
    assert tuple(row) == COLUMNS
    assert (row["model"], row["head"], row["mean"]) == ('a, "b"', "", "0.333333")


def test_a_file_is_written_whole_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "table.csv"
    write_csv(path, ["old"], [])

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(OSError, match="No space"):
        write_whole(path, b"new")
    assert [file.name for file in tmp_path.iterdir()] == ["table.csv"]
    assert path.read_text() == "old\n"
