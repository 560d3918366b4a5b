"""What ``vit-str render`` draws with, made from its options."""

import argparse
import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from jaxtyping import UInt8
from torch import Tensor
from tqdm import tqdm

import vit_str
from vit_str.charset import Charset
from vit_str.charset import charset_of as named_charset
from vit_str.datasets import SHARD_SIZE, Layout, Record
from vit_str.devices import choose_device
from vit_str.synthesis.glyphs import GlyphAtlas
from vit_str.synthesis.ingredients import Ingredients
from vit_str.synthesis.lexicon import Lexicon
from vit_str.synthesis.pictures import load_pictures
from vit_str.synthesis.renderer import Renderer

BATCH = 64
"""Words drawn together. Part of what a seed means: word 100 is the 37th of the second batch."""

_PROBES = 1000


@dataclass(frozen=True, slots=True)
class Material:
    """A renderer and what it was made of."""

    renderer: Renderer
    atlas: GlyphAtlas
    pictures: UInt8[Tensor, "picture 3 height width"] | None


def material_of(options: argparse.Namespace, difficulty: float = 1.0) -> Material:
    """A renderer at the strengths that the options name.

    Args:
        options: of the command.
        difficulty: where they do not say it.

    Raises:
        ValueError: fonts, words, pictures or the device are not there or cannot be used.
    """
    charset = charset_of(options)
    device = choose_device(options.device)
    lexicon = Lexicon(charset, options.language, options.words)
    pictures = load_pictures(options.pictures) if options.pictures else None
    with FontBar() as progress:
        atlas = GlyphAtlas.load_or_build(charset, options.fonts, progress=progress)
    atlas = (atlas.held_out() if options.held_out else atlas).to(device)
    difficulty = difficulty if options.difficulty is None else options.difficulty
    ingredients = Ingredients(**options.ingredients).at(difficulty)
    size = options.height, options.width
    renderer = Renderer(
        atlas, lexicon, size, ingredients=ingredients, pictures=pictures, chunk=BATCH
    )
    return Material(renderer, atlas, pictures)


def charset_of(options: argparse.Namespace) -> Charset:
    """The characters to write.

    Raises:
        ValueError: a character that no file of labels could hold, or one that is there twice.
    """
    return named_charset("ascii" if options.charset is None else options.charset)


class FontBar:
    """A bar for the first time that fonts are drawn, which takes a while."""

    def __enter__(self) -> "FontBar":
        self._bar = tqdm(unit="font", desc="fonts", disable=None, leave=False, delay=1)
        return self

    def __call__(self, done: int, total: int) -> None:
        self._bar.total = total
        self._bar.update(done - self._bar.n)

    def __exit__(self, *_: object) -> None:
        self._bar.close()


def layout_of(options: argparse.Namespace) -> Layout:
    """How a data set stores its words."""
    size = options.shard_size or SHARD_SIZE
    return Layout(options.start, f".{options.image_format}", options.boxes, size)


def record_of(options: argparse.Namespace, material: Material) -> Record:
    """Everything that decides the words of a data set, so that no others are mixed in."""
    layout = layout_of(options)
    made_with: dict[str, Any] = {
        "seed": options.seed,
        "start": options.start,
        "format": options.format,
        "image-format": options.image_format,
        "boxes": options.boxes,
        "shard-size": layout.shard_size if "%" in options.out.name else None,
        "words": _digest([options.words.read_bytes()]) if options.words else None,
        "language": None if options.words else options.language,
        "charset": material.renderer.charset.characters,
        "fonts": _digest(_atlas_bytes(material.atlas)),
        "held-out": options.held_out,
        "pictures": _digest([_bytes(material.pictures)]) if options.pictures else None,
        "height": options.height,
        "width": options.width,
        "difficulty": 1.0 if options.difficulty is None else options.difficulty,
        "ingredients": {name: s for name, s in sorted(options.ingredients.items()) if s != 1},
        "device": material.renderer.device.type,
        "drawing": _drawing(material.renderer, options.seed),
    }
    return Record(made_with, options.count, f"vit-str {vit_str.__version__}")


def _drawing(renderer: Renderer, seed: int) -> str | None:
    """Changes when this program, a library or the language's words do.

    Only on the CPU, where the same numbers come out in every run.
    """
    if renderer.device.type != "cpu":
        return None
    labels = "\n".join(renderer.lexicon.sample(_PROBES, seed))
    return _digest([labels.encode(), _bytes(renderer.batch(BATCH, seed, 0).images)])


def _atlas_bytes(atlas: GlyphAtlas) -> Iterable[bytes]:
    yield "\n".join(atlas.names).encode()
    for tensor in (atlas.columns, atlas.starts, atlas.widths, atlas.bearings, atlas.advances):
        yield _bytes(tensor)
    yield _bytes(atlas.honest)


def _bytes(tensor: Tensor | None) -> bytes:
    return b"" if tensor is None else tensor.cpu().numpy().tobytes()


def _digest(parts: Iterable[bytes]) -> str:
    digest = hashlib.blake2b(digest_size=8)
    for part in parts:
        digest.update(part)
    return digest.hexdigest()
