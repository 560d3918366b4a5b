"""Catalogs and lists, line by line: wines, cuts, goods with pictures, types, terms."""

from markupsafe import Markup

from vit_str.synthesis.pages.design import Design, main
from vit_str.synthesis.pages.families.family import Family
from vit_str.synthesis.pages.html import Content, div, element, joined, lines
from vit_str.synthesis.pages.parts import (
    boxes,
    facts,
    fronts,
    grids,
    layout,
    lists,
    pictures,
    running,
    text,
)
from vit_str.synthesis.pages.parts.tables import Cell, Row

_QUIET = ("none", "none", "none", "rows", "head")


def _page(design: Design, *parts: Content) -> list[Markup | None]:
    """A page with a title, some words and parts."""
    random = design.random
    top = fronts.front(design) if random.chance(0.2) else text.heading(design, 1)
    return [
        running.running_head(design, 0.35),
        main(
            top,
            text.paragraph(design, 1, 2) if random.chance(0.3) else None,
            *parts,
            layout.table_note(design) if random.chance(0.3) else None,
            text.sections(design, 0, 3),
        ),
        running.running_foot(design, 0.6),
    ]


def wine_list(design: Design) -> list[Markup | None]:
    """Wines by kinds: years, places below names, prices of a glass and a bottle."""
    random = design.random
    texts = design.texts
    has_year = random.chance(0.6)
    below = random.one(0.0, 0.6, 1.0)
    prices = random.one(1, 2, 2, 3)
    is_inside = random.chance(0.5)
    columns = 1 + has_year + prices
    name = grids.look(design, random.choice(_QUIET))
    price = (
        texts.price
        if random.chance(0.3)
        else lambda _: texts.number(random.randint(4, 90))
    )
    sizes = random.sample(["0,1 l", "0,2 l", "0,75 l", "125 ml", "175 ml"], prices)
    heads = (
        [grids.head_row(*[""] * (1 + has_year), *sizes)] if random.chance(0.6) else []
    )

    def rows() -> list[Row]:
        found = []
        for _ in range(random.randint(2, 6)):
            wine: Content = texts.title(2, 5)
            if random.chance(below):
                place = f"{texts.company()}, {texts.value('place')}"
                wine = joined(element("b", wine), div(place, class_="sub"))
            row = [Cell(str(texts.year - random.randint(1, 9)))] * has_year
            amounts = [Cell(price(60), class_="exact") for _ in range(prices)]
            if prices > 1 and random.chance(0.2):
                amounts[0] = Cell("")
            found.append([*row, Cell(wine), *amounts])
        return found

    sides = "l" * (1 + has_year) + "r" * prices
    widths = (*[0.8] * has_year, random.uniform(4, 7), *[1.0] * prices)
    kinds = [texts.label("dishes") for _ in range(random.randint(2, 5))]
    if is_inside:
        body = [
            row for kind in kinds for row in [grids.group_row(kind, columns), *rows()]
        ]
        return _page(design, grids.grid(design, heads, body, sides, name, widths))
    parts: list[Content] = []
    for kind in kinds:
        parts.append(text.heading(design, 2, kind))
        parts.append(grids.grid(design, heads, rows(), sides, name, widths))
    return _page(design, *parts)


def salon(design: Design) -> list[Markup | None]:
    """Prices of a salon: names with a line below, minutes, some tables side by side."""
    random = design.random
    texts = design.texts
    has_minutes = random.chance(0.4)
    has_from = random.chance(0.3)
    make = grids.describer(design, 1)
    name = grids.look(design, random.choice(_QUIET))
    from_ = random.one("ab ", "from ", "> ", "+ ") if has_from else ""
    bold = random.chance(0.3)

    def block() -> Markup:
        body = []
        for _ in range(random.randint(3, 7)):
            amount: Content = from_ + texts.price(90)
            amount = element("b", amount) if bold else amount
            minutes = [
                Cell(f"{random.randint(1, 9) * 10} min", class_="exact")
            ] * has_minutes
            body.append([Cell(make()), *minutes, Cell(amount, class_="exact")])
        sides = "l" + "r" * (1 + has_minutes)
        widths = (4, *[1.0] * (1 + has_minutes))
        table = grids.grid(design, [], body, sides, name, widths)
        return joined(text.heading(design, 2), table)

    parts: list[Content] = []
    for _ in range(random.randint(1, 3)):
        if random.chance(0.5):
            parts.append(layout.beside(design, block(), block(), shares=(1, 1)))
        else:
            parts.append(block())
    return _page(design, *parts)


