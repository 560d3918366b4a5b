"""Novels, open books, contents, indexes, dictionaries, plays, recipes, manuals, law."""

from markupsafe import Markup

from vit_str.synthesis.pages.design import Design, main
from vit_str.synthesis.pages.families.family import Family
from vit_str.synthesis.pages.families.science import sections
from vit_str.synthesis.pages.html import Content, div, element, joined, span
from vit_str.synthesis.pages.parts import facts, layout, pictures, running, tables, text
from vit_str.synthesis.pages.style import A4, A5

_OPEN = ((1100, 780), (1240, 880), (1400, 960))
_BOOKS = (A5, (600, 850), (640, 900))


def _story(design: Design) -> Markup:
    random = design.random
    parts: list[Content] = []
    if random.chance(0.35):
        number = f"{design.texts.exact('chapter')} {random.randint(1, 40)}"
        name = random.one(
            number,
            joined(number, Markup("<br>"), design.texts.title(1, 5)),
            design.texts.title(1, 6),
        )
        style = random.one(
            "text-align: center; margin: 3em 0 2em", "margin: 2em 0 1.5em"
        )
        parts.append(text.heading(design, 1, name, style))
    for _ in range(random.randint(4, 10)):
        parts.append(text.paragraph(design, 1, 8))
        if random.chance(0.2):
            parts.append(
                text.text_line(
                    f"{random.one('– ', '“', '„', '« ')}{design.texts.sentence(3, 9)}"
                )
            )
    if random.chance(0.15):
        parts.insert(random.randint(1, len(parts)), text.poem(design))
    return joined(*parts)


def novel(design: Design) -> list[Markup | None]:
    """A page of a story."""
    return [
        running.running_head(design, 0.6),
        main(_story(design)),
        layout.notes(design, 1, 2) if design.random.chance(0.15) else None,
        running.running_foot(design, 0.7),
    ]


def open_book(design: Design) -> list[Markup | None]:
    """Two facing pages: each has its head, text and foot."""
    random = design.random
    is_story = random.chance(0.6)
    pages = []
    inner = design.style.height - 2 * design.style.margin[0]
    head_share, foot_share = random.one((0.9, 0.1), (0.1, 0.9), (0.5, 0.5))
    for _ in range(2):
        body = _story(design) if is_story else sections(design, random.randint(1, 2))
        head, foot = (
            running.running_head(design, head_share),
            running.running_foot(design, foot_share),
        )
        notes = layout.notes(design, 1, 2) if random.chance(0.2) else None
        column = joined(head, div(body, notes, class_="flow", style="flex: 1"), foot)
        pages.append(
            div(
                column,
                style=(
                    "flex: 1 1 0; min-width: 0; display: flex; flex-direction: column; "
                    f"min-height: {inner:.0f}px"
                ),
                class_="flow",
            )
        )
    gutter = random.uniform(2.5, 7)
    line = div(style="width: 1px; background: #999") if random.chance(0.4) else None
    style = f"display: flex; gap: {gutter:.1f}em"
    return [
        element("main", pages[0], line, pages[1], class_="flow beside", style=style)
    ]


def contents(design: Design) -> list[Markup | None]:
    """With page numbers at the right: a table of two columns, or of three with numbers."""
    random = design.random
    has_numbers = random.chance(0.45)
    leader = random.weighted({"line": 3, "dots": 3, "none": 2, "near": 0.7})
    page = random.randint(1, 30)
    rows = []
    numbers = [0, 0, 0]
    for _ in range(random.randint(12, 44)):
        level = random.choices((0, 1, 2), (3, 5, 2))[0] if numbers[0] else 0
        numbers[level] += 1
        numbers[level + 1 :] = [0] * (2 - level)
        label = ".".join(str(max(1, n)) for n in numbers[: level + 1])
        page += random.randint(0, 12)
        bold = (
            "font-weight: 700; margin-top: .4em;"
            if level == 0 and random.chance(0.7)
            else ""
        )
        title = design.texts.title(1, random.one(3, 6, 8))
        name: Content = f"{label} {title}" if has_numbers else title
        between: Content = None
        if leader == "line":
            between = span(class_="leader", aria_hidden="true")
        elif leader == "dots":
            between = span(
                random.one(". ", ".") * 250,
                aria_hidden="true",
                style=(
                    "flex: 1 1 0; contain: inline-size; overflow: hidden; white-space: nowrap; "
                    "margin: 0 .3em"
                ),
            )
        first = div(
            name,
            role="cell",
            style=f"padding-left: {1.4 * level:.1f}em; max-width: 85%",
        )
        last = div(str(page), role="cell")
        side = "flex-start; gap: 1.5em" if leader == "near" else "space-between"
        rows.append(
            div(
                first,
                between,
                last,
                role="row",
                style=f"display: flex; align-items: baseline; justify-content: {side}; {bold}",
            )
        )
    table = div(
        *rows, role="table", style=f"line-height: {random.uniform(1.2, 1.9):.2f}"
    )
    return layout.page(design, table, head=0.3, title=1, foot=0.5)


