"""Displays and subtitles: ink, ground and light of words that are shown, not printed.

Pictures are changed in place. Colors, brightness and opacities are from 0 to 1, lengths in pixels.
"""

import math
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int64
from torch import Tensor

from vit_str.characters.charset import PADDING
from vit_str.synthesis.fields import (
    Images,
    Mask,
    dilate,
    erode,
    pixel_columns,
    pixel_rows,
    shifted,
    smooth,
    spread,
)
from vit_str.synthesis.random_numbers import Random, Range, upload
from vit_str.synthesis.text_styles import LCD, LED, RED_TAIL, TextStyles

Colors = Float[Tensor, "batch 3 1 1"]


@dataclass(frozen=True)
class _Lcd:
    """Dark on gray or green, at times light on blue or black; by eye."""

    dark: Range = 0.3, 0.5  # brightness of the ground
    light: Range = 0.5, 0.8
    light_share: float = 0.6
    green: Range = 0.0, 0.12  # how much less red and blue there is than green
    ink: Range = 0.02, 0.22
    inverted_share: float = 0.15
    blue: tuple[float, float, float] = (
        0.12,
        0.22,
        0.75,
    )  # of an inverted ground, at most
    shadow_share: float = 0.5
    shadow: Range = 0.1, 0.35
    grid_share: float = 0.3
    grid: Range = 0.02, 0.1  # depth of the lines between pixels
    pitch: Range = 2.0, 3.5
    light_grid: tuple[int, int] = (2, 3)
    falloff: float = 0.06  # deviation of brightness from place to place


@dataclass(frozen=True)
class _Led:
    """Lamps on black; by eye."""

    ground: Range = 0.0, 0.14
    core: Range = 0.0, 0.6  # how white lamps are
    power: Range = 0.2, 1.1  # of the glow
    brightest_glow: float = 0.6
    reach: int = 4
    colors: tuple[tuple[float, float, float], ...] = (
        (1.0, 0.1, 0.05),
        (1.0, 0.2, 0.1),
        (1.0, 0.1, 0.05),
        (0.2, 1.0, 0.3),
        (0.3, 1.0, 0.2),
        (1.0, 0.65, 0.1),
        (0.3, 0.6, 1.0),
        (0.4, 1.0, 0.95),
        (1.0, 1.0, 1.0),
    )


@dataclass(frozen=True)
class _Subtitle:
    """Letters over films; by eye."""

    yellow_share: float = 0.3
    yellow: tuple[float, float, float] = (1.0, 0.9, 0.2)
    dimmest: Range = 0.82, 1.0
    border: Range = 0.0, 0.12  # brightness
    wide_share: float = 0.5
    shadow_share: float = 0.3


@dataclass(frozen=True)
class _RedTail:
    """The last wheel of a counter; by eye."""

    red: Range = 0.55, 0.85
    others: Range = 0.03, 0.2


_DIGIT_STROKE = 3  # pixels, half the width of the thickest strokes of wheels
_LCD = _Lcd()
_LED = _Led()
_SUBTITLE = _Subtitle()
_RED_TAIL = _RedTail()


def show_on_displays(
    image: Images, ink: Colors, mask: Mask, styles: TextStyles, random: Random
) -> None:
    """Put the ground of displays behind their letters, and their color into the ink."""
    device = image.device
    looks = torch.tensor(styles.looks)
    _show_lcd(image, ink, mask, _rows(looks == LCD, device), random)
    _show_led(image, ink, mask, _rows(looks == LED, device), random)
    subtitles = _rows(torch.tensor(styles.is_subtitle), device)
    _show_subtitles(image, ink, mask, subtitles, random)


def color_displays(
    fill: Images,
    ink: Colors,
    boxes: Float[Tensor, "batch position side"],
    ids: Int64[Tensor, "batch position"],
    styles: TextStyles,
    random: Random,
) -> None:
    """Give displays and wheels one color, and the last wheel of some counters a red ground.

    With patterns in them, what is lit could not be told from what is not.
    """
    rows = _rows(torch.tensor(styles.faces) >= 0, fill.device)
    if len(rows):
        fill[rows] = ink[rows].expand(-1, -1, *fill.shape[-2:])
    red = random.uniform(*_RED_TAIL.red, 1, 1, 1)
    others = random.uniform(*_RED_TAIL.others, 2, 1, 1)
    rows = _rows(torch.tensor(styles.looks) == RED_TAIL, fill.device)
    if not len(rows):
        return
    last = (ids[rows] != PADDING).sum(1) - 1
    sides = boxes[rows].gather(1, last[:, None, None].expand(-1, 1, 4))
    left, top, right, bottom = sides[:, :, :, None, None].unbind(2)
    column = pixel_columns(fill)
    row = pixel_rows(fill)
    is_last = (column > left - 1) & (column < right + 1)
    is_last = is_last & (row > top - 1) & (row < bottom + 1)
    color = torch.cat([red, others], 1)[rows]
    fill[rows] = torch.where(is_last, color, fill[rows])


