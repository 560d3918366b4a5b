"""The tops of what firms and offices send: a name, a title, what it is about."""

from markupsafe import Markup

from vit_str.synthesis.pages.design import Design, main
from vit_str.synthesis.pages.html import Content, div, element, joined, lines
from vit_str.synthesis.pages.parts import (
    boxes,
    facts,
    grids,
    layout,
    pictures,
    running,
    text,
)
from vit_str.synthesis.pages.parts.tables import Cell


def front(design: Design, title: str = "") -> Markup:
    """A name and a title in one of many arrangements; both are headings where they are large."""
    random = design.random
    texts = design.texts
    title = title or texts.exact("titles")
    large = random.uniform(1.3, 2.6)
    name = text.heading(design, 1, texts.company(), style="margin: 0")
    what = text.heading(
        design,
        1,
        title,
        style=f"margin: 0 0 {random.one(0, 0.3, 0.6)}em; font-size: {large:.1f}em;"
        " text-align: inherit",
    )
    way = random.weighted({"band": 2, "ends": 3, "middle": 1.5, "logo": 2, "title": 2})
    contact = random.one(" · ", " | ", " • ").join(
        texts.value(kind) for kind in ("street", "city", "phone")
    )
    if way == "band":
        row = div(name, div(what, style="text-align: right"), style=_ENDS)
        return boxes.whole_width(design, row)
    if way == "ends":
        left = joined(name, text.text_line(lines(*contact_lines(design)), "plain fine"))
        right = joined(what, text.text_line(texts.value("code")))
        row = div(div(left), div(right, style="text-align: right"), style=_ENDS)
        return div(row, style="margin-bottom: 1.2em")
    if way == "middle":
        line = text.text_line(contact, style="text-align: center")
        middle = div(name, line, style="text-align: center")
        rule = element("hr", aria_hidden="true")
        return joined(middle, rule, what)
    if way == "logo":
        sign = pictures.logo(design, random.randint(26, 60))
        row = div(div(sign), div(what), style=_ENDS)
        return div(
            row, text.text_line(contact, "plain fine"), style="margin-bottom: 1em"
        )
    return what


_TWO_ROWS = 4  # labels, of which two stand in a row
_ENDS = (
    "display: flex; justify-content: space-between; align-items: flex-start; gap: 2em"
)


def contact_lines(design: Design) -> list[str]:
    """Lines of where a firm is and how to reach it."""
    kinds = design.random.some(["street", "city", "phone", "mail", "site"], 2, 4)
    return [design.texts.value(kind) for kind in kinds]


def known(design: Design, low: int = 3, high: int = 8) -> Markup:
    """Facts at the front of a document: a table of labels, a double one, boxes, or lines."""
    random = design.random
    texts = design.texts
    way = random.one("pairs", "double", "strip", "fields", "addressed", "run")
    labels = texts.different("labels", random.randint(low, high))
    if way == "double" and len(labels) >= _TWO_ROWS:
        return label_grid(design, labels)
    if way in ("strip", "double"):
        return strip(design, labels[:5])
    if way == "fields":
        return facts.fields(design, labels=labels)
    if way == "run":
        return facts.running_facts(design, low, high)
    is_set_apart = random.chance(0.4)
    body = [
        [Cell(label, is_head=is_set_apart), Cell(texts.value("mixed"))]
        for label in labels
    ]
    table = grids.grid(
        design,
        [],
        body,
        random.one("ll", "lr", "rl"),
        grids.look(design, "none"),
        css="",
    )
    if way == "addressed":
        return layout.beside(design, text.address(design), table, shares=(1, 1))
    return table


def addressed(design: Design, low: int, high: int) -> Markup:
    """An address beside ``low`` to ``high`` facts at the front of a document."""
    return layout.beside(design, text.address(design), known(design, low, high))


def signed_page(
    design: Design, table: Markup, low: int, high: int, foot: float
) -> list[Markup | None]:
    """A heading, ``low`` to ``high`` facts, a table, and room to sign it.

    Args:
        design: of the page.
        table: that is signed.
        low: fewest facts.
        high: most facts.
        foot: share of such pages with a running foot.
    """
    return [
        running.running_head(design, 0.3),
        main(
            text.heading(design, 1),
            known(design, low, high),
            table,
            facts.signatures(design),
        ),
        running.running_foot(design, foot),
    ]


def label_grid(design: Design, labels: list[str], across: int = 2) -> Markup:
    """Labels with values in two or three pairs of columns: one table."""
    random = design.random
    texts = design.texts
    cells = []
    for label in labels[: len(labels) // across * across]:
        cells += [Cell(label, is_head=True), Cell(texts.value("mixed"))]
    wide = 2 * across
    body = [cells[n : n + wide] for n in range(0, len(cells), wide)]
    rules = random.one("all", "all", "rows", "frame rows", "none")
    widths = (1, 1.6) * across
    name = grids.look(design, rules)
    return grids.grid(design, [], body, "ll" * across, name, widths)


def strip(design: Design, labels: list[str]) -> Markup:
    """Facts in a row of boxes or between two rules, each label above its value."""
    random = design.random
    style = design.style
    line = random.one("1px solid #777", f"1px solid {style.color}")
    look = random.one("boxes", "rules", "ground")
    css = {"boxes": f"border: {line};", "ground": f"background: {style.ground};"}
    small = f"font-size: .74em; color: {style.gray}"
    found: list[Content] = []
    for label in labels:
        first = div(label, style=small)
        inside = f"flex: 1 1 0; min-width: 0; padding: .3em .6em; {css.get(look, '')}"
        found.append(div(first, div(design.texts.value("mixed")), style=inside))
    around = f"border-top: {line}; border-bottom: {line};" if look == "rules" else ""
    gap = random.one(0, 0, 0.4)
    return element(
        "dl", *found, style=f"display: flex; gap: {gap}em; margin: .8em 0; {around}"
    )
