"""Lists of other kinds: bold words first, columns, three levels, drawn marks, glossaries."""

from markupsafe import Markup

from vit_str.synthesis.pages.design import Design
from vit_str.synthesis.pages.html import Content, Maker, div, element, joined, span
from vit_str.synthesis.pages.parts import facts, text
from vit_str.synthesis.pages.parts.pictures import icon
from vit_str.synthesis.pages.style import DRAWN_MARKS

_PLAIN = "padding: 0; text-indent: 0"
_NUMBERS = ("1.", "1)", "(1)", "a)", "A.", "i.", "01", "drawn number")
_BULLETS = ("•", "–", "▪", "→", "✓", "›", *DRAWN_MARKS[:3])


def any_list(
    design: Design, low: int = 2, high: int = 6, short: bool = False
) -> Markup:
    """A list of any kind."""
    random = design.random
    ways: dict[Maker, float] = {
        lambda: text.items(design, low, high, random.one(3, 6) if short else 0): 3,
        lambda: marked(design, low, high, short): 3,
        lambda: with_lead_ins(design, low, high, short): 2,
        lambda: with_icons(design, low, high, short): 1,
        lambda: facts.options_to_tick(design, low, high, in_row=False): 0.7,
        lambda: three_levels(design): 0.0 if short else 0.8,
        lambda: in_columns(design, text.items(design, 4, 9, 4, nested=0)): (
            0.0 if short else 0.6
        ),
        lambda: ruled(design, low, high): 0.7,
    }
    return random.weighted(ways)()


def some_text(design: Design, short: bool) -> str:
    """The text of an item."""
    random = design.random
    if short or random.chance(0.3):
        return design.texts.phrase(1, random.one(2, 4, 6))
    said = design.texts.sentence(4, random.one(9, 20, 35))
    return said if random.chance(0.6) else said[:-1]


def hanging(design: Design, mark: Content, *content: Content, room: float) -> Markup:
    """An item whose lines begin right of its mark, as columns of a flexible box."""
    style = f"{_PLAIN}; display: flex; align-items: baseline"
    width = f"flex: 0 0 {room:.2f}em"
    inner = div(*content, style="flex: 1; min-width: 0")
    return element("li", span(mark, style=width), inner, style=style)


def marked(
    design: Design, low: int = 2, high: int = 6, short: bool = False, kind: str = ""
) -> Markup:
    """Items with marks of their own, whatever those of the page are."""
    random = design.random
    kind = kind or random.one(*_NUMBERS, *_BULLETS)
    room = random.uniform(1.3, 2.8)
    size = random.one("", "", f"color: {design.style.color}; font-weight: 700")
    gap = random.one(0, 0.1, 0.3, 0.7)
    long = random.chance(0.25) and not short
    found = []
    for number in range(1, random.randint(low, high) + 1):
        said: Content = design.texts.text(2, 3) if long else some_text(design, short)
        mark = span(text.mark_content(kind, number), style=size)
        found.append(hanging(design, mark, said, room=room))
    css = f"padding-left: 0; display: grid; gap: {gap}em; margin: .4em 0 .8em"
    return element("ul", *found, style=css)


def with_lead_ins(
    design: Design, low: int = 2, high: int = 6, short: bool = False
) -> Markup:
    """Items that begin with bold words, which say what they are about."""
    random = design.random
    stop = random.one(":", ".", " –", ":")
    below = random.chance(0.25)
    look = random.one("", "", f"color: {design.style.color}")
    found = []
    for number in range(1, random.randint(low, high) + 1):
        name = element(
            "b", design.texts.phrase(1, 3) + ("" if below else stop), style=look
        )
        said = design.texts.sentence(3, 8) if short else design.texts.text(1, 2)
        content = joined(name, Markup("<br>") if below else " ", said)
        found.append(text.item(design, number, 0, content))
    return element("ul", *found)


def with_icons(
    design: Design, low: int = 2, high: int = 6, short: bool = False
) -> Markup:
    """Items with a small drawing before each."""
    random = design.random
    size = random.randint(9, 18)
    found = [
        hanging(design, icon(design, size), some_text(design, short), room=1.9)
        for _ in range(random.randint(low, high))
    ]
    return element("ul", *found, style="padding-left: 0; display: grid; gap: .35em")


