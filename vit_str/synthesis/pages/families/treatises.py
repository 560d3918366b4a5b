"""Papers of mathematics, patents, court decisions, protocols, contracts in two languages."""

from markupsafe import Markup

from vit_str.synthesis.pages.design import Design, main
from vit_str.synthesis.pages.families.family import Family
from vit_str.synthesis.pages.families.school import statement
from vit_str.synthesis.pages.families.science import abstract, formula, references
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
    layout,
    lists,
    pictures,
    running,
    tables,
    text,
)
from vit_str.synthesis.pages.texts import Texts, labels

_PLAIN = "padding: 0; text-indent: 0"


def algorithm(design: Design) -> Markup:
    """Steps of a program under a caption, with or without numbers of lines, between rules."""
    random = design.random
    texts = design.texts
    number = design.next_number("algorithm")
    name = element("b", f"{random.one('Algorithm', 'Procedure', 'Listing')} {number}")
    title = element(
        "figcaption", joined(name, random.one(" ", ": ", ". "), texts.phrase(2, 6))
    )
    words = (
        "for each {} in {} do",
        "if {} < {} then",
        "{} ← {}",
        "return {}",
        "while {} ≠ {} do",
    )
    rows, depth = [], 0
    numbered = random.one("", "{}: ", "{:>2} ")
    for place in range(1, random.randint(5, 12)):
        pattern = random.choice(words)
        said = pattern.format(*(texts.noun() for _ in range(pattern.count("{}"))))
        rows.append(numbered.format(place) + "  " * depth + said)
        depth = (
            min(3, depth + 1)
            if pattern.endswith(("do", "then"))
            else random.randint(0, depth)
        )
    rule = random.one("1px solid #222", "2px solid #222", "0 solid #222")
    css = f"border-top: {rule}; border-bottom: {rule}; background: none; color: inherit"
    return joined(
        element("figure", title, style="margin-bottom: 0"),
        element("pre", "\n".join(rows), style=css),
    )


def mathematical(design: Design) -> list[Markup | None]:
    """A page with theorems, proofs, formulas, algorithms, in one to three columns."""
    random = design.random
    count = random.one(1, 1, 2, 2, 3)
    ways: dict[Maker, float] = {
        lambda: text.paragraph(design, 2, 6): 4,
        lambda: statement(design): 2.5,
        lambda: formula(design): 2,
        lambda: joined(
            element(
                "p",
                element("i", design.texts.exact("statements") + "."),
                " ",
                design.texts.text(2, 4),
                " □",
            )
        ): 1.5,
        lambda: algorithm(design): 1.2,
        lambda: lists.any_list(design): 1,
        lambda: pictures.figure(design): 1,
        lambda: tables.table(
            design, tables.any_columns(design, 3, 4), random.randint(3, 7), caption=True
        ): 1,
    }
    parts: list[Content] = []
    for _ in range(random.randint(2, 5)):
        parts.append(text.heading(design, 2, design.texts.label("sections")))
        parts += [random.weighted(ways)() for _ in range(random.randint(2, 4))]
    if random.chance(0.35):
        parts.append(references(design))
    top: Content = None
    if random.chance(0.5):
        who = text.text_line(
            random.one(", ", " and ", " · ").join(
                design.random.several(1, 3, design.texts.person)
            )
        )
        top = joined(
            text.heading(design, 1, design.texts.title(3, 9)), who, abstract(design)
        )
    body = layout.columns(design, *parts, count=count) if count > 1 else joined(*parts)
    return [
        running.running_head(design, 0.6),
        main(top, body),
        layout.notes(design, 1, 3) if random.chance(0.45) else None,
        running.running_foot(design, 0.7),
        layout.margin_mark(design, 0.12),
    ]


def patent(design: Design) -> list[Markup | None]:
    """A first page of facts with numbers in brackets, or claims and text in columns."""
    random = design.random
    texts = design.texts
    if random.chance(0.5):
        return _first_page_of_patent(design)
    parts: list[Content] = []
    for _ in range(random.randint(1, 3)):
        parts.append(text.heading(design, 2))
        for _ in range(random.randint(2, 5)):
            if random.chance(0.5):
                mark = f"[{design.next_number('paragraph'):04}] "
                parts.append(
                    element(
                        "ul",
                        element("li", mark, texts.text(2, 4), style=_PLAIN),
                        style="padding: 0",
                    )
                )
            else:
                parts.append(text.paragraph(design, 2, 5))
    claims = [
        element(
            "li",
            f"{n}. ",
            texts.sentence(15, 50),
            style=f"{_PLAIN}; margin-bottom: .5em",
        )
        for n in range(1, random.randint(3, 9))
    ]
    if random.chance(0.6):
        parts += [text.heading(design, 2), element("ul", *claims, style="padding: 0")]
    head = element(
        "header",
        span(str(random.randint(1, 20))),
        span(texts.value("code")),
        span(str(random.randint(1, 20))),
    )
    return [
        head,
        main(layout.columns(design, *parts, count=2)),
        running.running_foot(design, 0.3),
    ]


