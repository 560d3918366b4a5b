import json
from pathlib import Path

import pytest

from vit_str.datasets.record import begin_or_resume


def test_a_data_set_is_resumed_with_the_same_arguments_only(tmp_path: Path) -> None:
    path = tmp_path / "new" / "render.json"
    made_with = {"seed": 1, "charset": "가é", "size": (32, 128)}
    for count in (9, 12):
        assert begin_or_resume(path, made_with, count, "vit-str 1") == {}
        assert json.loads(path.read_text(encoding="utf-8")) == {
            "format": "vit-str render",
            "made_by": "vit-str 1",
            "count": count,
            "made_with": {"seed": 1, "charset": "가é", "size": [32, 128]},
        }
    before = path.read_bytes()
    differences = begin_or_resume(path, {"seed": 2, "size": [32, 128], "come": 4}, 9, "other")
    assert differences == {"seed": (1, 2), "charset": ("가é", None), "come": (None, 4)}
    assert path.read_bytes() == before
    assert [file.name for file in path.parent.iterdir()] == ["render.json"]


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": "other"}', "\0", "3"])
def test_other_files_are_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "render.json"
    path.write_text(text)
    with pytest.raises(ValueError, match=r"render\.json does not describe a data set"):
        begin_or_resume(path, {}, 9, "vit-str 1")
