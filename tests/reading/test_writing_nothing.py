"""Reading where nothing may be written and nobody has a home."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image

from vit_str.files import default_cache
from vit_str.synthesis.fonts import find_fonts

ROOT = Path(__file__).parents[2]
PROGRAM = """
import os, sys
CHANGES = {"os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.link", "os.symlink", "os.truncate"}
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT

def refuse(event, values):
    writes = event == "open" and isinstance(values[2], int) and values[2] & WRITING
    writes = writes and not isinstance(values[0], int)  # which is a pipe
    if (writes and str(values[0]) not in ("/dev/null", os.devnull)) or event in CHANGES:
        raise OSError(30, "Read-only file system", str(values[0]))
    if event == "socket.connect":
        raise OSError(101, "Network is unreachable")

sys.addaudithook(refuse)
import pwd
pwd.getpwuid = {}.__getitem__  # an unknown user: no home
from vit_str.cli import main
sys.exit(main(sys.argv[1:]))
"""


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    names = ("HOME", "XDG_CACHE_HOME", "USERPROFILE", "VIT_STR_CACHE", "MPLCONFIGDIR")
    return subprocess.run(
        [sys.executable, "-B", "-c", PROGRAM, *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env={name: value for name, value in os.environ.items() if name not in names},
    )


@pytest.mark.skipif(os.name != "posix", reason="users of POSIX")
@pytest.mark.parametrize(
    "arguments",
    [
        ("read", "data/samples/images/word-01.png", "--backend", "onnx"),
        (
            "read",
            "data/samples/images/word-01.png",
            "--backend",
            "torch",
            "--device",
            "cpu",
        ),
        ("read", "--page", "data/samples/images/word-01.png"),
        ("read", "--page", "PDF"),
        ("evaluate", "data/samples", "--backend", "onnx"),
    ],
)
def test_what_reads_writes_nothing(arguments, tmp_path):
    if "--page" in arguments:
        pytest.importorskip("rapidocr")
    pdf = tmp_path / "word.pdf"
    Image.open(ROOT / "data/samples/images/word-01.png").convert("RGB").save(pdf)
    done = run(*(str(pdf) if each == "PDF" else each for each in arguments))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout


def test_what_writes_says_that_it_cannot(tmp_path):
    done = run("read", "data/samples", "--out", str(tmp_path / "texts.txt"))
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert "Read-only file system" in done.stderr


def test_onnxruntime_tells_nobody(tmp_path):
    """Audit hooks do not see the library, which would write a number of this machine."""
    environment = {
        k: v for k, v in os.environ.items() if k not in ("ORT_DISABLE_TELEMETRY", "CI")
    }
    command = [
        sys.executable,
        "-m",
        "vit_str",
        "read",
        "data/samples/images",
        "--backend",
        "onnx",
    ]
    home = {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    subprocess.run(
        command, check=True, capture_output=True, cwd=ROOT, env=environment | home
    )
    assert list(tmp_path.iterdir()) == []


def test_without_a_home(monkeypatch):
    def nobody():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", nobody)
    for name in ("VIT_STR_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    assert find_fonts()
    with pytest.raises(ValueError, match="set VIT_STR_CACHE"):
        default_cache()
