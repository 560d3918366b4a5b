"""Pages with little on them, and articles with bylines over columns."""

from markupsafe import Markup

from vit_str.synthesis.pages.design import Design, main
from vit_str.synthesis.pages.families.family import Family
from vit_str.synthesis.pages.html import Content, Maker, div, element, joined, lines
from vit_str.synthesis.pages.parts import facts, layout, pictures, running, tables, text

_NOTES = ((500, 360), (560, 794), (640, 480), (794, 560))


def _broken_early(design: Design, low: int, high: int) -> Markup:
    """A paragraph whose lines somebody ended long before they were full."""
    random = design.random
    words = design.texts.text(low, high).split(" ")
    longest = random.randint(4, 10)
    rows = []
    while words:
        count = max(2, longest + random.randint(-2, 2))
        rows.append(" ".join(words[:count]))
        words = words[count:]
    return element("p", lines(*rows), class_="plain")


def _paragraphs(design: Design, low: int, high: int) -> Markup:
    """Paragraphs of one way: full lines, narrow ones, lines broken early, short sentences."""
    random = design.random
    way = random.weighted({"full": 5, "narrow": 1.5, "broken": 1, "short": 2})
    if way == "broken":
        found = [
            div(_broken_early(design, 1, 3), style="margin-bottom: 1em")
            for _ in range(random.randint(low, high))
        ]
        return joined(*found)
    length = (1, 1) if way == "short" else random.one((1, 2), (2, 5), (4, 9))
    found = random.several(low, high, lambda: text.paragraph(design, *length))
    if way != "narrow":
        return joined(*found)
    wide, left = random.randint(40, 75), random.one("0", "0", "auto", "12%")
    css = f"width: {wide}%; margin-left: {left}; margin-right: auto"
    return div(*found, class_="flow", style=css)


def plain_page(design: Design) -> list[Markup | None]:
    """Paragraphs and nothing else, or with a title; no head and no foot on most."""
    random = design.random
    if random.chance(0.4):
        indent = random.uniform(1, 2.5)
        first = random.one("p", "p + p")
        design.added_css.append(
            f"main p {{ margin: 0 }} main {first} {{ text-indent: {indent:.1f}em }}"
        )
    way = random.weighted({"none": 5, "title": 4, "sentence": 1, "sections": 1})
    title: Content = None
    if way in ("title", "sections"):
        title = text.heading(design, 1, style=random.one("", "text-align: center"))
    if way == "sentence":
        title = text.paragraph(design, 1, 1)
    most = random.one(1, 1, 2, 4, 9)
    parts = [_paragraphs(design, 1, most)]
    if way == "sections":
        more = random.several(
            1,
            3,
            lambda: joined(text.heading(design, 2), _paragraphs(design, 1, 2)),
        )
        parts += more
    end = None
    if random.chance(0.2):
        side = random.one("", "text-align: right", "text-align: center")
        end = text.text_line(
            random.one(design.texts.person(), design.texts.date()), style=side
        )
    top = random.one("", "", "", f"padding-top: {random.randint(5, 30)}%")
    return [
        running.running_head(design, 0.12),
        main(title, *parts, end, style=top),
        running.running_foot(design, 0.25),
    ]


def _person_lines(design: Design) -> Markup:
    """Who wrote something, in one line or several."""
    random = design.random
    texts = design.texts
    name = texts.person()
    return random.one(
        lines(name),
        lines(name, texts.date()),
        lines(name, texts.company(), texts.value("mail")),
        lines(f"{texts.date()}, {name}"),
        lines(name, texts.phrase(1, 3)),
    )


