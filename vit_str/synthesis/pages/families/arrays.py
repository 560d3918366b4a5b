"""Arrays in rows and columns that are no tables: labels, tiles, fields, columns of items."""

from collections.abc import Callable

from markupsafe import Markup

from vit_str.synthesis.pages.design import Design, flow, main
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
from vit_str.synthesis.pages.parts import (
    boxes,
    facts,
    fronts,
    layout,
    lists,
    pictures,
    running,
    text,
)

_SCREENS = ((1024, 900), (1280, 960), (794, 1123))


def _in_rows(design: Design, parts: list[Markup], across: int, css: str = "") -> Markup:
    """Parts in a grid without frames, read row by row."""
    random = design.random
    gaps = f"{random.uniform(0.4, 2):.1f}em {random.uniform(1, 2.6):.1f}em"
    style = (
        f"display: grid; grid-template-columns: repeat({across}, minmax(0, 1fr)); "
        f"gap: {gaps}; margin: .8em 0; {css}"
    )
    return flow(*parts, style=style)


def address_labels(design: Design) -> list[Markup | None]:
    """A sheet of labels: lines of an address each, row by row, without frames or with."""
    random = design.random
    across = random.one(2, 3, 3, 4)
    rows = random.randint(4, 8)
    line = random.one("", "", "border: 1px dashed #aaa;", "border: 1px solid #ddd;")
    align = random.one("left", "left", "center")
    high = 0.8 * design.style.height / rows
    sender = design.texts.sentence(3, 5)[:-1] if random.chance(0.3) else None
    labels = []
    for _ in range(across * rows):
        above = text.text_line(sender, "plain fine") if sender else None
        inner = joined(above, text.address(design, first_is_bold=False))
        css = f"{line} text-align: {align}; min-height: {high:.0f}px; padding: .5em"
        labels.append(div(inner, style=css))
    # Frames that touch would make a table of them
    gap = f"gap: {random.uniform(0.6, 1.4):.1f}em" if line else ""
    style = (
        f"display: grid; grid-template-columns: repeat({across}, minmax(0, 1fr)); {gap}"
    )
    return [main(flow(*labels, style=style))]


def tiles(design: Design) -> list[Markup | None]:
    """Numbers with names in a grid of tiles, some with changes, above text or charts."""
    random = design.random
    texts = design.texts
    across = random.randint(2, 5)
    rows = random.randint(1, 4)
    kind = random.one("integer", "percent", "price", "decimal", "quantity")
    is_above = random.chance(0.5)
    has_change = random.chance(0.4)
    size = random.uniform(1.1, min(2.6, 6 / across))
    large = (
        f"font-size: {size:.1f}em; font-weight: {random.one(400, 700)}; "
        "white-space: nowrap"
    )
    small = f"font-size: {random.one(0.75, 0.85, 1)}em; color: {design.style.gray}"
    look = random.one(
        "",
        "",
        f"background: {design.style.ground}; padding: .7em;",
        "border: 1px solid #ccc; padding: .7em; border-radius: 6px;",
        f"border-top: 2px solid {design.style.color}; padding: .4em 0;",
        "border-left: 1px solid #999; padding-left: .7em;",
    )
    align = random.one("left", "center")
    found = []
    for _ in range(across * rows):
        number = div(texts.value(kind), style=large)
        name = div(texts.phrase(1, random.one(2, 4)), style=small)
        change = div(f"{texts.value('signed')} %", style=small) if has_change else None
        parts = (name, number, change) if is_above else (number, name, change)
        found.append(div(*parts, style=f"{look} text-align: {align}"))
    gap = f"{random.uniform(0.3, 1.5):.1f}em {random.uniform(0.5, 2):.1f}em"
    css = f"display: grid; grid-template-columns: repeat({across}, minmax(0, 1fr)); gap: {gap}"
    grid = element("dl", *found, style=f"{css}; margin: 1em 0")
    more: list[Maker] = [
        lambda: text.paragraph(design, 2, 4),
        lambda: pictures.figure(design, height=random.randint(120, 220)),
        lambda: joined(text.heading(design, 2), lists.any_list(design)),
    ]
    rest = [make() for make in random.some(more, 1, 3)]
    parts_ = [grid, *rest] if random.chance(0.7) else [*rest, grid]
    return layout.page(design, *parts_, head=0.3, title=1, foot=0.5)


