"""Rendered lines, and what is known of their columns."""

from pathlib import Path

import pytest
import torch

from vit_str.runtime.charset import Charset, charset_of
from vit_str.synthesis.glyphs import GlyphAtlas
from vit_str.synthesis.ingredients import Ingredients
from vit_str.synthesis.text_lines import LineRenderer

HEIGHT, STRIDE = 32, 2
CLEAN = Ingredients(**dict.fromkeys(Ingredients.__dataclass_fields__, 0.0))


@pytest.fixture(scope="module")
def spaced_atlas(matplotlib_fonts: Path) -> GlyphAtlas:
    return GlyphAtlas.build([matplotlib_fonts / "DejaVuSans.ttf"], charset_of("european"))[0]


@pytest.fixture(scope="module")
def lines(spaced_atlas: GlyphAtlas) -> LineRenderer:
    return LineRenderer(spaced_atlas)


def test_an_index_gives_the_same_batch_every_time(lines: LineRenderer) -> None:
    first, second = lines.batch(4, 1, 5), lines.batch(4, 1, 5)
    assert torch.equal(first.images, second.images)
    assert torch.equal(first.in_word, second.in_word)
    assert not torch.equal(
        first.images, lines.batch(4, 2, 5).images[:, :, :, : first.images.shape[3]]
    )


def test_columns_and_images_have_sizes_that_fit(lines: LineRenderer) -> None:
    batch = lines.batch(3, 1, 0)
    count, _, height, width = batch.images.shape
    assert (count, height) == (3, HEIGHT)
    assert batch.in_word.shape == (3, width // STRIDE)
    assert batch.extents.shape == (3, 2, width // STRIDE)


def test_clean_ink_lies_in_words_and_gaps_are_empty(spaced_atlas: GlyphAtlas) -> None:
    lines = LineRenderer(spaced_atlas, ingredients=CLEAN)
    gaps = 0
    for index in range(12):
        batch = lines.batch(8, 3, index)
        gray = batch.images.float().mean(1)
        ground = gray.flatten(1).mode(1).values[:, None, None]
        ink = ((gray - ground).abs() > 60).any(1).unflatten(1, (-1, STRIDE)).any(2)
        inner = batch.in_word.int().cummax(1).values & batch.in_word.flip(1).int().cummax(
            1
        ).values.flip(1)
        between = inner.bool() & ~batch.in_word
        # Resampling smears ink by a column at either end of a gap.
        middle = between[:, 1:-1] & between[:, 2:] & between[:, :-2]
        gaps += int(middle.sum())
        assert (ink[:, 1:-1] & middle).sum() <= 0.05 * middle.sum() + 1
        assert (ink & batch.in_word).sum() > 0.5 * batch.in_word.sum()
    assert gaps > 50


def test_extents_hold_the_ink_of_clean_words(spaced_atlas: GlyphAtlas) -> None:
    batch = LineRenderer(spaced_atlas, ingredients=CLEAN).batch(16, 4, 1)
    top, bottom = batch.extents.unbind(1)
    assert (bottom > top)[batch.in_word].all()
    rows = (torch.arange(HEIGHT) + 0.5) / HEIGHT
    gray = batch.images.float().mean(1)
    ink = (gray - gray.flatten(1).mode(1).values[:, None, None]).abs() > 100
    ink = ink.unflatten(2, (-1, STRIDE)).any(3)
    outside = (rows[:, None] < top[:, None] - 0.08) | (rows[:, None] > bottom[:, None] + 0.08)
    wrong = (ink & outside & batch.in_word[:, None]).sum()
    assert wrong <= 0.02 * ink.sum()


def test_words_that_touch_keep_a_gap(lines: LineRenderer) -> None:
    """A line of two words has two runs of columns even where letters overlap."""
    renderer = lines._renderers[3]
    batch = renderer.render(["AV VA", "ff ff"], seed=1)
    columns = lines._columns(batch).in_word.int()
    assert (columns.diff(dim=1) == 1).sum(1).add(columns[:, 0]).tolist() == [2, 2]


def test_a_charset_without_space_is_refused(matplotlib_fonts: Path) -> None:
    atlas = GlyphAtlas.build([matplotlib_fonts / "DejaVuSans.ttf"], Charset("ab"))[0]
    with pytest.raises(ValueError, match="space"):
        LineRenderer(atlas)
