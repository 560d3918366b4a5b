"""One model in the atlas: every metric of every layer and head, as JSON."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from jaxtyping import Float64
from torch import Tensor

from vit_str.analysis.distance.measure import UNITS_OF_DISTANCE, DistanceAnalysis
from vit_str.analysis.libraries.load import library_versions
from vit_str.analysis.results import AnalysisRun
from vit_str.analysis.statistics import PER_LAYER, mean_over
from vit_str.analysis.subjects import UNTRAINED, Subject
from vit_str.machine import software
from vit_str.reports.tables import write_json

Record = dict[str, Any]
"""One model, as it is in its file; see the documentation of the atlas for its fields."""
FORMAT = "vit-str atlas"
VERSION = 1
"""Name and version in ``atlas.json``, see docs/atlas.schema.json. A version that leaves out or
renames a field has another number; one with more fields has not."""

_LIBRARIES = {"timm": "timm", "torchvision": "torchvision", "hf": "transformers"}
_DIGITS = 6


class Measured:
    """The models that are done, a file for each in a folder.

    Raises:
        ValueError: the folder holds models that were measured with other settings.
    """

    def __init__(self, folder: Path, settings: Mapping[str, Any]) -> None:
        self._folder = folder
        self.settings = dict(settings)
        self.records: dict[str, Record] = {}
        for path in sorted(folder.glob("*.json")):
            record = _read(path)
            self._check(record, path)
            self.records[record["model"]] = record

    def add(self, record: Record) -> None:
        """Keep a model that is done."""
        record = record | {"settings": self.settings}
        self._folder.mkdir(parents=True, exist_ok=True)
        write_json(self._folder / f"{quote(record['model'], safe='')}.json", record)
        self.records[record["model"]] = record

    def _check(self, record: Record, path: Path) -> None:
        for name, value in self.settings.items():
            found = record["settings"].get(name)
            if found != value and name == "images":
                raise ValueError(
                    f"{path} was measured on other images: those of the folder have "
                    "changed; give another --out"
                )
            if found != value:
                raise ValueError(
                    f"{path} was measured with {name} {found}, not {value}: give the "
                    "same options to go on, or another --out"
                )


def measure(run: AnalysisRun, subject: Subject, norm: str) -> Record:
    """Measure the attention of a model on all images."""
    analysis = DistanceAnalysis(subject.name, subject.encoder, norm)
    run.measure(subject, analysis.update)
    encoder: Any = subject.encoder
    model = encoder if subject.reads else encoder.model
    return {
        "model": subject.name,
        "architecture": type(model).__name__,
        "parameters": sum(weights.numel() for weights in model.parameters()),
        "trained": subject.trained,
        "weights": subject.weights_hash,
        "image_size": list(encoder.image_size),
        "special_tokens": list(encoder.special_names),
        "images": analysis.images,
        "data": run.images.description if run.images else None,
        "skipped": run.images.skipped if run.images else [],
        "versions": software() | library_versions(),
        "layers": _layers(analysis),
    }


def _layers(analysis: DistanceAnalysis) -> list[Record]:
    statistics = analysis.statistics
    tokens = statistics.tokens
    chance = statistics.chance()
    values = {metric: analysis.values(metric) for metric in analysis.metrics}
    layers = []
    for index, name in enumerate(statistics.layers):
        grid = tokens.grid_of(name)
        windows = len(tokens.windows[name].allowed) if tokens.windows else 1
        by_chance = {}
        for line, metrics in chance.items():
            by_chance[line] = {
                metric: _number(of_layers[index])
                for metric, of_layers in metrics.items()
            }
        layer = {
            "layer": index + 1,
            "name": name,
            "rows": grid.rows,
            "columns": grid.columns,
            "patch_size": list(grid.patch_size),
            "windows": windows,
            "heads": values["distance"][index].shape[1],
            "chance": by_chance,
            "metrics": {
                metric: _metric(metric, of_layers[index])
                for metric, of_layers in values.items()
            },
        }
        layers.append(layer)
    return layers


def _metric(metric: str, values: Float64[Tensor, "image head"]) -> Record:
    """A metric of a layer, as the mean of its heads, and of every head, with 95 % intervals."""
    record: Record = {"unit": UNITS_OF_DISTANCE[metric], **_interval(values.mean(1))}
    if metric not in PER_LAYER:
        record["heads"] = [_interval(head) for head in values.T]
    return record


def _interval(values: Float64[Tensor, " image"]) -> dict[str, float | None]:
    mean, low, high, _ = mean_over(values)
    return {"mean": _number(mean), "low": _number(low), "high": _number(high)}


def _number(value: float | Tensor) -> float | None:
    """A number of six digits; JSON has none that are not finite."""
    number = float(value)
    return float(f"{number:.{_DIGITS}g}") if math.isfinite(number) else None


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a model was not measured, and by which versions of vit-str and of its library."""

    reason: str
    versions: Mapping[str, str]

    @classmethod
    def of(cls, name: str, reason: str) -> "Refusal":
        """A refusal by what is installed."""
        return cls(reason, _versions_for(name))

    def holds(self, name: str) -> bool:
        """Whether what refused the model is still installed; another version may support it."""
        return self.versions == _versions_for(name)


def _versions_for(name: str) -> dict[str, str]:
    """Versions of vit-str and of the library that a model is of."""
    library = _LIBRARIES.get(name.removeprefix(UNTRAINED).partition(":")[0], "")
    found = software() | library_versions()
    return {
        package: found[package] for package in ("vit-str", library) if package in found
    }


def read_refused(path: Path) -> dict[str, Refusal]:
    """Models that an atlas could not measure; none if there is no atlas yet.

    Raises:
        ValueError: the file is not that of an atlas.
    """
    try:
        atlas = json.loads(path.read_text(encoding="utf-8"))
        versions = atlas.get("refused_by", {})
        return {
            str(name): Refusal(str(reason), dict(versions.get(name, {})))
            for name, reason in atlas["refused"].items()
        }
    except FileNotFoundError:
        return {}
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        raise ValueError(
            f"{path} is not an atlas: remove it, or give another --out"
        ) from None


def _read(path: Path) -> Record:
    try:
        record: Record = json.loads(path.read_text(encoding="utf-8"))
        if (
            record["layers"]
            and record["model"]
            and isinstance(record["settings"], dict)
        ):
            return record
    except (ValueError, LookupError, TypeError, RecursionError):
        pass
    raise ValueError(
        f"{path} is not a model of an atlas: remove it, or give another --out"
    )
