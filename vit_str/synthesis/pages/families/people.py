"""CVs, profiles, directories."""

from collections.abc import Callable

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


def entry_maker(design: Design, level: int = 3) -> Callable[[], Markup]:
    """Makes entries of one look: a name, where, when, and what was done."""
    random = design.random
    texts = design.texts
    way = random.weighted({"right": 4, "left": 2, "above": 1, "below": 2})
    below = random.weighted({"items": 3, "text": 2, "none": 1})
    has_place = random.chance(0.7)
    kind = random.one("span", "span", "date")
    swaps = random.chance(0.3)

    def details() -> Markup | None:
        if below == "none":
            return None
        return (
            text.items(design, 1, 4, nested=0)
            if below == "items"
            else text.paragraph(design, 1, 3)
        )

    def make() -> Markup:
        name = text.heading(design, level, texts.phrase(1, 4), style="margin: 0")
        when = text.text_line(texts.value(kind), style="white-space: nowrap; margin: 0")
        where = (
            text.text_line(texts.company(), "plain muted", "margin: 0")
            if has_place
            else None
        )
        if way == "left":
            body = joined(name, where, details())
            return div(
                div(when, style="flex: 0 0 22%"),
                div(body, style="flex: 1; min-width: 0"),
                style="display: flex; gap: 1em; margin-bottom: .6em",
            )
        if way == "above":
            return div(when, name, where, details(), style="margin-bottom: .6em")
        if way == "below":
            line = text.text_line(
                f"{texts.company()} | {texts.value(kind)}", "plain muted", "margin: 0"
            )
            return div(name, line, details(), style="margin-bottom: .6em")
        right = when
        css = "display: flex; justify-content: space-between; align-items: baseline; gap: 1em"
        if swaps and where is not None:
            return div(
                div(name, style=css),
                div(where, right, style=css),
                details(),
                style="margin-bottom: .6em",
            )
        return div(
            div(name, right, style=css), where, details(), style="margin-bottom: .6em"
        )

    return make


def _career(design: Design, count: int) -> Markup:
    random = design.random
    make = entry_maker(design)
    parts: list[Content] = []
    for name in random.sample(design.texts.all_labels("resume"), count):
        parts.append(text.heading(design, 2, name))
        parts += [make() for _ in range(random.randint(1, 4))]
    return joined(*parts)


def skills(design: Design) -> Markup:
    """Skills of a person: items, words in a row, bars, facts or a table."""
    random = design.random
    texts = design.texts
    way = random.one("items", "row", "bars", "table", "tags")
    if way == "items":
        return text.items(design, 3, 7, 3, nested=0)
    if way == "row":
        words = random.one(", ", " · ", " | ").join(
            texts.noun() for _ in range(random.randint(4, 9))
        )
        return text.text_line(joined(element("b", texts.phrase(1, 2) + ": "), words))
    if way == "table":
        return tables.pairs(
            design,
            [texts.phrase(1, 1) for _ in range(random.randint(3, 6))],
            random.one("word", "percent"),
            way=random.one("between", "grid"),
        )
    if way == "tags":
        css = f"border: 1px solid {design.style.color}; border-radius: 3px; padding: 0 .5em"
        return text.text_line(
            Markup(" ").join(
                span(texts.noun(), style=css) for _ in range(random.randint(4, 9))
            ),
            style="line-height: 1.9",
        )
    rows = []
    for _ in range(random.randint(3, 6)):
        bar = div(
            style=(
                f"height: 5px; width: {random.randint(30, 100)}%; "
                f"background: {design.style.color}; margin: .1em 0 .5em"
            )
        )
        rows.append(
            joined(text.text_line(texts.noun().capitalize(), style="margin: 0"), bar)
        )
    return joined(*rows)


def _side(design: Design, with_name: bool) -> Markup:
    random = design.random
    shown = pictures.picture(design, 110, "110px") if random.chance(0.5) else None
    name = (
        joined(
            text.heading(design, 1, design.texts.person()),
            text.text_line(design.texts.phrase(1, 3)),
        )
        if with_name
        else None
    )
    options: list[Maker] = [
        lambda: joined(
            text.heading(design, 3, design.texts.exact("resume")), facts.contact(design)
        ),
        lambda: joined(
            text.heading(design, 3, design.texts.exact("resume")), skills(design)
        ),
        lambda: joined(
            text.heading(design, 3, design.texts.exact("resume")), skills(design)
        ),
        lambda: joined(
            text.heading(design, 3, design.texts.exact("resume")),
            text.paragraph(design, 1, 3),
        ),
        lambda: joined(text.heading(design, 3), text.items(design, 2, 5, 3, nested=0)),
    ]
    return joined(shown, name, *(make() for make in random.some(options, 2, 5)))


