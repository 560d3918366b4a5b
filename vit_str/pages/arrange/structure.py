"""Roles of the lines of a page: headings, paragraphs, items, tables, headers and footers.

All is told by the places of words in the frame in which a page is read: how high lines are, how
far apart, and whether the next word would still have had room.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, pairwise
from math import prod

import numpy as np

from vit_str.pages.arrange.frame import as_read
from vit_str.pages.arrange.grids import grids
from vit_str.pages.arrange.parts import (
    Heading,
    Item,
    Paragraph,
    Part,
    Running,
    would_fit,
)
from vit_str.pages.arrange.role_parts import parts_with_roles
from vit_str.pages.arrange.tables import Row, Table, find_tables, is_mark
from vit_str.pages.page import Page, Word

# Distances are over the height of the rows; by eye on articles, letters and forms.
_HEADING = 1.15  # size of a heading over that of the text
_HEAVIER = 1.1  # weight of a heading over that of the text
_BOLD = 1.22  # weight of a bold line over that of the text
_LEAST_OF_BOLD = 0.93  # size of a bold heading over that of the text
# Share of the look of a heading that the next smaller one of its level has, at least: on printed
# and scanned pages 0.91 and more within a level, 0.83 and less between title and sections.
_SAME_LEVEL = 0.87
_LOWEST_LEVEL = 6
_LONGEST_HEADING = 16  # words of a line
_SHORTEST_HEADING = 3  # letters
_PRINT = 0.94  # confidence of the characters of a printed heading, at least
_COLUMN = 0.8  # white between two columns
_MOST_COLUMNS = 2  # such white: one may be behind the number of a heading
_OTHER_SIZE = 0.86  # share of the size of a row that the next of its paragraph has
# The same of few letters, whose size is hard to tell even if there are digits, and in a sentence
_OTHER_SIZE_IN_DOUBT = 0.7
_FEW_LETTERS = 8
_PARAGRAPH_GAP = 0.3  # more white between paragraphs than between most lines
_NESTED = 0.8  # by which a list within another one begins farther right, at least
_FARTHEST_NESTED = 6.0  # and at most
_INDENT = 3.0  # that the first line of a paragraph may have
_NARROW = 0.8  # share of the width of most of the text that other blocks of it have
# By how much lines that are set to the right begin at other places, at least
_RAGGED = 0.5
# Share of the height of a page at its top and bottom where running text may be
_MARGIN = 0.075
_RUNNING_GAP = 1.5  # white between running text and the page
_LONGEST_RUNNING = 14  # words
_LONG_ROW = 5  # words
_SENTENCE_ENDS = (".", "!", "?", ":")
_CAPTION = re.compile(
    r"(?:fig(?:ure|ura)?|abb(?:ildung)?|tab(?:le|elle|leau|la)?)\.?$", re.I
)


@dataclass(frozen=True, slots=True)
class _Sheet:
    """A page in the frame in which it is read."""

    page: Page
    rows: list[Row]  # in reading order
    blocks: list[int]  # of each row


def parts_of(pages: Sequence[Page]) -> list[list[Part]]:
    """The parts of the pages of one document, in reading order; however pages are turned."""
    sheets = [_sheet(as_read(page)) for page in pages]
    rows = chain.from_iterable(sheet.rows for sheet in sheets)
    type_ = _Type.of(list(rows))
    parts = [_parts_of_sheet(sheet, type_) for sheet in sheets]
    are_told = len(pages) == 1 and bool(pages[0].roles)
    return parts if are_told else _with_levels(parts)


def _parts_of_sheet(sheet: "_Sheet", text: "_Type") -> list[Part]:
    """The parts of a page, by the roles of its blocks if it has them, else by rules."""
    if sheet.page.roles:
        return list(parts_with_roles(sheet.page))
    return list(_nested(_parts(sheet, text)))


def _with_levels(pages: Sequence[Sequence[Part]]) -> list[list[Part]]:
    """Parts with headings of one level where they look alike on all pages of a document."""
    headings = [
        part for part in chain.from_iterable(pages) if isinstance(part, Heading)
    ]
    looks = sorted((_look_of_all(part.rows) for part in headings), reverse=True)
    largest = looks[:1]  # of each level
    for before, look in pairwise(looks):
        if look < _SAME_LEVEL * before:
            largest.append(look)

    def leveled(part: Part) -> Part:
        if not isinstance(part, Heading):
            return part
        look = _look_of_all(part.rows)
        level = sum(look <= each for each in largest)
        return replace(part, level=min(_LOWEST_LEVEL, level))

    return [list(map(leveled, parts)) for parts in pages]


def _look(row: Row) -> float:
    """The size and weight of a row: of few letters, their mean is told better than either."""
    return (row.size * row.weight) ** 0.5 if row.weight else row.size


def _look_of_all(rows: Sequence[Row]) -> float:
    """The look of a heading: the mean of its lines, weighted by their letters."""
    return float(np.average(list(map(_look, rows)), weights=list(map(_letters, rows))))


def _nested(parts: Iterable[Part]) -> Iterator[Part]:
    """Parts with the depths of items: a list that begins farther right is within the item above."""
    lists: list[float] = []  # where the marks of the lists begin that are open
    top = 0.0
    for part in parts:
        if not isinstance(part, Item):
            lists = []
            yield part
            continue
        first = part.rows[0]
        room = _NESTED * first.height
        while lists and part.left < lists[-1] - room:
            lists.pop()
        deeper = part.left - lists[-1] if lists else 0.0
        is_above = first.top < top
        if is_above or deeper > _FARTHEST_NESTED * first.height:  # another column
            lists = []
        if not lists or deeper > room:
            lists.append(part.left)
        top = first.top
        yield replace(part, depth=len(lists) - 1)


def _sheet(page: Page) -> _Sheet:
    rows = []
    blocks = []
    for number, block in enumerate(page.blocks):
        for line in block:
            rows.append(Row.of(line))
            blocks.append(number)
    return _Sheet(page, rows, blocks)


@dataclass(frozen=True, slots=True)
class _Type:
    """The type of most of the text of a document.

    Attributes:
        height: of its rows, in pixels.
        size: of its letters.
        weight: of its strokes.
    """

    height: float
    size: float
    weight: float

    @classmethod
    def of(cls, rows: Sequence[Row]) -> "_Type":
        """The type of rows: medians over their characters."""
        counts = list(map(_letters, rows))
        if not sum(counts):
            return cls(1.0, 1.0, 0.0)
        values = np.array([(row.height, row.size, row.weight) for row in rows])
        return cls(*np.median(np.repeat(values, counts, 0), 0).tolist())

    def is_larger(self, row: Row) -> bool:
        """Whether the size of a row makes it a heading; strokes grow with the letters."""
        is_heavier = not row.weight or row.weight > _HEAVIER * self.weight
        return row.size > _HEADING * self.size and is_heavier and _may_head(row)

    def is_bold(self, row: Row) -> bool:
        """Whether a row is bold, which most of the text is not."""
        return (
            0 < _BOLD * self.weight < row.weight
            and _LEAST_OF_BOLD * self.size < row.size
            and _may_head(row)
        )


def _letters(row: Row) -> int:
    """The number of characters of a row."""
    return sum(len(word.text) for word in row.words)


def _may_head(row: Row) -> bool:
    """Whether a row may be a heading by its words: few, in print, and not in columns.

    Handwriting is often larger than print, and read with less confidence.
    """
    columns = sum(
        after.box.left - before.box.right > _COLUMN * row.height
        for before, after in pairwise(row.words)
    )
    is_short = (
        _alphabetic(row) >= _SHORTEST_HEADING and len(row.words) <= _LONGEST_HEADING
    )
    return is_short and columns < _MOST_COLUMNS and _confidence(row) > _PRINT


def _confidence(row: Row) -> float:
    """The geometric mean of the confidences of the characters of a row."""
    product = prod(word.confidence for word in row.words)
    return product ** (1 / max(1, _letters(row)))


def _parts(sheet: _Sheet, text: _Type) -> Iterator[Part]:
    ruled = _ruled(sheet)
    running = _running(sheet, text) - set(ruled)
    tables = dict(_unruled(sheet, running | set(ruled), text))
    in_tables = set(ruled).union(*(chosen for chosen, _ in tables.values()))
    edges = _edges(sheet, in_tables | running, text)
    apart = _usual_distance(sheet, in_tables, text)
    waiting: list[int] = []  # rows of text that are no part yet
    for place in range(len(sheet.rows)):
        if place in in_tables or place in running:
            yield from _texts(sheet, waiting, text, apart, edges)
            waiting = []
            table = ruled.get(place)
            if table:
                yield table
            elif place in tables:
                yield tables[place][1]
            elif place in running:
                yield Running((sheet.rows[place],))
        else:
            waiting.append(place)
    yield from _texts(sheet, waiting, text, apart, edges)


def _edges(
    sheet: _Sheet, others: set[int], text: _Type
) -> dict[int, tuple[float, float]]:
    """Where the text of each block begins, and where it ends, or could end.

    A block that is much narrower than most of the text, as an address, has as much room as that.
    """
    blocks: dict[int, list[Row]] = {}
    for place, (row, block) in enumerate(zip(sheet.rows, sheet.blocks, strict=True)):
        if place not in others and not text.is_larger(row):
            blocks.setdefault(block, []).append(row)
    sides = {
        block: (min(row.left for row in rows), max(row.right for row in rows))
        for block, rows in blocks.items()
    }
    widths = [right - left for left, right in sides.values()]
    counts = [sum(map(_letters, rows)) for rows in blocks.values()]
    usual = float(np.median(np.repeat(widths, counts))) if widths else 0.0
    edges = {}
    for block, (left, right) in sides.items():
        is_narrow = right - left < _NARROW * usual
        edges[block] = (left, left + usual if is_narrow else right)
    return edges


def _unruled(
    sheet: _Sheet, others: set[int], text: _Type
) -> Iterator[tuple[int, tuple[list[int], Table]]]:
    """Tables without rules, by the first of their rows, and all of their rows.

    Headings and ``others`` are no rows of theirs, and end them.
    """
    run: list[int] = []
    for place in range(len(sheet.rows) + 1):
        is_other = place == len(sheet.rows) or place in others
        if not is_other and not text.is_larger(sheet.rows[place]):
            run.append(place)
            continue
        for found, table in find_tables([sheet.rows[each] for each in run]):
            yield run[found.start], ([run[index] for index in found], table)
        run = []


def _ruled(sheet: _Sheet) -> dict[int, Table | None]:
    """Tables between rules, by the first of their rows; None for the others."""
    page = sheet.page
    found: dict[int, Table | None] = {}
    boxes = [word.box for word in page.words]
    for grid in grids(page.rules, max(page.width, page.height), boxes):
        places = []
        words: list[Word] = []
        for place, row in enumerate(sheet.rows):
            x = (row.left + row.right) / 2
            y = (row.top + row.bottom) / 2
            if place not in found and grid.holds(x, y):
                places.append(place)
                words += row.words
        if places:
            found |= dict.fromkeys(places)
            found[places[0]] = grid.table(words)
    return found


def _running(sheet: _Sheet, text: _Type) -> set[int]:
    """Rows at the top and the bottom of a page that are apart from its text."""
    rows = sheet.rows
    found: set[int] = set()
    if not rows:
        return found
    places = range(len(rows))
    order = sorted(places, key=lambda place: rows[place].top + rows[place].bottom)
    for is_top, from_edge in ((True, order), (False, order[::-1])):
        first = rows[from_edge[0]]
        beside = [place for place in from_edge if _are_beside(rows[place], first)]
        rest = [rows[place] for place in from_edge if place not in beside]
        if not rest:
            continue
        chosen = [rows[place] for place in beside]
        margin = _MARGIN * sheet.page.height
        if is_top:
            end = max(row.bottom for row in chosen)
            apart = min(row.top for row in rest) - end
            is_at_edge = end < margin
        else:
            start = min(row.top for row in chosen)
            apart = start - max(row.bottom for row in rest)
            is_at_edge = start > (1 - _MARGIN) * sheet.page.height
        is_small = not any(map(text.is_larger, chosen))
        is_short = sum(len(row.words) for row in chosen) <= _LONGEST_RUNNING
        if is_at_edge and is_small and is_short and apart > _RUNNING_GAP * text.height:
            found.update(beside)
    return found


def _are_beside(first: Row, second: Row) -> bool:
    return first.top < (second.top + second.bottom) / 2 < first.bottom


def _texts(
    sheet: _Sheet,
    places: Sequence[int],
    text: _Type,
    apart: float,
    edges: Mapping[int, tuple[float, float]],
) -> Iterator[Heading | Paragraph | Item]:
    """Headings, paragraphs and items of lists that rows in a row make.

    Args:
        sheet: the page.
        places: of the rows.
        text: its type.
        apart: white between most lines.
        edges: where the text of each block begins and ends.
    """
    groups: list[list[int]] = []
    for place in places:
        last = groups[-1][-1] if groups else None
        if last is None or _begins_part(sheet, last, place, text, apart, edges):
            groups.append([])
        groups[-1].append(place)
    ended: list[int] = []  # lines below each other, where somebody ended them
    for group in groups:
        part = _text_part([sheet.rows[each] for each in group], text)
        is_line = isinstance(part, Paragraph) and _are_ended(part.rows, bool(ended))
        goes_on = (
            is_line
            and bool(ended)
            and _goes_on(sheet, ended[-1], group[0], text, apart)
        )
        if ended and not goes_on:
            yield _ended_lines(sheet, ended)
            ended = []
            is_line = is_line and _are_ended(part.rows, is_within=False)
        if is_line:
            ended += group
        else:
            yield part
    if ended:
        yield _ended_lines(sheet, ended)


def _ended_lines(sheet: _Sheet, places: Sequence[int]) -> Paragraph:
    """A paragraph whose lines stay lines."""
    return Paragraph(tuple(sheet.rows[each] for each in places), keeps_lines=True)


def _are_ended(rows: Sequence[Row], is_within: bool) -> bool:
    """Whether the lines of a paragraph are such as those of an address.

    Args:
        rows: the lines.
        is_within: there are such lines above them; then the longest of all may be among them,
            behind which the next word would not have fitted.
    """
    if len(rows) == 1:
        return True
    return is_within and len(rows) == 2 and not _goes_on_with(*rows)


def _goes_on(sheet: _Sheet, last: int, place: int, text: _Type, apart: float) -> bool:
    """Whether a line is as far below the one before as lines are, and begins or ends with it."""
    before = sheet.rows[last]
    row = sheet.rows[place]
    middles = (before.left + before.right) / 2, (row.left + row.right) / 2
    sides = (before.left, row.left), (before.right, row.right), middles
    return (
        sheet.blocks[place] == sheet.blocks[last]
        and before.top < row.top <= before.bottom + apart + _PARAGRAPH_GAP * text.height
        and any(abs(one - other) < _RAGGED * text.height for one, other in sides)
        and _are_alike(before, row)
        and not _is_caption(row)
    )


def _usual_distance(sheet: _Sheet, in_tables: set[int], text: _Type) -> float:
    """White between most lines that are below each other, but for rows of tables."""
    distances = [
        sheet.rows[below].top - sheet.rows[place].bottom
        for place, below in pairwise(range(len(sheet.rows)))
        if not in_tables & {place, below}
    ]
    distances = [each for each in distances if abs(each) < text.height]
    return float(np.median(distances)) if distances else 0.0


def _begins_part(
    sheet: _Sheet,
    last: int,
    place: int,
    text: _Type,
    apart: float,
    edges: Mapping[int, tuple[float, float]],
) -> bool:
    """Whether a row is no further line of the heading, paragraph or item before it."""
    rows = sheet.rows
    before = rows[last]
    row = rows[place]
    is_larger = text.is_larger(row)
    if is_larger != text.is_larger(before) or text.is_bold(row) != text.is_bold(before):
        return True
    distance = row.top - before.bottom
    if is_larger:
        looks = _look(before), _look(row)
        is_other = min(looks) < _SAME_LEVEL * max(looks)
        return is_other or distance > row.height or row.top < before.top
    left, right = edges[sheet.blocks[last]]
    if _goes_on_in_next_column(before, row):
        return not _are_alike(before, row) or would_fit(before, row.words[0], right)
    return (
        sheet.blocks[place] != sheet.blocks[last]
        or distance > apart + _PARAGRAPH_GAP * text.height
        or not _are_alike(before, row)
        or _begins_item(row)
        or _is_caption(row)
        or abs(row.left - before.left) > _INDENT * text.height
        or (would_fit(before, row.words[0], right) and not _goes_on_with(before, row))
        or _are_set_to_the_right(before, row, left, text)
    )


def _are_alike(before: Row, row: Row) -> bool:
    """Whether the type of two rows has one size, as far as it can be told."""
    are_few = min(map(_alphabetic, (before, row))) < _FEW_LETTERS
    is_doubtful = are_few or _goes_on_with(before, row)
    least = _OTHER_SIZE_IN_DOUBT if is_doubtful else _OTHER_SIZE
    return min(row.size, before.size) >= least * max(row.size, before.size)


def _alphabetic(row: Row) -> int:
    """The number of characters of a row that are letters."""
    return sum(map(str.isalpha, "".join(word.text for word in row.words)))


def _goes_on_in_next_column(before: Row, row: Row) -> bool:
    """Whether a column ends within a sentence, and a row at the right goes on with it."""
    is_next_column = row.top < before.top and row.left > before.right
    return is_next_column and _is_within_sentence(before, row)


def _goes_on_with(before: Row, row: Row) -> bool:
    """Whether a row goes on with the sentence of a long one before it, however ragged they are."""
    return len(before.words) >= _LONG_ROW and _is_within_sentence(before, row)


def _is_within_sentence(before: Row, row: Row) -> bool:
    """Whether a sentence does not end between two rows, as small letters say."""
    ends = before.words[-1].text.endswith(_SENTENCE_ENDS)
    return not ends and row.words[0].text[:1].islower()


def _are_set_to_the_right(before: Row, row: Row, left: float, text: _Type) -> bool:
    """Whether lines that end at one place begin at others, far from where text begins."""
    return (
        min(before.left, row.left) - left > _INDENT * text.height
        and abs(before.left - row.left) > _RAGGED * text.height
        and abs(before.right - row.right) < _RAGGED * text.height
    )


def _begins_item(row: Row) -> bool:
    return len(row.words) > 1 and is_mark(row.words[0].text)


def _is_caption(row: Row) -> bool:
    """Whether a row begins as ``Figure 2`` does."""
    if len(row.words) < 3 or not _CAPTION.match(row.words[0].text):
        return False
    return row.words[1].text[:1].isdigit()


def _text_part(rows: Sequence[Row], text: _Type) -> Heading | Paragraph | Item:
    """A part of lines; headings have no level yet, which all of the document tell."""
    first = rows[0]
    is_item = _begins_item(first)
    # Sections have numbers, and no bullets
    is_bold = len(rows) == 1 and text.is_bold(first)
    if text.is_larger(first) or (is_bold and not (is_item and _has_bullet(first))):
        return Heading(1, tuple(rows))
    if is_item:
        mark, *words = first.words
        return Item(mark.text, (Row.of(words), *rows[1:]), mark.box.left)
    return Paragraph(tuple(rows))


def _has_bullet(row: Row) -> bool:
    """Whether a row begins with a mark that is no number or letter."""
    return not any(map(str.isalnum, row.words[0].text))
