"""The report of ``vit-str analyze compare``."""

import pandas as pd

from vit_str.analysis.compare.measure import SIGNIFICANT, differences
from vit_str.analysis.distance.figures import differences_by_layer
from vit_str.analysis.distance.measure import DistanceAnalysis
from vit_str.analysis.results import AnalysisRun, cells_of
from vit_str.reports.tables import write_frame

_LEAD = (
    "Both models saw the same images; every difference is the second model minus the first, image "
    "by image, so that what the images have in common cancels."
)
_MATCHING = {
    "index": "head 1 with head 1 and so on; heads with the same number have nothing in common but "
    "their starting weights, if even those",
    "rank": "the most local head of a layer with the most local of the other, and so on",
    "depth": "means over the heads of layers at the same share of the depth, which count as in the "
    "shallower model",
}
_SHOWN = ("distance", "distance_x", "distance_y", "entropy", "nmi")
_TESTS = (
    "p is of a paired t-test; p_holm is corrected for the number of layers (Holm 1979), since of "
    "many intervals some leave out zero by chance."
)


def report(run: AnalysisRun, norm: str) -> int:
    """Measure both models on the same images, and write their differences and a page."""
    first, second = (
        run.measure(subject, DistanceAnalysis(subject.name, subject.encoder, norm))
        for subject in run.subjects
    )
    table = differences(first, second)
    write_frame(run.folder / "compare.csv", table)
    n = first.images
    page = run.page(f"{second.model} against {first.model}", _LEAD)
    page.heading("By depth")
    layers = table[table["matching"].isin(["layer", "depth"])]
    page.paragraph(_finding(layers))
    distances = table[(table["metric"] == "distance") & (table["unit"] == "px")]
    for matching, meaning in _MATCHING.items():
        if not (distances["matching"] == matching).any():
            continue
        shown = distances[distances["matching"].isin([matching, "layer"])]
        page.figure(
            differences_by_layer(shown, f"matched by {matching}"),
            f"difference-{matching}",
            f"Difference of attention distance in pixels ({norm}), matched by {matching}: "
            f"{meaning}. The line is of means of layers. 95 % intervals over n = {n:,} paired "
            f"images; full dots have p_holm below {SIGNIFICANT}.",
            vector=True,
        )
    page.heading("In numbers")
    page.paragraph(_TESTS)
    cells = layers[layers["metric"].isin(_SHOWN)].drop(columns=["matching", "head", "n"])
    caption = f"Means of layers with 95 % intervals, {norm}, n = {n:,} images"
    page.table(*cells_of(cells), caption)
    return run.finish(page, n=n)


def _finding(layers: pd.DataFrame) -> str:
    """In how many layers the second model looks farther, in a sentence."""
    distances = layers[(layers["metric"] == "distance") & (layers["unit"] == "px")]
    significant = distances[distances["p_holm"] < SIGNIFICANT]
    most = distances.loc[distances["difference"].abs().idxmax()]
    return (
        f"Of {len(distances)} layers the second model has more distance in "
        f"{(significant['difference'] > 0).sum()} and less in "
        f"{(significant['difference'] < 0).sum()}, as means over heads with p < {SIGNIFICANT} "
        "after Holm's correction for the number of layers. The largest difference is "
        f"{most['difference']:+.1f} px [{most['low']:+.1f}, {most['high']:+.1f}] in layer "
        f"{most['layer']}."
    )