def index(design: Design) -> list[Markup | None]:
    """Words with the pages that they are on: lines of columns under letters."""
    random = design.random
    parts: list[Content] = []
    letters = sorted(random.sample("ABCDEFGHIKLMNOPRSTUVW", random.randint(4, 9)))
    for letter in letters:
        parts.append(text.heading(design, 2, letter))
        for _ in range(random.randint(6, 20)):
            pages = ", ".join(
                str(random.randint(1, 400)) for _ in range(random.randint(1, 4))
            )
            inner = joined(letter.lower() + design.texts.noun()[1:], ", ", pages)
            parts.append(
                element(
                    "p",
                    inner,
                    style="margin: 0; padding-left: 1.2em; text-indent: -1.2em; text-align: left",
                )
            )
    return [
        running.running_head(design),
        main(
            text.heading(design, 1),
            layout.columns(design, *parts, count=random.one(2, 2, 3)),
        ),
        running.running_foot(design),
    ]


def dictionary(design: Design) -> list[Markup | None]:
    """Words and what they mean, in columns."""
    random = design.random
    entries = []
    for _ in range(random.randint(25, 90)):
        word = element("b", design.texts.noun())
        kind = element("i", random.one("n.", "adj.", "v.", "adv.", "m.", "f."))
        meaning = "; ".join(
            design.texts.phrase(1, 5).lower() for _ in range(random.randint(1, 4))
        )
        entries.append(
            element(
                "p",
                joined(word, " ", kind, " ", meaning, "."),
                style="margin: 0 0 .25em; padding-left: 1em; text-indent: -1em",
            )
        )
    return [
        running.running_head(design, 0.9),
        main(layout.columns(design, *entries, count=random.one(2, 2, 3))),
        running.running_foot(design, 0.4),
    ]


def play(design: Design) -> list[Markup | None]:
    """Speeches: who speaks stands before or above what is said."""
    random = design.random
    people = [design.texts.person().upper() for _ in range(random.randint(2, 4))]
    way = random.one("before", "above")
    parts: list[Content] = [text.heading(design, 1), text.heading(design, 2)]
    for _ in range(random.randint(10, 30)):
        who = element("b", random.choice(people))
        if way == "before":
            parts.append(
                text.text_line(
                    joined(who, random.one(". ", ": "), design.texts.text(1, 2)),
                    style="margin-bottom: .4em",
                )
            )
        else:
            said = joined(who, Markup("<br>"), design.texts.text(1, 2))
            parts.append(text.text_line(said, style="margin-bottom: .5em"))
        if random.chance(0.15):
            parts.append(
                text.text_line(
                    element("i", f"({design.texts.sentence(3, 8)})"),
                    style="margin-left: 2em",
                )
            )
    return layout.page(design, *parts, head=0.5)


def recipe(design: Design) -> list[Markup | None]:
    """A recipe: ingredients and steps."""
    random = design.random
    texts = design.texts
    rows = [
        f"{texts.value(random.one('quantity', 'small'))} {texts.phrase(1, 3).lower()}"
        for _ in range(random.randint(4, 10))
    ]
    if random.chance(0.4):
        needed = tables.table(
            design,
            [tables.Column("quantity"), tables.Column("thing")],
            len(rows),
            tables.TableOptions(has_heads=False),
            caption=False,
        )
    else:
        needed = element(
            "ul", *(text.item(design, n, 0, row) for n, row in enumerate(rows, 1))
        )
    left = joined(text.heading(design, 2), needed)
    right = joined(
        text.heading(design, 2),
        random.one(
            text.items(design, 3, 7, 20, nested=0),
            joined(*[text.paragraph(design, 1, 3) for _ in range(3)]),
        ),
    )
    middle = (
        layout.beside(design, left, right, shares=(1, 2))
        if random.chance(0.65)
        else joined(left, right)
    )
    cards = (
        facts.figures_on_cards(design, 3)
        if random.chance(0.3)
        else facts.running_facts(design, 2, 3, "row")
    )
    shown = (
        pictures.figure(design, height=random.randint(120, 260))
        if random.chance(0.6)
        else None
    )
    top = joined(
        text.heading(design, 1),
        text.paragraph(design, 1, 2, class_="lead") if random.chance(0.5) else None,
    )
    tip = (
        element(
            "div", text.heading(design, 4), text.paragraph(design, 1, 2), class_="box"
        )
        if random.chance(0.4)
        else None
    )
    return layout.page(design, top, shown, cards, middle, tip, foot=0.5)


