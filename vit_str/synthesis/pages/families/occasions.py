"""CVs of other kinds, applications, job offers, programs of events and stages, badges, menus."""

from markupsafe import Markup

from vit_str.synthesis.pages.design import Design, main
from vit_str.synthesis.pages.families.family import Family
from vit_str.synthesis.pages.families.people import entry_maker, skills
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
    layout,
    lists,
    pictures,
    running,
    tables,
    text,
)

_BADGES = ((378, 567), (567, 378), (420, 595), (340, 480))
_CARDS = ((559, 794), (794, 559), (420, 595), (595, 595), (794, 1123))
_NARROW = ((397, 1123), (420, 900), (559, 794), (794, 1123))


def _section(design: Design, level: int, *parts: Content) -> Markup:
    name = design.texts.exact("resume")
    return joined(text.heading(design, level, name), *parts)


def rated(design: Design) -> Markup:
    """Skills with their levels: drawn bars or dots after, below or before names."""
    random = design.random
    color = random.one(design.style.color, "#777")
    way = random.one("after", "after", "below", "dots")
    known = [design.texts.noun().capitalize() for _ in range(random.randint(3, 7))]
    found = []
    for name in known:
        share = random.randint(25, 100)
        if way == "dots":
            dot = "display: inline-block; width: 7px; height: 7px; border-radius: 50%;"
            dot += " margin-left: 3px;"
            drawn = span(
                *(
                    span(
                        style=f"{dot} background: {color if n < share / 20 else '#ccc'}"
                    )
                    for n in range(5)
                ),
                aria_hidden="true",
            )
        else:
            inner = div(style=f"width: {share}%; height: 100%; background: {color}")
            wide = "100%" if way == "below" else "45%"
            drawn = div(inner, style=f"width: {wide}; height: 6px; background: #ccc")
        css = "margin: 0 0 .3em;"
        if way != "below":
            css += "display: flex; justify-content: space-between; align-items: center"
        label = text.text_line(name, style="margin: 0")
        found.append(div(label, drawn, style=css))
    return joined(*found)


def _short_part(design: Design, level: int) -> Markup:
    """A short part of a CV, for its sidebar."""
    random = design.random
    ways: list[Maker] = [
        lambda: rated(design),
        lambda: skills(design),
        lambda: facts.contact(design),
        lambda: lists.with_icons(design, 3, 5, short=True),
        lambda: lists.any_list(design, 2, 5, short=True),
        lambda: text.paragraph(design, 1, 3),
        lambda: facts.running_facts(design, 2, 4, "below"),
    ]
    return _section(design, level, random.choice(ways)())


def _dated(design: Design) -> Markup:
    """Entries on a line with dots, or a table of short ones with dates at the right."""
    random = design.random
    texts = design.texts
    if random.chance(0.35):
        rows = []
        is_left = random.chance(0.5)
        for _ in range(random.randint(3, 6)):
            what: Content = f"{texts.phrase(2, 4)}, {texts.company()}"
            if random.chance(0.3):
                what = joined(
                    what, div(texts.sentence(3, 9)[:-1], style="font-size: .9em")
                )
            when = div(texts.value("span"), role="cell", style="white-space: nowrap")
            cells = (
                (when, div(what, role="cell"))
                if is_left
                else (div(what, role="cell"), when)
            )
            rows.append(div(*cells, role="row", style="display: contents"))
        shares = "max-content 1fr" if is_left else "1fr max-content"
        css = f"display: grid; grid-template-columns: {shares}; gap: .3em 1.5em; margin: .4em 0"
        return div(*rows, role="table", style=css)
    make = entry_maker(design)
    count = random.randint(2, 4)
    if random.chance(0.4):
        line = f"border-left: 2px solid {design.style.color}; padding-left: 1em"
        return div(*(make() for _ in range(count)), style=line, class_="flow")
    return joined(*(make() for _ in range(count)))


