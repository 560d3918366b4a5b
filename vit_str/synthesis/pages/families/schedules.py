"""Opening hours, departures, television, results and leagues, examinations, shifts."""

from markupsafe import Markup

from vit_str.synthesis.pages.design import Design, main
from vit_str.synthesis.pages.families.family import Family
from vit_str.synthesis.pages.families.listings import hours_rows
from vit_str.synthesis.pages.html import Content, div, element, joined, lines, span
from vit_str.synthesis.pages.parts import facts, layout, running, tables, text
from vit_str.synthesis.pages.parts.tables import Cell, Column, Row, TableOptions

_SIGNS = ((560, 794), (640, 480), (794, 1123), (480, 640))
_BOARDS = ((1123, 632), (1024, 768), (794, 1123))


def _head(*titles: str) -> list[Row]:
    return [[Cell(title, is_head=True) for title in titles]]


def opening_hours(design: Design) -> list[Markup | None]:
    """A sign at a door: days and hours in two or three columns, or in lines; what is closed."""
    random = design.random
    texts = design.texts
    center = random.one("", "text-align: center")

    def hours() -> Markup:
        names, values = hours_rows(design)
        way = random.weighted({"pairs": 4, "table": 3, "lines": 1.5})
        if way == "pairs":
            return tables.pairs(design, names, values=values)
        if way == "lines":
            rows = [joined(n, " ", v) for n, v in zip(names, values, strict=True)]
            return text.text_line(lines(*rows), style=center)
        halves = [
            (f"{texts.time()}–{texts.time()}", texts.exact("closed")) for _ in names
        ]
        body = [
            [Cell(name), Cell(value), Cell(random.one(*half))]
            for name, value, half in zip(names, values, halves, strict=True)
        ]
        titles = texts.different("columns", 3)
        columns = [Column("phrase"), Column("time"), Column("time")]
        heads = _head("", *titles[1:]) if random.chance(0.5) else []
        return tables.drawn(design, heads, body, columns)

    count = random.one(1, 1, 1, 2, 3)
    parts = [
        joined(text.heading(design, 2) if count > 1 else None, hours())
        for _ in range(count)
    ]
    body: Content = joined(*parts)
    if count > 1 and random.chance(0.4):
        body = layout.beside(design, *parts, shares=(1,) * count)
    return [
        main(
            text.heading(design, 1, style=center) if random.chance(0.8) else None,
            text.text_line(texts.sentence(3, 9), style=center)
            if random.chance(0.4)
            else None,
            body,
            text.paragraph(design, 1, 2, center) if random.chance(0.5) else None,
            facts.contact(design) if random.chance(0.4) else None,
        )
    ]


def _departure(design: Design, kinds: list[str]) -> Row:
    random = design.random
    texts = design.texts
    row = []
    for kind in kinds:
        if kind == "to":
            via = ", ".join(random.several(1, 4, lambda: texts.value("place")))
            below = div(via, class_="sub") if random.chance(0.4) else None
            row.append(Cell(joined(texts.value("place"), below)))
        elif kind == "late":
            late = f"+{random.randint(1, 60)}"
            row.append(Cell(random.one("", "", late, texts.time(), texts.phrase(1, 2))))
        elif kind == "line":
            name = f"{random.one('S', 'RE ', 'IC ', 'U', 'B')}{random.randint(1, 90)}"
            row.append(Cell(name))
        elif kind == "track":
            row.append(Cell(f"{random.randint(1, 24)}{random.one('', '', 'a')}"))
        else:
            row.append(Cell(texts.time()))
    return row


