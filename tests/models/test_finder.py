"""The network that finds lines."""

import pytest
import torch

from vit_str.models.finder import CELL, STEP, Finder

MAPS = 5


@pytest.fixture(scope="module")
def finder() -> Finder:
    """One with random weights."""
    torch.manual_seed(0)
    return Finder(MAPS).eval()


@torch.no_grad()
def test_there_is_a_value_for_every_cell(finder):
    found = finder(torch.rand(2, 3, 2 * STEP, 5 * STEP))
    assert found.shape == (2, MAPS, 2 * STEP // CELL, 5 * STEP // CELL)


@torch.no_grad()
def test_a_cell_sees_far_and_what_is_farther_changes_nothing(finder):
    image = torch.rand(1, 3, 64 * STEP, STEP)
    changed = image.clone()
    changed[:, :, 32 * STEP] = 1 - changed[:, :, 32 * STEP]
    moved = (finder(image) - finder(changed)).abs().amax((0, 1, 3))
    reach = moved.nonzero()[:, 0] * CELL - 32 * STEP
    assert reach.min() < -300 and reach.max() > 300
    assert reach.min() > -1000 and reach.max() < 1000


def test_it_is_small_and_every_parameter_learns(finder):
    assert sum(each.numel() for each in finder.parameters()) < 700_000
    finder.train()
    finder(torch.rand(2, 3, 2 * STEP, 2 * STEP)).square().sum().backward()
    for name, parameter in finder.named_parameters():
        assert parameter.grad is not None and parameter.grad.abs().sum() > 0, name
    finder.zero_grad()
    finder.eval()


@torch.no_grad()
def test_text_upside_down_can_be_told_from_upright(finder):
    image = torch.rand(1, 3, 2 * STEP, 2 * STEP)
    turned = finder(image.flip(2, 3)).flip(2, 3)
    assert (turned - finder(image)).abs().max() > 1e-3