def resume(design: Design) -> list[Markup | None]:
    """CVs with a band, two sidebars, cards, columns of equal width."""
    random = design.random
    texts = design.texts
    name = text.heading(design, 1, texts.person())
    work = text.text_line(texts.phrase(1, 4), "lead")
    kinds = random.some(["phone", "mail", "city", "site", "street"], 2, 4)
    reach = [texts.value(kind) for kind in kinds]
    way = random.weighted({"band": 3, "three": 2, "halves": 3, "labels": 2})
    line = text.text_line(random.one(" | ", " · ", "   ").join(reach))
    face = pictures.picture(design, 90, "90px") if random.chance(0.5) else None
    top = joined(name, work, line)
    if face is not None:
        row = div(face, div(top, style="flex: 1"), style="display: flex; gap: 1.4em")
        top = row if random.chance(0.6) else joined(top, face)
    if random.chance(0.6 if way == "band" else 0.2):
        top = boxes.whole_width(design, top)
    sections = [
        _section(design, 2, _dated(design)) for _ in range(random.randint(2, 4))
    ]
    short = [_short_part(design, 2) for _ in range(random.randint(2, 4))]
    if way == "band":
        body = joined(*sections, *short)
    elif way == "three":
        thirds = (joined(*short[:1]), joined(*sections[:2]), joined(*short[1:]))
        body = layout.beside(design, *thirds, shares=(1, 2, 1))
    elif way == "halves":
        halves = (joined(*sections[:2]), joined(*short, *sections[2:]))
        body = layout.beside(design, *halves, shares=(1, 1))
    else:
        body = _with_names_at_left(design, [*sections, *short])
    return layout.page(design, top, body, foot=0.15)


def _with_names_at_left(design: Design, parts: list[Markup]) -> Markup:
    """Headings in a column of their own, what belongs under each at its right."""
    random = design.random
    wide = random.randint(18, 28)
    line = random.one(
        "",
        "border-top: 1px solid #999;",
        f"border-top: 2px solid {design.style.color};",
    )
    found = []
    for _ in parts:
        name = text.heading(design, 2, design.texts.exact("resume"), style="margin: 0")
        inner = _of_resume(
            design, random.one("dated", "dated", "rated", "list", "text")
        )
        row = (
            div(name, style=f"flex: 0 0 {wide}%; min-width: 0"),
            div(inner, class_="flow", style="flex: 1; min-width: 0"),
        )
        css = f"display: flex; gap: 1.4em; padding: .6em 0; {line}"
        found.append(div(*row, style=css))
    return joined(*found)


def _of_resume(design: Design, way: str) -> Markup:
    """The part under a heading of a CV."""
    if way == "dated":
        return _dated(design)
    if way == "rated":
        return rated(design)
    if way == "list":
        return lists.any_list(design, 2, 5)
    return text.paragraph(design)


def application(design: Design) -> list[Markup | None]:
    """A letter with a name as in the CV that it comes with."""
    random = design.random
    texts = design.texts
    name = text.heading(design, 1, texts.person())
    reach = text.text_line(
        random.one(" | ", " · ").join(texts.value(k) for k in ("phone", "mail", "city"))
    )
    top = joined(name, reach)
    if random.chance(0.4):
        top = boxes.whole_width(design, top)
    body: list[Content] = [
        text.address(design) if random.chance(0.7) else None,
        text.text_line(texts.date(), style=random.one("", "text-align: right")),
        text.heading(design, 2, texts.title(2, 6)) if random.chance(0.6) else None,
        text.text_line(texts.exact("greeting")),
        *(
            text.paragraph(design, 2, 5, style="margin-bottom: .8em")
            for _ in range(random.randint(2, 4))
        ),
        lists.any_list(design, 2, 5) if random.chance(0.35) else None,
        text.paragraph(design, 1, 2, style="margin-bottom: .8em")
        if random.chance(0.5)
        else None,
        text.text_line(texts.exact("closing"), style="margin-bottom: 2.5em"),
        text.text_line(lines(texts.person(), texts.phrase(1, 3))),
        text.text_line(
            f"{texts.exact('chapter')}: {texts.phrase(1, 2)}, {texts.phrase(1, 2)}"
        )
        if random.chance(0.3)
        else None,
    ]
    if random.chance(0.3):
        side = joined(*(_short_part(design, 3) for _ in range(random.randint(1, 3))))
        return [layout.sidebar_page(design, joined(name, side), joined(*body))]
    return layout.page(design, top, *body, foot=0.3)


