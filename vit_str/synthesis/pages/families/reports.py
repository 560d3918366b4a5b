"""White papers, strategies, histories, questions, glossaries, handouts: boxes and lists."""

from markupsafe import Markup

from vit_str.synthesis.pages.design import Design, main
from vit_str.synthesis.pages.families.family import Family
from vit_str.synthesis.pages.html import Content, Maker, div, element, joined
from vit_str.synthesis.pages.parts import (
    boxes,
    facts,
    layout,
    lists,
    pictures,
    running,
    tables,
    text,
)

_LANDSCAPE = ((1123, 794), (1280, 720), (1056, 816))


def report_title(design: Design) -> Markup:
    """A title with what belongs to it, some on a band of the page's width."""
    random = design.random
    texts = design.texts
    name = text.heading(design, 1, texts.title(2, 8))
    under = text.text_line(texts.phrase(3, 9), "lead") if random.chance(0.6) else None
    who = " | ".join(random.some([texts.company(), texts.date(), texts.person()], 1, 2))
    rest = text.text_line(who, "plain muted") if random.chance(0.6) else None
    series = text.text_line(texts.phrase(1, 3).upper(), "plain fine")
    above = series if random.chance(0.3) else None
    if random.chance(0.35):
        return boxes.whole_width(design, above, name, under, rest)
    if random.chance(0.2):
        shown = pictures.picture(design, random.randint(90, 220))
        return joined(shown, above, name, under, rest)
    return joined(above, name, under, rest)


def _running(design: Design) -> Markup:
    """A section with what such reports have in it."""
    random = design.random
    ways: dict[Maker, float] = {
        lambda: Markup(""): 4,
        lambda: lists.any_list(design): 3,
        lambda: boxes.at_a_glance(design): 1.5,
        lambda: boxes.steps(design): 0.7,
        lambda: boxes.key_figures(design): 0.7,
        lambda: pictures.figure(design): 1,
        lambda: tables.any_table(design, narrow=True): 1,
        lambda: layout.floating(design): 0.7,
    }
    return joined(
        text.heading(design, 2, design.texts.label("sections")),
        text.paragraph(design, 2, 5),
        random.weighted(ways)(),
        text.paragraph(design, 1, 4) if random.chance(0.6) else None,
    )


def white_paper(design: Design) -> list[Markup | None]:
    """Text with boxes: beside it, in its columns, or a column of them on a ground."""
    random = design.random
    way = random.weighted({"columns": 3, "beside": 3, "sidebar": 2, "margin": 2})
    head, foot = running.running_head(design, 0.4), running.running_foot(design, 0.8)
    body = joined(*(_running(design) for _ in range(random.randint(2, 4))))
    if way == "columns":
        inside = joined(body, boxes.at_a_glance(design, css="break-inside: avoid;"))
        flowing = layout.columns(design, inside)
        return [head, main(report_title(design), flowing), foot]
    side_parts = [boxes.at_a_glance(design) for _ in range(random.randint(1, 3))]
    if random.chance(0.4):
        side_parts.insert(0, facts.figures_on_cards(design, 2))
    side = joined(*side_parts)
    if way == "sidebar":
        bare = joined(
            *(
                joined(
                    text.heading(design, 3, design.texts.label("boxes")),
                    lists.any_list(design, 2, 5, short=True),
                )
                for _ in range(random.randint(2, 4))
            )
        )
        is_left = random.chance(0.4)
        inside = joined(text.heading(design, 1, design.texts.title(2, 7)), body)
        return [layout.sidebar_page(design, bare, inside, is_left)]
    if way == "margin":
        quote = text.text_line(
            design.texts.sentence(5, 12), style=f"color: {design.style.color}"
        )
        side = joined(
            quote, pictures.figure(design, height=90), text.paragraph(design, 1, 1)
        )
    shares = (2.2, 1.0) if random.chance(0.7) else (1.0, 2.2)
    parts = (body, side) if shares[0] > 1 else (side, body)
    return [
        head,
        main(report_title(design), layout.beside(design, *parts, shares=shares)),
        layout.notes(design) if random.chance(0.3) else None,
        foot,
    ]


