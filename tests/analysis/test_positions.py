import math

import pytest
import torch

from vit_str.analysis.geometry import TokenGrid
from vit_str.analysis.positions import along_axes, explained, positions_of, similarities
from vit_str.models import ConvolutionalEncoder, Encoder, VisionTransformer

GRID = TokenGrid(3, 5, (4, 8))


def make_encoder(**arguments: object) -> VisionTransformer:
    sizes = {"dim": 16, "depth": 1, "heads": 2, "image_size": (12, 40), "patch_size": (4, 8)}
    return VisionTransformer(**{**sizes, **arguments})


def test_change_is_relative_to_the_start() -> None:
    assert positions_of(make_encoder(class_token=True)).vectors.shape == (15, 16)
    assert positions_of(ConvolutionalEncoder((16,), (0,), ((8, 8),))).vectors.shape == (64, 16)
    encoder = make_encoder()
    assert positions_of(encoder).change == 0
    with torch.no_grad():
        encoder.embed_positions.weight.mul_(1.25)
    assert positions_of(encoder).change == pytest.approx(0.25)


def test_cosines_worked_by_hand() -> None:
    vectors = torch.tensor([[2.0, 0.0], [-1.0, 1.0], [-1.0, -1.0]], dtype=torch.float64)
    half = -1 / math.sqrt(2)
    expected = torch.tensor([[1, half, half], [half, 1, 0], [half, 0, 1]], dtype=torch.float64)
    torch.testing.assert_close(similarities(vectors), expected)
    torch.testing.assert_close(similarities(vectors + torch.tensor([5.0, 7.0])), expected)


ROW, COLUMN = torch.arange(15) // 5, torch.arange(15) % 5
DOWN, ACROSS = ((of[:, None] - of).abs().double() for of in (ROW, COLUMN))


@pytest.mark.parametrize(
    ("of", "values"),
    [("distance", (-GRID.distances() / 10).exp()), ("rows", DOWN), ("columns", ACROSS**2)],
)
def test_what_depends_on_one_thing_is_explained_by_it(of: str, values: torch.Tensor) -> None:
    found = explained(values, GRID)
    assert found[of] == pytest.approx(1)
    assert found["offset"] == pytest.approx(1), "it knows rows and columns, so distance too"
    assert all(found[other] < 0.99 for other in {"rows", "columns"} - {of})


def test_what_does_not_vary_cannot_be_explained() -> None:
    assert math.isnan(explained(torch.ones(15, 15).double(), GRID)["distance"])


def test_similarity_along_rows_and_columns() -> None:
    sideways, downwards = along_axes(1 - 0.1 * ACROSS - 0.3 * DOWN, GRID)
    assert sideways.tolist() == pytest.approx([1, 0.9, 0.8, 0.7, 0.6])
    assert downwards.tolist() == pytest.approx([1, 0.7, 0.4])


def test_encoders_without_positions_are_refused() -> None:
    class Other(Encoder):
        def forward(self, images: torch.Tensor) -> torch.Tensor:
            return images

    with pytest.raises(ValueError, match="has no positions"):
        positions_of(Other())
