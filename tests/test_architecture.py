"""docs/architecture.md says the truth: every name in it is in the file that it names."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "vit_str"
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
STEPS = PAGE.partition("## To add something")[0]
NAMED_FILE = re.compile(r"`((?:\w+/)+\w+\.(?:py|m?js|yaml|md))`")
FILE = r"`(?P<file>[\w/]+\.(?:py|js))`"
NAME = r"`(?P<name>[A-Za-z_]\w*(?:\.\w+)*)`"
# `name` in `file`, `name` (`file`), `name`, `other` (`file`) and `name` of the ... (`file`).
FILES = [*PACKAGE.rglob("*.*")]
NAMED = re.compile(rf"{NAME}(?:,? (?:in|of) |\s*\()\s*{FILE}")


def named() -> list[tuple[str, str]]:
    text = " ".join(STEPS.split())
    return [(match["name"], match["file"]) for match in NAMED.finditer(text)]


def test_the_page_names_many():
    assert len(named()) >= 40


@pytest.mark.parametrize(("name", "file"), named())
def test_every_name_is_in_its_file(name, file):
    inside = [path for path in FILES if str(path).endswith("/" + file)]
    path = PACKAGE / file if (PACKAGE / file).is_file() else inside[0]
    code = path.read_text(encoding="utf-8")
    for part in name.split("."):
        assert re.search(
            rf"\b(?:def|class|function) {part}\b|^{part}\b.* = ", code, re.MULTILINE
        ), f"{file} has no {part}"


@pytest.mark.parametrize(
    "file", sorted(set(re.findall(r"`((?:[\w]+/)+[\w]+\.py)`", PAGE)))
)
def test_every_file_is_there(file):
    assert (PACKAGE / file).is_file() or (ROOT / file).is_file()


def test_files_that_texts_and_comments_name_are_there():
    """Anywhere: in documents, docstrings, and the page in the browser."""
    folders = [
        "vit_str",
        "studies",
        "benchmarks",
        "data",
        "docs",
        "configs",
        "tests",
        "examples",
    ]
    files = [*ROOT.glob("*.md")]
    for folder in folders:
        for kind in ("py", "js", "mjs", "md", "yaml"):
            files += (ROOT / folder).rglob(f"*.{kind}")
    known = ["/" + path.relative_to(ROOT).as_posix() for path in files]
    missing = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in files
        for name in NAMED_FILE.findall(path.read_text(encoding="utf-8"))
        if not any(each.endswith(f"/{name}") for each in known)
    ]
    assert "/vit_str/web/shared.js" in known
    assert [each for each in missing if not each.startswith("CHANGELOG")] == []
