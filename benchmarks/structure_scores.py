"""How much of the structure of a page is found: order, headings and tables, beside its HTML."""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html.parser import HTMLParser
from itertools import chain, product
from typing import Any, NamedTuple

import editdistance
import numpy as np
from scipy.optimize import linear_sum_assignment

Table = list[list[str]]
"""Rows of the texts of cells."""

# Classes, elements and roles of what is above, below and beside the text of a page
_RUNNING_CLASSES = frozenset(("head", "foot"))
_RUNNING = frozenset(("header", "footer", "complementary"))
_HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))
_CELLS = frozenset(("td", "th", "cell", "columnheader", "rowheader"))
_TABLES = frozenset(("table", "presentation"))  # real ones, and those for layout
_VOID = frozenset(("br", "hr", "img", "input", "meta", "wbr"))
_UNSEEN = frozenset(("style", "title"))
_PARTS = frozenset(("li", "p", "td", "th", *_HEADINGS))  # whose text is theirs alone
# Within words
_INLINE = frozenset(
    ("a", "abbr", "b", "code", "em", "i", "small", "strong", "sub", "sup", "u", "wbr")
)
# The marks of items in Markdown; numbers are text
_ITEM = re.compile(r"[-*+] |(?=\d+[.)] )")
_TASK = re.compile(r"- \[[ x]\] ")
_BOXES = frozenset(("□", "☐", "☑", "☒", "[ ]", "[x]"))  # no text, but empty cells
_NESTING = 4  # spaces before an item that is in another one
_ALIKE = 0.8  # share of characters that a heading or an item may be known by


class Heading(NamedTuple):
    """A heading; level 1 is the highest of its page."""

    text: str
    level: int


class Item(NamedTuple):
    """An item of a list with its number; level 1 is in no other item."""

    text: str
    level: int


@dataclass
class Structure:
    """What a page says, and how it is built.

    Attributes:
        text: all words in their order, with what runs above and below the text.
        body: all words without that.
        headings: of any level, in their order.
        items: of lists, in their order.
        tables: in their order.
    """

    text: list[str] = field(default_factory=list)
    body: list[str] = field(default_factory=list)
    headings: list[Heading] = field(default_factory=list)
    items: list[Item] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)


def words_of(text: str) -> list[str]:
    """Words as they are compared: in one form of Unicode, without those that are marks only."""
    words = unicodedata.normalize("NFKC", text).split()
    return [word for word in words if any(map(str.isalnum, word))]


class _Element(NamedTuple):
    tag: str
    role: str  # of ARIA, or the tag
    is_running: bool
    heading_level: int  # 0 if it is none


