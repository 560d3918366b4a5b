import pytest
import torch
from torch.nn import functional as F

from vit_str.synthesis.draw import Draw, noise_bank
from vit_str.synthesis.ingredients import Ingredients
from vit_str.synthesis.paint import dilate, luminance, paint

BANK = noise_bank("cpu")


@pytest.fixture
def mask() -> torch.Tensor:
    mask = torch.zeros(64, 1, 32, 128)
    mask[:, :, 2:30, 20:30] = 1
    mask[:, :, 2:30, 60:70] = 1
    return mask


@pytest.mark.parametrize(("rows", "columns"), [(1, 2), (2, 2), (0, 3)])
def test_dilate_is_max_pooling(rows: int, columns: int) -> None:
    values = torch.rand(3, 1, 12, 20)
    pooled = F.max_pool2d(values, (2 * rows + 1, 2 * columns + 1), 1, (rows, columns))
    torch.testing.assert_close(dilate(values, rows, columns), pooled)


def test_ink_and_background_differ_enough_to_be_read(mask: torch.Tensor) -> None:
    off = dict.fromkeys(("texture", "frame", "neighbors", "shadow", "gradient", "underline"), 0.0)
    image = luminance(paint(mask, Ingredients(outline=0, **off), Draw(1, 64, BANK)))
    ink = (image * mask).sum((1, 2, 3)) / mask.sum((1, 2, 3))
    behind = (image * (1 - mask)).sum((1, 2, 3)) / (1 - mask).sum((1, 2, 3))
    assert (ink - behind).abs().min() > 0.14


@pytest.mark.parametrize(
    "name", ["texture", "frame", "neighbors", "shadow", "outline", "underline", "gradient"]
)
def test_every_ingredient_changes_some_pictures(name: str, mask: torch.Tensor) -> None:
    everything = dict.fromkeys(Ingredients.__dataclass_fields__, 0.0)
    without = paint(mask, Ingredients(**everything), Draw(1, 64, BANK))
    with_it = paint(mask, Ingredients(**everything | {name: 1.0}), Draw(1, 64, BANK))
    changed = (without - with_it).abs().amax((1, 2, 3)) > 0.02
    assert changed.any()


def test_pictures_become_backgrounds(mask: torch.Tensor) -> None:
    pictures = torch.randint(0, 255, (3, 3, 32, 128), dtype=torch.uint8)
    plain = dict.fromkeys(Ingredients.__dataclass_fields__, 0.0)
    image = paint(mask, Ingredients(**plain | {"picture": 2.5}), Draw(1, 64, BANK), pictures)
    assert image[:, :, :6].std((2, 3)).min() > 0.02, "every background must be a picture now"
