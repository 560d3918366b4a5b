"""Accounts of firms, funds and taxes: years side by side, steps to the right, double rules."""

from collections.abc import Sequence

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
from vit_str.synthesis.pages.parts import (
    facts,
    fronts,
    grids,
    layout,
    pictures,
    running,
    tables,
    text,
)
from vit_str.synthesis.pages.parts.tables import Cell, Row


def _figure(design: Design, highest: int, has_sign: bool = False) -> Content:
    """A number of an account: some in brackets, some a dash, some behind a sign."""
    random = design.random
    chance = random.random()
    number = design.texts.number(random.randint(1, highest))
    if chance < 0.06:
        return random.one("–", "—", "-")
    amount = f"({number})" if chance < 0.2 else number
    return grids.with_sign(design, amount) if has_sign else amount


def _account(design: Design, years: int, has_note: bool, sections: int) -> list[Row]:
    """Lines in steps to the right under names of sections, with sums; some of them have a sign."""
    random = design.random
    texts = design.texts
    highest = random.one(999, 9999, 999999)
    has_signs = random.chance(0.35)
    is_over = random.chance(0.5)
    columns = 1 + has_note + years
    body: list[Row] = []

    def line(name: str, step: int, is_sum: bool = False) -> Row:
        look = "sum" if is_sum else f"step{step}" if step else ""
        note = [
            Cell("" if is_sum or random.chance(0.6) else str(random.randint(1, 30)))
        ]
        signed = has_signs and (is_sum or random.chance(0.1))
        figures = [
            Cell(
                _figure(design, highest, signed),
                class_="sum right" if is_sum else "right",
            )
            for _ in range(years)
        ]
        return [Cell(name, class_=look), *note * has_note, *figures]

    for _ in range(sections):
        name = texts.phrase(1, 3)
        if is_over:
            body.append(grids.group_row(name, columns))
        else:
            empty = [Cell("") for _ in range(columns - 1)]
            body.append([Cell(name, is_head=True), *empty])
        for _ in range(random.randint(1, 3)):
            steps = random.one(1, 1, 2)
            if steps == 2:
                body.append(
                    [
                        Cell(texts.phrase(1, 4) + ":", class_="step1"),
                        *empty_cells(columns),
                    ]
                )
            body += [
                line(texts.phrase(1, 7), steps) for _ in range(random.randint(1, 3))
            ]
        body.append(line(f"{texts.exact('totals')} {texts.noun()}", 0, is_sum=True))
    return body


def empty_cells(columns: int) -> Row:
    """Cells without text for all columns but the first one."""
    return [Cell("") for _ in range(columns - 1)]


def _year_heads(design: Design, years: int, has_note: bool) -> list[Row]:
    """Years, or days of them; some under what they are of, some above the unit."""
    random = design.random
    texts = design.texts
    names: list[Content] = [str(texts.year - n) for n in range(years)]
    if random.chance(0.3):
        names = [
            lines(texts.date(), random.one("'000", "m", "€", "(1)"))
            for _ in range(years)
        ]
    note = [Cell(texts.exact("note"), is_head=True)]
    first = [Cell(random.one("", texts.phrase(1, 3)), is_head=True), *note * has_note]
    row = [*first, *grids.head_row(*names)]
    if random.chance(0.5):
        return [row]
    over = Cell(texts.phrase(2, 4), columns=years, is_head=True)
    above = [[*[Cell("", is_head=True)] * len(first), over]]
    return [*above, row]


def balance(design: Design) -> list[Markup | None]:
    """A balance sheet: assets and debts below each other, or in two tables side by side."""
    random = design.random
    years = random.one(2, 2, 3, 4)
    is_beside = design.style.width > 900 or random.chance(0.3)
    years = 2 if is_beside else years
    has_note = not is_beside and random.chance(0.4)
    name = grids.look(design, random.one("none", "none", "none", "zebra", "rows"))
    sides = "l" + "c" * has_note + "r" * years
    heads = _year_heads(design, years, has_note)

    def part(sections: int) -> Markup:
        body = _account(design, years, has_note, sections)
        widths = (random.uniform(3, 5), *[0.6] * has_note, *[1.0] * years)
        return grids.grid(design, heads, body, sides, name, widths)

    middle = random.one("", "text-align: center")
    top = joined(
        text.heading(design, 1, design.texts.company(), style=middle),
        text.heading(design, 2, design.texts.title(2, 6), style=middle),
        text.text_line(design.texts.date(), style=middle)
        if random.chance(0.6)
        else None,
    )
    if is_beside:
        body: Content = layout.beside(design, part(2), part(2), shares=(1, 1))
    else:
        body = part(random.randint(2, 4))
    return [
        running.running_head(design, 0.4),
        main(top, body, layout.table_note(design) if random.chance(0.4) else None),
        running.running_foot(design),
    ]