def strategy(design: Design) -> list[Markup | None]:
    """Strengths and risks, steps, who is who, numbers: parts of the full width."""
    random = design.random
    makers: list[Maker] = [
        lambda: boxes.quadrants(design),
        lambda: boxes.steps(design),
        lambda: boxes.organisation(design),
        lambda: boxes.key_figures(design),
        lambda: boxes.timeline(design),
        lambda: layout.cards(
            design,
            lambda: joined(
                text.heading(
                    design, 3, design.texts.title(1, 3), style="margin-top: 0"
                ),
                lists.any_list(design, 2, 4, short=True),
            ),
            random.one(2, 3, 4, 6),
        ),
    ]
    parts: list[Content] = []
    for make in random.sample(makers, random.randint(2, 5)):
        parts.append(text.heading(design, 2))
        if random.chance(0.5):
            parts.append(text.paragraph(design, 1, 2))
        parts.append(make())
    return [
        running.running_head(design, 0.3),
        main(report_title(design), *parts),
        running.running_foot(design, 0.7),
    ]


def history(design: Design) -> list[Markup | None]:
    """A history: dates with texts, down the page or across it."""
    random = design.random
    parts: list[Content] = [report_title(design)]
    if random.chance(0.5):
        parts.append(text.paragraph(design, 1, 3))
    for number in range(random.one(1, 1, 2, 3)):
        if number:
            parts.append(text.heading(design, 2))
        parts.append(boxes.timeline(design))
    if random.chance(0.4):
        parts.append(boxes.at_a_glance(design))
    return layout.page(design, *parts, foot=0.6)


def questions_in_columns(design: Design) -> list[Markup | None]:
    """Frequent questions, in one column or two, under groups or not."""
    random = design.random
    parts = []
    for _ in range(random.one(1, 1, 2, 3)):
        group = boxes.questions(design, random.randint(3, 6))
        parts.append(joined(text.heading(design, 2), group))
    if len(parts) == 1:
        parts = [boxes.questions(design, random.randint(5, 10))]
    way = random.one("columns", "columns", "beside", "one")
    if way == "columns":
        body = layout.columns(design, *parts, count=2)
    elif way == "beside":
        side = boxes.at_a_glance(design, 2)
        body = layout.beside(design, joined(*parts), side, shares=(2, 1))
    else:
        body = joined(*parts)
    return [
        running.running_head(design, 0.3),
        main(report_title(design), body),
        running.running_foot(design),
    ]


def glossary(design: Design) -> list[Markup | None]:
    """Terms and what they mean, some under letters, in columns or not."""
    random = design.random
    parts: list[Content] = []
    if random.chance(0.4):
        for letter in random.some("ABCDEFGHIKLMNOPRSTUVWZ", 3, 7):
            parts += [text.heading(design, 2, letter), lists.terms(design, 1, 4)]
    else:
        parts.append(lists.terms(design, 8, 18))
    body = layout.columns(design, *parts) if random.chance(0.5) else joined(*parts)
    return layout.page(design, body, head=0.5, title=1)


def handout(design: Design) -> list[Markup | None]:
    """Lists of every kind, under headings, in columns, on cards, in cells of tables."""
    random = design.random
    parts: list[Content] = []
    for _ in range(random.randint(3, 9)):
        parts.append(
            text.heading(design, random.one(2, 2, 3), design.texts.title(1, 4))
        )
        if random.chance(0.4):
            parts.append(text.paragraph(design, 1, 2))
        ways: dict[Maker, float] = {
            lambda: lists.any_list(design, 3, 7): 4,
            lambda: lists.three_levels(design): 1.5,
            lambda: lists.checklist(design): 1.5,
            lambda: lists.marked(design, 3, 8): 1.5,
            lambda: lists.in_columns(
                design, lists.marked(design, 5, 10, short=True)
            ): 1,
            lambda: layout.beside(
                design,
                lists.any_list(design, 2, 5, True),
                lists.any_list(design, 2, 5, True),
            ): 1,
            lambda: lists_in_cells(design): 1.5,
        }
        parts.append(random.weighted(ways)())
    title = report_title(design) if random.chance(0.6) else text.heading(design, 1)
    body = (
        layout.columns(design, *parts, count=2)
        if random.chance(0.2)
        else joined(*parts)
    )
    return layout.page(design, title, body, head=0.3, foot=0.6)


