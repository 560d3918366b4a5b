"""Words that other weights won and lost, beside their pictures."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
from jaxtyping import Bool

from vit_str.console import one_line
from vit_str.datasets import WordSource
from vit_str.evaluation.statistics import paired_difference, percent
from vit_str.evaluation.words.breakdown import case_of
from vit_str.evaluation.words.comparison import Comparison
from vit_str.evaluation.words.mistakes import is_wrong, picture_sheet, shown
from vit_str.evaluation.words.results import ReadWords
from vit_str.reports.page import Page

_MOST = 80  # words won or lost of a set that are shown
_TITLES = (
    "words",
    "n",
    "before",
    "after",
    "won",
    "lost",
    "difference, points",
    "McNemar p",
)


def write_changes(
    comparison: Comparison,
    sets: Mapping[str, WordSource],
    folder: Path,
) -> Path:
    """Write a page about every set, so that old and new words stand side by side.

    Case and symbols count only where a label cannot be judged without, see `fitting_protocol`.

    Returns:
        The page.
    """
    before, after = comparison.names
    page = Page(
        f"{after} against {before}: words won and lost",
        f"Won: read right by {after} only. Lost: read right by {before} only. Words "
        "that both read right, or both wrong, are in the table alone. Differences "
        "with 95 % intervals over words; p is the chance of so uneven a split of "
        "won and lost if both were equally good.",
    )
    rows: list[Sequence[object]] = []
    for name, first in comparison.first.items():
        rows += _rows(one_line(name), first, comparison.second[name])
    page.table(_TITLES, rows, "Words read right, by set and kind of word")
    for name, first in comparison.first.items():
        second = comparison.second[name]
        right_before = _right(first)
        right_after = _right(second)
        changed = {
            "won": right_after & ~right_before,
            "lost": right_before & ~right_after,
        }
        for title, chosen in changed.items():
            indices = np.flatnonzero(chosen).tolist()
            page.heading(f"{one_line(name)}: {len(indices):,} {title}")
            captions = {}
            for index in indices[:_MOST]:
                texts = shown(first.texts[index]), shown(second.texts[index])
                captions[name, first.places[index]] = " -> ".join(texts)
            picture = picture_sheet(captions, {name: sets[name]})
            if picture:
                page.picture(picture, "What was read before -> after")
    return page.write(folder)


def _rows(name: str, first: ReadWords, second: ReadWords) -> Iterator[Sequence[object]]:
    """The row of a set, and one for each kind of word in it."""
    right = _right(first), _right(second)
    cases = [case_of(label) if label else "" for label in first.labels]
    kinds = np.array(cases, dtype=object)
    groups = [(name, np.array([bool(label) for label in first.labels], bool))]
    groups += [(f"{name}, {kind}", kinds == kind) for kind in sorted(set(kinds) - {""})]
    for title, chosen in groups:
        paired = paired_difference(right[0][chosen], right[1][chosen])
        yield (
            title,
            paired.n,
            _share(right[0][chosen]),
            _share(right[1][chosen]),
            paired.only_second,
            paired.only_first,
            percent(paired.difference, paired.interval),
            f"{paired.p_value:.2g}",
        )


def _share(right: Bool[np.ndarray, " word"]) -> str:
    return f"{100 * right.mean():.1f} %" if len(right) else "-"


def _right(words: ReadWords) -> Bool[np.ndarray, " word"]:
    pairs = zip(words.labels, words.texts, strict=True)
    outcomes = [bool(label) and not is_wrong(label, text) for label, text in pairs]
    return np.array(outcomes, bool)
