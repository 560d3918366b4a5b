"""Parts of reports: bands, boxes, timelines, steps, quadrants, charts of people."""

from collections.abc import Callable

from markupsafe import Markup

from vit_str.synthesis.pages.design import Design
from vit_str.synthesis.pages.html import Content, Maker, div, element, joined, span
from vit_str.synthesis.pages.parts import facts, layout, lists, pictures, tables, text


def whole_width(design: Design, *parts: Content, ground: str = "") -> Markup:
    """A band over the whole width of the page, on a ground of its own."""
    random = design.random
    beside = design.style.margin[1]
    ground = ground or random.one(
        design.style.dark, design.style.color, design.style.ground, design.style.ground
    )
    is_dark = ground != design.style.ground
    css = (
        f"background: {ground}; margin: 1em {-beside:.0f}px; "
        f"padding: {random.uniform(0.6, 1.8):.1f}em {beside:.0f}px;"
    )
    return div(
        *parts, class_="onDark" if is_dark else "", style=css + _ink(design, is_dark)
    )


def _ink(design: Design, is_dark: bool) -> str:
    """The color of text on a ground."""
    if not is_dark:
        return ""
    design.added_css.append(
        ".onDark h1, .onDark h2, .onDark h3, .onDark h4 { color: #fff; background: none;"
        " border-color: #fff } .onDark [style*='color:'] { color: #fff !important }"
        " .onDark .muted { color: #ddd } .onDark .shape { background: #fff }"
        " .onDark .card, .onDark .card * { color: #111 !important }"
        " .onDark .card { background: #f4f4f4 }"
        " .onDark table, .onDark [role=table] { background: #fff; color: #111 }"
        " .onDark table *, .onDark [role=table] * { color: #111 !important }"
    )
    return " color: #fff;"


def box(design: Design, *parts: Content, css: str = "") -> Markup:
    """A frame or a ground around parts, another one than that of the page's boxes."""
    random = design.random
    style = design.style
    look = random.weighted({"page": 3, "frame": 2, "ground": 3, "dark": 1.5, "bar": 1})
    if look == "page":
        return div(*parts, class_="box", style=css)
    line = random.one("1px solid #666", f"2px solid {style.color}", "1px dashed #555")
    looks = {
        "frame": f"border: {line}; border-radius: {random.one(0, 0, 8)}px;",
        "ground": f"background: {style.ground}; border-radius: {random.one(0, 0, 8)}px;",
        "dark": f"background: {random.one(style.dark, style.color)};",
        "bar": f"border-{random.one('left', 'top', 'right')}: 5px solid {style.color};",
    }
    room = f"padding: {random.uniform(0.5, 1.3):.1f}em; margin: .8em 0;"
    is_dark = look == "dark"
    return div(
        *parts,
        class_="onDark" if is_dark else "",
        style=f"{looks[look]}{room}{_ink(design, is_dark)}{css}",
    )


def at_a_glance(design: Design, level: int = 3, css: str = "") -> Markup:
    """A box with a name and a list, facts or a few sentences."""
    random = design.random
    makers: list[Maker] = [
        lambda: lists.any_list(design, 3, 6),
        lambda: lists.any_list(design, 3, 6, short=True),
        lambda: text.paragraph(design, 1, 3),
        lambda: facts.running_facts(design, 3, 6, "below"),
        lambda: tables.pairs(design),
    ]
    inner = random.choices(makers, (3, 2, 1.5, 1, 0.7))[0]()
    name = text.heading(
        design, level, design.texts.label("boxes"), style="margin-top: 0"
    )
    return box(design, name, inner, css=css)


def key_figures(design: Design, count: int = 0) -> Markup:
    """Large numbers with small texts, on a band or without a ground."""
    cards = facts.figures_on_cards(design, count)
    return whole_width(design, cards) if design.random.chance(0.5) else cards


