"""Rows against columns: scales, ticks, distances, hours, forms of verbs, sizes, levels."""

from markupsafe import Markup

from vit_str.synthesis.pages.design import Design, main
from vit_str.synthesis.pages.families.family import Family
from vit_str.synthesis.pages.html import Content, div, element, joined, lines
from vit_str.synthesis.pages.parts import (
    facts,
    fronts,
    grids,
    layout,
    lists,
    running,
    text,
)
from vit_str.synthesis.pages.parts.tables import Cell, Row


def _page(design: Design, *parts: Content, title: str = "") -> list[Markup | None]:
    """A page of a title, some words and parts, as all of these families have it."""
    random = design.random
    return [
        running.running_head(design, 0.35),
        main(
            text.heading(design, 1, title or None) if random.chance(0.9) else None,
            text.paragraph(design, 1, 2) if random.chance(0.35) else None,
            *parts,
            layout.table_note(design) if random.chance(0.35) else None,
            text.paragraph(design, 1, 3) if random.chance(0.3) else None,
            text.sections(design, 0, 3),
        ),
        running.running_foot(design, 0.5),
    ]


def survey(design: Design) -> list[Markup | None]:
    """Statements with shares of answers, or with a scale to tick; some heads run upwards."""
    random = design.random
    texts = design.texts
    count = random.randint(3, 6)
    is_empty = random.chance(0.35)
    has_boxes = random.chance(0.5)
    way = random.one("level", "level", "upright", "numbers")
    names: list[Content] = []
    for number in range(1, count + 1):
        name = random.one(texts.phrase(1, 2), texts.exact("answers"))
        names.append(
            {"upright": grids.upright(name), "numbers": str(number)}.get(way, name)
        )
    has_mean = not is_empty and random.chance(0.4)
    kind = random.one("percent", "small", "integer", "decimal")
    is_numbered = random.chance(0.4)
    columns = 1 + count + has_mean
    body: list[Row] = []
    for number in range(1, random.randint(4, 14) + 1):
        if random.chance(0.1):
            body.append(grids.group_row(texts.phrase(1, 4), columns))
        asked = texts.sentence(4, random.one(8, 16))
        asked = f"{number}. {asked}" if is_numbered else asked
        answers: Row = [Cell(texts.value(kind)) for _ in range(count)]
        if is_empty:
            answers = [
                Cell(facts.tick_box(design, False) if has_boxes else str(n))
                for n in range(1, count + 1)
            ]
        mean = [Cell(texts.value("decimal"))] * has_mean
        body.append([Cell(asked), *answers, *mean])
    titles = [
        random.one("", texts.phrase(1, 2)),
        *names,
        *[texts.phrase(1, 1)] * has_mean,
    ]
    heads = [grids.head_row(*titles)]
    if way != "upright" and random.chance(0.3):
        over = Cell(texts.phrase(1, 3), columns=count, is_head=True)
        last = [Cell("", is_head=True)] * has_mean
        heads.insert(0, [Cell("", is_head=True), over, *last])
    widths = (random.uniform(3, 6), *[1.0] * (count + has_mean))
    side = random.one("c", "c", "r")
    return _page(
        design, grids.grid(design, heads, body, "l" + side * (columns - 1), "", widths)
    )


def ticks(design: Design) -> list[Markup | None]:
    """A table of properties: drawn ticks, crosses and discs under names of columns."""
    random = design.random
    texts = design.texts
    count = random.randint(3, 9)
    is_upright = count > 5 or random.chance(0.25)
    names = [texts.phrase(1, 2) for _ in range(count)]
    titles: list[Content] = [grids.upright(n) if is_upright else n for n in names]
    pair = random.one(("tick", "cross"), ("disc", "ring"), ("tick", ""), ("disc", ""))
    words = random.one(0.0, 0.1, 0.3)
    has_groups = random.chance(0.45)
    is_tall = random.chance(0.3)
    columns = 1 + count + is_tall
    body: list[Row] = []
    for _ in range(random.randint(2, 4)):
        group = texts.phrase(1, 2)
        rows = random.randint(2, 5)
        if has_groups and not is_tall:
            body.append(grids.group_row(group, columns))
        for place in range(rows):
            row: Row = []
            if is_tall and place == 0:
                inner = grids.upright(group) if rows > 3 else group
                row.append(Cell(inner, rows=rows, is_head=True))
            row.append(Cell(texts.phrase(1, random.one(3, 6))))
            for _ in range(count):
                kind = random.choice(pair)
                if random.chance(words):
                    row.append(
                        Cell(random.one(texts.value("small"), texts.value("answer")))
                    )
                else:
                    row.append(Cell(grids.tick(design, kind) if kind else ""))
            body.append(row)
    heads = [
        grids.head_row(*[""] * is_tall, random.one("", texts.phrase(1, 2)), *titles)
    ]
    sides = "l" * (1 + is_tall) + "c" * count
    return _page(design, grids.grid(design, heads, body, sides))


