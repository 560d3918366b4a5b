"""Findings, food, accounts, bills, taxes, policies, parts: figures with what they are of."""

from markupsafe import Markup

from vit_str.synthesis.pages.design import Design, main
from vit_str.synthesis.pages.families.family import Family
from vit_str.synthesis.pages.families.trade import document_facts, letterhead
from vit_str.synthesis.pages.html import Content, Maker, div, element, joined, lines
from vit_str.synthesis.pages.parts import facts, layout, pictures, running, tables, text
from vit_str.synthesis.pages.parts.tables import Cell, Column, Row, TableOptions

_PACKS = ((400, 560), (480, 480), (560, 400), (360, 640))


def _head(*titles: str) -> list[Row]:
    return [[Cell(title, is_head=True) for title in titles]]


def _group(name: str, columns: int) -> Row:
    return [Cell(name, columns=columns, is_head=True, class_="group")]


def _pool(design: Design, kind: str, low: int, high: int) -> list[str]:
    """Some different labels of a kind, some of words that no list has."""
    texts = design.texts
    found = design.random.some(texts.all_labels(kind), low, high)
    return [texts.phrase(1, 3) if design.random.chance(0.15) else one for one in found]


def _finding(design: Design, kind: str, unit: str, dash: str) -> Content:
    """A cell in one column of findings."""
    random = design.random
    low = random.random() * 50
    number = design.texts.number(low, random.one(0, 1, 2))
    if kind == "unit":
        return random.one(unit, "%", "U/l", "g/dl", "10^9/l")
    if kind == "value with unit":
        return f"{number} {unit}"
    if kind == "usual":
        whole = f"{number}{dash}{design.texts.number(low * 1.6 + 1, 1)}"
        return random.one(whole, whole, f"< {number}", f"({whole})")
    if kind == "mark":
        return random.one("", "", "", "+", "-", "H", "L", "↑", "*")
    return element("b", number) if random.chance(0.15) else number


def lab_results(design: Design) -> list[Markup | None]:
    """Results of a blood test: values, units, usual ranges, marks of what is not usual."""
    random = design.random
    texts = design.texts
    kinds = random.one(
        ["name", "value", "unit", "usual"],
        ["name", "value", "unit", "usual", "mark"],
        ["name", "usual", "value"],
        ["name", "mark", "value", "unit", "usual", "before"],
        ["name", "value with unit", "usual"],
    )
    dash = random.one("–", " - ", " – ")
    unit = random.one("mg/dl", "mmol/l", "g/l", "µmol/l", "U/l")

    def rows(low: int, high: int) -> list[Row]:
        found = []
        for name in _pool(design, "findings", low, high):
            below = (
                div(texts.phrase(1, 4), class_="sub") if random.chance(0.1) else None
            )
            rest = [Cell(_finding(design, kind, unit, dash)) for kind in kinds[1:]]
            found.append([Cell(joined(name, below)), *rest])
        return found

    columns = [Column("thing"), *[Column("decimal") for _ in kinds[1:]]]
    heads = _head(*texts.different("columns", len(kinds)))
    if random.chance(0.5):
        body: list[Row] = []
        for _ in range(random.randint(2, 5)):
            body += [_group(texts.phrase(1, 3), len(kinds)), *rows(2, 5)]
        shown: Content = tables.drawn(design, heads, body, columns)
    else:
        parts = [tables.drawn(design, heads, rows(4, 14), columns)]
        for _ in range(random.one(0, 0, 1, 2)):
            again = heads if random.chance(0.5) else []
            name = text.heading(design, 2)
            parts += [name, tables.drawn(design, again, rows(3, 6), columns)]
        shown = joined(*parts)
    comment = joined(text.heading(design, 2), text.paragraph(design, 1, 3))
    return [
        running.running_head(design, 0.2),
        main(
            letterhead(design) if random.chance(0.6) else None,
            text.heading(design, 1) if random.chance(0.7) else None,
            _known(design),
            shown,
            layout.table_note(design) if random.chance(0.4) else None,
            comment if random.chance(0.4) else None,
        ),
        running.running_foot(design),
    ]


