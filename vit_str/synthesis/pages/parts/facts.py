"""Labels with values that are no table: in a line, above each other, in boxes, on cards; ticks."""

from collections.abc import Sequence

from markupsafe import Markup

from vit_str.synthesis.pages.design import Design
from vit_str.synthesis.pages.html import Content, div, element, joined, lines, span

_KINDS = (
    "phrase",
    "date",
    "integer",
    "price",
    "code",
    "person",
    "street",
    "mail",
    "phone",
)


def running_facts(design: Design, low: int = 2, high: int = 5, way: str = "") -> Markup:
    """``Label: value`` with the value right after its label, below each other or in one line."""
    random = design.random
    way = way or random.one("below", "below", "row")
    labels = design.texts.different("labels", random.randint(low, high))
    look = random.one("", "", "font-weight: 700", f"color: {design.style.gray}")
    found = [
        div(
            span(f"{label}:", style=look),
            " ",
            design.texts.value(random.choice(_KINDS)),
        )
        for label in labels
    ]
    gap = random.uniform(1.2, 3)
    style = (
        f"display: flex; flex-wrap: wrap; gap: .2em {gap:.1f}em" if way == "row" else ""
    )
    return element("dl", *found, style=f"margin: .3em 0 .8em; {style}")


def fields(
    design: Design, count: int = 0, columns: int = 0, labels: Sequence[str] = ()
) -> Markup:
    """Fields of a form: small labels above, below or before values, which may be missing."""
    random = design.random
    count = count or random.randint(3, 10)
    columns = columns or random.one(1, 2, 2, 3)
    labels = labels or design.texts.different("fields", count)
    way = random.weighted({"above": 4, "below": 1, "before": 2})
    filled = random.one(0.0, 0.5, 0.9, 1.0)
    line = random.one(
        "border-bottom: 1px solid #333;", "border: 1px solid #999; padding: .1em .35em;"
    )
    if way != "before":
        line = random.one(
            line, line, "", f"background: {design.style.ground}; padding: .1em .35em;"
        )
    small = (
        f"font-size: {random.one(0.7, 0.8, 0.9, 1)}em; "
        f"color: {random.one('inherit', design.style.gray)}"
    )
    cells = []
    for label in labels:
        wide = columns > 1 and random.chance(0.2)
        span_css = "grid-column: span 2;" if wide else ""
        value = (
            design.texts.value(random.choice(_KINDS)) if random.chance(filled) else ""
        )
        cells.append(_field(label, value, way, line, small, span_css))
    style = (
        f"display: grid; grid-template-columns: repeat({columns}, minmax(0, 1fr)); margin: .6em 0;"
        f" gap: {random.uniform(0.3, 0.9):.2f}em {random.uniform(0.8, 2):.2f}em"
    )
    return element("dl", *cells, style=style)


def _field(label: str, value: str, way: str, line: str, small: str, css: str) -> Markup:
    if way == "before":
        inner = [span(label + ":", style=f"{small}; white-space: nowrap"), " "]
        inner.append(
            span(
                value,
                style=f"{line} flex: 1; min-height: 1.3em; min-width: 2em; margin-left: .5em",
            )
        )
        return div(*inner, style=f"display: flex; align-items: baseline; {css}")
    first = div(label, style=small)
    second = div(value, style=f"{line} min-height: 1.45em")
    parts = (first, second) if way == "above" else (second, first)
    return div(*parts, style=css)


def boxed_form(design: Design, rows: int = 0) -> Markup:
    """Boxes of unequal width with a small label in each, as of a tax office; no table."""
    random = design.random
    line = random.one("1px solid #333", "1px solid #777", "0.7px solid #000")
    numbered = random.chance(0.4)
    filled = random.one(0.0, 0.6, 0.95)
    number = 0
    found = []
    for _ in range(rows or random.randint(3, 8)):
        boxes = []
        for share in random.sample((1, 1.4, 2, 2.7, 3.5, 0.7), random.randint(1, 4)):
            number += 1
            label = (
                design.texts.label("fields")
                if random.chance(0.6)
                else design.texts.phrase(1, 5)
            )
            label = f"{number} {label}" if numbered else label
            value = (
                design.texts.value(random.choice(_KINDS))
                if random.chance(filled)
                else ""
            )
            first = div(label, style="font-size: .68em; line-height: 1.15")
            second = div(value, style="min-height: 1.5em; padding-left: .3em")
            css = (
                f"flex: {share} 1 0; min-width: 0; padding: .15em .35em; border: {line}; "
                "margin: 0 -1px -1px 0"
            )
            boxes.append(div(first, second, style=css))
        found.append(element("dl", *boxes, style="display: flex; margin: 0"))
    return div(*found, class_="flow", style="margin: .6em 0 1em")