def short_note(design: Design) -> list[Markup | None]:
    """A slip, a label on a door, a card: an address, a few lines, a few items, one fact."""
    random = design.random
    texts = design.texts
    design.added_css.append(
        f"main {{ text-align: {random.one('left', 'left', 'center', 'right')} }}"
        " main p, main li { text-align: inherit }"
    )
    bodies: list[Maker] = [
        lambda: text.address(design),
        lambda: text.items(design, 2, 6, random.one(2, 5, 12), nested=0),
        lambda: text.paragraph(design, 1, 2),
        lambda: text.text_line(texts.sentence(3, 9)),
        lambda: facts.running_facts(design, 1, 3, "below"),
        lambda: facts.options_to_tick(design),
        lambda: text.text_line(_person_lines(design)),
        lambda: _broken_early(design, 1, 2),
        lambda: tables.pairs(design, texts.different("labels", random.randint(2, 4))),
    ]
    title = text.heading(design, 1) if random.chance(0.35) else None
    count = random.one(1, 1, 2, 3)
    gap = f"margin-bottom: {random.uniform(0.6, 2):.1f}em"
    body = [div(make(), style=gap) for make in random.some(bodies, count, count)]
    middle = random.one(
        "", "", "display: flex; flex-direction: column; justify-content: center"
    )
    inner = div(title, *body, class_="flow")
    if random.chance(0.2):
        inner = div(inner, class_="box flow")
    return [main(inner, style=middle)]


def few_items(design: Design) -> list[Markup | None]:
    """Items alone, or under a title: shopping lists, steps, rules, lists without marks."""
    random = design.random
    texts = design.texts
    title = text.heading(design, 1) if random.chance(0.55) else None
    lead = text.paragraph(design, 1, 2) if random.chance(0.3) else None
    way = random.weighted({"items": 4, "groups": 2, "columns": 2, "wide": 1})
    if way == "groups":
        body: Content = joined(
            *random.several(
                2,
                5,
                lambda: joined(
                    text.heading(design, 2), text.items(design, 2, 6, nested=0)
                ),
            )
        )
    elif way == "columns":
        body = layout.columns(design, text.items(design, 8, 30, random.one(2, 4, 8)))
    elif way == "wide":
        gap = f"margin: 0 0 {random.uniform(0.6, 1.6):.1f}em"
        found = [
            text.item(
                design, n, 0, element("b", texts.phrase(1, 4)), ". ", texts.text()
            )
            for n in range(1, random.randint(3, 8))
        ]
        body = element("ul", *[div(one, style=gap) for one in found])
    else:
        body = text.items(design, 2, random.one(4, 8, 16), nested=random.one(0, 0.3))
    end = text.paragraph(design, 1, 2) if random.chance(0.25) else None
    return layout.page(design, title, lead, body, end, foot=0.25)


def _byline(design: Design) -> Markup:
    """Authors and dates at the right, in the middle, at both ends, under a rule."""
    random = design.random
    texts = design.texts
    names = ", ".join(random.several(1, 3, texts.person))
    gap = f"margin: .2em 0 {random.uniform(0.6, 1.8):.1f}em"
    way = random.weighted({"right": 3, "center": 3, "ends": 1, "grid": 1, "left": 1})
    if way == "ends":
        css = f"display: flex; justify-content: space-between; gap: 2em; {gap}"
        css += random.one("", "; border-top: 1px solid #555; padding-top: .3em")
        return div(text.text_line(names), text.text_line(texts.date()), style=css)
    if way == "grid":
        css = f"display: flex; justify-content: space-around; text-align: center; {gap}"
        count = random.randint(2, 4)
        people = [text.text_line(_person_lines(design)) for _ in range(count)]
        return div(*people, style=css)
    look = random.one("", "font-style: italic", "font-size: .9em", "font-weight: 700")
    rows = random.one(
        [names], [names, texts.date()], [texts.date(), names], [names, texts.company()]
    )
    side = f"text-align: {way}; {look}; {gap}"
    if len(rows) == 1 or random.chance(0.5):
        return text.text_line(lines(*rows), style=side)
    # Lines of one look without a gap would be one paragraph
    other = random.one("font-style: italic; color: #666", "margin-top: .7em")
    first = text.text_line(rows[0], style=f"{side}; margin-bottom: 0")
    return joined(first, text.text_line(rows[1], style=f"text-align: {way}; {other}"))