def _known(design: Design) -> Markup:
    """Who and when: facts in one of many ways, or tables side by side."""
    options: list[Maker] = [
        lambda: document_facts(design),
        lambda: facts.fields(design, design.random.randint(3, 8)),
        lambda: layout.beside(
            design, tables.pairs(design), tables.pairs(design), shares=(1, 1)
        ),
        lambda: layout.beside(design, text.address(design), document_facts(design)),
        lambda: facts.boxed_form(design, design.random.randint(1, 3)),
    ]
    return design.random.choice(options)()


def nutrition(design: Design) -> list[Markup | None]:
    """Nutrition facts: a table by weight and portion, ingredients, a box on a pack."""
    random = design.random
    texts = design.texts
    count = random.one(1, 1, 2, 3)
    titles = texts.different("columns", count + 1)
    titles[1] = random.one(f"{titles[1]} 100 g", "100 g", "100 ml", titles[1])
    units = ("g", "g", "mg", "µg", "kJ", "kcal")
    body: list[Row] = []
    for number, name in enumerate(_pool(design, "nutrition", 4, 12)):
        row = [Cell(name)]
        for _ in range(count):
            value = texts.number(random.random() * 50, 1)
            amount: Content = f"{value} {random.choice(units)}"
            if number == 0:
                energy = random.randint(100, 2200)
                amount = f"{energy} kJ / {energy // 4} kcal"
                if random.chance(0.5):
                    amount = lines(f"{energy} kJ", f"{energy // 4} kcal")
            share = f"{random.randint(0, 90)} %"
            row.append(Cell(share if count == 3 and len(row) == 3 else amount))
        body.append(row)
    columns = [Column("thing"), *[Column("quantity") for _ in range(count)]]
    heads = _head(random.one("", titles[0]), *titles[1:])
    table = tables.drawn(design, heads if random.chance(0.8) else [], body, columns)
    title = text.heading(design, random.one(1, 2)) if random.chance(0.7) else None
    box = div(title, table, layout.table_note(design), class_="flow")
    if random.chance(0.4):
        box = div(title, table, class_="flow", style="border: 2px solid; padding: .5em")
    words = text.paragraph(design, 1, 3)
    if random.chance(0.5):
        label = element("b", texts.phrase(1, 1) + ":")
        names = ", ".join(random.several(4, 20, texts.noun))
        words = element("p", label, " ", names + ".", class_="plain")
    contact = facts.contact(design) if random.chance(0.5) else None
    if design.style.width > 600 and random.chance(0.5):
        return [main(layout.beside(design, div(words, contact), box))]
    parts = [box, words] if random.chance(0.5) else [words, box]
    return [main(*parts, contact)]


