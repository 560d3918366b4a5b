"""Rendered words for the studies of vision: the same on every machine, in matplotlib's fonts."""

from collections.abc import Iterator, Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from vit_str.analysis.material import Batch, Material
from vit_str.charset import Charset
from vit_str.synthesis.glyphs import GlyphAtlas
from vit_str.synthesis.lexicon import Lexicon
from vit_str.synthesis.renderer import RenderedBatch, Renderer

ONLY_WORDS: Mapping[str, float] = {"words": 1.0}
ANY_STRINGS: Mapping[str, float] = {"contextless": 1.0}


def word_renderer(
    charset: Charset,
    image_size: tuple[int, int] = (32, 128),
    grid: tuple[int, int] = (4, 16),
    shares: Mapping[str, float] = ONLY_WORDS,
    maximum_length: int = 25,
) -> Renderer:
    """What draws words of a charset.

    The fonts of the system would be more, but other ones on every machine, and drawing all of
    their characters at first use takes minutes.

    Args:
        charset: the characters that may occur.
        image_size: height and width of a picture, in pixels.
        grid: rows and columns of tokens, see ``RenderedBatch.token_characters``.
        shares: of the kinds of strings, see `Lexicon`.
        maximum_length: of a string, in characters.
    """
    lexicon = Lexicon(charset, weights=shares, maximum_length=maximum_length)
    return Renderer(_atlas(charset), lexicon, image_size, grid)


class DrawnWords(Material):
    """A rendered batch, as the attention lab takes images."""

    def __init__(self, batch: RenderedBatch, charset: Charset) -> None:
        self._batch, self._charset = batch, charset
        self.count, self.skipped = len(batch), []
        self.description = f"{self.count:,} rendered words"

    def batches(self, size: int = 32) -> Iterator[Batch]:
        for start in range(0, self.count, size):
            part = slice(start, start + size)
            yield Batch(
                self._batch.images[part],
                [self._charset.decode(ids) for ids in self._batch.labels[part].tolist()],
                self._batch.boxes[part],
                [f"rendered {place:06d}" for place in range(self.count)[part]],
            )


@cache
def _atlas(charset: Charset) -> GlyphAtlas:
    spec = find_spec("matplotlib")  # finds the folder without importing the library
    if spec is None or spec.origin is None:
        raise ValueError("rendered words need fonts: pip install 'vit-str[analyze]'")
    return GlyphAtlas.load_or_build(charset, [Path(spec.origin).parent / "mpl-data/fonts/ttf"])
