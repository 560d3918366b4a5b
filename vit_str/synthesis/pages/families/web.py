"""Websites, documentation, data sheets, chats: what stands on screens and is printed."""

from markupsafe import Markup

from vit_str.synthesis.pages.design import Design, main
from vit_str.synthesis.pages.families.family import Family
from vit_str.synthesis.pages.families.science import sections
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

_SCREENS = ((1024, 1000), (1200, 1100), (900, 1200), (1280, 960))
_PHONES = ((390, 780), (414, 896))


def navigation(design: Design) -> Markup:
    """The navigation at the top of a website."""
    random = design.random
    links = random.some(design.texts.all_labels("navigation"), 3, 7)
    gap = random.uniform(0.8, 2)
    row = span(*[span(link, style=f"margin-right: {gap:.1f}em") for link in links])
    name = span(
        design.texts.noun().capitalize(), style="font-weight: 700; font-size: 1.3em"
    )
    above, beside = design.style.margin
    css = "font-style: normal;"
    if random.chance(0.6):
        ground = random.one(design.style.dark, design.style.color)
        css += (
            f"background: {ground}; color: #fff; "
            f"margin: {-above:.0f}px {-beside:.0f}px 1.2em; padding: .8em {beside:.0f}px"
        )
    return element("header", name, row, style=css)


def site_foot(design: Design) -> Markup:
    """The lines at the bottom of a website."""
    random = design.random
    links = random.some(design.texts.all_labels("navigation"), 3, 5)
    text_ = span(design.texts.exact("legal"))
    return element("footer", text_, span(random.one(" | ", " · ").join(links)))


def website(design: Design) -> list[Markup | None]:
    """The front page of a firm."""
    random = design.random
    texts = design.texts
    middle = random.one("text-align: center", "")
    hero = joined(
        text.heading(design, 1, texts.title(2, 7), style=middle),
        text.text_line(texts.text(1, 2), "lead", middle),
        text.button(design),
    )
    if random.chance(0.4):
        hero = div(
            hero,
            style=f"background: {design.style.ground}; padding: 2em; margin-bottom: 1em",
        )
    options: list[Maker] = [
        lambda: layout.cards(design),
        lambda: layout.beside(
            design,
            joined(
                text.heading(design, 2),
                text.paragraph(design, 2, 3),
                text.button(design),
            ),
            pictures.picture(design, 180),
        ),
        lambda: joined(text.heading(design, 2), text.items(design)),
        lambda: facts.figures_on_cards(design),
        lambda: joined(text.heading(design, 2), text.paragraph(design, 2, 4)),
        lambda: text.quotation(design),
        lambda: joined(text.heading(design, 2), tables.any_table(design)),
    ]
    return [
        navigation(design),
        main(hero, *(make() for make in random.some(options, 2, 4))),
        site_foot(design),
    ]


def shop(design: Design) -> list[Markup | None]:
    """Filters at the side, products in a grid."""
    random = design.random
    texts = design.texts
    side = joined(
        *[
            joined(
                text.heading(design, 3),
                facts.options_to_tick(design, 3, 6, in_row=False),
            )
            for _ in range(random.randint(2, 3))
        ]
    )
    height = random.randint(70, 130)

    def product() -> Markup:
        # Names are below the heads of filters, which are set larger
        name = text.heading(design, 4, texts.phrase(1, 4), style="margin: .2em 0")
        price = text.text_line(element("b", texts.price(200)), style="margin: 0")
        return joined(
            pictures.picture(design, height),
            name,
            price,
            text.text_line(texts.sentence(3, 8), "plain fine")
            if random.chance(0.4)
            else None,
        )

    grid = layout.cards(design, product, random.one(6, 8, 9), random.one(2, 3, 3))
    count = text.text_line(f"{texts.value('integer')} {texts.noun()}", "plain muted")
    body = joined(text.heading(design, 1), count, grid)
    return [
        navigation(design),
        main(layout.beside(design, side, body, shares=(1.0, 3.2))),
        site_foot(design),
    ]


def documentation(design: Design) -> list[Markup | None]:
    """Prose, code, tables of arguments; some with a list of pages at the side."""
    random = design.random
    parts: list[Content] = [text.heading(design, 1), text.paragraph(design, 1, 3)]
    for _ in range(random.randint(3, 7)):
        parts.append(text.heading(design, random.one(2, 2, 3)))
        ways = ["text", "code", "items", "table", "note", "terms"]
        parts += [_documented(design, way) for way in random.some(ways, 2, 3)]
    if random.chance(0.45):
        side = joined(text.heading(design, 4), text.items(design, 5, 14, 3, nested=0.3))
        return [
            navigation(design) if random.chance(0.5) else None,
            layout.sidebar_page(
                design, side, joined(*parts), is_left=random.chance(0.7)
            ),
        ]
    return layout.page(design, *parts, head=0.3)


def _documented(design: Design, way: str) -> Markup:
    random = design.random
    if way == "code":
        return text.code(design)
    if way == "items":
        return text.items(design, 2, 6)
    if way == "table":
        names = design.texts.different("columns", 3)
        columns = [
            Column("word", names[0]),
            Column("word", names[1]),
            Column("sentence", names[2]),
        ]
        return tables.table(
            design,
            columns[random.randint(0, 1) :],
            random.randint(3, 7),
            TableOptions(empty=random.one(0, 0.1)),
            caption=False,
        )
    if way == "note":
        return element("div", text.paragraph(design, 1, 2), class_="box")
    return text.glossary(design) if way == "terms" else text.paragraph(design, 1, 4)


