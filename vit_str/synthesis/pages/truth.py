"""The truth of a drawn page: words in the order of reading, blocks, tables, rules, pictures."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from vit_str.synthesis.pages.browser import Browser

if TYPE_CHECKING:
    from jaxtyping import Float, Int32

ROLES = (
    "paragraph",
    "heading",
    "item",
    "cell",
    "head cell",
    "fact",
    "caption",
    "note",
    "head",
    "foot",
    "margin",
    "figure",
    "code",
)
"""Roles of blocks, see docs/structure.md."""


_CELLS = ("cell", "head cell")


class Block(NamedTuple):
    """A block of the truth: words that belong together.

    Attributes:
        role: one of `ROLES`.
        level: of a heading or an item, from 1; else 0.
        table: number of its table on the page, -1 outside of tables, as of row and column.
        row: its first row.
        column: its first column.
        rows: that it covers.
        columns: that it covers.
    """

    role: str
    level: int
    table: int
    row: int
    column: int
    rows: int
    columns: int


class Rule(NamedTuple):
    """A straight line: its ends and width in pixels, and its style in CSS."""

    x0: float
    y0: float
    x1: float
    y1: float
    width: float
    style: str


@dataclass(frozen=True)
class Truth:
    """The truth of a page. Places are in pixels of CSS: left, top, right, bottom.

    Attributes:
        width: of the page.
        height: of the page.
        blocks: in the order of reading.
        words: their texts, in the order of reading; a word that is split at the end of a line is
            two, and its first part ends in a hyphen; a box to tick is ``☐`` or ``☒``.
        boxes: of the words.
        sizes: of their fonts, in pixels.
        weights: of their fonts, as CSS has it: 400, 700.
        turns: of their text, in degrees to the right.
        block_of: the block of each word.
        line_of: the line of each word: words beside each other without a wide gap.
        rules: borders and other straight lines.
        grounds: areas of a color of their own, with its lightness from 0 to 255 at the end.
        pictures: places of pictures and charts.
        checks: places of boxes to tick, 1 if it is ticked, and the block.
    """

    width: int
    height: int
    blocks: tuple[Block, ...]
    words: tuple[str, ...]
    boxes: "Float[np.ndarray, 'word 4']"
    sizes: "Float[np.ndarray, ' word']"
    weights: "Int32[np.ndarray, ' word']"
    turns: "Int32[np.ndarray, ' word']"
    block_of: "Int32[np.ndarray, ' word']"
    line_of: "Int32[np.ndarray, ' word']"
    rules: tuple[Rule, ...]
    grounds: "Float[np.ndarray, 'ground 5']"
    pictures: "Float[np.ndarray, 'picture 4']"
    checks: "Float[np.ndarray, 'check 6']"


@cache
def _script() -> str:
    source = files("vit_str.synthesis.pages").joinpath("truth.js")
    return source.read_text("utf-8")


def truth_of(browser: Browser, height: int) -> Truth:
    """The truth of a page that a browser shows.

    Args:
        browser: shows it.
        height: of the page in pixels: what does not fit at the end of its text is left out before.
    """
    return _truth(browser.evaluate(f"{_script().rstrip().rstrip(';')}({height})"))


def _truth(found: Mapping[str, Any]) -> Truth:
    words = found["words"]
    columns = list(zip(*words, strict=True)) or [()] * 10
    width, height = found["size"]
    return Truth(
        width=width,
        height=height,
        blocks=_with_levels_in_turn(
            _without_single_rows([Block(*values) for values in found["blocks"]])
        ),
        words=columns[0],
        boxes=_table(list(zip(*columns[1:5], strict=True)), 4),
        sizes=np.array(columns[5], np.float32),
        weights=np.array(columns[6], np.int32),
        turns=np.array(columns[7], np.int32),
        block_of=np.array(columns[8], np.int32),
        line_of=np.array(columns[9], np.int32),
        rules=tuple(Rule(*values) for values in found["rules"]),
        grounds=_table(found["grounds"], 5),
        pictures=_table(found["pictures"], 4),
        checks=_table(found["checks"], 6),
    )


def _without_single_rows(blocks: list[Block]) -> list[Block]:
    """Blocks of which those of tables with text in one row or one column only are paragraphs."""
    rows: defaultdict[int, set[int]] = defaultdict(set)
    columns: defaultdict[int, set[int]] = defaultdict(set)
    for block in blocks:
        rows[block.table].add(block.row)
        columns[block.table].add(block.column)
    none = {
        table
        for table in rows
        if table >= 0 and min(len(rows[table]), len(columns[table])) < 2
    }
    paragraph = Block("paragraph", 0, -1, -1, -1, 1, 1)
    return [
        paragraph if block.table in none and block.role in _CELLS else block
        for block in blocks
    ]


def _with_levels_in_turn(blocks: Sequence[Block]) -> tuple[Block, ...]:
    """Blocks whose headings have levels from 1 on, of which none is left out."""
    levels = sorted({block.level for block in blocks if block.role == "heading"})
    return tuple(
        block._replace(level=1 + levels.index(block.level))
        if block.role == "heading"
        else block
        for block in blocks
    )


def _table(rows: Any, columns: int) -> np.ndarray:
    return np.array(rows, np.float32).reshape(-1, columns)
