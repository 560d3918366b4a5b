"""The answer of ``vit-str analyze compare``."""

from collections.abc import Sequence

from vit_str.analysis.compare.measure import Difference, differences
from vit_str.analysis.distance.figures import differences_by_layer
from vit_str.analysis.distance.measure import DistanceAnalysis
from vit_str.analysis.results import Inspection, Measurement
from vit_str.reports.tables import write_rows

_LEAD = (
    "Both models saw the same images; every difference is the second model minus the first, image "
    "by image, so that what the images have in common cancels."
)
_MATCHING = {
    "index": "head 1 with head 1 and so on; heads with the same number have nothing in common but "
    "their starting weights, if even those",
    "rank": "the most local head of a layer with the most local of the other, and so on",
    "layer": "mean over the heads of a layer",
}
_SHOWN = ("distance", "distance_x", "distance_y", "entropy", "nmi")


def answer(inspection: Inspection, norm: str) -> int:
    """Measure both models on the same images, and write their differences and a page."""
    first, second = (
        inspection.measure(subject, DistanceAnalysis(subject.name, subject.encoder, norm))
        for subject in inspection.subjects
    )
    rows = differences(first, second, inspection.seed)
    write_rows(inspection.folder / "compare.csv", Difference, rows)
    layers = [row for row in rows if row.matching == "layer"]
    n = first.images
    page = inspection.page(f"{second.model} against {first.model}", _LEAD)
    page.heading("By depth")
    page.paragraph(_finding(layers))
    for matching in ("rank", "index"):
        shown = _rows(rows, matching, norm)
        if any(row.head for row in shown):
            page.figure(
                differences_by_layer(shown),
                f"difference-{matching}",
                f"Difference of attention distance in pixels, heads matched by {matching}: "
                f"{_MATCHING[matching]}. Lines are means of layers. 95 % bootstrap intervals over "
                f"n = {n:,} paired images; full dots leave out zero.",
                vector=True,
            )
    page.heading("In numbers")
    columns = ["layer", "metric", "unit", "first", "second", "difference", "low", "high"]
    cells = [
        [getattr(row, name) for name in columns]
        for metric in _SHOWN
        for row in layers
        if row.metric == metric
    ]
    page.table(columns, cells, f"Means of layers with 95 % intervals, {norm}, n = {n:,} images")
    return inspection.finish(page, n=n)


def _rows(differences: Sequence[Difference], matching: str, norm: str) -> list[Measurement]:
    """Differences as rows of a figure."""
    return [
        Measurement(
            *(f"matched by {matching}", row.layer, row.head, row.metric, row.unit, norm),
            *(row.difference, row.low, row.high, row.n),
        )
        for row in differences
        if row.matching in (matching, "layer")
    ]


def _finding(layers: Sequence[Difference]) -> str:
    """In how many layers the second model looks farther, in a sentence."""
    distances = [row for row in layers if row.metric == "distance"]
    farther = sum(row.low > 0 for row in distances)
    nearer = sum(row.high < 0 for row in distances)
    most = max(distances, key=lambda row: abs(row.difference))
    return (
        f"Of {len(distances)} layers the second model has more distance in {farther} and less in "
        f"{nearer}, as means over heads with intervals that leave out zero. The largest difference "
        f"is {most.difference:+.1f} px [{most.low:+.1f}, {most.high:+.1f}] in layer {most.layer}."
    )
