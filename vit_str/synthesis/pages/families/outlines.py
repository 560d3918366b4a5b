"""Headings of many looks and lists in lists: clauses, articles, versions, courses, instructions."""

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
from vit_str.synthesis.pages.parts.tables import Cell

_PLAIN = "padding: 0; text-indent: 0"


def set_levels(design: Design) -> None:
    """Give the headings of the page looks that differ by level, the largest first.

    Numbers of their own are what they have, if any.
    """
    random = design.random
    design.style.is_numbered = False
    style = design.style
    size = random.uniform(1.6, 2.4)
    looks = [
        "",
        f"background: {style.dark}; color: #fff; padding: .2em .5em; border: 0",
        f"background: {style.color}; color: #fff; padding: .15em .5em; border: 0",
        f"background: {style.ground}; padding: .2em .5em",
        "font-variant: small-caps; text-transform: none; letter-spacing: .04em",
        f"color: {style.color}; background: none",
        f"border-bottom: 2px solid {style.color}; background: none",
        "border-top: 1px solid #333; border-bottom: 1px solid #333; padding: .15em 0",
        f"border-left: .35em solid {style.color}; padding-left: .5em; background: none",
        "text-align: center; letter-spacing: .12em; text-transform: uppercase",
        "font-style: italic; font-weight: 400",
        "text-decoration: underline; background: none",
    ]
    for level, look in enumerate(random.sample(looks, 4), 1):
        bold = "" if "font-weight" in look else "; font-weight: 700"
        # Not white on light, where the look of the page has a dark ground
        if look and "color:" not in look:
            look += f"; color: {style.ink}"
        if look and "background" not in look:
            look += "; background: none"
        design.added_css.append(f"h{level} {{ font-size: {size:.2f}em; {look}{bold} }}")
        size = max(0.98, size / random.uniform(1.12, 1.4))


def _item(mark: Content, *content: Content, room: float) -> Markup:
    """An item whose mark hangs in a room of its own; in line with its text if there is none."""
    if room:
        style = f"{_PLAIN}; display: flex; margin-bottom: .35em"
        inner = div(*content, style="flex: 1; min-width: 0")
        return element(
            "li", span(mark, style=f"flex: 0 0 {room:.1f}em"), inner, style=style
        )
    return element("li", mark, " ", *content, style=f"{_PLAIN}; margin-bottom: .35em")


def _list(design: Design, *rows: Content, indent: float = 0) -> Markup:
    return element(
        "ul", *rows, style=f"padding: 0 0 0 {indent:.1f}em; margin: .2em 0 .5em"
    )


def clauses(design: Design) -> list[Markup | None]:
    """Conditions with numbers of up to three places, letters in them, one to three columns."""
    random = design.random
    texts = design.texts
    set_levels(design)
    way = random.one("titled", "titled", "bold", "plain")
    room = random.one(0, 2.4, 3.2)
    dot = random.one("", ".")
    sub = random.one("({})", "{})", "{}.")
    indent = random.one(0, 1.2) if room else random.one(0.8, 1.6)

    def letters() -> Markup:
        rows = [
            _item(sub.format(letter), texts.sentence(4, 14), room=min(room, 1.8))
            for letter in "abcde"[: random.randint(2, 5)]
        ]
        return _list(design, *rows, indent=indent)

    def points(before: str, depth: int) -> Markup:
        rows = []
        for number in range(1, random.randint(2, 4) + 1):
            name = f"{before}.{number}"
            inner: Content = letters() if random.chance(0.2) else None
            if depth < 2 and random.chance(0.25):
                inner = points(name, depth + 1)
            rows.append(_item(name + dot, texts.text(1, 2), inner, room=room))
        return _list(design, *rows, indent=indent if depth > 1 else 0)

    parts: list[Content] = []
    for number in range(1, random.randint(4, 9) + 1):
        if way == "titled":
            name = f"{number}{random.one('.', dot)} {texts.label('sections')}"
            said = text.paragraph(design, 1, 2) if random.chance(0.3) else None
            parts += [text.heading(design, 2, name), said, points(str(number), 1)]
            continue
        strong = element("b", texts.label("sections") + ".") if way == "bold" else ""
        inner = letters() if random.chance(0.3) else None
        row = _item(f"{number}.", strong, " ", texts.text(1, 3), inner, room=room)
        parts.append(_list(design, row))
    count = random.one(1, 1, 2, 3) if way != "titled" else random.one(1, 1, 2)
    body = layout.columns(design, *parts, count=count) if count > 1 else joined(*parts)
    return [
        running.running_head(design, 0.4),
        main(text.heading(design, 1), text.paragraph(design, 1, 2), body),
        running.running_foot(design),
    ]


