"""What other weights changed: the words won and the words lost, beside their pictures."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
from jaxtyping import Bool

from vit_str.console import one_line
from vit_str.datasets import WordSource
from vit_str.evaluation.breakdown import case_of
from vit_str.evaluation.comparison import Comparison
from vit_str.evaluation.mistakes import images_at, is_wrong, shown
from vit_str.evaluation.statistics import paired_difference, percent
from vit_str.evaluation.words import ReadWords
from vit_str.reports.page import Page
from vit_str.reports.sheets import Captioned, caption_font, sheet
from vit_str.synthesis.fonts import find_fonts

_COLUMNS, _MOST = 4, 80
_TITLES = "words", "n", "before", "after", "won", "lost", "difference, points", "McNemar p"


def write_changes(comparison: Comparison, sets: Mapping[str, WordSource], folder: Path) -> Path:
    """Write a page about every set, so that old and new words stand side by side.

    Case and symbols count only where a label cannot be judged without, see `fitting_protocol`.

    Returns:
        The page.
    """
    before, after = comparison.names
    page = Page(
        f"{after} against {before}: words won and lost",
        f"Won: read right by {after} only. Lost: read right by {before} only. Words that both read "
        "right, or both wrong, are in the table alone. Differences with 95 % intervals over words; "
        "p is the chance of so uneven a split of won and lost if both were equally good.",
    )
    rows: list[Sequence[object]] = []
    for name, first in comparison.first.items():
        rows += _rows(one_line(name), first, comparison.second[name])
    page.table(_TITLES, rows, "Words read right, by set and kind of word")
    for name, first in comparison.first.items():
        second = comparison.second[name]
        right = _right(first), _right(second)
        for title, chosen in (("won", right[1] & ~right[0]), ("lost", right[0] & ~right[1])):
            places = np.flatnonzero(chosen).tolist()
            page.heading(f"{one_line(name)}: {len(places):,} {title}")
            if places:
                _add_pictures(page, sets[name], first, second, places[:_MOST])
    return page.write(folder)


def _rows(name: str, first: ReadWords, second: ReadWords) -> Iterator[Sequence[object]]:
    """The row of a set, and one for each kind of word in it."""
    right = _right(first), _right(second)
    kinds = np.array([case_of(label) if label else "" for label in first.labels], dtype=object)
    groups = [(name, np.array([bool(label) for label in first.labels], bool))]
    groups += [(f"{name}, {kind}", kinds == kind) for kind in sorted(set(kinds) - {""})]
    for title, chosen in groups:
        found = paired_difference(right[0][chosen], right[1][chosen])
        shares = (f"{100 * each[chosen].mean():.1f} %" if found.n else "-" for each in right)
        difference = percent(found.difference, found.interval)
        counts = found.only_second, found.only_first
        yield (title, found.n, *shares, *counts, difference, f"{found.p_value:.2g}")


def _right(words: ReadWords) -> Bool[np.ndarray, " word"]:
    pairs = zip(words.labels, words.texts, strict=True)
    return np.array([bool(label) and not is_wrong(label, text) for label, text in pairs], bool)


def _add_pictures(
    page: Page, source: WordSource, first: ReadWords, second: ReadWords, chosen: Sequence[int]
) -> None:
    """A sheet: the pictures, what was read before and what is read now."""
    pictures = images_at(source, {first.places[index] for index in chosen})
    cells = []
    for index in chosen:
        picture = pictures.get(first.places[index])
        if picture is not None:
            texts = (one_line(words.texts[index]) or "(nothing)" for words in (first, second))
            cells.append(Captioned(shown(picture), " -> ".join(texts)))
    if cells:
        font = caption_font("".join(cell.caption for cell in cells), find_fonts)
        page.picture(sheet(cells, min(_COLUMNS, len(cells)), font), "What was read before -> after")
