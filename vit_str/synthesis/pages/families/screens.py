"""Mail boxes, settings, trackers, wikis, products, blogs, portals, forums, dialogs, terminals."""

from markupsafe import Markup

from vit_str.synthesis.pages.design import Design, main
from vit_str.synthesis.pages.families.family import Family
from vit_str.synthesis.pages.families.web import navigation, site_foot
from vit_str.synthesis.pages.html import Content, Maker, div, element, joined, span
from vit_str.synthesis.pages.parts import (
    boxes,
    facts,
    layout,
    lists,
    pictures,
    tables,
    text,
)

_SCREENS = (
    (1024, 1000),
    (1200, 1100),
    (900, 1200),
    (1280, 960),
    (1440, 900),
    (768, 1024),
)
_PHONES = ((390, 780), (414, 896), (360, 740))
_WINDOWS = ((640, 420), (800, 600), (520, 560))


def _words(design: Design, kind: str, low: int, high: int) -> list[str]:
    """Different labels of a kind in their order."""
    return design.random.some(design.texts.all_labels(kind), low, high)


def side_menu(design: Design) -> Markup:
    """Places of an app below each other: items, some with a number, some under names."""
    random = design.random
    has_icons, has_numbers = random.chance(0.5), random.chance(0.4)
    pad = random.uniform(0.1, 0.45)
    chosen = random.randint(0, 4)
    found: list[Content] = []
    if random.chance(0.6):
        found.append(text.heading(design, 3, design.texts.noun().capitalize()))
    for _ in range(random.one(1, 1, 2)):
        rows = []
        for place, name in enumerate(_words(design, "app", 4, 9)):
            number = None
            if has_numbers and random.chance(0.5):
                style = "float: right; font-size: .85em"
                number = span(design.texts.value("small"), style=style)
            sign = joined(pictures.icon(design, 12), " ") if has_icons else None
            css = f"padding: {pad:.2f}em .5em; text-indent: 0; margin: 0;"
            css += "font-weight: 700; background: #8883;" if place == chosen else ""
            rows.append(element("li", sign, name, " ", number, style=css))
        found.append(element("ul", *rows, style="padding: 0"))
        if random.chance(0.4):
            found.append(text.heading(design, 4, design.texts.label("app")))
            found.append(lists.ruled(design, 2, 4))
    return joined(*found)


def app_page(design: Design, body: Markup) -> list[Markup | None]:
    """The window of an app: a bar above, some with a menu at the side."""
    random = design.random
    bar = navigation(design) if random.chance(0.5) else None
    if random.chance(0.6):
        side = side_menu(design)
        wide = random.uniform(15, 26)
        ground = random.one(design.style.ground, design.style.dark, "#fff")
        is_dark = ground == design.style.dark
        css = (
            f"flex: 0 0 {wide:.0f}%; min-width: 0; padding: .6em; background: {ground};"
        )
        if is_dark:
            css += "color: #eee;"
            design.added_css.append(
                ".menu h3, .menu h4 { color: #fff; background: none }"
            )
        menu = element("section", side, class_="menu flow", style=css)
        inner = element(
            "section",
            body,
            class_="flow",
            style="flex: 1; min-width: 0; padding: 0 1.2em",
        )
        return [
            bar,
            element("main", menu, inner, style="display: flex", class_="flow beside"),
        ]
    return [bar, main(body)]


def inbox(design: Design) -> list[Markup | None]:
    """Letters of a mail box: lines of a table, or some lines for each letter."""
    random = design.random
    texts = design.texts
    title = text.heading(design, 1, texts.label("app")) if random.chance(0.7) else None
    search = (
        text.text_line(texts.phrase(1, 2), "plain muted")
        if random.chance(0.4)
        else None
    )
    is_phone = design.style.width < 500
    count = random.randint(7, 18)
    if is_phone or random.chance(0.35):
        return app_page(design, joined(title, search, _letters_below(design, count)))
    return app_page(design, joined(title, search, _letters_in_lines(design, count)))