def job_offer(design: Design) -> list[Markup | None]:
    """Who is looked for: lists under headings, below each other, side by side, on cards."""
    random = design.random
    texts = design.texts
    names = random.some(texts.all_labels("work"), 3, 5)
    shape = random.one("below", "below", "beside", "cards")
    kind = random.one("•", "✓", "–", "drawn disc", "drawn square", "→", "")

    def part(name: str, level: int = 2) -> Markup:
        body = (
            lists.marked(design, 3, 6, kind=kind)
            if kind and random.chance(0.75)
            else random.one(lists.with_icons, lists.with_lead_ins, lists.any_list)(
                design, 3, 6
            )
        )
        if random.chance(0.2):
            body = text.paragraph(design, 2, 4)
        return joined(text.heading(design, level, name), body)

    top = joined(
        pictures.logo(design, 40) if random.chance(0.5) else None,
        text.text_line(texts.company()) if random.chance(0.5) else None,
        text.heading(design, 1, texts.title(2, 6)),
        text.text_line(
            random.one(" | ", " · ").join(
                [texts.value("place"), texts.phrase(1, 2), texts.date()]
            )
        ),
        text.paragraph(design, 1, 3),
    )
    if random.chance(0.3):
        top = joined(pictures.picture(design, 130), top)
    made = [part(name) for name in names]
    if shape == "beside":
        body = layout.beside(
            design, joined(*made[:2]), joined(*made[2:]), shares=(1, 1)
        )
    elif shape == "cards":
        left = iter(made)
        body = layout.cards(design, lambda: next(left), len(made), 2)
    else:
        body = joined(*made)
    ends = joined(
        text.heading(design, 2, texts.label("work")),
        _address(design, random.one("contact", "address", "facts")),
        text.button(design) if random.chance(0.3) else None,
    )
    if random.chance(0.4):
        ends = boxes.box(design, ends)
    return layout.page(design, top, body, ends, foot=0.4)


def _address(design: Design, way: str) -> Markup:
    """Where to write to."""
    if way == "contact":
        return facts.contact(design)
    if way == "address":
        return text.address(design)
    return facts.running_facts(design, 2, 4, "below")


def event(design: Design) -> list[Markup | None]:
    """The programme of an event: tables of hours, days side by side, cards of speakers."""
    random = design.random
    texts = design.texts
    top = joined(
        text.heading(design, 1, texts.title(2, 6)),
        text.text_line(
            random.one(" | ", ", ", " · ").join([texts.date(), texts.value("place")]),
            "lead",
        ),
        text.paragraph(design, 1, 2) if random.chance(0.5) else None,
    )
    if random.chance(0.4):
        top = boxes.whole_width(design, top)
    days = random.one(1, 2, 2, 3)
    with_text = random.chance(0.4)

    def day(number: int) -> Markup:
        name = f"{texts.all_labels('days')[number]}, {texts.date()}"
        inner = boxes.timeline(design) if with_text else _hours(design)
        return joined(text.heading(design, 2, name), inner)

    made = [day(n) for n in range(days)]
    if days > 1 and not with_text and random.chance(0.5):
        body = layout.beside(design, *made, shares=(1.0,) * days)
    else:
        body = joined(*made)

    def speaker() -> Markup:
        name = text.heading(design, 3, texts.person(), style="margin: .2em 0")
        said = text.text_line(texts.phrase(2, 5), "plain fine")
        return joined(pictures.picture(design, 70), name, said)

    people = None
    if random.chance(0.4):
        across = random.one(3, 4)
        people = joined(
            text.heading(design, 2, texts.label("work")),
            layout.cards(design, speaker, across, across),
        )
    box = boxes.at_a_glance(design, 2) if random.chance(0.4) else None
    return layout.page(design, top, body, people, box, foot=0.4)


