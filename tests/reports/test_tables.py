import csv
import json
from dataclasses import dataclass

import pytest

from vit_str.reports.tables import write_json, write_rows

NAMES = ["caf\udce9.png", "a\nb.png", "=1+1", "<script>", "\u2028"]


@dataclass
class Row:
    name: str
    number: float


@pytest.mark.parametrize("name", NAMES)
def test_names_of_any_bytes_are_written(name, tmp_path):
    write_json(tmp_path / "a.json", {"name": name})
    assert json.loads((tmp_path / "a.json").read_text("utf-8"))["name"] == name
    write_rows(tmp_path / "a.csv", Row, [Row(name, 0.5), Row("b", 1.0)])
    with (tmp_path / "a.csv").open(encoding="utf-8", newline="") as file:
        _, first, second = csv.reader(file)
    assert first == [name.replace("\udce9", "\\udce9"), "0.5"]
    assert second == ["b", "1"]
