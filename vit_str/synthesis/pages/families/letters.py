"""Letters, e-mail, minutes, agendas, certificates: what people and offices write."""

from markupsafe import Markup

from vit_str.synthesis.pages.design import Design, main
from vit_str.synthesis.pages.families.family import Family
from vit_str.synthesis.pages.families.trade import letterhead
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

_MAILS = ((640, 820), (700, 1000), (600, 1000))


def letter(design: Design) -> list[Markup | None]:
    """A letter, with the addresses of both or of one."""
    random = design.random
    texts = design.texts
    date = text.text_line(
        f"{random.one('', texts.value('place') + ', ')}{texts.date()}",
        style=random.one("margin: 1em 0", "text-align: right; margin: 1em 0"),
    )
    to = text.address(design, "margin: 1.2em 0", first_is_bold=False)
    way = random.one("two", "one", "facts", "line")
    if way == "two":
        start = [layout.beside(design, text.address(design), to, shares=(1, 1)), date]
    elif way == "facts":
        known = random.one(
            facts.running_facts(design, 2, 4, "below"),
            tables.pairs(design, way="table"),
            joined(date),
        )
        start = [layout.beside(design, to, known, shares=(2, 1))]
    elif way == "line":
        sender = text.text_line(
            random.one(" · ", ", ").join(texts.address()), "plain fine"
        )
        start = [sender, to, date]
    else:
        start = [letterhead(design), to, date]
    subject = random.one(
        text.text_line(element("b", texts.phrase(2, 6)), style="margin: 1em 0"),
        text.heading(design, 2, texts.phrase(2, 6)),
        text.heading(design, 2, f"{texts.exact('labels')}: {texts.phrase(2, 5)}"),
    )
    middle: list[Content] = [
        text.paragraph(design, 2, 5) for _ in range(random.randint(2, 8))
    ]
    if random.chance(0.35):
        extra = random.one(
            text.items(design), tables.any_table(design), facts.running_facts(design)
        )
        middle.insert(random.randint(1, len(middle)), extra)
    end = [
        text.text_line(texts.exact("closing"), style="margin-top: 1em"),
        text.text_line(
            lines(texts.person(), texts.phrase(1, 2)),
            style=f"margin-top: {random.one(1, 2.5)}em",
        ),
    ]
    notes = (
        text.text_line(f"{texts.label('labels')}: {texts.phrase(2, 5)}")
        if random.chance(0.3)
        else None
    )
    # A bold line above a letter names it, as a heading does
    if "<b>" in subject:
        subject = text.heading(
            design,
            2,
            texts.phrase(2, 6),
            style=(
                "font-size: 1em; font-weight: 700; text-transform: none; letter-spacing: 0; "
                "color: inherit; background: none; border: 0; padding: 0"
            ),
        )
    greeting = text.text_line(texts.exact("greeting"), style="margin-bottom: .8em")
    return [
        main(*start, subject, greeting, *middle, *end, notes),
        running.running_foot(design, 0.5),
        layout.margin_mark(design, 0.06),
    ]


def mail(design: Design) -> list[Markup | None]:
    """One as programs print it."""
    random = design.random
    texts = design.texts
    labels = texts.different("labels", random.randint(3, 4))
    way = random.one("grid", "table", "run")
    if way == "run":
        known = facts.running_facts(design, 3, 4, "below")
    else:
        known = tables.pairs(
            design, labels, random.one("mail", "person", "date", "mixed"), way=way
        )
    subject = text.heading(design, 1, texts.phrase(2, 7))
    answer = (
        element(
            "blockquote",
            text.text_line(f"{texts.date()}, {texts.person()}:"),
            text.paragraph(design, 1, 3),
            text.paragraph(design, 1, 2),
        )
        if random.chance(0.5)
        else None
    )
    rule = element("hr", aria_hidden="true") if random.chance(0.5) else None
    signature = text.text_line(
        lines(
            texts.exact("closing"),
            texts.person(),
            texts.company(),
            texts.value("phone"),
        ),
        style="margin-top: 1em",
    )
    head = (subject, known) if random.chance(0.5) else (known, subject)
    return [
        main(
            *head,
            rule,
            text.text_line(texts.exact("greeting")),
            *[text.paragraph(design, 1, 4) for _ in range(random.randint(1, 7))],
            text.items(design, 2, 4) if random.chance(0.3) else None,
            signature,
            answer,
        )
    ]