def booking(design: Design) -> list[Markup | None]:
    """A booking: labels above values in three or four columns under names, no frames."""
    random = design.random
    texts = design.texts
    across = random.randint(2, 4)
    small = random.one(
        f"font-size: .75em; color: {design.style.gray}",
        "font-size: .7em; text-transform: uppercase; letter-spacing: .06em",
        "font-weight: 700",
        f"color: {design.style.color}; font-size: .85em",
    )
    rule = random.one("", "", "border-bottom: 1px solid #bbb; padding-bottom: .2em")
    kinds = ("date", "time", "code", "person", "place", "price", "phone", "quantity")

    def block() -> Markup:
        found = []
        for label in texts.different("labels", across * random.randint(1, 3)):
            value: Content = texts.value(random.choice(kinds))
            if random.chance(0.2):
                value = lines(value, texts.phrase(1, 3))
            found.append(div(div(label, style=small), div(value), style=rule))
        gap = f"{random.uniform(0.4, 1.2):.1f}em {random.uniform(0.8, 2):.1f}em"
        css = f"display: grid; grid-template-columns: repeat({across}, minmax(0, 1fr)); gap: {gap}"
        return element("dl", *found, style=f"{css}; margin: .4em 0 1em")

    parts: list[Content] = []
    for _ in range(random.randint(2, 5)):
        inner = joined(text.heading(design, 2), block())
        parts.append(boxes.box(design, inner) if random.chance(0.25) else inner)
    return [
        main(
            fronts.front(design),
            text.paragraph(design, 1, 2) if random.chance(0.5) else None,
            *parts,
            text.button(design) if random.chance(0.3) else None,
            text.paragraph(design, 1, 2, class_="fine"),
        ),
        running.running_foot(design, 0.6),
    ]


def team(design: Design) -> list[Markup | None]:
    """People in a grid: a picture or none, a name, what they do, how to reach them."""
    random = design.random
    texts = design.texts
    across = random.randint(2, 4)
    height = random.randint(50, 110)
    has_picture = random.chance(0.4)
    is_heading = random.chance(0.5)
    align = random.one("left", "left", "center")
    rest = random.some(["phrase", "phone", "mail", "place"], 1, 4)

    def person() -> Markup:
        shown = pictures.picture(design, height) if has_picture else None
        said = [texts.value(kind) for kind in rest]
        name = texts.person()
        if is_heading:
            below = text.text_line(lines(*said))
            return joined(
                shown, text.heading(design, 3, name, "margin: .2em 0 0"), below
            )
        return joined(shown, text.text_line(lines(element("b", name), *said)))

    parts: list[Content] = []
    for _ in range(random.randint(1, 3)):
        people = [div(person()) for _ in range(across * random.randint(1, 3))]
        grid = _in_rows(design, people, across, f"text-align: {align}")
        parts += [text.heading(design, 2), grid]
    return layout.page(design, *parts, head=0.3, title=1, foot=0.6)


def short_items(design: Design) -> list[Markup | None]:
    """Short items in two to four columns, which look like rows: what is in, what is wanted."""
    random = design.random
    across = random.randint(2, 4)
    ticks = random.chance(0.3)
    longest = random.one(2, 3, 5)
    kind = random.one("•", "–", "▪", "1.", "drawn disc", "drawn square", "✓")

    def block() -> Markup:
        count = random.randint(5, 15)
        if ticks:
            inner = facts.options_to_tick(design, count, count, in_row=False)
        else:
            found = []
            for number in range(1, count + 1):
                mark = span(text.mark_content(kind, number))
                said = design.texts.phrase(1, longest)
                found.append(lists.hanging(design, mark, said, room=1.5))
            inner = element("ul", *found, style="padding: 0")
        if random.chance(0.6):
            return lists.in_columns(design, inner, count=across)
        sides = [
            lists.marked(design, 4, 9, short=True, kind=kind)
            for _ in range(min(across, 3))
        ]
        return layout.beside(design, *sides, shares=(1,) * len(sides))

    parts: list[Content] = []
    for _ in range(random.randint(1, 4)):
        parts.append(text.heading(design, 2))
        parts.append(text.paragraph(design, 1, 2) if random.chance(0.3) else None)
        parts.append(block())
    return layout.page(design, *parts, head=0.3, title=1, foot=0.6)


