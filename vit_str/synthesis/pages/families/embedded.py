"""Tables where one meets them: in papers, filings, slides, print-outs, on slips and cards."""

from collections.abc import Sequence

from markupsafe import Markup

from vit_str.synthesis.pages.design import Design, main
from vit_str.synthesis.pages.families.family import Family
from vit_str.synthesis.pages.html import Content, div, element, joined, lines, span
from vit_str.synthesis.pages.parts import (
    facts,
    fronts,
    grids,
    layout,
    lists,
    pictures,
    running,
    tables,
    text,
)
from vit_str.synthesis.pages.parts.tables import Cell, Row

_SLIDES = ((1123, 632), (1280, 720), (960, 720))
_SLIPS = ((302, 620), (340, 760), (380, 680), (280, 560))


def _measured(design: Design, best: float, spread: str) -> Content:
    """A measured value: some the best one, some with what it varies by."""
    random = design.random
    value = design.texts.number(random.random() * 100, random.one(1, 2))
    more = design.texts.number(random.random() * 3, 1)
    said: Content = {"±": f"{value} ± {more}", "()": f"{value} ({more})"}.get(
        spread, value
    )
    if spread == "small":
        said = joined(value, element("sup", f"±{more}"))
    return element("b", said) if random.chance(best) else said


def _results(design: Design) -> Markup:
    """Methods down, measures across under names of groups, thin rules below these."""
    random = design.random
    texts = design.texts
    groups = random.randint(1, 3)
    wide = random.randint(1, 3)
    spread = random.one("", "", "±", "()", "small")
    is_tall = random.chance(0.35)
    count = groups * wide
    name = grids.look(design, random.one("head foot", "head foot", "none"), tight=True)
    design.added_css.append(
        f".{name} .under {{ border-bottom: 0.8px solid #222 }}"
        f" .{name} .next > * {{ border-top: 0.8px solid #222 }}"
    )
    measures = [texts.noun()[: random.randint(2, 8)] for _ in range(wide)]
    arrow = random.one("", "", " ↑", " ↓", " (%)")
    first = [Cell(texts.phrase(1, 1), is_head=True) for _ in range(1 + is_tall)]
    heads = [[*first, *grids.head_row(*[m + arrow for m in measures] * groups)]]
    if wide > 1:
        over = [
            Cell(texts.phrase(1, 2), columns=wide, is_head=True, class_="under center")
            for _ in range(groups)
        ]
        heads.insert(0, [*[Cell("", is_head=True)] * len(first), *over])
    body: list[Row] = []
    for _ in range(random.randint(1, 3)):
        rows = random.randint(2, 5)
        for place in range(rows):
            start: Row = []
            if is_tall and place == 0:
                start = [Cell(texts.phrase(1, 1), rows=rows)]
            method = texts.title(1, 2)
            if random.chance(0.3):
                method += f" [{random.randint(1, 60)}]"
            values = [Cell(_measured(design, 0.12, spread)) for _ in range(count)]
            body.append([*start, Cell(method), *values])
    sides = "l" * (1 + is_tall) + random.one("c", "r") * count
    caption = tables.caption_text(design, "table") if random.chance(0.85) else None
    css = random.one("width: 100%", "margin-left: auto; margin-right: auto", "")
    return grids.grid(design, heads, body, sides, name, css=css, caption=caption)


def results_in_paper(design: Design) -> list[Markup | None]:
    """A page of a paper in one or two columns with tables of results, some over both."""
    random = design.random
    count = random.one(1, 2, 2)

    def prose(low: int, high: int) -> Markup:
        parts: list[Content] = []
        for _ in range(random.randint(low, high)):
            parts.append(text.heading(design, random.one(2, 2, 3)))
            parts += random.several(1, 3, lambda: text.paragraph(design, 2, 5))
        return joined(*parts)

    if count == 1:
        body = joined(
            *random.several(1, 3, lambda: joined(_results(design), prose(1, 1)))
        )
    else:
        inner = joined(
            prose(1, 2), _results(design) if random.chance(0.4) else None, prose(1, 3)
        )
        body = joined(_results(design), layout.columns(design, inner, count=2))
    return [
        running.running_head(design, 0.6),
        main(body),
        layout.notes(design, 1, 2) if random.chance(0.3) else None,
        running.running_foot(design, 0.6),
    ]