def departures(design: Design) -> list[Markup | None]:
    """Departures: boards, lists on paper, minutes under hours."""
    random = design.random
    texts = design.texts
    title = text.heading(design, 1, random.one(None, texts.value("place")))
    line = (
        text.text_line(f"{texts.date()} {texts.time()}") if random.chance(0.4) else None
    )
    if random.chance(0.3):
        body: Content = _minutes(design)
    else:
        kinds = random.one(
            ["time", "line", "to", "track"],
            ["time", "to", "track", "late"],
            ["line", "to", "time"],
            ["time", "late", "line", "to", "track"],
            ["to", "time"],
        )
        known = {"to": "place", "late": "code", "line": "code", "track": "small"}
        columns = [Column(known.get(kind, "time")) for kind in kinds]
        titles = texts.different("columns", len(kinds))
        rows = random.several(4, 20, lambda: _departure(design, kinds))
        heads = _head(*titles) if random.chance(0.7) else []
        body = tables.drawn(design, heads, rows, columns)
    if random.chance(0.3):
        design.added_css.append(
            f"html, body {{ background: {design.style.dark}; color: #fff }}"
            " h1, .sub { color: #fff !important; background: none !important }"
            " table, [role=table] { background: #111; color: #ffd84d }"
            " table *, [role=table] * { background: none !important;"
            " color: inherit !important; border-color: #666 !important }"
        )
    note = layout.table_note(design) if random.chance(0.4) else None
    return layout.page(design, title, line, body, note, foot=0.2)


def _minutes(design: Design) -> Markup:
    """Hours down, minutes in a row each, for one or more kinds of day."""
    random = design.random
    days = random.some(design.texts.all_labels("days"), 1, 3)
    start = random.randint(4, 8)
    columns = [Column("small"), *[Column("phrase", day) for day in days]]
    signs = ("", "", "", "a", "*")

    def minutes() -> str:
        found = sorted(random.sample(range(60), random.randint(1, 6)))
        return " ".join(f"{minute:02}{random.choice(signs)}" for minute in found)

    body = [
        [Cell(f"{hour:02}", is_head=True), *(Cell(minutes()) for _ in days)]
        for hour in range(start, random.randint(start + 5, 24))
    ]
    return tables.drawn(design, _head("", *days), body, columns)


def programme(design: Design) -> list[Markup | None]:
    """A programme of broadcasts: stations in columns or one table, with lines below titles."""
    random = design.random
    texts = design.texts
    minute = random.randint(300, 420)
    share = random.one(0, 0.3, 0.8)
    is_bold = random.chance(0.5)

    def shown() -> Content:
        name = texts.title(1, 5)
        below = None
        if random.chance(share):
            below = div(texts.sentence(3, 12), class_="sub")
        return joined(element("b", name) if is_bold else name, below)

    def station(rows: int) -> Markup:
        body, now = [], minute
        for _ in range(rows):
            body.append([Cell(f"{now // 60 % 24:02}:{now % 60:02}"), Cell(shown())])
            now += random.one(15, 25, 30, 45, 60, 90)
        return tables.drawn(design, [], body, [Column("time"), Column("phrase")])

    count = random.one(1, 2, 3, 4)
    if count > 2 and random.chance(0.3):
        names = [texts.phrase(1, 2) for _ in range(count)]
        columns = [Column("time"), *[Column("phrase", name) for name in names]]
        body = []
        for number in range(random.randint(4, 10)):
            cells = [Cell(shown()) for _ in names]
            body.append([Cell(f"{6 + number}:00"), *cells])
        parts = [tables.drawn(design, _head("", *names), body, columns)]
    else:
        stations = [
            div(text.heading(design, 2), station(random.randint(4, 14)), class_="flow")
            for _ in range(count)
        ]
        parts = [layout.beside(design, *stations, shares=(1,) * count)]
        if count == 1:
            parts = stations
    title = text.heading(design, 1) if random.chance(0.7) else None
    day = f"{random.choice(texts.all_labels('days'))}, {texts.date()}"
    return [
        running.running_head(design, 0.3),
        main(title, text.text_line(day), *parts),
        running.running_foot(design, 0.5),
    ]


def _league(design: Design, teams: list[str]) -> Markup:
    """Places, teams, games, goals, points."""
    random = design.random
    count = random.randint(2, 7)
    titles = random.one(
        ["P", "W", "D", "L", "GF", "GA", "Pts"],
        design.texts.different("columns", 7),
    )[-count:]
    columns = [Column("small"), Column("phrase"), *[Column("small") for _ in titles]]
    body = []
    for place, team in enumerate(teams, 1):
        values = [str(random.randint(0, 90)) for _ in titles]
        if count > 3 and random.chance(0.9):
            values[-2] = f"{random.randint(9, 80)}:{random.randint(9, 80)}"
        cells = [Cell(value) for value in values[:-1]]
        last = element("b", values[-1]) if random.chance(0.3) else values[-1]
        dot = "." if count % 2 else ""
        body.append([Cell(f"{place}{dot}"), Cell(team), *cells, Cell(last)])
    names = ["", random.one("", design.texts.label("columns")), *titles]
    return tables.drawn(
        design, _head(*names) if random.chance(0.85) else [], body, columns
    )


