"""Pages that are made of others: what was right stays right."""

from dataclasses import replace

import numpy as np
import pytest

from tests.training.pages.test_arranging import record
from vit_str.datasets.page_records import BLOCK_FIELDS, PageRecord
from vit_str.training.pages import variation
from vit_str.training.pages.examples import example_of
from vit_str.training.pages.variation import (
    NONE,
    Variation,
    beside,
    paired,
    unread_pieces,
    varied,
)

LEVEL, TABLE, ROW, COLUMN = (
    BLOCK_FIELDS.index(name) for name in ("level", "table", "row", "column")
)


def labels(page: PageRecord) -> dict[tuple[str, int], tuple[int, ...]]:
    """What each word is, by its text and place."""
    return {
        (word, int(place)): tuple(page.blocks[block, :2].tolist())
        for word, block, place in zip(
            page.words, page.word_block, page.word_place, strict=True
        )
        if block >= 0
    }


def test_a_page_beside_another_is_read_after_it():
    left, right = record(1), record(2)
    both = beside(left, right, np.random.default_rng(0))
    count = len(left.words)
    assert list(both.words) == [*left.words, *right.words]
    text = both.word_place >= 0
    own = text[:count]
    assert (
        both.word_place[:count][own].max() < both.word_place[count:][text[count:]].min()
    )
    assert both.polygons[:count, :, 0].max() < both.polygons[count:, :, 0].min()
    assert set(both.blocks[:, TABLE]) == {-1, 0, 1}
    assert both.word_block[count:].max() == len(both.blocks) - 1
    assert both.word_block[-1] == -1  # junk stays junk


def test_a_page_beside_another_has_type_of_about_its_size():
    left, right = record(), replace(record(), sizes=record().sizes * 3)
    sizes = beside(left, right, np.random.default_rng(0)).sizes
    count = len(left.words)
    assert np.median(sizes[count:]) == pytest.approx(np.median(sizes[:count]), rel=0.5)


def test_a_page_without_words_stands_beside_no_other():
    page = record()
    of_words = (
        "polygons",
        "sizes",
        "weights",
        "confidences",
        "word_block",
        "word_place",
    )
    empty = replace(
        page, words=[], **{name: getattr(page, name)[:0] for name in of_words}
    )
    always = replace(NONE, beside=1.0)
    pages = paired([empty, page] * 10, np.random.default_rng(0), always)
    assert {len(each.words) for each in pages[::2]} == {0}
    assert {len(each.words) for each in pages[1::2]} == {
        len(page.words),
        2 * len(page.words),
    }


def with_subheading(size: float, smaller: float) -> PageRecord:
    """A page whose title and whose heading of level 2, `Sub`, are of some sizes."""
    page = record()
    words = [*page.words[:1], "Sub", *page.words[2:]]
    sizes, block, blocks = page.sizes.copy(), page.word_block.copy(), page.blocks
    sizes[:2] = size, smaller
    block[1] = len(blocks)
    blocks = np.concatenate([blocks, blocks[:1]])
    blocks[-1, LEVEL] = 2
    return replace(page, words=words, sizes=sizes, word_block=block, blocks=blocks)


def levels_of_headings(page: PageRecord) -> list[int]:
    blocks = page.blocks[page.word_block[page.word_block >= 0]]
    return blocks[blocks[:, LEVEL] > 0, LEVEL].tolist()


@pytest.mark.parametrize(
    ("sizes", "levels"),
    [
        ((40, 30), [1, 2, 1, 2]),
        ((90, 60), [3, 4, 1, 2]),
        ((20, 16), [1, 2, 3, 4]),
        ((30, 18), [1, 2, 2, 3]),
        ((40, 41), [1, 3, 1, 2]),  # a level is never above one of its own page
    ],
)
def test_headings_of_pages_side_by_side_have_levels_of_one_scale(
    sizes: tuple[float, float], levels: list[int], monkeypatch: pytest.MonkeyPatch
):
    random = np.random.default_rng(0)
    monkeypatch.setattr(variation, "_DIFFERENCE", 0.0)
    both = beside(with_subheading(40, 30), with_subheading(*sizes), random)
    assert levels_of_headings(both) == levels


def test_pages_without_blocks_stand_side_by_side():
    page = record()
    none = replace(
        page,
        blocks=page.blocks[:0],
        word_block=np.full_like(page.word_block, -1),
        word_place=np.full_like(page.word_place, -1),
    )
    both = beside(none, page, np.random.default_rng(0))
    assert levels_of_headings(both) == levels_of_headings(page)


@pytest.mark.parametrize("name", ["cropped", "thinned"])
def test_words_that_are_left_are_what_they_were(name: str):
    always = replace(NONE, **{name: 1.0})
    counts = set()
    for seed in range(40):
        page = varied(record(), np.random.default_rng(seed), always)
        counts.add(len(page.words))
        assert labels(page).items() <= labels(record()).items()
        assert len(page.words) == len(page.polygons) == len(page.word_block)
    assert len(counts) > 3
    assert max(counts) <= len(record().words)


def test_a_table_that_is_left_has_rows_and_columns():
    always = replace(NONE, cropped=1.0, thinned=1.0)
    seen = 0
    for seed in range(80):
        page = varied(record(), np.random.default_rng(seed), always)
        own = page.blocks[page.word_block[page.word_block >= 0]]
        cells = own[own[:, TABLE] >= 0]
        if len(cells):
            seen += 1
            assert len(set(cells[:, ROW])) >= 2
            assert len(set(cells[:, COLUMN])) >= 2
    assert seen


def test_levels_of_headings_begin_with_one():
    page = record()
    blocks = page.blocks.copy()
    blocks[1] = blocks[0]
    blocks[1, LEVEL] = 2
    page = replace(page, blocks=blocks)
    for seed in range(60):
        found = varied(page, np.random.default_rng(seed), replace(NONE, thinned=1.0))
        own = found.blocks[found.word_block[found.word_block >= 0]]
        levels = sorted(set(own[own[:, LEVEL] > 0, LEVEL].tolist()))
        assert levels == list(range(1, len(levels) + 1))


def test_lines_move_apart_and_letters_keep_their_height():
    spaced = replace(NONE, spaced=1.0, most_spaced=1.5)
    page = varied(record(), np.random.default_rng(1), spaced)

    def heights(page: PageRecord) -> np.ndarray:
        return np.ptp(page.polygons[..., 1], axis=1)

    assert np.allclose(heights(page), heights(record()), atol=1e-3)
    assert np.ptp(page.polygons[..., 1]) > np.ptp(record().polygons[..., 1])


def test_a_page_that_nobody_could_read_has_no_words():
    page, random = record(), np.random.default_rng(0)
    wordless = replace(NONE, wordless=1.0)
    example = example_of(page, random, is_training=True, variation=wordless)
    assert not example.tokens.ngrams.any()
    assert unread_pieces(
        4000, random, replace(NONE, unread=0.3)
    ).mean() == pytest.approx(0.3, abs=0.03)


def test_pages_are_varied_by_a_seed_and_as_they_were_without_shares():
    pages = [record(n) for n in range(6)]
    first, second = (
        [page.words for page in paired(pages, np.random.default_rng(3), Variation())]
        for _ in range(2)
    )
    assert first == second
    assert paired(pages, np.random.default_rng(3), NONE) == pages
    [one, other] = (
        varied(record(), np.random.default_rng(4), NONE).polygons for _ in range(2)
    )
    assert np.array_equal(one, other)
    assert np.array_equal(one, record().polygons)
