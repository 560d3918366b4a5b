"""What of the workers can be seen without Ray."""

import subprocess
import sys

import pytest

from vit_str.bulk.pool import Workers, _there


def test_one_worker_per_gpu_or_else_per_cpu() -> None:
    both, cpus = {"CPU": 32.0, "GPU": 2.0, "memory": 1e9}, {"CPU": 6.0}
    assert _there(both, "auto", None) == Workers(2, "cuda", 8)
    assert _there({"CPU": 8, "GPU": 4}, "cuda", 3) == Workers(3, "cuda", 2)
    assert _there({"CPU": 1, "GPU": 4}, "auto", None) == Workers(4, "cuda", 1)
    assert _there(both, "cpu", None) == Workers(32, "cpu", 1)
    assert _there(cpus, "auto", 4) == Workers(4, "cpu", 1)


@pytest.mark.parametrize(
    ("resources", "device", "count", "expected"),
    [
        ({"CPU": 4}, "auto", 5, "--workers 5 is more than the 4 of type cpu"),
        ({"CPU": 4, "GPU": 1}, "auto", 2, "more than the 1 of type cuda"),
        ({"CPU": 4}, "cuda", None, "no device 'cuda' among 4 CPUs and 0 GPUs"),
        ({"CPU": 4}, "mps", None, "no device 'mps'"),
        ({}, "auto", None, "among 0 CPUs"),
    ],
)
def test_more_than_there_is(
    resources: dict[str, float], device: str, count: int | None, expected: str
) -> None:
    with pytest.raises(ValueError, match=expected):
        _there(resources, device, count)


def test_only_our_own_lines_come_to_the_terminal() -> None:
    program = """
import os, sys
from vit_str.bulk.quiet import quiet
with quiet():
    print("from a thread of Ray", flush=True)
    os.write(2, b"from the native part of Ray")
    print("ours", file=sys.stderr)
print("results")
print("errors", file=sys.stderr)
os.write(2, b"native")
"""
    output = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert output.stdout == b"results\n"
    assert output.stderr == b"ours\nerrors\nnative"