def ruled(design: Design, low: int = 2, high: int = 6) -> Markup:
    """Items without marks, with a rule between them."""
    random = design.random
    line = random.one("1px solid #bbb", "1px dotted #777", "1px solid #333")
    pad = random.uniform(0.15, 0.5)
    mark = random.one("", "", "› ", "→ ", "+ ")
    found = []
    for place in range(random.randint(max(low, 3), max(high, 4))):
        css = f"{_PLAIN}; margin: 0; padding: {pad:.2f}em 0;"
        css += f"border-top: {line};" if place else ""
        found.append(element("li", mark + design.texts.phrase(1, 5), style=css))
    return element("ul", *found, style="padding-left: 0")


def three_levels(design: Design) -> Markup:
    """Items in items in items."""
    random = design.random
    decimal = random.chance(0.35)
    indents = sorted(random.uniform(0.8, 2.4) for _ in range(2))

    def level(depth: int, before: str) -> Markup:
        found = []
        for number in range(1, random.randint(2, 4 - depth // 2) + 1):
            name = f"{before}{number}"
            said = design.texts.sentence(2, random.one(5, 12))[:-1]
            inner = None
            if depth < 2 and random.chance(0.65):
                inner = level(depth + 1, f"{name}.")
            if decimal:
                found.append(element("li", f"{name} ", said, inner, style=_PLAIN))
            else:
                found.append(text.item(design, number, depth, said, inner))
        css = f"padding-left: {indents[depth - 1]:.1f}em; margin: 0" if depth else ""
        return element("ul", *found, style=css)

    return level(0, "")


def in_columns(design: Design, *parts: Content, count: int = 0) -> Markup:
    """A list in two or three columns."""
    random = design.random
    css = (
        f"column-count: {count or random.one(2, 2, 3)}; "
        f"column-gap: {random.uniform(1, 2.5):.1f}em; margin: .4em 0 .8em"
    )
    design.added_css.append("li { break-inside: avoid }")
    return div(*parts, style=css)


def checklist(design: Design, low: int = 3, high: int = 8) -> Markup:
    """Boxes to tick, with items of several lines, some with items in them."""
    random = design.random
    at_right = random.chance(0.15)
    ticked = random.one(0.0, 0.0, 0.4)
    nested = random.one(0.0, 0.3)
    size = random.one(0.85, 1.0, 1.2)
    gap = random.one(0.2, 0.5, 0.9)

    def one(depth: int) -> Markup:
        box = facts.tick_box(design, random.chance(ticked))
        said: Content = some_text(design, depth > 0)
        if depth == 0 and random.chance(0.3):
            name = element("b", design.texts.phrase(1, 3))
            said = joined(
                name, random.one(": ", Markup("<br>")), design.texts.text(1, 2)
            )
        inner = None
        if depth == 0 and random.chance(nested):
            inner = element(
                "ul", *(one(1) for _ in range(random.randint(2, 3))), style="padding: 0"
            )
        css = f"{_PLAIN}; display: flex; margin: 0 0 {gap if depth == 0 else 0.1}em;"
        wide = div(said, inner, style="flex: 1; min-width: 0")
        boxed = span(box, style=f"font-size: {size}em")
        return element("li", *((wide, boxed) if at_right else (boxed, wide)), style=css)

    found = [one(0) for _ in range(random.randint(low, high))]
    return element("ul", *found, style="padding-left: 0; margin: .5em 0")


def terms(design: Design, low: int = 4, high: int = 9) -> Markup:
    """A glossary: each term with its meaning is one paragraph; or terms are headings."""
    random = design.random
    way = random.one("run", "run", "hang", "heads")
    look = random.one("", f"color: {design.style.color}", "text-transform: uppercase")
    stop = random.one("", ":", " –", ".")
    found = []
    for _ in range(random.randint(low, high)):
        term, said = design.texts.phrase(1, 3), design.texts.text(1, 2)
        if way == "heads":
            found.append(text.heading(design, 4, term))
            found.append(text.text_line(said))
            continue
        css = "margin: 0 0 .45em;"
        css += "padding-left: 1.5em; text-indent: -1.5em" if way == "hang" else ""
        name = element("b", term + stop, style=look)
        found.append(element("p", name, " ", said, style=css))
    return joined(*found)
