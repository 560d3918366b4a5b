"""``vit-str analyze compare``: two models on the same images, as paired differences."""

import argparse
import time
from collections.abc import Sequence
from dataclasses import astuple, fields

from vit_str.analysis import cli
from vit_str.analysis.commands.distance import add_norm, measure_all
from vit_str.analysis.distance import Difference, differences
from vit_str.analysis.figures.distance import differences_by_layer
from vit_str.analysis.subjects import load_subjects
from vit_str.analysis.tables import Row, write_csv, write_summary
from vit_str.pages.page import Page

_LEAD = (
    "Both models saw the same images; every difference is the second model minus the first, image "
    "by image, so that what the images have in common cancels."
)
_MATCHING = {
    "index": "head 1 with head 1 and so on; heads with the same number have nothing in common but "
    "their starting weights, if even those",
    "rank": "the nearest looking head of a layer with the nearest looking of the other, and so on",
    "layer": "mean over the heads of a layer",
}
_SHOWN = ("distance", "distance_x", "distance_y", "entropy", "nmi")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of this subcommand."""
    for name in ("first", "second"):
        parser.add_argument(name, metavar=name.upper(), help="a model, as for distance")
    cli.common(parser)
    add_norm(parser)


def run(options: argparse.Namespace) -> None:
    """Measure both models and write their differences."""
    start = time.monotonic()
    subjects = load_subjects([options.first, options.second], options.seed)
    (first, second), material = measure_all(subjects, options)
    found = differences(first, second, options.seed)
    columns = [field.name for field in fields(Difference)]
    write_csv(options.out / "compare.csv", columns, (astuple(row) for row in found))
    seconds = time.monotonic() - start
    write_summary(options.out, options, subjects, material, seconds, n=first.images)
    title = f"{second.model} against {first.model}"
    page = Page(title, f"{_LEAD} Measured on {material.description}.")
    _write_differences(page, found, options.norm, first.images)
    cli.report(page.write(options.out), material)


def _write_differences(page: Page, found: Sequence[Difference], norm: str, n: int) -> None:
    page.heading("By depth")
    page.paragraph(_finding([row for row in found if row.matching == "layer"]))
    for matching in ("rank", "index"):
        rows = _rows(found, matching, norm)
        if any(row.head for row in rows):
            page.figure(
                differences_by_layer(rows),
                f"difference-{matching}",
                f"Difference of attention distance in pixels, heads matched by {matching}: "
                f"{_MATCHING[matching]}. Lines are means of layers. 95 % bootstrap intervals over "
                f"n = {n:,} paired images; full dots leave out zero.",
            )
    page.heading("In numbers")
    columns = ["layer", "metric", "unit", "first", "second", "difference", "low", "high"]
    cells = [
        [getattr(row, name) for name in columns]
        for metric in _SHOWN
        for row in found
        if row.matching == "layer" and row.metric == metric
    ]
    page.table(columns, cells, f"Means of layers with 95 % intervals, {norm}, n = {n:,} images")


def _rows(found: Sequence[Difference], matching: str, norm: str) -> list[Row]:
    """Differences as rows of a figure."""
    return [
        Row(
            f"matched by {matching}",
            row.layer,
            row.head,
            row.metric,
            row.unit,
            norm,
            row.difference,
            row.low,
            row.high,
            row.n,
        )
        for row in found
        if row.matching in (matching, "layer")
    ]


def _finding(layers: Sequence[Difference]) -> str:
    """In how many layers the second model looks farther, in a sentence."""
    distances = [row for row in layers if row.metric == "distance"]
    farther = sum(row.low > 0 for row in distances)
    nearer = sum(row.high < 0 for row in distances)
    most = max(distances, key=lambda row: abs(row.difference))
    return (
        f"Of {len(distances)} layers the second model looks farther in {farther} and less far in "
        f"{nearer}, as means over heads with intervals that leave out zero. The largest difference "
        f"is {most.difference:+.1f} px [{most.low:+.1f}, {most.high:+.1f}] in layer {most.layer}."
    )