def cross_table(design: Design) -> list[Markup | None]:
    """All against all: results or distances, a dark diagonal, some with one half empty."""
    random = design.random
    texts = design.texts
    count = random.randint(4, 11)
    names = [texts.phrase(1, 1) for _ in range(count)]
    way = random.one("results", "distances", "decimals")
    is_half = way != "results" and random.chance(0.7)
    short = [name[:3].upper() for name in names] if count > 7 else names
    heads_are_numbers = random.chance(0.25)
    dark = random.chance(0.6)
    design.added_css.append(".own { background: #444; color: #444 }")

    def value(row: int, column: int) -> Content:
        if row == column:
            return "" if dark or way != "results" else random.one("", "–", "—")
        if is_half and column > row:
            return ""
        if way == "results":
            return f"{random.randint(0, 5)}{random.one(':', '–', '-')}{random.randint(0, 5)}"
        if way == "distances":
            return texts.number(random.randint(20, 1900))
        return texts.number(random.random(), 2)

    body: list[Row] = []
    for row, name in enumerate(names):
        cells = [
            Cell(value(row, column), class_="own" if dark and row == column else "")
            for column in range(count)
        ]
        first = Cell(f"{row + 1} {name}" if heads_are_numbers else name, is_head=True)
        sums = [Cell(texts.value("small"))] if way == "results" else []
        body.append([first, *cells, *sums])
    tops = [str(n + 1) for n in range(count)] if heads_are_numbers else short
    heads = [grids.head_row("", *tops, *[texts.phrase(1, 1)] * (way == "results"))]
    name = grids.look(
        design, random.one("all", "all", "rows", "none", "zebra"), count > 7
    )
    sides = "l" + "c" * count + "c" * (way == "results")
    return _page(design, grids.grid(design, heads, body, sides, name))


def month_plan(design: Design) -> list[Markup | None]:
    """A month with what happens in its days: a number and short lines in each cell."""
    random = design.random
    texts = design.texts
    start, count = random.randint(0, 6), random.randint(28, 31)
    has_times = random.chance(0.5)
    busy = random.uniform(0.2, 0.7)
    side = random.one("left", "right")
    css = f"text-align: {side}; font-weight: {random.one(400, 700)}"

    def day(number: int) -> Content:
        if not 1 <= number <= count:
            return ""
        said: list[str] = []
        while len(said) < 3 and random.chance(busy):
            name = texts.phrase(1, 2)
            said.append(f"{texts.time()} {name}" if has_times else name)
        below = div(lines(*said), class_="sub") if said else None
        return joined(div(str(number), style=css), below)

    length = random.one(2, 3, 20)
    days = [name[:length] for name in texts.all_labels("days")]
    cells = [Cell(day(n)) for n in range(1 - start, 43 - start)]
    weeks = [cells[n : n + 7] for n in range(0, 35 if start + count <= 35 else 42, 7)]
    high = random.randint(50, 100)
    name = grids.look(design, random.one("all", "all", "rows", "apart"))
    design.added_css.append(
        f".{name} tbody td {{ height: {high}px; vertical-align: top }}"
    )
    table = grids.grid(design, [grids.head_row(*days)], weeks, "l" * 7, name, [1] * 7)
    month = f"{texts.exact('months')} {texts.year}"
    more = lists.any_list(design, 2, 5) if random.chance(0.3) else None
    return _page(design, table, more, title=month)


def lesson_grid(design: Design) -> list[Markup | None]:
    """A week of lessons: hours down, days across, lessons over two or three hours, breaks."""
    random = design.random
    texts = design.texts
    days = texts.all_labels("days")[: random.one(5, 5, 6)]
    subjects = [texts.phrase(1, 2) for _ in range(random.randint(5, 9))]
    grounds = random.sample(_SOFT, len(_SOFT))
    is_colored = random.chance(0.5)
    has_more = random.chance(0.6)
    is_counted = random.chance(0.2)
    parted = random.one("br", "comma")
    under = [0] * len(days)
    rows = random.randint(5, 9)
    pause = random.randint(2, rows - 2) if random.chance(0.5) else -1
    body: list[Row] = []
    for number in range(rows):
        clock = f"{8 + number}:00–{8 + number}:45"
        hour = str(number + 1) if is_counted else clock
        row: Row = [Cell(hour, is_head=True)]
        if number == pause:
            under = [0] * len(days)
            row.append(Cell(texts.phrase(1, 1), columns=len(days), class_="center"))
            body.append(row)
            continue
        for place in range(len(days)):
            if under[place]:
                under[place] -= 1
                continue
            end = pause if number < pause else rows
            tall = min(random.one(1, 1, 1, 2, 2, 3), end - number)
            under[place] = tall - 1
            row.append(
                _lesson(design, subjects, grounds, tall, is_colored, has_more, parted)
            )
        body.append(row)
    heads = [grids.head_row(random.one("", texts.exact("columns")), *days)]
    name = grids.look(design, random.one("all", "all", "all", "rows"))
    design.added_css.append(
        f".{name} tbody td {{ height: {random.randint(24, 60)}px }} "
        + " ".join(f".soft{n} {{ background: {g} }}" for n, g in enumerate(grounds))
    )
    widths = (0.8, *[1.0] * len(days))
    side = random.one("c", "l")
    return _page(
        design, grids.grid(design, heads, body, "l" + side * len(days), name, widths)
    )


