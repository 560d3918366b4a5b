"""The report of ``vit-str analyze atlas``: many models measured one by one, and compared."""

import time
from collections.abc import Sequence
from contextlib import nullcontext
from itertools import chain
from pathlib import Path
from typing import Any

from vit_str.analysis.atlas.drawing import (
    heads_by_depth,
    layer_mean,
    layer_shares,
    uniform,
)
from vit_str.analysis.atlas.hub import fetched_for_now
from vit_str.analysis.atlas.measure import (
    FORMAT,
    VERSION,
    Measured,
    Record,
    Refusal,
    measure,
    read_refused,
)
from vit_str.analysis.atlas.merge import is_merged, merged
from vit_str.analysis.atlas.names import FAMILIES, expand
from vit_str.analysis.images import RENDERED, check_data, images_hash
from vit_str.analysis.results import AnalysisRun
from vit_str.analysis.subjects import load_subject
from vit_str.console import Progress, reason_of, write
from vit_str.reports.page import Page
from vit_str.reports.tables import Table, write_json

_LEAD = (
    "How far the attention heads of many models look. Distances compare as shares of "
    "that of uniform attention in the same layer, because images, tokens and windows "
    "differ."
)
_READING = (
    "A drawing shows every head (dot) and the mean of each layer (line) from the first "
    "layer to the last, from 0 up; the dashed line is uniform attention, which is 1, "
    "the dotted one even attention to the 3 x 3 tokens around. Near heads have less "
    "than half the distance of uniform attention. An untrained model is near 1 in "
    "every layer, so a large distance alone says nothing about what was learned. "
    "Columns are sorted by a click on their title; the field above a table keeps the "
    "rows that hold all of the words in it."
)
_MODELS = [
    "model",
    "heads by depth",
    "mean of layers",
    "first layer",
    "last layer",
    "lowest head",
    "highest head",
    "near heads",
    "heads",
    "layers",
    "trained",
    "million parameters",
    "image",
    "architecture",
    "measured on",
    "seconds",
]
_LAYERS = [
    "model",
    "layer",
    "share of uniform",
    "distance (px)",
    "low",
    "high",
    "entropy (nats)",
    "NMI",
    "to itself",
    "to the sink",
    "to special tokens",
    "cosine with own value",
    "uniform (px)",
    "3 x 3 (px)",
    "uniform (nats)",
    "tokens",
    "windows",
]
_MERGE = "merge"
_NEAR = 0.5  # of the distance of uniform attention: nearer heads are counted


def report(run: AnalysisRun, norm: str, from_hub: bool) -> int:
    """Measure every model that is not done yet, and write JSON and a page of all that are.

    With ``merge`` as its first name, put atlases together instead.

    Raises:
        ValueError: ``--checkpoint`` is given, which is for one model, or the folder has an atlas
            put together from others.
    """
    if run.names[:1] == [_MERGE]:
        return _merge(run)
    names = expand(run.names or [FAMILIES])
    check_data(names, run.options["data"])
    if run.options["checkpoint"] is not None:
        raise ValueError("--checkpoint is for one model: give it to analyze distance")
    if is_merged(run.folder / "atlas.json"):
        raise ValueError(
            f"{run.folder} has an atlas put together from others: give another --out"
        )
    settings = _settings(run)
    measured = Measured(run.folder / "models", settings)
    refused = read_refused(run.folder / "atlas.json")
    again = [name for name, refusal in refused.items() if not refusal.holds(name)]
    names = list(dict.fromkeys([*names, *again]))
    try:
        with Progress(len(names), alone=True, unit="model", name="atlas") as progress:
            for name in progress.over(names):
                if name not in measured.records:
                    refused.pop(name, None)
                    try:
                        with fetched_for_now() if from_hub else nullcontext():
                            measured.add(_record(run, name, norm))
                    # Whatever a model raises, the others go on
                    except Exception as error:
                        reason = reason_of(error).removeprefix(f"{name}: ")
                        refused[name] = Refusal.of(name, reason)
                        progress.warn(f"{name}: {reason}", "analyze atlas")
    finally:  # after Ctrl-C the page has what is done
        write(f"{_write(run.folder, measured, refused, norm)}")
    return 0 if measured.records else 1


def _merge(run: AnalysisRun) -> int:
    """Put atlases together; returns the exit code."""
    atlas = merged(run.names[1:])
    write_json(run.folder / "atlas.json", atlas)
    norms = {f"{source['settings']['norm']}" for source in atlas["merged"]}
    page = _page(atlas["models"], atlas["refused"], " and ".join(sorted(norms)))
    write(f"{page.write(run.folder)}")
    return 0