def results_by_period(design: Design) -> list[Markup | None]:
    """Quarters and years with changes in percent, under names over several columns."""
    random = design.random
    texts = design.texts
    groups = random.randint(2, 3)
    wide = random.one(2, 3, 3)
    highest = random.one(999, 99999)
    years = [str(texts.year - n) for n in range(2)] + [random.one("%", "Δ", "+/-")]
    above = [
        Cell(random.one("", texts.phrase(1, 2)), rows=random.one(1, 2), is_head=True)
    ]
    above += [
        Cell(texts.phrase(1, 3), columns=wide, is_head=True) for _ in range(groups)
    ]
    below = grids.head_row(*(years[:wide] * groups))
    if above[0].rows == 1:
        below.insert(0, Cell("", is_head=True))
    columns = 1 + groups * wide
    body: list[Row] = []
    for _ in range(random.randint(8, 20)):
        if random.chance(0.15):
            body.append(grids.group_row(texts.phrase(1, 3), columns))
        row: Row = [Cell(texts.phrase(1, 5), class_=random.one("", "", "step1"))]
        for _ in range(groups):
            row += [Cell(_figure(design, highest)) for _ in range(2)]
            row += [Cell(texts.value("signed"))] * (wide == 3)
        if random.chance(0.15):
            row = [Cell(cell.content, class_="sum") for cell in row]
        body.append(row)
    table = grids.grid(design, [above, below], body, "l" + "r" * (columns - 1))
    return [
        running.running_head(design, 0.5),
        main(
            text.heading(design, 1),
            text.paragraph(design, 1, 3),
            text.heading(design, 2),
            table,
            layout.table_note(design),
            text.paragraph(design, 1, 4),
        ),
        running.running_foot(design),
    ]


def tax_lines(design: Design) -> list[Markup | None]:
    """A form of a tax office: numbered lines of text, again their numbers, boxes for amounts."""
    random = design.random
    texts = design.texts
    line = random.one("1px solid #222", "0.6px solid #000")
    filled = random.one(0.0, 0.5, 0.9)
    has_second = random.chance(0.4)
    has_dots = random.chance(0.5)
    number = 0
    parts: list[Content] = []
    design.added_css.append(
        f".amount {{ border-left: {line}; border-bottom: {line}; min-width: 7em }}"
        f" .again {{ border-left: {line}; border-bottom: {line}; background: #e8e8e8 }}"
        f" .taxes {{ border-top: 2px solid #111 }}"
    )
    name = grids.look(design, "none", tight=True)
    for part in range(1, random.randint(2, 4) + 1):
        title = f"{texts.exact('chapter')} {part} {texts.title(1, 5)}"
        parts.append(text.heading(design, 2, title, style=random.one("", _BLACK)))
        body: list[Row] = []
        for _ in range(random.randint(3, 9)):
            number += 1
            said: Content = texts.sentence(3, random.one(8, 18))[:-1]
            if has_dots:
                dots = span(" ." * random.randint(3, 12), aria_hidden="true")
                said = joined(said, dots)
            mark = f"{number}{random.one('', '', '', 'a', 'b')}"
            amount = (
                texts.number(random.randint(0, 90000)) if random.chance(filled) else ""
            )
            row = [Cell(element("b", mark)), Cell(said)]
            row += [
                Cell(mark, class_="again center"),
                Cell(amount, class_="amount right"),
            ]
            if has_second:
                is_inner = random.chance(0.3)
                spare = [Cell("", class_="again"), Cell("", class_="amount")]
                row = [*row, *spare] if is_inner else [*row[:2], *spare, *row[2:]]
            body.append(row)
        sides = "ll" + "cr" * (1 + has_second)
        widths = (0.4, 8, *[0.5, 1.6] * (1 + has_second))
        parts.append(grids.grid(design, [], body, sides, f"{name} taxes", widths))
    who = facts.boxed_form(design, random.randint(1, 3)) if random.chance(0.7) else None
    return [
        running.running_head(design, 0.3),
        main(text.heading(design, 1), who, *parts, facts.signatures(design, 2)),
        running.running_foot(design, 0.7),
    ]


_BLACK = "background: #111; color: #fff; padding: .1em .4em"


