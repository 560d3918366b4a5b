"""Worksheets, tests, examinations, solutions, textbooks."""

from markupsafe import Markup

from vit_str.synthesis.pages.design import Design, main
from vit_str.synthesis.pages.families.family import Family
from vit_str.synthesis.pages.families.science import formula
from vit_str.synthesis.pages.html import Content, Maker, div, element, joined, span
from vit_str.synthesis.pages.parts import (
    boxes,
    facts,
    layout,
    lists,
    pictures,
    running,
    tables,
    text,
)

_PLAIN = "padding: 0; text-indent: 0"


def sheet_head(design: Design) -> Markup:
    """The title of a sheet, and fields for the name, the class, the points."""
    random = design.random
    texts = design.texts
    title = text.heading(design, 1, texts.title(1, 5))
    names = texts.different("fields", random.randint(2, 4))
    line = "border-bottom: 1px solid #333; display: inline-block; min-width: 7em"
    blanks = [
        div(f"{name}:", " ", span(style=line), style="white-space: nowrap")
        for name in names
    ]
    css = "display: flex; flex-wrap: wrap; gap: .6em 1.6em; margin: .5em 0 1em;"
    css += random.one("", "border: 1px solid #555; padding: .5em;")
    who = element("dl", *blanks, style=css)
    if not random.chance(0.75):
        return title
    return joined(title, who) if random.chance(0.6) else joined(who, title)


def blank(design: Design, low: int = 3, high: int = 9) -> Markup:
    """Room to write a word in: a rule, no text."""
    random = design.random
    css = (
        f"display: inline-block; width: {random.uniform(low, high):.1f}em; height: 1em; "
        "border-bottom: 1px solid #333"
    )
    return span(style=css, aria_hidden="true")


def with_blanks(design: Design, sentence: str) -> Markup:
    """A sentence some of whose words are missing."""
    words: list[Content] = list(sentence.split(" "))
    for _ in range(design.random.randint(1, 2)):
        words[design.random.randrange(len(words))] = blank(design)
    return Markup(" ").join(word or "" for word in words)


def room_to_write(design: Design) -> Markup:
    """Lines, a box or squares to write on."""
    random = design.random
    way = random.one("lines", "lines", "box", "squares", "space")
    high = random.randint(1, 4)
    if way == "lines":
        rule = random.one("1px solid #999", "1px dotted #555")
        row = div(style=f"border-bottom: {rule}; height: 1.7em")
        return joined(*[row] * high)
    css = f"height: {2 * high}em; margin: .4em 0;"
    if way == "box":
        css += "border: 1px solid #888"
    elif way == "squares":
        css += (
            "background-image: linear-gradient(#ccc 1px, transparent 1px), linear-gradient(90deg,"
            " #ccc 1px, transparent 1px); background-size: 14px 14px"
        )
    return div(style=css)


def answers(design: Design, ticked: float = 0.0) -> Markup:
    """Answers to choose from: items in the item of their question, below each other or in a row."""
    random = design.random
    count = random.randint(3, 5)
    kind = random.one("a)", "A.", "(A)", "a.", "box", "box")
    most = random.one(1, 3, 8)
    rows = []
    for number in range(1, count + 1):
        said = (
            design.texts.phrase(1, most)
            if random.chance(0.8)
            else design.texts.value("mixed")
        )
        if kind == "box":
            mark: Content = facts.tick_box(design, random.chance(ticked))
        elif kind == "(A)":
            mark = f"({chr(64 + number)}) "
        else:
            mark = f"{text.mark_of(kind, number)} "
        rows.append(element("li", mark, said, style=_PLAIN))
    ways = ["display: block"]
    if most < 8:
        ways += [
            f"display: flex; flex-wrap: wrap; gap: .2em {random.uniform(1.4, 3):.1f}em",
            "display: grid; grid-template-columns: 1fr 1fr; gap: .2em 1em",
        ]
    return element(
        "ul",
        *rows,
        style=f"padding-left: {random.one(0, 1, 1.6)}em; {random.choice(ways)}",
    )