def goods_with_pictures(design: Design) -> list[Markup | None]:
    """A picture in the first column, what it shows in the next, some with several sizes in rows."""
    random = design.random
    texts = design.texts
    height = random.randint(34, 70)
    is_tall = random.chance(0.4)
    make = grids.describer(design, 3)
    kinds = random.one(["code", "price"], ["code", "quantity", "price"], ["price"])
    body: list[Row] = []
    for _ in range(random.randint(3, 5)):
        rows = random.randint(2, 4) if is_tall else 1
        shown = Cell(
            pictures.picture(design, height, f"{height * 1.3:.0f}px"), rows=rows
        )
        for place in range(rows):
            row: Row = [shown, Cell(make(), rows=rows)] if place == 0 else []
            body.append([*row, *grids.values_row(design, *kinds)])
    heads = [grids.head_row("", *texts.different("columns", 1 + len(kinds)))]
    heads = heads if random.chance(0.6) else []
    name = grids.look(design, random.one("rows", "rows", "all", "none", "frame rows"))
    sides = "ll" + "".join("l" if kind == "code" else "r" for kind in kinds)
    return _page(design, grids.grid(design, heads, body, sides, name))


def types(design: Design) -> list[Markup | None]:
    """A drawing, and sizes of types by letters; kinds over several rows, units in the heads."""
    random = design.random
    texts = design.texts
    letters = [chr(65 + n) for n in range(random.randint(3, 7))]
    unit = random.one("mm", "in", "")
    is_tall = random.chance(0.7)
    body: list[Row] = []
    for _ in range(random.randint(2, 4)):
        rows = random.randint(2, 5)
        kind = texts.value("code")
        for place in range(rows):
            first = [Cell(kind, rows=rows, is_head=True)] if place == 0 else []
            sizes = [
                texts.number(random.random() * 200, random.one(0, 0, 1))
                for _ in letters
            ]
            code = Cell(texts.value("code"), class_="exact")
            body.append([*first * is_tall, code, *map(Cell, sizes)])
    tops = [Cell(texts.phrase(1, 2), rows=2, is_head=True) for _ in range(1 + is_tall)]
    over = Cell(
        f"{texts.phrase(1, 2)} {unit}".strip(), columns=len(letters), is_head=True
    )
    heads = [[*tops, over], grids.head_row(*letters)]
    if random.chance(0.3):
        units = [lines(letter, unit) if unit else letter for letter in letters]
        heads = [grids.head_row(*(top.content for top in tops), *units)]
    sides = "l" * (1 + is_tall) + random.one("c", "r") * len(letters)
    table = grids.grid(design, heads, body, sides)
    drawing = pictures.diagram(design, random.randint(100, 180))
    shown = element("figure", drawing) if random.chance(0.6) else None
    return _page(design, shown, table, lists.any_list(design, 2, 5, short=True))


