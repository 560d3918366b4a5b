"""Signals before the first step, which a process may be unable to hear."""

import signal
import subprocess
import sys

import pytest

# It computes in a library, started a process as Lightning does, and is observed by Lightning.
DEAF = """
import hashlib, os, subprocess
from types import SimpleNamespace
from lightning.fabric.strategies.launchers.subprocess_script import _ChildProcessObserver
from vit_str.training import starting
from vit_str.training.starting import stop_at_once

starting._GRACE = 1.0
child = subprocess.Popen(["sleep", "300"], stdout=subprocess.DEVNULL)
_ChildProcessObserver(os.getpid(), [child], sleep_period=1).start()
with stop_at_once() as run:
    launcher = SimpleNamespace(procs=[child])
    run.trainer = SimpleNamespace(strategy=SimpleNamespace(launcher=launcher))
    print(child.pid, flush=True)
    hashlib.pbkdf2_hmac("sha256", b"", b"", 1 << 30)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="other signals")
def test_a_process_that_hears_nothing_ends_in_its_own_way():
    """Not killed by Lightning, without a word, because the process that it started has ended."""
    with subprocess.Popen(
        [sys.executable, "-c", DEAF],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stdout is not None
            child = process.stdout.readline().strip()
            process.send_signal(signal.SIGTERM)
            _, errors = process.communicate(timeout=120)
        finally:
            process.kill()
    assert process.returncode == 128 + signal.SIGTERM
    assert errors == (
        "vit-str train: stopped; the same command starts again or resumes\n"
    )
    left = subprocess.run(["ps", "-p", child], capture_output=True)
    assert left.returncode != 0
