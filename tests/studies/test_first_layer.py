import pytest
import torch

from studies import Verdict
from studies.first_layer import embedding_field, judge, measure
from vit_str.models import ConvolutionalEncoder, VisionTransformer

SIZE = (16, 64)


@pytest.fixture
def images() -> torch.Tensor:
    return torch.rand(2, 3, *SIZE, generator=torch.Generator().manual_seed(0))


def test_a_token_sees_its_patch_before_attention_and_everything_after(images: torch.Tensor) -> None:
    torch.manual_seed(0)
    encoder = VisionTransformer(16, 2, 2, SIZE, (4, 8))
    rows = measure("ViT", encoder, images, seed=0)

    assert [row["layer"] for row in rows] == [0, 1, 2]
    assert [row["seen"] for row in rows] == [4 * 8 / (16 * 64), 1.0, 1.0]
    assert rows[0]["near"] == pytest.approx(1.0)
    assert rows == measure("ViT", encoder, images, seed=0)


def test_the_field_of_the_embedding_is_the_middle_patch(images: torch.Tensor) -> None:
    field = embedding_field(VisionTransformer(16, 1, 2, SIZE, (4, 8)), images)

    assert field.sum() == pytest.approx(1.0)
    assert (field[8:12, 32:40] > 0).all()
    assert (field > 0).sum() == 4 * 8


def test_a_convolution_sees_its_window(images: torch.Tensor) -> None:
    torch.manual_seed(0)
    encoder = ConvolutionalEncoder((4, 8), (1, 1), ((2, 2), (2, 2)), SIZE)
    rows = measure("convolution", encoder, images, seed=0)

    # A stride of 2 with a reach of 3 pixels on each side: 8 x 8.
    assert rows[0]["seen"] == pytest.approx(8 * 8 / (16 * 64))
    assert all(row["seen"] < 1 for row in rows)
    assert [row["layer"] for row in rows] == [1, 2, 3, 4]


def test_the_verdict_follows_the_shares() -> None:
    assert judge([1.0, 0.9995], [0.02]) is Verdict.SUPPORTED
    assert judge([1.0, 0.7], [0.02]) is Verdict.PARTLY
    assert judge([0.1, 0.1], [0.02]) is Verdict.NOT_SUPPORTED
    assert judge([1.0, 1.0], [0.02, 0.9]) is Verdict.NOT_SUPPORTED