def articles(design: Design) -> list[Markup | None]:
    """Rules of a club or a state: parts, articles with titles below their numbers, paragraphs."""
    random = design.random
    texts = design.texts
    set_levels(design)
    sign = random.one("Art. {}", "§ {}", "Article {}", "§{}", "Rule {}")
    is_below = random.chance(0.5)
    align = random.one("", "text-align: center", "text-align: center")
    mark = random.one("({})", "{}.", "({})", "{}")
    room = random.one(0, 1.8, 2.6)
    has_parts = random.chance(0.5)
    parts: list[Content] = []
    for number in range(1, random.randint(4, 10) + 1):
        if has_parts and number % 3 == 1:
            chapter = f"{texts.exact('chapter')} {number // 3 + 1}"
            name = lines(chapter, texts.title(1, 5))
            parts.append(text.heading(design, 2, name, style=align))
        named = texts.title(1, 5)
        title = (
            lines(sign.format(number), named)
            if is_below
            else f"{sign.format(number)} {named}"
        )
        parts.append(text.heading(design, 3, title, style=align))
        count = random.one(1, 2, 3, 4)
        if count == 1:
            parts.append(text.paragraph(design, 1, 3))
            continue
        rows = []
        for place in range(1, count + 1):
            inner = None
            if random.chance(0.2):
                inner = _list(
                    design,
                    *(
                        _item(f"{c})", texts.sentence(3, 10), room=min(room, 1.6))
                        for c in "abc"
                    ),
                    indent=random.one(0.8, 1.5),
                )
            rows.append(_item(mark.format(place), texts.text(1, 2), inner, room=room))
        parts.append(_list(design, *rows))
    is_split = random.chance(0.25)
    body = layout.columns(design, *parts, count=2) if is_split else joined(*parts)
    return [
        running.running_head(design, 0.5),
        main(text.heading(design, 1, style=align), body),
        running.running_foot(design),
    ]


def release_notes(design: Design) -> list[Markup | None]:
    """Release notes: dates beside versions, kinds of changes, items with code."""
    random = design.random
    texts = design.texts
    set_levels(design)
    where = random.one("inside", "right", "below")
    has_kinds = random.chance(0.7)
    mark = random.one("•", "–", "*", "drawn disc")
    nested = random.one(0.0, 0.15)
    mono = f"font-family: {design.style.one_face('mono')}; font-size: .9em"

    def change(depth: int = 0) -> Markup:
        said = texts.sentence(3, random.one(8, 18))[:-1]
        words: list[Content] = list(said.split(" "))
        if random.chance(0.4):
            code = f"{texts.noun()}_{texts.noun()}"
            words[random.randrange(len(words))] = span(code, style=mono)
        if random.chance(0.25):
            words.append(f"(#{random.randint(10, 4000)})")
        inner = None
        if depth == 0 and random.chance(nested):
            inner = element("ul", change(1), change(1), style="padding: 0")
        body = joined(Markup(" ").join(word or "" for word in words), inner)
        return lists.hanging(design, text.mark_content(mark, 1), body, room=1.5)

    def version() -> Markup:
        number = (
            f"{random.randint(0, 9)}.{random.randint(0, 20)}.{random.randint(0, 9)}"
        )
        name = random.one(number, f"v{number}", f"{texts.phrase(1, 1)} {number}")
        date = texts.date()
        if where == "inside":
            title = text.heading(design, 2, f"{name} ({date})")
        elif where == "right":
            row = "display: flex; justify-content: space-between; align-items: baseline"
            head = text.heading(design, 2, name)
            title = div(head, text.text_line(date, "plain muted"), style=row)
        else:
            title = joined(
                text.heading(design, 2, name), text.text_line(date, "plain muted")
            )
        found: list[Content] = [title]
        for _ in range(random.randint(1, 3) if has_kinds else 1):
            found.append(
                text.heading(design, 3, texts.phrase(1, 2)) if has_kinds else None
            )
            rows = random.several(1, 6, change)
            found.append(element("ul", *rows, style="padding: 0"))
        return joined(*found)

    words = text.paragraph(design, 1, 2) if random.chance(0.5) else None
    return [
        running.running_head(design, 0.3),
        main(text.heading(design, 1), words, *random.several(2, 6, version)),
        running.running_foot(design, 0.4),
    ]