def timeline(design: Design) -> Markup:
    """Dates with what happened: a table of short texts; or headings with paragraphs."""
    random = design.random
    texts = design.texts
    count = random.randint(3, 8)
    kind = random.one("year", "year", "date", "time", "span")
    way = random.weighted({"short": 3, "titled": 3, "long": 2.5, "across": 1.5})
    line = f"border-left: {random.one(1, 2, 3)}px solid {design.style.color};"
    if way == "short":
        return _short_timeline(design, count, kind, line)
    if way == "across":
        return _timeline_across(design, random.randint(3, 5), kind)
    wide = random.randint(12, 22)
    side = random.one("left", "left", "right")
    is_inside = way == "titled" and random.chance(0.4)
    found = []
    for _ in range(count):
        said = text.paragraph(design, 1, 3)
        if way == "long":
            when = text.heading(design, 3, texts.value(kind), style="margin: 0")
            body = said
        else:
            when = text.text_line(texts.value(kind), "plain muted", "margin: 0")
            name = text.heading(design, 3, texts.title(1, 4), style="margin: 0 0 .2em")
            body = joined(name, said)
        if is_inside:
            css = f"{line} padding: 0 0 .6em 1em"
            found.append(div(when, body, style=css))
            continue
        row = (
            div(
                when,
                style=f"flex: 0 0 {wide}%; text-align: {side}",
            ),
            div(body, style=f"flex: 1; min-width: 0; padding: 0 0 .7em 1em; {line}"),
        )
        found.append(div(*row, style="display: flex; gap: 1em"))
    return div(*found, class_="flow", style="margin: .8em 0")


def _short_timeline(design: Design, count: int, kind: str, line: str) -> Markup:
    random = design.random
    texts = design.texts
    is_head = random.chance(0.6)
    look = random.one(
        "font-weight: 700", f"color: {design.style.color}; font-weight: 700"
    )
    rule = random.one("", line)
    wide = random.one(3.2, 4, 6)
    long = random.one(4, 8, 14)
    room = random.one(0, 1) if not rule else 1
    rows = []
    for _ in range(count):
        role = "rowheader" if is_head else "cell"
        css = f"white-space: nowrap; {look if is_head else ''}"
        first = div(texts.value(kind), role=role, style=css)
        body = f"padding: .25em 0 .25em {room}em; {rule}"
        second = div(texts.sentence(2, long)[:-1], role="cell", style=body)
        rows.append(div(first, second, role="row", style="display: contents"))
    css = (
        f"display: grid; grid-template-columns: minmax({wide}em, max-content) 1fr; "
        f"column-gap: {random.uniform(0.8, 2):.1f}em; margin: .8em 0"
    )
    return div(*rows, role="table", style=css)


def _timeline_across(design: Design, count: int, kind: str) -> Markup:
    random = design.random
    short = random.chance(0.5)
    head = random.chance(0.7)
    found = []
    for _ in range(count):
        when = design.texts.value("year" if kind == "span" else kind)
        said = text.paragraph(design, 1, 1) if not short else None
        if short:
            pair = div(element("b", when), Markup("<br>"), design.texts.phrase(1, 4))
            found.append(element("dl", pair, style="margin: 0"))
        elif head:
            found.append(joined(text.heading(design, 3, when), said))
        else:
            found.append(joined(text.text_line(when, "plain muted"), said))
    line = f"border-top: 2px solid {design.style.color}; padding-top: .4em"
    cells = [div(part, style=f"flex: 1 1 0; min-width: 0; {line}") for part in found]
    return div(*cells, style="display: flex; gap: 1em; margin: 1em 0")


def steps(design: Design, count: int = 0) -> Markup:
    """Steps of a process with numbers: headings with texts, or items."""
    random = design.random
    count = count or random.randint(3, 5)
    way = random.weighted({"above": 3, "left": 3, "large": 2})
    has_title = random.chance(0.6)
    across = random.one(count, count, 2, 1)
    size = random.uniform(1.2, 2.6)
    align = "center" if way == "above" and random.chance(0.5) else "left"
    numbers = random.one(
        "{}", "{}", "0{}", "{}.", f"{design.texts.noun().capitalize()} {{}}"
    )
    found = []
    for number in range(1, count + 1):
        mark_class = "badge" if way != "large" and len(numbers) < 4 else ""
        css = (
            f"font-size: {size:.1f}em; color: {design.style.color};"
            if not mark_class
            else ""
        )
        if mark_class and random.chance(0.5):
            css = "font-size: 1.2em"
        mark = span(numbers.format(number), class_=mark_class, style=css)
        if way == "above" or (way == "large" and not has_title):
            break_ = Markup("<br>")
        else:
            break_ = Markup(" ")
        if has_title:
            name = text.heading(
                design,
                3,
                joined(mark, break_, design.texts.title(1, 3)),
                "margin-top: 0",
            )
            part = joined(name, text.paragraph(design, 1, 2))
        else:
            said = design.texts.sentence(4, 16)
            row = joined(mark, break_, said)
            part = element("ul", element("li", row, style="padding: 0; text-indent: 0"))
        found.append(div(part, style=f"text-align: {align}; min-width: 0"))
    css = (
        f"display: grid; grid-template-columns: repeat({across}, minmax(0, 1fr)); "
        f"gap: {random.uniform(0.6, 1.6):.1f}em; margin: 1em 0"
    )
    return div(*found, class_="flow", style=css)