def duel(design: Design) -> list[Markup | None]:
    """Two to four things side by side: pictures in the heads, bands over groups of rows."""
    random = design.random
    texts = design.texts
    count = random.randint(2, 4)
    has_pictures = random.chance(0.6)
    words = random.one("item", "phrase", "mixed", "quantity", "clause")
    has_ticks = random.chance(0.5)

    def named() -> Content:
        shown = (
            pictures.picture(design, random.randint(40, 80)) if has_pictures else None
        )
        price = div(texts.price(900), class_="sub") if random.chance(0.4) else None
        return joined(shown, texts.title(1, 3), price)

    body: list[Row] = []
    for _ in range(random.randint(2, 4)):
        if random.chance(0.7):
            body.append(grids.group_row(texts.phrase(1, 2), count + 1))
        for _ in range(random.randint(2, 5)):
            is_tick = has_ticks and random.chance(0.4)
            values: list[Content] = [
                grids.tick(design) if is_tick else texts.value(words)
                for _ in range(count)
            ]
            body.append(
                [Cell(texts.label("columns"), is_head=True), *map(Cell, values)]
            )
    heads = [grids.head_row("", *(named() for _ in range(count)))]
    side = random.one("c", "c", "l")
    widths = (1.2, *[1.0] * count)
    return _page(
        design, grids.grid(design, heads, body, "l" + side * count, "", widths)
    )


