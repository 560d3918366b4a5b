"""``vit-str read --engine ray``: images by the million, into a folder."""

import argparse
import hashlib
import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from types import FrameType

from vit_str import console
from vit_str.bulk.inputs import find_inputs
from vit_str.bulk.output import OutputFolder
from vit_str.bulk.parts import divide
from vit_str.bulk.pool import PoolError, Result, read_parts, started
from vit_str.bulk.reading import Job
from vit_str.bulk.rows import Format
from vit_str.commands.paths import STANDARD_INPUT
from vit_str.images import one_line
from vit_str.models.character_boxes import looking_blocks
from vit_str.weights import load_weights, resolve

_DEVICES = ("auto", "cpu", "cuda", "mps")
# A multiple of the usual batch, so that batches are those of the plain engine.
_PART_SIZE = 1024
_GOES_ON = "the same command goes on"
# So many parts fail at the start, and none succeeds: then the others would too.
_HOPELESS = 4


@dataclass(slots=True)
class _Tally:
    """What this run did."""

    images: int = 0
    seconds: float = 0.0


class _HopelessError(Exception):
    """No worker can read anything."""


def run(options: argparse.Namespace) -> int:
    """Read what is not read yet, and say what there is then."""
    _check(options)
    inputs = find_inputs(options.paths)
    for path, trouble in inputs.troubles:
        console.complain(f"{one_line(path)}: {trouble}")
    if not inputs.paths:
        return 2
    try:
        complete = _run(options, inputs.paths)
    except ValueError as error:
        raise ValueError(str(error)) from error
    except OSError as error:
        reason = error.strerror or error
        trouble = f"cannot write into {options.out}: {reason}; when that is mended, {_GOES_ON}"
        raise console.OutputError(trouble) from error
    return 0 if complete and not inputs.troubles else 1


def _check(options: argparse.Namespace) -> None:
    """Refuse at once what can be seen from the command alone."""
    options.part_size = options.part_size or _PART_SIZE
    if not options.out:
        raise ValueError("--engine ray needs --out FOLDER, which the results go to")
    if options.format not in (None, *Format):
        raise ValueError(f"--engine ray writes --format parquet or jsonl, found {options.format}")
    if STANDARD_INPUT in options.paths:
        raise ValueError("--engine ray reads no standard input; name files or folders")
    if options.device not in _DEVICES:
        raise ValueError(
            f"--engine ray gives GPUs out itself: --device {', '.join(_DEVICES)}, "
            f"not {options.device}"
        )
    out = Path(options.out).resolve()
    for path in map(Path, options.paths):
        if path.is_dir() and out.is_relative_to(path.resolve()):
            raise ValueError(f"--out lies in {path}, which is read; give one outside it")
    for package in ("ray", "pyarrow"):
        if find_spec(package) is None:
            raise ValueError(f'--engine ray needs {package}, run: pip install "vit-str[ray]"')


def _run(options: argparse.Namespace, paths: list[str]) -> bool:
    """Whether everything is read, and well."""
    weights = _weights(options)
    file_format = Format(options.format or Format.PARQUET)
    job = Job(
        file_format,
        options.characters or options.boxes,
        options.boxes,
        options.batch_size,
        Path.cwd(),
        options.care,
    )
    with OutputFolder(Path(options.out), file_format, _settings(options, weights)) as folder:
        folder.divide(paths, lambda new: divide(new, options.part_size, options.column))
        return _summarize(folder, _read(folder, job, weights, options))


def _weights(options: argparse.Namespace) -> bytes:
    """The weights file, which the workers get as it is; it is known to be good then."""
    path = resolve(options.model)
    recognizer = load_weights(path).recognizer
    if options.care:
        recognizer.decoder.take_care(options.care)  # raises for one that cannot choose
    if options.boxes:
        looking_blocks(recognizer.decoder)  # raises for a decoder that does not look
    return path.read_bytes()


