import numpy as np
import pytest
import torch
from PIL import Image, ImageDraw, ImageFont
from torch import Tensor

from vit_str.synthesis.glyph_quality import flaw, judge
from vit_str.synthesis.rasterize import SHAPE

CHARACTERS = "abdefghijlmnqrtoABDEFGHIJLMNQRTO0123456789"
FONTS = 12


def shape(character: str, font: int) -> Tensor:
    """A character in one of several sizes and places, as a small picture."""
    image = Image.new("L", (SHAPE, SHAPE))
    typeface = ImageFont.load_default(13 + font % 3)
    ImageDraw.Draw(image).text(
        (8 + font % 2, 14), character, 255, typeface, anchor="ms"
    )
    return torch.from_numpy(np.asarray(image).copy())


def shapes_of(texts: list[str]) -> Tensor:
    fonts = [torch.stack([shape(c, i) for c in text]) for i, text in enumerate(texts)]
    return torch.stack([torch.stack(fonts)] * 2, 2)


@pytest.fixture(scope="module")
def texts() -> list[str]:
    return [CHARACTERS] * FONTS


def everything(texts: list[str]) -> Tensor:
    return torch.ones(len(texts), len(CHARACTERS), dtype=torch.bool)


def correct_in(texts: list[str], font: int) -> str:
    correct = judge(shapes_of(texts), everything(texts), CHARACTERS).is_correct[font]
    return "".join(
        c for c, shown in zip(CHARACTERS, correct.tolist(), strict=True) if shown
    )


def test_ordinary_fonts_are_correct_ids(texts):
    quality = judge(shapes_of(texts), everything(texts), CHARACTERS)
    assert quality.is_correct.all()
    assert (quality.recognized > 0.9).all()


@pytest.mark.parametrize("shown", [CHARACTERS.upper(), CHARACTERS.lower()])
@pytest.mark.parametrize("fonts", [FONTS, 4])
def test_letters_of_the_other_case_are_marked(texts, fonts, shown):
    fakes = [*texts[: fonts - 1], shown]
    assert correct_in(fakes, fonts - 1) == "".join(c for c in CHARACTERS if c in shown)
    assert correct_in(fakes, 0) == CHARACTERS


def test_ornaments_are_recognized_as_such(texts):
    shapes = shapes_of(texts)
    shapes[-1] = torch.randint(
        0, 256, shapes[-1].shape, generator=torch.Generator().manual_seed(1)
    )
    quality = judge(shapes, everything(texts), CHARACTERS)
    assert quality.recognized[-1] < 0.2
    assert quality.recognized[:-1].min() > 0.9


def test_letters_of_blackletter_are_compared_with_no_other_font(texts):
    turned = CHARACTERS[7:] + CHARACTERS[:7]
    shapes = shapes_of([*texts[1:], turned])
    plain = judge(shapes, everything(texts), CHARACTERS)
    blackletter = torch.zeros(len(texts), dtype=torch.bool)
    blackletter[-1] = True
    quality = judge(shapes, everything(texts), CHARACTERS, blackletter)
    assert (
        plain.is_correct[-1].float().mean()
        < 0.5
        < 0.9
        < quality.is_correct[-1].float().mean()
    )
    assert quality.recognized[-1] == 1
    assert torch.equal(plain.is_correct[:-1], quality.is_correct[:-1])


def test_a_character_that_no_font_draws_harms_nothing(texts):
    drawn = everything(texts)
    drawn[:, 5] = False
    assert torch.equal(judge(shapes_of(texts), drawn, CHARACTERS).is_correct, drawn)


def test_flaws_are_explained():
    everything_shown = torch.ones(len(CHARACTERS), dtype=torch.bool)
    digits = torch.tensor([character.isdigit() for character in CHARACTERS])
    assert flaw(everything_shown, 1.0, CHARACTERS) == ""
    assert "5% recognized" in flaw(everything_shown, 0.05, CHARACTERS)
    assert "neither small nor capital" in flaw(digits, 1.0, CHARACTERS)
    assert flaw(digits[digits], 1.0, "0123456789") == ""
