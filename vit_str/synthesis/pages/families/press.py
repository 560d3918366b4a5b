"""Newsletters, newspapers, magazines, menus, brochures, programs."""

from markupsafe import Markup

from vit_str.synthesis.pages.design import Design, main
from vit_str.synthesis.pages.families.family import Family
from vit_str.synthesis.pages.html import (
    Content,
    Maker,
    div,
    element,
    joined,
    lines,
    span,
)
from vit_str.synthesis.pages.parts import facts, layout, pictures, running, tables, text
from vit_str.synthesis.pages.parts.tables import Column, TableOptions


def article(design: Design, level: int = 2, long: bool = False) -> Markup:
    """A headline, some with who wrote it, and paragraphs."""
    random = design.random
    texts = design.texts
    above = (
        text.text_line(
            element(
                "span",
                texts.phrase(1, 2),
                style="text-transform: uppercase; letter-spacing: .1em",
            ),
            "plain fine",
        )
        if random.chance(0.15)
        else None
    )
    by = (
        text.text_line(
            random.one(f"{texts.person()}", f"{texts.date()} | {texts.person()}"),
            "plain fine muted",
        )
        if random.chance(0.4)
        else None
    )
    lead = (
        text.text_line(element("b", texts.text(1, 2))) if random.chance(0.2) else None
    )
    shown = (
        pictures.figure(design, height=random.randint(60, 130))
        if random.chance(0.25)
        else None
    )
    body = [
        text.paragraph(design, 2, 5)
        for _ in range(random.randint(2, 5) if long else random.randint(1, 3))
    ]
    extra = random.weighted({"": 5, "items": 1, "quote": 1})
    more = (
        text.items(design, 2, 4)
        if extra == "items"
        else text.quotation(design)
        if extra == "quote"
        else None
    )
    return joined(
        above,
        text.heading(design, level, texts.title(2, 8)),
        by,
        lead,
        shown,
        *body,
        more,
    )


def _title(design: Design) -> Markup:
    random = design.random
    texts = design.texts
    name = text.heading(
        design,
        1,
        texts.title(1, 4),
        style=(
            f"font-size: {random.uniform(2, 3.6):.1f}em; "
            f"{random.one('text-align: center', '')}"
        ),
    )
    parts = [
        f"{texts.exact('chapter')} {random.randint(1, 90)}",
        texts.date(),
        texts.price(9),
    ]
    if random.chance(0.5):
        below = div(
            *(text.text_line(part) for part in parts[: random.randint(2, 3)]),
            style=(
                "display: flex; justify-content: space-between; border-top: 1px solid #333; "
                "border-bottom: 1px solid #333; padding: .2em 0; margin-bottom: 1em"
            ),
        )
    else:
        below = text.text_line(
            random.one(" | ", " · ", ", ").join(parts[:2]), style="margin-bottom: 1em"
        )
    if random.chance(0.25):
        css = f"background: {design.style.dark}; color: #fff; padding: .6em 1em"
        design.added_css.append(".banner h1 { color: #fff; background: none }")
        return div(name, below, style=css, class_="banner")
    return joined(name, below)


def newsletter(design: Design) -> list[Markup | None]:
    """News of a club or firm, some with a column at the side."""
    random = design.random
    side_options: list[Maker] = [
        lambda: joined(text.heading(design, 3), text.items(design, 3, 6, 6)),
        lambda: element(
            "div", text.heading(design, 3), text.paragraph(design, 1, 2), class_="box"
        ),
        lambda: joined(text.heading(design, 3), tables.pairs(design, kind="date")),
        lambda: joined(text.heading(design, 3), facts.contact(design)),
        lambda: pictures.figure(design, height=100),
    ]
    side = joined(*(make() for make in random.some(side_options, 2, 4)))
    lead = article(design, 2, long=True)
    body = layout.columns(
        design, *[article(design) for _ in range(random.randint(2, 3))], count=2
    )
    look = (
        f"background: {design.style.ground}; padding: .8em"
        if random.chance(0.5)
        else ""
    )
    bar = div(side, class_="flow", style=look)
    text_ = joined(lead, body)
    both = (text_, bar) if random.chance(0.6) else (bar, text_)
    shares = (2.2, 1.0) if both[0] is text_ else (1.0, 2.2)
    parts = (
        [layout.beside(design, *both, shares=shares)]
        if random.chance(0.7)
        else [lead, body, layout.cards(design)]
    )
    return [main(_title(design), *parts), running.running_foot(design)]


def newspaper(design: Design) -> list[Markup | None]:
    """Articles in columns below each other."""
    random = design.random
    count = random.one(3, 3, 4)
    first = joined(
        text.heading(design, 2, design.texts.title(3, 9)),
        layout.columns(
            design,
            *[text.paragraph(design, 2, 5) for _ in range(5)],
            count=count,
            gap=1.2,
        ),
    )
    rows = [first]
    for _ in range(random.randint(1, 2)):
        parts = [article(design) for _ in range(random.one(2, 3))]
        rows.append(
            div(
                layout.beside(design, *parts, shares=(1.0,) * len(parts)),
                style="border-top: 1px solid #333; padding-top: .3em; margin-top: .6em",
            )
        )
    return [main(_title(design), *rows), running.running_foot(design, 0.4)]