class _Parser(HTMLParser):
    """Reads HTML in which every element is closed, with tables in tables for layout only."""

    def __init__(self) -> None:
        super().__init__()
        self.found = Structure()
        self._open: list[_Element] = []
        self._words: list[str] = []
        self._numbers: list[int | None] = []
        # Of items that are open, their numbers among all
        self._items: list[int] = []
        self._heading: list[str] | None = None
        self._cell: list[str] | None = None
        # For each column, the rows that cells above still cover
        self._spans: list[int] = []
        self._rows, self._columns = 1, 1  # that the open cell covers

    def handle_starttag(
        self,
        tag: str,
        attributes: list[tuple[str, str | None]],
    ) -> None:
        if tag not in _INLINE:
            self._end_words()
        if tag in _VOID:
            return
        named = {name: value or "" for name, value in attributes}
        element = _element(tag, named)
        is_layout = self._is_layout()
        self._open.append(element)
        if tag in ("ul", "ol"):
            start = int(named.get("start") or 1)
            self._numbers.append(start - 1 if tag == "ol" else None)
        elif tag == "li":
            self._begin_item()
        elif element.heading_level:
            self._heading = []
        elif element.role == "table":
            self.found.tables.append([])
            self._spans = []
        elif is_layout:
            return
        elif element.role in ("tr", "row"):
            self.found.tables[-1].append([])
        elif element.role in _CELLS:
            self._cell = []
            self._rows = int(named.get("rowspan") or 1)
            self._columns = int(named.get("colspan") or 1)

    def handle_endtag(self, tag: str) -> None:
        if tag not in _INLINE:
            self._end_words()
        element = _element(tag, {})
        while self._open:
            element = self._open.pop()
            if element.tag == tag:
                break
        if tag in ("ul", "ol"):
            self._numbers.pop()
        elif tag == "li":
            self._items.pop()
        elif element.heading_level and self._heading is not None:
            heading = Heading(" ".join(self._heading), element.heading_level)
            self.found.headings.append(heading)
            self._heading = None
        elif self._is_layout():
            return
        elif element.role in _CELLS and self._cell is not None:
            self._end_cell(" ".join(self._cell))
            self._cell = None
        elif element.role in ("tr", "row"):
            self._add_covered()

    def handle_data(self, data: str) -> None:
        if self._open and self._open[-1].tag in _UNSEEN:
            return
        # Text beside a mark without white space between them is one word.
        begins_a_word = data[:1].isspace()
        if self._words and not begins_a_word and not self._words[-1].endswith("\0"):
            first, *rest = data.split() or [""]
            self._words[-1] += first
            self._words += rest
        else:
            self._words += data.split()
        if data[-1:].isspace() and self._words:
            self._words[-1] += "\0"

    def _is_layout(self) -> bool:
        """Whether the innermost open table has no cells, but places what is in it."""
        roles = (each.role for each in reversed(self._open))
        innermost = next((role for role in roles if role in _TABLES), "presentation")
        return innermost == "presentation"

    def _begin_item(self) -> None:
        self._items.append(len(self.found.items))
        self.found.items.append(Item("", len(self._items)))
        if self._numbers[-1] is not None:
            self._numbers[-1] += 1
            self._add(f"{self._numbers[-1]}.")

    def _end_words(self) -> None:
        if self._words:
            self._add(" ".join(self._words).replace("\0", ""))
        self._words = []

    def _end_cell(self, text: str) -> None:
        """Add a cell; of several columns or rows that it covers, all but the first are empty."""
        self._add_covered()
        row = self.found.tables[-1][-1]
        column = len(row)
        row += [text, *[""] * (self._columns - 1)]
        self._spans += [0] * (len(row) - len(self._spans))
        self._spans[column : len(row)] = [self._rows - 1] * self._columns

    def _add_covered(self) -> None:
        """Add what cells above cover of the row."""
        row = self.found.tables[-1][-1]
        while len(row) < len(self._spans) and self._spans[len(row)]:
            self._spans[len(row)] -= 1
            row.append("")

    def _add(self, text: str) -> None:
        words = words_of(text)
        self.found.text += words
        if not any(element.is_running for element in self._open):
            self.found.body += words
        if self._heading is not None:
            self._heading.append(text)
        if self._cell is not None:
            self._cell.append(text)
        if self._is_text_of_item():
            before = self.found.items[self._items[-1]]
            self.found.items[self._items[-1]] = before._replace(
                text=f"{before.text} {text}".strip()
            )

    def _is_text_of_item(self) -> bool:
        """Whether what is open is an item, and no paragraph or cell in it."""
        blocks = (each.tag for each in reversed(self._open) if each.tag in _PARTS)
        return next(blocks, "") == "li"


def _element(tag: str, attributes: Mapping[str, str]) -> _Element:
    """What a tag and its attributes say."""
    role = attributes.get("role") or tag
    level = 0
    if tag in _HEADINGS:
        level = int(tag.removeprefix("h"))
    elif role == "heading":
        level = int(attributes["aria-level"])
    classes = attributes.get("class", "").split()
    is_running = role in _RUNNING or bool(_RUNNING_CLASSES.intersection(classes))
    return _Element(tag, role, is_running, level)


def structure_of_html(html: str) -> Structure:
    """What a page of HTML says; the highest of its headings are of level 1."""
    parser = _Parser()
    parser.feed(html)
    parser.close()
    found = parser.found
    levels = sorted({heading.level for heading in found.headings})
    found.headings = [
        Heading(text, 1 + levels.index(level)) for text, level in found.headings
    ]
    return found


def structure_of_markdown(markdown: str) -> Structure:
    """What a page of Markdown says; running text is not told apart."""
    found = Structure()
    table: Table | None = None
    for line in markdown.splitlines():
        plain = _TASK.sub("- ", line.strip())
        if not plain.startswith("|"):
            table = None
        if re.fullmatch(r"\|(:?-+:?\|)+|-{3,}", plain.replace(" ", "")):
            continue
        if plain.startswith("|"):
            if table is None:
                table = []
                found.tables.append(table)
            cells = re.split(r"(?<!\\)\|", plain.strip().removeprefix("|"))[:-1]
            texts = map(_unescaped, cells)
            table.append(["" if text in _BOXES else text for text in texts])
            found.text += words_of(_unescaped(" ".join(cells)))
            continue
        marks, space, heading = plain.partition(" ")
        if space and re.fullmatch(r"#{1,6}", marks):
            found.headings.append(Heading(_unescaped(heading), len(marks)))
        if mark := _ITEM.match(plain):
            level = 1 + (len(line) - len(line.lstrip())) // _NESTING
            found.items.append(Item(_unescaped(plain[mark.end() :]), level))
        found.text += words_of(_unescaped(plain))
    found.body = found.text
    return found


