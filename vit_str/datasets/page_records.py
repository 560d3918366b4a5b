"""Pages with their words and what is right for them: compact files of a hundred pages.

A folder holds ``pages.json``, what all of them are made with, and for every hundred pages a file
``00012.jsonl`` with a line for each, its words among it, and ``00012.safetensors`` with numbers.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file

from vit_str.files import write_atomically

if TYPE_CHECKING:
    from jaxtyping import Float, Int32

SHARD_SIZE = 100
"""Pages of a file."""
ABOUT = "pages.json"
"""Name of the file that says how the pages of a folder are made."""
BLOCK_FIELDS = ("role", "level", "table", "row", "column", "rows", "columns")
"""Of the columns of `PageRecord.blocks`; roles as numbers of ``roles`` in ``pages.json``."""


@dataclass(frozen=True)
class PageRecord:
    """A page as it was found, or as it was drawn, and what is right.

    Places are in pixels of the picture, or of CSS if nobody took one.

    Attributes:
        family: of its design.
        way: how it was captured, such as ``scan``; ``drawn`` if it was not.
        number: of its design.
        width: of the picture.
        height: of the picture.
        words: their texts.
        polygons: corners of the words, clockwise, from where the text begins.
        sizes: of the type of each word, in pixels.
        weights: of its strokes, to compare with others of the page.
        confidences: of the readings, 1 if they were not read.
        word_block: the block of each word, -1 if it is none: junk, leaders, bullets.
        word_place: its place in the order of reading, -1 if it is none.
        blocks: see `BLOCK_FIELDS`.
        rules: ends of ruled lines: x0, y0, x1, y1.
        grounds: left, top, right, bottom, lightness from 0 to 255.
        pictures: left, top, right, bottom.
        checks: left, top, right, bottom, 1 if ticked, block.
        missed: words of the page that were not found.
    """

    family: str
    way: str
    number: int
    width: int
    height: int
    words: Sequence[str]
    polygons: "Float[np.ndarray, 'word 4 2']"
    sizes: "Float[np.ndarray, ' word']"
    weights: "Float[np.ndarray, ' word']"
    confidences: "Float[np.ndarray, ' word']"
    word_block: "Int32[np.ndarray, ' word']"
    word_place: "Int32[np.ndarray, ' word']"
    blocks: "Int32[np.ndarray, 'block 7']"
    rules: "Float[np.ndarray, 'rule 4']"
    grounds: "Float[np.ndarray, 'ground 5']"
    pictures: "Float[np.ndarray, 'picture 4']"
    checks: "Float[np.ndarray, 'check 6']"
    missed: int = 0


_TEXTS = ("family", "way", "number", "width", "height", "words", "missed")
_ARRAYS = {
    "polygons": (np.float32, (4, 2)),
    "sizes": (np.float32, ()),
    "weights": (np.float32, ()),
    "confidences": (np.float32, ()),
    "word_block": (np.int32, ()),
    "word_place": (np.int32, ()),
    "blocks": (np.int32, (7,)),
    "rules": (np.float32, (4,)),
    "grounds": (np.float32, (5,)),
    "pictures": (np.float32, (4,)),
    "checks": (np.float32, (6,)),
}


def shard_paths(folder: Path, shard: int) -> tuple[Path, Path]:
    """The files of a hundred pages: texts and numbers."""
    return folder / f"{shard:05}.jsonl", folder / f"{shard:05}.safetensors"


def pages_of_shard(folder: Path, shard: int) -> int:
    """How many pages a shard holds; none if it is not whole."""
    texts, numbers = shard_paths(folder, shard)
    if not numbers.exists():
        return 0
    with texts.open("rb") as file:
        return sum(1 for _ in file)


def write_shard(folder: Path, shard: int, pages: Sequence[PageRecord]) -> None:
    """Write pages; the file of numbers comes last, so that a shard that has one is whole."""
    texts, numbers = shard_paths(folder, shard)
    with (
        write_atomically(texts) as temporary,
        temporary.open("w", encoding="utf-8") as file,
    ):
        for page in pages:
            values = {name: getattr(page, name) for name in _TEXTS}
            file.write(
                json.dumps(values | {"words": list(page.words)}, ensure_ascii=False)
            )
            file.write("\n")
    arrays: dict[str, np.ndarray] = {}
    for name, (dtype, shape) in _ARRAYS.items():
        parts = [
            np.asarray(getattr(page, name), dtype).reshape(-1, *shape) for page in pages
        ]
        arrays[name] = np.concatenate(parts)
        arrays[f"{name}.end"] = np.cumsum([len(part) for part in parts])
    with write_atomically(numbers) as temporary:
        save_file(arrays, temporary)


def read_shard(folder: Path, shard: int) -> list[PageRecord]:
    """The pages of a shard.

    Raises:
        ValueError: it is damaged; one line that names the file.
    """
    texts, numbers = shard_paths(folder, shard)
    try:
        lines = texts.read_text("utf-8").splitlines()
        arrays = load_file(numbers)
        return [_page(json.loads(line), arrays, at) for at, line in enumerate(lines)]
    except (
        OSError,
        SafetensorError,
        KeyError,
        TypeError,
        ValueError,
        IndexError,
    ) as error:
        reason = " ".join(str(error).split())
        raise ValueError(f"{numbers}: no pages, or damaged ones: {reason}") from None


def _page(
    texts: Mapping[str, Any], arrays: Mapping[str, np.ndarray], at: int
) -> PageRecord:
    values: dict[str, Any] = {name: texts[name] for name in _TEXTS}
    for name in _ARRAYS:
        ends = arrays[f"{name}.end"]
        start = int(ends[at - 1]) if at else 0
        values[name] = arrays[name][start : int(ends[at])]
    return PageRecord(**values)


def shards_of(folder: Path) -> list[int]:
    """The numbers of the whole shards of a folder.

    Raises:
        ValueError: there are none.
    """
    found = sorted(int(path.stem) for path in folder.glob("[0-9]" * 5 + ".safetensors"))
    if not found:
        raise ValueError(
            f"{folder} holds no pages; draw some: vit-str render --pages 1000 --out {folder}"
        )
    return found


def read_pages(folder: Path) -> Iterator[PageRecord]:
    """All pages of a folder."""
    for shard in shards_of(folder):
        yield from read_shard(folder, shard)
