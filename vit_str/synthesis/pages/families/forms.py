"""Forms to fill in: lines, boxes, ticks, tables; questionnaires; labels and tickets."""

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
from vit_str.synthesis.pages.parts.tables import Cell, Column, TableOptions

_LABELS = ((420, 300), (500, 380), (380, 560), (600, 420))
_TICKETS = ((760, 300), (640, 280), (420, 720))


def form(design: Design) -> list[Markup | None]:
    """Fields, boxes to tick, ruled tables to fill in."""
    random = design.random
    parts: list[Content] = [
        text.heading(design, 1),
        text.paragraph(design, 1, 2) if random.chance(0.6) else None,
    ]
    options: list[Maker] = [
        lambda: facts.fields(design),
        lambda: facts.fields(design),
        lambda: joined(
            text.text_line(design.texts.sentence(4, 12)), facts.options_to_tick(design)
        ),
        lambda: ruled_form(design),
        lambda: tables.any_table(design, rows=random.randint(2, 4)),
        lambda: text.items(design, 2, 4),
        lambda: text.paragraph(design, 1, 3),
    ]
    for make in random.some(options, 3, 6):
        parts += [text.heading(design, 2) if random.chance(0.75) else None, make()]
    return [
        running.running_head(design, 0.3),
        main(*parts, facts.signatures(design)),
        running.running_foot(design),
        layout.margin_mark(design, 0.08),
    ]


def ruled_form(design: Design) -> Markup:
    """Labels and values in a grid of rules, two or four columns: a table."""
    random = design.random
    line = random.one("1px solid #333", "1px solid #888")
    pairs = random.one(1, 2, 2)
    ground = random.one("", f"background: {design.style.ground}", "font-weight: 700")
    filled = random.one(0.0, 0.6, 1.0)
    rows = []
    for _ in range(random.randint(2, 7)):
        cells = []
        is_wide = pairs == 2 and random.chance(0.2)
        for _ in range(1 if is_wide else pairs):
            kind = random.one("phrase", "date", "street", "phone", "code", "person")
            value = design.texts.value(kind) if random.chance(filled) else ""
            css = (
                f"border: {line}; padding: .25em .45em; text-align: left; font-weight: 400; "
                f"{ground}"
            )
            tag = "th" if ground else "td"
            cells.append(element(tag, design.texts.label("fields"), style=css))
            cells.append(
                element(
                    "td",
                    value,
                    style=f"border: {line}; padding: .25em .45em",
                    colspan=3 if is_wide else None,
                )
            )
        rows.append(element("tr", *cells))
    return element(
        "table",
        *rows,
        style="width: 100%; border-collapse: collapse; margin: .5em 0 1em",
    )


def boxed(design: Design) -> list[Markup | None]:
    """Boxes of unequal width, as of a tax office."""
    random = design.random
    parts: list[Content] = [text.heading(design, 1, design.texts.title(2, 6))]
    for _ in range(random.randint(2, 4)):
        parts += [
            text.heading(design, 2) if random.chance(0.7) else None,
            facts.boxed_form(design),
        ]
        if random.chance(0.4):
            parts.append(
                joined(
                    text.text_line(design.texts.sentence(4, 9)),
                    facts.options_to_tick(design),
                )
            )
    code = text.text_line(design.texts.value("code"), "plain fine")
    return [
        code if random.chance(0.4) else None,
        main(
            *parts,
            text.paragraph(design, 1, 2, class_="fine"),
            facts.signatures(design),
        ),
        running.running_foot(design),
    ]


def questionnaire(design: Design) -> list[Markup | None]:
    """Questions with answers to tick: in a table, or below each other."""
    random = design.random
    texts = design.texts
    if random.chance(0.5):
        scale = [
            texts.value("answer") if random.chance(0.5) else str(n)
            for n in range(1, random.randint(4, 7))
        ]
        columns = [
            Column("sentence", random.one("", texts.label("columns"))),
            *[Column("tick", name) for name in scale],
        ]
        heads = [[Cell(column.title, is_head=True) for column in columns]]
        body = [
            [
                Cell(texts.sentence(4, 12)),
                *[
                    Cell(facts.tick_box(design, random.chance(0.2)), class_="center")
                    for _ in scale
                ],
            ]
            for _ in range(random.randint(5, 18))
        ]
        asked = tables.drawn(design, heads, body, columns)
    else:
        parts: list[Content] = []
        for number in range(1, random.randint(5, 11)):
            question = element(
                "ul",
                element(
                    "li",
                    f"{number}. ",
                    texts.sentence(5, 14),
                    style="padding: 0; text-indent: 0",
                ),
                style="padding-left: 0; margin-bottom: .2em",
            )
            answer = random.one(
                facts.options_to_tick(design),
                div(style="border-bottom: 1px solid #777; height: 2em"),
            )
            parts += [question, div(answer, style="margin: 0 0 .8em 1.5em")]
        asked = joined(*parts)
    return [
        main(
            text.heading(design, 1),
            text.paragraph(design, 1, 3),
            facts.fields(design, 3) if random.chance(0.4) else None,
            asked,
            text.paragraph(design, 1, 1),
        ),
        running.running_foot(design),
    ]


