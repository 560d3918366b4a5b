"""A kit: everything that drawing needs in one file, for machines without fonts and word lists.

Whoever rents a GPU has no fonts there. `write_kit` keeps what a run takes from this machine:
glyphs, lists of words and backgrounds, compressed; `Kit` gives the same again, so that the same
seed draws the same images from the file as from the fonts.
"""

import json
import lzma
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from io import BytesIO
from pathlib import Path

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from vit_str import console
from vit_str.characters.charset import Charset
from vit_str.files import write_atomically
from vit_str.machine import cpu_count
from vit_str.synthesis.glyphs import GlyphAtlas
from vit_str.synthesis.ink_levels import INK_STEP
from vit_str.synthesis.materials import InstalledMaterials, Pictures, key_of
from vit_str.synthesis.pictures import decoded
from vit_str.synthesis.word_list_cache import WordList, arrays_of, lists_of

_FORMAT = "vit-str kit"
_VERSION = "1"
_FONTS_TOGETHER = 32  # in one compressed piece
_OF_FONTS = ("widths", "bearings", "advances", "is_correct")
_OF_LISTS = ("text", "shares", "sizes", "weights")
_INK = "ink"
_LEVEL_BITS = 4  # of the ink of a pixel

Arrays = dict[str, np.ndarray]


