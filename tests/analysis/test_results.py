import csv
from dataclasses import fields
from pathlib import Path

import torch

from vit_str.analysis.means import mean_over_images
from vit_str.analysis.results import Measurement, of_layers
from vit_str.pages.tables import write_rows


def test_measurements_of_whole_layers() -> None:
    values = torch.tensor([[1.0, 5.0], [3.0, 5.0]], dtype=torch.float64)
    first, second = of_layers("model", "reach", "px", mean_over_images(values))
    assert (first.layer, first.head, first.mean, first.n) == (1, None, 2.0, 2)
    assert (second.layer, second.mean, second.low, second.high) == (2, 5.0, 5.0, 5.0)


def test_a_table_reads_back(tmp_path: Path) -> None:
    path = tmp_path / "new" / "rows.csv"
    measurement = Measurement('a, "b"', 1, None, "reach", "px", "", 1 / 3, 0.0, 1.0, 9)
    write_rows(path, Measurement, [measurement])
    with path.open(newline="") as file:
        (row,) = csv.DictReader(file)
    assert list(row) == [field.name for field in fields(Measurement)]
    assert (row["model"], row["head"], row["mean"]) == ('a, "b"', "", "0.333333")
