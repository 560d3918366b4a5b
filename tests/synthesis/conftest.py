"""An atlas of the few fonts that come with matplotlib, which the training extra installs."""

from pathlib import Path

import pytest

from vit_str.charset import Charset
from vit_str.synthesis.glyphs import GlyphAtlas
from vit_str.synthesis.lexicon import Lexicon
from vit_str.synthesis.renderer import Renderer

FONTS = ("DejaVuSans.ttf", "DejaVuSans-Oblique.ttf", "DejaVuSerif-Bold.ttf", "STIXGeneral.ttf")


@pytest.fixture(scope="session")
def atlas(matplotlib_fonts: Path) -> GlyphAtlas:
    return GlyphAtlas.build([matplotlib_fonts / name for name in FONTS], Charset())[0]


@pytest.fixture(scope="session")
def renderer(atlas: GlyphAtlas) -> Renderer:
    return Renderer(atlas, Lexicon(atlas.charset))
