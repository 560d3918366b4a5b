"""Draw the characters of many fonts in processes of their own, a batch of fonts in each."""

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from vit_str import console
from vit_str.files import write_atomically
from vit_str.synthesis import rasterize

_WORKERS = 2  # processes
_BATCH = 32  # fonts in a process
_GLYPHS_PER_SECOND = 600
"""Of both processes, roughly: a thousand fonts of 173 characters take five minutes."""
_LONG = 20.0  # seconds, from which on drawing is announced
_LINE_EVERY = 60.0  # seconds between lines that say how far it is

Batch = tuple[list[str], dict[str, np.ndarray]]
"""Paths of fonts, and what ``rasterize_many`` makes of them."""


def rasterize_parallel(
    paths: Sequence[Path], characters: str, resume: Path | None = None
) -> Iterator[Batch]:
    """Draw ``characters`` with all fonts, in the order of ``paths``, and say how far it is.

    Args:
        paths: of the fonts.
        characters: to draw.
        resume: a folder to keep what is drawn in, so that drawing goes on there after it was
            stopped; it holds nothing of other fonts or characters.
    """
    names = [str(path) for path in paths]
    batches = [names[start : start + _BATCH] for start in range(0, len(names), _BATCH)]
    files: list[Path | None] = [None] * len(batches)
    if resume:
        files = [resume / f"{number:04}.npz" for number in range(len(batches))]
    left = 0
    for batch, file in zip(batches, files, strict=True):
        if not (file and file.is_file()):
            left += len(batch)
    seconds = left * len(characters) / _GLYPHS_PER_SECOND
    if seconds > _LONG:
        console.warn(
            f"drawing {len(characters):,} characters of {left:,} fonts: about "
            f"{max(1, round(seconds / 60))} min, kept for the next time"
        )
    bar = console.Progress(len(names), alone=True, unit="font", name="drawing fonts")
    with _Drawing(characters) as drawing, bar as progress:
        done = 0
        said = time.monotonic()
        for parts in drawing.pool.map(drawing.take, batches, files):
            yield from parts
            drawn = sum(len(batch) for batch, _ in parts)
            done += drawn
            progress.advance(drawn)
            if not progress.is_shown and time.monotonic() - said > _LINE_EVERY:
                console.warn(f"{done:,} of {len(names):,} fonts are drawn")
                said = time.monotonic()


class _Drawing:
    """Processes that draw, and end with the block that they are used in."""

    def __init__(self, characters: str) -> None:
        self.characters = characters
        self.pool = ThreadPoolExecutor(_WORKERS)
        self._running: set[subprocess.Popen[bytes]] = set()
        self._stopped = False

    def __enter__(self) -> "_Drawing":
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped = True
        for process in list(self._running):
            process.terminate()
        self.pool.shutdown(cancel_futures=True)

    def take(self, paths: list[str], file: Path | None) -> list[Batch]:
        """Some fonts as a file has them; else they are drawn, and kept in it."""
        if file is None:
            return self.draw(paths)
        known = _arrays_in(file)
        if known:
            return [(paths, known)]
        parts = self.draw(paths)
        if len(parts) == 1:
            _keep(file, parts[0][1])
        return parts

    def draw(self, paths: list[str]) -> list[Batch]:
        """Draw some fonts in a process of its own; if one crashes it, find out which."""
        request = {"paths": paths, "characters": self.characters}
        code, drawn = self._run(json.dumps(request).encode())
        if self._stopped or code == -signal.SIGINT:  # no font is to blame
            raise KeyboardInterrupt
        if code:
            return self._without_crash(paths, code)
        with np.load(BytesIO(drawn)) as arrays:
            return [(paths, dict(arrays))]

    def _run(self, request: bytes) -> tuple[int, bytes]:
        """Exit status and output of a process that draws.

        Not multiprocessing: that would run an unguarded script of the user's again.
        """
        if self._stopped:
            raise KeyboardInterrupt
        # Our own program; paths go through its input.
        process = subprocess.Popen(  # noqa: S603
            [sys.executable, "-P", rasterize.__file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self._running.add(process)
        drawn, _ = process.communicate(request)
        self._running.discard(process)
        return process.returncode, drawn

    def _without_crash(self, paths: list[str], code: int) -> list[Batch]:
        """The halves of a batch that ended the process that drew it."""
        if len(paths) == 1:
            reason = f"stops the font library (exit status {code})"
            nothing = rasterize.rasterize_many([], self.characters)
            return [(paths, nothing | {"reasons": np.array([reason])})]
        middle = len(paths) // 2
        return [*self.draw(paths[:middle]), *self.draw(paths[middle:])]


def _arrays_in(file: Path) -> dict[str, np.ndarray]:
    """The glyphs of an earlier run; nothing if they are not there, or damaged."""
    # Opened here: numpy leaves a damaged file open.
    with (
        suppress(OSError, ValueError, EOFError, BadZipFile),
        file.open("rb") as data,
        np.load(data) as arrays,
    ):
        return dict(arrays)
    return {}


def _keep(file: Path, drawn: dict[str, np.ndarray]) -> None:
    # On a full disk drawing goes on, as long as nobody stops it.
    with suppress(OSError), write_atomically(file) as temporary:
        np.savez(temporary, **drawn)  # type: ignore[arg-type]
