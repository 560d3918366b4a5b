"""Bills, tenders, orders, hours, rents: lines that say much and cost something."""

from markupsafe import Markup

from vit_str.synthesis.pages.design import Design, main
from vit_str.synthesis.pages.families.family import Family
from vit_str.synthesis.pages.html import Content, Maker, div, element, joined, lines
from vit_str.synthesis.pages.parts import (
    facts,
    fronts,
    grids,
    layout,
    lists,
    running,
    tables,
    text,
)
from vit_str.synthesis.pages.parts.tables import Cell, Row


def _amounts(design: Design, count: int) -> Row:
    """Cells of a quantity and prices, as many as are asked for."""
    kinds = ["small", *["price"] * 4][5 - count :] if count < 5 else ["small"] * count
    if count > 1:
        kinds[0] = design.random.one("small", "quantity")
    return grids.values_row(design, *kinds)


def _below_sums(design: Design) -> Markup:
    """Sums at the right, alone or with how to pay at their left."""
    random = design.random
    count = random.randint(2, 5)
    way = random.one("alone", "beside", "beside", "line")
    if way == "line":
        return facts.total_line(design)
    sums = grids.sums_below(design, count, 100 if way == "beside" else 0)
    if way == "alone":
        return sums
    makers: list[Maker] = [
        lambda: joined(
            text.heading(design, 3), facts.running_facts(design, 2, 4, "below")
        ),
        lambda: text.paragraph(design, 1, 3, class_="fine"),
        lambda: joined(text.heading(design, 3), text.paragraph(design, 1, 2)),
    ]
    paying = random.choice(makers)()
    return layout.beside(design, paying, sums, shares=random.one((1, 1), (3, 2)))


def itemised(design: Design) -> list[Markup | None]:
    """A bill whose lines say in several lines what was done; sums and payment below."""
    random = design.random
    texts = design.texts
    make = grids.describer(design, random.randint(2, 5))
    count = random.randint(1, 4)
    has_number = random.chance(0.4)
    body: list[Row] = []
    for number in range(1, random.randint(2, 7) + 1):
        first = [Cell(random.one(str(number), f"{number}.", f"{number:02}"))]
        row = [Cell(make()), *_amounts(design, count)]
        body.append(first * has_number + row)
    columns = len(body[0])
    if random.chance(0.25):
        body += grids.sum_rows(design, random.randint(1, 4), columns)
    names = texts.different("columns", columns)
    heads = [grids.head_row(*names)] if random.chance(0.93) else []
    widths = [0.5] * has_number + [random.uniform(3, 6), *[1.0] * count]
    sides = "l" * has_number + "l" + random.one("r", "c", "l") + "r" * (count - 1)
    table = grids.grid(design, heads, body, sides, "", widths)
    return [
        main(
            fronts.front(design),
            fronts.known(design),
            text.paragraph(design, 1, 2) if random.chance(0.3) else None,
            table,
            _below_sums(design),
            text.paragraph(design, 1, 2) if random.chance(0.5) else None,
        ),
        running.running_foot(design),
    ]