def account(design: Design) -> list[Markup | None]:
    """Bookings with what they were for in one to three lines, and what is left after each."""
    random = design.random
    texts = design.texts
    way = random.one("one", "two", "two", "signed")
    has_balance = random.chance(0.75)
    dates = random.one(1, 1, 2)
    left = random.uniform(100, 9000)
    look = random.one("lines", "sub", "short", "lines")
    is_bold = random.chance(0.4)

    def description() -> Content:
        kind = texts.exact("bookings")
        name: Content = element("b", kind) if is_bold else kind
        more = random.one(texts.company(), texts.person(), texts.value("long code"))
        if look == "short":
            return joined(name, " ", more)
        if look == "sub":
            return joined(name, div(more, class_="sub"))
        third = [texts.value("code")] if random.chance(0.3) else []
        return lines(name, more, *third)

    body: list[Row] = []
    for _ in range(random.randint(4, 22)):
        change = round(random.uniform(-300, 400), 2)
        left += change
        amount = texts.number(abs(change), 2)
        row = [Cell(texts.date()) for _ in range(dates)] + [Cell(description())]
        if way == "two":
            both = [Cell(""), Cell(amount)] if change > 0 else [Cell(amount), Cell("")]
            row += both
        elif way == "signed":
            row.append(Cell(("+" if change > 0 else "-") + amount))
        else:
            row.append(Cell(amount + random.one("", " -", " H", " S")))
        body.append([*row, Cell(texts.number(left, 2))] if has_balance else row)
    count = len(body[0])
    for place in random.one((), (0,), (0, len(body) + 1)):
        name = texts.exact("bookings")
        row = [Cell("", class_="sum") for _ in range(count)]
        row[random.one(0, dates)] = Cell(name, class_="sum")
        row[-1] = Cell(texts.number(left, 2), class_="sum")
        body.insert(place, row)
    columns = [Column("date") for _ in range(dates)] + [Column("thing")]
    columns += [Column("amount") for _ in range(count - dates - 1)]
    heads = _head(*texts.different("columns", count))
    table = tables.drawn(design, heads if random.chance(0.9) else [], body, columns)
    return [
        running.running_head(design, 0.3),
        main(
            letterhead(design) if random.chance(0.6) else None,
            text.heading(design, 1, texts.exact("titles")),
            _known(design) if random.chance(0.7) else None,
            table,
            tables.pairs(design, _pool(design, "bookings", 2, 4), "price")
            if random.chance(0.3)
            else None,
            layout.table_note(design) if random.chance(0.4) else None,
        ),
        running.running_foot(design, 0.8),
    ]


def utility_bill(design: Design) -> list[Markup | None]:
    """A bill for energy or water: boxes, readings of meters, charts, sums, slips to pay."""
    random = design.random
    texts = design.texts
    names = _pool(design, "meters", 5, 6)
    columns = [Column("phrase", names[0]), *[Column("integer", n) for n in names[1:4]]]
    columns += [Column("unit", texts.label("columns"))] if random.chance(0.4) else []
    costs = [Column("phrase", texts.label("columns")), Column("quantity", names[4])]
    costs += [
        Column("decimal", texts.label("columns")),
        Column("price", names[-1] + " "),
    ]

    def box() -> Markup:
        look = random.one("box", "card")
        inner = random.one(
            joined(text.heading(design, 3), text.paragraph(design, 1, 2)),
            facts.total_line(design),
            tables.pairs(design, _pool(design, "meters", 3, 5), "quantity"),
            pictures.bar_chart(design, 110),
            text.text_line(lines(texts.phrase(1, 3), element("b", texts.price(900)))),
        )
        return div(inner, class_=look)

    parts: list[Maker] = [
        lambda: layout.beside(design, box(), box(), shares=(1, 1)),
        lambda: facts.figures_on_cards(design, 3),
        lambda: tables.table(
            design,
            columns,
            random.randint(2, 4),
            TableOptions(lines=0.2),
            caption=False,
        ),
        lambda: pictures.figure(design, height=random.randint(90, 160)),
        lambda: tables.table(
            design,
            costs,
            random.randint(3, 9),
            TableOptions(
                sums=random.randint(1, 4),
                second=random.one(0, 0.4),
                groups=random.one(0, 0.2),
                empty=random.one(0, 0.1),
            ),
            caption=False,
        ),
        lambda: tables.pairs(design, _pool(design, "meters", 3, 8), "quantity", sums=1),
    ]
    body: list[Content] = []
    for make in random.some(parts, 2, 4):
        body.append(text.heading(design, 2) if random.chance(0.5) else None)
        body.append(make())
    slip = (
        facts.boxed_form(design, random.randint(1, 3)) if random.chance(0.3) else None
    )
    return [
        main(
            letterhead(design),
            _known(design),
            text.heading(design, 1),
            text.paragraph(design, 1, 2) if random.chance(0.5) else None,
            *body,
            slip,
        ),
        running.running_foot(design, 0.8),
    ]


