import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.changed import changed_files, reached_tests

ROOT = Path(__file__).parents[1]
FILES = {
    "vit_str/__init__.py": "from typing import TYPE_CHECKING\n"
    "if TYPE_CHECKING:\n    from vit_str.reader import load\n",
    "vit_str/cli.py": 'COMMANDS = {"read": Command("read", "reader"), '
    '"train": Command("train", "training")}\n',
    "vit_str/reader.py": "from vit_str.images import open_image\n",
    "vit_str/images.py": "def open_image(): ...\n",
    "vit_str/training.py": "def run():\n    from vit_str import texts\n",
    "vit_str/texts.py": 'PATTERNS = contents("patterns")\n',
    "vit_str/data/patterns.yaml": "a: b\n",
    "vit_str/types.py": "class Shape: ...\n",
    "data/make.py": "import vit_str.texts\n",
    "docs/page.md": "# Page\n",
    "tests/conftest.py": "from vit_str.reader import load\nfrom vit_str.types import Shape\n\n"
    "@pytest.fixture\ndef reader(): return load()\n\n"
    "@pytest.fixture\ndef shape(): return Shape()\n",
    "tests/test_images.py": "from vit_str.images import open_image\n",
    "tests/test_package.py": "import vit_str\ndef load(): return vit_str.load()\n",
    "tests/test_reading.py": "def test_it(reader): ...\n",
    "tests/test_shape.py": "def test_it(shape): ...\n",
    "tests/test_train.py": 'def test_it(run): run("train")\n',
    "tests/test_make.py": 'SCRIPT = "data/make.py"\n',
    "tests/test_docs.py": 'PAGES = "docs"\n',
}


@pytest.fixture
def repository(tmp_path) -> Path:
    """A small one, with a commit on its branch ``main``."""
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    _git(tmp_path, "init", "-q", "-b", "main")
    _git(tmp_path, "add", ".")
    _git(tmp_path, "commit", "-qm", "Begin")
    return tmp_path


def _git(folder: Path, *arguments: str) -> None:
    who = ["-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *who, *arguments], cwd=folder, check=True)


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ("vit_str/images.py", "images package reading"),
        ("vit_str/reader.py", "package reading"),
        ("vit_str/types.py", "shape"),
        ("vit_str/training.py", "train"),
        ("vit_str/data/patterns.yaml", "make train"),
        ("data/make.py", "make"),
        ("docs/page.md", "docs"),
        ("tests/test_docs.py", "docs"),
        ("tests/conftest.py", "docs images make package reading shape train"),
        ("pyproject.toml", "docs images make package reading shape train"),
        ("LICENSE", ""),
    ],
)
def test_what_a_file_reaches(repository, changed, expected):
    reached = reached_tests(repository, [changed])
    assert sorted(reached) == [f"tests/test_{name}.py" for name in expected.split()]


def test_what_is_nearest_comes_first(repository):
    reached = reached_tests(repository, ["vit_str/images.py"])
    assert reached["tests/test_images.py"] < reached["tests/test_package.py"]


def test_changes_are_those_of_the_branch_and_of_the_folder(repository):
    _git(repository, "checkout", "-qb", "branch")
    (repository / "vit_str" / "images.py").write_text("")
    _git(repository, "commit", "-qam", "Change")
    (repository / "vit_str" / "reader.py").unlink()
    (repository / "new.py").write_text("")
    names = ["new.py", "vit_str/images.py", "vit_str/reader.py"]
    assert changed_files(repository, "main") == names
    with pytest.raises(ValueError, match=r"--changed: .*nowhere"):
        changed_files(repository, "nowhere")


def test_the_option_leaves_out_what_is_not_reached(repository):
    for name in ("images", "shape", "docs"):
        file = repository / "tests" / f"test_{name}.py"
        file.write_text(file.read_text() + f"\ndef test_of_{name}(): ...\n")
    (repository / "pyproject.toml").write_text("[tool.pytest.ini_options]\n")
    _git(repository, "add", ".")
    _git(repository, "commit", "-qm", "Add tests")
    (repository / "vit_str" / "images.py").write_text("open_image = 1\n")
    (repository / "docs" / "page.md").write_text("")
    found = _tested(repository, "--co", "-q", "--changed")
    assert "::test_of_docs" in found
    assert found.index("::test_of_docs") < found.index("::test_of_images")
    assert "::test_of_shape" not in found
    assert "::test_it" in found, "over a fixture"
    assert "::test_it" not in _tested(repository, "--co", "-q", "--changed", "--near")
    assert "::test_of_shape" in _tested(repository, "--co", "-q")
    in_workers = _tested(repository, "-n", "2", "--changed", "--near")
    assert "2 passed" in in_workers and "failed" not in in_workers
    assert "--changed: " in _tested(
        repository, "--co", "-q", "--changed", "--base=nowhere"
    )


def _tested(repository: Path, *options: str) -> str:
    """What pytest says."""
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "changed",
        "-p",
        "no:cacheprovider",
    ]
    done = subprocess.run(
        [*command, "--noconftest", *options, "tests"],
        cwd=repository,
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONPATH": f"{ROOT / 'tests'}{os.pathsep}{repository}"},
    )
    return done.stdout + done.stderr
