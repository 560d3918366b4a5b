"""The report of ``vit-str analyze sinks``."""

import pandas as pd

from vit_str.analysis.results import AnalysisRun, cells_of
from vit_str.analysis.sinks.causes import CAUSES
from vit_str.analysis.sinks.figure import sinks_by_depth
from vit_str.analysis.sinks.measure import LEAST, PATCH, RATIO, SINKS, SinkAnatomy
from vit_str.reports.tables import write_frame

_LEAD = (
    "A sink is a token that much attention goes to whatever is asked. How far the most "
    "attended token of a layer stands out is what it gets over what the median patch "
    "gets, image by image; special tokens (class, registers) are looked at apart."
)
_CAUSES = (
    "Why it does is asked by intervention: one property of the token is set to the mean "
    "of the other patches, and attention of the layer is computed again. If the sink "
    "goes, that property is needed for it. {causes}. The norm of the token itself is "
    "none of them: attention normalizes tokens before it makes queries and keys."
)
_CAUTION = (
    "An intervention tells what the sink needs in this layer, not where in training it "
    "came from, and not what it is good for: analyze distance says whether its value is "
    "next to nothing (sinks.csv)."
)


def report(run: AnalysisRun) -> int:
    """Look for the sinks of every model on the same images, and write a table and a page."""
    tables = []
    for subject in run.subjects:
        anatomy = SinkAnatomy(subject.name, subject.encoder)
        run.measure(subject, anatomy.update)
        tables.append(anatomy.to_frame())
    rows = pd.concat(tables, ignore_index=True)
    write_frame(run.folder / "sinks.csv", rows)
    n = int(rows["n"].max())
    page = run.page("Attention sinks", _LEAD)
    page.heading("By depth")
    for table in tables:
        page.paragraph(_finding(table))
    page.figure(
        sinks_by_depth(rows),
        "sinks",
        "The most attended patch and special token of every layer, in multiples of the "
        f"median patch (geometric means over n = {n:,} images with 95 % intervals), as "
        "it is and after one property of it was made that of the other patches.",
        vector=True,
    )
    causes = "; ".join(f"{name}: {meaning}" for name, meaning in CAUSES.items())
    page.paragraph(_CAUSES.format(causes=causes))
    page.note(_CAUTION)
    page.heading("In numbers")
    page.table(*cells_of(rows), f"Means over images with 95 % intervals, n = {n:,}")
    return run.finish(page, n=n)


def _finding(rows: pd.DataFrame) -> str:
    """Where the strongest sink is, in how many images, and what it goes with."""
    model = rows["model"].iloc[0]
    ratios = rows[rows["metric"] == RATIO]
    top = ratios.loc[ratios["mean"].idxmax()]
    at = rows[(rows["layer"] == top["layer"]) & (rows["token"] == top["token"])]
    values = at.set_index("metric")["mean"]
    named = "patch" if top["token"] == PATCH else "special token"
    start = (
        f"{model}: the token that stands out most is a {named} of layer {top['layer']}, "
        f"{top['mean']:.1f} times the median patch"
    )
    if not values[SINKS]:
        return f"{start}, less than the {LEAST:g} of a sink in every image."
    gone = [
        f"without its {cause} {values[f'gone without {cause}']:.0%} of them are gone"
        for cause in CAUSES
        if f"gone without {cause}" in values
    ]
    tail = f"; {', '.join(gone)}" if gone else ""
    return f"{start}, a sink in {values[SINKS]:.0%} of the images{tail}."