def tax_assessment(design: Design) -> list[Markup | None]:
    """Sums that lead to a tax: lines with amounts in steps, reasons below."""
    random = design.random
    texts = design.texts
    count = random.one(1, 1, 2, 3)
    has_numbers = random.chance(0.35)
    signs = random.one(("", ""), ("-", "="), ("./.", ""))
    columns = [Column("phrase"), *[Column("amount") for _ in range(count)]]
    body: list[Row] = []
    for number in range(random.randint(5, 18)):
        name = random.one(
            texts.exact("insured"), texts.phrase(2, 6), texts.value("clause")
        )
        is_sum = random.chance(0.15)
        class_ = "sum" if is_sum else ""
        mark = f"{signs[is_sum]} " if random.chance(0.3) and signs[is_sum] else ""
        cells = [Cell("", class_=class_) for _ in range(count)]
        place = count - 1 if is_sum else random.randrange(count)
        cells[place] = Cell(texts.price(90000), class_=class_)
        first = [Cell(str(number + 1))] if has_numbers else []
        body.append([*first, Cell(mark + name, class_=class_), *cells])
    if has_numbers:
        columns = [Column("small"), *columns]
    heads = _head(*texts.different("columns", len(columns)))
    table = tables.drawn(design, heads if random.chance(0.5) else [], body, columns)
    reasons = random.several(1, 4, lambda: text.paragraph(design, 1, 4))
    again = None
    if random.chance(0.4):
        again = joined(
            text.heading(design, 2),
            tables.pairs(design, _pool(design, "insured", 2, 5), "price", sums=1),
        )
    return [
        main(
            letterhead(design) if random.chance(0.6) else None,
            layout.beside(design, text.address(design), document_facts(design)),
            text.heading(design, 1),
            text.paragraph(design, 1, 2) if random.chance(0.6) else None,
            table,
            again,
            text.heading(design, 2) if random.chance(0.7) else None,
            *reasons,
        ),
        running.running_foot(design, 0.7),
    ]


def policy(design: Design) -> list[Markup | None]:
    """An insurance policy: facts, sums by risk, clauses."""
    random = design.random
    texts = design.texts

    def risks() -> Markup:
        kinds = random.one(
            ["amount"], ["amount", "price"], ["amount", "price", "percent"]
        )
        names = texts.different("columns", len(kinds) + 1)
        tick = random.chance(0.25)
        body: list[Row] = []
        for name in _pool(design, "insured", 3, 9):
            below = (
                div(texts.sentence(3, 10), class_="sub")
                if random.chance(0.25)
                else None
            )
            row = [Cell(joined(name, below)), *(Cell(texts.value(k)) for k in kinds)]
            body.append([*row, Cell(random.one("✓", "–"))] if tick else row)
        names += [texts.label("columns")] if tick else []
        columns = [Column("thing"), *[Column(kind) for kind in kinds]]
        columns += [Column("tick")] if tick else []
        return tables.drawn(design, _head(*names), body, columns)

    options: list[Maker] = [
        lambda: tables.pairs(design, _pool(design, "insured", 4, 9)),
        lambda: facts.fields(design, labels=_pool(design, "insured", 4, 8)),
        risks,
        lambda: text.paragraph(design, 2, 4),
        lambda: text.items(design, 3, 6, 25),
        lambda: layout.beside(
            design,
            tables.pairs(design, _pool(design, "insured", 3, 6), "price"),
            text.address(design),
        ),
        risks,
    ]
    body: list[Content] = []
    for make in random.some(options, 3, 6):
        body.append(text.heading(design, 2) if random.chance(0.75) else None)
        body.append(make())
    sign = facts.signatures(design) if random.chance(0.5) else None
    return [
        running.running_head(design, 0.4),
        main(
            letterhead(design) if random.chance(0.4) else None,
            text.heading(design, 1),
            *body,
            sign,
        ),
        running.running_foot(design, 0.8),
    ]


