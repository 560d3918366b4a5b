"""Draws the characters of fonts, and judges which fonts can be used."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import torch

from vit_str.characters.charset import Charset
from vit_str.synthesis.fonts import Rejection
from vit_str.synthesis.glyph_quality import flaw, judge
from vit_str.synthesis.glyphs import GlyphAtlas, starts_of
from vit_str.synthesis.ink_levels import in_levels
from vit_str.synthesis.rasterize import HEIGHT, is_blackletter
from vit_str.synthesis.rasterize_parallel import rasterize_parallel

Drawing = Mapping[str, np.ndarray]
"""Arrays of `rasterize_many` for some fonts."""


def draw_glyphs(
    paths: Sequence[Path],
    charset: Charset,
    resume: Path | None = None,
) -> tuple[GlyphAtlas, list[Rejection]]:
    """Draw every character in the first face of all fonts; sort out fonts that cannot be used.

    Args:
        paths: of the fonts.
        charset: the characters to draw.
        resume: see `rasterize_parallel`.
    """
    accepted: list[str] = []
    rejections: list[Rejection] = []
    drawings: list[Drawing] = []
    for batch, drawing in rasterize_parallel(paths, charset.characters, resume):
        accepted += [batch[place] for place in drawing["used"]]
        for path, reason in zip(batch, drawing["reasons"], strict=True):
            if reason:
                rejections.append(Rejection(path, str(reason)))
        if drawing["used"].size:
            drawings.append(drawing)
    if not accepted:
        return _empty(charset), rejections
    everything, flaws = _judged(drawings, accepted, charset)
    kept = []
    for place, (path, why) in enumerate(zip(accepted, flaws, strict=True)):
        if why:
            rejections.append(Rejection(path, why))
        else:
            kept.append(place)
    rejections.sort(key=lambda rejection: rejection.path)
    return everything.select(kept).compact(), rejections


def _judged(
    drawings: Sequence[Drawing], paths: Sequence[str], charset: Charset
) -> tuple[GlyphAtlas, list[str]]:
    """All fonts that are drawn, with why each of them should not be used, empty if it can."""
    families = _joined(drawings, "families")
    variants = _joined(drawings, "variants")
    names = [
        _name(str(family), path, str(variant))
        for family, path, variant in zip(families, paths, variants, strict=True)
    ]
    blackletter = torch.tensor([is_blackletter(name) for name in names])
    quality = judge(
        torch.from_numpy(_joined(drawings, "shapes")),
        torch.from_numpy(_joined(drawings, "drawn")),
        charset.characters,
        blackletter,
    )
    widths = torch.from_numpy(_joined(drawings, "widths"))
    atlas = GlyphAtlas(
        columns=torch.from_numpy(in_levels(_joined(drawings, "columns"))),
        starts=starts_of(widths),
        widths=widths,
        bearings=torch.from_numpy(_joined(drawings, "bearings")),
        advances=torch.from_numpy(_joined(drawings, "advances")),
        is_correct=quality.is_correct,
        names=names,
        charset=charset,
    )
    judged = zip(
        quality.is_correct,
        quality.recognized.tolist(),
        blackletter.tolist(),
        strict=True,
    )
    flaws = [
        flaw(is_correct, recognized, charset.characters, is_old)
        for is_correct, recognized, is_old in judged
    ]
    return atlas, flaws


def _empty(charset: Charset) -> GlyphAtlas:
    none = torch.zeros(0, len(charset))
    return GlyphAtlas(
        columns=torch.zeros(0, HEIGHT, dtype=torch.uint8),
        starts=none.long(),
        widths=none.long(),
        bearings=none,
        advances=none,
        is_correct=none.bool(),
        names=[],
        charset=charset,
    )


def _joined(drawings: Sequence[Drawing], key: str) -> np.ndarray:
    """One array of all drawings, font after font."""
    return np.concatenate([drawing[key] for drawing in drawings])


def _name(family: str, path: str, variant: str) -> str:
    """Family, file and variant of a font, as `fonts.family_of` takes them apart."""
    name = f"{family.replace('/', ' ')}/{Path(path).stem}"
    return f"{name} ({variant})" if variant else name
