"""Effects on the shape of the letters: what they change is the ink itself."""

from vit_str.synthesis.fields import Mask, dilate, erode
from vit_str.synthesis.ingredients import Ingredients
from vit_str.synthesis.random_numbers import Random

_LEAST_CORE = 0.22
"""Share of the ink that must be a pixel or more from its edge before letters can be hollow."""


def reshape_letters(mask: Mask, strengths: Ingredients, random: Random) -> None:
    """Make some words bolder, thinner or hollow, in place."""
    _change_weight(mask, strengths.weight, random)
    _hollow(mask, strengths.hollow, random)


def _change_weight(mask: Mask, strength: float, random: Random) -> None:
    """Half of them grow by up to a pixel, half lose as much where that leaves something."""
    chosen = random.subset(min(1.0, 0.1 * strength))
    amount = random.uniform(0.4, 1.0, 1, 1, 1)[chosen]
    bolder = random.bernoulli(0.5, 1, 1, 1)[chosen]
    if not len(chosen):
        return
    ink = mask[chosen]
    bold = ink.lerp(dilate(ink, 0, 1), amount)
    # Thin strokes keep their ridge: an erosion alone would wipe them out.
    thin = ink.lerp(erode(ink, 1, 1), 0.7 * amount)
    mask[chosen] = thin.lerp(bold, bolder)


def _hollow(mask: Mask, strength: float, random: Random) -> None:
    """Only the rim of the letters, where strokes are thick enough to have one."""
    chosen = random.subset(min(1.0, 0.05 * strength))
    left = random.uniform(0.0, 0.15, 1, 1, 1)[chosen]
    if not len(chosen):
        return
    ink = mask[chosen]
    core = erode(ink, 1, 1)
    thick = core.sum((2, 3), keepdim=True) > _LEAST_CORE * ink.sum((2, 3), keepdim=True)
    mask[chosen] = ink - core * (1 - left) * thick