def syllabus(design: Design) -> list[Markup | None]:
    """A course: who and where, aims, weeks as a table or as items, how it is marked, rules."""
    random = design.random
    texts = design.texts
    set_levels(design)
    week = texts.phrase(1, 1)
    is_named = random.chance(0.3)

    def weeks() -> Markup:
        count = random.randint(5, 12)
        way = random.one("table", "items", "nested")
        if way == "table":
            more = random.one(0, 1, 2)
            rows = [
                [
                    Cell(f"{week} {n}" if is_named else str(n)),
                    Cell(texts.phrase(2, 7)),
                    *[Cell(texts.sentence(2, 8)[:-1]) for _ in range(more)],
                ]
                for n in range(1, count + 1)
            ]
            heads = [grids.head_row(*texts.different("columns", 2 + more))]
            widths = (0.5, 2, *[2.0] * more)
            return grids.grid(design, heads, rows, "ll" + "l" * more, "", widths)
        found = []
        for number in range(1, count + 1):
            name = element("b", f"{week} {number}:")
            inner = lists.marked(design, 1, 3, short=True) if way == "nested" else None
            found.append(_item(name, texts.phrase(2, 7), inner, room=0))
        return _list(design, *found)

    marks = [
        [Cell(texts.phrase(1, 3)), Cell(f"{random.randint(1, 10) * 5} %")]
        for _ in range(random.randint(3, 6))
    ]
    looks = grids.look(design)
    ways: list[Maker] = [
        lambda: lists.any_list(design, 3, 6),
        weeks,
        lambda: grids.grid(design, [], marks, "lr", looks, css="width: 50%"),
        lambda: joined(
            text.heading(design, 3),
            text.paragraph(design),
            text.heading(design, 3),
            text.paragraph(design),
        ),
        lambda: text.paragraph(design, 2, 4),
        lambda: lists.terms(design, 2, 4),
    ]
    parts: list[Content] = []
    for make in random.some(ways, 3, 6):
        parts += [text.heading(design, 2), make()]
    return [
        running.running_head(design, 0.3),
        main(text.heading(design, 1), fronts.known(design, 3, 7), *parts),
        running.running_foot(design),
    ]


def headings_beside(design: Design) -> list[Markup | None]:
    """Headings at the left, in a margin, what they are of at the right of them."""
    random = design.random
    wide = random.uniform(18, 32)
    gap = random.uniform(2, 5)
    rule = random.one("", "", "border-top: 1px solid #999; padding-top: .5em;")
    align = random.one("left", "left", "right")
    has_more = random.chance(0.3)
    design.added_css.append(
        f".beside2 {{ display: flex; gap: {gap:.1f}%; {rule} margin-bottom: .9em }}"
        f" .beside2 > :first-child {{ flex: 0 0 {wide:.0f}%; min-width: 0; text-align: {align} }}"
        " .beside2 > :last-child { flex: 1; min-width: 0 }"
        " .beside2 h2 { margin-top: 0; text-align: inherit; overflow-wrap: anywhere }"
    )
    ways: dict[Maker, float] = {
        lambda: text.paragraph(design, 1, 4): 3,
        lambda: joined(text.paragraph(design, 1, 3), text.paragraph(design, 1, 3)): 3,
        lambda: lists.any_list(design, 2, 5): 2,
        lambda: joined(text.heading(design, 3), text.paragraph(design, 1, 3)): 1.5,
        lambda: joined(text.paragraph(design, 1, 2), lists.any_list(design, 2, 4)): 2,
    }

    def section() -> Markup:
        below = (
            text.text_line(design.texts.phrase(1, 4), "plain fine")
            if has_more
            else None
        )
        head = div(text.heading(design, 2, design.texts.title(1, 4)), below)
        return div(head, div(random.weighted(ways)()), class_="beside2")

    return [
        running.running_head(design, 0.3),
        main(
            text.heading(design, 1),
            text.paragraph(design, 1, 2) if random.chance(0.4) else None,
            *random.several(4, 9, section),
        ),
        running.running_foot(design, 0.6),
    ]