def mail_of_shop(design: Design) -> list[Markup | None]:
    """One with a logo, a picture, a table, buttons, and small print."""
    random = design.random
    texts = design.texts
    middle = "text-align: center" if random.chance(0.5) else ""
    banner = div(
        pictures.logo(design, 36),
        style=(
            f"background: {random.one(design.style.dark, design.style.ground, 'none')}; "
            f"padding: 1em; {middle}"
        ),
    )
    parts: list[Content] = [
        text.heading(design, 1, texts.title(2, 6), style=middle),
        text.paragraph(design, 1, 3, style=middle),
    ]
    options: list[Maker] = [
        lambda: tables.table(
            design,
            [Column("thing"), Column("small"), Column("price")],
            random.randint(1, 4),
            TableOptions(has_heads=random.chance(0.5), sums=random.randint(1, 4)),
            caption=False,
        ),
        lambda: layout.cards(design),
        lambda: tables.pairs(design, kind="price", sums=1),
        lambda: layout.beside(
            design,
            joined(text.heading(design, 3), text.address(design)),
            joined(text.heading(design, 3), text.address(design)),
            shares=(1, 1),
        ),
        lambda: facts.fields(design, 4, 2),
        lambda: element("div", facts.running_facts(design), class_="box"),
    ]
    for make in random.some(options, 1, 3):
        parts += [
            text.heading(design, 2) if random.chance(0.5) else None,
            make(),
            text.button(design) if random.chance(0.5) else None,
        ]
    small = [
        text.text_line(texts.sentence(5, 15), "plain fine muted", middle)
        for _ in range(random.randint(1, 2))
    ]
    links = element(
        "footer",
        span(
            random.one(" | ", " · ").join(
                random.some(texts.all_labels("navigation"), 2, 4)
            )
        ),
        class_="one",
    )
    return [banner, main(*parts, text.text_line(texts.exact("closing")), *small), links]


def minutes(design: Design) -> list[Markup | None]:
    """Minutes of a meeting."""
    random = design.random
    texts = design.texts
    labels = texts.different("labels", random.randint(3, 6))
    people = random.one(
        tables.pairs(design, labels, "person", way=random.one("table", "grid")),
        facts.running_facts(design, way="below"),
    )
    parts: list[Content] = []
    for _ in range(random.randint(3, 9)):
        parts.append(text.heading(design, 2, None))
        parts += random.one(
            [text.paragraph(design, 1, 3)],
            [text.items(design, 2, 5)],
            [text.paragraph(design, 1, 2), text.items(design, 1, 3)],
            [
                text.paragraph(design, 1, 2),
                text.text_line(
                    joined(
                        element("b", texts.exact("labels") + ":"),
                        " ",
                        texts.sentence(3, 8),
                    )
                ),
            ],
        )
    names = texts.different("columns", 4)
    tasks = (
        tables.table(
            design,
            [
                Column("small", names[0]),
                Column("clause", names[1]),
                Column("person", names[2]),
                Column("date", names[3]),
            ],
            random.randint(2, 6),
            caption=False,
        )
        if random.chance(0.6)
        else None
    )
    body = main(
        text.heading(design, 1),
        text.text_line(f"{texts.date()}, {texts.time()}")
        if random.chance(0.6)
        else None,
        people,
        *parts,
        tasks,
        facts.signatures(design) if random.chance(0.3) else None,
    )
    return [running.running_head(design, 0.3), body, running.running_foot(design)]