def _years(design: Design, name: str) -> Markup:
    """Some lines with amounts of two or three years, the first and last with a sign."""
    random = design.random
    texts = design.texts
    years = random.randint(1, 3)
    rows = random.randint(2, 7)
    body: list[Row] = []
    for number in range(rows):
        is_end = number == rows - 1
        said = texts.exact("totals") if is_end else texts.phrase(1, 7)
        amounts = []
        for _ in range(years):
            amount = texts.number(random.randint(1, 99999))
            amount = f"({amount})" if random.chance(0.1) else amount
            signed = (
                grids.with_sign(design, amount) if number in (0, rows - 1) else amount
            )
            amounts.append(Cell(signed, class_="sum right" if is_end else "right"))
        body.append(
            [
                Cell(said, class_=random.one("", "", "step1") if not is_end else ""),
                *amounts,
            ]
        )
    names = [str(texts.year - n) for n in range(years)]
    heads = [grids.head_row("", *names)]
    if random.chance(0.5):
        over = Cell(texts.phrase(2, 5), columns=years, is_head=True)
        heads.insert(0, [Cell("", is_head=True), over])
    widths = (random.uniform(3, 6), *[1.0] * years)
    css = f"width: {random.randint(70, 100)}%; margin-left: auto; margin-right: auto"
    return grids.grid(design, heads, body, "l" + "r" * years, name, widths, css)


def notes_to_accounts(design: Design) -> list[Markup | None]:
    """Numbered notes: paragraphs, and after some of them small tables of years."""
    random = design.random
    design.style.is_numbered = False
    name = grids.look(design, random.one("none", "none", "none", "zebra", "rows"))
    mark = random.one("{}. ", "{} ", "Note {} – ", "({}) ")
    parts: list[Content] = []
    start = random.randint(1, 20)
    for number in range(start, start + random.randint(2, 5)):
        title = mark.format(number) + design.texts.title(1, 5)
        parts += [text.heading(design, 2, title), text.paragraph(design, 1, 4)]
        for _ in range(random.one(0, 1, 1, 2)):
            parts += [_years(design, name), text.paragraph(design, 1, 3)]
    return layout.page(design, *parts, head=0.5)


def printout(design: Design) -> list[Markup | None]:
    """The print-out of a line printer: one face, columns of figures, sums between rows of signs."""
    random = design.random
    texts = design.texts
    mono = design.style.one_face("mono")
    size = random.uniform(0.75, 0.95)
    design.added_css.append(f"body, body * {{ font-family: {mono} !important }}")
    kinds = random.one(
        ["code", "phrase", "small", "amount", "amount"],
        ["date", "code", "phrase", "amount"],
        ["phrase", "integer", "integer", "percent"],
        ["code", "phrase", "place", "date", "integer", "amount"],
    )
    is_loud = random.chance(0.4)
    sign = random.one("-", "=", "_", "*")
    name = grids.look(design, "none", tight=True)
    if is_loud:
        design.added_css.append("main, header { text-transform: uppercase }")
    to_the_right = ("small", "amount", "integer", "percent")
    sides = "".join("r" if kind in to_the_right else "l" for kind in kinds)
    css = (
        "overflow: hidden; white-space: nowrap; contain: inline-size; line-height: 1.1"
    )
    rule = div(sign * 200, aria_hidden="true", style=css)
    parts: list[Content] = []
    for _ in range(random.randint(1, 3)):
        body = [grids.values_row(design, *kinds) for _ in range(random.randint(5, 16))]
        body += grids.sum_rows(design, random.randint(0, 2), len(kinds))
        heads = [grids.head_row(*texts.different("columns", len(kinds)))]
        title = text.text_line(f"{texts.phrase(1, 3)}: {texts.value('code')}")
        parts += [title, rule, grids.grid(design, heads, body, sides, name), rule]
    known = element(
        "dl",
        *(div(f"{n}: {texts.value('code')}") for n in texts.different("labels", 3)),
    )
    return [
        element(
            "header",
            span(texts.company()),
            span(texts.date()),
            span(texts.exact("page") + " 1"),
        )
        if random.chance(0.6)
        else None,
        main(
            text.heading(design, 1, style="text-align: center")
            if random.chance(0.5)
            else None,
            known if random.chance(0.5) else None,
            *parts,
            style=f"font-size: {size:.2f}em",
        ),
    ]


