"""Output of analyses: tidy tables, a summary of how they came about, and where the page is."""

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd
from jaxtyping import Float, Float64
from torch import Tensor

from vit_str import console
from vit_str.analysis.images import (
    Batch,
    ImageSet,
    batches_of,
    check_data,
    load_images,
)
from vit_str.analysis.libraries.load import is_library_name, library_versions
from vit_str.analysis.statistics import mean_over
from vit_str.analysis.subjects import Subject, load_subjects
from vit_str.machine import software
from vit_str.reports.page import Page
from vit_str.reports.tables import Table, write_json


class AnalysisRun:
    """One run of an analysis: its models and images, and the files it writes."""

    def __init__(self, options: Mapping[str, Any], names: list[str]) -> None:
        self.options = options
        self.names = names
        self._start = time.monotonic()
        self.seed: int = options["seed"]
        self.folder: Path = options["out"]
        self.images: ImageSet | None = None
        self.classes = False  # whether models of other libraries keep their heads

    @cached_property
    def subjects(self) -> list[Subject]:
        """The models, all loaded when they are first asked for.

        Raises:
            ValueError: no such model, or no images for it.
        """
        check_data(self.names, self.options["data"])
        checkpoint = self.options["checkpoint"]
        image_size = self.options["image_size"]
        return load_subjects(
            self.names, self.seed, checkpoint, image_size, self.classes
        )

    def batches(
        self, subject: Subject, most: int | None = None
    ) -> Iterator[tuple[Batch, Float[Tensor, "batch channel height width"]]]:
        """The images for a model, or a few of them, see `batches_of`.

        The page is about the whole set.
        """
        options = self.options
        count = options["count"] if most is None else min(most, options["count"])
        images = load_images(
            subject,
            data=options["data"],
            count=count,
            seed=self.seed,
            fonts=options["fonts"],
        )
        if most is None:
            self.images = images
        return batches_of(subject, images, options["batch_size"], options["device"])

    def measure(self, subject: Subject, *updates: Callable[[Tensor], None]) -> None:
        """Call functions with all batches of images for a model."""
        for _, images in self.batches(subject):
            for update in updates:
                update(images)

    def page(self, title: str, lead: str) -> Page:
        """An empty page that says what images it is about."""
        if self.images:
            lead = f"{lead} Measured on {self.images.description}."
        return Page(title, lead)

    def finish(self, page: Page, **results: Any) -> int:
        """Write the page and ``summary.json``, and print where the page is; returns the exit code.

        The summary has options, models, images, time, versions, and ``results``.
        """
        skipped = self.images.skipped if self.images else None
        options = {name: self.options[name] for name in self.options if name != "out"}
        models = {subject.name: _description(subject) for subject in self.subjects}
        of_libraries = any(map(is_library_name, self.names))
        summary = {
            "versions": software() | (library_versions() if of_libraries else {}),
            "options": options,
            "models": models,
            "images": self.images and self.images.description,
            "skipped": skipped,
            "seconds": round(time.monotonic() - self._start, 2),
            "peak_memory_mb": _peak_memory(),
            **results,
        }
        write_json(self.folder / "summary.json", summary)
        path = page.write(self.folder)
        for reason in skipped or ():
            console.warn(reason, "analyze")
        console.write(str(path))
        return 0


def means_table(values: Float64[Tensor, "case ..."], **columns: Any) -> pd.DataFrame:
    """Means over cases with 95 % intervals, a row for each value of a case, after ``columns``."""
    means = mean_over(values)
    numbers = {
        "mean": means.mean.flatten().numpy(),
        "low": means.low.flatten().numpy(),
        "high": means.high.flatten().numpy(),
        "n": len(values),
    }
    return pd.DataFrame(columns | numbers)


def of_layers(
    model: str,
    metric: str,
    unit: str,
    values: Float64[Tensor, "image layer"],
    norm: str = "",
) -> pd.DataFrame:
    """A metric that whole layers have, as a table like that of `measurements`."""
    layers = range(1, values.shape[1] + 1)
    return means_table(
        values,
        model=model,
        layer=layers,
        head=pd.array([None] * len(layers), dtype="Int64"),
        metric=metric,
        unit=unit,
        norm=norm,
    )


def table_of(measurements: pd.DataFrame) -> Table:
    """The table of a page, without what is the same in all rows."""
    shown = ["model", "layer", "metric", "unit", "mean", "low", "high"]
    return cells_of(measurements[shown])


def cells_of(frame: pd.DataFrame) -> Table:
    """A pandas table as one of a page, what is missing empty."""
    cells = frame.astype(object).where(frame.notna(), None)
    return list(frame), cells.to_numpy().tolist()


def _description(subject: Subject) -> dict[str, Any]:
    encoder: Any = subject.encoder
    of_library = not subject.reads
    return {
        "encoder": type(encoder.model if of_library else encoder).__name__,
        "image_size": encoder.image_size,
        "grid": encoder.attention_grid,
        "special_tokens": encoder.special if of_library else encoder.special_tokens,
        "trained": subject.trained,
        "weights": subject.weights_hash,
    }


def _peak_memory() -> int | None:
    """The peak memory of this process so far, in MB; None where the system does not say."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(peak / (1e6 if sys.platform == "darwin" else 1e3))