def checklist(design: Design) -> list[Markup | None]:
    """Things to tick under headings."""
    random = design.random
    parts: list[Content] = []
    for _ in range(random.randint(3, 7)):
        parts += [
            text.heading(design, 2),
            facts.options_to_tick(design, 3, 7, in_row=False),
        ]
    body = (
        layout.columns(design, *parts, count=2)
        if random.chance(0.5)
        else joined(*parts)
    )
    return [
        main(text.heading(design, 1), facts.running_facts(design, 2, 3, "row"), body),
        running.running_foot(design, 0.5),
    ]


def medical(design: Design) -> list[Markup | None]:
    """Results with limits, of somebody whose facts stand above."""
    random = design.random
    texts = design.texts
    names = texts.different("columns", 5)
    columns = [
        Column("thing", names[0]),
        Column("decimal", names[1]),
        Column("unit", names[2]),
        Column("span", names[3]),
        Column("tick", names[4]),
    ]
    options = TableOptions(groups=random.one(0.1, 0.2), empty=random.one(0, 0.1))
    known = random.one(
        facts.fields(design, 6, 3),
        layout.beside(
            design, tables.pairs(design), tables.pairs(design), shares=(1, 1)
        ),
        facts.running_facts(design, 4, 6, "row"),
    )
    table = tables.table(
        design,
        columns[: random.randint(3, 5)],
        random.randint(6, 20),
        options,
        caption=False,
    )
    remark = joined(text.heading(design, 3), text.paragraph(design, 1, 3))
    return [
        running.running_head(design, 0.3),
        main(
            text.heading(design, 1),
            known,
            table,
            remark,
            text.text_line(texts.person(), style="margin-top: 2em"),
        ),
        running.running_foot(design),
    ]


def label(design: Design) -> list[Markup | None]:
    """A label for a parcel or product."""
    random = design.random
    options: list[Maker] = [
        lambda: facts.running_facts(design, 2, 4, "below"),
        lambda: text.address(design),
        lambda: tables.pairs(design, kind="quantity"),
        lambda: text.paragraph(design, 1, 2, class_="fine"),
        lambda: facts.boxed_form(design, random.randint(1, 2)),
        lambda: joined(
            pictures.barcode(design, random.randint(30, 60)),
            text.text_line(
                design.texts.value("long code"),
                style="text-align: center; letter-spacing: .15em",
            ),
        ),
    ]
    frame = random.one("", "border: 2px solid #111; padding: .6em")
    title = random.one(
        text.heading(design, 1, design.texts.title(1, 3)),
        text.text_line(design.texts.company()),
    )
    return [main(title, *(make() for make in random.some(options, 2, 4)), style=frame)]


def ticket(design: Design) -> list[Markup | None]:
    """Facts in rows, large ones, a stub at the side."""
    random = design.random
    texts = design.texts

    def row(count: int, large: float) -> Markup:
        cells = [
            div(
                div(
                    texts.label("labels"),
                    style="font-size: .7em; text-transform: uppercase",
                ),
                div(
                    texts.value(
                        random.one("time", "date", "code", "place", "person", "small")
                    ),
                    style=f"font-size: {large:.1f}em; font-weight: 700",
                ),
            )
            for _ in range(count)
        ]
        return element(
            "dl",
            *cells,
            style="display: flex; gap: 2em; margin: .5em 0; flex-wrap: wrap",
        )

    left = joined(
        text.heading(design, 1, texts.title(1, 4)),
        row(random.randint(2, 3), 1.5),
        row(random.randint(2, 4), 1.0),
        text.paragraph(design, 1, 1, class_="fine") if random.chance(0.4) else None,
    )
    right = joined(
        text.heading(design, 2, texts.title(1, 2)),
        row(2, 1.0),
        row(1, 1.0),
        pictures.barcode(design, 50),
        text.text_line(texts.value("code"), "plain fine"),
    )
    if design.style.width < design.style.height:
        return [
            main(
                left,
                element(
                    "hr",
                    aria_hidden="true",
                    style="border: 0; border-top: 1px dashed #666",
                ),
                right,
            )
        ]
    inner = div(
        div(left, style="flex: 2.2 1 0; min-width: 0"),
        div(
            right,
            style="flex: 1 1 0; min-width: 0; border-left: 1px dashed #666; padding-left: 1em",
        ),
        style="display: flex; gap: 1em",
    )
    return [main(inner)]


def business_cards(design: Design) -> list[Markup | None]:
    """A sheet of cards."""
    random = design.random

    def card() -> Markup:
        name = text.text_line(element("b", design.texts.person()), style="margin: 0")
        job = text.text_line(design.texts.phrase(1, 3), "plain muted")
        where = text.text_line(
            lines(
                *[design.texts.value(k) for k in ("street", "city", "phone", "mail")]
            ),
            "plain fine",
        )
        return joined(
            pictures.logo(design, 26) if random.chance(0.5) else None, name, job, where
        )

    design.added_css.append(".card { border: 1px solid #aaa; padding: 1em }")
    return [main(layout.cards(design, card, random.one(4, 6, 8, 10), 2), span())]


FAMILIES = {
    "form": Family(form),
    "boxed form": Family(boxed, (), (10, 13)),
    "questionnaire": Family(questionnaire),
    "checklist": Family(checklist),
    "medical report": Family(medical),
    "label": Family(label, _LABELS, (11, 16)),
    "ticket": Family(ticket, _TICKETS, (11, 15)),
    "business cards": Family(business_cards),
}
