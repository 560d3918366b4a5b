"""What questions write: tidy tables, a summary of how they came about, and where the page is."""

import platform
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

import vit_str
from vit_str.analysis.images import ImageSet
from vit_str.analysis.means import Mean
from vit_str.analysis.subjects import Subject
from vit_str.pages.page import Page
from vit_str.pages.tables import Table, write_json


@dataclass(frozen=True, slots=True)
class Measurement:
    """A mean over images; layers and heads count from 1.

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


def numbers_of(mean: Mean, scale: float = 1.0) -> list[tuple[float, float, float]]:
    """Mean, low and high of every cell, divided by a scale."""
    return list(zip(*((part / scale).tolist() for part in mean[:3]), strict=True))


def of_layers(model: str, metric: str, unit: str, mean: Mean, norm: str = "") -> list[Measurement]:
    """A metric that whole layers have, one mean for each layer from the first."""
    return [
        Measurement(model, layer, None, metric, unit, norm, *numbers, mean.n)
        for layer, numbers in enumerate(numbers_of(mean), 1)
    ]


def table_of(measurements: Iterable[Measurement]) -> Table:
    """The table of a page, without what is the same in all rows."""
    columns = ["model", "layer", "metric", "unit", "mean", "low", "high"]
    return columns, [[getattr(each, name) for name in columns] for each in measurements]


def write_summary(
    folder: Path,
    options: dict[str, Any],
    subjects: Sequence[Subject],
    images: ImageSet | None,
    seconds: float,
    **results: Any,
) -> None:
    """``summary.json``: what was asked, of which models and images, how long, which versions.

    Args:
        folder: where.
        options: of the command line.
        subjects: the models.
        images: the images, if there were any.
        seconds: of computing.
        results: values that JSON knows.
    """
    summary = {
        "versions": {
            "vit-str": vit_str.__version__,
            "torch": torch.__version__,
            "python": platform.python_version(),
        },
        "options": {name: value for name, value in options.items() if name != "out"},
        "models": {subject.name: _description(subject) for subject in subjects},
        "images": images and images.description,
        "skipped": images and images.skipped,
        "seconds": round(seconds, 2),
        "peak_memory_mb": _peak_memory(),
        **results,
    }
    write_json(folder / "summary.json", summary)


def write_page(page: Page, folder: Path, images: ImageSet | None = None) -> int:
    """Write the page, say where it is and which images were skipped; returns the exit code."""
    path = page.write(folder)
    for reason in images.skipped if images else []:
        sys.stderr.write(f"vit-str analyze: {reason}\n")
    sys.stdout.write(f"{path}\n")
    return 0


def _description(subject: Subject) -> dict[str, Any]:
    encoder = subject.recognizer.encoder
    return {
        "encoder": type(encoder).__name__,
        "image_size": encoder.image_size,
        "grid": encoder.grid,
        "special_tokens": encoder.special_tokens,
        "trained": subject.trained,
    }


def _peak_memory() -> int | None:
    """Of this process so far, in MB; None where the system does not say."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(peak / (1e6 if sys.platform == "darwin" else 1e3))
