"""Tables in looks of their own, whatever those of the other tables of the page are."""

from collections.abc import Callable, Sequence

from markupsafe import Markup

from vit_str.synthesis.pages.design import Design
from vit_str.synthesis.pages.html import Content, div, element, joined, lines, span
from vit_str.synthesis.pages.parts.tables import Cell, Row

_SIDES = {"l": "left", "r": "right", "c": "center"}
_LINES = (
    "1px solid #333",
    "1px solid #bbb",
    "1px solid #ddd",
    "0.6px solid #000",
    "1px dotted #666",
    "1px dashed #999",
    "1.5px solid #555",
)
_FEW_LETTERS = 5  # such as a currency or a unit beside a number
_RULES = {
    "none": 4.0,
    "all": 2.5,
    "rows": 3.0,
    "frame": 1.0,
    "frame rows": 1.0,
    "columns": 0.8,
    "frame columns": 1.0,
    "zebra": 1.5,
    "zebra columns": 0.7,
    "head": 2.0,
    "head foot": 1.5,
    "apart": 0.5,
}


def look(design: Design, rules: str = "", tight: bool = False) -> str:
    """A look of tables.

    Args:
        design: of the page, which gets its style sheet.
        rules: one of `_RULES`; any if empty.
        tight: little room in cells, as where many columns stand close.

    Returns:
        the name of its class.
    """
    random = design.random
    design.numbers["looks"] += 1
    name = f"look{design.numbers['looks']}"
    rules = rules or random.weighted(_RULES)
    line = random.choice(_LINES)
    down = random.one(0, 0.04, 0.1) if tight else random.one(0, 0.1, 0.25, 0.45, 0.8)
    across = random.uniform(0.3, 0.6) if tight else random.one(0.35, 0.5, 0.8, 1.3)
    size = random.uniform(0.78, 0.92) if tight else random.one(0.85, 0.92, 1, 1)
    face = ""
    if random.chance(0.1):
        face = f" font-family: {design.style.one_face('mono')};"
    cells = f".{name} td, .{name} th, .{name} [role=row] > *"
    design.added_css += [
        f".{name} {{ border-collapse: collapse; font-size: {size:.2f}em;{face}"
        f" line-height: {random.uniform(1.08, 1.45):.2f};"
        f" margin: {random.uniform(0.3, 1):.1f}em 0 }}",
        f"{cells} {{ padding: {down}em {across:.2f}em; font-weight: 400; text-align: left;"
        f" vertical-align: {random.one('top', 'top', 'middle', 'baseline')} }}",
        _of_heads(design, name, line),
        _of_rules(design, name, rules, line),
        *_of_rows(design, name),
    ]
    return name


def _of_heads(design: Design, name: str, line: str) -> str:
    """The look of the titles of columns; dark grounds before those of rows and columns."""
    random = design.random
    style = design.style
    css = random.one(
        "font-weight: 700",
        "font-weight: 700",
        "",
        f"font-size: .82em; color: {style.gray}",
        "text-transform: uppercase; font-size: .75em; letter-spacing: .08em",
        f"background: {style.dark} !important; color: #fff; font-weight: 700",
        f"background: {style.color} !important; color: #fff",
        f"background: {style.ground}; font-weight: 700",
        f"color: {style.color}; font-weight: 700",
        "font-style: italic",
        "border-top: 2px solid #222; border-bottom: 1px solid #222",
        "font-variant: small-caps",
    )
    below = random.one(
        "", f"; border-bottom: {line}", "; border-bottom: 2px solid #222"
    )
    heads = f".{name} thead th, .{name} [role=columnheader]"
    return f"{heads} {{ {css}{below}; vertical-align: {random.one('bottom', 'middle', 'top')} }}"


def _of_rules(design: Design, name: str, rules: str, line: str) -> str:
    """Lines between and around cells, grounds of rows."""
    thick = design.random.one("2px solid #222", f"2px solid {design.style.color}", line)
    cells = f".{name} tbody td, .{name} tbody th, .{name} [role=row] > *"
    later = f".{name} tr > * + *, .{name} [role=row] > * + *"
    ground = f"background: {design.style.ground}"
    css = {
        "all": f".{name} td, .{name} th, .{name} [role=row] > * {{ border: {line} }}",
        "rows": f"{cells} {{ border-bottom: {line} }}",
        "head": f".{name} thead tr:last-child th {{ border-bottom: {thick} }}",
        "head foot": f".{name} {{ border-top: {thick}; border-bottom: {thick} }}"
        f" .{name} thead tr:last-child th {{ border-bottom: {line} }}",
        "zebra": f".{name} tbody tr:nth-child(even) > *,"
        f" .{name} [role=row]:nth-child(even) > * {{ {ground} }}",
        "zebra columns": f".{name} tr > :nth-child(even),"
        f" .{name} [role=row] > :nth-child(even) {{ {ground} }}",
        "columns": f"{later} {{ border-left: {line} }}",
        "apart": f".{name} {{ border-collapse: separate; border-spacing: 3px }}"
        f" {cells} {{ {ground} }}",
    }
    parts = (
        [css[rules]] if rules in css else [css.get(rule, "") for rule in rules.split()]
    )
    if "frame" in rules:
        parts.append(f".{name} {{ border: {line} }}")
    return " ".join(parts)


