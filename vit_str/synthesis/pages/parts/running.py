"""What runs above and below the text of many pages: running heads, navigation, legal lines."""

from collections.abc import Callable

from markupsafe import Markup

from vit_str.synthesis.pages.design import Design
from vit_str.synthesis.pages.html import Content, div, element, lines, span
from vit_str.synthesis.pages.parts.pictures import logo

_BETWEEN = (" · ", " | ", " – ", " • ", ", ", "   ")


def running_head(design: Design, share: float = 0.5) -> Markup | None:
    """A running head above the text, on some pages."""
    random = design.random
    if not random.chance(share):
        return None
    ways: dict[Callable[[Design], Markup], float] = {
        _short_head: 6,
        _issue: 1,
        _brand: 1.2,
        _head_of_lines: 0.8,
    }
    return random.weighted(ways)(design)


def _short_head(design: Design) -> Markup:
    """A title, a page number, a date: up to three of them."""
    random = design.random
    texts = [design.texts.title(1, 5)]
    if random.chance(0.6):
        texts.append(
            random.one(
                str(random.randint(1, 400)),
                design.texts.title(1, 4),
                design.texts.date(),
            )
        )
    if random.chance(0.2):
        texts.insert(1, design.texts.title(1, 3))
    if random.chance(0.3):
        texts.reverse()
    style = "justify-content: center" if len(texts) == 1 and random.chance(0.4) else ""
    return element("header", *map(span, texts), style=style)


def _issue(design: Design) -> Markup:
    """The line of a journal: its name, volume, pages, price."""
    random = design.random
    texts = design.texts
    number = f"{random.one('No. ', 'Nr. ', 'N° ', 'Vol. ')}{random.randint(1, 999)}"
    name = f"{texts.title(1, 4)} {random.randint(1, 90)} ({texts.year})"
    parts = [name, number, texts.date(), texts.price(9), page_number(design)]
    return element("header", *map(span, random.some(parts, 2, 4)))


def _brand(design: Design) -> Markup:
    """A name beside links, as programs and websites have them at the top."""
    random = design.random
    texts = design.texts
    size = random.uniform(1, 1.7)
    name = span(
        texts.noun().capitalize(),
        style=f"font-weight: {random.one(400, 700)}; font-size: {size:.1f}em",
    )
    sign = logo(design, random.randint(14, 26)) if random.chance(0.3) else None
    links = random.some(texts.all_labels("navigation"), 2, 6)
    gap = random.uniform(0.8, 2.2)
    row = span(*(span(link, style=f"margin-left: {gap:.1f}em") for link in links))
    who = span(texts.person()) if random.chance(0.25) else None
    css = f"align-items: {random.one('baseline', 'center')}; font-style: normal"
    return element("header", sign, name, row, who, style=css)


def _head_of_lines(design: Design) -> Markup:
    """Two short blocks of lines at the ends."""
    random = design.random
    blocks = [
        div(lines(*random.several(1, 3, lambda: design.texts.phrase(1, 4))))
        for _ in range(2)
    ]
    return element("header", *blocks)


def running_foot(design: Design, share: float = 0.7) -> Markup | None:
    """A page number, what a firm has to say of itself, or both; on some pages."""
    random = design.random
    if not random.chance(share):
        return None
    ways: dict[Callable[[Design], Markup], float] = {
        _number: 5,
        _number_and_text: 3,
        _legal_line: 2,
        _sentences: 3,
        _contact: 1.5,
        _blocks: 2,
        _links: 0.7,
    }
    return random.weighted(ways)(design)


def _number(design: Design) -> Markup:
    side = design.random.one("center", "center", "flex-end", "flex-start")
    number = span(page_number(design))
    return element("footer", number, class_="one", style=f"justify-content: {side}")


