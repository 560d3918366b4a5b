"""Papers, theses, posters, references, exercises."""

from markupsafe import Markup

from vit_str.synthesis.pages.design import Design, main
from vit_str.synthesis.pages.families.family import Family
from vit_str.synthesis.pages.html import Content, div, element, joined, span
from vit_str.synthesis.pages.parts import facts, layout, pictures, running, tables, text


def _authors(design: Design) -> Markup:
    random = design.random
    texts = design.texts
    count = random.randint(1, 4)
    if random.chance(0.4) and count > 1:
        blocks = [
            text.text_line(
                joined(
                    texts.person(),
                    Markup("<br>"),
                    texts.company(),
                    Markup("<br>"),
                    texts.value("mail"),
                )
            )
            for _ in range(count)
        ]
        return layout.beside(design, *blocks, shares=(1.0,) * count)
    marked = [joined(texts.person(), element("sup", str(n + 1))) for n in range(count)]
    names = text.text_line(Markup(", ").join(marked))
    places = text.text_line(
        Markup("<br>").join(
            joined(element("sup", str(n + 1)), " ", texts.company())
            for n in range(count)
        ),
        "plain fine",
    )
    return joined(names, places)


def abstract(design: Design) -> Markup:
    """The abstract of a paper, under a heading or behind a bold word."""
    random = design.random
    name = design.texts.exact("sections")
    body = design.texts.text(3, 7)
    narrow = random.one(
        "",
        "margin-left: 3em; margin-right: 3em; font-size: .92em",
        "font-style: italic",
    )
    if random.chance(0.4):
        return text.text_line(
            joined(element("b", name + random.one(". ", "— ", ": ")), body),
            style=narrow,
        )
    title = text.heading(design, 4, name, style=random.one("text-align: center", ""))
    keys = f"{design.texts.exact('labels')}: " + ", ".join(
        design.texts.noun() for _ in range(random.randint(3, 6))
    )
    return joined(
        title,
        element("p", body, style=narrow),
        text.text_line(keys) if random.chance(0.4) else None,
    )


def sections(design: Design, count: int, level: int = 2, rich: bool = True) -> Markup:
    """Headings with paragraphs, items, figures, tables, formulas."""
    random = design.random
    parts: list[Content] = []
    for _ in range(count):
        parts.append(text.heading(design, level, design.texts.label("sections")))
        for _ in range(random.randint(1, 3)):
            if random.chance(0.25):
                parts.append(text.heading(design, level + 1))
            parts.append(text.paragraph(design, 2, 6))
            if not rich:
                continue
            options = {
                "": 6,
                "figure": 1,
                "table": 1,
                "items": 1,
                "formula": 0.7,
                "code": 0.2,
            }
            parts.append(_rich(design, random.weighted(options)))
    return joined(*parts)


def _rich(design: Design, way: str) -> Markup | None:
    random = design.random
    if way == "figure":
        return pictures.figure(design)
    if way == "table":
        columns = tables.any_columns(design, 3, 5)
        return tables.table(
            design,
            columns,
            random.randint(3, 7),
            tables.any_options(design, columns),
            caption=random.chance(0.9),
        )
    if way == "items":
        return text.items(design, 2, 5)
    if way == "code":
        return text.code(design)
    return formula(design) if way == "formula" else None


def formula(design: Design) -> Markup:
    """A line of signs with a number at its end: one paragraph."""
    random = design.random
    a, b, c = (element("i", random.choice("abcfghknpqrstuvxyz")) for _ in range(3))
    number = design.next_number("formula")
    sign = random.one("+", "−", "·", "≤", "≈")
    inner = joined(
        a,
        "(",
        b,
        ") = ",
        c,
        f" {sign} ",
        random.one("½", "2", "√2"),
        b,
        element("sup", "2"),
    )
    numbered = joined(
        span(inner, style="flex: 1; text-align: center"), span(f"({number})")
    )
    return element("p", numbered, style="display: flex; margin: .6em 0; text-indent: 0")


def references(design: Design, low: int = 4, high: int = 14) -> Markup:
    """Works that are cited: items, with numbers or hanging."""
    random = design.random
    texts = design.texts
    numbered = random.one("[{}]", "{}.", "[{}]", "")
    rows = []
    for number in range(1, random.randint(low, high) + 1):
        mark = f"{numbered.format(number)} " if numbered else ""
        where = (
            f"{texts.phrase(2, 4)} {random.randint(1, 90)}({random.randint(1, 12)}), "
            f"{random.randint(1, 400)}–{random.randint(401, 900)}"
        )
        work = joined(
            mark,
            f"{texts.person()}, {texts.person()}: {texts.phrase(4, 9)}. ",
            element("i", where),
            f" ({texts.year - random.randint(0, 30)}).",
        )
        css = "padding-left: 1.8em; text-indent: -1.8em" if random.chance(0.9) else ""
        rows.append(element("li", work, style=css))
    size = random.one("", "font-size: .88em")
    return joined(
        text.heading(design, 2, texts.exact("sections")),
        element("ul", *rows, style=f"padding-left: 0; {size}"),
    )