def tender(design: Design) -> list[Markup | None]:
    """Works by numbers of several places: long texts, quantities, prices, sums of groups."""
    random = design.random
    texts = design.texts
    is_priced = random.chance(0.7)
    has_unit_column = random.chance(0.5)
    kinds = ["quantity"] if not has_unit_column else ["decimal", "unit"]
    columns = 4 + len(kinds)
    is_carried = random.chance(0.25)
    body: list[Row] = []
    for chapter in range(1, random.randint(1, 3) + 1):
        name = f"{chapter}{random.one('', '.', '.0')} {texts.phrase(1, 4)}"
        body.append(grids.group_row(name, columns))
        for number in range(1, random.randint(2, 5) + 1):
            place = Cell(f"{chapter}.{number:02}", class_="exact")
            strong = element("b", texts.phrase(1, 4))
            said = joined(strong, div(texts.text(1, 3), class_="sub"))
            prices = [texts.number(random.random() * 500, 2) for _ in range(2)]
            amounts = [Cell(price if is_priced else "") for price in prices]
            body.append(
                [place, Cell(said), *grids.values_row(design, *kinds), *amounts]
            )
        total = texts.number(random.random() * 9000, 2) if is_priced else ""
        body.append(grids.sum_row(f"{texts.exact('totals')} {chapter}", total, columns))
    if is_carried:
        body.insert(0, grids.sum_row(texts.label("totals"), texts.price(900), columns))
    heads = [grids.head_row(*texts.different("columns", columns))]
    widths = (0.7, 5, *[0.9] * len(kinds), 1.1, 1.2)
    sides = "ll" + "r" * (columns - 2)
    return [
        running.running_head(design, 0.6),
        main(
            fronts.front(design) if random.chance(0.6) else None,
            text.paragraph(design, 1, 2) if random.chance(0.4) else None,
            grids.grid(design, heads, body, sides, "", widths),
            facts.signatures(design) if random.chance(0.3) else None,
        ),
        running.running_foot(design),
    ]


def hotel_bill(design: Design) -> list[Markup | None]:
    """Nights and what else was had, in two columns of amounts; who stayed in which room."""
    random = design.random
    texts = design.texts
    has_both = random.chance(0.6)
    has_reference = random.chance(0.4)
    kinds = ["code"] * has_reference + ["price"] * (1 + has_both)
    body: list[Row] = []
    for _ in range(random.randint(5, 22)):
        amounts = grids.values_row(design, *kinds)
        if has_both:
            amounts[-1 if random.chance(0.8) else -2] = Cell("")
        date = Cell(texts.date(), class_="exact")
        said = texts.phrase(1, 3)
        if random.chance(0.15):
            said = lines(said, texts.sentence(2, 5)[:-1])
        body.append([date, Cell(said), *amounts])
    columns = len(body[0])
    for _ in range(random.randint(1, 3)):
        row = [Cell("", class_="sum") for _ in range(columns)]
        row[1] = Cell(texts.label("totals"), class_="sum")
        for place in range(columns - 1 - has_both, columns):
            row[place] = Cell(texts.price(900), class_="sum exact")
        body.append(row)
    names = texts.different("columns", columns)
    tight = random.chance(0.4)
    name = grids.look(
        design, random.one("none", "none", "head", "rows", "frame columns"), tight
    )
    sides = "ll" + "l" * has_reference + "r" * (1 + has_both)
    table = grids.grid(design, [grids.head_row(*names)], body, sides, name)
    taxes = [
        grids.values_row(design, "percent", "price", "price", "price") for _ in range(2)
    ]
    rates = grids.grid(
        design,
        [grids.head_row(*texts.different("totals", 4))],
        taxes,
        "lrrr",
        css=f"width: {random.randint(50, 100)}%",
    )
    return [
        main(
            fronts.front(design),
            fronts.addressed(design, 3, 6),
            table,
            rates if random.chance(0.4) else None,
            facts.signatures(design, 1) if random.chance(0.3) else None,
        ),
        running.running_foot(design, 0.8),
    ]


def hours_sheet(design: Design) -> list[Markup | None]:
    """Hours by day, some of one project over several rows, sums of weeks."""
    random = design.random
    texts = design.texts
    days = [day[: random.one(2, 3, 20)] for day in texts.all_labels("days")]
    has_project = random.chance(0.5)
    has_times = random.chance(0.6)
    has_rest = random.chance(0.5)
    rest = ["time"] * (2 * has_times) + ["decimal"] + ["clause"] * has_rest
    body: list[Row] = []
    for week in range(random.randint(1, 3 if has_project else 4)):
        count = random.randint(5, 7)
        for number in range(count):
            row = [Cell(days[number]), Cell(texts.date(), class_="exact")]
            is_free = number > 4 and random.chance(0.7)
            values = (
                [Cell("") for _ in rest] if is_free else grids.values_row(design, *rest)
            )
            if has_project and number == 0:
                head = Cell(texts.phrase(1, 2), rows=count, is_head=True)
                row.insert(0, head)
            body.append([*row, *values])
        if random.chance(0.6):
            wide = 2 + has_project + 2 * has_times
            name = f"{texts.exact('totals')} {week + 1}"
            sums = [
                Cell(name, columns=wide, class_="sum right"),
                Cell(texts.value("decimal"), class_="sum"),
            ]
            body.append([*sums, *[Cell("", class_="sum")] * has_rest])
    columns = 2 + has_project + len(rest)
    heads = [grids.head_row(*texts.different("columns", columns))]
    sides = "ll" + "l" * has_project + "c" * (2 * has_times) + "r" + "l" * has_rest
    table = grids.grid(design, heads, body, sides)
    return fronts.signed_page(design, table, 2, 6, foot=0.4)