def lists_in_cells(design: Design) -> Markup:
    """A table of names with lists or lines: what is in a list is in its cell."""
    random = design.random
    texts = design.texts
    across = random.one(1, 1, 2)
    is_head = random.chance(0.5)
    sign = random.one("•", "–", "-", "▪")

    def inside() -> Markup:
        way = random.weighted({"list": 3, "lines": 2, "text": 2})
        if way == "text":
            return joined(texts.sentence(5, 18))
        rows = [texts.phrase(1, 4) for _ in range(random.randint(2, 4))]
        before = f"{sign} " if way == "list" else ""
        return joined(*(div(before + row) for row in rows))

    heads = [
        tables.Cell(name, is_head=True)
        for name in texts.different("columns", across + 1)
    ]
    body = [
        [
            tables.Cell(texts.phrase(1, 3), is_head=is_head),
            *(tables.Cell(inside()) for _ in range(across)),
        ]
        for _ in range(random.randint(2, 5))
    ]
    columns = [tables.Column("thing"), *[tables.Column("clause")] * across]
    return tables.drawn(
        design, [heads] if random.chance(0.7) else [], body, columns, css="width: 100%;"
    )


def fact_sheet(design: Design) -> list[Markup | None]:
    """One page that says all of something in boxes of a grid."""
    random = design.random
    across = random.one(2, 2, 3)
    count = across * random.one(2, 2, 3)
    wide = random.randrange(count) if across == 2 and random.chance(0.4) else -1
    found = []
    for number in range(count):
        inner = boxes.any_box(design, narrow=True)
        css = "grid-column: 1 / -1;" if number == wide else ""
        name = text.heading(design, 2, design.texts.title(1, 3), style="margin-top: 0")
        found.append(
            boxes.box(design, name, inner, css=f"margin: 0; min-width: 0; {css}")
        )
    gap = random.uniform(0.6, 1.4)
    grid = div(
        *found,
        class_="flow",
        style=(
            f"display: grid; grid-template-columns: repeat({across}, minmax(0, 1fr)); "
            f"gap: {gap:.1f}em; align-items: {random.one('start', 'stretch')}"
        ),
    )
    figures = boxes.key_figures(design) if random.chance(0.5) else None
    return [
        main(report_title(design), figures, grid),
        running.running_foot(design, 0.6),
    ]


def panels(design: Design) -> list[Markup | None]:
    """A page on its side: columns with heads of color, each with lists and numbers."""
    random = design.random
    count = random.randint(3, 5)
    ground = random.one(design.style.dark, design.style.color)
    head = f"background: {ground}; color: #fff; padding: .3em .6em; margin: 0"
    found = []
    for _ in range(count):
        body = [lists.any_list(design, 2, 5, short=True)]
        if random.chance(0.4):
            body.insert(0, text.paragraph(design, 1, 2))
        if random.chance(0.3):
            body.append(facts.figures_on_cards(design, 1))
        name = text.heading(design, 2, design.texts.title(1, 3), style=head)
        inner = div(*body, style="padding: .6em")
        found.append(
            element(
                "section", name, inner, style=f"flex: 1 1 0; border: 1px solid {ground}"
            )
        )
    row = div(*found, class_="flow beside", style="display: flex; gap: .8em")
    below = text.paragraph(design, 1, 2) if random.chance(0.5) else None
    return [
        main(report_title(design), row, below),
        running.running_foot(design, 0.5),
    ]


FAMILIES = {
    "white paper": Family(white_paper, (), (9.5, 14)),
    "strategy": Family(strategy, ((794, 1123), *_LANDSCAPE), (11, 15)),
    "history": Family(history),
    "frequent questions": Family(questions_in_columns, (), (9.5, 14)),
    "glossary": Family(glossary, (), (9.5, 14)),
    "handout": Family(handout),
    "fact sheet": Family(fact_sheet, (), (9.5, 13)),
    "panels": Family(panels, _LANDSCAPE, (11, 15)),
}
