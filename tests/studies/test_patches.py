import pytest
import torch

from studies import Table, Verdict
from studies.patches import (
    BLOCKS,
    CONVOLUTION,
    ROUND_TRIP,
    SHAPES,
    judge,
    largest,
    measure,
    put_together,
)
from vit_str.models import VisionTransformer

EXACT = {ROUND_TRIP: 0.0, CONVOLUTION: 1e-16, BLOCKS: 0.0}


@pytest.mark.parametrize(("image_size", "patch_size"), SHAPES)
def test_patches_and_blocks_are_exact(
    image_size: tuple[int, int], patch_size: tuple[int, int]
) -> None:
    worst = largest(Table(measure(image_size, patch_size, seed=3)))

    assert worst[ROUND_TRIP] == worst[BLOCKS] == 0
    assert worst[CONVOLUTION] < 1e-10


def test_a_token_is_the_pixels_of_its_cell() -> None:
    encoder = VisionTransformer(16, 1, 2, (8, 12), (4, 3))
    image = torch.rand(1, 3, 8, 12)
    patches = encoder.patches(image)

    second_row_third_column = image[0, :, 4:8, 6:9].permute(1, 2, 0).flatten()
    assert patches[0, 1 * 4 + 2].equal(second_row_third_column)
    assert put_together(patches, encoder).equal(image)


def test_the_verdict_follows_the_differences() -> None:
    assert judge(EXACT) is Verdict.SUPPORTED
    assert judge(EXACT | {BLOCKS: 1e-7}) is Verdict.PARTLY
    assert judge(EXACT | {ROUND_TRIP: 1e-7}) is Verdict.NOT_SUPPORTED
    assert judge(EXACT | {CONVOLUTION: 1e-3}) is Verdict.NOT_SUPPORTED
