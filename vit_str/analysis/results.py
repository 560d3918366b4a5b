"""What questions write: tidy tables, a summary of how they came about, and where the page is."""

import platform
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

import vit_str
from vit_str.analysis.images import Batch, ImageSet, batches_of, load_images
from vit_str.analysis.libraries.encoder import LibraryEncoder
from vit_str.analysis.means import Mean
from vit_str.analysis.subjects import Subject, load_subjects, load_with_untrained
from vit_str.reports.page import Page
from vit_str.reports.tables import Table, write_csv, write_json, write_rows


class Inspection:
    """One question to models: which models and images it is about, and the files of the answer.

    Args:
        options: of the command line by name, see `arguments`.
        models: names of the models, ``options["models"]`` by default.
        with_untrained: look into one model, and the same without training.

    Attributes:
        subjects: the models.
        seed: of everything random.
        images: that were loaded last, if any.

    Raises:
        ValueError: no such model.
    """

    def __init__(
        self,
        options: Mapping[str, Any],
        models: Sequence[str] | None = None,
        with_untrained: bool = False,
    ) -> None:
        self._options, self._start, self.seed = options, time.monotonic(), options["seed"]
        names = list(models or options["models"])
        self.subjects = (
            load_with_untrained(names[0], self.seed)
            if with_untrained
            else load_subjects(names, self.seed, options.get("checkpoint"))
        )
        self.images: ImageSet | None = None

    def load(self, subject: Subject, count: int | None = None) -> ImageSet:
        """The images for a model; fewer than the whole set are not what the answer is about."""
        data, most, fonts = (self._options[name] for name in ("data", "count", "fonts"))
        images = load_images(subject, data, count or most, self.seed, fonts)
        self.images = self.images if count else images
        return images

    @property
    def how(self) -> tuple[int, str]:
        """Images at once, and where to compute."""
        return self._options["batch_size"], self._options["device"]

    def batches(self, subject: Subject) -> Iterator[tuple[Batch, Tensor]]:
        """The images for a model, see `batches_of`."""
        return batches_of(subject, self.load(subject), *self.how)

    def page(self, title: str, lead: str) -> Page:
        """An empty page that says what images it is about."""
        return Page(
            title, f"{lead} Measured on {self.images.description}." if self.images else lead
        )

    def write_rows(self, name: str, row_type: type, rows: Iterable[Any]) -> None:
        """Write dataclasses as CSV."""
        write_rows(self._options["out"] / name, row_type, rows)

    def write_table(self, name: str, columns: Sequence[str], rows: Iterable[Any]) -> None:
        """Write a table as CSV."""
        write_csv(self._options["out"] / name, columns, rows)

    def write_json(self, name: str, values: object) -> None:
        """Write values as JSON."""
        write_json(self._options["out"] / name, values)

    def finish(self, page: Page, **results: Any) -> int:
        """Write the page and ``summary.json``, and say where the page is; returns the exit code.

        The summary has what was asked, of which models and images, how long it took, versions, and
        ``results``. Images that were skipped are reported.
        """
        folder, skipped = self._options["out"], self.images.skipped if self.images else None
        summary = {
            "versions": {
                "vit-str": vit_str.__version__,
                "torch": torch.__version__,
                "python": platform.python_version(),
            },
            "options": {name: value for name, value in self._options.items() if name != "out"},
            "models": {subject.name: _description(subject) for subject in self.subjects},
            "images": self.images and self.images.description,
            "skipped": skipped,
            "seconds": round(time.monotonic() - self._start, 2),
            "peak_memory_mb": _peak_memory(),
            **results,
        }
        write_json(folder / "summary.json", summary)
        path = page.write(folder)
        for reason in skipped or ():
            sys.stderr.write(f"vit-str analyze: {reason}\n")
        sys.stdout.write(f"{path}\n")
        return 0


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


def _description(subject: Subject) -> dict[str, Any]:
    encoder = subject.encoder
    named = {"encoder": type(encoder).__name__, "special_tokens": encoder.special_tokens}
    if isinstance(encoder, LibraryEncoder):
        named = {"encoder": type(encoder.model).__name__, "special_tokens": encoder.special}
    return {
        "encoder": named["encoder"],
        "image_size": encoder.image_size,
        "grid": encoder.grid,
        "special_tokens": named["special_tokens"],
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