def repair_order(design: Design) -> list[Markup | None]:
    """Work and parts in a table each, under names; what was found; a signature."""
    random = design.random
    texts = design.texts
    name = grids.look(design)
    kinds = random.one(
        ["small", "price", "price"], ["price"], ["code", "small", "price"]
    )
    names = texts.different("columns", len(kinds) + 1)
    is_one = random.chance(0.35)
    columns = len(kinds) + 1

    def rows() -> list[Row]:
        found = [
            [Cell(texts.phrase(1, 6)), *grids.values_row(design, *kinds)]
            for _ in range(random.randint(2, 6))
        ]
        if random.chance(0.7):
            amount = texts.price(900)
            found.append(grids.sum_row(texts.exact("totals"), amount, columns))
        return found

    sides = "l" + "r" * len(kinds)
    widths = (4, *[1.0] * len(kinds))
    heads = [grids.head_row(*names)]
    groups = [texts.phrase(1, 2) for _ in range(random.randint(2, 3))]
    if is_one:
        body = [
            row
            for group in groups
            for row in [grids.group_row(group, columns), *rows()]
        ]
        parts: list[Content] = [grids.grid(design, heads, body, sides, name, widths)]
    else:
        parts = []
        for group in groups:
            parts.append(text.heading(design, 2, group))
            parts.append(grids.grid(design, heads, rows(), sides, name, widths))
    checks = joined(text.heading(design, 2), facts.options_to_tick(design, 4, 9))
    found = joined(text.heading(design, 2), text.paragraph(design, 1, 3))
    return [
        main(
            fronts.front(design),
            facts.boxed_form(design, 2) if random.chance(0.4) else fronts.known(design),
            found if random.chance(0.6) else None,
            *parts,
            grids.sums_below(design, random.randint(2, 4))
            if random.chance(0.6)
            else None,
            checks if random.chance(0.5) else None,
            facts.signatures(design, 2) if random.chance(0.6) else None,
        ),
        running.running_foot(design, 0.5),
    ]


def calls(design: Design) -> list[Markup | None]:
    """A telephone bill: use in a month, and every call in narrow tables side by side."""
    random = design.random
    texts = design.texts
    kinds = random.one(
        ["date", "time", "phone", "price"],
        ["date", "phone", "time", "decimal"],
        ["small", "date", "time", "place", "decimal"],
    )
    name = grids.look(
        design, random.one("none", "none", "head", "zebra", "rows"), tight=True
    )
    names = texts.different("columns", len(kinds))
    count = random.randint(8, 26)
    across = random.one(1, 2, 2)
    sides = "".join("r" if kind in ("price", "decimal") else "l" for kind in kinds)
    found = []
    for _ in range(across):
        rows = [grids.values_row(design, *kinds) for _ in range(count)]
        found.append(grids.grid(design, [grids.head_row(*names)], rows, sides, name))
    both = (
        layout.beside(design, *found, shares=(1,) * across) if across > 1 else found[0]
    )
    total = tables.pairs(
        design, texts.different("meters", random.randint(3, 7)), "price", sums=1
    )
    return [
        running.running_head(design, 0.3),
        main(
            fronts.front(design),
            fronts.known(design, 3, 5),
            text.heading(design, 2),
            total,
            text.heading(design, 2),
            both,
        ),
        running.running_foot(design),
    ]