def packing_list(design: Design) -> list[Markup | None]:
    """A packing list: boxes over several rows or as names of groups, weights, sums."""
    random = design.random
    texts = design.texts
    kinds = random.some(["code", "thing", "quantity", "small", "unit", "tick"], 3, 5)
    if "thing" not in kinds:
        kinds[0] = "thing"
    way = random.one("spans", "groups", "plain", "tables")
    columns = [Column(kind) for kind in kinds]
    names = texts.different("columns", len(kinds) + 1)

    def row() -> Row:
        return [Cell(texts.value(kind)) for kind in kinds]

    body: list[Row] = []
    parts: list[Content] = []
    for number in range(1, random.randint(3, 7)):
        some = random.several(1, 5, row)
        name = f"{names[0]} {number}"
        if way == "groups":
            body += [_group(f"{name} – {texts.value('quantity')}", len(kinds)), *some]
        elif way == "spans":
            some[0] = [Cell(name, rows=len(some)), *some[0]]
            body += some
        elif way == "tables":
            title = text.heading(design, 2, name)
            parts += [title, tables.drawn(design, _head(*names[1:]), some, columns)]
        else:
            body += some
    if way == "spans":
        columns = [Column("thing"), *columns]
    if way != "tables":
        heads = _head(*(names if way == "spans" else names[1:]))
        parts = [tables.drawn(design, heads, body, columns)]
    marks = facts.running_facts(design, 2, 5) if random.chance(0.5) else None
    return [
        main(
            text.heading(design, 1),
            _known(design),
            *parts,
            marks,
            facts.signatures(design) if random.chance(0.3) else None,
        ),
        running.running_foot(design, 0.5),
    ]


def parts_list(design: Design) -> list[Markup | None]:
    """A drawing of a thing taken apart with numbers, and what each number is."""
    random = design.random
    texts = design.texts
    count = random.randint(5, 24)
    height = random.randint(200, 420)
    shown = pictures.exploded(design, height, count)
    kinds = random.one(
        ["small", "thing"],
        ["small", "code", "thing", "quantity"],
        ["small", "thing", "small", "code"],
        ["small", "code", "thing", "small", "clause"],
    )
    columns = [Column(kind) for kind in kinds]
    options = random.one(0, 0, 0.3)

    def rows(first: int, last: int) -> list[Row]:
        found = []
        for number in range(first, last):
            row = [Cell(str(number)), *(Cell(texts.value(kind)) for kind in kinds[1:])]
            if random.chance(options):
                place = kinds.index("thing")
                more = div(texts.phrase(1, 4), class_="sub")
                row[place] = Cell(joined(row[place].content, more))
            found.append(row)
        return found

    heads = _head(*texts.different("columns", len(kinds)))
    heads = heads if random.chance(0.75) else []
    way = random.weighted({"below": 4, "beside": 2, "halves": 2, "levels": 1})
    if way == "beside":
        table = tables.drawn(design, heads, rows(1, count + 1), columns)
        body: Content = layout.beside(design, shown, table)
    elif way == "halves" and count > 5:
        half = count // 2
        two = [
            tables.drawn(design, heads, rows(1, half + 1), columns),
            tables.drawn(design, heads, rows(half + 1, count + 1), columns),
        ]
        body = joined(shown, layout.beside(design, *two, shares=(1, 1)))
    elif way == "levels":
        table = tables.drawn(design, *_levels(design))
        body = table if random.chance(0.6) else joined(shown, table)
    else:
        table = tables.drawn(design, heads, rows(1, count + 1), columns)
        body = joined(shown, table) if random.chance(0.8) else joined(table, shown)
    note = layout.table_note(design) if random.chance(0.3) else None
    title = text.heading(design, random.one(1, 2)) if random.chance(0.8) else None
    sign = (
        facts.boxed_form(design, random.randint(1, 3)) if random.chance(0.3) else None
    )
    return layout.page(design, title, body, note, sign, head=0.4)


