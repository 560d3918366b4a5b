"""What analyses write: tidy tables and a summary of how they came about."""

import argparse
import csv
import io
import json
import os
import platform
import sys
from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import Any

import torch

import vit_str
from vit_str.analysis.intervals import Mean
from vit_str.analysis.material import Material
from vit_str.analysis.subjects import Subject


@dataclass(frozen=True, slots=True)
class Row:
    """One number of an analysis; layers and heads count from 1.

    Attributes:
        model: as the user called it.
        layer: of the encoder.
        head: of the layer; None for what is of the whole layer.
        metric: see ``statistics.UNITS``.
        unit: of the numbers.
        norm: ``renormalized`` or ``raw``.
        mean: over images.
        low: lower end of its 95 % interval.
        high: upper end.
        n: number of images.
    """

    model: str
    layer: int
    head: int | None
    metric: str
    unit: str
    norm: str
    mean: float
    low: float
    high: float
    n: int


def layer_rows(model: str, metric: str, unit: str, mean: Mean, norm: str = "") -> list[Row]:
    """Rows of a metric that whole layers have, one mean for each layer from the first."""
    numbers = zip(*(part.tolist() for part in mean[:3]), strict=True)
    return [
        Row(model, layer, None, metric, unit, norm, value, low, high, mean.n)
        for layer, (value, low, high) in enumerate(numbers, 1)
    ]


COLUMNS = tuple(field.name for field in fields(Row))


def write_rows(path: Path, rows: Iterable[Row]) -> None:
    """Rows as CSV, one number per line."""
    write_csv(path, COLUMNS, (astuple(row) for row in rows))


def write_csv(path: Path, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """A table with a header, whole or not at all; None is an empty cell."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([_cell(value) for value in row] for row in rows)
    write_whole(path, text.getvalue().encode())


def write_summary(
    folder: Path,
    options: argparse.Namespace,
    subjects: Sequence[Subject],
    material: Material | None,
    seconds: float,
    **more: Any,
) -> None:
    """``summary.json``: what was asked, of which models and images, how long, which versions.

    Args:
        folder: where.
        options: of the command line.
        subjects: the models.
        material: the images, if there were any.
        seconds: of computing.
        more: results, values that JSON knows.
    """
    asked = {name: value for name, value in vars(options).items() if name != "out"}
    values = {
        "versions": {
            "vit-str": vit_str.__version__,
            "torch": torch.__version__,
            "python": platform.python_version(),
        },
        "options": asked,
        "models": {subject.name: _described(subject) for subject in subjects},
        "images": material and material.description,
        "skipped": material and material.skipped,
        "seconds": round(seconds, 2),
        "peak_memory_mb": _peak_memory(),
        **more,
    }
    text = json.dumps(values, indent=1, ensure_ascii=False, default=str)
    write_whole(folder / "summary.json", f"{text}\n".encode())


def _described(subject: Subject) -> dict[str, Any]:
    encoder = subject.recognizer.encoder
    return {
        "encoder": type(encoder).__name__,
        "image_size": encoder.image_size,
        "grid": encoder.grid,
        "special_tokens": encoder.special_tokens,
        "trained": subject.trained,
    }


def _peak_memory() -> int | None:
    """Of this process so far, in MB; None where the system does not tell."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(peak / (1e6 if sys.platform == "darwin" else 1e3))


def write_whole(path: Path, content: bytes) -> None:
    """Write a file whole or not at all; folders that are missing are made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        partial.write_bytes(content)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def _cell(value: object) -> object:
    return f"{value:.6g}" if isinstance(value, float) else "" if value is None else value