def account_by_days(design: Design) -> list[Markup | None]:
    """Bookings under the days they were made on, of several lines, with sums of the days."""
    random = design.random
    texts = design.texts
    is_named = random.chance(0.6)
    has_time = not is_named or random.chance(0.4)
    has_balance = random.chance(0.5)
    columns = 2 + has_time + has_balance
    body: list[Row] = []
    for _ in range(random.randint(3, 8)):
        day = (
            f"{texts.exact('days')}, {texts.date()}"
            if random.chance(0.5)
            else texts.date()
        )
        if is_named:
            body.append(grids.group_row(day, columns))
        for _ in range(random.randint(1, 4)):
            booked = texts.exact("bookings")
            who = random.one(texts.company(), texts.person())
            below = random.one(
                who, f"{who} · {texts.value('code')}", texts.value("long code")
            )
            said = joined(element("b", booked), div(below, class_="sub"))
            if random.chance(0.3):
                said = joined(
                    who, div(lines(booked, texts.value("long code")), class_="sub")
                )
            sign = random.one("+", "-", "−")
            amount = f"{sign}{texts.number(random.random() * 900, 2)}"
            when = texts.time() if is_named else texts.date()
            row = [Cell(when, class_="exact")] * has_time
            row += [Cell(said), Cell(amount, class_="exact")]
            row += [
                Cell(texts.number(random.random() * 5000, 2), class_="exact")
            ] * has_balance
            body.append(row)
    name = grids.look(design, random.one("none", "none", "rows", "frame rows"))
    sides = "l" * has_time + "l" + "r" * (1 + has_balance)
    widths = (*[0.8] * has_time, 5, *[1.2] * (1 + has_balance))
    heads = [grids.head_row(*texts.different("columns", columns))]
    table = grids.grid(
        design, heads if random.chance(0.6) else [], body, sides, name, widths
    )
    cards = facts.figures_on_cards(design, 3) if random.chance(0.4) else None
    return [
        running.running_head(design, 0.3),
        main(fronts.front(design), fronts.known(design, 3, 5), cards, table),
        running.running_foot(design, 0.8),
    ]