def _first_page_of_patent(design: Design) -> list[Markup | None]:
    random = design.random
    texts = design.texts

    def code() -> str:
        return f"({random.randint(10, 99)})"

    top = layout.beside(
        design,
        joined(
            text.text_line(f"{code()} {texts.phrase(2, 3)}", "lead"),
            text.text_line(texts.person()),
        ),
        element(
            "dl",
            *(
                div(
                    f"{code()} ",
                    f"{texts.label('labels')}: ",
                    element("b", texts.value("code")),
                )
                for _ in range(2)
            ),
            style="margin: 0",
        ),
        shares=(1, 1),
    )
    found: list[Content] = []
    for _ in range(random.randint(4, 8)):
        value = lines(*(texts.value("phrase") for _ in range(random.one(1, 1, 2))))
        pair = div(
            f"{code()} ", f"{texts.label('labels')}: ", value, style="margin: 0 0 .5em"
        )
        found.append(element("dl", pair, style="margin: 0"))
    title = text.heading(
        design,
        1,
        f"{code()} {texts.title(3, 9).upper()}",
        "font-size: 1.15em; font-weight: 700",
    )
    about = joined(
        text.heading(design, 2, f"{code()} {texts.exact('sections')}"),
        text.paragraph(design, 3, 6),
    )
    right = joined(about, pictures.figure(design, height=150, caption=False))
    body = layout.beside(design, joined(title, *found), right, shares=(1, 1))
    line = div(style="border-top: 2px solid #222; margin: .5em 0")
    return layout.page(design, top, line, body, foot=0.3)


def decision(design: Design) -> list[Markup | None]:
    """A decision of a court: parties in the middle, numbered paragraphs, numbers at the side."""
    random = design.random
    texts = design.texts
    middle = random.one("text-align: center", "text-align: center", "")
    parts: list[Content] = []
    if random.chance(0.6):
        parts += [
            text.text_line(texts.value("code"), style=middle),
            text.heading(design, 1, texts.title(1, 4), style=middle),
            text.text_line(
                lines(*(texts.phrase(2, 4) for _ in range(random.randint(1, 3)))),
                style=middle,
            ),
        ]
        if random.chance(0.5):
            parts.append(facts.running_facts(design, 2, 4, "below"))
    way = random.one("hang", "hang", "inline", "margin")
    kind = random.one("{}", "{}.", "[{}]", "({})")
    number = random.one(1, random.randint(1, 90))
    for _ in range(random.randint(2, 4)):
        mark = random.one(
            "",
            f"{text.mark_of('A.', random.randint(1, 5))} ",
            f"{text.mark_of('i.', random.randint(1, 5)).upper()} ",
        )
        parts.append(text.heading(design, 2, mark + texts.title(1, 5), style=middle))
        for _ in range(random.randint(2, 5)):
            said = joined(texts.text(2, 5))
            inner = None
            if random.chance(0.15):
                rows = [
                    element("li", f"({letter}) ", texts.sentence(6, 20), style=_PLAIN)
                    for letter in "abcd"[: random.randint(2, 4)]
                ]
                inner = element("ul", *rows, style="padding-left: 1.5em")
            name = kind.format(number)
            number += 1
            if way == "inline":
                one = element("li", f"{name} ", said, inner, style=_PLAIN)
            else:
                one = lists.hanging(
                    design,
                    name,
                    said,
                    inner,
                    room=random.one(2.6, 2.6) if way == "hang" else 4,
                )
            parts.append(element("ul", one, style="padding: 0; margin-bottom: .7em"))
            if random.chance(0.15):
                parts.append(text.quotation(design))
    return [
        running.running_head(design, 0.5),
        main(*parts),
        layout.notes(design) if random.chance(0.2) else None,
        running.running_foot(design, 0.8),
    ]


