"""Reports, slides, dashboards, timetables, calendars, filings."""

from markupsafe import Markup

from vit_str.synthesis.pages.design import Design, main
from vit_str.synthesis.pages.families.family import Family
from vit_str.synthesis.pages.html import Content, Maker, element, joined, lines
from vit_str.synthesis.pages.parts import facts, layout, pictures, running, tables, text
from vit_str.synthesis.pages.parts.tables import Cell, Column, TableOptions
from vit_str.synthesis.pages.style import SLIDE

_SLIDES = (SLIDE, (1024, 768), (1280, 720))


def report(design: Design) -> list[Markup | None]:
    """Sections with text, tables and figures."""
    random = design.random
    parts: list[Content] = []
    for _ in range(random.randint(2, 6)):
        parts.append(text.heading(design, random.one(2, 2, 3)))
        for _ in range(random.randint(1, 4)):
            way = random.weighted(
                {
                    "text": 5,
                    "items": 1.5,
                    "table": 1.5,
                    "figure": 1,
                    "facts": 0.4,
                    "beside": 0.7,
                    "box": 0.5,
                    "floating": 0.5,
                }
            )
            parts.append(_part(design, way))
    title = text.heading(design, 1) if random.chance(0.7) else None
    return [
        running.running_head(design, 0.5),
        main(title, *parts),
        layout.notes(design) if random.chance(0.25) else None,
        running.running_foot(design),
    ]


def _part(design: Design, way: str) -> Markup:
    random = design.random
    if way == "items":
        return text.items(design)
    if way == "table":
        note = layout.table_note(design) if random.chance(0.3) else None
        return joined(tables.any_table(design), note)
    if way == "figure":
        return pictures.figure(design)
    if way == "floating":
        return joined(layout.floating(design), text.paragraph(design, 4, 8))
    if way == "facts":
        return facts.figures_on_cards(design)
    if way == "beside":
        other = random.one(
            tables.any_table(design, True),
            pictures.figure(design, height=120),
            text.items(design, 3, 5),
        )
        return layout.beside(design, text.paragraph(design, 2, 4), other)
    if way == "box":
        return element(
            "div", text.heading(design, 4), text.paragraph(design, 1, 3), class_="box"
        )
    return text.paragraph(design, 2, 5)


def filing(design: Design) -> list[Markup | None]:
    """Figures of several years, sums in bold, signs of currencies, notes."""
    random = design.random
    design.numbers["filing"] += 1
    year = design.texts.year
    count = random.one(2, 2, 3, 4)
    has_sign = random.chance(0.5)
    columns = [Column("clause", random.one("", design.texts.label("columns")))]
    if random.chance(0.3):
        columns.append(Column("small", design.texts.exact("note")))
    columns += [Column("amount", str(year - n), has_sign) for n in range(count)]
    options = TableOptions(
        empty=random.one(0, 0.08),
        groups=random.one(0.1, 0.2),
        sums=random.one(0, 1, 2),
        tall_heads=random.chance(0.3),
    )
    table = tables.table(design, columns, random.randint(7, 22), options, caption=False)
    before = text.paragraph(design, 1, 3) if random.chance(0.6) else None
    unit = (
        text.text_line(
            element("i", design.texts.sentence(3, 6)), style="text-align: right"
        )
        if random.chance(0.4)
        else None
    )
    second = (
        tables.table(
            design, columns, random.randint(3, 7), TableOptions(), caption=False
        )
        if random.chance(0.4)
        else None
    )
    between = (
        joined(text.heading(design, 2), text.paragraph(design, 1, 3))
        if second
        else None
    )
    return [
        running.running_head(design, 0.5),
        main(
            text.heading(design, 1),
            before,
            unit,
            table,
            between,
            second,
            layout.table_note(design) if random.chance(0.4) else None,
        ),
        layout.notes(design) if random.chance(0.4) else None,
        running.running_foot(design),
    ]


def statistics(design: Design) -> list[Markup | None]:
    """Large tables."""
    random = design.random
    first = random.one("place", "year", "thing", "phrase")
    kind = random.one("integer", "decimal", "percent")
    columns = [
        Column(first, design.texts.label("columns")),
        *[
            Column(kind, name)
            for name in design.texts.different("columns", random.randint(4, 9))
        ],
    ]
    options = TableOptions(
        empty=random.one(0, 0.1),
        groups=random.one(0, 0.12),
        tall_heads=random.chance(0.5),
        spans=random.one(0, 0.05),
    )
    table = tables.table(
        design, columns, random.randint(12, 34), options, caption=random.chance(0.7)
    )
    return [
        running.running_head(design, 0.3),
        main(
            text.heading(design, 1) if random.chance(0.5) else None,
            text.paragraph(design, 1, 2) if random.chance(0.4) else None,
            table,
            layout.table_note(design),
        ),
        running.running_foot(design),
    ]


