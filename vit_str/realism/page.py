"""The page of ``vit-str render --compare``."""

import torch
from jaxtyping import Float64
from torch import Tensor

from vit_str.pages.page import Page
from vit_str.realism.comparison import ALL_STATISTICS, Comparison
from vit_str.realism.figures import SHOWN, characters, distributions, sheet
from vit_str.realism.measure import quantiles, standardized
from vit_str.realism.statistics import Pictures, label_kinds
from vit_str.realism.tables import character_shares_of, gaps_table, sizes_of, verdicts_table
from vit_str.realism.words import ALL, RENDERED

_LEAD = """\
Statistics of rendered words next to those of photographed ones, all of the size that a model \
sees. Distance: how far values have to be moved on average to be those of the other set \
(Wasserstein-1), in standard deviations. Higher: share of pairs in which the rendered word has the \
larger value. Inside: share of photographs between the 1 % and the 99 % quantile of rendered \
words."""

_APART = """\
Area under the curve of a logistic regression on the statistics of pictures and their squares, in \
five folds: 0.5 cannot tell the sets apart, 1 always can. Pairs of folders are the scale: \
photographs of different origin are told apart as well."""


def comparison_page(comparison: Comparison) -> Page:
    """The whole page."""
    sources = " and ".join(f"{len(words):,} of {words.name}" for words in comparison.folders)
    count = f"{len(comparison.rendered):,} rendered words against {sources}"
    page = Page("Rendered and photographed words", f"{_LEAD} {count}.")
    page.heading("At a glance")
    page.paragraph(_APART)
    titles = ["sets", "AUC [95 %]", "what is lost without a statistic"]
    page.table(titles, verdicts_table(comparison), "How well sets are told apart")
    sets = comparison.sets
    by_statistic = {
        statistic: {words.name: words.values[name].numpy() for words in sets}
        for name, statistic in ALL_STATISTICS.items()
    }
    page.figure(
        distributions(by_statistic),
        "realism",
        f"Distributions of all statistics, {count}; what lies beyond an end is counted there.",
    )
    page.heading("The look")
    page.figure(
        sheet(_looks(comparison)),
        "look",
        "Photographed words over the rendered words nearest to them in the statistics (in standard "
        "deviations), and what the classifier tells apart most surely.",
    )
    page.heading("In numbers")
    for words in comparison.folders:
        titles, *cells = gaps_table(comparison, words.name)
        page.table(titles, cells, f"Rendered words against {words.name}, most different first")
        for line in words.skipped:
            page.note(f"Skipped: {line}")
    titles = ["set", "statistic", "unit", "5 %", "25 %", "50 %", "75 %", "95 %"]
    sizes = [
        [words.name, name, unit, *quantiles(values)]
        for words in comparison.folders
        for name, unit, values in sizes_of(words)
    ]
    page.table(titles, sizes, "Photographed crops as they came")
    page.heading("Labels")
    kinds = {words.name: label_kinds(words.labels) for words in sets}
    rows = [[name, *of.values()] for name, of in kinds.items()]
    page.table(["set", *kinds[RENDERED]], rows, "Shares of labels by the case of their letters")
    page.figure(
        characters(character_shares_of(comparison)),
        "characters",
        "Share of every character, by set.",
    )
    return page


def _looks(comparison: Comparison) -> list[tuple[str, Pictures]]:
    """Lines of pictures with their titles."""
    rows = []
    rendered = torch.stack(list(comparison.rendered.of_pictures.values()), 1)
    for words in comparison.folders:
        values = torch.stack(list(words.of_pictures.values()), 1)
        chosen = torch.arange(0, len(words), max(1, len(words) // SHOWN))[:SHOWN]
        nearest = _nearest(standardized(values[chosen], values), standardized(rendered, values))
        rows.append((f"{words.name}", words.pictures[chosen]))
        rows.append(
            (f"rendered, nearest to these of {words.name}", comparison.rendered.pictures[nearest])
        )
    verdict = comparison.verdicts[RENDERED, ALL]
    if verdict is not None:
        first, second = verdict.scores
        photographed = torch.cat([words.pictures for words in comparison.folders])
        least = comparison.rendered.pictures[first.argsort(descending=True)[: 2 * SHOWN]]
        rows.append(("rendered, told most surely from photographs", least[:SHOWN]))
        rows.append(("", least[SHOWN:]))
        least = photographed[second.argsort()[: 2 * SHOWN]]
        rows.append(("photographed, told most surely from rendered", least[:SHOWN]))
        rows.append(("", least[SHOWN:]))
    return rows


def _nearest(
    chosen: Float64[Tensor, "chosen statistic"], among: Float64[Tensor, "picture statistic"]
) -> Tensor:
    return torch.cdist(chosen, among).argmin(1)