def magazine(design: Design) -> list[Markup | None]:
    """One article with a large picture."""
    random = design.random
    shown = pictures.figure(design, height=random.randint(180, 360))
    title = joined(
        text.heading(design, 1, design.texts.title(2, 6)),
        text.text_line(design.texts.text(1, 2), "lead"),
    )
    body = [text.paragraph(design, 3, 6) for _ in range(random.randint(4, 8))]
    body.insert(random.randint(1, 3), text.quotation(design))
    body.insert(random.randint(2, 4), text.heading(design, 2))
    box = element(
        "div",
        text.heading(design, 3),
        random.one(
            text.items(design, 3, 5), text.paragraph(design, 2, 3), tables.pairs(design)
        ),
        class_="box",
    )
    columns = layout.columns(design, *body, box, count=random.one(2, 3))
    return [
        running.running_head(design, 0.3),
        main(*random.one((shown, title, columns), (title, shown, columns))),
        running.running_foot(design),
    ]


def menu(design: Design) -> list[Markup | None]:
    """Dishes and prices: tables, with what is in a dish in its cell."""
    random = design.random
    middle = random.one("text-align: center", "")
    second = random.one(0, 0, 0.5, 1)
    way = random.one("rows", "rows", "leader", "three")
    parts: list[Content] = []
    for _ in range(random.randint(3, 6)):
        parts.append(text.heading(design, 2, design.texts.title(1, 2), style=middle))
        if random.chance(0.2):
            parts.append(
                text.text_line(element("i", design.texts.sentence(4, 9)), style=middle)
            )
        parts.append(_dishes(design, random.randint(3, 9), second, way))
    title = joined(
        text.heading(design, 1, design.texts.title(1, 4), style=middle),
        text.text_line(design.texts.sentence(3, 8), style=middle)
        if random.chance(0.6)
        else None,
    )
    body = (
        layout.columns(design, *parts, count=2)
        if random.chance(0.35)
        else joined(*parts)
    )
    return [
        main(title, body, text.paragraph(design, 1, 1, class_="fine")),
        running.running_foot(design, 0.3),
    ]


def _dishes(design: Design, count: int, second: float, way: str) -> Markup:
    random = design.random
    if way == "three":
        columns = [Column("thing"), Column("price"), Column("price")]
        return tables.table(
            design,
            columns,
            count,
            TableOptions(has_heads=random.chance(0.4), second=second),
            caption=False,
        )
    bold = random.one("font-weight: 700", "")
    rows = []
    for _ in range(count):
        below = None
        if random.chance(second):
            below = div(
                design.texts.sentence(3, 11)[:-1],
                class_="sub",
                style="font-weight: 400; font-size: .9em; font-style: italic",
            )
        first = div(
            span(design.texts.phrase(1, 4), style=bold),
            below,
            role="cell",
            style="max-width: 80%",
        )
        leader = span(class_="leader", aria_hidden="true") if way == "leader" else None
        last = div(
            design.texts.price(40), role="cell", style=f"white-space: nowrap; {bold}"
        )
        rows.append(
            div(
                first,
                leader,
                last,
                role="row",
                style="display: flex; justify-content: space-between; gap: .5em;"
                " margin-bottom: .35em",
            )
        )
    return div(*rows, role="table", style="margin: .4em 0 1em; text-align: left")


def brochure(design: Design) -> list[Markup | None]:
    """Three panels beside each other, as of a folded sheet."""
    random = design.random
    panels = []
    for number in range(3):
        options: list[Maker] = [
            lambda: joined(text.heading(design, 2), text.paragraph(design, 2, 4)),
            lambda: joined(text.heading(design, 2), text.items(design, 3, 6)),
            lambda: pictures.picture(design, random.randint(90, 180)),
            lambda: joined(text.heading(design, 3), facts.contact(design)),
            lambda: text.quotation(design),
            lambda: joined(text.heading(design, 3), tables.pairs(design)),
        ]
        inner = joined(*(make() for make in random.some(options, 2, 4)))
        if number == 0:
            inner = joined(text.heading(design, 1, design.texts.title(1, 4)), inner)
        ground = (
            f"background: {random.one(design.style.ground, design.style.paper)}; "
            "padding: 1em"
        )
        panels.append(div(inner, class_="flow", style=ground))
    return [main(layout.beside(design, *panels, shares=(1.0, 1.0, 1.0)))]


def program(design: Design) -> list[Markup | None]:
    """Events with dates at their side: entries with a text below, no table."""
    random = design.random
    is_left = random.chance(0.5)
    parts: list[Content] = []
    for _ in range(random.randint(5, 11)):
        date = text.text_line(
            lines(design.texts.date(), design.texts.time())
            if is_left
            else design.texts.date(),
            style="white-space: nowrap; font-weight: 700",
        )
        body = joined(
            text.heading(design, 3, design.texts.title(1, 5), style="margin-top: 0"),
            text.paragraph(design, 1, 3),
        )
        if is_left:
            parts.append(
                div(
                    div(date, style="flex: 0 0 20%"),
                    div(body, style="flex: 1; min-width: 0"),
                    style="display: flex; gap: 1.5em; margin-bottom: .8em",
                )
            )
        else:
            parts.append(joined(date, body))
    return [main(_title(design), *parts), running.running_foot(design, 0.5)]


FAMILIES = {
    "newsletter": Family(newsletter, (), (10, 14)),
    "newspaper": Family(newspaper, (), (9.5, 12.5)),
    "magazine": Family(magazine, (), (10, 14)),
    "menu": Family(menu),
    "brochure": Family(brochure, ((1123, 794),), (10, 14)),
    "program": Family(program),
}