def _results(design: Design, teams: list[str]) -> Markup:
    """Who played whom, and how it ended."""
    random = design.random
    mark = random.one(":", "–", "-", " : ")
    way = random.one("three", "between", "one")
    is_dated = random.chance(0.4)
    body = []
    for _ in range(random.randint(3, 9)):
        home, away = random.sample(teams, 2)
        score = f"{random.randint(0, 5)}{mark}{random.randint(0, 5)}"
        row = {
            "three": [home, away, score],
            "between": [home, score, away],
            "one": [f"{home} – {away}", score],
        }[way]
        first = [design.texts.date()] if is_dated else []
        body.append([Cell(value) for value in [*first, *row]])
    kinds = [Column("date")] if is_dated else []
    kinds += [Column("phrase") for _ in body[0][len(kinds) :]]
    return tables.drawn(design, [], body, kinds)


def league(design: Design) -> list[Markup | None]:
    """Sports: results of a day and the table after it, below each other or side by side."""
    random = design.random
    count = random.one(6, 8, 10, 12, 16, 18)
    teams = [design.texts.phrase(1, 2) for _ in range(count)]
    parts: list[Content] = []
    for _ in range(random.one(1, 1, 2)):
        made = [
            div(text.heading(design, 2), _results(design, teams), class_="flow"),
            div(text.heading(design, 2), _league(design, teams), class_="flow"),
        ]
        if random.chance(0.4):
            random.shuffle(made)
        chosen = made[: random.one(1, 2, 2)]
        if len(chosen) == 2 and random.chance(0.5):
            parts.append(layout.beside(design, *chosen, shares=(2, 3)))
        else:
            parts += chosen
        if random.chance(0.4):
            parts.append(text.paragraph(design, 1, 3))
    title = text.heading(design, 1) if random.chance(0.7) else None
    return layout.page(design, title, *parts, head=0.2, foot=0.4)


def exam_plan(design: Design) -> list[Markup | None]:
    """Examinations and courses: days over several rows or as names of groups."""
    random = design.random
    texts = design.texts
    kinds = random.some(["time", "phrase", "code", "person", "place", "small"], 3, 5)
    if "phrase" not in kinds:
        kinds[-1] = "phrase"
    way = random.one("spans", "groups", "repeated", "headings")
    titles = texts.different("columns", len(kinds) + 1)
    shares = random.one(0, 0, 0.3)

    def row() -> Row:
        cells = []
        for kind in kinds:
            value: Content = texts.value(kind)
            if kind in ("phrase", "person") and random.chance(shares):
                value = lines(value, texts.value(kind))
            cells.append(Cell(value))
        return cells

    columns = [Column(kind) for kind in kinds]
    heads = _head(*titles[1:])
    if way == "headings":
        days = random.several(
            2,
            4,
            lambda: joined(
                text.heading(design, 2, _day(design)),
                tables.drawn(design, heads, random.several(2, 6, row), columns),
            ),
        )
        body: Content = joined(*days)
    else:
        rows: list[Row] = []
        for _ in range(random.randint(3, 7)):
            some = random.several(1, 4, row)
            day = _day(design)
            if way == "groups":
                name = Cell(day, columns=len(kinds), is_head=True, class_="group")
                rows += [[name], *some]
            elif way == "spans":
                some[0] = [Cell(day, rows=len(some)), *some[0]]
                rows += some
            else:
                rows += [[Cell(day), *one] for one in some]
        if way != "groups":
            columns = [Column("date"), *columns]
            heads = _head(*titles)
        body = tables.drawn(design, heads, rows, columns)
    return [
        running.running_head(design, 0.3),
        main(
            text.heading(design, 1),
            text.paragraph(design, 1, 2) if random.chance(0.4) else None,
            body,
            layout.table_note(design) if random.chance(0.4) else None,
            text.items(design, 2, 4) if random.chance(0.2) else None,
        ),
        running.running_foot(design, 0.5),
    ]


