"""``vit-str read --engine ray``: images by the million, into a folder."""

import argparse
import hashlib
import time
from collections.abc import Sequence
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from vit_str import console
from vit_str.files import exclusive
from vit_str.machine import install_hint
from vit_str.words.options import find_inputs, listed, report

if TYPE_CHECKING:
    from vit_str.reading.bulk.archives import ImageRef
    from vit_str.reading.bulk.output import OutputFolder
    from vit_str.reading.bulk.workers import Job

_DEVICES = ("auto", "cpu", "cuda", "mps")
# A multiple of the usual batch, so that batches are those of the plain engine.
_PART_SIZE = 1024


def run_ray(options: argparse.Namespace) -> int:
    """Read what has no result in the folder ``--out``, and report what is there then."""
    if options.files_from:
        groups = listed(options.files_from)
        options.paths = [*options.paths, *chain.from_iterable(groups)]
    _check_ray(options)
    from vit_str.images.loading import SUFFIXES
    from vit_str.reading.bulk.archives import ARCHIVES, list_images
    from vit_str.reading.bulk.output import LOCK, OutputFolder, utf8
    from vit_str.reading.bulk.workers import Job

    if not options.paths:
        raise ValueError(
            "name images, folders or archives to read, or list them in --files-from"
        )
    inputs = find_inputs(options.paths, (*SUFFIXES, *ARCHIVES))
    if not inputs.paths:
        report(inputs.problems)
        return 2
    weights = _weights(options)
    options.characters = options.characters or options.boxes
    job = Job(**{name: getattr(options, name) for name in Job._fields})
    settings = {
        "weights (SHA-256)": hashlib.sha256(b"".join(weights.values())).hexdigest(),
        "column": options.column,
        **{
            name: value for name, value in job._asdict().items() if name != "batch_size"
        },
    }
    folder = OutputFolder(Path(options.out), options.format or "parquet", settings)
    with exclusive(folder.path / LOCK):
        images = list(list_images(inputs.paths, options.column, inputs.add_problem))
        report(inputs.problems)
        done = folder.done()
        left = [image for image in images if utf8(image.name) not in done]
        if done and left:
            console.warn(
                f"{len(done):,} images are read already, {len(left):,} are left"
            )
        if left:
            _read_and_write(left, folder, weights, job, options)
        complete = _summarize(folder, [image.name for image in images])
    return 0 if complete and not inputs.problems else 1


def _weights(options: argparse.Namespace) -> dict[str, bytes]:
    """The files that workers read with, by name; refuses what no worker could use."""
    from vit_str.decoding.search import Search
    from vit_str.engines.weights_contents import resolve
    from vit_str.scripts.registry import choose_weights
    from vit_str.words.reader import load

    chosen = choose_weights(options.model, Search(language=options.language))
    path = resolve(chosen.first)
    if path.is_dir():
        raise ValueError("--engine ray needs a weights file, not an exported folder")
    reader = load(path, "cpu", effort=options.effort, backend=options.backend)
    if options.boxes:
        reader.require_boxes()
    files = map(resolve, chosen.paths)
    return {file.name: file.read_bytes() for file in files}


def _check_ray(options: argparse.Namespace) -> None:
    """Refuse what can be seen from the command alone."""
    if not options.out:
        raise ValueError("--engine ray needs --out FOLDER, which the results go to")
    if options.format not in (None, "parquet", "jsonl"):
        raise ValueError(
            f"--engine ray writes --format parquet or jsonl, found {options.format}"
        )
    if "-" in options.paths:
        raise ValueError("--engine ray reads no standard input; name files or folders")
    if options.device not in _DEVICES:
        raise ValueError(
            f"--engine ray assigns GPUs itself: --device {', '.join(_DEVICES)}, "
            f"not {options.device}"
        )
    chosen = (options.lexicon, options.pattern, options.alphabet, options.beams)
    if options.n_best > 1 or any(option is not None for option in chosen):
        raise ValueError(
            "--engine ray gives the likeliest of all texts: leave out --n-best, "
            "--beams, --lexicon, --pattern and --alphabet"
        )
    out = Path(options.out).resolve()
    for path in map(Path, options.paths):
        if path.is_dir() and out.is_relative_to(path.resolve()):
            raise ValueError(
                f"--out lies in {path}, which is read; give one outside it"
            )
    for package in ("ray", "pyarrow"):
        if find_spec(package) is None:
            raise ValueError(
                f"--engine ray needs {package}, run: {install_hint('ray')}"
            )


def _read_and_write(
    images: "Sequence[ImageRef]",
    folder: "OutputFolder",
    weights: dict[str, bytes],
    job: "Job",
    options: argparse.Namespace,
) -> None:
    """Read images and write a file for each part; say why if it ends early."""
    from vit_str.reading.bulk.workers import (
        RayError,
        noticing_interrupts,
        ray_workers,
        read_parts,
    )

    began = time.monotonic()
    count = 0
    with (
        noticing_interrupts() as interrupted,
        console.Progress(len(images)) as progress,
    ):
        try:
            started = ray_workers(options.ray_address, options.device, options.workers)
            with started as workers:
                size = options.part_size or _PART_SIZE
                for rows, problem in read_parts(images, size, job, weights, workers):
                    if problem:
                        progress.warn(f"a part is not read: {problem}")
                    else:
                        folder.write(rows)
                        count += len(rows)
                        progress.advance(len(rows))
                    if interrupted.is_set():
                        raise KeyboardInterrupt
        except RayError as error:
            if interrupted.is_set():
                raise KeyboardInterrupt from error
            progress.warn(str(error))
    seconds = time.monotonic() - began
    console.write(
        f"read now: {count:,} images in {seconds:,.0f} s, {count / seconds:,.1f} per "
        "second"
    )


def _summarize(folder: "OutputFolder", names: "Sequence[str]") -> bool:
    """Print what is in the folder; whether that is everything, without errors."""
    from vit_str.reading.bulk.output import utf8

    done = folder.done()
    unreadable = sum(not is_readable for is_readable in done.values())
    missing = sum(utf8(name) not in done for name in names)
    console.write(
        f"{folder.path}: {len(done):,} images, {unreadable:,} of them unreadable"
    )
    if missing:
        console.warn(f"{missing:,} images are not read; the same command resumes")
    if unreadable:
        console.warn(
            f"{unreadable:,} images could not be read; error says why in their lines"
        )
    return not missing and not unreadable
