import io

import numpy as np
import pytest
import torch
from PIL import Image

from vit_str.synthesis import degrade as module
from vit_str.synthesis.ingredients import Ingredients
from vit_str.synthesis.random_numbers import Random, noise_bank

BANK = noise_bank("cpu")
OFF = dict.fromkeys(Ingredients.__dataclass_fields__, 0.0)


def degrade(
    image: torch.Tensor, strengths: Ingredients, random: Random
) -> torch.Tensor:
    """Words of five letters, three times as wide as high."""
    count = len(image)
    aspects = torch.full((count,), 3.0)
    lengths = torch.full((count,), 5)
    return module.degrade(image, aspects, lengths, strengths, random)


@pytest.fixture
def images() -> torch.Tensor:
    torch.manual_seed(0)
    return torch.nn.functional.interpolate(
        torch.rand(48, 3, 8, 32), (32, 128), mode="bilinear"
    )


def test_without_ingredients_nothing_happens(images):
    degraded = degrade(images.clone(), Ingredients(**OFF), Random(1, 48, BANK))
    torch.testing.assert_close(degraded, images, atol=2e-3, rtol=0)


@pytest.mark.parametrize(
    "name", ["blur", "motion", "gamma", "contrast", "illumination"]
)
def test_every_ingredient_changes_some_pictures(name, images):
    degraded = degrade(
        images.clone(), Ingredients(**OFF | {name: 1.0}), Random(1, 48, BANK)
    )
    assert ((degraded - images).abs() > 0.03).any()


def test_compression_damages_about_as_much_as_a_real_encoder(images):
    torch.manual_seed(0)
    noisy = (images + torch.randn_like(images) * 0.1).clamp(0, 1)
    ours = degrade(
        noisy.clone(), Ingredients(**OFF | {"compression": 1.0}), Random(1, 48, BANK)
    )
    errors = (ours - noisy).square().mean((1, 2, 3)).sqrt()
    theirs = []
    for image in noisy[:8]:
        pixels = Image.fromarray((image.permute(1, 2, 0) * 255).byte().numpy())
        file = io.BytesIO()
        pixels.save(file, "JPEG", quality=50, subsampling=0)
        decoded = np.asarray(Image.open(file), dtype=float) / 255
        theirs.append(np.sqrt(((decoded - image.permute(1, 2, 0).numpy()) ** 2).mean()))
    strongest = errors.topk(16).values.median()
    assert 0.4 * np.mean(theirs) < strongest < 2.5 * np.mean(theirs)


@pytest.mark.parametrize(
    ("name", "most"),
    [("glare", 0.1), ("low_resolution", 0.88), ("noise", 0.7), ("compression", 0.45)],
)
def test_pictures_without_an_ingredient_stay_as_they_are(name, most):
    """Whatever its strength, an effect draws the same numbers, and changes its pictures only."""
    torch.manual_seed(0)
    clean = torch.rand(200, 3, 32, 128)

    def degraded(strength):
        strengths = Ingredients(**OFF | {"blur": 1.0, "contrast": 1.0, name: strength})
        return degrade(clean.clone(), strengths, Random(1, 200, BANK))

    changed = (degraded(0.0) != degraded(1.0)).flatten(1).any(1).float().mean()
    assert 0 < changed < most


@pytest.mark.parametrize("strength", [0.0, 1.0, 3.0])
@pytest.mark.parametrize("count", [1, 7])
@pytest.mark.parametrize("size", [(32, 128), (30, 50)])
def test_every_strength_and_size_gives_pictures(strength, count, size):
    strengths = Ingredients(**dict.fromkeys(OFF, strength))
    for seed in range(3):
        clean = torch.rand(count, 3, *size)
        image = degrade(clean.clone(), strengths, Random(seed, count, BANK))
        assert image.isfinite().all()
        assert image.min() >= 0
        assert image.max() <= 1
        assert torch.equal(
            image, degrade(clean.clone(), strengths, Random(seed, count, BANK))
        )
