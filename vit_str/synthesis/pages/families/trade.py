"""Invoices, receipts, orders, price lists: what firms send each other."""

from markupsafe import Markup

from vit_str.synthesis.pages.design import Design, main
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
from vit_str.synthesis.pages.parts import facts, layout, pictures, running, tables, text
from vit_str.synthesis.pages.parts.tables import Column, TableOptions

_SLIPS = ((300, 560), (320, 760), (360, 640))


def letterhead(design: Design) -> Markup:
    """A firm's name, some with a logo, and where it is."""
    random = design.random
    sign = pictures.logo(design, random.randint(24, 48)) if random.chance(0.4) else None
    name = random.one(
        text.heading(design, 1, design.texts.company()),
        text.text_line(element("b", design.texts.company())),
    )
    contact = facts.contact(design) if random.chance(0.8) else None
    if random.chance(0.5):
        left = joined(sign, name)
        align = random.one("left", "right")
        return div(
            div(left),
            div(contact, style=f"text-align: {align}"),
            style="display: flex; justify-content: space-between; gap: 2em; margin-bottom: 1.2em",
        )
    align = random.one("left", "left", "center", "right")
    return div(sign, name, contact, style=f"text-align: {align}; margin-bottom: 1.2em")


def two_addresses(design: Design) -> Markup:
    """Addresses side by side, each under a name or none."""
    random = design.random
    has_names = random.chance(0.6)
    blocks = []
    for _ in range(random.one(2, 2, 3)):
        name = None
        if has_names:
            label = design.texts.label("labels") + random.one(":", "")
            level = random.one(3, 4)
            name = text.heading(design, level, label, style="margin: 0 0 .2em")
        blocks.append(joined(name, text.address(design)))
    shares = (1.0,) * len(blocks)
    return layout.beside(design, *blocks, shares=shares)


def document_facts(design: Design) -> Markup:
    """Number, date and the like."""
    way = design.random.one("table", "table", "run", "cards", "row")
    if way == "table":
        return tables.pairs(design, way=design.random.one("table", "grid", "between"))
    if way == "cards":
        labels = design.texts.different("labels", design.random.randint(3, 4))
        return facts.fields(design, columns=len(labels), labels=labels)
    return facts.running_facts(design, way="row" if way == "row" else "below")


def goods_columns(design: Design) -> list[Column]:
    """Columns for goods: name, quantity, price."""
    random = design.random
    names = design.texts.different("columns", 7)
    first = [Column("small", names[0])] if random.chance(0.25) else []
    if random.chance(0.25):
        first.append(Column("code", names[1]))
    columns = [
        *first,
        Column(random.one("item", "thing", "phrase", "clause"), names[2]),
    ]
    if random.chance(0.8):
        columns.append(Column("small", names[3]))
    if random.chance(0.3):
        columns.append(Column("unit", names[4]))
    if random.chance(0.7):
        columns.append(Column("price", names[5]))
    has_sign = random.chance(0.2)
    return [*columns, Column("amount" if has_sign else "price", names[6], has_sign)]


def goods(design: Design, low: int = 2, high: int = 12) -> Markup:
    """A table of goods; the sums below it in the same table or in one of their own."""
    random = design.random
    inside = random.chance(0.55)
    options = TableOptions(
        has_heads=random.chance(0.92),
        second=random.one(0, 0, 0.3, 1),
        groups=random.one(0, 0, 0, 0.15),
        sums=random.randint(1, 5) if inside else 0,
    )
    table = tables.table(
        design, goods_columns(design), random.randint(low, high), options, caption=False
    )
    if inside:
        return table
    names = [design.texts.label("totals") for _ in range(random.randint(2, 5))]
    wide = random.randint(32, 55)
    sums = tables.pairs(
        design, names, "price", way=random.one("between", "table", "grid")
    )
    return joined(table, div(sums, style=f"width: {wide}%; margin-left: auto"))


def closing(design: Design) -> Markup:
    """Terms, thanks, signatures."""
    random = design.random
    parts: list[Maker] = [
        lambda: text.paragraph(design, 1, 3),
        lambda: facts.running_facts(design),
        lambda: facts.signatures(design),
    ]
    parts += [
        lambda: text.items(design, 2, 4),
        lambda: joined(text.heading(design, 3), text.paragraph(design, 1, 2)),
    ]
    return joined(*(make() for make in random.some(parts, 1, 2)))


