"""Parts put together freely: what no family has together."""

from markupsafe import Markup

from vit_str.synthesis.pages.design import Design, main
from vit_str.synthesis.pages.families.family import Family
from vit_str.synthesis.pages.html import Content, element, joined
from vit_str.synthesis.pages.parts import (
    boxes,
    facts,
    layout,
    pictures,
    running,
    tables,
    text,
)


def any_part(design: Design, narrow: bool = False) -> Markup:
    """Any part of a page."""
    random = design.random
    makers = {
        "text": lambda: text.paragraph(design, 1, 4),
        "headed": lambda: joined(
            text.heading(design, random.one(2, 3)), text.paragraph(design, 1, 4)
        ),
        "items": lambda: text.items(design),
        "table": lambda: tables.any_table(design, narrow),
        "pairs": lambda: tables.pairs(design),
        "run": lambda: facts.running_facts(design),
        "figure": lambda: pictures.figure(design, height=random.randint(60, 160)),
        "box": lambda: element(
            "div", text.heading(design, 4), text.paragraph(design, 1, 2), class_="box"
        ),
        "floating": lambda: joined(
            layout.floating(design), text.paragraph(design, 4, 8)
        ),
        "terms": lambda: text.glossary(design),
        "quote": lambda: text.quotation(design),
        "address": lambda: text.address(design),
        "fields": lambda: facts.fields(design, columns=1 if narrow else 0),
        "ticks": lambda: facts.options_to_tick(design),
        "code": lambda: text.code(design),
        "boxes": lambda: boxes.any_box(design, narrow),
    }
    shares = dict.fromkeys(makers, 1.0) | {
        "text": 3.0,
        "headed": 3.0,
        "table": 2.0,
        "boxes": 3.0,
        "code": 0.3,
    }
    return makers[random.weighted(shares)]()


def mixture(design: Design) -> list[Markup | None]:
    """Parts below and beside each other."""
    random = design.random
    rows: list[Content] = [text.heading(design, 1) if random.chance(0.8) else None]
    for _ in range(random.randint(3, 7)):
        way = random.weighted({"one": 4, "beside": 3, "columns": 1.5, "cards": 1})
        if way == "beside":
            parts = [
                joined(*(any_part(design, True) for _ in range(random.randint(1, 3))))
                for _ in range(random.one(2, 2, 3))
            ]
            rows.append(layout.beside(design, *parts))
        elif way == "columns":
            rows.append(
                layout.columns(
                    design,
                    *(any_part(design, True) for _ in range(random.randint(3, 5))),
                )
            )
        elif way == "cards":
            rows.append(layout.cards(design))
        else:
            rows += [any_part(design) for _ in range(random.randint(1, 3))]
    return [
        running.running_head(design, 0.4),
        main(*rows),
        layout.notes(design) if random.chance(0.2) else None,
        running.running_foot(design, 0.6),
        layout.margin_mark(design, 0.1),
    ]


def mixture_with_sidebar(design: Design) -> list[Markup | None]:
    """Parts in two columns, one of them on a ground."""
    random = design.random
    side = joined(*(any_part(design, True) for _ in range(random.randint(2, 4))))
    body = joined(
        text.heading(design, 1),
        *(any_part(design) for _ in range(random.randint(4, 9))),
    )
    return [layout.sidebar_page(design, side, body)]


FAMILIES = {
    "mixture": Family(mixture),
    "mixture with a sidebar": Family(mixture_with_sidebar),
}