def order_sheet(design: Design) -> list[Markup | None]:
    """A printed sheet of boxes: rows to fill down the page, some filled, sums in its last ones."""
    random = design.random
    texts = design.texts
    kinds = random.one(
        ["small", "clause", "price", "price"],
        ["code", "clause", "small", "price", "price"],
        ["small", "unit", "code", "clause", "price"],
    )
    columns = len(kinds)
    filled = random.randint(2, 9)
    body = [grids.values_row(design, *kinds) for _ in range(filled)]
    blank = random.randint(0, 8)
    body += [[Cell(Markup("&nbsp;")) for _ in kinds] for _ in range(blank)]
    body += grids.sum_rows(design, random.randint(0, 3), columns)
    name = grids.look(design, random.one("all", "all", "frame columns"))
    names = [texts.exact("columns") for _ in kinds]
    if random.chance(0.4):
        names = [lines(*random.sample(texts.all_labels("columns"), 2)) for _ in kinds]
    widths = [random.uniform(3, 5) if kind == "clause" else 1.0 for kind in kinds]
    sides = "".join("r" if kind == "price" else "l" for kind in kinds)
    table = grids.grid(design, [grids.head_row(*names)], body, sides, name, widths)
    addresses = [
        div(text.heading(design, 3), text.address(design), class_="box")
        for _ in range(2)
    ]
    return [
        main(
            fronts.front(design),
            layout.beside(design, *addresses, shares=(1, 1)),
            fronts.strip(design, texts.different("labels", random.randint(3, 5))),
            table,
            text.paragraph(design, 1, 1, class_="fine"),
            facts.signatures(design, 2),
        ),
        running.running_foot(design, 0.4),
    ]


def rent_statement(design: Design) -> list[Markup | None]:
    """Costs of a house and one's share of them: keys, days, heads of several lines."""
    random = design.random
    texts = design.texts
    kinds = random.one(
        ["amount", "phrase", "decimal", "amount"],
        ["price", "decimal", "decimal", "price"],
        ["amount", "word", "integer", "small", "decimal", "amount"],
    )
    columns = len(kinds) + 1
    body: list[Row] = []
    for _ in range(random.randint(1, 3)):
        if random.chance(0.5):
            body.append(grids.group_row(texts.phrase(1, 3), columns))
        body += [
            [Cell(texts.label("meters")), *grids.values_row(design, *kinds)]
            for _ in range(random.randint(2, 7))
        ]
    body += grids.sum_rows(design, random.randint(1, 3), columns)
    names = [
        lines(*texts.different("columns", random.one(1, 2, 2, 3)))
        for _ in range(columns)
    ]
    sides = "l" + "".join("l" if kind in ("phrase", "word") else "r" for kind in kinds)
    table = grids.grid(design, [grids.head_row(*names)], body, sides)
    said = (
        lists.any_list(design, 2, 4)
        if random.chance(0.3)
        else text.paragraph(design, 1, 3)
    )
    greeting = text.text_line(texts.exact("greeting"), style="margin: 1em 0 .6em")
    return [
        main(
            fronts.front(design),
            fronts.addressed(design, 3, 5),
            greeting,
            text.paragraph(design, 1, 2),
            table,
            said,
        ),
        running.running_foot(design, 0.7),
    ]


FAMILIES = {
    "itemised bill": Family(itemised, (), (10, 15)),
    "tender": Family(tender, (), (9.5, 13)),
    "hotel bill": Family(hotel_bill, (), (10, 14)),
    "hours sheet": Family(hours_sheet, (), (9.5, 13)),
    "repair order": Family(repair_order, (), (10, 14)),
    "calls": Family(calls, (), (9.5, 13)),
    "order sheet": Family(order_sheet, (), (10, 14)),
    "rent statement": Family(rent_statement, (), (9.5, 14)),
}
