"""The result of reading a whole picture: words, in lines, in blocks, in reading order."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from vit_str.decoding.boxes import Box
from vit_str.decoding.readings import Character

Point = tuple[float, float]
Rule = tuple[Point, Point]
"""The ends of a ruled line."""


@dataclass(frozen=True, slots=True)
class Word:
    """One word of a page.

    Attributes:
        text: the characters together.
        confidence: probability of the whole text, 0 to 1.
        polygon: corners in pixels of the upright image, clockwise, from where the text begins.
        characters: one by one, with boxes in pixels of the upright image if they were asked for.
        size: height of the small letters of its line, in pixels, or of its font; 0 if not known.
        weight: width of the strokes of its line, or weight of its font, to compare with others of
            the page; 0 if not known.
        is_struck: whether a stroke runs through it.
        ink: where the ink of its letters begins and ends, over the height of the polygon from its
            top: words of a line are equally high, their letters are not.
    """

    text: str
    confidence: float
    polygon: tuple[Point, Point, Point, Point]
    characters: tuple[Character, ...] = ()
    size: float = 0.0
    weight: float = 0.0
    is_struck: bool = False
    ink: tuple[float, float] = field(default=(0.0, 1.0), repr=False, compare=False)

    @property
    def box(self) -> Box:
        """The upright box around the polygon."""
        (x1, y1), (x2, y2), (x3, y3), (x4, y4) = self.polygon
        return Box(
            left=min(x1, x2, x3, x4),
            top=min(y1, y2, y3, y4),
            right=max(x1, x2, x3, x4),
            bottom=max(y1, y2, y3, y4),
        )


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a table.

    Attributes:
        count: how many of the words of its block are in it; they follow those of the cell before.
        row: the first that it covers, from 0.
        column: the first that it covers, from 0.
        rows: that it covers.
        columns: that it covers.
    """

    count: int
    row: int
    column: int
    rows: int = 1
    columns: int = 1


@dataclass(frozen=True, slots=True)
class BlockRole:
    """The role of a block.

    Attributes:
        name: such as ``heading``, ``paragraph``, ``item`` or ``table``, see docs/structure.md.
        level: of a heading or an item, from 1; else 0.
        cells: of a table, in the order of its words.
    """

    name: str
    level: int = 0
    cells: tuple[Cell, ...] = ()


@dataclass(frozen=True, slots=True)
class Page:
    """The words of a picture.

    Attributes:
        width: of the picture, in pixels, turned as its EXIF data says.
        height: of the picture.
        blocks: paragraphs, columns or signs, each a tuple of lines, each a tuple of words.
        path: the file; None if the picture came from memory.
        rules: ruled lines along its sides, in pixels of the upright image.
        has_own_text: the words are the text of a PDF file, and were not read.
        flat: the same words on the page without its bend, which tells better what is a paragraph
            or a table; None if the page lies flat.
        unread: how many words were left out because they are in scripts that no reader knows.
        roles: what each block is, if the network that arranges pages has said so; else none.
    """

    width: int
    height: int
    blocks: tuple[tuple[tuple[Word, ...], ...], ...]
    path: str | None = None
    rules: tuple[Rule, ...] = ()
    has_own_text: bool = False
    flat: "Page | None" = field(default=None, repr=False, compare=False)
    unread: int = 0
    roles: tuple[BlockRole, ...] = ()

    @property
    def words(self) -> list[Word]:
        """All words in reading order."""
        return [word for block in self.blocks for line in block for word in line]

    @property
    def is_mostly_unread(self) -> bool:
        """Whether most of its words are in scripts that no reader knows."""
        return self.unread > len(self.words)

    @property
    def text(self) -> str:
        """Lines as a person would type them, with an empty line between blocks.

        Words that are struck out stand between ``~~``.
        """
        return "\n\n".join("\n".join(map(text_of, block)) for block in self.blocks)


def text_of(words: Sequence[Word], escape: Callable[[str], str] = str) -> str:
    """Words with a space between them, those that are struck out between ``~~``.

    Args:
        words: of a line.
        escape: what to make of their text.
    """
    parts = []
    for is_struck, group in groupby(words, lambda word: word.is_struck):
        text = escape(" ".join(word.text for word in group))
        parts.append(f"~~{text}~~" if is_struck else text)
    return " ".join(parts)
