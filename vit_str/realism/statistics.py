"""What word pictures and their labels are like: statistics, one number per picture.

Every one is of the pixels that a model sees.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Float64, UInt8
from torch import Tensor
from torch.nn.functional import conv2d

from vit_str.synthesis.fields import luminance

Pictures = UInt8[Tensor, "picture 3 height width"]
Luminance = Float[Tensor, "picture height width"]
"""From 0, black, to 255, white, as all gray levels here."""
Values = Float64[Tensor, " picture"]
"""One number per picture; NaN where a picture has none, such as the width of edges it lacks."""
Ink = Bool[Tensor, "picture height width"]


class Statistic(NamedTuple):
    """What a statistic is called where people read, in a few words, and the unit of its values."""

    title: str
    unit: str


STATISTICS: Mapping[str, Statistic] = {
    "brightness": Statistic("Brightness", "levels"),
    "contrast": Statistic("Contrast, RMS", "levels"),
    "michelson": Statistic("Contrast, Michelson", "1"),
    "colorfulness": Statistic("Colorfulness", "levels"),
    "sharpness": Statistic("Sharpness, Laplacian", "levels"),
    "edge_width": Statistic("Width of edges", "px"),
    "falloff": Statistic("Falloff of the spectrum", "1"),
    "noise": Statistic("Noise", "levels"),
    "blockiness": Statistic("Blockiness", "1"),
    "two_tone": Statistic("Two tones", "share"),
    "ground_spread": Statistic("Spread of ground", "levels"),
    "ink_spread": Statistic("Spread of ink", "levels"),
    "light_text": Statistic("Light on dark", "share"),
    "ink_share": Statistic("Ink", "share"),
    "stroke_width": Statistic("Width of strokes", "px"),
    "text_height": Statistic("Height of text", "share"),
    "text_width": Statistic("Width of text", "share"),
    "other_lines": Statistic("Other lines", "share"),
}
"""Of pictures. Sources and definitions are with the functions of the same names."""

LABEL_STATISTICS: Mapping[str, Statistic] = {
    "length": Statistic("Length of label", "characters"),
    "upper": Statistic("Upper case", "share"),
    "lower": Statistic("Lower case", "share"),
    "digits": Statistic("Digits", "share"),
    "symbols": Statistic("Symbols", "share"),
}
"""Of labels: characters, and which share of them is of a class."""


_LAPLACIAN = ((0, 1, 0), (1, -4, 1), (0, 1, 0))
_SOBEL = ((-1 / 8, 0, 1 / 8), (-2 / 8, 0, 2 / 8), (-1 / 8, 0, 1 / 8))
_IMMERKAER = ((1, -2, 1), (-2, 4, -2), (1, -2, 1))
_MEDIAN_OF_NORMAL = 0.6745  # of the absolute value, standard deviation 1
_BLOCK = 8  # of JPEG, in pixels
_FLAT = 2.0  # gray levels of contrast below which there is nothing to measure
_CHUNK = 256


def picture_statistics(pictures: Pictures) -> dict[str, Values]:
    """Every one of ``STATISTICS`` of every picture."""
    parts = [_of_chunk(chunk) for chunk in torch.split(pictures, _CHUNK)]
    return {name: torch.cat([part[name] for part in parts]).double() for name in STATISTICS}


def label_statistics(labels: Sequence[str]) -> dict[str, Values]:
    """Every one of ``LABEL_STATISTICS`` of every label."""
    classes: dict[str, Callable[[str], bool]] = {
        "upper": str.isupper,
        "lower": str.islower,
        "digits": str.isdigit,
        "symbols": lambda character: not character.isalnum() and not character.isspace(),
    }
    shares = {
        name: [sum(map(belongs, label)) / max(len(label), 1) for label in labels]
        for name, belongs in classes.items()
    }
    lengths = [float(len(label)) for label in labels]
    values = {"length": lengths, **shares}
    return {name: torch.tensor(each, dtype=torch.float64) for name, each in values.items()}


def _of_chunk(pictures: Pictures) -> dict[str, Tensor]:
    gray = luminance(pictures.float())[:, 0]
    threshold, two_tone = otsu(gray)
    ink, light_text = find_ink(gray, threshold)
    height, other_lines = lines(ink)
    return {
        "brightness": gray.mean((1, 2)),
        "contrast": gray.std((1, 2), correction=0),
        "michelson": michelson(gray),
        "colorfulness": colorfulness(pictures),
        "sharpness": sharpness(gray),
        "edge_width": edge_width(gray),
        "falloff": falloff(gray),
        "noise": noise(gray),
        "blockiness": blockiness(gray),
        "two_tone": two_tone,
        "ground_spread": _spread(gray, ~ink),
        "ink_spread": _spread(gray, ink),
        "light_text": light_text,
        "ink_share": ink.float().mean((1, 2)),
        "stroke_width": stroke_width(ink),
        "text_height": height,
        "text_width": text_width(ink),
        "other_lines": other_lines,
    }


def michelson(gray: Luminance) -> Float[Tensor, " picture"]:
    """(high - low) / (high + low), from 0 to 1, of the 95 % and the 5 % quantile.

    Michelson (1927) has the lightest and the darkest point, which here are noise.
    """
    low, high = gray.flatten(1).quantile(torch.tensor([0.05, 0.95]), 1)
    return (high - low) / (high + low).clamp(min=1e-6)


def colorfulness(pictures: Pictures) -> Float[Tensor, " picture"]:
    """Spread and mean of the opponent colors, in gray levels; 0 is gray.

    Hasler and Suesstrunk (2003), their second measure: 15 is slightly colorful, 59 quite, 109
    extremely.
    """
    red, green, blue = pictures.float().flatten(2).unbind(1)
    opponents = torch.stack([red - green, (red + green) / 2 - blue])
    spread = opponents.var(-1, correction=0).sum(0).sqrt()
    return spread + 0.3 * opponents.mean(-1).square().sum(0).sqrt()


def sharpness(gray: Luminance) -> Float[Tensor, " picture"]:
    """Standard deviation of the Laplacian, in gray levels (Pech-Pacheco et al. 2000).

    They take the variance. It grows with contrast and noise as well, see `edge_width`.
    """
    return _filtered(gray, _LAPLACIAN).std((1, 2), correction=0)


def edge_width(gray: Luminance) -> Float[Tensor, " picture"]:
    """How many pixels the steepest edges take from dark to light; about 2 at least.

    Contrast (95 % minus 5 % quantile) over the 99 % quantile of the gradient (Sobel), whatever the
    contrast, and little moved by noise. A Gaussian blur of s pixels makes an edge 2.5 s wide. NaN
    for a picture without contrast.
    """
    across, down = _filtered(gray, _SOBEL), _filtered(gray.mT, _SOBEL).mT
    steepest = (across.square() + down.square()).sqrt().flatten(1).quantile(0.99, 1)
    return _known(_contrast(gray) / steepest.clamp(min=1e-6), gray)


def falloff(gray: Luminance) -> Float[Tensor, " picture"]:
    """Exponent a of the power spectrum 1/f^a; white noise has 0, natural images about 2.

    Field (1987). A line through the logarithms, every octave alike, from 2 periods over the shorter
    side to 2 pixels per period; higher is smoother. NaN for a picture without contrast.
    """
    height, width = gray.shape[1:]
    window = torch.outer(torch.hann_window(height), torch.hann_window(width))
    power = torch.fft.rfft2((gray - gray.mean((1, 2), keepdim=True)) * window).abs().square()
    f = torch.fft.fftfreq(height)[:, None].hypot(torch.fft.rfftfreq(width))
    chosen = (f >= 2 / min(height, width)) & (f <= 0.5)
    x, weight = f[chosen].log(), f[chosen] ** -2  # there are f times more coefficients at f
    x = x - (weight * x).sum() / weight.sum()
    y = power[:, chosen].clamp(min=1e-3).log()
    return _known(-(y @ (weight * x)) / (weight * x * x).sum(), gray)


def noise(gray: Luminance) -> Float[Tensor, " picture"]:
    """Standard deviation of the noise in gray levels.

    The filter of Immerkaer (1996), which edges hardly pass, and the median of Donoho and Johnstone
    (1994) instead of the mean, as letters are edges in many places.
    """
    passed = _filtered(gray, _IMMERKAER).abs().flatten(1).median(1).values
    return passed / (6 * _MEDIAN_OF_NORMAL)


def blockiness(gray: Luminance) -> Float[Tensor, " picture"]:
    """Steps at the borders of 8 x 8 blocks over steps elsewhere; 1 is without blocks.

    After Wang, Sheikh and Bovik (2002). NaN for a picture without contrast or of one block.
    """
    at_borders, elsewhere = [], []
    for steps in (gray.diff(dim=2).abs().mean(1), gray.diff(dim=1).abs().mean(2)):
        border = torch.arange(1, steps.shape[1] + 1) % _BLOCK == 0
        at_borders.append(steps[:, border])
        elsewhere.append(steps[:, ~border])
    ratio = torch.cat(at_borders, 1).mean(1) / torch.cat(elsewhere, 1).mean(1).clamp(min=1e-6)
    return _known(ratio, gray)


def otsu(gray: Luminance) -> tuple[Float[Tensor, " picture"], Float[Tensor, " picture"]]:
    """The gray level that parts dark from light best, and how well it does.

    The second number is the share of the variance between the two classes, 1 for two flat tones.
    Otsu (1979), equations 17 and 12; a picture of one tone has 1.
    """
    levels = gray.round().long().clamp(0, 255).flatten(1)
    counts = torch.zeros(len(levels), 256, dtype=torch.float64)
    shares = counts.scatter_add_(1, levels, torch.ones(levels.shape, dtype=torch.float64))
    shares = shares / levels.shape[1]
    tones = torch.arange(256, dtype=torch.float64)
    dark, moment = shares.cumsum(1), (shares * tones).cumsum(1)
    mean = moment[:, -1:]
    between = (mean * dark - moment).square() / (dark * (1 - dark)).clamp(min=1e-9)
    between = torch.where((dark > 1e-9) & (dark < 1 - 1e-9), between, 0)
    most, threshold = between.max(1)
    variance = (shares * (tones - mean).square()).sum(1)
    explained = torch.where(variance > 1e-9, most / variance.clamp(min=1e-9), 1.0)
    return threshold.float() + 0.5, explained.float()


def find_ink(
    gray: Luminance, threshold: Float[Tensor, " picture"]
) -> tuple[Ink, Float[Tensor, " picture"]]:
    """Which pixels are letters, and whether (1 or 0) they are the light ones.

    The ground is the class that most pixels of the border belong to, two pixels wide: an estimate,
    wrong for crops that cut into large letters.
    """
    light = gray > threshold[:, None, None]
    border = torch.ones(gray.shape[1:], dtype=torch.bool)
    border[2:-2, 2:-2] = False
    light_ground = light[:, border].float().mean(1) > 0.5
    return light ^ light_ground[:, None, None], (~light_ground).float()


def stroke_width(ink: Ink) -> Float[Tensor, " picture"]:
    """Mean length of the runs of ink in a row, in pixels; NaN without ink."""
    before = torch.nn.functional.pad(ink, (1, 0))[..., :-1]
    runs = (ink & ~before).sum((1, 2))
    return ink.sum((1, 2)) / torch.where(runs > 0, runs.float(), math.nan)


def lines(ink: Ink) -> tuple[Float[Tensor, " picture"], Float[Tensor, " picture"]]:
    """Height of the line of text, and of what else has the ink of a line: shares of the height.

    Rows with at least a quarter as much ink as the fullest row, the longest run of them being the
    line, the others being parts of lines above or below.
    """
    profile = ink.float().mean(2)
    full = (profile >= profile.amax(1, keepdim=True) / 4) & (profile > 0)
    run = longest = torch.zeros(len(ink))
    for row in full.unbind(1):
        run = (run + 1) * row
        longest = torch.maximum(longest, run)
    height = ink.shape[1]
    return longest / height, (full.sum(1) - longest) / height


def text_width(ink: Ink) -> Float[Tensor, " picture"]:
    """Share of the width that holds the ink but for 2 % at each side; NaN without ink."""
    profile = ink.float().mean(1).cumsum(1)
    total = profile[:, -1:]
    held = (profile >= 0.02 * total) & (profile <= 0.98 * total)
    return torch.where(total[:, 0] > 0, held.float().mean(1), math.nan)


def _filtered(gray: Luminance, kernel: Sequence[Sequence[float]]) -> Luminance:
    return conv2d(gray[:, None], torch.tensor(kernel, dtype=gray.dtype)[None, None])[:, 0]


def _contrast(gray: Luminance) -> Float[Tensor, " picture"]:
    low, high = gray.flatten(1).quantile(torch.tensor([0.05, 0.95]), 1)
    return high - low


def _known(values: Float[Tensor, " picture"], gray: Luminance) -> Float[Tensor, " picture"]:
    """NaN for pictures in which there is nothing to measure."""
    return torch.where(gray.std((1, 2), correction=0) > _FLAT, values, math.nan)


def _spread(gray: Luminance, chosen: Ink) -> Float[Tensor, " picture"]:
    """Standard deviation of some pixels in gray levels; NaN where there are none."""
    count = chosen.sum((1, 2))
    mean = (gray * chosen).sum((1, 2)) / count
    squares = ((gray - mean[:, None, None]).square() * chosen).sum((1, 2))
    return (squares / count).sqrt()