def _letters_in_lines(design: Design, count: int) -> Markup:
    random = design.random
    texts = design.texts
    line = random.one("1px solid #ddd", "1px solid #bbb", "0 solid #fff")
    has_box, ends = random.chance(0.5), random.one("date", "time")
    bold = random.one(0.0, 0.3, 0.5)
    pad = random.uniform(0.2, 0.6)
    rows = []
    for _ in range(count):
        weight = "font-weight: 700;" if random.chance(bold) else ""
        css = (
            f"padding: {pad:.2f}em .4em; border-bottom: {line}; min-width: 0; {weight}"
        )
        cut = "white-space: nowrap; overflow: hidden;"
        box = facts.tick_box(design, random.chance(0.1)) if has_box else None
        subject = joined(texts.phrase(2, 6))
        if random.chance(0.6):
            said = span(
                " – ", texts.sentence(3, 6), style="color: #777; font-weight: 400"
            )
            subject = joined(subject, said)
        cells = (
            div(box, texts.person(), role="cell", style=css + cut),
            div(subject, role="cell", style=css),
            div(texts.value(ends), role="cell", style=css + cut + "text-align: right"),
        )
        rows.append(div(*cells, role="row", style="display: contents"))
    css = "display: grid; grid-template-columns: minmax(0, 1.4fr) minmax(0, 4fr) max-content"
    return div(*rows, role="table", style=css)


def _letters_below(design: Design, count: int) -> Markup:
    random = design.random
    texts = design.texts
    found = []
    pad = random.uniform(0.3, 0.8)
    has_picture = random.chance(0.4)
    for _ in range(count):
        name = text.heading(
            design, 2, texts.person(), "font-size: 1em; font-weight: 700; margin: 0"
        )
        when = text.text_line(texts.value("time"), "plain fine muted", "margin: 0")
        row = "display: flex; justify-content: space-between; gap: 1em; align-items: baseline"
        subject = text.text_line(texts.phrase(2, 6), style="margin: 0")
        more = text.text_line(texts.sentence(5, 14), "plain muted", "margin: 0")
        body = div(
            div(name, when, style=row),
            subject,
            more if random.chance(0.8) else None,
            style="flex: 1; min-width: 0",
        )
        face = None
        if has_picture:
            face = pictures.picture(design, 32, "32px")
        css = f"display: flex; gap: .7em; padding: {pad:.1f}em 0; border-bottom: 1px solid #ccc"
        found.append(div(face, body, style=css))
    return div(*found, class_="flow")


def settings(design: Design) -> list[Markup | None]:
    """Names of choices with what is chosen, under headings: tables; fields and boxes to tick."""
    random = design.random
    texts = design.texts
    parts: list[Content] = [text.heading(design, 1, texts.exact("app"))]
    second = random.one(0.0, 0.3, 0.8)
    for _ in range(random.randint(2, 5)):
        parts.append(text.heading(design, 2, texts.label("app")))
        ways: dict[Maker, float] = {
            lambda: _choices(design, second): 4,
            lambda: facts.fields(design, random.randint(2, 5), 1): 1,
            lambda: lists.checklist(design, 2, 5): 1.5,
            lambda: text.paragraph(design, 1, 2): 0.7,
        }
        parts.append(random.weighted(ways)())
    parts.append(dialog_buttons(design))
    return app_page(design, joined(*parts))