_SOFT = ("#fde2e2", "#e2effd", "#e5f5e0", "#fff4cc", "#eee3f7", "#e8e8e8")


def _lesson(
    design: Design,
    subjects: list[str],
    grounds: list[str],
    tall: int,
    is_colored: bool,
    has_more: bool,
    parted: str,
) -> Cell:
    """A subject with room and teacher in its cell, or nothing."""
    random = design.random
    if random.chance(0.2):
        return Cell("", rows=tall)
    place = random.randrange(len(subjects))
    said: Content = subjects[place]
    if has_more:
        more = random.one(design.texts.person(), design.texts.value("code"))
        said = lines(said, more) if parted == "br" else f"{said}, {more}"
    color = f"soft{place % len(grounds)}" if is_colored else ""
    return Cell(said, rows=tall, class_=color)


def conjugation(design: Design) -> list[Markup | None]:
    """Forms of words: persons down, tenses across, moods over several columns or rows."""
    random = design.random
    texts = design.texts
    persons = [texts.noun()[: random.one(3, 5)] for _ in range(6)]
    stem = texts.noun()

    def form() -> str:
        return stem + texts.noun()[-random.randint(1, 3) :]

    def together() -> Markup:
        count = random.randint(3, 5)
        above = [Cell("", is_head=True)]
        above.append(Cell(texts.phrase(1, 1), columns=2, is_head=True))
        if count > 2:
            above.append(Cell(texts.phrase(1, 1), columns=count - 2, is_head=True))
        names = grids.head_row("", *(texts.phrase(1, 2) for _ in range(count)))
        body = [
            [Cell(person, is_head=True), *[Cell(form()) for _ in range(count)]]
            for person in persons
        ]
        return grids.grid(design, [above, names], body, "l" * (count + 1))

    name = grids.look(design, random.one("none", "none", "all", "rows"))

    def apart() -> Markup:
        bold = random.chance(0.3)
        rows = [
            [Cell(person), Cell(element("b", form()) if bold else form())]
            for person in persons
        ]
        return grids.grid(design, [], rows, "ll", name, css="")

    def block() -> Markup:
        title = text.heading(design, 3, texts.phrase(1, 2))
        return div(title, apart(), style="break-inside: avoid")

    parts: list[Content] = []
    for _ in range(random.randint(1, 3)):
        parts.append(text.heading(design, 2, texts.phrase(1, 2)))
        if random.chance(0.4):
            parts.append(together())
            continue
        across = random.randint(2, 4)
        css = (
            f"display: grid; grid-template-columns: repeat({across}, 1fr); gap: 0 1.5em"
        )
        parts.append(
            div(*(block() for _ in range(across)), class_="flow beside", style=css)
        )
    return _page(design, *parts, title=stem)


def size_chart(design: Design) -> list[Markup | None]:
    """Sizes of clothes or tubes: measures down, sizes across, units over several columns."""
    random = design.random
    texts = design.texts
    sizes = random.one(
        ["XS", "S", "M", "L", "XL", "XXL"],
        [str(n) for n in range(34, 48, 2)],
        ["1/4", "3/8", "1/2", "3/4", "1"],
        ["DN 15", "DN 20", "DN 25", "DN 32"],
    )

    def value() -> str:
        low = random.randint(20, 120)
        return random.one(f"{low}–{low + 4}", str(low), texts.number(low + 0.5, 1))

    def down() -> Markup:
        names = [texts.phrase(1, 2) for _ in range(random.randint(2, 5))]
        body = [
            [Cell(size, is_head=True), *[Cell(value()) for _ in names]]
            for size in sizes
        ]
        heads = [grids.head_row(texts.exact("columns"), *names)]
        if len(names) > 2 and random.chance(0.5):
            over = [Cell(u, columns=n, is_head=True) for u, n in _halves(len(names))]
            heads.insert(0, [Cell("", is_head=True), *over])
        return grids.grid(design, heads, body, "l" + "c" * len(names))

    def across() -> Markup:
        rows = random.randint(2, 6)
        body = [
            [Cell(texts.phrase(1, 3), is_head=True), *[Cell(value()) for _ in sizes]]
            for _ in range(rows)
        ]
        return grids.grid(
            design, [grids.head_row("", *sizes)], body, "l" + "c" * len(sizes)
        )

    parts: list[Content] = []
    for _ in range(random.randint(1, 3)):
        parts += [text.heading(design, 2), random.one(down, across)()]
    parts.append(lists.any_list(design, 2, 5) if random.chance(0.5) else None)
    return _page(design, *parts)