def slide(design: Design) -> list[Markup | None]:
    """A title and few words."""
    random = design.random
    title = text.heading(design, 1, design.texts.title(1, 7))
    options: list[Maker] = [
        lambda: text.items(design, 3, 6, random.one(5, 9)),
        lambda: layout.beside(
            design,
            text.items(design, 2, 5, 7),
            pictures.figure(design, height=random.randint(200, 300)),
        ),
        lambda: layout.beside(
            design,
            *[
                joined(text.heading(design, 2), text.items(design, 2, 4, 6, nested=0))
                for _ in range(random.one(2, 3))
            ],
            shares=(),
        ),
        lambda: tables.any_table(design),
        lambda: facts.figures_on_cards(design),
        lambda: layout.cards(design, across=random.one(3, 4)),
        lambda: pictures.figure(design, height=random.randint(220, 330)),
        lambda: text.quotation(design),
        lambda: joined(text.paragraph(design, 1, 2), text.items(design, 2, 4, 6)),
    ]
    if random.chance(0.25):
        design.added_css.append(
            f"html, body {{ background: {design.style.dark}; color: #f4f4f4 }} h1, h2, "
            f"h3 {{ color: #fff !important; background: none !important }} .card, .box, "
            f"pre {{ color: #111 }} td, th, [role] {{ color: inherit }} .card "
            f"{{ background: #eee }} table, [role=table] {{ background: #fff; color: #111 }}"
        )
    below = (
        text.text_line(design.texts.phrase(2, 5), "lead")
        if random.chance(0.2)
        else None
    )
    return [
        main(title, below, *(make() for make in random.some(options, 1, 2))),
        running.running_foot(design, 0.6),
    ]


def title_slide(design: Design) -> list[Markup | None]:
    """The first of a series."""
    random = design.random
    css = (
        "display: flex; flex-direction: column; justify-content: center; "
        f"{random.one('text-align: center', '')}"
    )
    design.added_css.append("main .plain { text-align: inherit }")
    rows = [text.text_line(design.texts.person()), text.text_line(design.texts.date())]
    return [
        main(
            pictures.logo(design, 48) if random.chance(0.4) else None,
            text.heading(design, 1, design.texts.title(2, 7), style="font-size: 2.8em"),
            text.text_line(design.texts.phrase(3, 7), "lead"),
            *rows,
            style=css,
        ),
        running.running_foot(design, 0.3),
    ]


def dashboard(design: Design) -> list[Markup | None]:
    """Numbers on cards, charts, a table."""
    random = design.random
    make = random.choice(
        (
            lambda: joined(
                text.heading(design, 3),
                pictures.figure(design, height=120, caption=False),
            ),
            lambda: joined(text.heading(design, 3), tables.any_table(design, True, 4)),
        )
    )
    charts = layout.cards(design, make, random.one(2, 3, 4), random.one(2, 3))
    table = joined(text.heading(design, 2), tables.any_table(design))
    return [
        running.running_head(design, 0.3),
        main(
            text.heading(design, 1),
            text.text_line(design.texts.date()) if random.chance(0.5) else None,
            facts.figures_on_cards(design, random.randint(3, 5)),
            charts,
            table,
        ),
        running.running_foot(design, 0.5),
    ]


def timetable(design: Design) -> list[Markup | None]:
    """Places down, journeys across."""
    random = design.random
    count = random.randint(3, 10)
    heads = [
        design.texts.label("columns"),
        *(
            random.one(
                design.texts.value("code"),
                str(random.randint(1, 99)),
                random.choice(design.texts.all_labels("days")),
            )
            for _ in range(count)
        ),
    ]
    columns = [Column("place", heads[0]), *[Column("time", head) for head in heads[1:]]]
    options = TableOptions(
        has_heads=random.chance(0.8),
        empty=random.one(0, 0.1, 0.25),
        groups=random.one(0, 0.08),
        stubs=random.chance(0.3),
    )
    parts: list[Content] = []
    for _ in range(random.one(1, 1, 2)):
        name = text.heading(
            design, 2, f"{design.texts.value('place')} – {design.texts.value('place')}"
        )
        parts += [
            name,
            tables.table(
                design, columns, random.randint(5, 20), options, caption=False
            ),
        ]
    return [
        main(
            text.heading(design, 1),
            text.paragraph(design, 1, 1) if random.chance(0.5) else None,
            *parts,
            layout.table_note(design),
            text.items(design, 2, 4) if random.chance(0.3) else None,
        ),
        running.running_foot(design, 0.5),
    ]


