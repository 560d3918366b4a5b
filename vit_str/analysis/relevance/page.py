"""The report of ``vit-str analyze relevance``."""

from collections.abc import Sequence

from matplotlib.figure import Figure

from vit_str.analysis.map_sheet import CAUTION, MappedWord, map_sheet, mapped_words
from vit_str.analysis.relevance.scores import RANDOM, MethodScore, MethodScores
from vit_str.analysis.results import AnalysisRun
from vit_str.reports.style import (
    COLORS,
    UNIFORM,
    UNTRAINED,
    figure,
    is_untrained,
    plain,
    styled,
)
from vit_str.reports.tables import write_csv
from vit_str.torch_runtime.engine import generate

_LEAD = """\
Which tokens of the image made the decoder write a character: attention weighted by its gradients \
and carried through encoder and decoder (relevance, Chefer et al. 2021), next to plain \
cross-attention, rollout and the gradient of the image."""

_TESTS = """\
Two tests of the maps. Where characters truly are is known for rendered words: energy is the share \
of a map inside of the box of its character, lift the same over the share of the image that the \
box takes, pointing whether most of the largest token lies in the box; only words that were read \
right count. And whether they matter to the model: drop is by how much the probability of the \
character falls when the tokens that its map names first are painted in the mean color of the \
image. A map that is good at one test need not be good at the other."""


def report(run: AnalysisRun, hide: float, show: int) -> int:
    """Compare the methods on one model, and write a table and a page."""
    if not 0 < hide <= 1:
        raise ValueError(f"--hide must be above 0 and at most 1, found {hide}")
    subject = run.subjects[0]
    scores = MethodScores(run.subjects, hide)
    words: list[MappedWord] = []
    for seed, (batch, pixels) in enumerate(run.batches(subject), run.seed):
        recognizer = subject.recognizer
        labels = generate(recognizer.decoder, recognizer.encode(pixels)).labels
        maps = scores.add(batch, pixels, labels, seed)
        missing = max(0, show - len(words))
        words += mapped_words(subject.charset, batch, labels, maps)[:missing]
    means = scores.means()
    write_csv(run.folder / "relevance.csv", MethodScore._fields, means)
    page = run.page("Relevance", f"{_LEAD} The model is {subject.name}.")
    page.heading("Two tests")
    page.paragraph(_TESTS)
    page.figure(
        scores_by_method(means),
        "tests",
        "Means over words of the means over their characters, with 95 % intervals; "
        f"{hide:.0%} of the tokens are hidden for the drop.",
    )
    cells = {(m.method, m.metric): f"{m.mean:.2f} [{m.low:.2f}, {m.high:.2f}]" for m in means}
    methods, metrics = (list(dict.fromkeys(key[i] for key in cells)) for i in (0, 1))
    rows = [[method, *(cells.get((method, name)) for name in metrics)] for method in methods]
    caption = "Means with 95 % intervals over the words of the figure"
    page.table(["method", *metrics], rows, caption)
    if words:
        page.heading("Word by word")
        page.note(CAUTION)
        page.figure(
            map_sheet(words),
            "words",
            f"{subject.name}: maps of the characters that it read; dark is the most of each map.",
        )
    return run.finish(page)


@styled()
def scores_by_method(scores: Sequence[MethodScore]) -> Figure:
    """A panel for each metric, a mark with its interval for each method."""
    metrics = list(dict.fromkeys(score.metric for score in scores))
    methods = list(dict.fromkeys(score.method for score in scores))
    sheet = figure(10.5, 0.9 + 0.27 * len(methods))
    grid = sheet.subplots(1, len(metrics), sharey=True, squeeze=False)[0]
    for axes, metric in zip(grid, metrics, strict=True):
        shown = [score for score in scores if score.metric == metric]
        for score in shown:
            place, color = methods.index(score.method), _color(score.method, methods)
            axes.plot([score.low, score.high], [place, place], color=color, linewidth=2)
            axes.plot([score.mean], [place], "o", color=color, markersize=5)
        if metric == "lift":
            axes.axvline(1, zorder=1, **UNIFORM)
        axes.set_xlim(min(0, *(score.low for score in shown)), None)
        axes.set_title(f"{metric} ({shown[0].unit})", fontsize=9)
        axes.set_xlabel(f"n = {max(score.n for score in shown):,} words")
    grid[0].set_yticks(range(len(methods)), [plain(method) for method in methods])
    grid[0].invert_yaxis()
    return sheet


def _color(method: str, methods: Sequence[str]) -> str:
    if method == RANDOM or is_untrained(method):
        return str(UNTRAINED["color"])
    return COLORS[methods.index(method) % len(COLORS)]
