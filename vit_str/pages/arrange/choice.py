"""One of two arrangements of a page: that of the network, or that of rules."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from vit_str.pages.arrange.blocks import ArrangedPage, Shapes, arrange_words
from vit_str.pages.arrange.frame import as_read
from vit_str.pages.arrange.likelihood import Labels, negative_log_likelihood
from vit_str.pages.arrange.parts import Heading, Item, Part, Running
from vit_str.pages.arrange.structure import parts_of
from vit_str.pages.arrange.tables import Table
from vit_str.pages.page import Page, Word

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vit_str.pages.arrange.network import ArrangerNetwork


OpenNetwork = Callable[[], "ArrangerNetwork"]
"""Opens the network that arranges pages."""

_PRIOR_OF_RULES = 0.5
"""Nats a piece by which the arrangement of rules may be less probable and is kept: rules are right
on designs that the network is not sure of."""

_FEWEST = 25
"""Words from which on the network is asked: 99 of 100 drawn pages have more."""


def arrange_page(network: ArrangerNetwork, page: Page, shapes: Shapes) -> Page:
    """A page as the network arranges it; as it is if the network finds that about as probable.

    Args:
        network: arranges, and says how probable both are.
        page: in the blocks of rules; flat.
        shapes: what else is on it.
    """
    words = page.words
    if len(words) < _FEWEST:
        return page
    arranged = arrange_words(network, words, shapes)
    doubt = doubt_of(arranged, page)
    if doubt.of_rules - doubt.of_network < _PRIOR_OF_RULES:
        return page
    # Not before: rules have nobody who looks for what is more probable
    arranged = arranged.with_cells_apart()
    return replace(page, blocks=arranged.blocks, roles=arranged.roles)


class Doubt(NamedTuple):
    """How improbable the network finds both arrangements, in nats a piece."""

    of_network: float
    of_rules: float


def doubt_of(arranged: ArrangedPage, by_rules: Page) -> Doubt:
    """How improbable the network finds its own arrangement of a page, and that of rules.

    Args:
        arranged: by the network.
        by_rules: the same words in the blocks of rules.
    """
    own = replace(by_rules, blocks=arranged.blocks, roles=arranged.roles)
    numbers = {id(word): number for number, word in enumerate(arranged.words)}
    values = [
        negative_log_likelihood(
            arranged.scores, labels_of(page, arranged.pieces, numbers)
        )
        for page in (own, by_rules)
    ]
    return Doubt(*values)


def labels_of(
    page: Page, pieces: Sequence[np.ndarray], numbers: Mapping[int, int]
) -> Labels:
    """Labels of pieces by the blocks of a page: those of most of their words.

    Args:
        page: with blocks.
        pieces: the numbers of the words of each.
        numbers: of the words, by their ``id``.
    """
    order = [numbers[id(word)] for word in page.words]
    own = dict(zip(as_read(page).words, order, strict=True))
    [parts] = parts_of([page])
    count = len(numbers)
    kinds = np.full(count, "paragraph", object)
    table = np.full((count, 8), -1)
    for place, label in enumerate(_labels(parts)):
        for word in label.words:
            number = own[word]
            kinds[number] = label.kind
            table[number] = (place, *label.numbers)
    for number, following in zip(order[-2::-1], order[:0:-1], strict=True):
        if table[number, 0] < 0:  # the mark of an item
            kinds[number] = kinds[following]
            table[number] = table[following]
    middle = [piece[len(piece) // 2] for piece in pieces]
    kinds, table = kinds[middle], table[middle]
    return Labels(
        kinds=kinds.tolist(),
        levels=np.maximum(table[:, 1], 0),
        place=table[:, 0],
        block=table[:, 2],
        table=table[:, 3],
        rows=table[:, 4:6],
        columns=table[:, 6:8],
    )


class _Label(NamedTuple):
    """Of the words of one line or cell: level, block, table, rows and columns."""

    words: Sequence[Word]
    kind: str
    numbers: tuple[int, int, int, int, int, int, int]


def _labels(parts: Sequence[Part]) -> Iterator[_Label]:
    block = 0
    for table, part in enumerate(parts):
        if isinstance(part, Table):
            spans = {(span.row, span.column): span for span in part.spans}
            for row, cells in enumerate(part.rows):
                for column, words in enumerate(cells):
                    span = spans.get((row, column))
                    rows, columns = (span.rows, span.columns) if span else (1, 1)
                    block += 1
                    covers = row, row + rows, column, column + columns
                    yield _Label(words, "cell", (0, block, table, *covers))
            continue
        block += 1
        kind, level = _kind(part)
        for row_ in part.rows:
            yield _Label(row_.words, kind, (level, block, -1, 0, 0, 0, 0))


def _kind(part: Heading | Item | Running | Part) -> tuple[str, int]:
    if isinstance(part, Heading):
        return "heading", part.level
    if isinstance(part, Item):
        return "item", part.depth + 1
    return ("running" if isinstance(part, Running) else "paragraph"), 0