def _settings(run: AnalysisRun) -> dict[str, Any]:
    """Settings that all models of one atlas share: options, and the images that they mean today."""
    names = ("data", "count", "seed", "norm", "image_size")
    settings: dict[str, Any] = {name: run.options[name] for name in names}
    if settings["data"] == RENDERED:
        fonts = run.options["fonts"]
        return settings | {"fonts": fonts and [str(folder) for folder in fonts]}
    return settings | {"images": images_hash(Path(settings["data"]), settings["count"])}


def _write(
    folder: Path, measured: Measured, refused: dict[str, Refusal], norm: str
) -> Path:
    """Write JSON and the page of what is measured so far; returns the path of the page."""
    records = list(measured.records.values())
    refused = {
        name: why for name, why in refused.items() if name not in measured.records
    }
    reasons = {name: refusal.reason for name, refusal in refused.items()}
    atlas = {
        "format": FORMAT,
        "version": VERSION,
        "settings": measured.settings,
        "models": records,
        "refused": reasons,
        "refused_by": {
            name: dict(refusal.versions) for name, refusal in refused.items()
        },
    }
    write_json(folder / "atlas.json", atlas)
    return _page(records, reasons, norm).write(folder)


def _record(run: AnalysisRun, name: str, norm: str) -> Record:
    start = time.monotonic()
    subject = load_subject(name, run.seed, image_size=run.options["image_size"])
    record = measure(run, subject, norm)
    # As it was asked for, so that it is found again.
    return record | {"model": name, "seconds": round(time.monotonic() - start, 2)}


def _page(records: Sequence[Record], refused: dict[str, str], norm: str) -> Page:
    data = sorted({f"{record['data']}" for record in records})
    page = Page("Atlas of attention distance", f"{_LEAD} {'; '.join(data)}; {norm}.")
    if records:
        page.heading("Models")
        page.note(_READING)
        rows = [_model_row(record) for record in records]
        caption = "Models; distances as shares of that of uniform attention."
        page.table(_MODELS, rows, caption, sortable=True)
        page.heading("Layers")
        caption = "Layers as means over their heads with 95 % intervals over images (low, high)."
        page.table(*_layer_table(records), caption, sortable=True)
        page.heading("Versions")
        versions = sorted({_versions(record) for record in records})
        for line in versions:
            page.paragraph(line)
    if refused:
        page.heading("Not measured")
        rows = [list(pair) for pair in refused.items()]
        caption = "Models that were not measured, and why."
        page.table(["model", "reason"], rows, caption, sortable=True)
    return page


def _model_row(record: Record) -> list[object]:
    layers = record["layers"]
    heads = list(chain.from_iterable(map(layer_shares, layers)))
    means = [layer_mean(layer) for layer in layers]
    height, width = record["image_size"]
    return [
        record["model"],
        heads_by_depth(layers),
        sum(means) / len(means),
        means[0],
        means[-1],
        min(heads),
        max(heads),
        sum(share < _NEAR for share in heads),
        len(heads),
        len(layers),
        "yes" if record["trained"] else "no",
        record["parameters"] / 1e6,
        f"{height} x {width}",
        record["architecture"],
        record["data"],
        record.get("seconds"),
    ]


def _layer_table(records: Sequence[Record]) -> Table:
    rows = []
    for record in records:
        rows += [_layer_row(record, layer) for layer in record["layers"]]
    return _LAYERS, rows


def _layer_row(record: Record, layer: Record) -> list[object]:
    def mean(metric: str) -> Any:
        found = layer["metrics"].get(metric)  # of values, which not all models show
        return found and found["mean"]

    distance = layer["metrics"]["distance"]
    chance = layer["chance"]
    return [
        record["model"],
        layer["layer"],
        layer_mean(layer),
        distance["mean"],
        distance["low"],
        distance["high"],
        mean("entropy"),
        mean("nmi"),
        mean("self_mass"),
        mean("sink_mass"),
        mean("special_mass"),
        mean("own_value_cosine"),
        uniform(layer),
        chance["window 3x3"]["distance"],
        chance["uniform"]["entropy"],
        f"{layer['rows']} x {layer['columns']}",
        layer["windows"],
    ]


def _versions(record: Record) -> str:
    return ", ".join(f"{name} {number}" for name, number in record["versions"].items())