def _number_and_text(design: Design) -> Markup:
    random = design.random
    texts = design.texts
    said = random.one(
        texts.exact("legal"),
        texts.exact("notices"),
        texts.title(1, 5),
        texts.date(),
        texts.value("code"),
    )
    parts = [span(said), span(page_number(design))]
    if random.chance(0.25):
        parts.insert(1, span(random.one(texts.date(), texts.exact("legal"))))
    if random.chance(0.2):
        parts.reverse()
    return element("footer", *parts)


def _legal_line(design: Design) -> Markup:
    random = design.random
    said = random.several(1, 3, lambda: design.texts.exact("legal"))
    return element("footer", span(random.choice(_BETWEEN).join(said)), class_="one")


def _sentences(design: Design) -> Markup:
    """Whole sentences in small type, up to some lines, beside a page number or alone."""
    random = design.random
    texts = design.texts
    found = [_sentence(design) for _ in range(random.randint(1, 4))]
    align = random.one("left", "left", "center", "justify")
    breaks = random.one(False, False, True)
    said: Content = lines(*found) if breaks else " ".join(found)
    css = f"text-align: {align}; flex: 1"
    if random.chance(0.25):
        number = span(page_number(design), style="white-space: nowrap")
        return element("footer", div(said, style=css), number)
    name = div(element("b", texts.company()), style=css) if random.chance(0.2) else None
    way = "display: block" if name else ""
    return element("footer", name, div(said, style=css), style=way)


def _sentence(design: Design) -> str:
    texts = design.texts
    if design.random.chance(0.65):
        return texts.exact("notices")
    return texts.sentence(5, 18)


def _contact(design: Design) -> Markup:
    """Name, address and numbers of a firm, in one line or more."""
    random = design.random
    texts = design.texts
    kinds = random.some(["street", "city", "phone", "mail", "site"], 2, 5)
    between = random.choice(_BETWEEN)
    said = [texts.company(), *map(texts.value, kinds)]
    rows = [between.join(said)]
    if random.chance(0.5):
        legal = random.several(1, 3, lambda: texts.exact("legal"))
        rows.append(between.join(legal))
    align = random.one("left", "center", "center")
    css = f"display: block; text-align: {align}"
    return element("footer", *map(div, rows), style=css)


def _blocks(design: Design) -> Markup:
    """Two to four blocks of short lines side by side, some with names."""
    random = design.random
    is_named = random.chance(0.3)
    return element("footer", *random.several(2, 4, lambda: _block(design, is_named)))


def _block(design: Design, is_named: bool) -> Markup:
    random = design.random
    texts = design.texts
    makers: list[Callable[[], str]] = [
        lambda: texts.exact("legal"),
        lambda: texts.exact("legal"),
        lambda: texts.value(random.one("street", "city", "phone", "mail", "site")),
        texts.company,
        lambda: f"{texts.label('labels')}: {texts.value('code')}",
    ]
    rows: list[Content] = [random.choice(makers)() for _ in range(random.randint(1, 4))]
    if is_named:
        rows.insert(0, element("b", texts.phrase(1, 2)))
    return div(lines(*rows))


def _links(design: Design) -> Markup:
    """Links in a row, beside legal lines or below them."""
    random = design.random
    links = random.some(design.texts.all_labels("navigation"), 3, 6)
    row = random.choice(_BETWEEN).join(links)
    said = design.texts.exact(random.one("legal", "notices"))
    if random.chance(0.5):
        return element("footer", span(said), span(row))
    css = "display: block; text-align: center"
    return element("footer", *map(div, (row, said)), style=css)


def page_number(design: Design) -> str:
    """The number of a page in one of many ways."""
    random = design.random
    number, count = random.randint(1, 300), random.randint(300, 400)
    page, of = design.texts.exact("page"), design.texts.exact("of")
    return random.one(
        str(number),
        str(number),
        f"{page} {number}",
        f"{page} {number} {of} {count}",
        f"– {number} –",
        f"{number}/{count}",
    )