def till_slip(design: Design) -> list[Markup | None]:
    """A slip whose lines have how many and at what price below names; taxes, payment, thanks."""
    random = design.random
    texts = design.texts
    middle = "text-align: center"
    below = random.chance(0.6)
    has_rate = random.chance(0.4)
    sign = random.one("x", "×", "*", "@")
    body: list[Row] = []
    for _ in range(random.randint(2, 12)):
        amount = texts.number(random.random() * 30 + 0.5, 2)
        said: Content = texts.phrase(1, 3)
        said = str(said).upper() if random.chance(0.2) else said
        if random.chance(0.5):
            many = f"{random.randint(2, 9)} {sign} {amount}"
            said = lines(said, many) if below else lines(many, said)
        rate = f" {random.one('A', 'B', '1', '2')}" if has_rate else ""
        body.append([Cell(said), Cell(amount + rate, class_="exact")])
    sums = [
        [
            Cell(texts.label("totals"), class_="sum"),
            Cell(texts.price(90), class_="sum exact"),
        ]
        for _ in range(random.randint(1, 4))
    ]
    name = grids.look(design, "none", tight=True)
    valign = random.one("bottom", "top")
    design.added_css.append(f".{name} td:last-child {{ vertical-align: {valign} }}")
    sign = random.one("-", "=", "- ", ".")
    css = "overflow: hidden; white-space: nowrap; contain: inline-size"
    rule = div(sign * 80, aria_hidden="true", style=css)
    bought = grids.grid(design, [], [*body, *sums], "lr", name)
    rates = [
        grids.values_row(design, "percent", "decimal", "decimal") for _ in range(2)
    ]
    heads = [grids.head_row(*texts.different("totals", 3))]
    taxes = grids.grid(design, heads, rates, "lrr", name)
    known = facts.running_facts(design, 2, 5, "below")
    shop = text.heading(design, 1, texts.company(), style=middle)
    rows = lines(texts.exact("street"), texts.exact("city"), texts.value("phone"))
    return [
        main(
            shop
            if random.chance(0.7)
            else text.text_line(texts.company(), style=middle),
            text.text_line(rows, style=middle),
            known if random.chance(0.5) else None,
            rule,
            bought,
            rule,
            taxes if random.chance(0.4) else None,
            known if random.chance(0.3) else None,
            text.text_line(texts.sentence(3, 8), style=middle),
        )
    ]


def fees(design: Design) -> list[Markup | None]:
    """Hours of lawyers and the like: dates, initials, texts of several lines, hours, amounts."""
    random = design.random
    texts = design.texts
    longest = random.one(1, 2, 3)
    has_rate = random.chance(0.4)
    kinds = ["decimal", *["amount"] * has_rate, "price"]
    columns = 3 + len(kinds)
    people = [
        texts.phrase(1, 1)[:2].upper() + texts.noun()[0].upper() for _ in range(3)
    ]
    body: list[Row] = []
    for _ in range(random.randint(4, 14)):
        date = Cell(texts.date(), class_="exact")
        said = Cell(texts.text(1, longest))
        row = grids.values_row(design, *kinds)
        body.append([date, Cell(random.choice(people)), said, *row])
    body += grids.sum_rows(design, random.randint(0, 2), columns)
    name = grids.look(design, random.one("none", "none", "none", "rows", "head", "all"))
    heads = [grids.head_row(*texts.different("columns", columns))]
    widths = (1, 0.5, random.uniform(4, 6), *[0.8] * len(kinds))
    table = grids.grid(design, heads, body, "lll" + "r" * len(kinds), name, widths)
    return [
        running.running_head(design, 0.3),
        main(
            fronts.front(design),
            fronts.addressed(design, 3, 5),
            text.heading(design, 2),
            table,
            grids.sums_below(design, random.randint(2, 4))
            if random.chance(0.5)
            else None,
            text.paragraph(design, 1, 2),
        ),
        running.running_foot(design),
    ]


