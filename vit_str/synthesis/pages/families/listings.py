"""Lists of people, shops and branches; prices and features side by side."""

from collections.abc import Callable

from markupsafe import Markup

from vit_str.synthesis.pages.design import Design, main
from vit_str.synthesis.pages.families.family import Family
from vit_str.synthesis.pages.html import Content, div, element, joined, lines, span
from vit_str.synthesis.pages.parts import facts, layout, running, tables, text
from vit_str.synthesis.pages.parts.tables import Cell, Column, Row, TableOptions

_SCREENS = ((1024, 900), (1280, 960), (900, 1100), (794, 1123))


def _entry_maker(design: Design) -> Callable[[str], Markup]:
    """Makes entries of one look: a paragraph each, under a heading, with the number apart."""
    random = design.random
    kept = "break-inside: avoid;"
    gap = f"margin-bottom: {random.uniform(0.5, 1.2):.1f}em;"
    way = random.weighted({"lines": 3, "heading": 3, "run": 2, "facts": 1})
    is_bold = random.chance(0.5)
    kinds = random.one(("street", "city"), ("phrase", "street", "city"), ("phrase",))

    def make(name: str) -> Markup:
        strong = element("b", name) if is_bold else name
        rest = [design.texts.value(kind) for kind in kinds]
        phone = design.texts.value("phone")
        if way == "lines":
            return text.text_line(lines(strong, *rest, phone), style=kept + gap)
        if way == "run":
            inner = joined(strong, ", ", ", ".join(rest), ", ", phone)
            css = f"{kept} {gap} padding-left: 1em; text-indent: -1em"
            return element("p", inner, style=css)
        title = text.heading(design, 3, name, style="margin: 0 0 .1em")
        if way == "heading":
            return div(title, text.text_line(lines(*rest, phone)), style=kept + gap)
        label = random.choice(design.texts.all_labels("labels"))
        known = element("dl", div(f"{label}: {phone}"), style="margin: 0")
        return div(title, text.text_line(lines(*rest)), known, style=kept + gap)

    return make


def _letters(design: Design, make: Callable[[str], Markup]) -> Markup:
    """Entries by the first letters of their names, with the letters as headings."""
    random = design.random
    start = random.randint(0, 18)
    found: list[Content] = []
    for place in range(start, start + random.randint(2, 7)):
        letter = chr(ord("A") + place)
        found.append(text.heading(design, 2, letter))
        for _ in range(random.randint(1, 5)):
            name = f"{letter}{design.texts.noun()[1:]}, {design.texts.person()}"
            found.append(make(name))
    return joined(*found)


