"""What the README shows is what happens."""

import argparse
import ast
import hashlib
import io
import re
import shlex
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
import torch
from PIL import Image

from vit_str.analysis.command import ANALYSES
from vit_str.cli import COMMANDS, main
from vit_str.datasets.inspection import bundled_characters

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.DOTALL | re.MULTILINE)


def labels() -> dict[str, str]:
    lines = (
        (ROOT / "data" / "samples" / "labels.tsv")
        .read_text(encoding="utf-8")
        .splitlines()
    )
    return {
        "data/samples/images/" + line.split("\t")[0]: line.split("\t")[1]
        for line in lines
    }


def test_the_characters_of_the_bundled_weights_are_counted():
    """In the README, and in their card, which names the charset too."""
    count = f"{len(bundled_characters())} characters"
    card = (ROOT / "data" / "models" / "tiny.md").read_text(encoding="utf-8")
    assert count in README
    assert count in card


def test_figures_of_words_say_what_was_chosen_on_them():
    """And they are of the weights in the package."""
    section = README.partition("## How well it reads")[2].partition("\n## ")[0]
    below = " ".join(section.partition("| all |")[2].split())
    assert "These words are a development set" in below
    assert "limits of the second look were chosen on them" in below
    tiny = (ROOT / "vit_str/bundled/tiny.safetensors").read_bytes()
    assert hashlib.sha256(tiny).hexdigest()[:12] in section


def test_figures_of_systems_stand_on_one_page():
    """So that no two pages compare the systems under different recipes."""
    row = re.compile(r"^\|.*\bCRNN\b.*\d\.\d \[", re.MULTILINE)
    pages = [ROOT / "README.md", *ROOT.glob("docs/*.md"), *ROOT.glob("data/**/*.md")]
    compare = [page.name for page in pages if row.search(page.read_text("utf-8"))]
    assert compare == ["systems.md"]


def test_the_samples_read_as_shown(monkeypatch, capsys):
    """Path and text exactly; the confidence depends a little on the processor."""
    monkeypatch.chdir(ROOT)
    assert main(["read", "data/samples"]) == 0
    read = [line.split("\t")[:2] for line in capsys.readouterr().out.splitlines()]
    shown = [line.split()[:2] for line in blocks("text")[0].splitlines()]
    assert read[: len(shown)] == shown
    assert dict(read) == labels()