def _of_rows(design: Design, name: str) -> list[str]:
    """The look of sums, names of groups, heads of rows, second lines and steps to the right."""
    random = design.random
    style = design.style
    sums = random.one(
        "font-weight: 700",
        "border-top: 1px solid #333",
        "border-top: 1px solid #333; border-bottom: 3px double #333",
        f"background: {style.ground}; font-weight: 700",
        "font-weight: 700; border-top: 2px solid #222",
        "",
    )
    groups = random.one(
        "font-weight: 700",
        "font-weight: 700; padding-top: .9em",
        "font-style: italic",
        f"background: {style.ground}; font-weight: 700",
        f"background: {style.color} !important; color: #fff",
        f"color: {style.color}; border-bottom: 1px solid {style.color}; padding-top: .8em",
        "font-variant: small-caps; text-align: center",
        "text-transform: uppercase; font-size: .8em; letter-spacing: .1em",
    )
    stubs = random.one(
        "font-weight: 700",
        f"background: {style.ground}",
        f"color: {style.color}; font-weight: 700",
    )
    small = random.one("font-size: .84em", f"color: {style.gray}", "font-style: italic")
    sides = [f".{name} .{side} {{ text-align: {side} }}" for side in _SIDES.values()]
    return [
        f".{name} tbody .stub, .{name} .stub {{ {stubs} }}",
        *sides,
        f".{name} .group {{ {groups} }}",
        f".{name} .sum {{ {sums} }}",
        f".{name} .sub {{ {small} }}",
        *(
            f".{name} .step{n} {{ padding-left: {1.2 * n + 0.5:.1f}em }}"
            for n in (1, 2, 3)
        ),
        f".{name} .exact {{ white-space: nowrap }}",
    ]


def grid(
    design: Design,
    heads: Sequence[Row],
    body: Sequence[Row],
    sides: str,
    name: str = "",
    widths: Sequence[float] = (),
    css: str = "width: 100%",
    caption: Content = None,
) -> Markup:
    """Rows as a table.

    Args:
        design: of the page.
        heads: rows of titles.
        body: the other rows.
        sides: of the texts of each column: ``l``, ``r`` or ``c``.
        name: of its `look`; a new one if empty.
        widths: shares of columns; as wide as what is in them if there are none.
        css: of the table.
        caption: what it shows.
    """
    name = name or look(design)
    has_tall = any(cell.rows > 1 for row in [*heads, *body] for cell in row)
    if not has_tall and widths and caption is None and design.random.chance(0.25):
        return _of_boxes(heads, body, sides, name, widths, css)
    whole = sum(widths)
    shares = [element("col", style=f"width: {100 * w / whole:.0f}%") for w in widths]
    places = _places([*heads, *body])
    rows = []
    for number, (row, starts) in enumerate(zip([*heads, *body], places, strict=True)):
        is_head = number < len(heads)
        cells = [
            element(
                "th" if is_head or cell.is_head else "td",
                cell.content,
                class_=_classes(cell, sides[start], is_head),
                rowspan=cell.rows if cell.rows > 1 else None,
                colspan=cell.columns if cell.columns > 1 else None,
            )
            for cell, start in zip(row, starts, strict=True)
        ]
        rows.append(element("tr", *cells))
    title = element("caption", caption) if caption else None
    columns = element("colgroup", *shares) if shares else None
    head = element("thead", *rows[: len(heads)]) if heads else None
    rest = element("tbody", *rows[len(heads) :])
    return element("table", title, columns, head, rest, class_=name, style=css)


def _classes(cell: Cell, side: str, is_head: bool) -> str:
    """Of a cell: the side of its column unless it is over several or has a side of its own."""
    own = cell.class_.split()
    if any(side_name in own for side_name in _SIDES.values()) or "group" in own:
        sided = ""
    elif cell.columns > 1:
        sided = "center" if is_head else ""
    else:
        sided = _SIDES[side]
    stub = "stub" if cell.is_head and not is_head and "group" not in own else ""
    exact = "exact" if _is_figure(cell.content) and not is_head else ""
    return " ".join(filter(None, (sided, stub, exact, cell.class_)))


def _is_figure(content: Content) -> bool:
    """Whether a cell has a number, of which groups of digits stay on one line."""
    text = content or ""
    letters = sum(letter.isalpha() for letter in text)
    return letters < _FEW_LETTERS and any(sign.isdigit() for sign in text)


def _places(rows: Sequence[Row]) -> list[list[int]]:
    """The column that each cell begins in."""
    taken: set[tuple[int, int]] = set()
    found = []
    for number, row in enumerate(rows):
        starts, place = [], 0
        for cell in row:
            while (number, place) in taken:
                place += 1
            starts.append(place)
            for down in range(1, cell.rows):
                taken |= {(number + down, place + n) for n in range(cell.columns)}
            place += cell.columns
        found.append(starts)
    return found