def _day(design: Design) -> str:
    day = design.random.choice(design.texts.all_labels("days"))
    return design.random.one(day, f"{day}, {design.texts.date()}", design.texts.date())


def roster(design: Design) -> list[Markup | None]:
    """Who works when: people down, days across, letters or hours in the cells."""
    random = design.random
    texts = design.texts
    days = texts.all_labels("days")[: random.one(5, 7)]
    length = random.one(2, 3, 20)
    first = random.randint(1, 24)
    numbers = [f"{first + n}." for n in range(len(days))]
    titles = [day[:length] for day in days]
    if random.chance(0.4):
        titles = [f"{day} {n}" for day, n in zip(titles, numbers, strict=True)]
    names = texts.different("fields", 2)
    letters = random.sample("FSNUKXTMV", 4)
    way = random.one("letters", "hours", "names")

    def shift() -> Content:
        if random.chance(0.15):
            return random.one("", "–")
        if way == "letters":
            return random.choice(letters)
        if way == "hours":
            start = random.randint(5, 15)
            dash = random.one("–", "-")
            return f"{start}{dash}{start + 8}"
        people = random.several(1, 3, lambda: texts.value("place"))
        return lines(*people)

    sums = random.chance(0.3)
    body: list[Row] = []
    for number in range(random.randint(3, 16 if way != "names" else 6)):
        who: Content = texts.person()
        if way == "names":
            who = f"{6 + 4 * number}:00–{10 + 4 * number}:00"
        row = [Cell(who, is_head=True), *(Cell(shift()) for _ in days)]
        body.append([*row, Cell(texts.value("small"))] if sums else row)
    columns = [Column("person"), *[Column("phrase") for _ in days]]
    columns += [Column("small")] if sums else []
    head = [names[0], *titles, *([names[1]] if sums else [])]
    heads = _head(*head)
    if random.chance(0.25) and not sums:
        above = [
            Cell("", is_head=True),
            Cell(texts.date(), columns=len(days), is_head=True),
        ]
        heads = [above, *heads]
    known = [f"{one} = {texts.phrase(1, 2)}" for one in letters]
    legend = text.text_line(", ".join(known)) if way == "letters" else None
    return [
        main(
            text.heading(design, 1),
            facts.running_facts(design, 1, 3) if random.chance(0.3) else None,
            tables.drawn(design, heads, body, columns),
            legend,
            facts.signatures(design) if random.chance(0.2) else None,
            span(),
        ),
        running.running_foot(design, 0.4),
    ]


def dates(design: Design) -> list[Markup | None]:
    """A calendar of events: dates beside names and places, by months, in two columns of tables."""
    random = design.random
    texts = design.texts
    kinds = random.one(
        ["date", "phrase"],
        ["date", "time", "phrase", "place"],
        ["date", "clause", "price"],
        ["phrase", "date"],
    )
    columns = [Column(kind, texts.label("columns")) for kind in kinds]
    options = TableOptions(
        has_heads=random.chance(0.3),
        second=random.one(0, 0.5),
        lines=random.one(0, 0, 0.4),
    )

    def month() -> Markup:
        name = text.heading(design, 2, random.choice(texts.all_labels("months")))
        table = tables.table(
            design, columns, random.randint(2, 7), options, caption=False
        )
        return div(name, table, class_="flow")

    months = random.several(2, 5, month)
    body: Content = joined(*months)
    if len(kinds) < 3 and random.chance(0.5):
        rows = [
            layout.beside(
                design, *months[n : n + 2], shares=(1,) * len(months[n : n + 2])
            )
            for n in range(0, len(months), 2)
        ]
        body = joined(*rows)
    return [
        main(text.heading(design, 1), body, text.paragraph(design, 1, 2)),
        running.running_foot(design, 0.4),
    ]


FAMILIES = {
    "opening hours": Family(opening_hours, _SIGNS, (12, 20)),
    "departures": Family(departures, _BOARDS, (12, 20)),
    "television": Family(programme, (), (9, 13)),
    "league": Family(league, (), (10, 15)),
    "exam plan": Family(exam_plan, (), (10, 14)),
    "roster": Family(roster, ((1123, 794), (794, 1123)), (10, 14)),
    "dates": Family(dates, (), (10, 15)),
}