def outline(design: Design) -> list[Markup | None]:
    """Points in points in points, with Roman numbers, letters, figures; narrow columns or one."""
    random = design.random
    texts = design.texts
    kinds = random.one(
        ("I.", "A.", "1."),
        ("1.", "a)", "–"),
        ("A.", "1.", "a)"),
        ("•", "–", "▪"),
        ("1.", "•", "–"),
    )
    longest = random.one((4, 6, 8), (10, 14, 16), (22, 18, 14))
    rooms = [random.uniform(1.4, 2.6) for _ in range(3)]
    romans = ("I.", "II.", "III.", "IV.", "V.", "VI.", "VII.", "VIII.")
    bold = random.chance(0.4)

    def level(depth: int) -> Markup:
        rows = []
        for number in range(1, random.randint(2, 5 - depth) + 1):
            mark = text.mark_of(kinds[depth], number)
            mark = romans[number - 1] if kinds[depth] == "I." else mark
            said: Content = texts.sentence(2, longest[depth])[:-1]
            said = element("b", said) if bold and depth == 0 else said
            inner = level(depth + 1) if depth < 2 and random.chance(0.6) else None
            rows.append(_item(mark, said, inner, room=rooms[depth]))
        return _list(design, *rows)

    parts: list[Content] = []
    for _ in range(random.randint(1, 4)):
        parts += [text.heading(design, 2), level(0)]
    count = random.one(1, 1, 2, 3)
    body = layout.columns(design, *parts, count=count) if count > 1 else joined(*parts)
    return layout.page(design, body, head=0.3, title=1, foot=0.5)


def council(design: Design) -> list[Markup | None]:
    """Minutes of a council: members in columns, numbered matters, motions, votes."""
    random = design.random
    texts = design.texts
    set_levels(design)
    number_mark = random.one("{}.", "{}", "TOP {}", "Item {}:")
    votes = texts.different("answers", 3)
    motion = texts.exact("statements")

    def people() -> Markup:
        rows = [
            element("li", texts.person(), style=_PLAIN)
            for _ in range(random.randint(4, 12))
        ]
        listed = element("ul", *rows, style="padding: 0")
        return lists.in_columns(design, listed) if random.chance(0.6) else listed

    def matter(number: int) -> Markup:
        name = f"{number_mark.format(number)} {texts.title(2, 7)}"
        found: list[Content] = [
            text.heading(design, 2, name),
            text.paragraph(design, 1, 3),
        ]
        if random.chance(0.4):
            said = joined(element("b", f"{motion}: "), texts.text(1, 2))
            found.append(text.text_line(said, style="margin: .4em 0 .4em 1.2em"))
        if random.chance(0.35):
            row = [div(f"{vote}: {random.randint(0, 20)}") for vote in votes]
            found.append(
                element("dl", *row, style="display: flex; gap: 2em; margin: .3em 0")
            )
        if random.chance(0.25):
            found.append(lists.any_list(design, 2, 4))
        return joined(*found)

    is_first = random.chance(0.8)
    there = joined(text.heading(design, 2), people()) if is_first else None
    numbers = range(1, random.randint(4, 9) + 1)
    return [
        running.running_head(design, 0.3),
        main(
            text.heading(design, 1),
            fronts.known(design, 2, 5),
            there,
            *map(matter, numbers),
            facts.signatures(design, 2),
        ),
        running.running_foot(design),
    ]


def instructions(design: Design) -> list[Markup | None]:
    """Steps with large numbers, smaller steps in them, pictures beside them, warnings in boxes."""
    random = design.random
    texts = design.texts
    set_levels(design)
    has_titles = random.chance(0.5)
    is_beside = random.chance(0.35)
    room = random.uniform(1.8, 3.4)
    size = f"font-size: {random.uniform(1, 2):.1f}em; color: {design.style.color}; line-height: 1"
    kind = random.one("1", "1.", "drawn number", "01")
    inner_kind = random.one("a.", "•", "–", "a)")

    def warning() -> Markup:
        name = texts.exact("boxes")
        bold = joined(element("b", name + ": "), texts.text(1, 2))
        return boxes.box(design, text.text_line(bold))

    def inside() -> Content:
        if not random.chance(0.35):
            return None
        return lists.marked(design, 2, 4, kind=inner_kind)

    def step(number: int) -> Markup:
        mark = span(text.mark_content(kind, number), style=size)
        if has_titles:
            title = text.heading(design, 3, joined(mark, " ", texts.title(2, 6)))
            body = joined(title, text.paragraph(design, 1, 2), inside())
        else:
            row = _item(mark, texts.text(1, 2), inside(), room=room)
            body = _list(design, row)
        if is_beside and random.chance(0.6):
            shown = pictures.picture(design, random.randint(50, 110))
            width = f"flex: 0 0 {random.randint(18, 35)}%"
            row_css = "display: flex; gap: 1em; margin-bottom: .6em"
            return div(
                div(body, style="flex: 1; min-width: 0"),
                div(shown, style=width),
                style=row_css,
            )
        return joined(body, warning() if random.chance(0.12) else None)

    needed = joined(text.heading(design, 2), lists.any_list(design, 3, 7, short=True))
    return [
        running.running_head(design, 0.3),
        main(
            text.heading(design, 1),
            text.paragraph(design, 1, 2),
            needed if random.chance(0.6) else None,
            text.heading(design, 2),
            *map(step, range(1, random.randint(4, 10) + 1)),
            warning() if random.chance(0.4) else None,
        ),
        running.running_foot(design, 0.5),
    ]


