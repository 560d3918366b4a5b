"""An atlas of the few fonts that come with matplotlib, which the training extra installs."""

import pytest
from filelock import FileLock

from vit_str.characters.charset import Charset
from vit_str.synthesis.glyph_drawing import draw_glyphs
from vit_str.synthesis.glyphs import GlyphAtlas
from vit_str.synthesis.lexicon import Lexicon
from vit_str.synthesis.renderer import Renderer

FONTS = (
    "DejaVuSans.ttf",
    "DejaVuSans-Oblique.ttf",
    "DejaVuSerif-Bold.ttf",
    "STIXGeneral.ttf",
)


@pytest.fixture(scope="session")
def atlas(matplotlib_fonts, shared_folder) -> GlyphAtlas:
    """Of four fonts, drawn once for a whole test run."""
    path = shared_folder / "four-fonts.safetensors"
    with FileLock(path.with_suffix(".lock")):
        if not path.is_file():
            paths = [matplotlib_fonts / name for name in FONTS]
            draw_glyphs(paths, Charset())[0].save(path)
    return GlyphAtlas.load(path)


@pytest.fixture(scope="session")
def renderer(atlas) -> Renderer:
    return Renderer(atlas, Lexicon(atlas.charset))
