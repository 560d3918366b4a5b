"""What the workers of rendering_peers.py share: a word in, a picture out, and how it is timed.

Runs in the virtual environments of the peers, so it needs nothing but NumPy and Pillow.
"""

import argparse
import json
import os
import sys
import time
from collections.abc import Callable
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

HEIGHT = 32
_TRIES = 50

_answers = os.fdopen(os.dup(1), "w")

Draw = Callable[[str], np.ndarray | None]


def task(description: str | None) -> dict[str, Any]:
    """Words, font files, folder of pictures and style, from the file of the first argument.

    From then on all that is printed goes to standard error, so that the answers stay JSON: import
    libraries after this, as some print when they are imported.
    """
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "task",
        type=Path,
        metavar="TASK_FILE",
        help="JSON, see rendering_peers.py",
    )
    found: dict[str, Any] = json.loads(
        parser.parse_args().task.read_text(encoding="utf-8")
    )
    os.dup2(2, 1)
    return found


def answer(draw: Draw, words: list[str]) -> None:
    """Answer every line on standard input with a line of JSON.

    ``{"seconds": 5}`` draws words for so long and says how many it drew; ``{"folder": "..."}``
    writes a picture of every word there.

    Args:
        draw: a picture of a word, of height 32; None where it did not come out.
        words: to draw, again and again.
    """
    endless = cycle(words)
    _redraw(draw, next(endless))  # warm: imports
    for line in sys.stdin:
        request = json.loads(line)
        reply = {}
        if "folder" in request:
            _write(draw, words[: request["count"]], Path(request["folder"]))
        else:
            reply = _count(lambda: _redraw(draw, next(endless)), request["seconds"])
        print(json.dumps(reply), file=_answers, flush=True)


def _count(draw: Callable[[], np.ndarray], seconds: float) -> dict[str, float]:
    """Pictures, and what they took on the clock and of the CPU."""
    started = time.perf_counter()
    computing = time.process_time()
    images = 0
    spent = 0.0
    while spent < seconds:
        draw()
        images += 1
        spent = time.perf_counter() - started
    return {
        "images": images,
        "seconds": spent,
        "cpu_seconds": time.process_time() - computing,
    }


def _redraw(draw: Draw, word: str) -> np.ndarray:
    """What does not come out is drawn again, as a user of the library would."""
    for _ in range(_TRIES):
        image = draw(word)
        if image is not None:
            return image
    raise RuntimeError(f"no picture of {word!r} after {_TRIES} tries")


def _write(draw: Draw, words: list[str], folder: Path) -> None:
    for place, word in enumerate(words):
        Image.fromarray(_redraw(draw, word)).save(folder / f"{place:04d}.png")