def paper(design: Design) -> list[Markup | None]:
    """In two columns, with title and abstract over both."""
    random = design.random
    title = text.heading(
        design, 1, design.texts.title(4, 11), style=random.one("text-align: center", "")
    )
    top = joined(title, _authors(design))
    is_inside = random.chance(0.4)
    body = [
        sections(design, random.randint(2, 4)),
        references(design) if random.chance(0.4) else None,
    ]
    if is_inside:
        body.insert(0, abstract(design))
    parts = [
        top,
        None if is_inside else abstract(design),
        layout.columns(design, *body, count=2),
    ]
    return [
        running.running_head(design, 0.5),
        main(*parts),
        layout.notes(design, 1, 2) if random.chance(0.3) else None,
        running.running_foot(design),
        layout.margin_mark(design, 0.3),
    ]


def paper_page(design: Design) -> list[Markup | None]:
    """A later page, with figures and tables over both columns."""
    random = design.random
    wide = random.one(
        pictures.figure(design), layout.figures_beside(design), tables.any_table(design)
    )
    first = layout.columns(
        design,
        text.paragraph(design, 2, 5),
        sections(design, random.randint(1, 2)),
        count=2,
    )
    second = layout.columns(
        design,
        sections(design, 2),
        references(design) if random.chance(0.5) else None,
        count=2,
    )
    parts = random.one([wide, first, second], [first, wide, second], [first, second])
    return [
        running.running_head(design, 0.8),
        main(*parts),
        running.running_foot(design),
        layout.margin_mark(design, 0.08),
    ]


def report_in_one_column(design: Design) -> list[Markup | None]:
    """The first page of a paper in one column."""
    random = design.random
    title = joined(
        text.heading(design, 1, design.texts.title(4, 10)),
        _authors(design),
        text.text_line(design.texts.date()),
        abstract(design),
    )
    body = sections(design, random.randint(2, 4))
    return [
        main(title, body),
        layout.notes(design) if random.chance(0.5) else None,
        running.running_foot(design),
        layout.margin_mark(design, 0.25),
    ]


def thesis(design: Design) -> list[Markup | None]:
    """A page of a chapter."""
    random = design.random
    chapter = f"{design.texts.exact('chapter')} {random.randint(1, 9)}"
    start = (
        text.heading(
            design, 1, joined(chapter, Markup("<br>"), design.texts.title(1, 5))
        )
        if random.chance(0.4)
        else text.paragraph(design, 2, 4)
    )
    body = sections(design, random.randint(1, 3), random.one(2, 3))
    return [
        running.running_head(design, 0.8),
        main(start, body),
        layout.notes(design, 1, 4) if random.chance(0.6) else None,
        running.running_foot(design, 0.5),
    ]


def bibliography(design: Design) -> list[Markup | None]:
    """A page of works that are cited."""
    works = references(design, 12, 40)
    body = (
        layout.columns(design, works, count=2) if design.random.chance(0.3) else works
    )
    return layout.page(design, body, head=0.5)


def poster(design: Design) -> list[Markup | None]:
    """Boxes with sections in columns."""
    random = design.random
    boxes = [
        element("div", sections(design, 1, 2), class_=random.one("box flow", "flow"))
        for _ in range(random.randint(4, 7))
    ]
    title = div(
        text.heading(design, 1, design.texts.title(3, 8)),
        _authors(design),
        style="text-align: center; margin-bottom: 1em",
    )
    count = random.one(2, 3, 3)
    split = [joined(*boxes[n::count]) for n in range(count)]
    return [main(title, layout.beside(design, *split, shares=(1.0,) * count))]


def exercises(design: Design) -> list[Markup | None]:
    """Questions with options to tick, gaps, points at the side."""
    random = design.random
    parts: list[Content] = [
        text.heading(design, 1),
        facts.running_facts(design, 2, 3, "row"),
        text.paragraph(design, 1, 2),
    ]
    kind = random.one("{}.", "{})", "{}")
    for number in range(1, random.randint(4, 9)):
        question = f"{kind.format(number)} {design.texts.sentence(5, 18)}"
        points = (
            span(f"({random.randint(1, 10)})", style="float: right")
            if random.chance(0.3)
            else None
        )
        room = div(
            style=(
                f"height: {random.randint(20, 90)}px; "
                f"{random.one('', 'border-bottom: 1px solid #999', 'border: 1px solid #bbb')}"
            )
        )
        answers = facts.options_to_tick(design) if random.chance(0.5) else room
        # Options are items in the item of their question
        asked = element(
            "li",
            joined(question, " ", points),
            div(answers, style="margin-left: 1.6em"),
            style="padding: 0; text-indent: 0",
        )
        parts.append(element("ul", asked, style="padding-left: 0"))
    return layout.page(design, *parts, head=0.4)


FAMILIES = {
    "paper": Family(paper, (), (9.5, 13)),
    "paper page": Family(paper_page, (), (9.5, 13)),
    "preprint": Family(report_in_one_column),
    "thesis": Family(thesis),
    "bibliography": Family(bibliography),
    "poster": Family(poster, (), (9.5, 13)),
    "exercises": Family(exercises),
}
