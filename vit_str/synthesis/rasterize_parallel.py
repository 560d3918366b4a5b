"""Draw the characters of many fonts in processes of their own, a batch of fonts in each."""

import errno
import hashlib
import json
import os
import signal
import subprocess
import sys
import zipfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from tqdm import tqdm

from vit_str.synthesis import rasterize

_WORKERS = 2
_BATCH = 32

Batch = tuple[list[str], dict[str, np.ndarray]]
"""Paths of fonts, and what ``rasterize_many`` makes of them."""


def rasterize_parallel(paths: Sequence[Path], characters: str, folder: Path) -> Iterator[Batch]:
    """Draw ``characters`` with all fonts, in the order of ``paths``, under a progress bar.

    Args:
        paths: of the fonts.
        characters: to draw.
        folder: where batches are kept that are drawn: a call that is interrupted can be repeated.
    """
    names = [str(path) for path in paths]
    batches = [names[start : start + _BATCH] for start in range(0, len(names), _BATCH)]
    pool = ThreadPoolExecutor(_WORKERS)
    try:
        with tqdm(
            total=len(names), unit="font", desc="drawing fonts, once", disable=None, delay=1
        ) as bar:
            for parts in pool.map(lambda batch: _draw(batch, characters, folder), batches):
                for batch, drawing in parts:
                    yield batch, drawing
                    bar.update(len(batch))
    finally:
        pool.shutdown(cancel_futures=True)


def _draw(paths: list[str], characters: str, folder: Path) -> list[Batch]:
    """Draw some fonts in a process of its own; if one crashes it, find out which."""
    request = {"paths": paths, "characters": characters}
    digest = hashlib.blake2b(json.dumps(request).encode(), digest_size=8).hexdigest()
    kept = folder / f"{digest}.npz"
    if not kept.is_file():
        partial = kept.with_name(f"{digest}.partial.npz")
        # Not multiprocessing: that would run an unguarded script of the user's again.
        finished = subprocess.run(  # noqa: S603 (our own program, paths go through its input)
            [sys.executable, "-P", rasterize.__file__],
            input=json.dumps(request | {"out": str(partial)}).encode(),
            capture_output=True,
            check=False,
        )
        if finished.returncode == -signal.SIGINT:  # Ctrl-C reaches it too; no font is to blame
            raise KeyboardInterrupt
        full = os.strerror(errno.ENOSPC)
        if full.encode() in finished.stderr:  # no font is to blame
            raise OSError(errno.ENOSPC, full, str(folder))
        if finished.returncode:
            return _without_crash(paths, characters, folder, finished.returncode)
        partial.replace(kept)
    try:
        with kept.open("rb") as file, np.load(file) as arrays:
            return [(paths, dict(arrays))]
    except (OSError, ValueError, zipfile.BadZipFile):  # cut off, as by a full disk
        kept.unlink()
        return _draw(paths, characters, folder)


def _without_crash(paths: list[str], characters: str, folder: Path, code: int) -> list[Batch]:
    """The halves of a batch that ended the process that drew it."""
    if len(paths) == 1:
        reason = f"stops the font library (exit status {code})"
        nothing = rasterize.rasterize_many([], characters)
        return [(paths, nothing | {"reasons": np.array([reason])})]
    middle = len(paths) // 2
    return [
        *_draw(paths[:middle], characters, folder),
        *_draw(paths[middle:], characters, folder),
    ]