def course_catalog(design: Design) -> list[Markup | None]:
    """Courses: code and title, what they are worth at the end of the line, text, conditions."""
    random = design.random
    texts = design.texts
    set_levels(design)
    is_apart = random.chance(0.5)
    unit = random.one("ECTS", "CP", "h", "pts")
    names = texts.different("labels", 2)
    way = random.one("facts", "italic", "none")

    def course() -> Markup:
        title = f"{texts.value('code')} {random.one('', '– ')}{texts.title(2, 6)}"
        worth = f"{random.randint(1, 12)} {unit}"
        head = text.heading(design, 3, title if is_apart else f"{title} ({worth})")
        if is_apart:
            row = "display: flex; justify-content: space-between; align-items: baseline; gap: 1em"
            line = text.text_line(worth, style="white-space: nowrap")
            head = div(head, line, style=row)
        below: Content = None
        if way == "facts":
            pairs = (
                div(element("b", f"{name}: "), texts.phrase(1, 4)) for name in names
            )
            below = element("dl", *pairs, style="margin: 0 0 .5em")
        elif way == "italic":
            below = text.text_line(element("i", texts.sentence(3, 10)))
        return div(
            head, text.paragraph(design, 1, 3), below, style="break-inside: avoid"
        )

    parts: list[Content] = []
    for _ in range(random.randint(1, 3)):
        parts.append(text.heading(design, 2))
        parts += random.several(2, 5, course)
    count = random.one(1, 1, 2)
    body = layout.columns(design, *parts, count=count) if count > 1 else joined(*parts)
    return layout.page(design, body, head=0.6, title=0.6)


def handbook(design: Design) -> list[Markup | None]:
    """Four levels of headings of looks that differ, short texts and lists under each."""
    random = design.random
    texts = design.texts
    set_levels(design)
    numbered = random.chance(0.5)
    short = random.chance(0.5)
    design.style.is_numbered = numbered

    def said() -> Markup:
        way = random.one("text", "text", "list", "both")
        words = text.paragraph(design, 1, 2 if short else 4)
        if way == "text":
            return words
        listed = lists.any_list(design, 2, 5)
        return listed if way == "list" else joined(words, listed)

    def section(level: int) -> Markup:
        title = text.heading(design, level, texts.title(1, 5))
        found: list[Content] = [
            title,
            said() if random.chance(0.8) or level == 4 else None,
        ]
        if level < 4 and random.chance(0.75):
            found += random.several(1, 3, lambda: section(level + 1))
        return joined(*found)

    parts = random.several(2, 4, lambda: section(2))
    count = random.one(1, 1, 2)
    body = layout.columns(design, *parts, count=count) if count > 1 else joined(*parts)
    side = joined(text.heading(design, 3), lists.any_list(design, 3, 6, short=True))
    title = text.heading(design, 1)
    if count == 1 and random.chance(0.25):
        whole = layout.sidebar_page(design, side, joined(title, body))
        return [whole]
    return layout.page(design, title, body, head=0.4)


FAMILIES = {
    "clauses": Family(clauses, (), (9, 13.5)),
    "articles": Family(articles, (), (10, 15)),
    "release notes": Family(
        release_notes, ((794, 1123), (1024, 900), (816, 1056)), (10.5, 15)
    ),
    "syllabus": Family(syllabus, (), (10, 14)),
    "headings beside": Family(headings_beside, (), (10, 15)),
    "outline": Family(outline, (), (10, 15)),
    "council": Family(council, (), (10, 14)),
    "instructions": Family(instructions, (), (10, 15)),
    "course catalog": Family(course_catalog, (), (9.5, 14)),
    "handbook": Family(handbook, (), (10, 14)),
}