def _choices(design: Design, second: float) -> Markup:
    """Rows of a name and what is chosen at the right end."""
    random = design.random
    texts = design.texts
    line = random.one("1px solid #ddd", "0 solid #fff", "1px solid #999")
    arrow = random.one("", "", " ›")
    pad = random.uniform(0.25, 0.7)
    rows = []
    for _ in range(random.randint(2, 6)):
        name: Content = texts.label("app")
        if random.chance(second):
            more = div(texts.sentence(3, 10), style="color: #777; font-size: .85em")
            name = joined(name, more)
        kind = random.one("answer", "word", "percent", "small", "mail", "time")
        value = texts.value(kind) + arrow
        css = f"padding: {pad:.2f}em 0; border-bottom: {line};"
        first = div(name, role="cell", style=css + "padding-right: 2em")
        last = div(
            value, role="cell", style=css + "text-align: right; white-space: nowrap"
        )
        rows.append(div(first, last, role="row", style="display: contents"))
    css = "display: grid; grid-template-columns: 1fr max-content; margin: 0 0 1em"
    return div(*rows, role="table", style=css)


def dialog_buttons(design: Design, low: int = 1, high: int = 3) -> Markup:
    """Buttons in a row, a paragraph each."""
    random = design.random
    found = []
    for name in _words(design, "actions", low, high):
        hollow = " hollow" if random.chance(0.5) else ""
        found.append(element("p", span(name, class_=f"button{hollow}"), class_="plain"))
    side = random.one("flex-end", "flex-start", "center", "space-between")
    return div(*found, style=f"display: flex; gap: .7em; justify-content: {side}")


def dialog(design: Design) -> list[Markup | None]:
    """A window of an app that asks something."""
    random = design.random
    ways: dict[Maker, float] = {
        lambda: text.paragraph(design, 1, 2): 2,
        lambda: facts.fields(design, random.randint(2, 5), random.one(1, 2)): 2,
        lambda: lists.checklist(design, 2, 5): 1.5,
        lambda: lists.any_list(design, 2, 5, short=True): 1.5,
        lambda: _choices(design, 0.3): 1,
        lambda: facts.running_facts(design, 2, 4, "below"): 0.7,
    }
    body = joined(
        text.heading(design, 1, design.texts.title(1, 5), "font-size: 1.3em"),
        text.paragraph(design, 1, 2) if random.chance(0.7) else None,
        random.weighted(ways)(),
        dialog_buttons(design, 2, 3),
    )
    if random.chance(0.6):
        bar = f"background: {design.style.dark}; color: #fff; padding: .3em .8em; margin: 0"
        top = text.text_line(design.texts.phrase(1, 3), style=bar)
        body = joined(top, div(body, style="padding: .8em 1.2em"))
    if random.chance(0.4):
        design.added_css.append(f"html, body {{ background: {design.style.ground} }}")
    css = f"border: 1px solid #999; border-radius: {random.one(0, 6, 14)}px; background: #fff;"
    css += "overflow: hidden; color: #111;" + ("" if "bar" in css else "padding: 1em;")
    return [main(div(body, style=css))]


def tracker(design: Design) -> list[Markup | None]:
    """Things to do: one with what was said of it, a list of many, or columns of cards."""
    random = design.random
    way = random.one("one", "many", "board", "many")
    make = {"one": _issue, "many": _issues, "board": _board}[way]
    return app_page(design, make(design))


def _tags(design: Design) -> Markup:
    css = "border: 1px solid #888; border-radius: 9px; padding: 0 .5em; font-size: .8em"
    names = [
        span(design.texts.noun(), style=css) for _ in range(design.random.randint(1, 3))
    ]
    return Markup(" ").join(names)


def _issues(design: Design) -> Markup:
    random = design.random
    texts = design.texts
    title = text.heading(design, 1, texts.label("app")) if random.chance(0.7) else None
    found: list[Content] = []
    size = f"font-size: {random.uniform(1, 1.2):.2f}em; font-weight: 700; margin: 0"
    for _ in range(random.randint(6, 14)):
        tags = joined(" ", _tags(design)) if random.chance(0.35) else None
        name = text.heading(design, 2, joined(texts.phrase(3, 9), tags), size)
        line = f"#{random.randint(1, 9999)} · {texts.person()} · {texts.date()}"
        below = text.text_line(line, "plain fine muted", "margin: 0")
        css = "padding: .5em 0; border-bottom: 1px solid #ccc"
        found.append(div(name, below, style=css))
    return joined(title, *found)