def _halves(count: int) -> list[tuple[str, int]]:
    """Names of two units over columns."""
    return [("cm", count // 2), ("inch", count - count // 2)]


def rubric(design: Design) -> list[Markup | None]:
    """Criteria down, levels across, a sentence or some lines in each cell."""
    random = design.random
    texts = design.texts
    count = random.randint(3, 5)
    longest = random.one(8, 14, 20)
    has_items = random.chance(0.3)
    has_points = random.chance(0.5)

    def inside() -> Content:
        if has_items:
            return lines(
                *(f"• {texts.sentence(2, 6)[:-1]}" for _ in range(random.randint(1, 3)))
            )
        return texts.sentence(4, longest)

    body = []
    for _ in range(random.randint(3, 6)):
        name: Content = texts.phrase(1, 3)
        if has_points:
            name = joined(name, div(f"{random.randint(5, 40)} %", class_="sub"))
        body.append([Cell(name, is_head=True), *[Cell(inside()) for _ in range(count)]])
    names = [texts.phrase(1, 2) for _ in range(count)]
    if random.chance(0.4):
        names = [f"{count - n} – {name}" for n, name in enumerate(names)]
    heads = [grids.head_row(random.one("", texts.exact("columns")), *names)]
    rules = random.one("all", "all", "rows", "none", "columns", "apart")
    name = grids.look(design, rules)
    widths = (random.uniform(0.6, 1), *[1.0] * count)
    table = grids.grid(design, heads, body, "l" * (count + 1), name, widths)
    return _page(
        design, fronts.known(design, 2, 4) if random.chance(0.3) else None, table
    )


def score_sheet(design: Design) -> list[Markup | None]:
    """Players of two sides with many small numbers in narrow columns, sums below."""
    random = design.random
    texts = design.texts
    count = random.randint(6, 13)
    titles = [texts.noun()[: random.randint(1, 3)].upper() for _ in range(count)]
    has_minutes = random.chance(0.5)
    name = grids.look(
        design, random.one("none", "zebra", "rows", "head", "all"), tight=True
    )

    def numbers() -> Row:
        found = [random.one("0", str(random.randint(0, 30)), str(random.randint(0, 9)))]
        if random.chance(0.5):
            found = [f"{random.randint(0, 9)}-{random.randint(5, 15)}"]
        first = [
            Cell(f"{random.randint(2, 48)}:{random.randint(0, 59):02}")
        ] * has_minutes
        rest = [str(random.randint(0, 12)) for _ in range(count - 1 - has_minutes)]
        return [*first, *[Cell(one) for one in [*found, *rest]]]

    def side() -> Markup:
        team = texts.phrase(1, 2)
        body = [
            [Cell(texts.person()), *numbers()] for _ in range(random.randint(5, 11))
        ]
        sums = [Cell(str(random.randint(5, 120)), class_="sum") for _ in range(count)]
        body.append([Cell(texts.exact("totals"), class_="sum"), *sums])
        is_inside = random.chance(0.4)
        heads = [grids.head_row(team if is_inside else "", *titles)]
        table = grids.grid(
            design, heads, body, "l" + random.one("r", "c") * count, name
        )
        return table if is_inside else joined(text.heading(design, 2, team), table)

    quarters = [
        [
            Cell(texts.phrase(1, 2)),
            *[Cell(str(random.randint(10, 40))) for _ in range(5)],
        ]
        for _ in range(2)
    ]
    line = grids.grid(
        design,
        [grids.head_row("", "1", "2", "3", "4", "T")],
        quarters,
        "lccccc",
        name,
        css="",
    )
    return _page(design, line if random.chance(0.5) else None, side(), side())


FAMILIES = {
    "survey": Family(survey, (), (10, 14)),
    "ticks": Family(ticks, (), (10, 14)),
    "cross table": Family(cross_table, (), (10, 14)),
    "month plan": Family(month_plan, ((1123, 794), (794, 1123)), (10, 14)),
    "lesson grid": Family(
        lesson_grid, ((1123, 794), (794, 1123), (1056, 816)), (9.5, 14)
    ),
    "conjugation": Family(conjugation, (), (10, 15)),
    "size chart": Family(size_chart, (), (10, 15)),
    "rubric": Family(rubric, ((794, 1123), (816, 1056), (1123, 794)), (9.5, 13)),
    "score sheet": Family(score_sheet, (), (9.5, 13)),
}