def inspection(design: Design) -> list[Markup | None]:
    """An inspection: groups of points, boxes for good and bad, remarks in the last column."""
    random = design.random
    texts = design.texts
    count = random.randint(2, 4)
    ticked = random.one(0.0, 0.3, 0.9)
    has_numbers = random.chance(0.5)
    has_words = random.one(0.0, 0.3, 0.6)
    columns = 2 + count + has_numbers
    answers = [
        random.one(a, a.upper())
        for a in random.sample(texts.all_labels("answers"), count)
    ]
    body: list[Row] = []
    for group in range(1, random.randint(2, 4) + 1):
        body.append(grids.group_row(f"{group}. {texts.phrase(1, 3)}", columns))
        for number in range(1, random.randint(2, 6) + 1):
            chosen = random.randrange(count) if random.chance(ticked) else -1
            marks = [Cell(facts.tick_box(design, n == chosen)) for n in range(count)]
            remark = texts.sentence(2, 7)[:-1] if random.chance(has_words) else ""
            place = [Cell(f"{group}.{number}")] * has_numbers
            point = Cell(texts.sentence(3, 9)[:-1])
            body.append([*place, point, *marks, Cell(remark)])
    titles = texts.different("columns", 2 + has_numbers)
    heads = [grids.head_row(*titles[:-1], *answers, titles[-1])]
    widths = (*[0.5] * has_numbers, 4, *[0.6] * count, random.uniform(1.5, 3))
    name = grids.look(design, random.one("all", "all", "rows", "zebra", "frame rows"))
    sides = "l" * (1 + has_numbers) + "c" * count + "l"
    table = grids.grid(design, heads, body, sides, name, widths)
    return fronts.signed_page(design, table, 3, 8, foot=0.5)


def data_cards(design: Design) -> list[Markup | None]:
    """Cards beside each other, each with a name and labels with values, or with text."""
    random = design.random
    texts = design.texts
    across = random.one(1, 2, 2, 3)
    sides = random.one("lr", "ll", "lr")
    name = grids.look(design, random.one("none", "none", "rows", "zebra"))
    line = random.one("1px solid #bbb", f"1px solid {design.style.color}", "none")
    css = f"border: {line}; padding: .6em .8em; min-width: 0; border-radius: {random.one(0, 6)}px"
    css += random.one("", f"; background: {design.style.ground}")
    is_set_apart = random.chance(0.4)
    labels = random.one("labels", "columns", "fields", "insured")

    def pairs(count: int) -> Markup:
        rows = [
            [Cell(label, is_head=is_set_apart), Cell(texts.value("mixed"))]
            for label in texts.different(labels, count)
        ]
        return grids.grid(design, [], rows, sides, name)

    def card() -> Markup:
        title = text.heading(design, 2, texts.title(1, 3), style="margin-top: 0")
        inner = (
            pairs(random.randint(2, 7))
            if random.chance(0.75)
            else text.paragraph(design)
        )
        return div(title, inner, style=css)

    cards = [card() for _ in range(across * random.randint(1, 3))]
    gap = random.uniform(0.6, 1.6)
    grid = (
        f"display: grid; grid-template-columns: repeat({across}, minmax(0, 1fr)); gap: {gap:.1f}em;"
        " align-items: start; margin: .8em 0"
    )
    shown = (
        pictures.picture(design, random.randint(100, 200))
        if random.chance(0.3)
        else None
    )
    return [
        running.running_head(design, 0.3),
        main(
            text.heading(design, 1),
            shown,
            text.paragraph(design, 1, 2) if random.chance(0.5) else None,
            div(*cards, class_="flow", style=grid),
        ),
        running.running_foot(design, 0.5),
    ]


