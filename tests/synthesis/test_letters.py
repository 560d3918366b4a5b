import torch

from vit_str.synthesis.ingredients import Ingredients
from vit_str.synthesis.letters import reshape_letters
from vit_str.synthesis.random_numbers import Random, noise_bank

BANK = noise_bank("cpu")
OFF = dict.fromkeys(Ingredients.__dataclass_fields__, 0.0)


def bars(width: int) -> torch.Tensor:
    mask = torch.zeros(200, 1, 32, 128)
    for left in range(10, 110, 20):
        mask[..., 6:26, left : left + width] = 1
    return mask


def reshaped(mask: torch.Tensor, **strengths: float) -> torch.Tensor:
    changed = mask.clone()
    reshape_letters(changed, Ingredients(**OFF | strengths), Random(1, len(mask), BANK))
    return changed


def test_some_words_get_bolder_and_some_thinner() -> None:
    mask = bars(5)
    growth = (reshaped(mask, weight=10.0) - mask).sum((1, 2, 3)) / mask.sum((1, 2, 3))
    assert growth.max() > 0.1
    assert growth.min() < -0.1
    assert growth.min() > -0.6, "letters must not vanish"


def test_thin_strokes_stay_when_words_get_thinner() -> None:
    kept = reshaped(bars(1), weight=10.0).amax((1, 2, 3))
    assert kept.min() > 0.25


def test_thick_letters_become_hollow_and_thin_ones_stay() -> None:
    thick = reshaped(bars(8), hollow=20.0)
    assert thick[:, 0, 16, 14].max() < 0.2, "the middle of a stroke"
    assert thick[:, 0, 16, 10].min() == 1, "its edge"
    torch.testing.assert_close(reshaped(bars(2), hollow=20.0), bars(2))