def _hours(design: Design) -> Markup:
    """Hours with what happens then and who does it, in the same cell or in one of its own."""
    random = design.random
    texts = design.texts
    dash = random.one("", "", "–", " – ")
    third = random.one("none", "none", "cell", "below", "italic")
    gap = random.uniform(0.1, 0.6)
    is_head = random.chance(0.3)
    line = random.one("", "", "border-bottom: 1px solid #bbb;")
    rows = []
    for _ in range(random.randint(4, 10)):
        when = texts.time() + (dash + texts.time() if dash else "")
        what: Content = texts.phrase(2, 6)
        if third == "below" and random.chance(0.7):
            what = joined(
                what, div(texts.person(), style="font-size: .9em; color: #666")
            )
        elif third == "italic" and random.chance(0.7):
            what = joined(what, ", ", element("i", texts.person()))
        pad = f"padding: {gap / 2:.2f}em 0; {line}"
        bold = "font-weight: 700;" if is_head else ""
        role = "rowheader" if is_head else "cell"
        cells = [
            div(
                when,
                role=role,
                style=f"white-space: nowrap; padding-right: 1em; {pad}{bold}",
            ),
            div(what, role="cell", style=pad),
        ]
        if third == "cell":
            cells.append(
                div(
                    texts.person() if random.chance(0.85) else "",
                    role="cell",
                    style=pad,
                )
            )
        rows.append(div(*cells, role="row", style="display: contents"))
    shares = "max-content 1fr" + (" max-content" if third == "cell" else "")
    gap = random.uniform(0.5, 2)
    css = f"display: grid; grid-template-columns: {shares}; column-gap: {gap:.1f}em"
    return div(*rows, role="table", style=f"{css}; margin: .5em 0 1em")


def badge(design: Design) -> list[Markup | None]:
    """A name to wear: few words, a firm, a kind of guest."""
    random = design.random
    texts = design.texts
    design.added_css.append(
        "main { text-align: center } main p, main h1 { text-align: inherit }"
    )
    band = text.text_line(texts.phrase(1, 3))
    top = boxes.whole_width(design, band) if random.chance(0.6) else band
    large = f"font-size: {random.uniform(1.8, 3):.1f}em; font-weight: 700"
    face = pictures.picture(design, 90, "90px") if random.chance(0.3) else None
    kind = texts.noun().upper()
    return [
        main(
            pictures.logo(design, 36) if random.chance(0.4) else None,
            top,
            div(face, style="display: flex; justify-content: center") if face else None,
            text.heading(design, 1, texts.person(), style=large),
            text.text_line(texts.phrase(1, 3)) if random.chance(0.7) else None,
            text.text_line(texts.company()),
            facts.running_facts(design, 1, 3, "below") if random.chance(0.3) else None,
            boxes.whole_width(design, text.text_line(kind, "lead"))
            if random.chance(0.5)
            else None,
        )
    ]


def invitation(design: Design) -> list[Markup | None]:
    """Few lines in the middle or at a side: to what, when, where, and whom to answer."""
    random = design.random
    texts = design.texts
    side = random.one("center", "center", "center", "left", "right")
    design.added_css.append(
        f"main {{ text-align: {side} }} main p, main h1, main h2 {{ text-align: inherit }}"
    )
    gap = f"margin-bottom: {random.uniform(0.6, 2):.1f}em"
    large = f"font-size: {random.uniform(1.8, 4):.1f}em; {gap}"
    title = text.heading(design, 1, texts.title(1, 4), style=large)
    ways: list[Maker] = [
        lambda: text.text_line(texts.sentence(4, 10), style=gap),
        lambda: text.text_line(lines(texts.date(), texts.time()), "lead", gap),
        lambda: text.text_line(
            lines(texts.value("place"), texts.exact("street"), texts.exact("city")),
            style=gap,
        ),
        lambda: text.text_line(
            lines(*(texts.person() for _ in range(random.randint(2, 5)))), style=gap
        ),
        lambda: facts.running_facts(design, 2, 3, "below"),
        lambda: joined(
            text.heading(design, 2, texts.label("work")),
            text.text_line(texts.sentence(3, 9)),
        ),
        lambda: _hours(design),
    ]
    parts: list[Content] = [make() for make in random.some(ways, 2, 5)]
    before = (
        text.text_line(texts.sentence(2, 5)[:-1], style=gap)
        if random.chance(0.5)
        else None
    )
    shown = (
        pictures.picture(design, random.randint(100, 240))
        if random.chance(0.4)
        else None
    )
    css = (
        "display: flex; flex-direction: column; justify-content: center"
        if random.chance(0.5)
        else ""
    )
    frame = f"border: {random.one(1, 3)}px {random.one('solid', 'double')} {design.style.color};"
    frame += " padding: 1.5em;"
    inner = joined(shown, before, title, *parts)
    if random.chance(0.35):
        inner = div(inner, style=frame, class_="flow")
    if random.chance(0.2):
        design.added_css.append(
            f"html, body {{ background: {design.style.dark}; color: #f4f4f4 }}"
            " h1, h2 { color: #fff !important; background: none !important }"
        )
    return [main(inner, style=css), running.running_foot(design, 0.15)]