def _unescaped(text: str) -> str:
    text = text.replace("<br>", " ").replace("**", "")
    return " ".join(re.sub(r"\\([\W_])", r"\1", text).split())


def word_errors(found: Sequence[str], truth: Sequence[str]) -> float:
    """Words to insert, delete and replace, over those of the truth: order counts."""
    return editdistance.eval(list(found), list(truth)) / max(1, len(truth))


def heading_hits(
    found: Sequence[Heading | Item],
    truth: Sequence[Heading | Item],
    *,
    of_one_level: bool = False,
) -> tuple[int, int, int]:
    """Headings, or items, that both have, that were found, and that there are.

    With ``of_one_level``, only those count that both have on the same level.
    """
    left = list(truth)
    hits = 0
    for heading in found:
        alike = [likeness(heading.text, other.text) for other in left]
        if max(alike, default=0.0) >= _ALIKE:
            other = left.pop(int(np.argmax(alike)))
            hits += not of_one_level or heading.level == other.level
    return hits, len(found), len(truth)


def likeness(first: str, second: str) -> float:
    """1 minus the edit distance over the longer of two texts."""
    longest = max(len(first), len(second), 1)
    return 1 - editdistance.eval(first, second) / longest


def cell_hits(found: Sequence[Table], truth: Sequence[Table]) -> tuple[int, int, int]:
    """Cells that a found and a true row have both, those found, and those that there are.

    Every row of the truth is compared with the found row that has most of its cells. Empty cells
    do not count.
    """
    rows = [_cells(row) for row in chain.from_iterable(found)]
    wanted = [_cells(row) for row in chain.from_iterable(truth)]
    shared = _compared(wanted, rows, lambda first, second: (first & second).total())
    hits = int(shared[linear_sum_assignment(-shared)].sum())
    return hits, sum(row.total() for row in rows), sum(row.total() for row in wanted)


def _cells(row: Iterable[str]) -> Counter[str]:
    """The cells of a row that hold something."""
    return Counter(filter(None, map(_plain, row)))


def _compared(
    rows: Sequence[Any], columns: Sequence[Any], compare: Callable[[Any, Any], float]
) -> np.ndarray:
    """A number for each pair."""
    values = [compare(row, column) for row, column in product(rows, columns)]
    return np.array(values, dtype=float).reshape(len(rows), len(columns))


def _plain(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).split())


def teds(found: Table, truth: Table) -> float:
    """Tree-edit-distance based similarity of two tables, 0 to 1 (Zhong et al. 2020)."""
    from apted import APTED

    size = max(_size(found), _size(truth))
    distance = APTED(_tree(found), _tree(truth), _Costs()).compute_edit_distance()
    return 1 - distance / size


def table_similarity(found: Sequence[Table], truth: Sequence[Table]) -> list[float]:
    """TEDS of each true table with the found one that fits best; 0 for each that is too much."""
    pairs = _compared(truth, found, lambda one, other: teds(other, one))
    values = pairs[linear_sum_assignment(-pairs)].tolist()
    return values + [0.0] * (max(len(found), len(truth)) - len(values))


def f1(hits: Iterator[tuple[int, int, int]] | Sequence[tuple[int, int, int]]) -> float:
    """Of counts of all pages together; 1 where there is nothing to find and nothing was found."""
    shared, found, truth = (sum(counts) for counts in zip(*hits, strict=True))
    return 2 * shared / (found + truth) if found + truth else 1.0


@dataclass
class _Node:
    name: str
    text: str
    children: list["_Node"]


class _Costs:
    """Of edits, as APTED asks for them."""

    valuecls = float

    def delete(self, node: _Node) -> float:
        return 1.0

    def insert(self, node: _Node) -> float:
        return 1.0

    def rename(self, first: _Node, second: _Node) -> float:
        if first.name != second.name:
            return 1.0
        return (
            1 - likeness(first.text, second.text) if first.text or second.text else 0.0
        )

    def children(self, node: _Node) -> list[_Node]:
        return node.children


def _tree(table: Table) -> _Node:
    rows = [
        _Node("tr", "", [_Node("td", _plain(cell), []) for cell in row])
        for row in table
    ]
    return _Node("table", "", rows)


def _size(table: Table) -> int:
    return 1 + sum(1 + len(row) for row in table)