def quadrants(design: Design) -> Markup:
    """Two boxes beside two: each with a name and a list, as strengths and weaknesses."""
    random = design.random
    style = design.style
    names = design.texts.all_labels("swot")
    if random.chance(0.4):
        names = [design.texts.title(1, 3) for _ in range(4)]
    if random.chance(0.3):
        return _matrix(design)
    grounds = random.sample(
        ["#e9f2e9", "#fbe9e7", "#e8f0fb", "#fff6d6", style.ground, "#eee"], 4
    )
    look = random.one("ground", "frame", "bar")
    lists_like = random.chance(0.8)
    found = []
    for name, ground in zip(names, grounds, strict=True):
        css = {
            "ground": f"background: {ground};",
            "frame": "border: 1px solid #777;",
            "bar": f"border-top: 4px solid {style.color}; background: #fafafa;",
        }[look]
        inner = (
            lists.any_list(design, 2, 5, short=True)
            if lists_like
            else text.paragraph(design, 1, 3)
        )
        head = text.heading(design, 3, name, style="margin-top: 0")
        found.append(div(head, inner, style=f"{css} padding: .8em; min-width: 0"))
    gap = random.one(0.3, 0.8, 1.2)
    css = f"display: grid; grid-template-columns: 1fr 1fr; gap: {gap}em; margin: .8em 0"
    return div(*found, class_="flow", style=css)


def _matrix(design: Design) -> Markup:
    """Two by two with names of columns and rows, lists in the cells: a table."""
    random = design.random

    def inside() -> Markup:
        if random.chance(0.7):
            return lists.any_list(design, 2, 4, short=True)
        return Markup(design.texts.sentence(4, 14))  # noqa: S704 - words of lists

    heads = [
        tables.Cell("" if n == 0 else design.texts.phrase(1, 2), is_head=n > 0)
        for n in range(3)
    ]
    body = [
        [
            tables.Cell(design.texts.phrase(1, 2), is_head=True),
            tables.Cell(inside()),
            tables.Cell(inside()),
        ]
        for _ in range(2)
    ]
    line = random.one("1px solid #555", "1px solid #aaa")
    design.added_css.append(
        f".matrix td, .matrix th {{ border: {line} !important; vertical-align: top;"
        " padding: .4em .6em !important }"
    )
    columns = [tables.Column("word"), tables.Column("clause"), tables.Column("clause")]
    table = tables.drawn(design, [heads], body, columns, css="width: 100%;", caption="")
    return div(table, class_="matrix")


def organisation(design: Design) -> Markup:
    """Who is under whom: boxes with lines between them, words of a drawing."""
    random = design.random
    texts = design.texts
    line = random.one("1px solid #444", f"2px solid {design.style.color}")
    ground = random.one("#fff", design.style.ground)
    size = random.one(0.75, 0.85)
    css = (
        f"border: {line}; background: {ground}; padding: .3em .5em; text-align: center; "
        f"font-size: {size}em; line-height: 1.2; border-radius: {random.one(0, 0, 6)}px"
    )

    def person() -> Markup:
        name = element("b", texts.person())
        return div(name, Markup("<br>"), texts.phrase(1, 2), style=css)

    def joint(high: int = 14) -> Markup:
        return div(
            style=f"width: 0; height: {high}px; border-left: {line}; margin: 0 auto"
        )

    arms = random.randint(2, 4)
    below = random.chance(0.6)
    branches = []
    for _ in range(arms):
        rest = []
        for _ in range(random.randint(1, 3) if below else 0):
            rest += [joint(8), person()]
        branches.append(
            div(joint(), person(), *rest, style="flex: 1 1 0; min-width: 0")
        )
    top = div(person(), style=f"width: {random.randint(24, 40)}%; margin: 0 auto")
    bar = div(style=f"border-top: {line}; margin: 0 {50 / arms:.0f}%")
    row = div(*branches, style="display: flex; gap: .8em")
    return element("figure", div(top, joint(), bar, row, role="img"))