def cv(design: Design) -> list[Markup | None]:
    """In one column."""
    random = design.random
    middle = random.one("text-align: center", "")
    name = text.heading(design, 1, design.texts.person(), style=middle)
    contact = text.text_line(
        random.one(" | ", " · ", " – ").join(
            design.texts.value(k) for k in ("city", "phone", "mail")
        ),
        style=middle,
    )
    if random.chance(0.3):
        contact = tables.pairs(design, way="table")
    profile = (
        joined(
            text.heading(design, 2, design.texts.exact("resume")),
            text.paragraph(design, 1, 4),
        )
        if random.chance(0.6)
        else None
    )
    known = joined(
        text.heading(design, 2, design.texts.exact("resume")), skills(design)
    )
    return [
        main(name, contact, profile, _career(design, random.randint(3, 5)), known),
        running.running_foot(design, 0.2),
    ]


def cv_with_sidebar(design: Design) -> list[Markup | None]:
    """With what is short in a column of its own."""
    random = design.random
    inside = random.chance(0.4)
    name = (
        None
        if inside
        else joined(
            text.heading(design, 1, design.texts.person()),
            text.text_line(design.texts.phrase(1, 4), "lead"),
        )
    )
    profile = text.paragraph(design, 1, 4) if random.chance(0.6) else None
    return [
        layout.sidebar_page(
            design,
            _side(design, inside),
            joined(name, profile, _career(design, random.randint(2, 4))),
        )
    ]


def directory(design: Design) -> list[Markup | None]:
    """People with their rooms and numbers: a table, or cards, or lines in columns."""
    random = design.random
    texts = design.texts
    way = random.one("table", "cards", "columns")
    parts: list[Content] = [text.heading(design, 1)]
    if way == "table":
        names = texts.different("columns", 4)
        kinds = random.one(
            ["person", "phrase", "phone", "mail"],
            ["person", "code", "phone"],
            ["person", "place", "date", "small"],
        )
        columns = [
            tables.Column(kind, name) for kind, name in zip(kinds, names, strict=False)
        ]
        parts.append(
            tables.table(
                design,
                columns,
                random.randint(8, 28),
                tables.TableOptions(
                    empty=random.one(0, 0.1), groups=random.one(0, 0.12)
                ),
                caption=False,
            )
        )
    else:

        def person() -> Markup:
            return text.text_line(
                lines(
                    element("b", texts.person()),
                    texts.phrase(1, 3),
                    texts.value("phone"),
                    texts.value("mail"),
                ),
                style="break-inside: avoid; margin-bottom: .8em",
            )

        people = [person() for _ in range(random.randint(8, 20))]
        if way == "columns":
            parts.append(layout.columns(design, *people))
        else:
            parts.append(layout.cards(design, person, 9, 3))
    return layout.page(design, *parts, head=0.3)


def profile(design: Design) -> list[Markup | None]:
    """Who somebody is: a picture, facts, prose."""
    random = design.random
    box = element(
        "div",
        pictures.picture(design, 140),
        text.heading(design, 3),
        tables.pairs(design, way=random.one("grid", "table", "between")),
        class_="box flow",
    )
    body = joined(
        text.heading(design, 1, design.texts.person()),
        text.paragraph(design, 2, 3, class_="lead"),
        *[
            joined(text.heading(design, 2), text.paragraph(design, 2, 5))
            for _ in range(random.randint(3, 6))
        ],
    )
    wide = (2.0, 1.0) if random.chance(0.6) else (1.0, 2.0)
    both = (body, box) if wide[0] > 1 else (box, body)
    return [
        running.running_head(design, 0.2),
        main(layout.beside(design, *both, shares=wide)),
        running.running_foot(design, 0.5),
    ]


FAMILIES = {
    "cv": Family(cv),
    "cv with a sidebar": Family(cv_with_sidebar),
    "directory": Family(directory),
    "profile": Family(profile),
}
