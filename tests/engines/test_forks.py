"""Readers in processes that are forked from one that has read with several threads."""

import os
import subprocess
import sys

import pytest
from PIL import Image

from vit_str.pages.find.detection import RapidDetector
from vit_str.pages.find.rules import find_rules

pytestmark = pytest.mark.skipif(
    not hasattr(os, "fork"), reason="processes of POSIX are forked"
)

_PROGRAM = """
import os, signal, sys
import numpy as np
import vit_str
image = np.full((32, 128), 255, np.uint8)
image[8:24, 20:24] = 0
{load}
expected = read()
for work in (read, lambda: expected):  # and one that has no use for the reader
    child = os.fork()
    if not child:
        signal.alarm(60)
        sys.exit(work() != expected)  # with all that Python lets go of at its end
    assert os.waitpid(child, 0)[1] == 0
"""


def run(load: str) -> None:
    environment = {**os.environ, "OMP_NUM_THREADS": "2"}
    subprocess.run(
        [sys.executable, "-W", "ignore", "-c", _PROGRAM.format(load=load)],
        check=True,
        timeout=200,
        env=environment,
    )


def test_a_child_reads_with_sessions_of_its_own():
    run(
        'reader = vit_str.load("tiny", "cpu", backend="onnx", threads=2)\n'
        "read = lambda: reader.read(image).text"
    )


def test_a_child_reads_pages_with_sessions_of_its_own():
    pytest.importorskip("cv2")
    run(
        'reader = vit_str.load_page(device="cpu")\n'
        "read = lambda: len(reader.read(np.stack(3 * [image], -1)).words)"
    )


def test_opencv_has_no_threads_that_a_child_would_wait_for():
    cv2 = pytest.importorskip("cv2")
    cv2.setNumThreads(2)
    find_rules(Image.new("L", (400, 400)))
    assert cv2.getNumThreads() == 1
    pytest.importorskip("rapidocr")
    cv2.setNumThreads(2)
    RapidDetector()
    assert cv2.getNumThreads() == 1