def _people_table(design: Design) -> Markup:
    """Names, several lines of an address and numbers in columns; letters over all columns."""
    random = design.random
    texts = design.texts
    kinds = random.one(
        ("person", "address", "phone"),
        ("person", "phrase", "phone", "mail"),
        ("person", "address", "phone", "mail"),
        ("address", "phone"),
        ("person", "phone"),
    )
    names = texts.different("fields", len(kinds))
    columns = [Column(kind, name) for kind, name in zip(kinds, names, strict=True)]
    has_letters = random.chance(0.4)
    is_bold = random.chance(0.3)
    body: list[Row] = []
    for number in range(random.randint(4, 18)):
        if has_letters and number % 4 == 0:
            letter = chr(ord("A") + number // 4)
            body.append(
                [Cell(letter, columns=len(kinds), is_head=True, class_="group")]
            )
        row = [Cell(_person_cell(design, kind)) for kind in kinds]
        if is_bold:
            row[0] = Cell(element("b", row[0].content))
        body.append(row)
    heads = [[Cell(name, is_head=True) for name in names]]
    return tables.drawn(design, heads if random.chance(0.6) else [], body, columns)


def _person_cell(design: Design, kind: str) -> Content:
    random = design.random
    if kind == "address":
        return lines(*design.texts.address())
    value = design.texts.value(kind)
    if kind == "phone" and random.chance(0.15):
        return lines(value, design.texts.value(kind))
    return value


def people_list(design: Design) -> list[Markup | None]:
    """Names with their lines and numbers: under letters, in columns, or in a table."""
    random = design.random
    title = text.heading(design, 1) if random.chance(0.75) else None
    lead = text.paragraph(design, 1, 2) if random.chance(0.3) else None
    way = random.weighted({"letters": 4, "table": 4, "columns": 2, "groups": 1.5})
    if way == "table":
        body: Content = _people_table(design)
    else:
        make = _entry_maker(design)
        if way == "letters":
            inner = _letters(design, make)
        elif way == "groups":
            inner = joined(
                *random.several(
                    2, 5, lambda: joined(text.heading(design, 2), *_named(design, make))
                )
            )
        else:
            inner = joined(*_named(design, make), *_named(design, make))
        count = random.one(1, 2, 2, 3)
        body = inner if count == 1 else layout.columns(design, inner, count=count)
    return layout.page(design, title, lead, body, head=0.4)


def _named(design: Design, make: Callable[[str], Markup]) -> list[Markup]:
    name = design.random.one(design.texts.person, design.texts.company)
    return design.random.several(3, 7, lambda: make(name()))


def hours_rows(design: Design, count: int = 0) -> tuple[list[str], list[Content]]:
    """Days, alone or from one to another, and when something is open on them."""
    random = design.random
    texts = design.texts
    days = texts.all_labels("days")
    length = random.one(0, 0, 2, 3)
    days = [day[:length] + random.one("", ".") if length else day for day in days]
    dash = random.one("–", " – ", "-")
    names = random.one(
        list(days),
        [f"{days[0]}{dash}{days[4]}", days[5], days[6]],
        [f"{days[0]}{dash}{days[3]}", days[4], days[5]],
        [f"{days[0]}, {days[2]}", f"{days[1]}, {days[3]}", days[4]],
    )
    join = random.one("–", " – ", "-", " - ")
    breaks = random.one(", ", " / ")

    def open_() -> Content:
        if random.chance(0.12):
            return texts.exact("closed")
        first = f"{texts.time()}{join}{texts.time()}"
        second = f"{texts.time()}{join}{texts.time()}"
        if random.chance(0.25):
            return lines(first, second)
        return first + breaks + second if random.chance(0.3) else first

    names = names[: count or len(names)]
    return names, [open_() for _ in names]


def branches(design: Design) -> list[Markup | None]:
    """Shops and offices: cards, columns, a table, each with address and hours."""
    random = design.random
    texts = design.texts
    way = random.weighted({"cards": 3, "beside": 2, "table": 3, "hours": 2})
    title = text.heading(design, 1) if random.chance(0.8) else None

    def hours() -> Markup:
        names, values = hours_rows(design)
        if random.chance(0.3):
            shown = [
                div(f"{name}: ", value)
                for name, value in zip(names, values, strict=True)
            ]
            return element("dl", *shown, style="margin: .3em 0")
        look = random.one("grid", "table", "between")
        return tables.pairs(design, names, way=look, values=values)

    def place() -> Markup:
        name = text.heading(
            design, 2, random.one(texts.value("place"), texts.company())
        )
        rows = [texts.value("street"), texts.value("city"), texts.value("phone")]
        inner = text.text_line(lines(*rows))
        return joined(name, inner, hours() if way == "hours" else None)

    if way == "table":
        names = texts.different("columns", 4)
        kinds = ["place", "address", "phone", "span"][: random.randint(3, 4)]
        columns = [Column(kind, name) for kind, name in zip(kinds, names, strict=False)]
        body = []
        for _ in range(random.randint(3, 9)):
            days, values = hours_rows(design)
            opened = lines(
                *(joined(d, " ", v) for d, v in zip(days, values, strict=True))
            )
            row = [Cell(element(random.one("b", "span"), texts.value("place")))]
            row += [Cell(lines(*texts.address()[-2:])), Cell(texts.value("phone"))]
            body.append([*row, Cell(opened)][: len(kinds)])
        heads = [[Cell(column.title, is_head=True) for column in columns]]
        shown: Content = tables.drawn(design, heads, body, columns)
    elif way == "beside":
        shown = joined(
            *[
                layout.beside(design, place(), place(), shares=(1, 1))
                for _ in range(random.randint(1, 4))
            ]
        )
    elif way == "hours":
        shown = layout.cards(design, place, random.one(2, 4), 2)
    else:
        shown = layout.cards(design, place)
    lead = text.paragraph(design, 1, 2) if random.chance(0.4) else None
    return layout.page(design, title, lead, shown, foot=0.5)


def _feature_value(design: Design, signs: tuple[str, str]) -> Content:
    """A sign for yes or no, a number, a few words."""
    random = design.random
    if random.chance(0.65):
        return signs[0] if random.chance(0.6) else signs[1]
    return random.one(
        design.texts.value("small"),
        design.texts.value("quantity"),
        design.texts.phrase(1, 2),
    )


def _plan_rows(design: Design, count: int) -> list[Row]:
    """Features with what each plan has of them, some under names of groups."""
    random = design.random
    texts = design.texts
    signs = random.one(("✓", "–"), ("✓", ""), ("●", "○"), ("✔", "✗"), ("x", "-"))
    answers = texts.all_labels("answers")
    signs = random.one(signs, signs, (answers[0], answers[1]))
    groups = random.one(0, 0, 0.2)
    is_head = random.chance(0.3)
    seconds = random.one(0, 0, 0.4)
    body: list[Row] = []
    for number in range(random.randint(4, 16)):
        if groups and (number == 0 or random.chance(groups)):
            name = texts.phrase(1, 3)
            body.append([Cell(name, columns=count + 1, is_head=True, class_="group")])
        name = texts.phrase(1, random.one(3, 6))
        below = None
        if random.chance(seconds):
            below = div(texts.sentence(3, 9), class_="sub")
        row = [Cell(joined(name, below), is_head=is_head)]
        row += [Cell(_feature_value(design, signs)) for _ in range(count)]
        body.append(row)
    return body


def plans(design: Design) -> list[Markup | None]:
    """Plans compared: plans across with prices, features down; notes under the table."""
    random = design.random
    texts = design.texts
    count = random.one(2, 3, 3, 4, 5)
    names = random.some(texts.all_labels("plans"), count, count)
    columns = [Column("phrase", ""), *[Column("tick", name) for name in names]]
    corner = random.one("", "", texts.label("columns"))
    with_prices = random.chance(0.35)
    per = f" / {texts.noun()}"
    titles: list[Content] = [
        lines(
            name,
            span(texts.price(90) + per, style="font-weight: 400; font-size: .85em"),
        )
        if with_prices
        else name
        for name in names
    ]
    heads = [[Cell(corner, is_head=True), *(Cell(t, is_head=True) for t in titles)]]
    body = _plan_rows(design, count)
    if not with_prices and random.chance(0.5):
        row = [Cell(texts.label("columns")), *(Cell(texts.price(90)) for _ in names)]
        body.insert(random.one(0, len(body)), row)
    if random.chance(0.2):
        buttons = [Cell(span(texts.exact("buttons"), class_="button")) for _ in names]
        body.append([Cell(""), *buttons])
    if random.chance(0.6):
        design.added_css.append(
            "td + td, th + td, th + th { text-align: center !important }"
        )
    table = tables.drawn(design, heads, body, columns)
    center = random.one("", "text-align: center")
    return [
        main(
            text.heading(design, 1, style=center) if random.chance(0.75) else None,
            text.paragraph(design, 1, 2, center) if random.chance(0.5) else None,
            table,
            layout.table_note(design) if random.chance(0.5) else None,
            layout.table_note(design) if random.chance(0.2) else None,
            text.paragraph(design, 1, 2) if random.chance(0.3) else None,
        ),
        running.running_foot(design, 0.4),
    ]


def comparison(design: Design) -> list[Markup | None]:
    """Tables beside text, two side by side, one of heads over columns, all on one page."""
    random = design.random
    texts = design.texts

    def small() -> Markup:
        name = text.heading(design, random.one(2, 3)) if random.chance(0.6) else None
        columns = tables.any_columns(design, 2, 3)
        options = tables.any_options(design, columns)
        table = tables.table(design, columns, random.randint(2, 9), options)
        note = layout.table_note(design) if random.chance(0.3) else None
        return div(name, table, note, class_="flow")

    def words() -> Markup:
        body = random.several(1, 3, lambda: text.paragraph(design, 2, 4))
        title = text.heading(design, 2) if random.chance(0.5) else None
        return div(title, *body, class_="flow")

    def large() -> Markup:
        columns = tables.any_columns(design, 4, 7)
        options = TableOptions(
            tall_heads=random.chance(0.6),
            groups=random.one(0, 0.15, 0.25),
            lines=random.one(0, 0.3),
            empty=random.one(0, 0.1),
            sums=random.one(0, 0, 1),
            spans=random.one(0, 0.06),
        )
        table = tables.table(design, columns, random.randint(3, 12), options)
        return joined(table, layout.table_note(design) if random.chance(0.5) else None)

    parts: list[Content] = []
    for _ in range(random.randint(1, 3)):
        way = random.one("two", "beside", "beside", "large", "words")
        if way == "two":
            shares = random.one((1, 1), (1, 1), (2, 3))
            parts.append(layout.beside(design, small(), small(), shares=shares))
        elif way == "beside":
            pair = [small(), words()]
            random.shuffle(pair)
            parts.append(layout.beside(design, *pair))
        elif way == "large":
            parts.append(large())
        else:
            parts.append(words())
    title = text.heading(design, 1) if random.chance(0.7) else None
    lead = text.text_line(texts.sentence(6, 14)) if random.chance(0.3) else None
    return layout.page(design, title, lead, *parts, head=0.3, foot=0.5)


def price_board(design: Design) -> list[Markup | None]:
    """Prices of services: lines with leaders, groups in columns, prices for sizes and times."""
    random = design.random
    texts = design.texts
    sizes = random.randint(1, 4)
    has_heads = sizes > 1 or random.chance(0.3)
    names = texts.different("columns", sizes + 1)
    columns = [Column("phrase", names[0]), *[Column("price", n) for n in names[1:]]]

    def group(is_headed: bool) -> Markup:
        options = TableOptions(
            has_heads=has_heads,
            second=random.one(0, 0, 0.5),
            empty=0.1 if sizes > 1 else 0,
        )
        count = random.randint(2, 7)
        name = text.heading(design, 2) if is_headed else None
        if sizes == 1 and random.chance(0.4):
            labels = [texts.phrase(1, 4) for _ in range(count)]
            return joined(name, tables.pairs(design, labels, "price"))
        return joined(
            name, tables.table(design, columns, count, options, caption=False)
        )

    count = random.one(1, 2, 3, 4)
    groups = [div(group(count > 1), class_="flow") for _ in range(count)]
    if count > 1 and random.chance(0.4) and sizes < 3:
        rows = [layout.beside(design, *groups[n : n + 2]) for n in range(0, count, 2)]
        body: Content = joined(*rows)
    else:
        body = joined(*groups)
    return [
        main(
            text.heading(design, 1) if random.chance(0.7) else None,
            text.paragraph(design, 1, 1) if random.chance(0.3) else None,
            body,
            layout.table_note(design) if random.chance(0.4) else None,
            facts.contact(design) if random.chance(0.3) else None,
        ),
        running.running_foot(design, 0.3),
    ]


FAMILIES = {
    "people": Family(people_list, (), (9.5, 14)),
    "branches": Family(branches, (), (10, 15)),
    "plans": Family(plans, _SCREENS, (12, 16)),
    "comparison": Family(comparison, (), (9.5, 14)),
    "price board": Family(price_board, (), (10.5, 17)),
}