def word_table(design: Design) -> list[Markup | None]:
    """Terms with translations and meanings that go over several lines, by letters or not."""
    random = design.random
    texts = design.texts
    count = random.randint(1, 3)
    longest = random.one(6, 14, 24)
    has_letters = random.chance(0.4)
    has_meaning = random.chance(0.75)
    columns = 1 + count + has_meaning
    bold = random.chance(0.5)
    body: list[Row] = []
    letter = random.randint(0, 12)
    for number in range(random.randint(6, 16)):
        if has_letters and number % 4 == 0:
            body.append(grids.group_row(chr(65 + letter + number // 4), columns))
        term: Content = texts.phrase(1, 3)
        others = [Cell(texts.phrase(1, 3)) for _ in range(count)]
        meaning = [Cell(texts.sentence(4, longest))] * has_meaning
        body.append([Cell(element("b", term) if bold else term), *others, *meaning])
    heads = [grids.head_row(*texts.different("columns", columns))]
    heads = heads if random.chance(0.7) else []
    widths = (*[1.0] * (1 + count), *[random.uniform(1.5, 3)] * has_meaning)
    return _page(design, grids.grid(design, heads, body, "l" * columns, "", widths))


def versions_table(design: Design) -> list[Markup | None]:
    """Versions of a document: number, date, who, what was changed in lines of a cell; approvals."""
    random = design.random
    texts = design.texts
    mark = random.one("", "- ", "• ")

    def changes() -> Content:
        rows = random.several(1, 4, lambda: mark + texts.sentence(3, 9)[:-1])
        return lines(*rows)

    body = [
        [
            Cell(f"{random.randint(0, 3)}.{n}", class_="exact"),
            Cell(texts.date(), class_="exact"),
            Cell(texts.person()),
            Cell(changes()),
        ]
        for n in range(random.randint(3, 9))
    ]
    names = texts.different("columns", 4)
    widths = (0.7, 1.2, 1.4, random.uniform(3, 5))
    table = grids.grid(design, [grids.head_row(*names)], body, "llll", "", widths)
    rows = [
        [
            Cell(texts.label("fields"), is_head=True),
            Cell(texts.person()),
            Cell(""),
            Cell(""),
        ]
        for _ in range(random.randint(2, 3))
    ]
    rules = grids.look(design, random.one("all", "rows"))
    heads = [grids.head_row("", *texts.different("columns", 3))]
    approved = grids.grid(design, heads, rows, "llll", rules)
    second = joined(text.heading(design, 2), approved) if random.chance(0.5) else None
    known = fronts.known(design, 3, 8) if random.chance(0.6) else None
    return _page(design, known, text.heading(design, 2), table, second)


def lesson_plan(design: Design) -> list[Markup | None]:
    """Minutes, what is done and with what: sentences and marks in cells, parts over the width."""
    random = design.random
    texts = design.texts
    count = random.randint(2, 4)

    def inside() -> Content:
        way = random.one("text", "marks", "short")
        if way == "short":
            return texts.phrase(1, 4)
        if way == "text":
            return texts.text(1, 2)
        mark = random.one("• ", "– ")
        return lines(*random.several(2, 4, lambda: mark + texts.sentence(3, 8)[:-1]))

    body: list[Row] = []
    for _ in range(random.randint(4, 8)):
        if random.chance(0.12):
            body.append(grids.group_row(texts.phrase(1, 4), count + 1))
        minutes = f"{random.randint(1, 9) * 5}{random.one('', ' min')}"
        when = random.one(minutes, texts.time())
        body.append(
            [Cell(when, class_="exact"), *[Cell(inside()) for _ in range(count)]]
        )
    heads = [grids.head_row(*texts.different("columns", count + 1))]
    widths = (0.6, *[random.uniform(1, 3) for _ in range(count)])
    table = grids.grid(design, heads, body, "l" * (count + 1), "", widths)
    aims = joined(text.heading(design, 2), lists.any_list(design, 2, 5))
    return _page(
        design, fronts.known(design), aims if random.chance(0.6) else None, table
    )


def medicines(design: Design) -> list[Markup | None]:
    """A plan of medicines: times of the day under one head, reasons, hints that wrap."""
    random = design.random
    texts = design.texts
    times = random.randint(3, 4)
    days = [texts.phrase(1, 1) for _ in range(times)]
    names = texts.different("columns", 5)
    is_upright = random.chance(0.3)
    tall = random.chance(0.6)
    below: list[Content] = [grids.upright(day) if is_upright else day for day in days]
    if tall:
        ends = [Cell(name, rows=2, is_head=True) for name in names[2:4]]
        starts = [Cell(name, rows=2, is_head=True) for name in names[:2]]
        over = Cell(names[4], columns=times, is_head=True)
        heads = [[*starts, over, *ends], grids.head_row(*below)]
    else:
        heads = [grids.head_row(*names[:2], *below, *names[2:4])]
    body: list[Row] = []
    for _ in range(random.randint(3, 10)):
        if random.chance(0.1):
            body.append(grids.group_row(texts.phrase(2, 5), 4 + times))
        doses = [random.one("0", "1", "1", "½", "2", "") for _ in range(times)]
        drug = joined(element("b", texts.phrase(1, 1)), div(texts.noun(), class_="sub"))
        strength = Cell(f"{random.randint(1, 80) * 5} mg", class_="exact")
        reason = [Cell(texts.sentence(2, 7)[:-1]), Cell(texts.phrase(1, 3))]
        body.append([Cell(drug), strength, *map(Cell, doses), *reason])
    name = grids.look(
        design, random.one("all", "all", "rows", "zebra", "frame columns")
    )
    table = grids.grid(design, heads, body, "ll" + "c" * times + "ll", name)
    who = layout.beside(
        design, text.address(design), facts.running_facts(design, 2, 4, "below")
    )
    return _page(design, boxes.box(design, who) if random.chance(0.4) else who, table)


def race(design: Design) -> list[Markup | None]:
    """Places, names with their clubs, times and gaps; classes between or above the rows."""
    random = design.random
    texts = design.texts
    has_club = random.one("none", "column", "below")
    has_year = random.chance(0.5)
    gaps = random.randint(1, 3)
    columns = 2 + has_year + (has_club == "column") + gaps
    is_inside = random.chance(0.5)
    names = texts.different("columns", columns)
    name = grids.look(design, random.one("none", "none", "zebra", "rows", "head"))

    def clock(high: int) -> str:
        return f"{random.randint(0, high)}:{random.randint(0, 59):02}.{random.randint(0, 9)}"

    def rows() -> list[Row]:
        found = []
        dot = random.one(".", "", "")
        for place in range(1, random.randint(4, 12) + 1):
            who: Content = texts.person()
            if has_club == "below":
                who = joined(who, div(texts.company(), class_="sub"))
            row = [Cell(f"{place}{dot}"), Cell(who)]
            row += [Cell(str(texts.year - random.randint(14, 70)))] * has_year
            row += [Cell(texts.company())] * (has_club == "column")
            gap = "" if place == 1 else f"+{clock(3)}"
            times = [clock(59), gap, str(random.randint(0, 50))][:gaps]
            found.append([*row, *[Cell(one, class_="exact") for one in times]])
        return found

    sides = "r" + "l" * (columns - gaps - 1) + "r" * gaps
    classes = [texts.phrase(1, 3) for _ in range(random.randint(1, 3))]
    heads = [grids.head_row(*names)]
    if is_inside:
        body = [
            row for kind in classes for row in [grids.group_row(kind, columns), *rows()]
        ]
        return _page(design, grids.grid(design, heads, body, sides, name))
    parts: list[Content] = []
    for kind in classes:
        parts += [
            text.heading(design, 2, kind),
            grids.grid(design, heads, rows(), sides, name),
        ]
    return _page(design, *parts)


def nutrition_panel(design: Design) -> list[Markup | None]:
    """A narrow panel between thick bars: steps to the right, amounts after names, shares."""
    random = design.random
    texts = design.texts
    names = random.sample(texts.all_labels("nutrition"), 9)
    is_bold = random.chance(0.7)
    thick = random.randint(4, 10)
    rows: list[Row] = []
    for number, label in enumerate(names):
        step = f"step{random.randint(1, 2)}" if number and random.chance(0.4) else ""
        strong = element("b", label) if is_bold and not step else label
        amount = texts.number(random.random() * 90, random.one(0, 1))
        said = joined(strong, f" {amount} {random.one('g', 'mg')}")
        share = Cell(f"{random.randint(0, 60)}%") if random.chance(0.85) else Cell("")
        rows.append([Cell(said, class_=step), share])
    heads = [grids.head_row("", f"% {texts.phrase(1, 2)}")]
    name = grids.look(design, "rows")
    design.added_css.append(
        f".panel {{ border: 2px solid #111; padding: .4em; width: {random.randint(230, 330)}px }}"
        f" .panel hr {{ border: 0; height: {thick}px; background: #111; margin: .2em 0 }}"
    )
    bar = element("hr", aria_hidden="true")
    portion = lines(
        f"{random.randint(2, 12)} {texts.phrase(1, 2)}",
        f"{texts.phrase(1, 2)} {random.randint(20, 250)} g",
    )
    size = f"font-size: {random.uniform(1.6, 2.4):.1f}em; margin: 0"
    energy = element(
        "dl", div(joined(texts.exact("nutrition"), " ", element("b", "230")))
    )
    panel = div(
        text.heading(design, 1, texts.title(1, 2), style=size),
        text.text_line(portion),
        bar,
        energy,
        grids.grid(design, heads, rows, "lr", name),
        bar,
        text.text_line(texts.sentence(8, 20), "plain fine"),
        class_="panel flow",
    )
    words = div(
        element("p", element("b", texts.phrase(1, 1) + ": "), texts.text(1, 3)),
        text.paragraph(design, 1, 2, class_="fine"),
        facts.contact(design),
        class_="flow",
    )
    if random.chance(0.6):
        parts = (panel, words) if random.chance(0.5) else (words, panel)
        row = "display: flex; gap: 1.5em; align-items: flex-start"
        return [main(div(*parts, class_="flow beside", style=row))]
    return [main(panel, words)]


FAMILIES = {
    "wine list": Family(wine_list, (), (11, 16)),
    "salon": Family(salon, (), (11, 16)),
    "goods with pictures": Family(goods_with_pictures, (), (10, 15)),
    "types": Family(types, (), (9.5, 13)),
    "duel": Family(duel, ((794, 1123), (1024, 900), (1280, 960)), (10.5, 15)),
    "word table": Family(word_table, (), (10, 14)),
    "versions": Family(versions_table, (), (10, 14)),
    "lesson plan": Family(
        lesson_plan, ((794, 1123), (816, 1056), (1123, 794)), (10, 14)
    ),
    "medicines": Family(medicines, ((794, 1123), (1123, 794)), (9.5, 14)),
    "race": Family(race, (), (10, 14)),
    "nutrition panel": Family(nutrition_panel, ((794, 600), (640, 800)), (11, 15)),
}
