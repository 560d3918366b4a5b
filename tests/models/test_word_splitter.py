"""The model that cuts lines into words."""

import pytest
import torch

from vit_str.models.word_splitter import STRIDE, WordSplitter


@pytest.fixture(scope="module")
def splitter() -> WordSplitter:
    torch.manual_seed(0)
    return WordSplitter(dim=16, depth=1, heads=2, widths=(4, 8, 8)).eval()


@pytest.mark.parametrize("width", [16, 64, 100])
def test_it_takes_lines_of_any_width(splitter: WordSplitter, width: int) -> None:
    assert splitter(torch.zeros(2, 3, 32, width)).shape == (2, 3, width // STRIDE)


def test_lines_do_not_see_each_other(splitter: WordSplitter) -> None:
    lines = torch.randn(3, 3, 32, 64)
    torch.testing.assert_close(splitter(lines)[1:2], splitter(lines[1:2]), atol=1e-5, rtol=1e-4)


def test_columns_know_their_neighbors(splitter: WordSplitter) -> None:
    """Attention alone would give the columns of a line in another order the same outputs."""
    lines = torch.randn(1, 3, 32, 64)
    shuffled = lines.unflatten(3, (4, 16)).flip(3).flatten(3)
    moved = splitter(lines).unflatten(2, (4, 8)).flip(2).flatten(2)
    assert not torch.allclose(splitter(shuffled), moved, atol=1e-3)


def test_the_configured_size_is_small() -> None:
    assert sum(p.numel() for p in WordSplitter().parameters()) < 600_000
