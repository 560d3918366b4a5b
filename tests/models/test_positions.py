import pytest
import torch

from vit_str.models.positions import (
    FixedPositions,
    LearnedPositions,
    sinusoidal_positions,
    sinusoidal_positions_2d,
)


def test_sinusoids_have_the_published_values():
    positions = sinusoidal_positions(3, 4)
    torch.testing.assert_close(
        positions[1], torch.tensor([0.8414710, 0.5403023, 0.0099998, 0.9999500])
    )


def test_every_token_of_a_grid_has_a_position_of_its_own():
    positions = sinusoidal_positions_2d(3, 5, 16)
    assert positions.shape == (15, 16)
    assert torch.cdist(positions, positions).add(torch.eye(15) * 9).min() > 0.1
    torch.testing.assert_close(positions[2, :8], positions[4, :8])  # same row
    torch.testing.assert_close(positions[2, 8:], positions[7, 8:])  # same column


def test_positions_start_where_told():
    x = torch.zeros(2, 1, 4)
    learned = LearnedPositions(6, 4)
    fixed = FixedPositions(sinusoidal_positions(6, 4))
    for positions in (learned, fixed):
        torch.testing.assert_close(
            positions(x, first=3)[:, 0], positions.weight[3].expand(2, -1)
        )


def test_odd_widths_are_refused():
    with pytest.raises(ValueError, match="even dim"):
        sinusoidal_positions(3, 5)
    with pytest.raises(ValueError, match="dim % 4"):
        sinusoidal_positions_2d(2, 2, 6)
