"""From a record of a page to what a network is told of it and what is right."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float, Int64
from torch import Tensor

from vit_str.datasets.page_records import BLOCK_FIELDS, PageRecord
from vit_str.pages.arrange.features import Tokens, tokens_of
from vit_str.pages.arrange.leveling import GAP, Found, leveled, upright_rules
from vit_str.pages.arrange.pieces import grouped
from vit_str.training.pages.noise import DRAWN, noisy
from vit_str.training.pages.variation import NONE, Variation, unread_pieces, varied

if TYPE_CHECKING:
    from jaxtyping import Int32

GAPS = (0.5, 0.6, 0.6, 0.8, 1.2)
"""Heights up to which words are near enough for one piece, to train with."""
_CUT = 0.01  # share of the words after which a line is split

_ROLE, _LEVEL, _TABLE, _ROW, _COLUMN, _ROWS, _COLUMNS = range(len(BLOCK_FIELDS))


class Example(NamedTuple):
    """A page, and of each of its pieces what is right.

    Attributes:
        tokens: what a network is told.
        block: numbers, -1 for what is no text of the page.
        place: in the order of reading, -1 for none.
        about: role, level, table, row, column, rows, columns; see `BLOCK_FIELDS`.
        texts: of the pieces.
    """

    tokens: Tokens
    block: "Int32[np.ndarray, ' piece']"
    place: "Int32[np.ndarray, ' piece']"
    about: "Int32[np.ndarray, 'piece 7']"
    texts: Sequence[str]


class Batch(NamedTuple):
    """Pages of about one length, with room at their ends; of tokens that are no pieces: -1."""

    features: Float[Tensor, "batch token feature"]
    places: Float[Tensor, "batch token place"]
    ngrams: Int64[Tensor, "batch token ngram"]
    mask: Bool[Tensor, "batch token"]
    is_piece: Bool[Tensor, "batch token"]
    block: Int64[Tensor, "batch token"]
    place: Int64[Tensor, "batch token"]
    about: Int64[Tensor, "batch token field"]
    source: str

    @property
    def size(self) -> int:
        """How many pages."""
        return len(self.mask)


def example_of(
    page: PageRecord,
    random: np.random.Generator,
    *,
    is_training: bool,
    variation: Variation = NONE,
) -> Example:
    """A page with noise.

    Args:
        page: drawn, or read.
        random: of the noise.
        is_training: also vary how words are joined to pieces, and lose some shapes.
        variation: how pages are varied in training.
    """
    if is_training:
        page = varied(page, random, variation)
    if is_training or page.way == DRAWN:
        page = noisy(page, random)
    words, shapes = leveled(
        Found(
            texts=page.words,
            polygons=page.polygons,
            sizes=page.sizes,
            weights=page.weights,
            rules=page.rules,
            grounds=page.grounds,
            pictures=page.pictures,
            checks=page.checks[:, :5],
        )
    )
    gap = random.choice(GAPS) if is_training else GAP
    cut = random.random(len(page.words)) < _CUT if is_training else None
    pieces = grouped(words, gap, upright_rules(shapes), cut)
    pieces = [pieces[k] for k in random.permutation(len(pieces))]
    block = np.array([_most(page.word_block[piece]) for piece in pieces], np.int32)
    place = np.array(
        [_first(page, piece, own) for piece, own in zip(pieces, block, strict=True)],
        np.int32,
    )
    about = np.full((len(pieces), len(BLOCK_FIELDS)), -1, np.int32)
    about[block >= 0] = page.blocks[block[block >= 0]]
    texts = [" ".join(page.words[k] for k in piece.tolist()) for piece in pieces]
    tokens = tokens_of(words, pieces, shapes)
    if is_training:
        unread = unread_pieces(len(pieces), random, variation)
        tokens.ngrams[: len(pieces)][unread] = 0
    return Example(tokens, block, place, about, texts)


def _most(blocks: np.ndarray) -> int:
    """The block that most words of a piece are of."""
    values, counts = np.unique(blocks, return_counts=True)
    return int(values[counts.argmax()])


def _first(page: PageRecord, piece: np.ndarray, block: int) -> int:
    """The place of the first word of a piece in its block."""
    if block < 0:
        return -1
    return int(page.word_place[piece][page.word_block[piece] == block].min())


def batch_of(examples: Sequence[Example], source: str = "") -> Batch:
    """Pages together, each with room to the length of the longest."""
    counts = np.array([len(example.tokens.features) for example in examples])
    pieces = np.array([example.tokens.pieces for example in examples])
    most = int(counts.max())

    def padded(arrays: Sequence[np.ndarray], fill: float) -> Tensor:
        shape = (len(arrays), most, *arrays[0].shape[1:])
        whole = np.full(
            shape, fill, np.float32 if arrays[0].dtype.kind == "f" else np.int64
        )
        for row, array in zip(whole, arrays, strict=True):
            row[: len(array)] = array
        return torch.from_numpy(whole)

    along = np.arange(most)
    return Batch(
        features=padded([example.tokens.features for example in examples], 0),
        places=padded([example.tokens.places for example in examples], 0),
        ngrams=padded([example.tokens.ngrams for example in examples], 0),
        mask=torch.from_numpy(along < counts[:, None]),
        is_piece=torch.from_numpy(along < pieces[:, None]),
        block=padded([example.block for example in examples], -1),
        place=padded([example.place for example in examples], -1),
        about=padded([example.about for example in examples], -1),
        source=source,
    )