def week_plan(design: Design) -> list[Markup | None]:
    """Days across, hours down; cells over several rows, lines in cells."""
    random = design.random
    texts = design.texts
    days = texts.all_labels("days")[: random.one(5, 5, 6, 7)]
    columns = [Column("time", ""), *[Column("phrase", day) for day in days]]
    heads = [[Cell(column.title, is_head=True) for column in columns]]
    body = []
    under = [0] * len(days)
    rows = random.randint(5, 9)
    for number in range(rows):
        hour = (
            f"{7 + number}:{random.one('00', '30')}"
            if random.chance(0.6)
            else f"{7 + number}:00–{8 + number}:00"
        )
        row = [Cell(hour, is_head=random.chance(0.5))]
        for place in range(len(days)):
            if under[place]:
                under[place] -= 1
                continue
            tall = random.one(1, 1, 1, 2) if number < rows - 1 else 1
            under[place] = tall - 1
            content: Content = texts.phrase(1, 2) if random.chance(0.75) else ""
            if content and random.chance(0.4):
                content = lines(
                    content, random.one(texts.value("code"), texts.person())
                )
            row.append(Cell(content, rows=tall))
        body.append(row)
    table = tables.drawn(
        design, heads, body, columns, css="width: 100%; table-layout: fixed;"
    )
    return [
        main(
            text.heading(design, 1),
            text.text_line(texts.phrase(2, 4)) if random.chance(0.5) else None,
            table,
            layout.table_note(design) if random.chance(0.4) else None,
        ),
        running.running_foot(design, 0.4),
    ]


def calendar(design: Design) -> list[Markup | None]:
    """Months as tables of seven columns."""
    random = design.random
    texts = design.texts
    days = [day[: random.one(2, 3)] for day in texts.all_labels("days")]

    def month(name: str) -> Markup:
        start, count = random.randint(0, 6), random.randint(28, 31)
        numbers = [""] * start + [str(n) for n in range(1, count + 1)]
        numbers += [""] * (-len(numbers) % 7)
        heads = [[Cell(day, is_head=True) for day in days]]
        body = [
            [Cell(n) for n in numbers[k : k + 7]] for k in range(0, len(numbers), 7)
        ]
        grid = tables.drawn(design, heads, body, [Column("small", day) for day in days])
        return joined(text.heading(design, 2, f"{name} {texts.year}"), grid)

    names = random.some(texts.all_labels("months"), 1, 9)
    across = 1 if len(names) == 1 else random.one(2, 3)
    return [
        main(
            text.heading(design, 1, str(texts.year)),
            layout.cards(
                design, iter_maker([month(name) for name in names]), len(names), across
            ),
        ),
        running.running_foot(design, 0.2),
    ]


def iter_maker(parts: list[Markup]) -> Maker:
    """Gives parts one after the other."""
    left = iter(parts)
    return lambda: next(left)


def contract(design: Design) -> list[Markup | None]:
    """Parties, clauses with and without titles, signatures."""
    random = design.random
    parts: list[Content] = [
        text.heading(design, 1),
        text.text_line(design.texts.sentence(3, 8)),
        layout.beside(design, text.address(design), text.address(design), shares=(1, 1))
        if random.chance(0.5)
        else text.paragraph(design, 1, 2),
    ]
    titled = random.chance(0.6)
    for number in range(1, random.randint(5, 14)):
        if titled:
            parts += [
                text.heading(design, 2, f"{number}. {design.texts.label('sections')}"),
                text.paragraph(design, 1, 4),
            ]
            if random.chance(0.3):
                parts.append(text.items(design, 2, 4, 14))
        else:
            parts.append(
                element(
                    "ul",
                    element(
                        "li",
                        f"{number}. ",
                        design.texts.text(1, 4),
                        style="padding: 0; text-indent: 0; margin-bottom: .4em",
                    ),
                    style="padding-left: 0",
                )
            )
    return [
        running.running_head(design, 0.3),
        main(*parts, facts.signatures(design, 2)),
        running.running_foot(design),
        layout.margin_mark(design, 0.08),
    ]


FAMILIES = {
    "report": Family(report),
    "filing": Family(filing, (), (9.5, 13)),
    "statistics": Family(statistics, (), (9.5, 13)),
    "slide": Family(slide, _SLIDES, (18, 28)),
    "title slide": Family(title_slide, _SLIDES, (18, 26)),
    "dashboard": Family(dashboard, ((1123, 794), (1280, 900), (794, 1123)), (11, 15)),
    "timetable": Family(timetable, (), (9.5, 13)),
    "week plan": Family(week_plan, ((1123, 794), (794, 1123)), (10, 14)),
    "calendar": Family(calendar),
    "contract": Family(contract),
}