class Kit:
    """The materials in a file of `write_kit`; each part is read when it is asked for.

    Args:
        path: the file.

    Raises:
        ValueError: for a file that is no kit, or one of another version.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            with safe_open(path, framework="np") as file:
                metadata = file.metadata() or {}
        except (OSError, SafetensorError) as error:
            raise ValueError(f"cannot read the kit {path}: {error}") from None
        if (metadata.get("format"), metadata.get("version")) != (_FORMAT, _VERSION):
            raise ValueError(
                f"{path} is no kit of version {_VERSION}; write one with vit-str kit"
            )
        self._fonts: dict[str, list[str]] = json.loads(metadata["fonts"])
        self._lists: list[str] = json.loads(metadata["lists"])
        self._picture_sizes: list[int] = json.loads(metadata["pictures"])
        self._page_files: int = json.loads(metadata.get("pages", "0"))
        self._atlases: dict[Charset, GlyphAtlas] = {}

    @property
    def charsets(self) -> list[Charset]:
        """The characters of every set of glyphs in it."""
        return list(map(Charset, self._fonts))

    def language(self, charset: Charset) -> str:
        """The language of the words for some characters; English if it has none of them."""
        for _, language, *others in map(json.loads, self._lists):
            if others[:1] == [charset.characters]:
                return str(language)
        return "en"

    @cached_property
    def pictures(self) -> Pictures | None:
        """The backgrounds, if the kit was written with any."""
        if not self._picture_sizes:
            return None
        (everything,) = self._arrays("pictures")
        stream = BytesIO(everything.tobytes())
        files = [stream.read(size) for size in self._picture_sizes]
        return torch.stack(list(map(decoded, files)))

    @property
    def page_files(self) -> list[bytes]:
        """Files of parts of drawn pages, if the kit was written with any."""
        names = [f"pages-{number}" for number in range(self._page_files)]
        return [file.tobytes() for file in self._arrays(*names)]

    def atlas(self, charset: Charset) -> GlyphAtlas:
        """The glyphs of the fonts that the kit was written with.

        Raises:
            ValueError: it has none of these characters.
        """
        if charset not in self._atlases:
            self._atlases[charset] = self._read_atlas(charset)
        return self._atlases[charset]

    def _read_atlas(self, charset: Charset) -> GlyphAtlas:
        characters = charset.characters
        names = self._fonts.get(characters)
        if names is None:
            raise ValueError(
                f"the kit {self.path} has no glyphs of these {len(charset)} characters: "
                "write one with the configuration that you train"
            )
        prefix = f"glyphs-{list(self._fonts).index(characters)}"
        ink, values = self._glyphs(prefix, len(names))
        widths = values["widths"].long()
        ends = widths.flatten().cumsum(0)
        return GlyphAtlas(
            columns=ink,
            starts=(ends - widths.flatten()).view_as(widths),
            widths=widths,
            bearings=values["bearings"],
            advances=values["advances"],
            is_correct=values["is_correct"],
            names=names,
            charset=charset,
        )

    def _glyphs(
        self, prefix: str, fonts: int
    ) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
        """Ink of all columns, and what is known of every glyph."""
        pieces = range(0, fonts, _FONTS_TOGETHER)
        ink = self._arrays(*(f"{prefix}-{_INK}-{first}" for first in pieces))
        values = self._arrays(*(f"{prefix}-{name}" for name in _OF_FONTS))
        columns = torch.cat([torch.from_numpy(_from_nibbles(piece)) for piece in ink])
        named = zip(_OF_FONTS, values, strict=True)
        return columns, {name: torch.from_numpy(value) for name, value in named}

    def word_lists(
        self, settings: Sequence[object], gather: Callable[[], list[WordList]]
    ) -> list[WordList]:
        """The lists of these settings; ``gather`` is not used.

        Raises:
            ValueError: it has no such lists.
        """
        key = key_of(settings)
        if key not in self._lists:
            what = ", ".join(map(str, settings[:2]))
            raise ValueError(
                f"the kit {self.path} has no lists for {what:.100}: write one with the "
                "configuration that you train"
            )
        prefix = f"words-{self._lists.index(key)}"
        arrays = self._arrays(*(f"{prefix}-{name}" for name in _OF_LISTS))
        return lists_of(dict(zip(_OF_LISTS, arrays, strict=True)))

    def _arrays(self, *names: str) -> list[np.ndarray]:
        """Arrays of the file, several decompressed at a time.

        Raises:
            ValueError: for a damaged file.
        """
        try:
            with safe_open(self.path, framework="np") as file:
                packed = [file.get_tensor(name) for name in names]
            with ThreadPoolExecutor(cpu_count()) as pool:
                return list(pool.map(_unpacked, packed))
        except (OSError, SafetensorError, lzma.LZMAError, EOFError) as error:
            raise ValueError(f"the kit {self.path} is damaged: {error}") from None


def write_kit(
    path: Path, materials: Sequence[InstalledMaterials], pages: Sequence[Path] = ()
) -> None:
    """Write what materials have given so far to one file, atomically.

    Of the fonts, it takes those that are trained on and those that are held out.

    Args:
        path: of the file.
        materials: of some configurations.
        pages: files of parts of drawn pages, as ``vit-str render --pages --find`` writes them.

    Raises:
        ValueError: two of the materials differ in the fonts for the same characters, or in their
            pictures.
    """
    atlases: dict[Charset, GlyphAtlas] = {}
    lists: dict[str, list[WordList]] = {}
    for each in materials:
        for charset, atlas in each.given_atlases.items():
            known = atlases.setdefault(charset, atlas)
            if known.names != atlas.names:
                raise ValueError(
                    "two configurations draw the same characters with other fonts: "
                    "write a kit for each"
                )
        lists |= each.given_lists
    tiles = _same_tiles(materials)
    arrays: Arrays = {"pictures": np.frombuffer(b"".join(tiles), dtype=np.uint8)}
    fonts: dict[str, list[str]] = {}
    for number, (charset, atlas) in enumerate(atlases.items()):
        used = _used_fonts(atlas)
        fonts[charset.characters] = used.names
        arrays |= _arrays_of_glyphs(f"glyphs-{number}", used)
    for number, each_list in enumerate(lists.values()):
        for name, array in arrays_of(each_list).items():
            arrays[f"words-{number}-{name}"] = array
    for number, page_file in enumerate(pages):
        arrays[f"pages-{number}"] = np.fromfile(page_file, np.uint8)
    metadata = {
        "format": _FORMAT,
        "version": _VERSION,
        "fonts": json.dumps(fonts, ensure_ascii=False),
        "lists": json.dumps(list(lists), ensure_ascii=False),
        "pictures": json.dumps(list(map(len, tiles))),
        "pages": json.dumps(len(pages)),
    }
    packed = _all_packed(arrays)
    with write_atomically(path) as temporary:
        save_file(packed, temporary, metadata)


def _same_tiles(materials: Sequence[InstalledMaterials]) -> list[bytes]:
    """The pictures of all that have some."""
    several = [each.tiles for each in materials if each.tiles]
    if not several:
        return []
    first = several[0]
    if any(other != first for other in several[1:]):
        raise ValueError("two configurations have other pictures: write a kit for each")
    return first


def _used_fonts(atlas: GlyphAtlas) -> GlyphAtlas:
    """Only what is trained on or held out, without what no glyph of these needs."""
    used = {*atlas.training().names, *atlas.held_out().names}
    places = [place for place, name in enumerate(atlas.names) if name in used]
    return atlas.select(places).compact()


def _arrays_of_glyphs(prefix: str, atlas: GlyphAtlas) -> Arrays:
    """The arrays of an atlas in the file; where glyphs start follows from their widths."""
    arrays = {f"{prefix}-{name}": getattr(atlas, name).numpy() for name in _OF_FONTS}
    widths = atlas.widths.sum(1).tolist()
    start = 0
    for first in range(0, len(atlas), _FONTS_TOGETHER):
        end = start + sum(widths[first : first + _FONTS_TOGETHER])
        columns = atlas.columns[start:end].numpy()
        arrays[f"{prefix}-{_INK}-{first}"] = _to_nibbles(columns)
        start = end
    return arrays


def _to_nibbles(columns: np.ndarray) -> np.ndarray:
    """Ink of 16 levels, two rows in a byte."""
    levels = columns // INK_STEP
    return levels[:, 0::2] << _LEVEL_BITS | levels[:, 1::2]


def _from_nibbles(pairs: np.ndarray) -> np.ndarray:
    """The ink again, as `_to_nibbles` has taken it."""
    levels = np.empty((len(pairs), 2 * pairs.shape[1]), dtype=np.uint8)
    levels[:, 0::2] = pairs >> _LEVEL_BITS
    levels[:, 1::2] = pairs & (1 << _LEVEL_BITS) - 1
    return levels * np.uint8(INK_STEP)


def _all_packed(arrays: Arrays) -> Arrays:
    """Every array compressed, several at a time, with a bar."""
    bar = console.Progress(len(arrays), alone=True, unit="part", name="compressing")
    packed = {}
    with ThreadPoolExecutor(cpu_count()) as pool, bar as progress:
        for name, data in zip(arrays, pool.map(_packed, arrays.values()), strict=True):
            packed[name] = data
            progress.advance()
    return packed


def _packed(array: np.ndarray) -> np.ndarray:
    """An array with its shape and type, compressed, as bytes."""
    file = BytesIO()
    np.save(file, array, allow_pickle=False)
    return np.frombuffer(lzma.compress(file.getvalue()), dtype=np.uint8)


def _unpacked(packed: np.ndarray) -> np.ndarray:
    """The array again, as `_packed` has taken it."""
    file = BytesIO(lzma.decompress(packed.tobytes()))
    array: np.ndarray = np.load(file, allow_pickle=False)
    return array
