import pytest
import torch

from vit_str.synthesis.fields import luminance
from vit_str.synthesis.ingredients import Ingredients
from vit_str.synthesis.paint import paint, reshape_letters
from vit_str.synthesis.random_numbers import Random, noise_bank

BANK = noise_bank("cpu")
OFF = dict.fromkeys(Ingredients.__dataclass_fields__, 0.0)
_COUNT = 200
PAINTED = {
    "weight": 0.1,
    "hollow": 0.05,
    "gradient": 0.35,
    "pattern": 0.05,
    "clutter": 0.115,
    "outline": 0.1,
    "shadow": 0.16,
    "extrusion": 0.05,
    "emboss": 0.05,
    "neon": 0.03,
    "faint": 0.06,
    "neighbors": 0.22,
    "underline": 0.04,
    "frame": 0.1,
    "occlusion": 0.05,
}
"""What is painted on some words only, and on which share of them at most."""


def words(count: int) -> torch.Tensor:
    """Masks with strokes of several widths, gray at their edges, no two alike."""
    torch.manual_seed(0)
    mask = torch.zeros(count, 1, 32, 128)
    for number in range(count):
        for left in range(6 + number % 5, 116, 18):
            mask[number, :, 7:25, left : left + 5 + number % 4] = 1
        mask[number, :, 14:17, 10:110] = 1
    return torch.nn.functional.avg_pool2d(mask, 3, 1, 1)


def drawn(count: int, seed: int = 1, **strengths: float) -> torch.Tensor:
    return paint(
        words(count), Ingredients(**OFF | strengths), Random(seed, count, BANK)
    )


def test_ink_and_background_differ_enough_to_be_read():
    mask = words(64)
    image = luminance(drawn(64))
    ink = (image * mask).sum((1, 2, 3)) / mask.sum((1, 2, 3))
    behind = (image * (1 - mask)).sum((1, 2, 3)) / (1 - mask).sum((1, 2, 3))
    assert (ink - behind).abs().min() > 0.1


@pytest.mark.parametrize("name", PAINTED)
def test_words_without_an_ingredient_stay_as_they_are(name):
    """Whatever its strength, an effect draws the same numbers, and changes its words only."""
    others = {other: 1.0 for other in [*PAINTED, "texture"] if other != name}
    without = drawn(_COUNT, **others)
    with_it = drawn(_COUNT, **others, **{name: 1.0})
    assert (without - with_it).abs().max() > 0.03
    changed = (without != with_it).any(1).any(1).any(1).float().mean()
    share = PAINTED[name]
    assert 0 < changed < share + 3 * (share * (1 - share) / _COUNT) ** 0.5


@pytest.mark.parametrize("strength", [0.0, 1.0, 3.0])
@pytest.mark.parametrize("count", [1, 7])
def test_every_strength_and_size_gives_pictures(strength, count):
    for seed in range(4):
        image = drawn(count, seed, **dict.fromkeys(OFF, strength))
        assert image.isfinite().all()
        assert image.min() >= 0
        assert image.max() <= 1
        assert torch.equal(image, drawn(count, seed, **dict.fromkeys(OFF, strength)))


def test_pictures_become_backgrounds():
    pictures = torch.randint(0, 255, (3, 3, 32, 128), dtype=torch.uint8)
    strengths = Ingredients(**OFF | {"picture": 2.5})
    image = paint(words(64), strengths, Random(1, 64, BANK), pictures)
    assert image[:, :, :6].std((2, 3)).min() > 0.02, (
        "every background must be a picture now"
    )


def test_faint_letters_keep_a_hint_of_contrast():
    mask = words(_COUNT)
    usual = luminance(drawn(_COUNT))
    faint = luminance(drawn(_COUNT, faint=1.0))

    def contrast(image):
        ink = (image * mask.square()).sum((1, 2, 3)) / mask.square().sum((1, 2, 3))
        return (ink - image[:, 0, 0, 0]).abs()

    chosen = (usual != faint).flatten(1).any(1)
    assert contrast(faint)[chosen].max() < 0.25
    assert contrast(faint)[chosen].min() > 0.05


def bars(width: int) -> torch.Tensor:
    mask = torch.zeros(200, 1, 32, 128)
    for left in range(10, 110, 20):
        mask[..., 6:26, left : left + width] = 1
    return mask


def reshaped(mask: torch.Tensor, **strengths: float) -> torch.Tensor:
    changed = mask.clone()
    reshape_letters(changed, Ingredients(**OFF | strengths), Random(1, len(mask), BANK))
    return changed


def test_some_words_get_bolder_and_some_thinner():
    mask = bars(5)
    growth = (reshaped(mask, weight=10.0) - mask).sum((1, 2, 3)) / mask.sum((1, 2, 3))
    assert growth.max() > 0.1
    assert growth.min() < -0.1
    assert growth.min() > -0.6, "letters must not vanish"


def test_thin_strokes_stay_when_words_get_thinner():
    kept = reshaped(bars(1), weight=10.0).amax((1, 2, 3))
    assert kept.min() > 0.25


def test_thick_letters_become_hollow_and_thin_ones_stay():
    thick = reshaped(bars(8), hollow=20.0)
    assert thick[:, 0, 16, 14].max() < 0.2, "the middle of a stroke"
    assert thick[:, 0, 16, 10].min() == 1, "its edge"
    torch.testing.assert_close(reshaped(bars(2), hollow=20.0), bars(2))