def invoice(design: Design) -> list[Markup | None]:
    """A bill: who sends it to whom, what it is for, and what it costs."""
    random = design.random
    title = text.heading(
        design,
        random.one(1, 2),
        f"{design.texts.label('titles')} {random.one('', design.texts.value('code'))}".strip(),
    )
    known = document_facts(design)
    addresses = (
        two_addresses(design)
        if random.chance(0.55)
        else text.address(design, "margin: 1em 0")
    )
    if random.chance(0.4):
        middle = [layout.beside(design, joined(title, addresses), known)]
    else:
        middle = random.one(
            [addresses, title, known],
            [title, known, addresses],
            [title, addresses, known],
        )
    body = main(
        letterhead(design),
        *middle,
        text.paragraph(design, 1, 2) if random.chance(0.3) else None,
        goods(design),
        closing(design),
    )
    return [body, running.running_foot(design, 0.6), layout.margin_mark(design, 0.1)]


def receipt(design: Design) -> list[Markup | None]:
    """A slip of paper from a till."""
    random = design.random
    design.added_css.append(
        "body { text-align: left } .table0, .table1 { width: 100% }"
    )
    middle = "text-align: center;"
    head = [
        text.address(design, middle),
        text.text_line(design.texts.value("phone"), style=middle),
    ]
    if random.chance(0.4):
        head.insert(0, text.heading(design, 1, design.texts.phrase(1, 2), style=middle))
    rule = random.one(
        element("hr", aria_hidden="true"),
        div(
            text.sign_row(random.one("-", "=", "*", "- "), 80),
            aria_hidden="true",
            style="overflow: hidden; white-space: nowrap",
        ),
        None,
    )
    known = random.one(
        facts.running_facts(design, 2, 4, "below"),
        text.text_line(
            f"{design.texts.date()} {design.texts.time()} {design.texts.value('code')}"
        ),
        tables.pairs(design, design.texts.different("labels", 3), way="between"),
    )
    columns = random.one(
        [Column("item"), Column("price")],
        [Column("small"), Column("thing"), Column("price")],
        [
            Column("thing", design.texts.label("columns")),
            Column("small", design.texts.label("columns")),
            Column("price", design.texts.label("columns")),
        ],
    )
    has_heads = bool(columns[0].title)
    options = TableOptions(
        has_heads=has_heads, second=random.one(0, 0, 0.3), sums=random.randint(1, 4)
    )
    bought = tables.table(
        design, columns, random.randint(1, 11), options, caption=False
    )
    taxes = (
        tables.any_table(design, narrow=True, rows=2) if random.chance(0.2) else None
    )
    end = [
        text.text_line(design.texts.sentence(3, 9), style=middle)
        for _ in range(random.randint(1, 3))
    ]
    return [main(*head, rule, known, rule, bought, rule, taxes, *end)]


def delivery_note(design: Design) -> list[Markup | None]:
    """A delivery note: the goods in a parcel."""
    random = design.random
    names = design.texts.different("columns", 6)
    columns = [
        Column("small", names[0]),
        Column("code", names[1]),
        Column("thing", names[2]),
        Column("quantity", names[3]),
        Column(random.one("date", "tick", "place"), names[4]),
    ]
    table = tables.table(
        design,
        columns[random.randint(0, 1) :],
        random.randint(4, 22),
        TableOptions(empty=random.one(0, 0.2), groups=random.one(0, 0.1)),
        caption=False,
    )
    boxes = (
        facts.boxed_form(design, random.randint(1, 3))
        if random.chance(0.4)
        else document_facts(design)
    )
    title = text.heading(design, 1, design.texts.exact("titles"))
    body = main(
        title,
        two_addresses(design),
        boxes,
        table,
        text.paragraph(design, 1, 2),
        facts.signatures(design),
    )
    return [running.running_head(design, 0.3), body, running.running_foot(design)]


def price_list(design: Design) -> list[Markup | None]:
    """Goods and prices, in one table or many."""
    random = design.random
    parts: list[Content] = [
        text.heading(design, 1),
        text.paragraph(design, 1, 2) if random.chance(0.6) else None,
    ]
    kinds = random.one(
        ["code", "item", "price"],
        ["thing", "price", "price"],
        ["item", "unit", "price", "price"],
        ["thing", "price"],
    )
    titles = design.texts.different("columns", len(kinds))
    columns = [Column(kind, title) for kind, title in zip(kinds, titles, strict=True)]
    options = TableOptions(
        has_heads=random.chance(0.8),
        empty=random.one(0, 0.06),
        second=random.one(0, 0, 0.25),
    )
    is_one = random.chance(0.3)
    for _ in range(1 if is_one else random.randint(2, 5)):
        rows = random.randint(12, 40) if is_one else random.randint(2, 9)
        parts += [
            None if is_one else text.heading(design, 2, design.texts.title(1, 3)),
            tables.table(design, columns, rows, options, caption=False),
        ]
    parts.append(layout.table_note(design) if random.chance(0.5) else None)
    inner = joined(*parts)
    if not is_one and len(kinds) == 2 and random.chance(0.5):
        inner = joined(parts[0], layout.columns(design, *parts[1:], count=2))
    return layout.page(design, inner, head=0.3)


