"""``vit-str render --compare``: a page, tables and a summary."""

import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import torch

import vit_str
from vit_str.realism.comparison import ALL_STATISTICS, Comparison, measure
from vit_str.realism.figures import SHOWN, distributions, sheet
from vit_str.realism.measure import standardized
from vit_str.realism.statistics import Pictures
from vit_str.realism.tables import (
    CLASSIFICATION_TITLES,
    classification_rows,
    gaps_table,
    statistics_table,
    summary_of,
    text_of,
)
from vit_str.realism.words import ALL, RENDERED, draw, load
from vit_str.reports.page import Page
from vit_str.reports.tables import write_csv, write_json
from vit_str.synthesis.renderer import Renderer

_LEAD = """\
Statistics of rendered words next to those of photographed ones, all of the size that a model \
sees. Distance: how far values have to be moved on average to be those of the other set \
(Wasserstein-1), in standard deviations. Higher: share of pairs in which the rendered word has the \
larger value. Inside: share of photographs between the 1 % and the 99 % quantile of rendered \
words."""

_CLASSIFIER = """\
Area under the curve of a logistic regression on the statistics of pictures and their squares, in \
five folds: 0.5 is chance, 1 perfect. Pairs of folders are the scale: \
photographs of different origin are distinguished as well."""


def compare(
    renderer: Renderer, folders: Sequence[Path | str], count: int, seed: int, out: Path
) -> str:
    """Compare rendered words with those of folders; write ``report.html``, tables and figures.

    Args:
        renderer: what to judge.
        folders: of photographed words, with ``labels.tsv`` each; at least one.
        count: words to render, and most images of each folder, evenly spread; 1 or more.
        seed: of the renderer.
        out: folder to write to.

    Returns:
        Text for a terminal.

    Raises:
        ValueError: a folder without images that can be read.
    """
    start = time.monotonic()
    photographed = load(folders, renderer.image_size, count)
    comparison = measure(draw(renderer, count, seed), photographed, seed)
    write_csv(out / "realism.csv", *statistics_table(comparison))
    summary = summary_of(comparison) | {
        "count": count,
        "seed": seed,
        "image_size": renderer.image_size,
        "ingredients": asdict(renderer.ingredients),
        "versions": {"vit-str": vit_str.__version__, "torch": torch.__version__},
        "seconds": round(time.monotonic() - start, 2),
    }
    write_json(out / "summary.json", summary)
    page = comparison_page(comparison).write(out)
    return "\n".join([*text_of(comparison), f"{page}"])


def comparison_page(comparison: Comparison) -> Page:
    """The whole page."""
    sources = " and ".join(f"{len(words):,} of {words.name}" for words in comparison.folders)
    count = f"{len(comparison.rendered):,} rendered words against {sources}"
    page = Page("Rendered and photographed words", f"{_LEAD} {count}.")
    page.heading("At a glance")
    page.paragraph(_CLASSIFIER)
    rows = classification_rows(comparison)
    page.table(CLASSIFICATION_TITLES, rows, "How well sets are distinguished")
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
        "deviations), and what the classifier is surest of.",
    )
    page.heading("In numbers")
    for words in comparison.folders:
        titles, *cells = gaps_table(comparison, words.name)
        page.table(titles, cells, f"Rendered words against {words.name}, most different first")
        for line in words.skipped:
            page.note(f"Skipped: {line}")
    return page


def _looks(comparison: Comparison) -> list[tuple[str, Pictures]]:
    """Lines of pictures with their titles."""
    rows = []
    rendered = torch.stack(list(comparison.rendered.of_pictures.values()), 1)
    for words in comparison.folders:
        values = torch.stack(list(words.of_pictures.values()), 1)
        chosen = torch.arange(0, len(words), max(1, len(words) // SHOWN))[:SHOWN]
        places = standardized(values[chosen], values), standardized(rendered, values)
        nearest = torch.cdist(*places).argmin(1)
        rows.append((f"{words.name}", words.pictures[chosen]))
        rows.append(
            (f"rendered, nearest to these of {words.name}", comparison.rendered.pictures[nearest])
        )
    found = comparison.classifications[RENDERED, ALL]
    if found is not None:
        first, second = found.scores
        photographed = torch.cat([words.pictures for words in comparison.folders])
        least = comparison.rendered.pictures[first.argsort(descending=True)[: 2 * SHOWN]]
        rows.append(("rendered, most surely not photographed", least[:SHOWN]))
        rows.append(("", least[SHOWN:]))
        least = photographed[second.argsort()[: 2 * SHOWN]]
        rows.append(("photographed, most surely not rendered", least[:SHOWN]))
        rows.append(("", least[SHOWN:]))
    return rows
