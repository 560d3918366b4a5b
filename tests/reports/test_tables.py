import csv
import json

import pytest

from vit_str.reports.tables import write_csv, write_json

NAMES = ["caf\udce9.png", "a\nb.png", "=1+1", "<script>", "\u2028"]


@pytest.mark.parametrize("name", NAMES)
def test_names_of_any_bytes_are_written(name, tmp_path):
    write_json(tmp_path / "a.json", {"name": name})
    assert json.loads((tmp_path / "a.json").read_text("utf-8"))["name"] == name
    write_csv(tmp_path / "a.csv", ["name", "number"], [(name, 0.5), ("b", 1.0)])
    with (tmp_path / "a.csv").open(encoding="utf-8", newline="") as file:
        _, first, second = csv.reader(file)
    assert first == [name.replace("\udce9", "\\udce9"), "0.5"]
    assert second == ["b", "1"]