def _settings(options: argparse.Namespace, weights: bytes) -> dict[str, object]:
    """What decides how the results look."""
    relative = not all(map(os.path.isabs, options.paths))
    care = {"care": options.care} if options.care else {}
    return {
        "weights (SHA-256)": hashlib.sha256(weights).hexdigest(),
        **care,
        "boxes": options.boxes,
        "characters": options.characters or options.boxes,
        "part size": options.part_size,
        "column": options.column,
        "paths": options.paths,
        "working directory": os.getcwd() if relative else None,
    }


def _read(folder: OutputFolder, job: Job, weights: bytes, options: argparse.Namespace) -> _Tally:
    """Read the parts that are not there."""
    done = folder.done()
    left = {n: part.count for n, part in enumerate(folder.parts()) if n not in done}
    tally = _Tally()
    if not left:
        return tally
    if done:
        console.complain(f"{len(done):,} parts are read already, {len(left):,} are left")
    parts = ((n, part) for n, part in enumerate(folder.parts()) if n in left)
    began = time.monotonic()
    with _noticing_interrupts() as asked:
        try:
            with started(options.ray_address, options.device, options.workers) as workers:
                results = _until(asked, read_parts(parts, job, weights, workers))
                _write(folder, results, left, tally, _HOPELESS * workers.count)
        except KeyboardInterrupt:
            console.complain(f"{len(folder.done()):,} parts are read; {_GOES_ON}")
            raise
        except (PoolError, _HopelessError) as error:
            if asked.is_set():  # the workers heard it first, and died of it
                console.complain(f"{len(folder.done()):,} parts are read; {_GOES_ON}")
                raise KeyboardInterrupt from error
            console.complain(f"{error}; {_GOES_ON}")
    tally.seconds = time.monotonic() - began
    return tally


@contextmanager
def _noticing_interrupts() -> Iterator[threading.Event]:
    """An event that says whether Ctrl-C was pressed: an exception alone may get lost.

    Python drops one that is raised while a callback of a library runs, and Ray's processes, which
    hear of it too, may die and be noticed before.
    """
    asked = threading.Event()
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield asked  # somebody else listens, or nobody shall
        return

    def note(number: int, frame: FrameType | None) -> None:
        asked.set()
        signal.default_int_handler(number, frame)

    signal.signal(signal.SIGINT, note)
    try:
        yield asked
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _until(asked: threading.Event, results: Iterator[Result]) -> Iterator[Result]:
    """The results, until Ctrl-C is pressed."""
    for result in results:
        yield result
        if asked.is_set():
            raise KeyboardInterrupt


def _write(
    folder: OutputFolder,
    results: Iterator[Result],
    left: dict[int, int],
    tally: _Tally,
    hopeless: int,
) -> None:
    failed = 0
    with console.Progress(sum(left.values())) as progress:
        for result in results:
            if result.trouble:
                failed += 1
                progress.complain(f"part {result.number} is not read: {result.trouble}")
                if failed == hopeless and not tally.images:
                    raise _HopelessError(f"stopped, as none of {failed} parts could be read")
                continue
            folder.write(result.number, result.data)
            tally.images += left[result.number]
            for _ in range(left[result.number]):
                progress.advance()


def _summarize(folder: OutputFolder, tally: _Tally) -> bool:
    """Print what is in the folder; whether that is everything, without errors."""
    done = folder.done()
    counts = [part.count for part in folder.parts()]
    unreadable = sum(map(folder.unreadable, sorted(done)))
    if tally.images:
        rate = tally.images / tally.seconds
        console.write(
            f"read now: {tally.images:,} images in {tally.seconds:,.0f} s, {rate:,.1f} per second"
        )
    console.write(
        f"{folder.path}: {sum(counts[n] for n in done):,} images in {len(done):,} parts, "
        f"{unreadable:,} of them unreadable"
    )
    missing = len(counts) - len(done)
    if missing:
        console.complain(f"{missing:,} of {len(counts):,} parts are not read; {_GOES_ON}")
    if unreadable:
        console.complain(f"{unreadable:,} images could not be read; error says why in their lines")
    return not missing and not unreadable