def _asked(design: Design, way: str, ticked: float) -> tuple[Content, Content]:
    """The question of a task, and the answers, blanks or parts below it."""
    random = design.random
    texts = design.texts
    if way == "choice":
        return texts.sentence(5, 16), answers(design, ticked)
    if way == "blanks":
        rows = random.several(1, 2, lambda: with_blanks(design, texts.sentence(6, 13)))
        return Markup(" ").join(rows), None
    if way == "parts":
        has_blank = random.chance(0.3)
        rows = [
            element(
                "li",
                f"{letter}) {texts.sentence(3, 9)} ",
                blank(design) if has_blank else None,
                style=_PLAIN,
            )
            for letter in "abcdef"[: random.randint(2, 5)]
        ]
        css = f"padding-left: {random.one(0, 1.2)}em; margin: .2em 0"
        return texts.sentence(5, 14), element("ul", *rows, style=css)
    if way == "figure":
        return texts.sentence(5, 14), pictures.picture(
            design, random.randint(60, 120), "60%"
        )
    if way == "sum":
        sign = random.one("+", "−", "·", ":")
        left, right = texts.value("small"), texts.value("small")
        return joined(f"{left} {sign} {right} = ", blank(design)), None
    return texts.text(1, 2), room_to_write(design)


def _solution(design: Design) -> Markup:
    bold = element("b", f"{design.texts.exact('statements')}: ")
    said = joined(bold, design.texts.text(1, 2))
    return text.text_line(said, style=f"color: {design.style.color}")


def task_maker(design: Design, with_answers: bool = False) -> Maker:
    """Makes tasks of one look: a number, what is asked, points at the right."""
    random = design.random
    name = random.one("", "", design.texts.exact("statements"))
    kind = random.one("1.", "1)", "(1)", "drawn number", "1", "1.")
    points = random.one("", "", "({} P.)", "/ {}", "[{}]", "{} pts")
    hang = random.chance(0.5)
    kinds = random.some(["choice", "blanks", "room", "parts", "figure", "sum"], 1, 3)
    has_title = random.chance(0.35)

    def make() -> Markup:
        number = design.next_number("task")
        asked, below = _asked(
            design, random.choice(kinds), 0.3 if with_answers else 0.0
        )
        solved = _solution(design) if with_answers else None
        worth = None
        if points:
            css = "float: right; margin-left: 1em"
            worth = span(points.format(random.randint(1, 12)), style=css)
        if has_title and name:
            head = text.heading(design, 2, joined(f"{name} {number}", " ", worth))
            return joined(head, element("p", asked), below, solved)
        said = joined(span(asked), " ", worth)
        mark = text.mark_content(kind, number)
        if hang and not name:
            one = lists.hanging(design, mark, said, below, room=2)
        else:
            before = element("b", f"{name} ") if name else None
            css = f"{_PLAIN}; margin-bottom: .6em"
            one = element("li", before, mark, " ", said, below, style=css)
        return joined(element("ul", one, style="padding: 0"), solved)

    return make


def worksheet(design: Design) -> list[Markup | None]:
    """Tasks with blanks, answers to choose, room to write; some in two columns, some with a box."""
    random = design.random
    make = task_maker(design)
    parts: list[Content] = []
    for _ in range(random.randint(1, 3)):
        if random.chance(0.5):
            parts.append(text.heading(design, 2, design.texts.title(1, 4)))
        if random.chance(0.4):
            parts.append(text.paragraph(design, 1, 2))
        if random.chance(0.2):
            parts.append(_word_box(design))
        parts += [make() for _ in range(random.randint(2, 6))]
    body = (
        layout.columns(design, *parts, count=2)
        if random.chance(0.25)
        else joined(*parts)
    )
    box = boxes.at_a_glance(design) if random.chance(0.3) else None
    return [
        running.running_head(design, 0.4),
        main(sheet_head(design), box, body),
        running.running_foot(design, 0.6),
    ]


def _word_box(design: Design) -> Markup:
    """Words to choose from, in a frame: one paragraph."""
    random = design.random
    words = random.one(" · ", "   ", " – ", ", ").join(
        design.texts.noun() for _ in range(random.randint(5, 10))
    )
    css = "border: 1px solid #555; padding: .4em .8em; text-align: center"
    return text.text_line(words, style=css)


def examination(design: Design) -> list[Markup | None]:
    """Tasks with points, a table of them, what is allowed; or their solutions."""
    random = design.random
    make = task_maker(design, with_answers=random.chance(0.35))
    parts: list[Content] = [sheet_head(design)]
    if random.chance(0.5):
        parts.append(
            lists.any_list(design, 2, 4)
            if random.chance(0.5)
            else text.paragraph(design)
        )
    if random.chance(0.4):
        count = random.randint(4, 8)
        heads = [
            tables.Cell(design.texts.exact("statements"), is_head=True),
            *(tables.Cell(str(n), is_head=True) for n in range(1, count + 1)),
        ]
        row = [
            tables.Cell(design.texts.label("columns"), is_head=True),
            *(tables.Cell(str(random.randint(2, 12))) for _ in range(count)),
        ]
        columns = [tables.Column("word"), *[tables.Column("small")] * count]
        parts.append(tables.drawn(design, [heads], [row], columns))
    parts += [make() for _ in range(random.randint(4, 10))]
    return [
        running.running_head(design, 0.5),
        main(*parts),
        running.running_foot(design, 0.8),
        layout.margin_mark(design, 0.1),
    ]