def data_sheet(design: Design) -> list[Markup | None]:
    """Features, a drawing, tables of limits."""
    random = design.random
    names = design.texts.different("columns", 6)
    columns = [
        Column("phrase", names[0]),
        Column("unit", names[1]),
        *[Column("decimal", name) for name in names[2 : random.randint(4, 6)]],
    ]
    options = TableOptions(
        empty=random.one(0.05, 0.2),
        groups=random.one(0, 0.12),
        spans=random.one(0, 0.1),
        tall_heads=random.chance(0.5),
    )
    table = tables.table(design, columns, random.randint(6, 16), options)
    top = layout.beside(
        design,
        text.items(design, 4, 8, 9, nested=0.05),
        random.one(
            pictures.figure(design, height=150),
            joined(text.heading(design, 2), text.items(design, 3, 5, 6)),
        ),
    )
    more = (
        layout.figures_beside(design)
        if random.chance(0.4)
        else tables.any_table(design)
    )
    return [
        running.running_head(design, 0.5),
        main(
            text.heading(design, 1),
            text.text_line(design.texts.phrase(3, 8), "lead"),
            top,
            text.heading(design, 2),
            table,
            text.heading(design, 2),
            more,
            layout.table_note(design),
        ),
        running.running_foot(design),
    ]


def questions(design: Design) -> list[Markup | None]:
    """Questions as headings with answers below."""
    random = design.random
    parts = [
        joined(
            text.heading(design, 3, design.texts.sentence(4, 10)[:-1] + "?"),
            text.paragraph(design, 1, 3),
        )
        for _ in range(random.randint(5, 13))
    ]
    body = (
        layout.columns(design, *parts, count=2)
        if random.chance(0.35)
        else joined(*parts)
    )
    return [
        navigation(design) if random.chance(0.4) else running.running_head(design, 0.4),
        main(
            text.heading(design, 1),
            body,
            text.button(design) if random.chance(0.3) else None,
        ),
        running.running_foot(design),
    ]


def chat(design: Design) -> list[Markup | None]:
    """Messages of a chat, on grounds at both sides."""
    random = design.random
    parts: list[Content] = [
        text.heading(
            design, 1, design.texts.person(), style="font-size: 1.2em; margin: 0 0 .5em"
        )
    ]
    for _ in range(random.randint(6, 14)):
        mine = random.chance(0.5)
        ground = design.style.color if mine else "#e6e6e6"
        ink = "#fff" if mine else "#111"
        bubble = (
            f"background: {ground}; color: {ink}; border-radius: 12px; padding: .5em .8em; "
            f"max-width: 74%; margin: 0 0 .2em {'auto' if mine else '0'}; "
            "width: fit-content; text-align: left"
        )
        said = element("p", design.texts.text(1, 2), style=bubble, class_="plain")
        time = text.text_line(
            design.texts.time(),
            "plain fine muted",
            f"text-align: {'right' if mine else 'left'}; margin-bottom: .5em",
        )
        parts += [said, time if random.chance(0.5) else None]
    return [main(*parts)]


def results(design: Design) -> list[Markup | None]:
    """Results of a search: links, addresses, snippets."""
    random = design.random
    parts: list[Content] = [
        text.heading(design, 1, design.texts.phrase(1, 3)),
        text.text_line(design.texts.sentence(4, 8), "plain muted"),
    ]
    for _ in range(random.randint(5, 11)):
        site = text.text_line(design.texts.value("site"), "plain fine", "margin: 0")
        name = text.heading(
            design,
            2,
            design.texts.title(3, 8),
            style=(
                f"font-size: 1.15em; color: {design.style.color}; margin: 0; text-align: left; "
                "font-weight: 700"
            ),
        )
        snippet = text.text_line(design.texts.text(1, 2), style="margin-bottom: 1em")
        parts += [site, name, snippet] if random.chance(0.5) else [name, site, snippet]
    return [navigation(design), main(*parts), site_foot(design)]


def readme(design: Design) -> list[Markup | None]:
    """The README of a program: sections with text, code and lists."""
    random = design.random
    parts = [
        text.heading(design, 1, design.texts.title(1, 3)),
        text.paragraph(design, 1, 2),
    ]
    for _ in range(random.randint(3, 6)):
        parts += [
            text.heading(design, 2),
            text.paragraph(design, 1, 2),
            random.one(text.code(design), text.items(design), tables.any_table(design)),
        ]
    return [
        main(*parts, sections(design, 1, 2, rich=False) if random.chance(0.3) else None)
    ]


def phone_screen(design: Design) -> list[Markup | None]:
    """An app: a title, rows with values, buttons."""
    random = design.random
    rows = random.one(
        tables.pairs(design, kind="mixed", way="between"),
        facts.figures_on_cards(design, 2),
        layout.cards(design, None, 3, 1),
        text.items(design, 3, 6, 4, nested=0),
    )
    more = random.one(
        text.paragraph(design, 1, 2),
        facts.fields(design, 4, 1),
        tables.pairs(design, way="between"),
    )
    top = text.text_line(design.texts.time(), "plain fine")
    links = element(
        "footer",
        *[
            span(link)
            for link in random.some(design.texts.all_labels("navigation"), 3, 4)
        ],
    )
    return [
        main(
            top if random.chance(0.4) else None,
            text.heading(design, 1),
            rows,
            text.heading(design, 2),
            more,
            text.button(design),
            span(lines("")),
        ),
        links,
    ]


FAMILIES = {
    "website": Family(website, _SCREENS, (13, 17)),
    "shop": Family(shop, _SCREENS, (12, 15)),
    "documentation": Family(documentation),
    "data sheet": Family(data_sheet, (), (9.5, 13)),
    "questions": Family(questions),
    "chat": Family(chat, _PHONES, (13, 16)),
    "search results": Family(results, _SCREENS, (13, 16)),
    "readme": Family(readme),
    "phone screen": Family(phone_screen, _PHONES, (13, 17)),
}
