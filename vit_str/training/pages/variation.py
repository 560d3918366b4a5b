"""Other pages made of drawn ones, for which what was right stays right: designs nobody drew."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int32

from vit_str.datasets.page_records import BLOCK_FIELDS, PageRecord
from vit_str.synthesis.pages.truth import ROLES

_ROLE, _LEVEL, _TABLE, _ROW, _COLUMN = (
    BLOCK_FIELDS.index(name) for name in ("role", "level", "table", "row", "column")
)
_MOST_BESIDE = 500  # words of two pages side by side
_LEAST_CROP = 0.3  # of the words, which a part of a page has at least
_MOST_THINNED = 0.35  # of the blocks, that are left out
_CELLS_THINNED = 0.12  # of the cells of a page of whose tables some are left out
_GUTTER = (0.8, 6.0)  # heights of the type between pages side by side
_DIFFERENCE = 0.12  # deviation of the logarithm of the size of their type
_ALIKE = 1.05  # sizes of headings up to which two look alike: half a step of drawn ones


@dataclass(frozen=True)
class Variation:
    """Shares of pages and strengths, by eye.

    Attributes:
        beside: pages that stand side by side with another one, as in an open book.
        cropped: of which a part is seen, from some line to another.
        thinned: of which some blocks are left out.
        stretch: deviation of the logarithm of the width of type over its height.
        spaced: with lines farther apart.
        most_spaced: by which distances of lines are larger, at most.
        wordless: whose words nobody could read.
        unread: of the pieces of other pages, whose words nobody could read.
    """

    beside: float = 0.1
    cropped: float = 0.15
    thinned: float = 0.15
    stretch: float = 0.1
    spaced: float = 0.2
    most_spaced: float = 1.3
    wordless: float = 0.08
    unread: float = 0.1


NONE = Variation(
    beside=0, cropped=0, thinned=0, stretch=0, spaced=0, wordless=0, unread=0
)
"""Pages as they were drawn."""


def paired(
    pages: Sequence[PageRecord], random: np.random.Generator, variation: Variation
) -> list[PageRecord]:
    """Pages of which some stand side by side."""
    found: list[PageRecord] = []
    for page in pages:
        other = pages[int(random.integers(len(pages)))]
        have_words = len(page.words) > 0 and len(other.words) > 0
        few = len(page.words) + len(other.words) <= _MOST_BESIDE
        if have_words and few and random.random() < variation.beside:
            page = beside(page, other, random)
        found.append(page)
    return found


def varied(
    page: PageRecord, random: np.random.Generator, variation: Variation
) -> PageRecord:
    """A page that is cropped, thinned, stretched or spaced."""
    if not len(page.words):
        return page
    if random.random() < variation.cropped:
        page = _cropped(page, random)
    if random.random() < variation.thinned:
        page = _thinned(page, random)
    page = _scaled(page, float(np.exp(random.normal(0, variation.stretch))), 1.0)
    if random.random() < variation.spaced:
        page = _spaced(page, random.uniform(1.0, variation.most_spaced))
    return page


def unread_pieces(
    count: int, random: np.random.Generator, variation: Variation
) -> Bool[np.ndarray, " piece"]:
    """Of which pieces of a page nothing is known but what their words look like."""
    if random.random() < variation.wordless:
        return np.ones(count, bool)
    return random.random(count) < variation.unread


def beside(
    left: PageRecord, right: PageRecord, random: np.random.Generator
) -> PageRecord:
    """Two pages side by side, with type of about one size: the left one is read first.

    Levels of their headings are those of one page: who sees both sees one scale of sizes.
    """
    size = float(np.median(left.sizes))
    scale = size / max(1e-3, float(np.median(right.sizes)))
    right = _scaled(right, *[scale * float(np.exp(random.normal(0, _DIFFERENCE)))] * 2)
    gutter = random.uniform(*_GUTTER) * size
    edge = max(float(left.polygons[..., 0].max()), _right_edge(left))
    start = min(float(right.polygons[..., 0].min()), _left_edge(right))
    down = float(left.polygons[..., 1].min() - right.polygons[..., 1].min())
    down += random.normal(0, 2) * size
    right = _moved(right, edge + gutter - start, down)
    tables = int(left.blocks[:, _TABLE].max(initial=-1)) + 1
    blocks = right.blocks.copy()
    blocks[blocks[:, _TABLE] >= 0, _TABLE] += tables
    left, right = _of_one_scale(left, replace(right, blocks=blocks))
    right = replace(
        right,
        word_block=_behind(right.word_block, len(left.blocks)),
        word_place=_behind(right.word_place, int(left.word_place.max(initial=-1)) + 1),
    )
    checks = right.checks.copy()
    checks[:, 5] = _behind(checks[:, 5], len(left.blocks))
    right = replace(right, checks=checks)
    arrays: dict[str, Any] = {
        name: np.concatenate([getattr(left, name), getattr(right, name)])
        for name in (
            *("polygons", "sizes", "weights", "confidences", "word_block"),
            *("word_place", "blocks", "rules", "grounds", "pictures", "checks"),
        )
    }
    return replace(
        left,
        width=round(float(arrays["polygons"][..., 0].max())) + 1,
        height=max(left.height, right.height),
        words=[*left.words, *right.words],
        missed=left.missed + right.missed,
        **arrays,
    )


def _of_one_scale(left: PageRecord, right: PageRecord) -> tuple[PageRecord, PageRecord]:
    """Two pages whose headings have levels by their sizes; the order of those of each stays."""
    pages = [left, right]
    waiting = [_sizes_of_levels(page) for page in pages]
    levels: list[dict[int, int]] = [{}, {}]
    level = 0
    while any(waiting):
        largest = max(sizes[0][1] for sizes in waiting if sizes)
        level += 1
        for sizes, found in zip(waiting, levels, strict=True):
            if sizes and sizes[0][1] * _ALIKE >= largest:
                before, _ = sizes.pop(0)
                found[before] = level
    left, right = (
        replace(page, blocks=_with_levels(page, found))
        for page, found in zip(pages, levels, strict=True)
    )
    return left, right


def _sizes_of_levels(page: PageRecord) -> list[tuple[int, float]]:
    """The levels of headings, from 1, with the sizes of their type."""
    # The last one is of the words in no block
    level = np.append(_levels_of_headings(page), 0)[page.word_block]
    return [
        (number, float(np.median(page.sizes[level == number])))
        for number in np.unique(level[level > 0]).tolist()
    ]


def _with_levels(page: PageRecord, levels: Mapping[int, int]) -> np.ndarray:
    """Blocks whose headings have other levels; those without words keep theirs."""
    blocks = page.blocks.copy()
    for place, level in enumerate(_levels_of_headings(page).tolist()):
        if level in levels:
            blocks[place, _LEVEL] = levels[level]
    return blocks


def _levels_of_headings(page: PageRecord) -> Int32[np.ndarray, " block"]:
    """Levels of the blocks that are headings, from 1; 0 of others."""
    is_heading = page.blocks[:, _ROLE] == ROLES.index("heading")
    return np.where(is_heading, page.blocks[:, _LEVEL], 0)


def _behind(numbers: np.ndarray, count: int) -> np.ndarray:
    """Numbers that begin after others; those below 0 are none."""
    return np.where(numbers >= 0, numbers + count, numbers)


def _left_edge(page: PageRecord) -> float:
    return float(page.grounds[:, 0].min(initial=np.inf))


def _right_edge(page: PageRecord) -> float:
    return float(page.grounds[:, 2].max(initial=-np.inf))


def _cropped(page: PageRecord, random: np.random.Generator) -> PageRecord:
    """A page cropped to what stands between two heights."""
    middle = page.polygons[..., 1].mean(1)
    low, high = np.sort(random.uniform(0, 1, 2))
    if high - low < _LEAST_CROP:
        low, high = random.choice([(0.0, 1 - low), (high, 1.0)])
    top, bottom = np.quantile(middle, [low, high])
    return _with_words(page, (middle >= top) & (middle <= bottom), (top, bottom))


def _thinned(page: PageRecord, random: np.random.Generator) -> PageRecord:
    """A page without some of its blocks, tables or cells."""
    share = random.uniform(0, _MOST_THINNED)
    table = page.blocks[:, _TABLE]
    tables = int(table.max(initial=-1)) + 1
    is_kept = random.random(len(table)) >= share
    if tables:
        is_kept = np.where(table >= 0, (random.random(tables) >= share)[table], is_kept)
        if random.random() < 0.5:
            is_kept &= (table < 0) | (random.random(len(table)) >= _CELLS_THINNED)
    kept = (page.word_block < 0) | np.append(is_kept, True)[page.word_block]
    return _with_words(page, kept)


def _with_words(
    page: PageRecord,
    kept: Bool[np.ndarray, " word"],
    between: tuple[float, float] | None = None,
) -> PageRecord:
    """A page with some of its words; tables have two rows and columns, levels begin with 1.

    Args:
        page: with all.
        kept: which words stay.
        between: heights between which shapes stay too; None for all.
    """
    kept = kept & ~_of_small_tables(page, kept)
    if not kept.any():
        return page
    shapes = {}
    if between is not None:
        for name in ("rules", "grounds", "pictures", "checks"):
            values = getattr(page, name)
            top, bottom = values[:, [1, 3]].min(1), values[:, [1, 3]].max(1)
            shapes[name] = values[(bottom >= between[0]) & (top <= between[1])].copy()
            shapes[name][:, [1, 3]] = shapes[name][:, [1, 3]].clip(*between)
    return replace(
        page,
        words=[page.words[k] for k in np.flatnonzero(kept).tolist()],
        polygons=page.polygons[kept],
        sizes=page.sizes[kept],
        weights=page.weights[kept],
        confidences=page.confidences[kept],
        word_block=page.word_block[kept],
        word_place=page.word_place[kept],
        blocks=_releveled(page, kept),
        **shapes,
    )


def _of_small_tables(
    page: PageRecord, kept: Bool[np.ndarray, " word"]
) -> Bool[np.ndarray, " word"]:
    """Words of tables that have but one row or column left."""
    own = page.blocks[page.word_block]
    table = np.where(page.word_block >= 0, own[:, _TABLE], -1)
    found = np.zeros(len(kept), bool)
    for number in set(table[kept].tolist()) - {-1}:
        of_table = table == number
        cells = own[of_table & kept]
        if min(len(set(cells[:, _ROW])), len(set(cells[:, _COLUMN]))) < 2:
            found |= of_table
    return found


def _releveled(page: PageRecord, kept: Bool[np.ndarray, " word"]) -> np.ndarray:
    """Blocks whose headings leave no level out."""
    blocks = page.blocks.copy()
    roles, levels = blocks[:, _ROLE], blocks[:, _LEVEL]
    left = np.zeros(len(blocks), bool)
    left[page.word_block[kept & (page.word_block >= 0)]] = True
    for role in set(roles[levels > 0].tolist()):
        own = (roles == role) & (levels > 0)
        present = np.unique(levels[own & left])
        if len(present):
            renewed = np.searchsorted(present, levels[own]) + 1
            blocks[own, _LEVEL] = np.minimum(renewed, len(present))
    return blocks


def _scaled(page: PageRecord, x: float, y: float) -> PageRecord:
    """A page that is wider and higher."""
    return _mapped(page, np.array([x, y]), np.zeros(2), y)


def _moved(page: PageRecord, x: float, y: float) -> PageRecord:
    return _mapped(page, np.ones(2), np.array([x, y]), 1.0)


def _mapped(
    page: PageRecord,
    factors: Float[np.ndarray, " 2"],
    move: Float[np.ndarray, " 2"],
    size: float,
) -> PageRecord:
    shapes: dict[str, Any] = {
        name: _mapped_boxes(getattr(page, name), factors, move)
        for name in ("rules", "grounds", "pictures", "checks")
    }
    width, height = np.array([page.width, page.height]) * factors + move
    return replace(
        page,
        width=max(1, round(float(width))),
        height=max(1, round(float(height))),
        polygons=(page.polygons * factors + move).astype(np.float32),
        sizes=(page.sizes * size).astype(np.float32),
        **shapes,
    )


def _mapped_boxes(
    boxes: np.ndarray, factors: np.ndarray, move: np.ndarray
) -> np.ndarray:
    mapped = boxes.copy()
    mapped[:, :2] = boxes[:, :2] * factors + move
    mapped[:, 2:4] = boxes[:, 2:4] * factors + move
    return mapped


def _spaced(page: PageRecord, factor: float) -> PageRecord:
    """A page whose lines stand farther apart, with letters as high as before."""
    spaced = _scaled(page, 1.0, factor)
    before = page.polygons[..., 1]
    middle = before.mean(1, keepdims=True)
    polygons = spaced.polygons.copy()
    polygons[..., 1] = middle * factor + (before - middle)
    return replace(spaced, polygons=polygons, sizes=page.sizes)
