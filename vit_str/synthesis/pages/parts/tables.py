"""Tables: with rules or without, of cells that span others, of lines beside prices."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from markupsafe import Markup

from vit_str.synthesis.pages.design import Design
from vit_str.synthesis.pages.html import Content, div, element, joined, lines, span
from vit_str.synthesis.pages.parts.text import marked_up, sign_row

_TO_THE_RIGHT = {"integer", "small", "decimal", "percent", "signed", "price", "amount"}
_EXACT = _TO_THE_RIGHT | {
    "date",
    "code",
    "time",
    "unit",
    "quantity",
    "year",
    "span",
    "tick",
}
_OF_WORDS = {"thing", "phrase", "person", "place", "clause", "item", "span"}
_FAMILIES = (
    ("integer",),
    ("price", "integer"),
    ("amount",),
    ("percent", "decimal"),
    ("decimal",),
    ("tick",),
    ("answer", "tick"),
    ("phrase", "integer", "price"),
    ("thing", "code", "date", "quantity", "unit"),
    ("time",),
    ("date", "person", "phrase"),
    ("signed", "percent"),
    ("clause", "phrase"),
)
_FIRST = (
    "thing",
    "thing",
    "thing",
    "phrase",
    "date",
    "code",
    "person",
    "item",
    "small",
    "place",
    "year",
    "clause",
)


class Column(NamedTuple):
    """A column: what its values are, see `Texts.value`, its title, and whether it has a sign."""

    kind: str
    title: str = ""
    has_sign: bool = False  # a sign of a currency at the left of its cells


@dataclass(frozen=True)
class Cell:
    """A cell of a table."""

    content: Content = ""
    rows: int = 1
    columns: int = 1
    is_head: bool = False
    class_: str = ""


Row = list[Cell]


@dataclass(frozen=True)
class TableOptions:
    """Features of a table; shares are of rows or cells.

    Attributes:
        has_heads: titles of columns.
        empty: share of cells, but those of the first column, that are empty.
        second: share of rows whose first text has a smaller line below it.
        groups: share of rows that are a name over all columns.
        spans: share of rows with a cell over two columns, or over rows.
        sums: rows at the end.
        stubs: the first column has head cells.
        tall_heads: two rows of heads, the upper one of groups of columns.
        lines: share of cells of words that somebody broke into two or three lines.
    """

    has_heads: bool = True
    empty: float = 0.0
    second: float = 0.0
    groups: float = 0.0
    spans: float = 0.0
    sums: int = 0
    stubs: bool = False
    tall_heads: bool = False
    lines: float = 0.0


def any_options(design: Design, columns: Sequence[Column]) -> TableOptions:
    """Options at random."""
    random = design.random
    has_money = any(column.kind in ("price", "amount") for column in columns)
    return TableOptions(
        has_heads=random.chance(0.78),
        empty=random.one(0, 0, 0, 0.05, 0.15, 0.35),
        second=random.one(0, 0, 0, 0, 0.4, 1),
        groups=random.one(0, 0, 0, 0.12, 0.25),
        spans=random.one(0, 0, 0.06),
        sums=random.randint(1, 4) if has_money and random.chance(0.45) else 0,
        stubs=design.style.tables[0].has_bold_labels,
        tall_heads=len(columns) >= 4 and random.chance(0.2),
        lines=random.one(0, 0, 0, 0, 0.1, 0.4),
    )


def any_columns(design: Design, low: int = 2, high: int = 7) -> list[Column]:
    """Columns at random: the first one names, the others have values of a few kinds."""
    random = design.random
    count = random.randint(low, high)
    family = random.choice(_FAMILIES)
    kinds = [random.choice(_FIRST), *(random.choice(family) for _ in range(count - 1))]
    titles = design.texts.different("columns", count)
    if random.chance(0.25) and len(family) == 1:
        start = design.texts.year - count
        titles[1:] = [str(start + place) for place in range(1, count)]
    sign = random.chance(0.25)
    return [
        Column(kind, title, sign and kind == "amount")
        for kind, title in zip(kinds, titles, strict=True)
    ]


def any_table(design: Design, narrow: bool = False, rows: int = 0) -> Markup:
    """A table of any kind."""
    random = design.random
    columns = any_columns(design, 2, 3 if narrow else random.one(3, 4, 5, 7))
    options = any_options(design, columns)
    return table(design, columns, rows or random.one(2, 3, 4, 5, 6, 8, 12), options)


def table(
    design: Design,
    columns: Sequence[Column],
    rows: int,
    options: TableOptions | None = None,
    caption: bool | None = None,
) -> Markup:
    """A table with values at random.

    Args:
        design: of the page.
        columns: from left to right.
        rows: of values.
        options: what else it has; nothing if None.
        caption: whether it has one; None for some.
    """
    options = options or TableOptions()
    heads = _heads(design, columns, options) if options.has_heads else []
    body = _body(design, columns, rows, options)
    has_caption = design.random.chance(0.15) if caption is None else caption
    text = caption_text(design, "table") if has_caption else None
    return drawn(design, heads, body, columns, text)


def caption_text(design: Design, kind: str) -> Markup:
    """The text of a caption of a ``table`` or ``figure``; some have a name and number."""
    random = design.random
    text = marked_up(design, design.texts.sentence(3, random.one(6, 12, 25)))
    if random.chance(0.25):
        return text
    number = design.next_number(kind)
    mark = random.one(".", ":", " –", "")
    name = f"{design.texts.exact(kind)} {number}{mark}"
    return joined(element(random.one("b", "span", "i"), name), " ", text)


def drawn(
    design: Design,
    heads: Sequence[Row],
    body: Sequence[Row],
    columns: Sequence[Column],
    caption: Content = None,
    css: str = "",
) -> Markup:
    """Rows as a table in one of the looks of the page."""
    random = design.random
    number = random.one(0, 0, 0, 1)
    look = design.style.tables[number]
    has_spans = any(c.rows > 1 or c.columns > 1 for row in [*heads, *body] for c in row)
    sides = _sides(design, columns)
    head_sides = _head_sides(design, sides)
    style = css + _width(design, look.is_wide, len(columns))
    if not has_spans and caption is None and random.chance(0.2):
        return _grid(design, heads, body, columns, sides, f"table{number}", css)
    if not look.is_wide and random.chance(0.12):
        style += "margin-left: auto; margin-right: auto;"
    head_rows = [_tr(row, columns, head_sides, is_head=True) for row in heads]
    body_rows = [_tr(row, columns, sides) for row in body]
    title = element("caption", caption) if caption else None
    head = element("thead", *head_rows) if head_rows else None
    inner = joined(title, head, element("tbody", *body_rows))
    return element("table", inner, class_=f"table{number}", style=style)


def _width(design: Design, is_wide: bool, columns: int) -> str:
    """Over the whole width, over a part of it, or as wide as what is in it."""
    random = design.random
    if not is_wide:
        wide = f"min-width: {random.randint(45, 90)}%;"
        return random.one("", "", "", wide)
    alike = f"--column: {random.uniform(60, 100) / columns:.0f}%;"
    return "width: 100%;" + random.one("", "", "", alike)


def _sides(design: Design, columns: Sequence[Column]) -> list[str]:
    """Where each column is aligned: by what it is, or as all but the first one are."""
    way = design.random.weighted({"kind": 8, "center": 1, "left": 1.5, "right": 0.5})
    by_kind = {column.kind: _alignment(design, column.kind) for column in columns}
    if way == "kind":
        return [by_kind[column.kind] for column in columns]
    side = "" if way == "left" else way
    return [side if place else "" for place in range(len(columns))]


def _head_sides(design: Design, sides: list[str]) -> list[str]:
    """Titles of columns stand as their values do; on some pages all are alike."""
    way = design.random.weighted({"values": 8, "center": 1.5, "left": 1.5})
    if way == "values":
        return sides
    return ["" if way == "left" else way] * len(sides)


def _alignment(design: Design, kind: str) -> str:
    if kind in _TO_THE_RIGHT:
        return design.random.one("right", "right", "right", "right", "", "center")
    return design.random.one("", "", "", "", "", "center")


def _tr(
    row: Row, columns: Sequence[Column], sides: Sequence[str], is_head: bool = False
) -> Markup:
    cells = []
    # Which column a cell is in matters for its side only: those under spans may be off by one
    place = len(columns) - sum(cell.columns for cell in row) if not is_head else 0
    for cell in row:
        number = min(max(place, 0), len(columns) - 1)
        column, side = columns[number], sides[number]
        if cell.columns > 1 and is_head:
            side = "center"
        elif cell.columns > 1:
            side = ""
        exact = "exact" if column.kind in _EXACT and not is_head else ""
        names = " ".join(filter(None, (side, exact, cell.class_)))
        spans = {
            "rowspan": cell.rows if cell.rows > 1 else None,
            "colspan": cell.columns if cell.columns > 1 else None,
        }
        tag = "th" if is_head or cell.is_head else "td"
        cells.append(element(tag, cell.content, class_=names, **spans))
        place += cell.columns
    return element("tr", *cells)


def _grid(
    design: Design,
    heads: Sequence[Row],
    body: Sequence[Row],
    columns: Sequence[Column],
    sides: Sequence[str],
    name: str,
    css: str,
) -> Markup:
    """The same as elements in a grid, as web pages have it."""
    random = design.random
    is_named = {"thing", "phrase", "clause", "item", "person", "sentence"}
    shares = [
        random.uniform(1.6, 3) if column.kind in is_named else random.uniform(0.9, 1.4)
        for column in columns
    ]
    template = " ".join(f"{share:.2f}fr" for share in shares)
    rows = []
    for number, row in enumerate([*heads, *body]):
        is_head = number < len(heads)
        cells = []
        for cell, side in zip(row, sides, strict=False):
            role = (
                "columnheader" if is_head else "rowheader" if cell.is_head else "cell"
            )
            names = f"{side} {cell.class_}".strip()
            cells.append(div(cell.content, role=role, class_=names))
        rows.append(div(*cells, role="row", style="display: contents"))
    style = f"{css}display: grid; grid-template-columns: {template};"
    return div(*rows, role="table", class_=name, style=style)


def _heads(
    design: Design, columns: Sequence[Column], options: TableOptions
) -> list[Row]:
    """Titles of columns, with those of groups of columns above them."""
    random = design.random
    has_corner = random.chance(0.85)
    titles = [
        Cell(column.title if place or has_corner else "", is_head=True)
        for place, column in enumerate(columns)
    ]
    if not options.tall_heads or len(columns) < 4:
        return [titles]
    first = random.randint(1, len(columns) - 3)
    above = [replace(title, rows=2) for title in titles[:first]]
    place = first
    while place < len(columns):
        wide = min(random.randint(2, 3), len(columns) - place)
        rows = 2 if wide == 1 else 1
        text = titles[place].content if wide == 1 else design.texts.phrase(1, 2)
        above.append(Cell(text, rows=rows, columns=wide, is_head=True))
        place += wide
    covered = _covered(above)
    return [above, [title for n, title in enumerate(titles) if n not in covered]]


def _covered(row: Row) -> set[int]:
    """Columns in which a row of heads reaches down into the next one."""
    found, place = set(), 0
    for cell in row:
        if cell.rows > 1:
            found |= set(range(place, place + cell.columns))
        place += cell.columns
    return found


def _body(
    design: Design, columns: Sequence[Column], rows: int, options: TableOptions
) -> list[Row]:
    random = design.random
    body: list[Row] = []
    under = 0  # rows that a cell of the first column still covers
    for number in range(rows):
        left = rows - 1 - number
        if not under and random.chance(options.groups) and left:
            name = design.texts.phrase(1, 3)
            body.append(
                [Cell(name, columns=len(columns), is_head=True, class_="group")]
            )
        row = [
            _cell(design, column, place, options)
            for place, column in enumerate(columns)
        ]
        if under:
            under -= 1
            row = row[1:]
        elif left and len(columns) > 2 and random.chance(options.spans):
            under = random.randint(1, min(3, left))
            row[0] = replace(row[0], rows=under + 1)
        elif len(columns) > 2 and random.chance(options.spans):
            place = random.randrange(1, len(columns) - 1)
            wide = replace(row[place], columns=2, class_="center")
            row[place : place + 2] = [wide]
        body.append(row)
    body += [_sum(design, columns, random.chance(0.6)) for _ in range(options.sums)]
    return body


def _cell(design: Design, column: Column, place: int, options: TableOptions) -> Cell:
    random = design.random
    if place and random.chance(options.empty):
        return Cell(random.one("", "", "–"))
    text: Content = design.texts.value(column.kind)
    if column.kind in _OF_WORDS and random.chance(options.lines):
        more = random.several(1, 2, lambda: design.texts.value(column.kind))
        text = lines(text, *more)
    if column.has_sign:
        text = joined(span(design.texts.currency, class_="sign"), text)
    is_named = column.kind in ("thing", "item", "phrase")
    if place < 2 and is_named and random.chance(options.second):
        text = joined(text, div(design.texts.sentence(2, 10)[:-1], class_="sub"))
    return Cell(text, is_head=place == 0 and options.stubs)


def _sum(design: Design, columns: Sequence[Column], is_wide: bool) -> Row:
    """A row of a sum: its name over all but the last column, or in the first one."""
    name, amount = design.texts.label("totals"), design.texts.price(5000)
    count = len(columns)
    if count == 2:
        return [Cell(name, class_="sum"), Cell(amount, class_="sum right")]
    if is_wide:
        # At the left, nobody sees that it covers more than the first column
        return [
            Cell(name, columns=count - 1, class_="sum right"),
            Cell(amount, class_="sum right"),
        ]
    place = design.random.one(0, count - 2)
    row = [Cell("", class_="sum") for _ in columns]
    row[place] = Cell(name, class_="sum")
    row[-1] = Cell(amount, class_="sum right")
    return row


def pairs(
    design: Design,
    labels: Sequence[str] = (),
    kind: str = "mixed",
    sums: int = 0,
    way: str = "",
    values: Sequence[Content] = (),
) -> Markup:
    """Labels and values that begin below each other in two columns: a table.

    Args:
        design: of the page.
        labels: of the rows; some at random if there are none.
        kind: of the values, see `Texts.value`.
        sums: rows at the end.
        way: ``between``: values at the right end; ``leader``, ``dots``: with dots before them;
            ``grid`` or ``table``; any if empty.
        values: beside the labels; some at random if there are none.
    """
    random = design.random
    way = way or random.one("grid", "table", "between", "leader", "dots")
    labels = labels or design.texts.different("labels", random.randint(2, 8))
    colon = random.one("", ":", "")
    bold = random.one("", "", "font-weight: 700;", f"color: {design.style.gray};")
    is_head = bool(bold)
    gap = random.one(0, 0.08, 0.25, 0.5)
    values = values or [design.texts.value(kind) for _ in labels]
    rows = [
        (label + colon, value, "") for label, value in zip(labels, values, strict=True)
    ]
    rows += [
        (design.texts.label("totals"), design.texts.price(900), "font-weight: 700")
        for _ in range(sums)
    ]
    room = random.uniform(0.6, 2.2)
    found = []
    for label, value, strong in rows:
        style = f"padding: {gap / 2}em 0; {strong};"
        first = _pair_cell(label, "rowheader" if is_head else "cell", way, bold + style)
        between: Content = None
        last_style = style
        if way == "leader":
            between = span(class_="leader", aria_hidden="true")
        elif way == "dots":
            between = _dots(design)
        if way in ("leader", "dots", "between"):
            last_style += "white-space: nowrap; padding-left: .4em; text-align: right;"
        last = _pair_cell(value, "cell", way, last_style)
        found.append(_pair_row(way, first, between, last))
    margin = f"margin: {design.style.gap + 0.2:.2f}em 0 {design.style.gap + 0.5:.2f}em;"
    if way == "table":
        css = f"{margin} border-collapse: collapse; border-spacing: {room}em 0;"
        return element("table", *found, style=css, class_="pairs")
    template = random.one(
        "auto 1fr", "max-content 1fr", f"{random.uniform(0.5, 1):.2f}fr 1fr"
    )
    grid = (
        f"display: grid; column-gap: {room:.1f}em; grid-template-columns: {template};"
    )
    return div(*found, role="table", style=margin + (grid if way == "grid" else ""))


def _pair_cell(text: Content, role: str, way: str, style: str) -> Markup:
    if way == "table":
        tag = "th" if role == "rowheader" else "td"
        return element(
            tag, text, style=f"text-align: left; padding-right: 1.2em; {style}"
        )
    return div(text, role=role, style=style)


def _pair_row(way: str, first: Markup, between: Content, last: Markup) -> Markup:
    if way == "table":
        return element("tr", first, last)
    if way == "grid":
        return div(first, last, role="row", style="display: contents")
    style = "display: flex; justify-content: space-between; align-items: baseline"
    return div(first, between, last, role="row", style=style)


def _dots(design: Design) -> Markup:
    """Leaders made of characters, which are not text."""
    sign = design.random.one(".", ". ", "_", "-", "·")
    style = (
        "flex: 1 1 0; contain: inline-size; overflow: hidden; white-space: nowrap; "
        "margin: 0 .3em"
    )
    row = sign_row(sign, 200)
    return span(row, aria_hidden="true", style=style)
