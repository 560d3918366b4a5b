"""What is given away: the metadata of the package, and the container."""

import tomllib
from fnmatch import fnmatch
from pathlib import Path

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))[
    "project"
]
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")


def test_the_metadata_names_authors_licenses_and_the_readme():
    assert all(author["name"] for author in PROJECT["authors"])
    assert {"LICENSE", "NOTICE"} <= {*PROJECT["license-files"]}
    for name in (PROJECT["readme"], *PROJECT["license-files"]):
        assert (ROOT / name).is_file()


def test_the_container_gets_what_it_is_built_from():
    """What .dockerignore leaves out cannot be copied, and the build would end there."""
    lines = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    copied = [
        name
        for line in DOCKERFILE.splitlines()
        if line.startswith("COPY ") and "--from" not in line
        for name in line.split()[1:-1]
    ]
    assert {"pyproject.toml", PROJECT["readme"], *PROJECT["license-files"]} <= {*copied}
    for name in copied:
        assert (ROOT / name).exists()
        is_ignored = False
        for line in filter(None, lines):
            if fnmatch(name, line.removeprefix("!")):
                is_ignored = not line.startswith("!")
        assert not is_ignored, f".dockerignore leaves out {name}"


def test_the_container_serves_pages_too():
    assert '".[serve,page]"' in DOCKERFILE
    assert {"serve", "page"} <= {*PROJECT["optional-dependencies"]}
