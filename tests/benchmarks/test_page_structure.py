"""Results that a run of before has kept."""

import os
import sys
from pathlib import Path

import vit_str

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
import page_structure


def test_results_of_older_code_or_weights_are_outdated(tmp_path):
    path = tmp_path / "page.txt"
    assert not page_structure.is_outdated(path)
    path.write_text("as it was read")
    assert not page_structure.is_outdated(path)
    changed = Path(vit_str.__file__).stat().st_mtime
    os.utime(path, (changed - 1, changed - 1))
    assert page_structure.is_outdated(path)