def _pull_quote(design: Design) -> Markup:
    """A sentence in large type, between rules or on a ground."""
    random = design.random
    style = design.style
    look = random.one(
        f"border-top: 2px solid {style.color}; border-bottom: 2px solid {style.color};",
        f"background: {style.ground};",
        f"border-left: 5px solid {style.color};",
        "",
    )
    size = random.uniform(1.2, 1.7)
    align = random.one("left", "center", "right")
    css = (
        f"{look} font-size: {size:.2f}em; line-height: 1.25; text-align: {align};"
        " padding: .5em; margin: .7em 0; break-inside: avoid"
    )
    mark = random.one("“{}”", "„{}“", "« {} »", "{}")
    return text.text_line(mark.format(design.texts.sentence(5, 16)), style=css)


def _stretch(design: Design, count: int) -> Markup:
    """Text in columns, some with a pull quote, a heading, items or a picture in them."""
    random = design.random
    parts = random.several(2, 6, lambda: text.paragraph(design, 2, 6))
    extras: list[Maker] = [
        lambda: _pull_quote(design),
        lambda: text.heading(design, 3),
        lambda: text.items(design, 2, 4),
        lambda: pictures.figure(design, height=random.randint(60, 140)),
    ]
    for make in random.some(extras, 0, 2):
        parts.insert(random.randint(1, len(parts)), make())
    return layout.columns(design, *parts, count=count)


def column_article(design: Design) -> list[Markup | None]:
    """Bylines above columns; headings and quotations over all columns between stretches."""
    random = design.random
    count = random.one(2, 2, 3)
    center = random.one("", "text-align: center")
    title = text.heading(design, 1, design.texts.title(2, 8), style=center)
    by = _byline(design)
    lead = None
    if random.chance(0.4):
        lead = text.text_line(
            design.texts.text(1, 2), "lead", f"{center}; margin: 0 0 1em"
        )
    head = random.one([title, by, lead], [title, lead, by], [by, title, lead])
    parts = [_stretch(design, count)]
    betweens: list[Maker] = [
        lambda: text.heading(design, 2, style=random.one("", center)),
        lambda: text.heading(design, 2, design.texts.title(3, 8)),
        lambda: _pull_quote(design),
        lambda: pictures.figure(design, height=random.randint(90, 200)),
        lambda: tables.any_table(design, rows=random.randint(2, 5)),
    ]
    for _ in range(random.one(0, 1, 1, 2)):
        # After a heading over all columns, the next stretch may have fewer of them
        count = random.one(count, count, 2, 3)
        parts += [random.choice(betweens)(), _stretch(design, count)]
    if random.chance(0.3):
        parts.append(_byline(design))
    return [
        running.running_head(design, 0.4),
        main(*head, *parts),
        layout.notes(design) if random.chance(0.15) else None,
        running.running_foot(design, 0.6),
    ]


def articles_in_columns(design: Design) -> list[Markup | None]:
    """Columns that are articles of their own, with who wrote them at the right or below."""
    random = design.random
    count = random.one(2, 3, 3)
    side = random.one("right", "right", "center", "left")
    is_last = random.chance(0.5)

    def one() -> Markup:
        by = text.text_line(_person_lines(design), style=f"text-align: {side}")
        body = random.several(1, 4, lambda: text.paragraph(design, 1, 4))
        quote = _pull_quote(design) if random.chance(0.25) else None
        name = text.heading(design, 2, design.texts.title(2, 7))
        return joined(name, *((*body, quote, by) if is_last else (by, *body, quote)))

    parts: list[Content] = []
    if random.chance(0.5):
        parts.append(text.heading(design, 1))
    for _ in range(random.one(1, 2, 2)):
        shares = (1.0,) * count if random.chance(0.7) else ()
        parts.append(
            layout.beside(design, *[one() for _ in range(count)], shares=shares)
        )
        if random.chance(0.3):
            parts.append(text.heading(design, 1, design.texts.title(2, 6)))
    parts.append(layout.columns(design, one(), one(), count=count))
    return layout.page(design, *parts, head=0.4)


FAMILIES = {
    "plain page": Family(plain_page),
    "short note": Family(short_note, _NOTES, (12, 19)),
    "few items": Family(few_items, (), (11, 18)),
    "article in columns": Family(column_article, (), (9.5, 14)),
    "articles in columns": Family(articles_in_columns, (), (9.5, 13)),
}
