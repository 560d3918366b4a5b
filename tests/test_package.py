"""What is given away: the metadata of the package, and the container."""

import re
import shutil
import subprocess
import sys
import tomllib
from fnmatch import fnmatch
from pathlib import Path

import yaml

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


def test_the_container_serves_pages_and_photographs_too():
    assert '".[serve,photo]"' in DOCKERFILE
    assert {"serve", "photo"} <= {*PROJECT["optional-dependencies"]}


def test_a_release_has_the_addresses_of_its_repository(tmp_path):
    """A package index has no files beside the README: pictures and links need whole addresses."""
    for name in ("README.md", "pyproject.toml", "CITATION.cff"):
        shutil.copy(ROOT / name, tmp_path)
    url = "https://github.com/someone/some-thing"
    command = [sys.executable, str(ROOT / "tests/give_addresses.py"), url, "v1.2.3"]
    subprocess.run(command, check=True, cwd=tmp_path)
    project = tomllib.loads((tmp_path / "pyproject.toml").read_text("utf-8"))["project"]
    assert project.pop("urls")["Homepage"] == url
    assert project == PROJECT
    readme = (tmp_path / "README.md").read_text("utf-8")
    assert f"`git clone {url}`, or" in " ".join(readme.split())
    citation = yaml.safe_load((tmp_path / "CITATION.cff").read_text("utf-8"))
    assert citation.pop("repository-code") == url
    assert citation.pop("url") == f"{url}/tree/v1.2.3"
    assert citation == yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    links = re.findall(r"\]\(([^)]*)\)", readme)
    assert links
    assert all(link.startswith(("https://", "http://")) for link in links)
    own = [link.removeprefix(f"{url}/") for link in links if link.startswith(url)]
    for link in own:
        kind, tag, path = link.partition("#")[0].split("/", 2)
        assert (kind, tag) == (
            "raw" if path.endswith((".png", ".svg")) else "blob",
            "v1.2.3",
        )
        assert (ROOT / path).is_file()
    assert subprocess.run(command, cwd=tmp_path, capture_output=True).returncode == 1


def test_the_lock_for_development_is_of_this_project():
    """From the public index alone; `uv lock --check` of CI looks at everything else."""
    lock = tomllib.loads((ROOT / "uv.lock").read_text("utf-8"))
    (own,) = (each for each in lock["package"] if each["name"] == PROJECT["name"])
    assert own["version"] == PROJECT["version"]
    assert {*own["optional-dependencies"]} == {*PROJECT["optional-dependencies"]}
    others = [each["source"] for each in lock["package"] if each is not own]
    assert all(each == {"registry": "https://pypi.org/simple"} for each in others)


def test_a_citation_names_the_version_of_the_package():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert citation["version"] == PROJECT["version"]
    assert citation["license"] in PROJECT["license"]


def test_forms_for_issues_ask_for_what_is_needed():
    """GitHub shows a form only if each of its parts has a type, a name of its own and a label."""
    forms = sorted((ROOT / ".github/ISSUE_TEMPLATE").glob("*.yml"))
    assert {"bug.yml", "misread.yml"} <= {form.name for form in forms}
    for form in forms:
        content = yaml.safe_load(form.read_text("utf-8"))
        if form.name == "config.yml":
            continue
        assert content["name"] and content["description"]
        fields = [part for part in content["body"] if part["type"] != "markdown"]
        assert len({field["id"] for field in fields}) == len(fields)
        assert all(field["attributes"]["label"] for field in fields)
        assert "--version" in fields[-1]["attributes"]["label"]


def test_the_classifiers_name_the_versions_that_are_tested():
    named = {
        each.rpartition(" ")[2] for each in PROJECT["classifiers"] if ":: 3." in each
    }
    workflow = (ROOT / ".github/workflows/tests.yml").read_text("utf-8")
    matrix = yaml.safe_load(workflow)["jobs"]["tests"]["strategy"]["matrix"]
    assert named == {*matrix["python"]}
    assert "3.14" in named