def _issue(design: Design) -> Markup:
    random = design.random
    texts = design.texts
    name = text.heading(
        design, 1, texts.phrase(3, 9) + random.one("", f" #{random.randint(9, 999)}")
    )
    under = text.text_line(f"{texts.person()} · {texts.date()}", "plain muted")
    said = [boxes_of_comment(design) for _ in range(random.randint(2, 5))]
    body = joined(name, under, *said)
    if random.chance(0.5):
        side = joined(
            *(
                joined(
                    text.heading(design, 4, label), text.text_line(texts.phrase(1, 2))
                )
                for label in texts.different("labels", random.randint(2, 5))
            )
        )
        if random.chance(0.5):
            side = facts.running_facts(design, 3, 6, "below")
        return layout.beside(design, body, side, shares=(3, 1))
    return body


def boxes_of_comment(design: Design, depth: int = 0) -> Markup:
    """A comment: a line of who and when, paragraphs, some with lists or code."""
    random = design.random
    who = joined(
        element("b", design.texts.person()),
        random.one(" ", " · ", ", "),
        span(design.texts.date(), style="color: #777; font-size: .9em"),
    )
    by = text.text_line(who, style="margin: 0 0 .2em")
    ways: dict[Maker, float] = {
        lambda: Markup(""): 6,
        lambda: lists.any_list(design, 2, 4): 1.5,
        lambda: text.code(design): 1,
        lambda: text.quotation(design): 1,
    }
    more = random.weighted(ways)()
    css = f"margin: 0 0 .8em {1.8 * depth}em; padding: .5em;"
    css += "border: 1px solid #ccc;" if design.style.gap > 0.5 else ""
    return div(by, text.paragraph(design, 1, 3), more, style=css)


def _board(design: Design) -> Markup:
    random = design.random
    texts = design.texts
    columns = []
    ground = random.one(design.style.ground, "#eee", "#fff")
    has_more = random.chance(0.6)
    for name in _words(design, "app", 3, 5):
        cards = []
        for _ in range(random.randint(2, 5)):
            said = text.text_line(texts.phrase(2, 7), style="margin: 0")
            more = None
            if has_more:
                line = f"{texts.value('code')} · {texts.value('date')}"
                more = text.text_line(line, "plain fine muted", "margin: 0")
            css = "background: #fff; border: 1px solid #ccc; padding: .5em; margin: 0 0 .5em"
            cards.append(div(said, more, style=css))
        head = text.heading(
            design, 2, name, "font-size: 1.05em; font-weight: 700; margin: 0 0 .5em"
        )
        css = f"flex: 1 1 0; min-width: 0; background: {ground}; padding: .5em"
        columns.append(div(head, *cards, style=css))
    title = text.heading(design, 1, texts.title(1, 3))
    return joined(title, div(*columns, style="display: flex; gap: .7em"))


def wiki(design: Design) -> list[Markup | None]:
    """An article with a box of facts at its side and a list of what is in it."""
    random = design.random
    texts = design.texts
    title = text.heading(design, 1, texts.title(1, 4))
    under = text.text_line(texts.sentence(3, 7)[:-1], "plain fine muted")
    parts: list[Content] = [title, under if random.chance(0.4) else None]
    if random.chance(0.8):
        parts.append(_infobox(design))
    parts.append(text.paragraph(design, 2, 5))
    if random.chance(0.6):
        parts.append(_contents(design))
    for _ in range(random.randint(2, 5)):
        parts.append(text.heading(design, 2, texts.label("sections")))
        if random.chance(0.3):
            parts.append(layout.floating(design))
        parts.append(text.paragraph(design, 2, 6))
        if random.chance(0.3):
            parts += [text.heading(design, 3), text.paragraph(design, 1, 4)]
        if random.chance(0.35):
            parts.append(lists.any_list(design))
        if random.chance(0.2):
            parts.append(tables.any_table(design))
    return app_page(design, joined(*parts))


