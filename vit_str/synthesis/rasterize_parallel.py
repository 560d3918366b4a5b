"""Draw the characters of many fonts in processes of their own, a batch of fonts in each."""

import json
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from vit_str.synthesis import rasterize

_WORKERS = 2
_BATCH = 64

Progress = Callable[[int, int], None]
"""Called with the number of fonts done and the number of all fonts."""
Batch = tuple[list[str], dict[str, np.ndarray]]
"""Paths of fonts, and what ``rasterize_many`` makes of them."""


def rasterize_parallel(
    paths: Sequence[Path], characters: str, progress: Progress | None = None
) -> Iterator[Batch]:
    """Draw ``characters`` with all fonts, in the order of ``paths``."""
    names = [str(path) for path in paths]
    batches = [names[start : start + _BATCH] for start in range(0, len(names), _BATCH)]
    done = 0
    with ThreadPoolExecutor(_WORKERS) as pool:
        for parts in pool.map(lambda batch: _rasterize_batch(batch, characters), batches):
            for batch, drawing in parts:
                yield batch, drawing
                done += len(batch)
                if progress is not None:
                    progress(done, len(names))


def _rasterize_batch(paths: list[str], characters: str) -> list[Batch]:
    """Draw some fonts in a process of its own; if one crashes it, find out which."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "glyphs.npz"
        request = {"paths": paths, "characters": characters, "out": str(out)}
        # Not multiprocessing: that would run an unguarded script of the user's again.
        finished = subprocess.run(  # noqa: S603 (our own program, paths go through its input)
            [sys.executable, "-P", rasterize.__file__],
            input=json.dumps(request).encode(),
            capture_output=True,
            check=False,
        )
        if finished.returncode == 0:
            with np.load(out) as arrays:
                return [(paths, dict(arrays))]
    if finished.returncode == -signal.SIGINT:  # Ctrl-C reaches it too; no font is to blame
        raise KeyboardInterrupt
    if len(paths) == 1:
        reason = f"stops the font library (exit status {finished.returncode})"
        nothing = rasterize.rasterize_many([], characters)
        return [(paths, nothing | {"reasons": np.array([reason])})]
    middle = len(paths) // 2
    return [
        *_rasterize_batch(paths[:middle], characters),
        *_rasterize_batch(paths[middle:], characters),
    ]