def _levels(design: Design) -> tuple[list[Row], list[Row], list[Column]]:
    """Parts of parts, by numbers with points or by indents; heads, rows, columns."""
    random = design.random
    texts = design.texts
    kinds = ["code", "thing", "quantity", "price"][: random.randint(2, 4)]
    is_indented = random.chance(0.6)
    numbers = [0, 0, 0]
    body: list[Row] = []
    for _ in range(random.randint(5, 20)):
        level = random.choices((0, 1, 2), (2, 4, 3))[0] if body else 0
        numbers[level] += 1
        numbers[level + 1 :] = [0] * (2 - level)
        number = ".".join(str(max(1, one)) for one in numbers[: level + 1])
        name: Content = texts.phrase(1, 4)
        if is_indented:
            name = div(name, style=f"padding-left: {1.2 * level:.1f}em")
        rest = [Cell(texts.value(kind)) for kind in ("code", *kinds[2:])]
        body.append([Cell(number), Cell(name), *rest])
    columns = [Column("code"), Column("thing"), Column("code")]
    columns += [Column(kind) for kind in kinds[2:]]
    return _head(*texts.different("columns", len(columns))), body, columns


def _datum(design: Design) -> Content:
    """A value of a data sheet, in one line or two."""
    random = design.random
    kind = random.one("quantity", "quantity", "phrase", "code", "small")
    if random.chance(0.12):
        return lines(design.texts.value(kind), design.texts.value("quantity"))
    return design.texts.value(kind)


def technical_sheet(design: Design) -> list[Markup | None]:
    """Data of a product or several: labels with values under groups, in one table or two."""
    random = design.random
    texts = design.texts
    models = random.one(1, 1, 2, 3, 4)

    def rows(low: int, high: int) -> list[Row]:
        found: list[Row] = []
        for _ in range(random.randint(low, high)):
            name = Cell(texts.phrase(1, 4), is_head=is_bold)
            cells = [Cell(_datum(design)) for _ in range(models)]
            if models > 1 and random.chance(0.2):
                cells = [Cell(_datum(design), columns=models, class_="center")]
            found.append([name, *cells])
        return found

    is_bold = random.chance(0.3)
    columns = [Column("thing"), *[Column("phrase") for _ in range(models)]]
    titles = [texts.value("code") for _ in range(models)]
    heads = _head(random.one("", texts.label("columns")), *titles)
    heads = heads if models > 1 or random.chance(0.2) else []
    way = random.one("groups", "headings", "one", "beside")
    if way == "groups":
        body: list[Row] = []
        for _ in range(random.randint(2, 5)):
            body += [_group(texts.phrase(1, 3), models + 1), *rows(2, 6)]
        shown: Content = tables.drawn(design, heads, body, columns)
    elif way == "headings":
        found = []
        for _ in range(random.randint(2, 5)):
            table = tables.drawn(design, heads, rows(2, 6), columns)
            found.append(joined(text.heading(design, 2), table))
        shown = joined(*found)
    elif way == "beside" and models < 3:
        two = [tables.drawn(design, heads, rows(3, 9), columns) for _ in range(2)]
        shown = layout.beside(design, *two, shares=(1, 1))
    else:
        shown = tables.drawn(design, heads, rows(5, 20), columns)
    words = random.one(
        None,
        text.paragraph(design, 1, 3),
        text.items(design, 3, 5),
        layout.floating(design),
    )
    return [
        running.running_head(design, 0.4),
        main(
            text.heading(design, 1) if random.chance(0.8) else None,
            words,
            shown,
            layout.table_note(design) if random.chance(0.5) else None,
        ),
        running.running_foot(design, 0.7),
    ]


FAMILIES = {
    "lab results": Family(lab_results, (), (9.5, 14)),
    "nutrition": Family(nutrition, (*_PACKS, (794, 600)), (11, 15)),
    "account": Family(account, (), (9.5, 13)),
    "utility bill": Family(utility_bill, (), (9.5, 13)),
    "tax assessment": Family(tax_assessment, (), (10, 14)),
    "policy": Family(policy, (), (9.5, 13.5)),
    "packing list": Family(packing_list, (), (10, 14)),
    "parts list": Family(parts_list, (), (9.5, 13)),
    "technical sheet": Family(technical_sheet, (), (9.5, 14)),
}
