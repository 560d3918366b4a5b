"""RapidOCR's recognizer alone, in a process and perhaps a virtual environment of its own.

    python rapidocr_worker.py LIST_FILE BATCH_SIZE

Reads the files that LIST_FILE names once for every line on standard input, and prints a line of
JSON each time: seconds and texts. Needs nothing but ``pip install rapidocr onnxruntime``, whose
wheel holds the models.
"""

import argparse
import json
import sys
import time
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rapidocr import RapidOCR


def main() -> None:
    """Answer every line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "list",
        type=Path,
        metavar="LIST_FILE",
        help="names of files, one a line",
    )
    parser.add_argument(
        "batch_size",
        type=int,
        metavar="BATCH_SIZE",
        help="images at a time",
    )
    options = parser.parse_args()
    files = options.list.read_text(encoding="utf-8").splitlines()
    batch_size = options.batch_size
    with redirect_stdout(sys.stderr):  # of its log, so that the answers stay JSON
        engine = start(batch_size)
    for _ in sys.stdin:
        with redirect_stdout(sys.stderr):
            started = time.perf_counter()
            texts = read(engine, files, batch_size)
            seconds = time.perf_counter() - started
        print(json.dumps({"seconds": seconds, "texts": texts}), flush=True)


def start(batch_size: int) -> "RapidOCR":
    """RapidOCR as it comes, on one thread; the arena of memory makes it faster in batches."""
    from rapidocr import RapidOCR  # here, so that --help needs nothing

    return RapidOCR(
        params={
            "EngineConfig.onnxruntime.intra_op_num_threads": 1,
            "EngineConfig.onnxruntime.inter_op_num_threads": 1,
            "EngineConfig.onnxruntime.enable_cpu_mem_arena": True,
            "Rec.rec_batch_num": batch_size,
            "Global.log_level": "error",
        }
    )


def read(engine: "RapidOCR", files: list[str], batch_size: int) -> list[str]:
    """Text of every file: no detection, no classifier of direction."""
    texts: list[str] = []
    for first in range(0, len(files), batch_size):
        images = [engine.load_img(file) for file in files[first : first + batch_size]]
        texts.extend(engine.recognize_txt(images).txts)
    return texts


if __name__ == "__main__":
    main()
