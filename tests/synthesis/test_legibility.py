import pytest
import torch
from torch.nn import functional as F

from vit_str.synthesis.legibility import keep_legible, repairs


@pytest.fixture
def mask() -> torch.Tensor:
    """Strokes as letters have them, all over the word."""
    mask = torch.zeros(1, 1, 32, 128)
    for left in range(6, 120, 8):
        mask[..., 8:24, left : left + 3] = 1
    mask[..., 15:18, 6:120] = 1
    return mask


def picture(mask: torch.Tensor, contrast: float = 0.6) -> torch.Tensor:
    return (mask * contrast + 0.2).expand(-1, 3, -1, -1).contiguous()


def damaged(kind: str, clean: torch.Tensor) -> torch.Tensor:
    generator = torch.Generator().manual_seed(0)
    if kind == "gone":
        return torch.full_like(clean, 0.5)
    if kind == "blurred":
        return F.avg_pool2d(clean, (15, 21), 1, (7, 10), count_include_pad=False)
    if kind == "noisy":
        return clean * 0.1 + 0.4 + torch.randn(clean.shape, generator=generator) * 0.2
    if kind == "hazy":
        return clean * 0.03 + 0.6
    result = clean.clone()
    result[..., 34:62] = 1.0  # a third of the word behind glare
    return result


@pytest.mark.parametrize("kind", ["gone", "blurred", "noisy", "hazy", "glare"])
def test_what_cannot_be_read_is_repaired(kind, mask):
    clean = picture(mask)
    bad = damaged(kind, clean)
    mix, _ = repairs(bad, clean, mask)
    assert mix > 0
    kept = keep_legible(bad.clone(), clean, mask)
    again, ink = repairs(kept, clean, mask)
    assert again == 0
    assert ink == 0, "a repaired word must be legible"


def test_what_can_be_read_stays(mask):
    clean = picture(mask)
    for fine in (clean, clean * 0.3 + 0.4, F.avg_pool2d(clean, 3, 1, 1), 1 - clean):
        torch.testing.assert_close(keep_legible(fine.clone(), clean, mask), fine)


def test_letters_in_relief_can_be_read(mask):
    lit = mask.roll((1, 1), (2, 3)) - mask.roll((-1, -1), (2, 3))
    relief = (0.5 + 0.3 * lit).expand(-1, 3, -1, -1)
    mix, ink = repairs(relief, relief, mask)
    assert mix == 0
    assert ink == 0


def test_ink_is_added_where_the_clean_picture_shows_no_letters(mask):
    empty = torch.full((1, 3, 32, 128), 0.4)
    kept = keep_legible(empty.clone(), empty, mask)
    inside = (kept * mask).sum() / (3 * mask.sum())
    assert (inside - 0.4).abs() > 0.2


def test_a_word_alone_is_judged_as_in_a_batch(mask):
    clean = picture(mask)
    several = torch.cat([damaged(kind, clean) for kind in ("gone", "noisy", "glare")])
    together, _ = repairs(
        several, clean.expand(3, -1, -1, -1), mask.expand(3, -1, -1, -1)
    )
    alone = [repairs(each[None], clean, mask)[0] for each in several]
    torch.testing.assert_close(together, torch.cat(alone))


@pytest.mark.parametrize("size", [(8, 8), (33, 129), (31, 50)])
def test_any_size_can_be_judged(size):
    mask = torch.rand(7, 1, *size)
    kept = keep_legible(torch.rand(7, 3, *size), picture(mask), mask)
    assert kept.shape == (7, 3, *size)
    assert kept.isfinite().all()