def versus(design: Design) -> list[Markup | None]:
    """Two or three columns with names on bands: for and against, before and after."""
    random = design.random
    style = design.style
    count = random.one(2, 2, 3)
    colors = random.sample(["#2e7d32", "#b3261e", "#1d4e89", "#6a4c93", "#555"], count)
    has_bands = random.chance(0.6)
    way = random.one("list", "list", "text", "both")
    mark = random.one("+", "–", "✓", "•", "1.")
    frame = random.one("", "border: 1px solid #999;", f"background: {style.ground};")

    def column(color: str) -> Markup:
        look = f"background: {color}; color: #fff; padding: .3em .6em; margin: 0 0 .5em"
        plain = "margin: 0 0 .4em"
        name = text.heading(design, 2, None, look if has_bands else plain)
        said = text.paragraph(design, 1, 3) if way != "list" else None
        listed = lists.marked(design, 3, 7, kind=mark) if way != "text" else None
        inside = div(said, listed, style="padding: 0 .6em .4em" if frame else "")
        return div(name, inside, style=f"flex: 1 1 0; min-width: 0; {frame}")

    parts: list[Content] = []
    for _ in range(random.one(1, 1, 2)):
        row = [column(color) for color in colors]
        gap = random.one(0.2, 0.8, 1.5, 2.5)
        parts.append(
            div(*row, class_="flow beside", style=f"display: flex; gap: {gap}em")
        )
        parts.append(text.paragraph(design, 1, 4) if random.chance(0.5) else None)
    return [
        running.running_head(design, 0.3),
        main(text.heading(design, 1), text.paragraph(design, 1, 2), *parts),
        running.running_foot(design, 0.5),
    ]


def gallery(design: Design) -> list[Markup | None]:
    """Pictures with captions in rows, some with letters or numbers, captions of several lines."""
    random = design.random
    across = random.randint(2, 4)
    height = random.randint(60, 150)
    longest = random.one(3, 8, 18)
    way = random.one("plain", "letter", "bold", "figure")

    def one(number: int) -> Markup:
        said: Content = design.texts.sentence(2, longest)[: None if longest > 3 else -1]
        if way == "letter":
            said = f"({chr(96 + number)}) {said}"
        elif way == "bold":
            said = joined(element("b", f"{number} "), said)
        elif way == "figure":
            said = (
                f"{design.texts.exact('figure')} {design.next_number('figure')}: {said}"
            )
        caption = element("figcaption", said)
        return element(
            "figure", pictures.picture(design, height), caption, style="margin: 0"
        )

    found = [one(number) for number in range(1, across * random.randint(1, 4) + 1)]
    grid = _in_rows(design, found, across)
    words = text.paragraph(design, 1, 4)
    return [
        running.running_head(design, 0.4),
        main(
            text.heading(design, 1) if random.chance(0.8) else None,
            words if random.chance(0.5) else None,
            grid,
            text.paragraph(design, 2, 5),
        ),
        running.running_foot(design, 0.6),
    ]


