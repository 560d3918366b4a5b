"""Materials for drawing: glyphs, lists of words, pictures as backgrounds."""

import json
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Protocol

import torch
from jaxtyping import UInt8
from torch import Tensor

from vit_str.characters.charset import Charset
from vit_str.synthesis.fonts import NO_FONTS, find_fonts
from vit_str.synthesis.glyph_cache import load_or_draw_glyphs
from vit_str.synthesis.glyphs import GlyphAtlas
from vit_str.synthesis.pictures import decoded, picture_tiles
from vit_str.synthesis.word_list_cache import WordList, keep_word_lists

Pictures = UInt8[Tensor, "picture 3 height width"]


class Materials(Protocol):
    """Where a renderer and its texts take what they need from."""

    @property
    def pictures(self) -> Pictures | None:
        """Tiles of photographs to use as backgrounds, if there are any."""

    @property
    def charsets(self) -> list[Charset]:
        """The characters to draw if nobody says which, at first."""

    def language(self, charset: Charset) -> str:
        """The language to write with some characters if nobody says which."""

    def atlas(self, charset: Charset) -> GlyphAtlas:
        """The glyphs of some characters, of all fonts there are."""

    def word_lists(
        self, settings: Sequence[object], gather: Callable[[], list[WordList]]
    ) -> list[WordList]:
        """Lists of words, see `keep_word_lists`."""


class InstalledMaterials:
    """The fonts, word lists and pictures of this machine; remembers what it has given.

    Args:
        fonts: folders of fonts instead of the system's.
        pictures: folders of photographs, if there are any.

    Raises:
        ValueError: there are no fonts, or none of the pictures can be read.
    """

    def __init__(
        self,
        fonts: Sequence[Path] | None = None,
        pictures: Sequence[Path] | None = None,
    ) -> None:
        if not find_fonts(fonts):
            raise ValueError(f"found no fonts to render with; {NO_FONTS}")
        self.fonts = fonts
        self.tiles = picture_tiles(pictures) if pictures else []
        self.given_atlases: dict[Charset, GlyphAtlas] = {}
        self.given_lists: dict[str, list[WordList]] = {}

    @cached_property
    def pictures(self) -> Pictures | None:
        """Tiles of the photographs, if there are any."""
        if not self.tiles:
            return None
        return torch.stack(list(map(decoded, self.tiles)))

    @property
    def charsets(self) -> list[Charset]:
        """Printable ASCII."""
        return [Charset()]

    def language(self, charset: Charset) -> str:
        """English."""
        return "en"

    def atlas(self, charset: Charset) -> GlyphAtlas:
        """The glyphs of the fonts, drawn if the cache does not have them."""
        atlas = load_or_draw_glyphs(charset, self.fonts)
        self.given_atlases[charset] = atlas
        return atlas

    def word_lists(
        self, settings: Sequence[object], gather: Callable[[], list[WordList]]
    ) -> list[WordList]:
        """The lists of ``gather``, or those of the cache."""
        lists = keep_word_lists(settings, gather)
        self.given_lists[key_of(settings)] = lists
        return lists


def key_of(settings: Sequence[object]) -> str:
    """The settings of lists of words as one string."""
    return json.dumps(settings, ensure_ascii=False)