def questions(design: Design, count: int = 0) -> Markup:
    """Questions with answers: headings, numbered items, or letters before both."""
    random = design.random
    way = random.weighted({"heads": 4, "letters": 2, "items": 1.5, "boxes": 1.5})
    q, a = random.one(("Q:", "A:"), ("Q", "A"), ("?", "!"))
    found: list[Content] = []
    for number in range(1, (count or random.randint(4, 8)) + 1):
        asked = design.texts.sentence(4, 11)[:-1] + "?"
        answer = design.texts.text(1, 3)
        if way == "letters":
            bold = element("b", f"{q} {asked}")
            part = joined(
                text.text_line(bold, style="margin: 0"), text.text_line(f"{a} {answer}")
            )
        elif way == "items":
            row = element("b", f"{number}. {asked}")
            one = element("li", row, style="padding: 0; text-indent: 0")
            part = joined(
                element("ul", one, style="padding: 0"), text.text_line(answer)
            )
        else:
            part = joined(text.heading(design, 3, asked), element("p", answer))
            if random.chance(0.15):
                part = joined(part, lists.any_list(design, 2, 4))
        inside = "break-inside: avoid; margin-bottom: .7em;"
        if way == "boxes":
            inside += "border: 1px solid #bbb; padding: .5em .8em"
        found.append(div(part, style=inside))
    return joined(*found)


def teaser_maker(design: Design, level: int = 3) -> Callable[[], Markup]:
    """Makes teasers of one look: a picture above or beside, a kicker, a title, a text."""
    random = design.random
    texts = design.texts
    where = random.one("above", "left", "right", "none")
    height = random.randint(50, 140)
    kicker = random.chance(0.4)
    has_text = random.chance(0.7)
    byline = random.one("", "above", "below")

    def make() -> Markup:
        said = [
            text.text_line(texts.noun().upper(), "plain fine muted", "margin: 0")
            if kicker
            else None,
            text.heading(design, level, texts.title(3, 9), style="margin: .1em 0 .3em"),
            _byline(design) if byline == "above" else None,
            text.text_line(texts.text(1, 2)) if has_text else None,
            _byline(design) if byline == "below" else None,
        ]
        if where == "none":
            return joined(*said)
        if where == "above":
            return joined(pictures.picture(design, height), *said)
        shown = div(pictures.picture(design, height), style="flex: 0 0 32%")
        body = div(*said, style="flex: 1; min-width: 0")
        parts = (shown, body) if where == "left" else (body, shown)
        return div(*parts, style="display: flex; gap: .8em; margin-bottom: .8em")

    return make


def _byline(design: Design) -> Markup:
    texts = design.texts
    both = design.random.one(" · ", ", ", " | ").join([texts.person(), texts.date()])
    return text.text_line(both, "plain fine muted", "margin: 0 0 .2em")


def any_box(design: Design, narrow: bool = False) -> Markup:
    """Any of these parts, as high as half a page at most."""
    random = design.random
    ways: dict[Maker, float] = {
        lambda: lists.any_list(design): 3,
        lambda: at_a_glance(design, 3): 2,
        lambda: lists.terms(design, 2, 5): 0.7,
        lambda: lists.checklist(design, 2, 6): 1,
        lambda: timeline(design): 0.0 if narrow else 1.2,
        lambda: _short_timeline(design, 4, "year", ""): 0.7 if narrow else 0.0,
        lambda: steps(design): 0.0 if narrow else 1.2,
        lambda: quadrants(design): 0.0 if narrow else 1,
        lambda: organisation(design): 0.0 if narrow else 0.5,
        lambda: questions(design, 3): 0.7,
        lambda: layout.cards(design, teaser_maker(design), 3, 3): 0.0
        if narrow
        else 0.7,
        lambda: facts.figures_on_cards(design, 2 if narrow else 0): 0.7,
    }
    return random.weighted(ways)()