def test_the_python_example_runs(monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    code, _ = blocks("python")
    assert len(ast.parse(code).body) <= 5
    exec(compile(code, "README.md", "exec"), {})  # noqa: S102 - it is our own
    assert capsys.readouterr().out.startswith(
        labels()["data/samples/images/word-01.png"]
    )


def test_the_example_of_the_lab_runs():
    timm_vit = pytest.importorskip("timm.models.vision_transformer")
    vit = timm_vit.VisionTransformer(embed_dim=24, depth=2, num_heads=3)
    _, code = blocks("python")
    names = {"vit": vit, "images": torch.randn(2, 3, 224, 224)}
    exec(compile(code, "README.md", "exec"), names)  # noqa: S102 - it is our own
    table = names["result"].to_frame()
    heads = table[
        (table.metric == "distance") & (table.unit == "px") & table["head"].notna()
    ]
    assert len(heads) == 2 * 3


@pytest.mark.usefixtures("undrawn")
def test_the_analysis_runs(monkeypatch, tmp_path):
    monkeypatch.chdir(ROOT)
    command = blocks("bash")[2].rpartition("&&")[2].split()
    assert command[:2] == ["vit-str", "analyze"]
    out = command.index("--out") + 1
    command[out] = str(tmp_path / "attention")
    assert main([*command[1:], "--data", "data/samples", "--gradients", "2"]) == 0
    assert (tmp_path / "attention" / "report.html").is_file()
    section = README.partition("## Look inside")[2].partition("\n## ")[0]
    listed = set(re.findall(r"`([a-z-]+)`", section)) | {command[2]}
    assert set(ANALYSES) <= listed


DOCUMENTS = [*sorted((ROOT / "docs").glob("*.md"))]
# A server, and models from the network; tests/serving and tests/test_docling.py have both.
ELSEWHERE = {"serving.md", "docling.md"}


def examples() -> list[tuple[str, str]]:
    """All blocks of Python in docs/, each with the name of its page."""
    pattern = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
    found = [
        (p.name, code)
        for p in DOCUMENTS
        for code in pattern.findall(p.read_text("utf-8"))
    ]
    trains = "AttentionMonitor("  # tests/analysis/test_monitor.py has it
    return [
        (name, code)
        for name, code in found
        if name not in ELSEWHERE and trains not in code
    ]


@pytest.mark.parametrize(("name", "code"), examples(), ids=lambda each: each[:12])
def test_examples_of_the_documents_run(name, code, monkeypatch, tmp_path):
    """Each as it stands, in a folder with what it names."""
    for library in ("cv2",) if "load_page" in code else ():
        pytest.importorskip(library)
    (tmp_path / "data").symlink_to(ROOT / "data")
    (tmp_path / "crops").symlink_to(ROOT / "data" / "samples")
    if "docling" in code:
        pytest.importorskip("docling")
    (tmp_path / "answer.md").write_text("Museum\n")
    for each in ("street.jpg", "a.png", "b.png", "page.png"):
        shutil.copy(ROOT / "data/samples/images/word-01.png", tmp_path / each)
    if "scan.pdf" in code:
        page = Image.open(ROOT / "data/samples/images/word-01.png").convert("RGB")
        page.save(tmp_path / "scan.pdf", save_all=True, append_images=[page, page])
    monkeypatch.chdir(tmp_path)
    if "more.lmdb" in code:
        assert main(["data", "convert", "crops", "more.lmdb"]) == 0
    monkeypatch.setattr("sys.stdout", io.StringIO())
    exec(compile(code, name, "exec"), {"__name__": "example"})  # noqa: S102 - it is our own


def commands(text: str) -> list[list[str]]:
    """Every call of vit-str in the blocks of bash, without what the shell makes of it."""
    blocks = re.findall(r"^```bash\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    lines = "".join(blocks).replace("\\\n", " ").splitlines()
    parts = [
        shlex.split(part, comments=True) for line in lines for part in line.split("&&")
    ]
    return [part[1:] for part in parts if part[:1] == ["vit-str"]]


@pytest.mark.parametrize(
    "document", [ROOT / "README.md", *DOCUMENTS], ids=lambda each: each.stem
)
def test_commands_of_the_documents_are_understood(document):
    """Every option is there; what they do is tested elsewhere."""
    for name, *arguments in commands(document.read_text(encoding="utf-8")):
        if name != "train":
            parser = argparse.ArgumentParser(exit_on_error=False, allow_abbrev=False)
            import_module(f"vit_str.{COMMANDS[name].module}").add_arguments(parser)
            parser.parse_args(arguments)


def test_the_site_is_built_without_warnings(tmp_path):
    pytest.importorskip("mkdocstrings")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet"]
    options = ["-f", "docs/mkdocs.yml", "-d", str(tmp_path / "site")]
    done = subprocess.run(
        [*command, *options], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert any((tmp_path / "site" / "assets").glob("stylesheets/*.css"))
    page = (tmp_path / "site" / "docs" / "api.html").read_text(encoding="utf-8")
    assert "minimum_confidence" in page and "from_pretrained" in page


def test_ci_runs_the_commands_of_the_readme():
    script = (
        (ROOT / ".ci" / "run")
        .read_text(encoding="utf-8")
        .replace("pip install -q", "pip install")
    )
    commands = [block.strip() for block in blocks("bash")]
    assert len(commands) == 4
    assert commands[0] in script
    for command in commands[3].split(" && "):
        assert re.search(rf"^{re.escape(command)}( \|\||$)", script, re.MULTILINE), (
            command
        )
    assert commands[1].endswith(
        "vit-str train --config configs/vit_tiny_transformer.yaml"
    )


def test_files_named_in_the_readme_are_there():
    for name in re.findall(r"\]\((?!https?:)([^)#]+)\)", README):
        assert (ROOT / name).exists(), name
    for name in re.findall(
        r"(?:models/\w+/|models/)?\b\w+\.py", "".join(blocks("text")[1:])
    ):
        assert any(str(path).endswith(name) for path in ROOT.rglob("*.py")), name


def anchors(page: Path) -> set[str]:
    """What a link can name behind # in a page: its headings, as GitHub and mkdocs name them."""
    prose = re.sub(
        r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.M | re.S
    )
    headings = re.findall(r"^#+ (.+)$", prose, re.MULTILINE)
    words = [re.sub(r"[^\w\s-]", "", heading.lower()).strip() for heading in headings]
    return {re.sub(r"\s", "-", each) for each in words}


def test_links_to_headings_lead_to_headings():
    pages = [
        ROOT / "README.md",
        ROOT / "CONTRIBUTING.md",
        *DOCUMENTS,
        *ROOT.glob("data/**/*.md"),
    ]
    link = re.compile(r"(?:\]\(|^\[[^\]]+\]: )([^)#:\s]*)#([^)\s]+)", re.MULTILINE)
    links = [
        (page, name, heading)
        for page in pages
        for name, heading in link.findall(page.read_text(encoding="utf-8"))
    ]
    dead = [
        f"{page.name}: {name}#{heading}"
        for page, name, heading in links
        if heading not in anchors((page.parent / name) if name else page)
    ]
    assert not dead and len(links) > 10


def test_links_of_the_site_lead_to_what_it_holds():
    """What is excluded from the site is no target of a link, which would be dead there."""
    gitignore = pytest.importorskip("pathspec.gitignore")
    settings = (ROOT / "docs" / "mkdocs.yml").read_text(encoding="utf-8")
    excluded = settings.partition("exclude_docs: |\n")[2].partition("\ntheme:")[0]
    spec = gitignore.GitIgnoreSpec.from_lines(
        line.strip() for line in excluded.splitlines()
    )
    targets = [
        (page, target)
        for page in (
            *ROOT.glob("*.md"),
            *ROOT.glob("docs/**/*.md"),
            *ROOT.glob("data/**/*.md"),
        )
        if not spec.match_file(page.relative_to(ROOT))
        for target in re.findall(
            r"\]\(([^)#:\s]+)[^):\s]*\)", page.read_text(encoding="utf-8")
        )
    ]
    dead = []
    for page, target in targets:
        path = (page.parent / target).resolve()
        if not path.exists() or (
            path.is_file() and spec.match_file(path.relative_to(ROOT))
        ):
            dead.append(f"{page.relative_to(ROOT)}: {target}")
    assert not dead and len(targets) > 50