def manual(design: Design) -> list[Markup | None]:
    """Steps with pictures, warnings in boxes."""
    random = design.random
    parts: list[Content] = [text.heading(design, 1)]
    for _ in range(random.randint(3, 6)):
        parts.append(text.heading(design, 2))
        if random.chance(0.3):
            warning = joined(
                element("b", design.texts.noun().upper()), " ", design.texts.text(1, 2)
            )
            parts.append(element("div", text.text_line(warning), class_="box"))
        steps = text.items(design, 2, 5, nested=0.05)
        shown = pictures.figure(design, height=random.randint(80, 150))
        parts.append(
            layout.beside(design, steps, shown)
            if random.chance(0.5)
            else joined(steps, shown if random.chance(0.5) else None)
        )
    table = tables.any_table(design) if random.chance(0.4) else None
    return layout.page(design, *parts, table, head=0.4)


def law(design: Design) -> list[Markup | None]:
    """Sections with numbered clauses, in one or two columns, numbers hanging."""
    random = design.random
    sign = random.one("§ {}", "Art. {}", "{}.", "{}")
    parts: list[Content] = []
    start = random.randint(1, 60)
    for number in range(start, start + random.randint(4, 12)):
        name = f"{sign.format(number)} {design.texts.title(1, 6)}"
        parts.append(text.heading(design, 2, name))
        if random.chance(0.35):
            parts.append(text.paragraph(design, 1, 3))
            continue
        mark = random.one("({})", f"{number}.{{}}", "{}.")
        rows = []
        for clause in range(1, random.randint(2, 6)):
            inner = None
            if random.chance(0.2):
                inner = element(
                    "ul",
                    *(
                        element(
                            "li",
                            f"{letter}) {design.texts.sentence(4, 12)}",
                            style="padding: 0; text-indent: 0",
                        )
                        for letter in "abc"
                    ),
                )
            rows.append(
                element(
                    "li",
                    mark.format(clause),
                    " ",
                    design.texts.text(1, 2),
                    inner,
                    style="padding: 0; text-indent: 0; margin-bottom: .3em",
                )
            )
        parts.append(element("ul", *rows, style="padding-left: 0"))
    title = joined(
        text.heading(design, 1),
        text.text_line(f"{design.texts.date()}") if random.chance(0.4) else None,
    )
    body = (
        layout.columns(design, *parts, count=2)
        if random.chance(0.4)
        else joined(*parts)
    )
    return layout.page(design, title, body, head=0.4)


def poems(design: Design) -> list[Markup | None]:
    """Titles and verses."""
    random = design.random
    parts: list[Content] = []
    for _ in range(random.randint(1, 2)):
        parts += [
            text.heading(design, 1, design.texts.title(1, 4)),
            *[text.poem(design) for _ in range(random.randint(2, 5))],
        ]
    return [
        running.running_head(design, 0.3),
        main(*parts, style=f"padding-left: {random.one(0, 3, 6)}em"),
        running.running_foot(design),
    ]


def numbered_lines(design: Design) -> list[Markup | None]:
    """A text whose lines have numbers in the margin."""
    random = design.random
    step = random.one(1, 5)
    size = design.style.text_size
    leading = design.style.leading
    above, beside = design.style.margin
    count = int((design.style.height - 2 * above) / (size * leading)) - 4
    design.style.gap = 0
    numbers = [
        div(
            str(n),
            style=(
                f"position: absolute; top: {above + (n - 1) * size * leading:.1f}px; "
                f"left: {beside * 0.3:.0f}px; font-size: .8em; color: #777"
            ),
            role="complementary",
        )
        for n in range(step, count, step)
    ]
    parts = [
        element("p", design.texts.text(3, 8), style="margin: 0")
        for _ in range(random.randint(9, 14))
    ]
    return [main(*parts), running.running_foot(design, 0.4), *numbers]


FAMILIES = {
    "novel": Family(novel, _BOOKS, (11, 15)),
    "open book": Family(open_book, _OPEN, (10.5, 14)),
    "contents": Family(contents),
    "index": Family(index, (A4, A5), (9.5, 12.5)),
    "dictionary": Family(dictionary, (A4, A5), (9.5, 12.5)),
    "play": Family(play),
    "recipe": Family(recipe),
    "manual": Family(manual),
    "law": Family(law),
    "poems": Family(poems),
    "numbered lines": Family(numbered_lines),
}