def _infobox(design: Design) -> Markup:
    random = design.random
    texts = design.texts
    has_picture = random.chance(0.6)
    name = texts.title(1, 3)
    head_css = f"background: {random.one(design.style.ground, '#dde', '#fff')}; text-align: center"
    rows = []
    top: Content = None
    if has_picture:
        top = joined(
            text.heading(design, 3, name, f"{head_css}; margin: 0; font-weight: 700"),
            element(
                "figure",
                pictures.picture(design, random.randint(80, 170)),
                element("figcaption", texts.phrase(2, 6))
                if random.chance(0.6)
                else None,
            ),
        )
    else:
        rows.append(element("tr", element("th", name, colspan=2, style=head_css)))
    is_head = random.chance(0.8)
    for label in texts.different("labels", random.randint(4, 9)):
        tag = "th" if is_head else "td"
        css = f"text-align: left; font-weight: {700 if is_head else 400}; vertical-align: top"
        value = texts.value(random.one("mixed", "phrase", "date", "quantity"))
        first = element(tag, label, style=css + "; padding: .1em .6em .1em 0")
        rows.append(element("tr", first, element("td", value)))
        if random.chance(0.1):
            group = element("th", texts.phrase(1, 2), colspan=2, style=head_css)
            rows.append(element("tr", group))
    table = element("table", *rows, style="width: 100%; border-collapse: collapse")
    css = (
        f"float: right; width: {random.randint(28, 40)}%; border: 1px solid #aaa; "
        f"padding: .4em; margin: 0 0 .8em 1.2em; font-size: {random.uniform(0.82, 0.95):.2f}em; "
        f"background: {random.one('#f8f9fa', '#fff')}"
    )
    return div(top, table, style=css)


def _contents(design: Design) -> Markup:
    """The contents of an article: numbered items, without pages."""
    random = design.random

    def entries(before: str, count: int) -> Markup:
        rows = []
        for number in range(1, count + 1):
            name = f"{before}{number}"
            inner = None
            if not before and random.chance(0.3):
                inner = entries(f"{name}.", random.randint(2, 3))
            said = f"{name} {design.texts.title(1, 4)}"
            rows.append(
                element(
                    "li", said, inner, style="padding: 0; text-indent: 0; margin: 0"
                )
            )
        return element(
            "ul", *rows, style=f"padding-left: {1.2 if before else 0}em; margin: 0"
        )

    name = text.heading(
        design, 4, design.texts.exact("sections"), style="margin: 0 0 .3em"
    )
    css = "border: 1px solid #aaa; background: #f8f9fa; padding: .5em .9em; margin: .6em 0;"
    css += "width: fit-content;" if random.chance(0.7) else ""
    return div(name, entries("", random.randint(3, 7)), style=css)


