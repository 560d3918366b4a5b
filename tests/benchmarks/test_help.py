"""Every benchmark starts."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "benchmarks"
README = (FOLDER / "README.md").read_text(encoding="utf-8")
SCRIPTS = sorted(
    path for path in FOLDER.glob("*.py") if "__main__" in path.read_text("utf-8")
)
# What benchmarks compare with. Not transformers: torchmetrics imports it wherever it is installed.
OPTIONAL = ("imgaug", "rapidocr", "ray", "synthtiger", "timm", "trdg")
# What they import takes seconds: it is imported once, and each starts in a fork
IMPORTED = sorted(
    {
        name
        for path in SCRIPTS
        for name in re.findall(
            r"^from ((?!__)\S+) import", path.read_text("utf-8"), re.M
        )
        if not name.startswith(OPTIONAL)
    }
)
PROGRAM = f"""
import importlib, json, os, runpy, sys, tempfile, traceback
for name in {OPTIONAL}:
    sys.modules[name] = None
sys.path[0] = {str(FOLDER)!r}
for name in {IMPORTED}:
    importlib.import_module(name)
for line in sys.stdin:
    path = line.strip()
    with tempfile.TemporaryFile() as printed, tempfile.TemporaryFile() as errors:
        child = os.fork()
        if not child:
            os.dup2(printed.fileno(), 1)
            os.dup2(errors.fileno(), 2)
            sys.argv = [path, "--help"]
            code = 1
            try:
                runpy.run_path(path, run_name="__main__")
                code = 0
            except SystemExit as end:
                code = end.code
            except BaseException:
                traceback.print_exc()
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)  # to end as usual takes seconds with all that is imported
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        texts = []
        for file in (printed, errors):
            file.seek(0)
            texts.append(file.read().decode())
    print(json.dumps([code, *texts]), flush=True)
"""


@pytest.fixture(scope="module")
def help_of() -> Iterator[Callable[[Path], tuple[int, str, str]]]:
    """Starts a benchmark with ``--help``: the exit code, what it prints, and its errors."""
    if not hasattr(os, "fork"):
        pytest.skip("no forks")
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": str(FOLDER.parent)},
    ) as process:

        def ask(path: Path) -> tuple[int, str, str]:
            process.stdin.write(f"{path}\n")
            process.stdin.flush()
            return tuple(json.loads(process.stdout.readline()))

        yield ask
        process.stdin.close()


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_help_is_printed_without_peers(path, help_of):
    code, printed, errors = help_of(path)
    assert code == 0, errors
    assert printed.startswith("usage: ")
    assert not errors
    for command in re.findall(rf"`python benchmarks/{path.name}([^`]*)`", README):
        own = command.partition(" [-- ")[0]  # behind it are options of vit-str train
        for option in re.findall(r"--[\w-]+", own):
            assert option in printed, "the README names an option that does not exist"


def test_the_readme_names_the_files_that_exist():
    names = {name.rpartition("/")[2] for name in re.findall(r"[\w/]+\.py", README)}
    assert names == {path.name for path in FOLDER.glob("*.py")}