def statement(design: Design) -> list[Markup | None]:
    """A bank statement: the bookings of an account."""
    random = design.random
    names = design.texts.different("columns", 6)
    columns = [
        Column("date", names[0]),
        Column(random.one("clause", "phrase"), names[1]),
        *[Column("amount", name) for name in names[2 : random.one(3, 4, 5)]],
    ]
    options = TableOptions(
        empty=random.one(0, 0.3), second=random.one(0, 0, 0.5), sums=random.one(0, 1, 2)
    )
    above = layout.beside(design, text.address(design), document_facts(design))
    cards = facts.figures_on_cards(design) if random.chance(0.3) else None
    body = main(
        letterhead(design),
        above,
        text.heading(design, random.one(1, 2)),
        cards,
        tables.table(design, columns, random.randint(6, 26), options, caption=False),
        layout.table_note(design),
    )
    return [body, running.running_foot(design, 0.9)]


def payslip(design: Design) -> list[Markup | None]:
    """A payslip, with boxes and tables."""
    random = design.random
    top = (
        facts.boxed_form(design, random.randint(1, 3))
        if random.chance(0.5)
        else layout.beside(design, tables.pairs(design), tables.pairs(design))
    )
    names = design.texts.different("columns", 5)
    columns = [
        Column("code", names[0]),
        Column("phrase", names[1]),
        *[Column("amount", name) for name in names[2:]],
    ]
    pay = tables.table(
        design,
        columns[random.randint(0, 1) :],
        random.randint(5, 16),
        TableOptions(empty=random.one(0.1, 0.4), sums=2),
        caption=False,
    )
    two = (
        layout.beside(
            design,
            tables.any_table(design, True, 4),
            tables.any_table(design, True, 4),
            shares=(1, 1),
        )
        if random.chance(0.5)
        else None
    )
    body = main(
        text.heading(design, 1),
        text.address(design),
        top,
        pay,
        two,
        facts.total_line(design),
        text.paragraph(design, 1, 1, class_="fine"),
    )
    return [body, running.running_foot(design, 0.4)]


def quotation(design: Design) -> list[Markup | None]:
    """A letter with a table of what something would cost."""
    random = design.random
    head = letterhead(design)
    subject = text.heading(design, random.one(1, 2), design.texts.title(2, 7))
    start = [
        text.address(design),
        text.text_line(
            f"{design.texts.value('place')}, {design.texts.date()}",
            style=random.one("", "text-align: right"),
        ),
    ]
    greeting = text.text_line(
        design.texts.exact("greeting"), style="margin: 1em 0 .6em"
    )
    end = text.text_line(
        lines(design.texts.exact("closing"), design.texts.person()),
        style="margin-top: 1em",
    )
    body = main(
        head,
        *start,
        subject,
        greeting,
        text.paragraph(design, 1, 3),
        goods(design, 2, 7),
        text.paragraph(design, 1, 2),
        text.items(design, 2, 5),
        text.paragraph(design, 1, 2),
        end,
    )
    return [body, running.running_foot(design)]


def product_sheet(design: Design) -> list[Markup | None]:
    """A data sheet: praise of a product, and its data."""
    random = design.random
    shown = pictures.picture(design, random.randint(140, 260))
    words = joined(
        text.heading(design, 1, design.texts.title(1, 4)),
        text.paragraph(design, 1, 2, class_="lead"),
        text.items(design, 3, 6, 8),
    )
    top = (
        layout.beside(design, words, shown)
        if random.chance(0.7)
        else joined(text.heading(design, 1), shown, text.items(design, 3, 5))
    )
    body = main(
        top,
        text.heading(design, 2),
        tables.pairs(
            design, design.texts.different("columns", random.randint(5, 12)), "quantity"
        ),
        layout.figures_beside(design) if random.chance(0.4) else None,
        text.paragraph(design, 1, 3),
        span(),
    )
    return [body, running.running_foot(design)]


FAMILIES = {
    "invoice": Family(invoice),
    "receipt": Family(receipt, _SLIPS, (11, 15)),
    "delivery note": Family(delivery_note),
    "price list": Family(price_list),
    "statement": Family(statement),
    "payslip": Family(payslip),
    "offer": Family(quotation),
    "product sheet": Family(product_sheet),
}
