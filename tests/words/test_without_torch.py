"""The base install: reading, judging and checking in a process where there is no torch."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import vit_str

ROOT = Path(__file__).parents[2]
# What the base install does not bring.
ABSENT = ("torch", "einops", "lightning", "matplotlib", "onnx", "scipy", "yaml", "ray")
PROGRAM = """
import sys
for name in {absent}:
    sys.modules[name] = None
from vit_str.cli import main
sys.exit(main({arguments}))
"""


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    program = PROGRAM.format(absent=ABSENT, arguments=list(arguments))
    return subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )


def test_the_samples_are_read_as_with_torch():
    done = run("read", "data/samples", "--format", "jsonl", "--boxes")
    assert (done.returncode, done.stderr) == (0, "")
    paths = sorted((ROOT / "data/samples/images").iterdir())
    readings = vit_str.load("tiny", "cpu", backend="torch").read([*paths])
    assert [json.loads(line)["text"] for line in done.stdout.splitlines()] == [
        reading.text for reading in readings
    ]


def test_with_a_lexicon_and_a_pattern(tmp_path):
    words = tmp_path / "words.txt"
    words.write_text("Museum\nMuseen\n42nd\n")
    image = "data/samples/images/word-01.png"
    done = run("read", image, "--lexicon", str(words), "--pattern", "M.*")
    assert done.stdout.startswith(f"{image}\tMuseum\t")
    done = run("read", image, "--alphabet", "museQUEM", "--n-best", "2")
    assert '"free_text": "Museum"' in done.stdout
    assert '"alternatives": [{' in done.stdout


def test_reading_loads_nothing_that_a_word_does_not_need():
    slow = {"jaxtyping", "asyncio", "unittest", "importlib.metadata", "urllib.request"}
    slow |= {"difflib", "shutil", "tempfile", "vit_str.images.limited_process"}
    slow |= {"PIL.PdfImagePlugin", "PIL.TiffImagePlugin", "PIL.WebPImagePlugin"}
    program = (
        "import sys, vit_str; vit_str.load().read('data/samples/images/word-01.png'); "
        f"print({slow} & {{*sys.modules}})"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT
    )
    assert (done.stdout, done.stderr) == ("set()\n", "")


@pytest.mark.parametrize(
    "arguments", [("evaluate", "data/samples"), ("read", "--help")]
)
def test_what_needs_no_torch(arguments):
    done = run(*arguments)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("arguments", "extra"),
    [
        (("read", "data/samples", "--backend", "torch"), "torch"),
        (("read", "data/samples", "--device", "cuda"), "torch"),
        (("export", "tiny", "--out", "x"), "export"),
        (("calibrate", "tiny", "x", "--out", "x.safetensors"), "torch"),
        (("render", "--out", "x"), "analyze"),
        (("train",), "train"),
    ],
)
def test_a_command_names_the_extra_that_it_needs(arguments, extra):
    done = run(*arguments)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert "pip install" in done.stderr and done.stderr.endswith(f'[{extra}]"\n')