def bilingual(design: Design) -> list[Markup | None]:
    """A contract in two languages side by side: columns, or a table of rules or rows."""
    random = design.random
    other = Texts(
        random,
        random.choice([name for name in labels() if name != design.texts.language]),
    )
    first = design.texts
    titled = random.chance(0.6)
    count = random.randint(4, 8)
    numbers = random.one("{}.", "§ {}", "({})", "Art. {}")

    def clause(texts: Texts, number: int, low: int, high: int) -> Markup:
        mark = numbers.format(number)
        said = " ".join(texts.sentence(8, 20) for _ in range(random.randint(low, high)))
        if titled:
            return joined(
                text.heading(design, 2, f"{mark} {texts.title(1, 3)}"),
                element("p", said),
            )
        one = element("li", f"{mark} ", said, style=f"{_PLAIN}; margin-bottom: .5em")
        return element("ul", one, style="padding: 0")

    design.style.is_numbered = False
    titles = [text.heading(design, 1, texts.title(2, 4)) for texts in (first, other)]
    title: Content = None
    if random.chance(0.5):
        left, right = (
            joined(name, *(clause(texts, n, 1, 3) for n in range(1, count + 1)))
            for name, texts in zip(titles, (first, other), strict=True)
        )
        body = layout.beside(design, left, right, shares=(1, 1))
    else:
        rows = [
            [
                tables.Cell(
                    f"{numbers.format(n)} "
                    + " ".join(t.sentence(8, 22) for _ in range(random.randint(1, 3)))
                )
                for t in (first, other)
            ]
            for n in range(1, count + 1)
        ]
        title = layout.beside(design, *titles, shares=(1, 1))
        design.added_css.append(
            ".two td { border: 1px solid #777 !important; vertical-align: top; width: 50%;"
            " padding: .4em !important }"
        )
        columns = [tables.Column("sentence"), tables.Column("sentence")]
        body = div(
            tables.drawn(design, [], rows, columns, css="width: 100%;", caption=""),
            class_="two",
        )
    return [
        running.running_head(design, 0.3),
        main(title, body, facts.signatures(design, 2)),
        running.running_foot(design, 0.7),
    ]


def protocol(design: Design) -> list[Markup | None]:
    """Minutes with tasks: tables of who does what by when, items, paragraphs with names."""
    random = design.random
    texts = design.texts
    way = random.one("pairs", "facts", "fields")
    if way == "pairs":
        top = tables.pairs(design, kind="phrase")
    elif way == "facts":
        top = facts.running_facts(design, 3, 6, "below")
    else:
        top = facts.fields(design, 4, 2)
    parts: list[Content] = [text.heading(design, 1), top]
    for number in range(1, random.randint(3, 7)):
        mark = random.one("", f"{number}. ", f"TOP {number}: ", f"{number} ")
        parts.append(text.heading(design, 2, mark + texts.title(1, 5)))
        parts.append(
            text.paragraph(design, 1, 3)
            if random.chance(0.5)
            else lists.any_list(design, 2, 5)
        )
        if random.chance(0.35):
            bold = element("b", f"{texts.exact('columns')}: ")
            parts.append(text.text_line(joined(bold, texts.sentence(4, 10))))
    names = texts.different("columns", 4)
    columns = [
        tables.Column("small", names[0]),
        tables.Column("sentence", names[1]),
        tables.Column("person", names[2]),
        tables.Column("date", names[3]),
    ]
    options = tables.TableOptions(empty=random.one(0, 0.1))
    actions = tables.table(
        design,
        columns[random.randint(0, 1) :],
        random.randint(2, 7),
        options,
        caption=False,
    )
    if random.chance(0.3):
        rows = []
        for _ in range(random.randint(2, 5)):
            who = joined(element("b", texts.person()), f" ({texts.date()})")
            said = texts.sentence(4, 12)
            rows.append(
                element(
                    "li",
                    facts.tick_box(design, random.chance(0.2)),
                    who,
                    ": ",
                    said,
                    style=_PLAIN,
                )
            )
        actions = element("ul", *rows, style="padding: 0")
    return [
        running.running_head(design, 0.3),
        main(
            *parts,
            text.heading(design, 2),
            actions,
            facts.signatures(design, 2) if random.chance(0.3) else None,
        ),
        running.running_foot(design, 0.7),
    ]


FAMILIES = {
    "mathematics": Family(mathematical, (), (9, 13)),
    "patent": Family(patent, (), (9.5, 13)),
    "decision": Family(decision),
    "bilingual contract": Family(bilingual, (), (9.5, 13)),
    "protocol": Family(protocol),
}