def dishes(design: Design, way: str, second: float) -> Markup:
    """Dishes and prices as rows: prices at the right end, behind or before; or two of them."""
    random = design.random
    texts = design.texts
    count = 2 if way == "two" else 1
    pad = random.uniform(0.1, 0.45)
    bold = random.one(
        "", "font-weight: 700", "text-transform: uppercase; font-size: .95em"
    )
    rows = []
    sign = random.one("", "", "*", "¹")
    for _ in range(random.randint(3, 8)):
        name: Content = span(
            texts.phrase(1, 4) + (sign if random.chance(0.2) else ""), style=bold
        )
        if random.chance(second):
            said = ", ".join(texts.noun() for _ in range(random.randint(2, 6)))
            small = div(
                said, style=f"font-size: {random.one(0.85, 0.9)}em; font-style: italic"
            )
            name = joined(name, small)
        css = f"padding: {pad:.2f}em 0"
        price = [
            div(
                texts.price(40),
                role="cell",
                style=f"{css}; white-space: nowrap; text-align: right",
            )
            for _ in range(count)
        ]
        what = div(name, role="cell", style=css)
        cells = [*price, what] if way == "before" else [what, *price]
        rows.append(div(*cells, role="row", style="display: contents"))
    shares = {
        "end": "1fr max-content",
        "behind": "max-content max-content",
        "before": "max-content 1fr",
        "two": "1fr max-content max-content",
    }[way]
    gap = random.uniform(1, 2.4)
    css = f"display: grid; grid-template-columns: {shares}; column-gap: {gap:.1f}em;"
    css += " margin-bottom: 1em"
    return div(*rows, role="table", style=css)


def wines(design: Design) -> Markup:
    """Wines with year, place, and prices of a glass and a bottle."""
    random = design.random
    texts = design.texts
    names = random.some(["0,1 l", "0,2 l", "0,75 l", texts.noun()], 2, 3)
    columns = [
        tables.Column("phrase"),
        *([tables.Column("place")] if random.chance(0.6) else []),
        *([tables.Column("year")] if random.chance(0.6) else []),
        *(tables.Column("price", name) for name in names),
    ]
    options = tables.TableOptions(
        has_heads=random.chance(0.6),
        second=random.one(0, 0.4, 1),
        groups=random.one(0, 0.15),
        empty=random.one(0, 0.1),
    )
    return tables.table(design, columns, random.randint(4, 10), options, caption=False)


def cafe(design: Design) -> list[Markup | None]:
    """A menu: narrow or wide, in columns or boxes, with wines and days."""
    random = design.random
    texts = design.texts
    way = random.one("end", "end", "behind", "before", "two")
    second = random.one(0, 0.3, 1)
    is_list = random.chance(0.3)
    names = random.some(texts.all_labels("dishes"), 2, 6)
    parts = []
    for name in names:
        inner = wines(design) if is_list else dishes(design, way, second)
        intro = (
            text.text_line(texts.sentence(3, 9), "plain fine")
            if random.chance(0.2)
            else None
        )
        part = joined(text.heading(design, 2, name), intro, inner)
        parts.append(boxes.box(design, part) if random.chance(0.15) else part)
    title = text.heading(
        design, 1, texts.title(1, 3), style=random.one("", "text-align: center")
    )
    below = text.text_line(texts.phrase(2, 6)) if random.chance(0.4) else None
    if design.style.width > 700 and random.chance(0.45):
        middle = (len(parts) + 1) // 2
        halves = joined(*parts[:middle]), joined(*parts[middle:])
        body = layout.beside(design, *halves, shares=(1, 1))
    else:
        body = joined(*parts)
    if random.chance(0.15):
        design.added_css.append(
            f"html, body {{ background: {design.style.dark}; color: #f4f4f4 }}"
            " h1, h2 { color: #fff !important; background: none !important }"
            " table *, [role=table] * { color: #f4f4f4 !important; background: none !important }"
        )
    note = layout.table_note(design) if random.chance(0.4) else None
    ends = (
        text.text_line(facts_of_house(design), "plain fine")
        if random.chance(0.5)
        else None
    )
    return layout.page(design, title, below, body, note, ends, foot=0.2)