def table_slide(design: Design) -> list[Markup | None]:
    """A slide with a table, alone or beside points, in large type."""
    random = design.random
    texts = design.texts
    columns = random.randint(2, 5)
    kinds: Sequence[str] = random.one(
        ["percent"] * 4,
        ["phrase"] * 4,
        ["amount"] * 4,
        ["phrase", "date", "person", "small"],
    )
    kinds = kinds[: columns - 1]
    stub = random.chance(0.5)
    body = [
        [Cell(texts.phrase(1, 3), is_head=stub), *grids.values_row(design, *kinds)]
        for _ in range(random.randint(2, 6))
    ]
    heads = [
        grids.head_row(
            random.one("", texts.phrase(1, 1)), *texts.different("columns", len(kinds))
        )
    ]
    side = "l" if "phrase" in kinds else random.one("c", "r")
    table = grids.grid(design, heads, body, "l" + side * len(kinds))
    points = lists.any_list(design, 2, 4, short=True)
    way = (
        random.one("alone", "above", "beside")
        if len(kinds) < 3
        else random.one("alone", "above")
    )
    if way == "beside":
        inner = layout.beside(design, table, points, shares=(3, 2))
    else:
        inner = joined(points if way == "above" else None, table)
    return [
        main(
            text.heading(design, 1, texts.title(2, 7)), inner, layout.table_note(design)
        ),
        running.running_foot(design, 0.7),
    ]


def by_regions(design: Design) -> list[Markup | None]:
    """Figures of places in steps to the right, signs of notes at names, heads of several lines."""
    random = design.random
    texts = design.texts
    count = random.randint(3, 7)
    kinds = [random.one("integer", "decimal", "percent") for _ in range(count)]
    has_notes = random.chance(0.5)
    missing = random.one(0.0, 0.05, 0.2)
    body: list[Row] = []
    for _ in range(random.randint(2, 5)):
        for step in [0, *[1] * random.randint(2, 6)]:
            name: Content = texts.phrase(1, 2)
            if has_notes and random.chance(0.2):
                name = joined(name, element("sup", random.one("1", "2", "a", "b")))
            name = element("b", name) if step == 0 else name
            values = [
                Cell(
                    random.one("..", "–", "x")
                    if random.chance(missing)
                    else texts.value(kind)
                )
                for kind in kinds
            ]
            body.append([Cell(name, class_=f"step{step}" if step else ""), *values])
    names = [
        lines(*texts.different("columns", random.one(1, 2, 3))) for _ in range(count)
    ]
    heads = [grids.head_row(texts.phrase(1, 2), *names)]
    if random.chance(0.35):
        units = [Cell(str(n), is_head=True) for n in range(1, count + 2)]
        heads.append(units)
    tight = random.chance(0.6)
    name_ = grids.look(
        design, random.one("none", "none", "head foot", "zebra", "columns"), tight
    )
    caption = tables.caption_text(design, "table") if random.chance(0.5) else None
    table = grids.grid(design, heads, body, "l" + "r" * count, name_, caption=caption)
    found = [layout.table_note(design) for _ in range(random.randint(0, 3))]
    top = text.heading(design, 1) if random.chance(0.6) else None
    return [
        running.running_head(design, 0.5),
        main(top, table, *found, text.sections(design, 0, 2)),
        running.running_foot(design),
    ]


FAMILIES = {
    "results in a paper": Family(results_in_paper, (), (9.5, 13)),
    "notes to accounts": Family(notes_to_accounts, (), (9.5, 14)),
    "printout": Family(printout, ((794, 1123), (1123, 794)), (10, 14)),
    "till slip": Family(till_slip, _SLIPS, (11, 15)),
    "fees": Family(fees, (), (9.5, 14)),
    "inspection": Family(inspection, (), (9.5, 13)),
    "data cards": Family(data_cards, ((794, 1123), (1024, 900)), (10, 15)),
    "table slide": Family(table_slide, _SLIDES, (16, 26)),
    "by regions": Family(by_regions, (), (9.5, 13)),
}