def agenda(design: Design) -> list[Markup | None]:
    """An agenda: tables of times."""
    random = design.random
    texts = design.texts
    names = texts.different("columns", 3)
    kinds = random.one(
        ["time", "clause"],
        ["time", "clause", "person"],
        ["small", "clause", "time"],
        ["time", "phrase", "place"],
    )
    columns = [Column(kind, name) for kind, name in zip(kinds, names, strict=False)]
    options = TableOptions(
        has_heads=random.chance(0.4),
        second=random.one(0, 0.4, 1),
        groups=random.one(0, 0.15),
    )
    parts: list[Content] = []
    for _ in range(random.one(1, 1, 2, 3)):
        parts += [
            text.heading(
                design, 2, f"{random.choice(texts.all_labels('days'))}, {texts.date()}"
            ),
            tables.table(
                design, columns, random.randint(4, 11), options, caption=False
            ),
        ]
    title = joined(
        text.heading(design, 1),
        text.text_line(texts.phrase(2, 5)),
        facts.running_facts(design, way="row") if random.chance(0.4) else None,
    )
    return [
        main(title, *parts, text.paragraph(design, 1, 2)),
        running.running_foot(design, 0.4),
    ]


def memo(design: Design) -> list[Markup | None]:
    """A note within a firm."""
    random = design.random
    texts = design.texts
    known = tables.pairs(
        design, texts.different("labels", 4), "person", way=random.one("table", "grid")
    )
    rule = element("hr", aria_hidden="true")
    parts: list[Content] = []
    for _ in range(random.randint(2, 6)):
        parts += [
            text.heading(design, 2) if random.chance(0.6) else None,
            text.paragraph(design, 2, 4),
            text.items(design) if random.chance(0.3) else None,
        ]
    return layout.page(design, known, rule, *parts, title=1, foot=0.5)


def certificate(design: Design) -> list[Markup | None]:
    """A few lines in the middle of a page."""
    random = design.random
    texts = design.texts
    design.added_css.append(
        "main { text-align: center } main p, main .plain { text-align: center; text-indent: 0 }"
    )
    if random.chance(0.6):
        border = random.one("2px solid #555", "6px double #864", "1px solid #333")
        design.added_css.append(f"main {{ border: {border}; padding: 3em 3.5em }}")
    name = text.text_line(
        element("span", texts.person(), style="font-size: 1.8em"), style="margin: 1em 0"
    )
    end = facts.signatures(design, random.one(2, 3))
    body = main(
        pictures.logo(design, 40) if random.chance(0.4) else None,
        text.heading(design, 1),
        text.text_line(texts.sentence(4, 9)),
        name,
        text.paragraph(design, 1, 2),
        facts.running_facts(design, 2, 3, "row") if random.chance(0.4) else None,
        text.text_line(f"{texts.value('place')}, {texts.date()}"),
        end,
    )
    return [body]


def notice(design: Design) -> list[Markup | None]:
    """A poster or handbill with few, large words."""
    random = design.random
    texts = design.texts
    middle = random.one("text-align: center", "")
    design.added_css.append(
        f"main {{ {middle} }} main p, main .plain {{ text-align: inherit; text-indent: 0 }}"
    )
    options: list[Maker] = [
        lambda: pictures.picture(design, random.randint(150, 350)),
        lambda: text.text_line(
            lines(
                f"{random.choice(texts.all_labels('days'))}, {texts.date()}",
                texts.time(),
                texts.value("street"),
            ),
            "lead",
        ),
        lambda: text.paragraph(design, 1, 2),
        lambda: text.items(design, 3, 5, 4),
        lambda: text.text_line(texts.price(), "lead"),
        lambda: text.button(design),
        lambda: element("div", text.paragraph(design, 1, 1), class_="box"),
        lambda: facts.running_facts(design, 2, 3, "below"),
    ]
    parts = [make() for make in random.some(options, 3, 6)]
    above = text.text_line(texts.phrase(1, 3)) if random.chance(0.4) else None
    title = text.heading(
        design,
        1,
        texts.title(1, 5),
        style=f"font-size: {random.uniform(2.5, 4.5):.1f}em",
    )
    return [
        main(
            above,
            title,
            text.heading(design, 2, texts.phrase(2, 5)) if random.chance(0.5) else None,
            *parts,
        ),
        running.running_foot(design, 0.3),
    ]


FAMILIES = {
    "letter": Family(letter),
    "mail": Family(mail),
    "mail of a shop": Family(mail_of_shop, _MAILS, (12, 16)),
    "minutes": Family(minutes),
    "agenda": Family(agenda),
    "memo": Family(memo),
    "certificate": Family(certificate),
    "notice": Family(notice, (), (13, 18)),
}
