"""Print of today: rules, worn ink, copies, and how scanners see them.

Ink and brightness go from 0 to 1, difficulty from 0 (clean) to 1; shares are of lines, lengths in
pixels of the scan.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor

from vit_str.synthesis.fields import Images, Mask, pixel_columns, pixel_rows, spread
from vit_str.synthesis.optics import gaussian
from vit_str.synthesis.random_numbers import Random, Range

Colors = Float[Tensor, "batch 3 1 1"]


@dataclass(frozen=True)
class _Spacing:
    """Beyond that of the font, in pixels of the atlas; by eye."""

    pixels: Range = -1.5, 5.0
    share: float = 0.3


@dataclass(frozen=True)
class _Rules:
    """Printed lines, in heights of the picture from its top unless said otherwise; by eye."""

    half_width: Range = 0.4, 1.2  # pixels of the scan
    slope: float = 0.04  # deviation of the rise from end to end
    underline: Range = 0.84, 1.0
    underline_share: float = 0.12
    overline: Range = 0.0, 0.07
    overline_share: float = 0.06
    side: Range = 0.0, 1.5  # pixels of the scan from the edge
    side_share: float = 0.05  # of the left ends, and of the right ones


@dataclass(frozen=True)
class _Wear:
    """Effects of printers and copiers on ink; by eye. Shares grow with difficulty."""

    boldness: float = 0.35  # deviation of the logarithm of the factor for ink
    boldnesses: Range = 0.7, 2.2
    needles_share: float = 0.08  # of the lines are printed in dots
    needles_least_rows: int = 18  # of a scan that shows dots
    pitch: Range = 0.075, 0.11  # from dot to dot, in heights of the line
    dot_level: float = 0.75  # ink between the dots
    dot_depth: float = 0.6
    faded_share: float = 0.25
    loss: Range = 0.2, 0.65
    loss_deviation: float = 1.5  # from place to place
    loss_grid: tuple[int, int] = (2, 8)  # random values over the line
    specks_share: float = 0.3
    speck: Range = 2.0, 3.4  # deviations of noise from which on there is a speck
    copied_share: float = 0.3
    level: Range = 0.25, 0.55  # of blurred ink that a copier takes for black
    grain: Range = 0.0, 0.16  # deviation of the brightness that a copier sees
    sharpness: float = 0.6  # share of the ink before the blur of a copier
    steepness: float = 12.0  # of the edge between paper and ink


@dataclass(frozen=True)
class _Exposure:
    """Paper, ink and light as scanners see them; by eye."""

    blur_share: float = 0.45  # grows with difficulty
    blur: Range = 0.25, 1.0  # deviation in pixels of a scan of `blur_rows` rows or more
    blur_rows: int = 28
    tint: float = 0.05  # deviation of each color of paper
    tint_share: float = 0.25
    paper: Range = 0.72, 1.0
    darkest_paper: float = 0.5
    contrast: Range = 0.3, 1.0
    strong_contrast: float = 0.8
    strong_share: float = 0.6
    ink: Range = 0.0, 0.5  # each color of colored ink
    colored_share: float = 0.15
    inverted_share: float = 0.06  # white on black
    light: Range = 0.0, 0.1  # deviation of brightness from place to place
    light_grid: tuple[int, int] = (2, 4)  # random values over the line
    noise: Range = 0.0, 0.28  # over the contrast; the square is taken


_SPACING = _Spacing()
_RULES = _Rules()
_WEAR = _Wear()
_EXPOSURE = _Exposure()


def spacing(texts: Sequence[str], random: Random) -> Float[Tensor, "batch 1"]:
    """Pixels of the atlas behind every character: none, or the same for a whole line."""
    pixels = random.uniform(*_SPACING.pixels) * random.bernoulli(_SPACING.share)
    return pixels[:, None]


def press(mask: Mask, difficulty: float, random: Random) -> Mask:
    """Ink after printers and copiers, with rules beside it; draws rules into ``mask``."""
    _add_rules(mask, difficulty, random)
    mask = _with_weight(mask, random)
    _add_needles(mask, difficulty, random)
    # What is faded is not copied too: nothing would be left.
    damage = random.uniform(0, 1)
    _fade(mask, damage < _WEAR.faded_share * difficulty, random)
    noise = random.pixels(1, *mask.shape[-2:])
    _add_specks(mask, noise, difficulty, random)
    _copy(mask, noise, damage > 1 - _WEAR.copied_share * difficulty, random)
    return mask


def expose(mask: Mask, difficulty: float, random: Random) -> Images:
    """Paper and ink in color, light, focus and noise; blurs ``mask`` in place."""
    size = mask.shape[-2:]
    _soften(mask, difficulty, random)
    paper = _sample_paper(random)
    contrast = _sample_contrast(random)
    ink = paper * (1 - contrast) + _sample_ink(random) * contrast
    is_inverted = random.bernoulli(_EXPOSURE.inverted_share, 1, 1, 1)
    background = paper.lerp(ink, is_inverted)
    letters = ink.lerp(paper, is_inverted)
    light = random.normal(1.0, 1, *_EXPOSURE.light_grid)
    light = light * random.uniform(*_EXPOSURE.light, 1, 1, 1)
    grain = random.uniform(*_EXPOSURE.noise, 1, 1, 1).square()
    grain = grain * contrast * difficulty
    noise = random.pixels(1, *size) * grain
    lit = background.lerp(letters, mask) * (1 + spread(light, size))
    return (lit + noise).clamp_(0, 1)


def _add_rules(mask: Mask, difficulty: float, random: Random) -> None:
    """Underlines, and the sides of boxes and tables, in place."""
    height, width = mask.shape[-2:]
    rows = pixel_rows(mask) / height
    columns = pixel_columns(mask)
    half_width = random.uniform(*_RULES.half_width, 1, 1, 1)
    slope = random.normal(_RULES.slope, 1, 1, 1) * (columns / width - 0.5)
    underline = random.uniform(*_RULES.underline, 1, 1, 1)
    overline = random.uniform(*_RULES.overline, 1, 1, 1)
    level_rules = (
        (underline, _RULES.underline_share),
        (overline, _RULES.overline_share),
    )
    for place, share in level_rules:
        is_drawn = random.bernoulli(share * difficulty, 1, 1, 1)
        distance = (rows - place - slope).abs() * height
        _draw_rule(mask, half_width - distance, is_drawn)
    for side in (0, width):
        is_drawn = random.bernoulli(_RULES.side_share * difficulty, 1, 1, 1)
        inset = random.uniform(*_RULES.side, 1, 1, 1)
        distance = (columns - side).abs() - inset
        _draw_rule(mask, half_width - distance, is_drawn)


def _draw_rule(
    mask: Mask,
    inside: Float[Tensor, "batch 1 row column"],
    is_drawn: Float[Tensor, "batch 1 1 1"],
) -> None:
    """Ink in pixels that are inside of a rule, with an edge of one pixel, in place."""
    rule = (inside + 0.5).clamp(0, 1) * is_drawn
    mask.copy_(mask.maximum(rule))


def _with_weight(mask: Mask, random: Random) -> Mask:
    """Bold or thin."""
    factor = random.normal(_WEAR.boldness, 1, 1, 1).exp()
    factor = factor.clamp(*_WEAR.boldnesses)
    return (mask * factor).clamp_(max=1)


def _add_needles(mask: Mask, difficulty: float, random: Random) -> None:
    """Lines of a printer that prints dots, in place."""
    height = mask.shape[-2]
    chosen = random.subset(_WEAR.needles_share * difficulty)
    if not len(chosen) or height < _WEAR.needles_least_rows:
        return
    pitch = height * random.uniform(*_WEAR.pitch, 1, 1, 1)[chosen]
    turn = 2 * math.pi / pitch
    down = (pixel_rows(mask) * turn).cos()
    across = (pixel_columns(mask) * turn).cos()
    dots = down + across
    mask[chosen] *= (_WEAR.dot_level + _WEAR.dot_depth * dots).clamp(0, 1)


def _fade(mask: Mask, is_faded: Bool[Tensor, " batch"], random: Random) -> None:
    """Ink that is partly gone, in place."""
    chosen = is_faded.nonzero()[:, 0]
    loss = random.uniform(*_WEAR.loss, 1, 1, 1)[chosen]
    where = random.normal(_WEAR.loss_deviation, 1, *_WEAR.loss_grid)[chosen]
    if len(chosen):
        mask[chosen] *= 1 - loss * spread(where, mask.shape[-2:]).sigmoid()


def _add_specks(mask: Mask, noise: Mask, difficulty: float, random: Random) -> None:
    """Dark and bright specks of about two pixels, in place."""
    chosen = random.subset(_WEAR.specks_share * difficulty)
    limit = random.uniform(*_WEAR.speck, 1, 1, 1)[chosen]
    if not len(chosen):
        return
    height, width = mask.shape[-2:]
    # Twice the mean of four numbers varies as much as each of them.
    means = F.avg_pool2d(noise[chosen], 2, stride=1, padding=1)
    spots = means[..., :height, :width] * 2
    dark = (spots > limit).float()
    bright = (spots < -limit).float()
    mask[chosen] = (mask[chosen] + dark - bright).clamp(0, 1)


def _copy(
    mask: Mask,
    noise: Mask,
    is_copied: Bool[Tensor, " batch"],
    random: Random,
) -> None:
    """Ink as a copier leaves it: black or white, with rough edges, in place."""
    chosen = is_copied.nonzero()[:, 0]
    level = random.uniform(*_WEAR.level, 1, 1, 1)[chosen]
    grain = random.uniform(*_WEAR.grain, 1, 1, 1)[chosen]
    if not len(chosen):
        return
    ink = mask[chosen]
    means = F.avg_pool2d(ink, 3, stride=1, padding=1)
    blurred = means.lerp(ink, _WEAR.sharpness)
    level = level * blurred.amax((2, 3), keepdim=True)
    seen = blurred + noise[chosen] * grain
    mask[chosen] = ((seen - level) * _WEAR.steepness).sigmoid()


def _soften(mask: Mask, difficulty: float, random: Random) -> None:
    """Out of focus, in place; less where a scan has few pixels."""
    chosen = random.subset(_EXPOSURE.blur_share * difficulty)
    deviation = random.uniform(*_EXPOSURE.blur, 1, 1, 1)[chosen]
    deviation = deviation * min(1.0, mask.shape[-2] / _EXPOSURE.blur_rows)
    if len(chosen):
        mask[chosen] = gaussian(mask[chosen], deviation, taps=3)


def _sample_paper(random: Random) -> Colors:
    """White to gray, at times with a tint."""
    tint = random.normal(_EXPOSURE.tint, 3, 1, 1)
    tint = tint * random.bernoulli(_EXPOSURE.tint_share, 1, 1, 1)
    brightness = random.uniform(*_EXPOSURE.paper, 1, 1, 1)
    return (brightness + tint).clamp(_EXPOSURE.darkest_paper, 1)


def _sample_contrast(random: Random) -> Float[Tensor, "batch 1 1 1"]:
    """Contrast from paper to ink; mostly strong."""
    any_contrast = random.uniform(*_EXPOSURE.contrast, 1, 1, 1)
    is_strong = random.bernoulli(_EXPOSURE.strong_share, 1, 1, 1)
    return any_contrast.maximum(is_strong * _EXPOSURE.strong_contrast)


def _sample_ink(random: Random) -> Colors:
    """Black, at times a dark color."""
    color = random.uniform(*_EXPOSURE.ink, 3, 1, 1)
    return color * random.bernoulli(_EXPOSURE.colored_share, 1, 1, 1)
