"""The number of threads is that of the machine, of the container or of the user, and it applies."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import vit_str
from vit_str import machine
from vit_str.machine import THREADS, cpu_count, thread_count

ROOT = Path(__file__).parents[1]
COUNTING = """
import json, os, sys
from PIL import Image
from vit_str.cli import main
assert main(["read", "data/samples/images", "--threads", sys.argv[1], "--backend", "onnx"]) == 0
import vit_str
pages = vit_str.load_page(detector="ours")
pages.detector.lines(Image.new("RGB", (64, 64)))
import cv2, torch
vit_str.load(backend="torch", device="cpu")
sessions = pages.reader.engine.session("encoder"), pages.detector._session.value
print(json.dumps({
    "sessions": [each.get_session_options().intra_op_num_threads for each in sessions],
    "torch": torch.get_num_threads(),
    "opencv": cv2.getNumThreads(),
    "child": os.environ["OMP_NUM_THREADS"],
}))
"""
STARTED = """
import os, sys, vit_str
from vit_str.machine import use_threads
use_threads(int(sys.argv[1]))
import onnxruntime
before = len(os.listdir("/proc/self/task"))
reader = vit_str.load(backend="onnx")
print(len(os.listdir("/proc/self/task")) - before)
"""


def output(program: str, count: int) -> str:
    command = [sys.executable, "-c", program, str(count)]
    return subprocess.run(
        command, capture_output=True, text=True, check=True, cwd=ROOT
    ).stdout


@pytest.mark.parametrize("count", [1, 2])
def test_everything_that_computes_gets_the_number(count):
    """torch takes no more than the machine has; OpenCV takes one, see `test_forks.py`."""
    pytest.importorskip("cv2")
    if count > (os.cpu_count() or 1):
        pytest.skip("one processor")
    found = json.loads(output(COUNTING, count).splitlines()[-1])
    expected = {
        "sessions": [count, count],
        "torch": count,
        "opencv": 1,
        "child": str(count),
    }
    assert found == expected


@pytest.mark.skipif(
    not Path("/proc/self/task").exists(), reason="counts threads of Linux"
)
def test_so_many_threads_are_started():
    """Those that wait in the pool of a session; the caller itself is one too."""
    assert int(output(STARTED, 4)) - int(output(STARTED, 1)) == 3


@pytest.mark.parametrize(
    ("group", "limits", "expected"),
    [
        ("0::/", {"cpu.max": "200000 100000"}, 2),
        ("0::/", {"cpu.max": "150000 100000"}, 2),
        ("0::/", {"cpu.max": "max 100000"}, 16),
        ("0::/a/b", {"a/cpu.max": "300000 100000", "a/b/cpu.max": "max 100000"}, 3),
        ("0::/gone", {"cpu.max": "50000 100000"}, 1),
        ("4:cpu,cpuacct:/x", {"cpu,cpuacct/cpu.cfs_quota_us": "400000"}, 4),
        ("4:cpu,cpuacct:/x", {"cpu,cpuacct/cpu.cfs_quota_us": "-1"}, 16),
        ("4:memory:/x", {"memory/cpu.max": "100000 100000"}, 16),
        ("", {}, 16),
    ],
)
def test_limits_of_a_container(group, limits, expected, tmp_path, monkeypatch):
    monkeypatch.setattr(
        os, "sched_getaffinity", lambda _: set(range(16)), raising=False
    )
    (tmp_path / "proc/self").mkdir(parents=True)
    (tmp_path / "proc/self/cgroup").write_text(f"9:pids:/\n{group}\n" if group else "")
    for name, value in limits.items():
        file = tmp_path / "sys/fs/cgroup" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{value}\n")
        file.with_name("cpu.cfs_period_us").write_text("100000\n")
    assert cpu_count(tmp_path) == expected


@pytest.mark.parametrize(
    ("asked", "expected"),
    [("3", 3), ("0", 1), ("", None), ("2,1", None), ("9" * 99, 1024)],
)
def test_the_environment_says_how_many(asked, expected, monkeypatch):
    monkeypatch.setenv(THREADS, asked)
    assert thread_count() == (expected or cpu_count())


def test_more_threads_than_any_machine_has_are_refused(run):
    code, _, err = run("read", "word.png", "--threads", "100000000")
    assert (code, err.count("\n")) == (2, 1)
    assert "threads must be 1 to 1,024, found 100,000,000" in err


@pytest.mark.parametrize(
    ("load", "asked", "threads"),
    [
        (2.0, None, None),
        (5.0, None, None),
        (7.0, None, 2),
        (40.0, None, 1),
        (40.0, "4", None),
    ],
)
def test_a_busy_machine_gets_fewer_threads(load, asked, threads, monkeypatch):
    monkeypatch.setattr(os, "cpu_count", lambda: 4)
    monkeypatch.setattr(os, "getloadavg", lambda: (load, 0.0, 0.0))
    monkeypatch.setattr(machine, "cpu_count", lambda: 4)
    monkeypatch.delenv(machine.THREADS, raising=False)
    if asked:
        monkeypatch.setenv(machine.THREADS, asked)
    assert machine.threads_for_load() == threads


@pytest.mark.parametrize(
    ("load", "policy", "spins"),
    [(3.0, None, "1"), (5.0, None, "0"), (5.0, "PASSIVE", "0"), (5.0, "active", "1")],
)
def test_threads_do_not_wait_in_loops_on_a_busy_machine(
    load, policy, spins, monkeypatch
):
    monkeypatch.setattr(os, "cpu_count", lambda: 4)
    monkeypatch.setattr(os, "getloadavg", lambda: (load, 0.0, 0.0))
    monkeypatch.setattr(machine, "_quotas", lambda _: iter([]))
    monkeypatch.delenv("OMP_WAIT_POLICY", raising=False)
    if policy:
        monkeypatch.setenv("OMP_WAIT_POLICY", policy)
    session = vit_str.load("tiny", "cpu", backend="onnx", threads=2).engine.session(
        "encoder"
    )
    options = session.get_session_options()
    assert options.get_session_config_entry("session.intra_op.allow_spinning") == spins
    assert options.get_session_config_entry("session.force_spinning_stop") == "1"


@pytest.mark.parametrize(("quotas", "expected"), [([], False), ([1.5], True)])
def test_a_container_with_a_limit_has_to_share(quotas, expected, monkeypatch):
    monkeypatch.setattr(os, "getloadavg", lambda: (0.0, 0.0, 0.0))
    monkeypatch.setattr(machine, "_quotas", lambda _: iter(quotas))
    monkeypatch.delenv("OMP_WAIT_POLICY", raising=False)
    assert machine.has_to_share() is expected