def _of_boxes(
    heads: Sequence[Row],
    body: Sequence[Row],
    sides: str,
    name: str,
    widths: Sequence[float],
    css: str,
) -> Markup:
    """The same of boxes in a grid, as websites have it."""
    rows = []
    for number, row in enumerate([*heads, *body]):
        is_head = number < len(heads)
        cells, place = [], 0
        for cell in row:
            role = (
                "columnheader" if is_head else "rowheader" if cell.is_head else "cell"
            )
            wide = cell.columns if cell.columns > 1 else None
            over = f"grid-column: span {wide}" if wide else ""
            names = _classes(cell, sides[place], is_head)
            cells.append(
                div(
                    cell.content, role=role, class_=names, style=over, aria_colspan=wide
                )
            )
            place += cell.columns
        rows.append(div(*cells, role="row", style="display: contents"))
    template = " ".join(f"minmax(min-content, {width}fr)" for width in widths)
    style = f"{css}; display: grid; grid-template-columns: {template}"
    return div(*rows, role="table", class_=name, style=style)


def head_row(*names: Content) -> Row:
    """Titles of columns."""
    return [Cell(name, is_head=True) for name in names]


def group_row(name: Content, columns: int) -> Row:
    """The name of a group over all columns."""
    return [Cell(name, columns=columns, is_head=True, class_="group")]


def values_row(design: Design, *kinds: str) -> Row:
    """Values of kinds, see `Texts.value`."""
    exact = ("date", "code", "price", "amount", "time", "quantity")
    return [
        Cell(design.texts.value(kind), class_="exact" if kind in exact else "")
        for kind in kinds
    ]


def sum_row(name: str, amount: str, columns: int) -> Row:
    """A sum whose name stands before it over all other columns."""
    return [
        Cell(name, columns=columns - 1, class_="sum right"),
        Cell(amount, class_="sum right exact"),
    ]


def sum_rows(design: Design, count: int, columns: int) -> list[Row]:
    """Sums in the last column, with their names before them."""
    texts = design.texts
    return [
        sum_row(texts.label("totals"), texts.price(3000), columns) for _ in range(count)
    ]


def sums_below(design: Design, count: int, wide: int = 0) -> Markup:
    """Sums in a table of their own at the right end, the last one set apart."""
    random = design.random
    texts = design.texts
    body = [
        [Cell(texts.label("totals")), Cell(texts.price(900), class_="exact")]
        for _ in range(count - 1)
    ]
    body.append(
        [
            Cell(texts.exact("totals"), class_="sum"),
            Cell(texts.price(5000), class_="sum exact"),
        ]
    )
    rules = random.one("none", "none", "rows", "all", "frame")
    share = wide or random.randint(30, 50)
    css = f"width: {share}%; margin-left: auto"
    return grid(design, [], body, "lr", look(design, rules), css=css)


def describer(design: Design, most: int = 4) -> Callable[[], Markup]:
    """Makes cells of one look: a name with what is to be said of it in some lines below."""
    random = design.random
    texts = design.texts
    is_bold = random.chance(0.6)
    way = random.one("lines", "lines", "text", "marks", "facts")
    sign = random.one("• ", "- ", "– ", "* ") if way == "marks" else ""
    fewest = min(most, random.one(0, 1, 1, 2))

    def make() -> Markup:
        name = texts.phrase(1, 5)
        strong = element("b", name) if is_bold else name
        count = random.randint(fewest, most)
        if not count:
            return joined(strong)
        if way == "text":
            below: Content = texts.text(1, (count + 1) // 2)
        elif way == "facts":
            names = texts.different("labels", count)
            below = lines(*(f"{label}: {texts.value('mixed')}" for label in names))
        else:
            rows = (sign + texts.sentence(3, 8)[:-1] for _ in range(count))
            below = lines(*rows)
        return joined(strong, div(below, class_="sub"))

    return make


def with_sign(design: Design, amount: str) -> Markup:
    """An amount with a sign of a currency at the left of its cell."""
    sign = span(design.texts.currency, class_="sign")
    return joined(sign, span(amount, class_="exact"))


def upright(text: Content) -> Markup:
    """Text that runs upwards, as in high cells and the heads of narrow columns."""
    css = "writing-mode: vertical-rl; transform: rotate(180deg); white-space: nowrap"
    return span(text, style=f"display: inline-block; {css}")


def tick(design: Design, kind: str = "") -> Markup:
    """A drawn sign in a cell, which is no text: a tick, a cross, a disc, a ring."""
    color = design.style.color
    paths = {
        "tick": "M2 7 L5 10 L10 2",
        "cross": "M2 2 L10 10 M10 2 L2 10",
        "dash": "M2 6 L10 6",
    }
    kind = kind or design.random.one("tick", "tick", "cross", "dash")
    if kind in paths:
        shape = element(
            "path", d=paths[kind], stroke=color, stroke_width="1.8", fill="none"
        )
    else:
        fill = color if kind == "disc" else "none"
        shape = element("circle", cx="6", cy="6", r="4", fill=fill, stroke=color)
    return element(
        "svg", shape, viewBox="0 0 12 12", width=12, height=12, aria_hidden="true"
    )
