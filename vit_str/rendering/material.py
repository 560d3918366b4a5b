"""What ``vit-str render`` draws with."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from vit_str.runtime.charset import charset_of
from vit_str.synthesis.glyphs import GlyphAtlas
from vit_str.synthesis.ingredients import Ingredients
from vit_str.synthesis.lexicon import Lexicon
from vit_str.synthesis.pictures import load_pictures
from vit_str.synthesis.renderer import Renderer
from vit_str.torch_runtime.devices import choose_device

BATCH = 64
"""Words drawn together. Part of what a seed means: word 100 is the 37th of the second batch."""


@dataclass(frozen=True, slots=True)
class Look:
    """What words to draw, and how they look.

    Attributes:
        charset: see ``vit_str.runtime.charset.charset_of``.
        words: a file of words; None for those of the language.
        language: of the words.
        fonts: folders; None for the system's.
        held_out: draw in the fonts that training never sees.
        pictures: folders of pictures for backgrounds.
        size: height and width of the images.
        difficulty: 0 for clean words to 1 for the full mix.
        strengths: of ingredients, other than 1.
        device: to draw on.
    """

    charset: str = "ascii"
    words: Path | None = None
    language: str = "en"
    fonts: list[Path] | None = None
    held_out: bool = False
    pictures: list[Path] | None = None
    size: tuple[int, int] = (32, 128)
    difficulty: float = 1.0
    strengths: Mapping[str, float] = field(default_factory=dict)
    device: str = "cpu"


def renderer_of(look: Look) -> Renderer:
    """A renderer of words that look like this."""
    charset = charset_of(look.charset)
    device = choose_device(look.device)
    lexicon = Lexicon(charset, look.language, look.words)
    pictures = load_pictures(look.pictures) if look.pictures else None
    atlas = GlyphAtlas.load_or_build(charset, look.fonts)
    atlas = (atlas.held_out() if look.held_out else atlas).to(device)
    ingredients = Ingredients(**look.strengths).at(look.difficulty)
    return Renderer(
        atlas, lexicon, look.size, ingredients=ingredients, pictures=pictures, chunk=BATCH
    )