def letters_seen(mask: Mask, styles: TextStyles) -> Mask:
    """Where ink says what is read: on wheels that is what windows leave out, else the mask."""
    rows = _rows(torch.tensor(styles.are_windows), mask.device)
    if not len(rows):
        return mask
    windows = mask[rows]
    closed = erode(
        dilate(windows, _DIGIT_STROKE, _DIGIT_STROKE), _DIGIT_STROKE, _DIGIT_STROKE
    )
    return mask.index_copy(0, rows, (closed - windows).clamp(0, 1))


def _rows(is_chosen: Tensor, device: torch.device) -> Int64[Tensor, " chosen"]:
    return upload(is_chosen.nonzero()[:, 0], device)


def _show_lcd(
    image: Images,
    ink: Colors,
    mask: Mask,
    rows: Int64[Tensor, " chosen"],
    random: Random,
) -> None:
    is_light = random.bernoulli(_LCD.light_share, 1, 1, 1)
    dark = random.uniform(*_LCD.dark, 1, 1, 1)
    light = random.uniform(*_LCD.light, 1, 1, 1)
    green = random.uniform(*_LCD.green, 2, 1, 1)
    letters = random.uniform(*_LCD.ink, 1, 1, 1)
    is_inverted = random.bernoulli(_LCD.inverted_share, 1, 1, 1)
    blue = random.uniform(0, 1, 1, 1, 1)
    falloff = random.normal(_LCD.falloff, 1, *_LCD.light_grid)
    shadow = random.uniform(*_LCD.shadow, 1, 1, 1)
    shadow = shadow * random.bernoulli(_LCD.shadow_share, 1, 1, 1)
    down = random.integers(2) + 1
    right = random.integers(3) - 1
    depth = random.uniform(*_LCD.grid, 1, 1, 1)
    depth = depth * random.bernoulli(_LCD.grid_share, 1, 1, 1)
    pitch = random.uniform(*_LCD.pitch, 1, 1, 1)
    if not len(rows):
        return
    brightness = torch.where(is_light > 0, light, dark)
    gray = torch.cat(
        [brightness - green[:, :1], brightness, brightness - green[:, 1:]], 1
    )
    most = upload(torch.tensor(_LCD.blue), image.device).view(1, 3, 1, 1)
    ground = torch.where(is_inverted > 0, most * blue, gray)
    color = torch.where(is_inverted > 0, 1 - letters, letters).expand(-1, 3, -1, -1)
    panel = ground[rows] + spread(falloff[rows], image.shape[-2:])
    cast = shifted(mask.index_select(0, rows), down[rows], right[rows])
    panel = panel.lerp(color[rows], cast * shadow[rows])
    turn = 2 * math.pi / pitch[rows]
    across = (pixel_columns(image) * turn).cos()
    along = (pixel_rows(image) * turn).cos()
    image[rows] = panel * (1 - depth[rows] * across.maximum(along).clamp(min=0))
    ink[rows] = color[rows]


def _show_led(
    image: Images,
    ink: Colors,
    mask: Mask,
    rows: Int64[Tensor, " chosen"],
    random: Random,
) -> None:
    ground = random.uniform(*_LED.ground, 3, 1, 1)
    core = random.uniform(*_LED.core, 1, 1, 1)
    power = random.uniform(*_LED.power, 1, 1, 1)
    which = random.integers(len(_LED.colors))
    if not len(rows):
        return
    colors = upload(torch.tensor(_LED.colors), image.device)[which[rows]][
        ..., None, None
    ]
    near = smooth(mask[rows], _LED.reach, _LED.reach)
    glow = (near * power[rows]).clamp(max=_LED.brightest_glow)
    image[rows] = ground[rows].lerp(colors, glow)
    ink[rows] = colors.lerp(torch.ones_like(colors), core[rows])


def _show_subtitles(
    image: Images,
    ink: Colors,
    mask: Mask,
    rows: Int64[Tensor, " chosen"],
    random: Random,
) -> None:
    is_yellow = random.bernoulli(_SUBTITLE.yellow_share, 1, 1, 1)
    dim = random.uniform(*_SUBTITLE.dimmest, 1, 1, 1)
    border = random.uniform(*_SUBTITLE.border, 1, 1, 1)
    is_wide = random.bernoulli(_SUBTITLE.wide_share, 1, 1, 1)
    has_shadow = random.bernoulli(_SUBTITLE.shadow_share, 1, 1, 1)
    if not len(rows):
        return
    yellow = upload(torch.tensor(_SUBTITLE.yellow), image.device).view(1, 3, 1, 1)
    white = torch.ones_like(yellow)
    ink[rows] = (torch.where(is_yellow > 0, yellow, white) * dim)[rows]
    near = dilate(mask.index_select(0, rows), 1, 1)
    around = near.lerp(dilate(near, 1, 1), is_wide[rows])
    one = torch.ones_like(rows)
    around = around.maximum(shifted(around, one, one) * has_shadow[rows])
    image[rows] = image.index_select(0, rows).lerp(
        border[rows].expand(-1, 3, -1, -1), around
    )