def small_ads(design: Design) -> list[Markup | None]:
    """Short advertisements in three or four columns, some in frames, under names of kinds."""
    random = design.random
    texts = design.texts
    count = random.randint(2, 4)
    first = random.one("bold", "capitals", "none")
    framed = random.one(0.0, 0.2, 1.0)

    def advertisement() -> Markup:
        name, said = texts.phrase(1, 3), texts.text(1, 2)
        end = random.one(
            texts.value("phone"), texts.value("mail"), texts.value("price")
        )
        start: Content = {"bold": element("b", name), "capitals": name.upper()}.get(
            first
        )
        inner = joined(start, " " if start else None, said, " ", end)
        css = "margin: 0 0 .6em; break-inside: avoid; text-indent: 0;"
        css += "border: 1px solid #333; padding: .3em" if random.chance(framed) else ""
        return element("p", inner, class_="plain", style=css)

    parts: list[Content] = []
    for _ in range(random.randint(2, 5)):
        parts.append(text.heading(design, 2, texts.phrase(1, 2)))
        parts += random.several(2, 7, advertisement)
    body = layout.columns(design, *parts, count=count, gap=random.uniform(0.6, 1.4))
    return layout.page(design, body, head=0.6, title=0.6, foot=0.4)


def _link_columns(design: Design, count: int) -> Markup:
    """Columns of links under names, as at the foot of a website."""
    random = design.random
    texts = design.texts
    columns = []
    for _ in range(count):
        links = [div(texts.label("navigation")) for _ in range(random.randint(3, 6))]
        columns.append(div(div(element("b", texts.phrase(1, 2))), *links))
    return element("footer", *columns)


def site_map(design: Design) -> list[Markup | None]:
    """A page with links in columns: short items under headings; more of them at its foot."""
    random = design.random
    texts = design.texts
    across = random.randint(2, 4)
    arrow = random.one("", "", "› ", "» ", "- ")

    def block() -> Markup:
        style = "padding: 0; text-indent: 0"
        rows = random.several(
            3, 8, lambda: element("li", arrow + texts.phrase(1, 4), style=style)
        )
        name = text.heading(design, 2, texts.title(1, 3), style="margin-top: 0")
        return div(name, element("ul", *rows, style="padding: 0"))

    blocks = [block() for _ in range(across * random.randint(1, 3))]
    names = random.sample(texts.all_labels("navigation"), random.randint(4, 6))
    links = element("header", *map(span, names))
    words = text.paragraph(design, 1, 3) if random.chance(0.5) else None
    return [
        links,
        main(text.heading(design, 1), words, _in_rows(design, blocks, across)),
        _link_columns(design, random.randint(3, 5)),
    ]


def offices(design: Design) -> list[Markup | None]:
    """Places side by side: a name, lines of an address, labels with hours and numbers."""
    random = design.random
    texts = design.texts
    across = random.randint(2, 4)
    has_facts = random.chance(0.5)
    name_maker: Callable[[], str] = random.one(
        lambda: texts.value("place"), texts.company, lambda: texts.title(1, 3)
    )
    labels = texts.different("labels", 2)

    def office() -> Markup:
        known = element("dl", *(div(f"{n}: {texts.value('phone')}") for n in labels))
        rows = [texts.exact("street"), texts.exact("city")]
        rest = [] if has_facts else [texts.value("phone"), texts.value("mail")]
        address = text.text_line(lines(*rows, *rest))
        name = text.heading(design, 3, name_maker(), style="margin: 0 0 .2em")
        return div(name, address, known if has_facts else None)

    found = [office() for _ in range(across * random.randint(1, 4))]
    return [
        running.running_head(design, 0.3),
        main(
            text.heading(design, 1),
            text.paragraph(design, 1, 3),
            text.heading(design, 2) if random.chance(0.6) else None,
            _in_rows(design, found, across),
            text.paragraph(design, 1, 3) if random.chance(0.4) else None,
        ),
        running.running_foot(design, 0.6),
    ]


FAMILIES = {
    "address labels": Family(address_labels, (), (10, 14)),
    "tiles": Family(tiles, _SCREENS, (11, 16)),
    "booking": Family(booking, (), (10, 15)),
    "team": Family(team, _SCREENS, (11, 15)),
    "short items": Family(short_items, (), (10, 15)),
    "versus": Family(versus, (), (11, 16)),
    "gallery": Family(gallery, (), (10, 15)),
    "small ads": Family(small_ads, (), (9, 12.5)),
    "site map": Family(site_map, _SCREENS, (11, 15)),
    "offices": Family(offices, (), (10, 15)),
}