def statement(design: Design) -> Markup:
    """A definition, a rule, an example: in a box with a name, or behind bold words."""
    random = design.random
    texts = design.texts
    name = texts.exact("statements")
    if random.chance(0.6):
        name = f"{name} {random.randint(1, 9)}.{design.next_number('statement')}"
    if random.chance(0.3):
        name = f"{name} ({texts.phrase(1, 3)})"
    way = random.one("box", "box", "run", "run", "bar")
    more: Markup | None = None
    if random.chance(0.5):
        more = formula(design) if random.chance(0.5) else lists.any_list(design, 2, 4)
    if way == "run":
        look = random.one("font-style: italic", "", "")
        stop = random.one(".", ":", " –")
        said = span(texts.text(1, 3), style=look)
        return joined(
            element("p", element("b", name + stop), " ", said, style="margin: .6em 0"),
            more,
        )
    head = text.heading(design, 3, name, style="margin-top: 0")
    inner = (head, text.paragraph(design, 1, 3), more)
    if way == "bar":
        css = f"border-left: 4px solid {design.style.color}; padding-left: .8em; margin: .7em 0"
        return div(*inner, style=css)
    return boxes.box(design, *inner)


def beside_caption(design: Design) -> Markup:
    """A picture with its caption at its side."""
    random = design.random
    shown = div(pictures.picture(design, random.randint(80, 170)), style="flex: 2 1 0")
    side = random.one("left", "right")
    said = element(
        "figcaption",
        tables.caption_text(design, "figure"),
        style="flex: 1 1 0; text-align: left",
    )
    parts = (shown, said) if side == "right" else (said, shown)
    css = f"display: flex; gap: .9em; align-items: {random.one('flex-start', 'flex-end', 'center')}"
    return element("figure", *parts, style=css)


def textbook(design: Design) -> list[Markup | None]:
    """Text with definitions, examples, pictures, tasks; some with notes in a wide margin."""
    random = design.random
    make = task_maker(design)
    ways: dict[Maker, float] = {
        lambda: text.paragraph(design, 2, 5): 4,
        lambda: statement(design): 3,
        lambda: beside_caption(design): 1,
        lambda: pictures.figure(design): 1,
        lambda: lists.any_list(design): 1.5,
        lambda: joined(make(), make()): 1,
        lambda: boxes.at_a_glance(design): 1,
        lambda: formula(design): 1,
        lambda: tables.any_table(design): 0.6,
    }
    has_margin = random.chance(0.45)
    is_left = random.chance(0.5)
    first = text.heading(design, 1) if random.chance(0.5) else None
    parts: list[Content] = []
    for _ in range(random.randint(2, 4)):
        parts.append(text.heading(design, 2, design.texts.title(1, 5)))
        for _ in range(random.randint(2, 4)):
            part = random.weighted(ways)()
            if has_margin:
                part = _with_margin(design, part, is_left)
            parts.append(part)
    if not has_margin and random.chance(0.3):
        body = layout.columns(design, *parts, count=2)
    else:
        body = joined(*parts)
    if has_margin:
        wide = "margin-left" if is_left else "margin-right"
        design.added_css.append(f"main > h1, main > h2 {{ {wide}: 25% }}")
    return [
        running.running_head(design, 0.7),
        main(first, body),
        layout.notes(design, 1, 2) if random.chance(0.25) else None,
        running.running_foot(design, 0.6),
    ]


def _with_margin(design: Design, part: Markup, is_left: bool) -> Markup:
    """A part of the text with a column at its side, in which some have a note or small picture.

    It is read where it stands: before the text at its left, after it at its right.
    """
    random = design.random
    ways: dict[Maker, float] = {
        lambda: Markup(""): 5,
        lambda: text.text_line(design.texts.phrase(1, 4), "plain fine"): 2,
        lambda: text.text_line(design.texts.sentence(5, 14), "plain fine"): 2,
        lambda: pictures.figure(design, height=60, caption=True): 0.7,
    }
    note = div(random.weighted(ways)(), style="flex: 0 0 22%; min-width: 0")
    body = div(part, style="flex: 1 1 0; min-width: 0")
    parts = (note, body) if is_left else (body, note)
    return div(*parts, class_="flow", style="display: flex; gap: 3%")


FAMILIES = {
    "worksheet": Family(worksheet, (), (11, 16)),
    "examination": Family(examination, (), (10.5, 15)),
    "textbook": Family(textbook, (), (10, 14)),
}