def product(design: Design) -> list[Markup | None]:
    """One thing to buy: pictures, price, what it has, its data, what buyers say."""
    random = design.random
    texts = design.texts
    large = f"font-size: {random.uniform(1.2, 2):.1f}em; font-weight: 700"
    right = joined(
        text.heading(design, 1, texts.title(2, 6)),
        text.text_line(f"★★★★☆ ({random.randint(1, 900)})", "plain fine")
        if random.chance(0.5)
        else None,
        text.text_line(texts.price(900), style=large),
        text.text_line(texts.sentence(3, 8), "plain muted")
        if random.chance(0.5)
        else None,
        lists.any_list(design, 3, 6, short=True) if random.chance(0.7) else None,
        facts.options_to_tick(design, 2, 4) if random.chance(0.4) else None,
        text.button(design),
        facts.running_facts(design, 2, 3) if random.chance(0.4) else None,
    )
    shown = pictures.picture(design, random.randint(160, 320))
    small = [
        div(pictures.picture(design, 50), style="flex: 1 1 0")
        for _ in range(random.randint(3, 5))
    ]
    if random.chance(0.5):
        shown = joined(
            shown, div(*small, style="display: flex; gap: .4em; margin-top: .4em")
        )
    top = layout.beside(design, shown, right, shares=(1, random.one(1, 1.3)))
    below: list[Content] = []
    ways: list[Maker] = [
        lambda: joined(text.heading(design, 2), tables.pairs(design, kind="mixed")),
        lambda: joined(text.heading(design, 2), text.paragraph(design, 2, 4)),
        lambda: joined(text.heading(design, 2), lists.any_list(design)),
        lambda: joined(
            text.heading(design, 2), *(boxes_of_comment(design) for _ in range(3))
        ),
        lambda: joined(
            text.heading(design, 2),
            layout.cards(design, boxes.teaser_maker(design), 4, 4),
        ),
    ]
    below = [make() for make in random.some(ways, 2, 4)]
    return [navigation(design), main(top, *below), site_foot(design)]


def blog(design: Design) -> list[Markup | None]:
    """An entry with what readers said below it, and a column at its side."""
    random = design.random
    texts = design.texts
    entry: list[Content] = [
        text.heading(design, 1, texts.title(3, 8)),
        text.text_line(f"{texts.person()} · {texts.date()}", "plain muted"),
        pictures.figure(design) if random.chance(0.5) else None,
        text.paragraph(design, 2, 5),
        text.paragraph(design, 1, 4),
    ]
    if random.chance(0.5):
        entry += [text.heading(design, 2), lists.any_list(design)]
    if random.chance(0.3):
        entry.append(text.quotation(design))
    entry.append(
        text.heading(design, 2, f"{random.randint(2, 40)} {texts.exact('app')}")
    )
    depth = 0
    for _ in range(random.randint(2, 6)):
        entry.append(boxes_of_comment(design, depth))
        depth = random.one(0, 0, depth, min(2, depth + 1))
    body = joined(*entry)
    if random.chance(0.5):
        side = joined(
            *(
                joined(
                    text.heading(design, 3, texts.label("app")),
                    lists.ruled(design, 3, 6),
                )
                for _ in range(random.randint(1, 3))
            )
        )
        return [
            navigation(design),
            main(layout.beside(design, body, side, shares=(2.6, 1))),
            site_foot(design),
        ]
    return [navigation(design), main(body), site_foot(design)]


def portal(design: Design) -> list[Markup | None]:
    """News in teasers of different sizes."""
    random = design.random
    texts = design.texts
    lead = joined(
        pictures.picture(design, random.randint(120, 260)),
        text.heading(design, 1, texts.title(4, 9)),
        text.paragraph(design, 1, 2),
    )
    second = boxes.teaser_maker(design, 2)
    column = joined(*(second() for _ in range(random.randint(2, 3))))
    most_read = joined(
        text.heading(design, 2, texts.label("app")),
        lists.marked(
            design, 4, 7, short=True, kind=random.one("1", "1.", "drawn number", "•")
        ),
    )
    top_parts = random.one(
        [lead, column], [lead, column, most_read], [column, lead], [lead]
    )
    shares = tuple(2.0 if part is lead else 1.0 for part in top_parts)
    top = (
        layout.beside(design, *top_parts, shares=shares) if len(top_parts) > 1 else lead
    )
    rows: list[Content] = []
    for _ in range(random.randint(1, 3)):
        across = random.one(2, 3, 4)
        if random.chance(0.6):
            rows.append(text.heading(design, 2, texts.label("navigation")))
        rows.append(layout.cards(design, boxes.teaser_maker(design), across, across))
    return [navigation(design), main(top, *rows), site_foot(design)]