def figures_on_cards(design: Design, count: int = 0) -> Markup:
    """Large numbers with a small text below or above each, side by side."""
    random = design.random
    large = (
        f"font-size: {random.uniform(1.3, 2.6):.1f}em; line-height: 1.15; "
        f"font-weight: {random.one(400, 700)}"
    )
    large += random.one("", f"; color: {design.style.color}")
    small = f"font-size: {random.one(0.75, 0.85, 0.95)}em"
    is_above = random.chance(0.6)
    align = random.one("left", "center")
    kind = random.one("integer", "percent", "price", "decimal", "mixed")
    class_ = random.one("card", "card", "")
    cells = []
    for _ in range(count or random.randint(2, 5)):
        number = div(design.texts.value(kind), style=large)
        name = div(design.texts.phrase(1, 4), style=small)
        change: Content = None
        if random.chance(0.2):
            change = div(design.texts.value("signed") + " %", style=small)
        parts = (number, name, change) if is_above else (name, number, change)
        cells.append(
            div(*parts, class_=class_, style=f"flex: 1 1 0; text-align: {align}")
        )
    style = f"display: flex; gap: {random.uniform(0.6, 2):.1f}em; margin: .8em 0"
    return element("dl", *cells, style=style)


def tick_box(design: Design, is_ticked: bool) -> Markup:
    """A box to tick, drawn, not written."""
    is_round = design.numbers["round boxes"] > 0
    mark = design.random.one("M2 6 L5 9 L10 2", "M2 2 L10 10 M10 2 L2 10")
    path = element("path", d=mark, stroke="#111", stroke_width="1.6", fill="none")
    shape = "border-radius: 50%;" if is_round else ""
    css = (
        "width: .85em; height: .85em; border: 1px solid #222; vertical-align: -.08em; "
        f"margin-right: .45em; {shape}"
    )
    return element(
        "svg",
        path if is_ticked else None,
        role="checkbox",
        aria_checked="true" if is_ticked else "false",
        viewBox="0 0 12 12",
        style=css,
    )


def options_to_tick(
    design: Design, low: int = 2, high: int = 6, in_row: bool | None = None
) -> Markup:
    """Options with boxes, below each other, in a row or in columns: items."""
    random = design.random
    in_row = random.chance(0.5) if in_row is None else in_row
    ticked = random.one(0.0, 0.3, 0.5)
    is_drawn = random.chance(0.7)
    count = random.randint(low, high)
    most = random.one(1, 3, 8)
    rows = []
    for _ in range(count):
        is_ticked = random.chance(ticked)
        text = (
            design.texts.value("answer") if most == 1 else design.texts.phrase(1, most)
        )
        sign = "☒" if is_ticked else "☐"
        box = tick_box(design, is_ticked) if is_drawn else span(sign + " ")
        rows.append(element("li", box, text, style="padding: 0; text-indent: 0"))
    css = (
        f"display: flex; flex-wrap: wrap; gap: .2em {random.uniform(1.2, 3):.1f}em"
        if in_row
        else ""
    )
    return element("ul", *rows, style=f"padding-left: 0; {css}")


def signatures(design: Design, count: int = 0) -> Markup:
    """Lines to sign on, with what is to be signed below: facts without values."""
    random = design.random
    count = count or random.one(1, 2, 2, 3)
    found = []
    for _ in range(count):
        text = design.texts.label("fields")
        if random.chance(0.4):
            text = f"{design.texts.value('place')}, {design.texts.date()}"
        css = "border-top: 1px solid #333; padding-top: .2em; flex: 1 1 0; font-size: .85em"
        found.append(div(text, style=css))
    style = f"display: flex; gap: {random.uniform(2, 5):.1f}em; margin: 3em 0 1em"
    return element("dl", *found, style=style)


def contact(design: Design) -> Markup:
    """Ways to reach somebody: lines of one paragraph, or facts."""
    random = design.random
    if random.chance(0.4):
        return running_facts(design, 2, 4, "below")
    kinds = random.some(["street", "city", "phone", "mail", "site"], 2, 5)
    rows = [design.texts.value(kind) for kind in kinds]
    if random.chance(0.3):
        return element("p", random.one(" | ", " · ", " • ").join(rows), class_="plain")
    return element("p", lines(*rows), class_="plain")


def total_line(design: Design) -> Markup:
    """One sum by itself: a fact."""
    value = element("b", design.texts.price(2000))
    style = f"margin: .4em 0; text-align: {design.random.one('right', 'left')}"
    label = design.texts.exact("totals")
    return element("dl", div(joined(label, ": ", value)), style=style)