def loan_plan(design: Design) -> list[Markup | None]:
    """Payments of a loan by months: numbers close to each other, years as names of groups."""
    random = design.random
    texts = design.texts
    count = random.randint(3, 5)
    tight = random.chance(0.7)
    has_years = random.chance(0.5)
    across = random.one(1, 1, 2)
    name = grids.look(
        design, random.one("none", "none", "zebra", "all", "head", "columns"), tight
    )
    names = texts.different("columns", count + 1)
    months = [month[:3] for month in texts.all_labels("months")]
    number = 0

    def plan(rows: int) -> Markup:
        nonlocal number
        body: list[Row] = []
        for place in range(rows):
            if has_years and place % 12 == 0:
                body.append(grids.group_row(str(texts.year + place // 12), count + 1))
            number += 1
            first = months[place % 12] if has_years else str(number)
            figures = [texts.number(random.random() * 9000, 2) for _ in range(count)]
            body.append([Cell(first), *map(Cell, figures)])
        return grids.grid(
            design, [grids.head_row(*names)], body, "l" + "r" * count, name
        )

    rows = random.randint(10, 30)
    body = plan(rows)
    if across == 2:
        body = layout.beside(design, body, plan(rows), shares=(1, 1))
    return [
        main(
            text.heading(design, 1),
            fronts.known(design, 4, 8),
            body,
            layout.table_note(design),
        ),
        running.running_foot(design),
    ]


def quotes(design: Design) -> list[Markup | None]:
    """Prices of shares in small type: narrow tables in columns, under names of places."""
    random = design.random
    texts = design.texts
    kinds = random.one(
        ["decimal", "signed"],
        ["decimal", "decimal", "signed"],
        ["decimal", "percent", "integer"],
    )
    across = random.one(2, 3)
    name = grids.look(design, random.one("none", "none", "rows", "zebra"), tight=True)
    names = texts.different("columns", len(kinds) + 1)
    has_heads = random.chance(0.6)

    def block() -> Markup:
        body = [
            [Cell(texts.phrase(1, 2)), *grids.values_row(design, *kinds)]
            for _ in range(random.randint(4, 14))
        ]
        heads = [grids.head_row(*names)] if has_heads else []
        sides = "l" + "r" * len(kinds)
        table = grids.grid(design, heads, body, sides, name)
        return div(text.heading(design, 3), table, style="break-inside: avoid")

    blocks = [block() for _ in range(across * random.randint(2, 3))]
    return [
        running.running_head(design, 0.6),
        main(text.heading(design, 1), layout.columns(design, *blocks, count=across)),
        running.running_foot(design, 0.5),
    ]


def budget(design: Design) -> list[Markup | None]:
    """Kinds of costs over several rows, planned and spent, bars of what is used."""
    random = design.random
    texts = design.texts
    has_bar = random.chance(0.4)
    is_tall = random.chance(0.7)
    count = random.randint(2, 4)
    columns = 2 + count + has_bar
    body: list[Row] = []
    for _ in range(random.randint(2, 5)):
        rows = random.randint(2, 4)
        group = texts.phrase(1, 2)
        for place in range(rows):
            row: Row = []
            if is_tall and place == 0:
                row.append(Cell(group, rows=rows + 1, is_head=True))
            if not is_tall:
                row.append(Cell(group if place == 0 else "", is_head=True))
            row.append(Cell(texts.phrase(1, 4)))
            row += [Cell(texts.value("amount")) for _ in range(count)]
            row += [Cell(_bar(design))] * has_bar
            body.append(row)
        first = [] if is_tall else [Cell("", is_head=True)]
        sums = [Cell(texts.value("amount"), class_="sum") for _ in range(count)]
        last = [Cell("", class_="sum")] * has_bar
        body.append([*first, Cell(texts.exact("totals"), class_="sum"), *sums, *last])
    heads = [grids.head_row(*texts.different("columns", columns))]
    table = grids.grid(design, heads, body, "ll" + "r" * count + "l" * has_bar)
    return [
        running.running_head(design, 0.3),
        main(
            text.heading(design, 1),
            text.paragraph(design, 1, 2),
            facts.figures_on_cards(design) if random.chance(0.3) else None,
            table,
        ),
        running.running_foot(design, 0.6),
    ]


def _bar(design: Design) -> Markup:
    """A bar of a share: no text."""
    inner = div(
        style=f"height: .7em; width: {design.random.randint(5, 100)}%; "
        f"background: {design.style.color}"
    )
    return div(inner, style="background: #ddd; width: 6em")


def fund_sheet(design: Design) -> list[Markup | None]:
    """All of a fund on a page: small tables under names, charts, risks, in two columns."""
    random = design.random
    texts = design.texts
    name = grids.look(design, random.one("rows", "none", "zebra", "head"), tight=True)

    def small(kinds: Sequence[str], has_heads: bool) -> Markup:
        body = [
            [Cell(texts.phrase(1, 4)), *grids.values_row(design, *kinds)]
            for _ in range(random.randint(3, 9))
        ]
        heads = [
            grids.head_row(*texts.different("columns", 1 + len(kinds)))
        ] * has_heads
        return grids.grid(design, heads, body, "l" + "r" * len(kinds), name)

    def by_years() -> Markup:
        years = random.randint(3, 5)
        heads = grids.head_row("", *(str(texts.year - n) for n in range(years)))
        body = [
            [Cell(texts.phrase(1, 2)), *grids.values_row(design, *["signed"] * years)]
            for _ in range(2)
        ]
        return grids.grid(design, [heads], body, "l" + "r" * years, name)

    ways: list[Maker] = [
        lambda: small(["percent"], random.chance(0.4)),
        lambda: small(["percent"], False),
        lambda: small(["decimal", "decimal"], True),
        by_years,
        lambda: text.paragraph(design, 1, 3),
        lambda: pictures.bar_chart(design, random.randint(100, 150)),
        lambda: tables.pairs(design),
    ]

    def half() -> Markup:
        chosen = random.sample(ways, random.randint(2, 4))
        return joined(*(joined(text.heading(design, 2), make()) for make in chosen))

    shares = random.one((1, 1), (3, 2), (2, 3))
    return [
        main(
            fronts.front(design, texts.title(2, 6)),
            text.paragraph(design, 1, 2) if random.chance(0.4) else None,
            layout.beside(design, half(), half(), shares=shares),
            text.paragraph(design, 1, 2, class_="fine"),
        ),
        running.running_foot(design),
    ]


FAMILIES = {
    "balance": Family(balance, ((794, 1123), (816, 1056), (1123, 794)), (9.5, 14)),
    "results by period": Family(results_by_period, (), (9.5, 13)),
    "tax lines": Family(tax_lines, (), (9.5, 13)),
    "account by days": Family(account_by_days, (), (10, 14)),
    "loan plan": Family(loan_plan, (), (9.5, 13)),
    "quotes": Family(quotes, (), (9, 12)),
    "budget": Family(budget, (), (9.5, 14)),
    "fund sheet": Family(fund_sheet, (), (9.5, 13)),
}