def forum(design: Design) -> list[Markup | None]:
    """A forum: posts with their authors at the left; or a table of subjects."""
    random = design.random
    texts = design.texts
    title = text.heading(design, 1, texts.title(3, 8))
    if random.chance(0.35):
        columns = [
            tables.Column("clause", texts.label("columns")),
            tables.Column("person", texts.label("columns")),
            tables.Column("integer", texts.label("columns")),
            tables.Column(random.one("date", "time"), texts.label("columns")),
        ]
        options = tables.TableOptions(
            second=random.one(0, 0.7),
            groups=random.one(0, 0.1),
            has_heads=random.chance(0.8),
        )
        table = tables.table(
            design, columns, random.randint(6, 16), options, caption=False
        )
        return [navigation(design), main(title, table), site_foot(design)]
    wide = random.randint(14, 24)
    ground = random.one(design.style.ground, "#fff", "#eee")
    found = []
    for _ in range(random.randint(3, 7)):
        who = joined(
            pictures.picture(design, 48, "48px") if random.chance(0.6) else None,
            text.text_line(element("b", texts.person())),
            text.text_line(texts.noun(), "plain fine") if random.chance(0.5) else None,
            facts.running_facts(design, 1, 2, "below") if random.chance(0.4) else None,
        )
        said = joined(
            text.text_line(texts.date(), "plain fine muted")
            if random.chance(0.7)
            else None,
            text.quotation(design) if random.chance(0.2) else None,
            text.paragraph(design, 1, 4),
            lists.any_list(design, 2, 4) if random.chance(0.15) else None,
            text.code(design) if random.chance(0.1) else None,
        )
        left = f"flex: 0 0 {wide}%; min-width: 0; background: {ground}; padding: .5em"
        row = (
            div(who, style=left),
            div(said, style="flex: 1; min-width: 0; padding: .5em"),
        )
        css = "display: flex; border: 1px solid #ccc; margin-bottom: .7em"
        found.append(div(*row, style=css))
    return [navigation(design), main(title, *found), site_foot(design)]


def landing(design: Design) -> list[Markup | None]:
    """Bands of different grounds with claims, numbers, steps, prices, voices."""
    random = design.random
    texts = design.texts
    hero = joined(
        text.heading(
            design, 1, texts.title(3, 7), f"font-size: {random.uniform(2, 3.2):.1f}em"
        ),
        text.text_line(texts.text(1, 2), "lead"),
        dialog_buttons(design, 1, 2),
    )
    if random.chance(0.5):
        hero = layout.beside(
            design, hero, pictures.picture(design, 220), shares=(1.2, 1)
        )
    hero = boxes.whole_width(design, hero) if random.chance(0.6) else hero
    ways: list[Maker] = [
        lambda: boxes.key_figures(design),
        lambda: joined(text.heading(design, 2), boxes.steps(design)),
        lambda: joined(text.heading(design, 2), prices(design)),
        lambda: joined(text.heading(design, 2), boxes.questions(design, 4)),
        lambda: joined(
            text.heading(design, 2),
            layout.cards(design, boxes.teaser_maker(design), 3, 3),
        ),
        lambda: boxes.whole_width(design, text.quotation(design)),
        lambda: layout.beside(
            design,
            pictures.picture(design, 180),
            joined(text.heading(design, 2), lists.with_icons(design, 3, 6)),
        ),
        lambda: joined(
            text.heading(design, 2),
            lists.in_columns(design, lists.with_icons(design, 4, 8, True)),
        ),
    ]
    return [
        navigation(design),
        main(hero, *(make() for make in random.sample(ways, random.randint(2, 5)))),
        site_foot(design),
    ]


