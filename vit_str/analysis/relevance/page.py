"""The page of ``vit-str analyze relevance``."""

from collections.abc import Sequence

from vit_str.analysis.map_sheet import CAUTION, MappedWord, map_sheet
from vit_str.analysis.relevance.figures import scores_by_method
from vit_str.analysis.relevance.methods import MethodScore
from vit_str.pages.page import Page
from vit_str.pages.tables import Table

_LEAD = """\
Which tokens of the image made the decoder write a character: attention weighted by its gradients \
and carried through encoder and decoder (relevance, Chefer et al. 2021), next to plain \
cross-attention, rollout and the gradient of the image."""

_TESTS = """\
Two tests of the maps. Where characters truly are is known for rendered words: energy is the share \
of a map inside of the box of its character, lift the same over the share of the image that the \
box takes, pointing whether most of the largest token lies in the box; only words that were read \
right count. And whether the model minds: drop is by how much the probability of the character \
falls when the tokens that its map names first are painted in the mean color of the image. A map \
that is good at one test need not be good at the other."""


def relevance_page(
    model: str,
    scores: Sequence[MethodScore],
    words: Sequence[MappedWord],
    images: str,
    share: float,
) -> Page:
    """The whole page.

    Args:
        model: that was asked.
        scores: of every method.
        words: to show.
        images: what they are.
        share: of the tokens that were hidden.
    """
    page = Page("Relevance", f"{_LEAD} Asked of {model}, with {images}.")
    page.heading("Two tests")
    page.paragraph(_TESTS)
    page.figure(
        scores_by_method(scores),
        "tests",
        "Means over words of the means over their characters, with 95 % bootstrap intervals; "
        f"{share:.0%} of the tokens are hidden for the drop.",
    )
    page.table(*_table(scores), "Means with 95 % intervals over the words of the figure")
    if words:
        page.heading("Word by word")
        page.note(CAUTION)
        page.figure(
            map_sheet(words),
            "words",
            f"{model}: maps of the characters that it read; dark is the most of each map.",
        )
    return page


def _table(scores: Sequence[MethodScore]) -> Table:
    """A row for each method, a column for each metric."""
    metrics = list(dict.fromkeys(score.metric for score in scores))
    cells = {
        (score.method, score.metric): f"{score.mean:.2f} [{score.low:.2f}, {score.high:.2f}]"
        for score in scores
    }
    methods = list(dict.fromkeys(score.method for score in scores))
    rows: list[list[object]] = [
        [method, *(cells.get((method, metric)) for metric in metrics)] for method in methods
    ]
    return ["method", *metrics], rows
