"""Draw the characters of many fonts in processes of their own, a batch of fonts in each."""

import errno
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from tqdm import tqdm

from vit_str.synthesis import rasterize

_WORKERS = 2  # processes
_BATCH = 32  # fonts for each

Batch = tuple[list[str], dict[str, np.ndarray]]
"""Paths of fonts, and what ``rasterize_many`` makes of them."""


def rasterize_parallel(paths: Sequence[Path], characters: str) -> Iterator[Batch]:
    """Draw ``characters`` with all fonts, in the order of ``paths``, under a progress bar."""
    names = [str(path) for path in paths]
    batches = [names[start : start + _BATCH] for start in range(0, len(names), _BATCH)]
    pool = ThreadPoolExecutor(_WORKERS)
    try:
        with tqdm(
            total=len(names), unit="font", desc="drawing fonts, once", disable=None, delay=1
        ) as bar:
            for parts in pool.map(lambda batch: _draw(batch, characters), batches):
                for batch, drawing in parts:
                    yield batch, drawing
                    bar.update(len(batch))
    finally:
        pool.shutdown(cancel_futures=True)


def _draw(paths: list[str], characters: str) -> list[Batch]:
    """Draw some fonts in a process of its own; if one crashes it, find out which."""
    with TemporaryDirectory() as folder:
        out = Path(folder, "drawn.npz")
        request = {"paths": paths, "characters": characters, "out": str(out)}
        # Not multiprocessing: that would run an unguarded script of the user's again.
        finished = subprocess.run(  # noqa: S603 (our own program, paths go through its input)
            [sys.executable, "-P", rasterize.__file__],
            input=json.dumps(request).encode(),
            capture_output=True,
            check=False,
        )
        if finished.returncode == -signal.SIGINT:  # Ctrl-C reaches it too; no font is to blame
            raise KeyboardInterrupt
        full = os.strerror(errno.ENOSPC)
        if full.encode() in finished.stderr:  # no font is to blame
            raise OSError(errno.ENOSPC, full, folder)
        if not finished.returncode:
            with np.load(out) as arrays:
                return [(paths, dict(arrays))]
    if len(paths) == 1:
        reason = f"stops the font library (exit status {finished.returncode})"
        nothing = rasterize.rasterize_many([], characters)
        return [(paths, nothing | {"reasons": np.array([reason])})]
    middle = len(paths) // 2
    return [*_draw(paths[:middle], characters), *_draw(paths[middle:], characters)]