def prices(design: Design) -> Markup:
    """Plans side by side: a name, a price, what it has, a button."""
    random = design.random
    texts = design.texts
    large = f"font-size: {random.uniform(1.4, 2.4):.1f}em; font-weight: 700; margin: 0"
    kind = random.one("✓", "•", "drawn disc", "–")

    def plan() -> Markup:
        return joined(
            text.heading(design, 3, texts.noun().capitalize()),
            text.text_line(texts.price(90), style=large),
            text.text_line(texts.phrase(1, 3), "plain fine")
            if random.chance(0.5)
            else None,
            lists.marked(design, 3, 6, short=True, kind=kind),
            text.button(design),
        )

    count = random.one(2, 3, 3, 4)
    return layout.cards(design, plan, count, count)


def terminal(design: Design) -> list[Markup | None]:
    """Text with commands beside it or below it, on dark or light grounds."""
    random = design.random
    parts: list[Content] = [text.heading(design, 1, design.texts.title(1, 4))]
    beside = random.chance(0.5)
    for _ in range(random.randint(3, 6)):
        said = joined(
            text.heading(design, 2),
            text.paragraph(design, 1, 3),
            lists.any_list(design, 2, 4) if random.chance(0.4) else None,
        )
        shown = joined(*(text.code(design) for _ in range(random.one(1, 1, 2))))
        if beside:
            parts.append(
                layout.beside(design, said, shown, shares=(1, random.one(1, 1.2)))
            )
        else:
            parts.append(joined(said, shown))
    return [navigation(design) if random.chance(0.4) else None, main(*parts)]


def phone_app(design: Design) -> list[Markup | None]:
    """A screen of a phone: cards, lists, numbers, choices, buttons at the foot."""
    random = design.random
    texts = design.texts
    bar = span(texts.time()), span(f"{random.randint(5, 100)} %")
    head = element("header", *bar) if random.chance(0.4) else None
    title = text.heading(design, 1, texts.label("app"))
    if random.chance(0.3):
        title = boxes.whole_width(design, title, text.text_line(texts.phrase(2, 5)))
    ways: dict[Maker, float] = {
        lambda: _choices(design, 0.4): 2,
        lambda: _letters_below(design, random.randint(2, 5)): 1.5,
        lambda: facts.figures_on_cards(design, 2): 1,
        lambda: layout.cards(
            design, boxes.teaser_maker(design), random.randint(1, 3), 1
        ): 1,
        lambda: layout.cards(design, boxes.teaser_maker(design), 4, 2): 0.7,
        lambda: lists.checklist(design, 3, 6): 1,
        lambda: lists.any_list(design, 3, 6, short=True): 1,
        lambda: boxes.at_a_glance(design): 0.7,
        lambda: tables.pairs(design, way="between"): 0.7,
        lambda: facts.fields(design, random.randint(2, 4), 1): 0.7,
    }
    parts: list[Content] = []
    for _ in range(random.randint(2, 4)):
        parts += [
            text.heading(design, 2, texts.label("app")) if random.chance(0.7) else None,
            random.weighted(ways)(),
        ]
    if random.chance(0.5):
        parts.append(dialog_buttons(design))
    foot = element("footer", *map(span, _words(design, "navigation", 3, 5)))
    return [head, main(title, *parts), foot if random.chance(0.6) else None]


FAMILIES = {
    "inbox": Family(inbox, (*_SCREENS, *_PHONES), (11, 15)),
    "settings": Family(settings, (*_SCREENS, *_PHONES), (11, 16)),
    "dialog": Family(dialog, _WINDOWS, (12, 17)),
    "tracker": Family(tracker, _SCREENS, (11, 15)),
    "wiki": Family(wiki, (*_SCREENS, (794, 1123)), (11, 15)),
    "product": Family(product, _SCREENS, (11, 15)),
    "blog": Family(blog, (*_SCREENS, (794, 1123)), (12, 16)),
    "portal": Family(portal, _SCREENS, (11, 15)),
    "forum": Family(forum, _SCREENS, (11, 15)),
    "landing page": Family(landing, _SCREENS, (12, 17)),
    "terminal": Family(terminal, (*_SCREENS, (794, 1123)), (11, 15)),
    "phone app": Family(phone_app, _PHONES, (12, 17)),
}
