"""Grounds that repeat: the same for the same seed, of all kinds, without seams."""

import numpy as np
import pytest

from vit_str.synthesis import structures
from vit_str.synthesis.structures import structured


def test_the_same_seed_lays_the_same_ground():
    one, other, third = (
        structured(np.random.default_rng(seed), (60, 90)) for seed in (3, 3, 4)
    )
    assert one.shape == (60, 90, 3)
    assert np.array_equal(one, other)
    assert not np.array_equal(one, third)


@pytest.mark.parametrize("draw", sorted(set(structures._STRUCTURES), key=repr))
def test_every_structure_is_seen_and_repeats(draw):
    side = structures._SIDE
    for seed in range(6):
        random = np.random.default_rng(seed)
        tile = np.full((side, side, 3), 120, np.uint8)
        draw(random, tile)
        assert (np.ptp(tile.reshape(-1, 3), 0) > 4).any(), seed


def test_leaves_that_an_edge_cuts_go_on_at_the_other_one():
    near = structures._wrapped(np.array([1, 100]), 5)
    assert near == [[1, 100], [1 + structures._SIDE, 100]]
    assert len(structures._wrapped(np.array([1, 1]), 5)) == 4
    assert structures._wrapped(np.array([90, 90]), 5) == [[90, 90]]
