"""The three examples of documents do what their first lines say, and are typed."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import pytest
from PIL import Image, ImageDraw, ImageFont

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
ROWS = (("Article", "Price"), ("Coffee", "12,50"), ("Tea", "7,25"), ("Cake", "3,00"))

pytestmark = pytest.mark.skipif(
    find_spec("cv2") is None, reason="pip install vit-str[page]"
)


def bill() -> Image.Image:
    """A page with a ruled table."""
    image = Image.new("RGB", (640, 80 + 70 * len(ROWS)), "white")
    pen = ImageDraw.Draw(image)
    font = ImageFont.load_default(32)
    for r, row in enumerate(ROWS):
        for c, text in enumerate(row):
            left, top = 40 + 280 * c, 40 + 70 * r
            pen.rectangle((left, top, left + 280, top + 70), outline="black", width=2)
            pen.text((left + 20, top + 14), text, "black", font)
    return image


@pytest.fixture
def papers(tmp_path):
    """A folder with a bill, a file that is none, and one of another kind."""
    folder = tmp_path / "papers"
    folder.mkdir()
    bill().save(folder / "bill.png")
    (folder / "broken.pdf").write_bytes(b"%PDF-1.7")
    (folder / "notes.txt").write_text("not read")
    return folder


@pytest.fixture
def environment():
    """In which this project is found, and its command."""
    programs = Path(sys.executable).parent
    if not (programs / "vit-str").exists():
        pytest.skip("pip install -e .")
    path = f"{programs}{os.pathsep}{os.environ.get('PATH', '')}"
    return {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT)}


def run(name: str, *arguments: object, environment, **options):
    command = [sys.executable, EXAMPLES / name, *map(str, arguments)]
    return subprocess.run(
        command, capture_output=True, text=True, env=environment, **options
    )


def test_a_folder_of_invoices_becomes_one_spreadsheet(papers, tmp_path, environment):
    openpyxl = pytest.importorskip("openpyxl")
    target = tmp_path / "bills.xlsx"
    ended = run("invoices_to_spreadsheet.py", papers, target, environment=environment)
    assert ended.returncode == 1
    assert "broken.pdf" in ended.stderr and "Traceback" not in ended.stderr
    (sheet,) = openpyxl.load_workbook(target).worksheets
    rows = [[cell.value for cell in row] for row in sheet.rows]
    assert rows[0] == ["bill.png", 1, "Article", "Price"]
    assert rows[1:] == [
        ["bill.png", 1, "Coffee", 12.5],
        ["bill.png", 1, "Tea", 7.25],
        ["bill.png", 1, "Cake", 3],
    ]


def test_an_assistant_gets_what_it_asks_for(papers, environment):
    pytest.importorskip("mcp")
    (papers / "broken.pdf").unlink()
    ended = run("ask_assistant.py", papers, environment=environment)
    assert ended.returncode == 0, ended.stderr
    name, _, text = ended.stdout.partition("\n")
    assert name.endswith("bill.png") and "| Coffee | 12,50 |" in text
    empty = papers / "empty"
    empty.mkdir()
    ended = run("ask_assistant.py", empty, environment=environment)
    assert ended.returncode == 1 and "no pictures or documents" in ended.stderr


@contextmanager
def served(environment) -> Iterator[str]:
    """The address of ``vit-str serve``."""
    command = ["vit-str", "serve", "--port", "0", "--deadline", "300"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env=environment
    ) as process:
        try:
            assert process.stdout is not None
            found = re.search(r"http://[\d.:]+", process.stdout.readline())
            assert found is not None
            yield found[0]
        finally:
            process.terminate()


def test_a_service_is_asked_with_types(papers, tmp_path, environment):
    """By a client that is made as the example says; ``mypy --strict`` knows its types."""
    pytest.importorskip("fastapi")
    if shutil.which("openapi-python-client", path=environment["PATH"]) is None:
        pytest.skip("pip install openapi-python-client")
    settings = tmp_path / "settings.yaml"
    settings.write_text("post_hooks: []\n")
    with served(environment) as url:
        command = ["openapi-python-client", "generate", "--url", f"{url}/openapi.json"]
        command += ["--meta", "none", "--output-path", "reading_client"]
        command += ["--config", str(settings)]
        subprocess.run(
            command, check=True, cwd=tmp_path, env=environment, capture_output=True
        )
        within = {**environment, "PYTHONPATH": f"{ROOT}{os.pathsep}{tmp_path}"}
        bill_ = papers / "bill.png"
        ended = run("ask_service.py", bill_, url, environment=within)
        assert ended.returncode == 0, ended.stderr
        assert "1\ttable\t" in ended.stdout and "Coffee" in ended.stdout
        ended = run("ask_service.py", papers / "broken.pdf", url, environment=within)
        assert ended.returncode == 1 and "Traceback" not in ended.stderr
    wrong = tmp_path / "wrong.py"
    program = (EXAMPLES / "ask_service.py").read_text("utf-8")
    wrong.write_text(program.replace("page.structure", "page.structures"))
    checked = types_of(EXAMPLES / "ask_service.py", tmp_path)
    assert checked.returncode == 0, checked.stdout
    assert 'no attribute "structures"' in types_of(wrong, tmp_path).stdout


def types_of(program: Path, folder: Path):
    """What mypy says of a program beside a client in a folder."""
    pytest.importorskip("mypy")
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file", os.devnull]
    return subprocess.run(
        [*command, "--cache-dir", folder / "cache", program],
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, "MYPYPATH": str(folder)},
    )


def test_examples_are_checked_with_all_of_strict():
    """What pyproject.toml allows elsewhere, it does not allow in examples."""

    tools = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["mypy"]
    assert tools["strict"] and "examples" in tools["files"]
    lenient = [name for name, value in tools.items() if value is False]
    named = {path.stem for path in EXAMPLES.glob("*.py")}
    (strict,) = (each for each in tools["overrides"] if named <= {*each["module"]})
    assert all(
        strict[name] for name in lenient if name.startswith(("warn", "disallow"))
    )
