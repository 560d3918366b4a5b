"""Every benchmark starts."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "benchmarks"
README = (FOLDER / "README.md").read_text(encoding="utf-8")
SCRIPTS = sorted(
    path for path in FOLDER.glob("*.py") if "__main__" in path.read_text("utf-8")
)
# What benchmarks compare with. Not transformers: torchmetrics imports it wherever it is installed.
OPTIONAL = ("imgaug", "rapidocr", "ray", "synthtiger", "timm", "trdg")
WITHOUT_THEM = f"""
import runpy, sys
for name in {OPTIONAL}:
    sys.modules[name] = None
path = sys.argv[1]
sys.path[0] = {str(FOLDER)!r}
sys.argv = [path, "--help"]
runpy.run_path(path, run_name="__main__")
"""


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_help_is_printed_without_peers(path):
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_THEM, str(path)],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONPATH": str(FOLDER.parent)},
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("usage: ")
    assert not done.stderr
    for command in re.findall(rf"`python benchmarks/{path.name}([^`]*)`", README):
        own = command.partition(" [-- ")[0]  # behind it are options of vit-str train
        for option in re.findall(r"--[\w-]+", own):
            assert option in done.stdout, (
                "the README names an option that does not exist"
            )


def test_the_readme_names_the_files_that_exist():
    names = {name.rpartition("/")[2] for name in re.findall(r"[\w/]+\.py", README)}
    assert names == {path.name for path in FOLDER.glob("*.py")}
