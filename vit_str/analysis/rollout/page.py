"""The report of ``vit-str analyze rollout``."""

from vit_str.analysis.geometry import TokenGrid
from vit_str.analysis.map_sheet import CAUTION, MappedWord, map_sheet
from vit_str.analysis.receptive_field.figures import distance_by_depth
from vit_str.analysis.relevance.methods import rollout_words
from vit_str.analysis.results import AnalysisRun, Measurement, table_of
from vit_str.analysis.rollout.measure import RolloutAnalysis
from vit_str.reports.tables import write_rows

_LEAD = """\
Attention of one layer tells which tokens a token takes from; rollout multiplies the attention of \
all layers up to it, with the skip connections, and tells which patches reach the token as far as \
attention decides."""

_METHOD = """\
Every layer is taken as residual * I + (1 - residual) * A, A the mean of its heads. What values \
and feed-forward layers do is left out, and a token that looks everywhere alike moves rollout \
towards even, whatever it does with what it sees. Rollout of a model without training is a chance \
line."""


def report(run: AnalysisRun, residual: float, show: int) -> int:
    """Roll out the attention of every model, and write a table and a page."""
    rows: list[Measurement] = []
    words: dict[str, list[MappedWord]] = {}
    for subject in run.subjects:
        analysis, shown = RolloutAnalysis(subject, residual), words.setdefault(subject.name, [])
        for batch, pixels in run.batches(subject):
            analysis.update(pixels)
            if subject.reads and (missing := show - len(shown)) > 0:
                shown += rollout_words(subject, batch, pixels[:missing], residual)
        rows += analysis.measurements()
    write_rows(run.folder / "rollout.csv", Measurement, rows)
    grid = TokenGrid.of(run.subjects[0].encoder)
    chance, n = {"uniform": grid.uniform_distance()}, rows[0].n
    page = run.page("Attention rollout", _LEAD)
    page.heading("By depth")
    page.figure(
        distance_by_depth(rows, chance, "rollout_distance", "distance (px)", dotted="distance"),
        "rollout-distance",
        "Mean distance from a token to the patches that reach it by rollout, in pixels (solid), "
        f"and to the tokens that the layer alone attends to (dotted); n = {n:,} images, bands are "
        "95 % intervals.",
    )
    page.paragraph(_METHOD)
    page.heading("In numbers")
    page.table(*table_of(rows), f"Means over n = {n:,} images with 95 % intervals")
    if any(words.values()):
        page.heading("Word by word")
        page.note(CAUTION)
    for number, (name, mapped) in enumerate(words.items(), 1):
        if mapped:
            page.figure(
                map_sheet(mapped),
                f"words-{number}",
                f"{name}: for every character that it read the cross-attention of the last decoder "
                "block, the same through the encoder by rollout, and gradients; dark is the most "
                "of each map.",
            )
    return run.finish(page, n=n, chance=chance)
