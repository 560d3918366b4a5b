from pathlib import Path

import pytest

from vit_str.datasets import Record


def test_a_record_is_read_as_it_was_saved(tmp_path: Path) -> None:
    path = tmp_path / "new" / "render.json"
    record = Record({"seed": 1, "charset": "가é", "ingredients": {"blur": 2.0}}, 9, "vit-str 1")
    record.save(path)
    assert Record.load(path) == record
    assert [file.name for file in path.parent.iterdir()] == ["render.json"]


def test_differences_are_by_name(tmp_path: Path) -> None:
    old = Record({"seed": 1, "size": (32, 128), "gone": 3}, 9)
    new = Record({"seed": 2, "size": [32, 128], "come": 4}, 10)
    assert old.differences(new) == {"seed": (1, 2), "gone": (3, None), "come": (None, 4)}
    assert not old.differences(old)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": "other"}', "\0", "3"])
def test_other_files_are_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "render.json"
    path.write_text(text)
    with pytest.raises(ValueError, match=r"render\.json does not describe a data set"):
        Record.load(path)