def facts_of_house(design: Design) -> str:
    """Where a house is, in one line."""
    kinds = design.random.some(["street", "city", "phone", "site"], 2, 3)
    return design.random.one(" | ", " · ", ", ").join(
        design.texts.value(kind) for kind in kinds
    )


def stage(design: Design) -> list[Markup | None]:
    """The programme of a stage: the cast, films with hours, or works with their movements."""
    random = design.random
    texts = design.texts
    middle = random.one("text-align: center", "", "")
    parts: list[Content] = [
        text.heading(design, 1, texts.title(1, 5), style=middle),
        text.text_line(texts.person(), "lead", middle) if random.chance(0.6) else None,
        text.text_line(f"{texts.date()}, {texts.time()}", style=middle),
    ]
    way = random.one("cast", "films", "concert")
    if way == "cast":
        for name in random.some(texts.all_labels("stage"), 1, 3):
            labels = [texts.phrase(1, 2) for _ in range(random.randint(3, 8))]
            parts += [
                text.heading(design, 2, name),
                tables.pairs(design, labels, "person"),
            ]
        labels = random.some(texts.all_labels("stage"), 3, 6)
        kind = random.one("run", "pairs")
        parts.append(text.heading(design, 2, texts.label("work")))
        if kind == "pairs":
            parts.append(tables.pairs(design, labels, "person"))
        else:
            rows = [div(element("b", f"{label}: "), texts.person()) for label in labels]
            parts.append(element("dl", *rows, style="margin: .6em 0"))
        parts.append(text.paragraph(design, 2, 4))
    elif way == "films":
        shown = random.chance(0.5)
        for _ in range(random.randint(3, 7)):
            parts.append(_film(design, shown))
    else:
        for _ in range(random.randint(2, 5)):
            parts.append(text.heading(design, 2, texts.person(), style=middle))
            parts.append(text.text_line(element("i", texts.phrase(2, 6)), style=middle))
            if random.chance(0.6):
                parts.append(
                    lists.marked(
                        design, 3, 4, short=True, kind=random.one("1.", "i.", "–")
                    )
                )
        parts += [
            text.heading(design, 2, texts.exact("stage")),
            text.paragraph(design, 2, 4),
        ]
    return layout.page(design, *parts, foot=0.4)


def _film(design: Design, shown: bool) -> Markup:
    """A film: its name, what it is, a text, when it plays."""
    random = design.random
    texts = design.texts
    about = f"{texts.person()}, {texts.value('year')}, {random.randint(70, 190)} min"
    hours = random.one("  ", " | ", ", ").join(
        texts.time() for _ in range(random.randint(2, 5))
    )
    day = f"{random.choice(texts.all_labels('days'))}: {hours}"
    body = joined(
        text.heading(design, 2, texts.title(1, 5), style="margin-top: 0"),
        text.text_line(about, "plain fine muted"),
        text.paragraph(design, 1, 2),
        text.text_line(element("b", day)),
    )
    if not shown:
        return div(body, style="margin-bottom: 1em")
    face = div(pictures.picture(design, 120), style="flex: 0 0 80px")
    return div(
        face,
        div(body, style="flex: 1; min-width: 0"),
        style="display: flex; gap: 1em; margin: 0 0 1em",
    )


FAMILIES = {
    "resume": Family(resume, (), (10, 14)),
    "application": Family(application, (), (10.5, 15)),
    "job offer": Family(job_offer, (), (10.5, 15)),
    "event": Family(event, (), (10, 15)),
    "badge": Family(badge, _BADGES, (14, 20)),
    "invitation": Family(invitation, _CARDS, (13, 20)),
    "cafe": Family(cafe, _NARROW, (11, 16)),
    "stage": Family(stage, _NARROW, (11, 15)),
}
