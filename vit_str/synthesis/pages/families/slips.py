"""Slips of tills, pumps and card readers: narrow paper, one face, rows of dashes."""

from markupsafe import Markup

from vit_str.synthesis.pages.design import Design, main
from vit_str.synthesis.pages.families.family import Family
from vit_str.synthesis.pages.html import Content, Maker, div, element, joined, span
from vit_str.synthesis.pages.parts import facts, pictures, tables, text
from vit_str.synthesis.pages.parts.tables import Column, TableOptions

SLIPS = ("receipt", "till slip")
"""Families on narrow paper from a till."""
_SIZES = ((270, 640), (300, 760), (330, 900), (380, 1000), (400, 700))
_MIDDLE = "text-align: center;"
_SEPARATORS = {
    "-": 5.0,
    "- ": 1.0,
    "=": 2.0,
    "_": 1.0,
    "–": 0.5,
    ".": 1.0,
    "·": 0.3,
    "*": 2.0,
    "* ": 0.5,
    "+": 0.2,
    "~": 0.3,
    "#": 0.3,
    "x": 0.1,
    "-=": 0.2,
}
"""Signs of rows between parts, and how often each is taken."""


def separator(design: Design, sign: str) -> Markup:
    """A row of signs over the whole width, or over most of it in the middle."""
    random = design.random
    size = random.one("", "", f"font-size: {random.uniform(0.7, 1.3):.2f}em;")
    if random.chance(0.7):
        row = text.sign_row(sign, 120 // len(sign))
        css = f"overflow: hidden; white-space: nowrap; {size}"
        return div(row, aria_hidden="true", style=css)
    row = text.sign_row(sign, random.randint(8, 22) // len(sign))
    css = f"overflow: hidden; white-space: nowrap; {_MIDDLE} {size}"
    return div(row, aria_hidden="true", style=css)


def _drawn_rule(design: Design) -> Markup:
    """A line that the printer draws: whole, dashed, dotted, double."""
    random = design.random
    way = random.one("solid", "dashed", "dotted", "double")
    wide = 3 if way == "double" else random.one(1, 1, 1.5, 2)
    css = f"border-top: {wide}px {way} {design.style.ink}; margin: .35em 0"
    return div(aria_hidden="true", style=css)


def _decorated(design: Design, words: str) -> str:
    """Words between a few signs, which are read with them."""
    sign = design.random.one("*", "**", "***", "---", "==", ">>", "#")
    return f"{sign} {words} {sign}"


def _head(design: Design) -> Markup:
    """The shop: its sign, name and address."""
    random, texts = design.random, design.texts
    name = random.one(texts.company(), texts.phrase(1, 2), texts.person())
    size = random.one(1.0, 1.0, 1.3, 1.6, 2.0)
    weight = random.one(400, 700)
    sign = div(pictures.logo(design, random.randint(30, 70)), style=_MIDDLE)
    return joined(
        sign if random.chance(0.25) else None,
        text.text_line(
            name,
            style=f"{_MIDDLE} font-size: {size}em; font-weight: {weight}; line-height: 1.15",
        ),
        text.address(design, _MIDDLE),
        text.text_line(texts.value("phone"), style=_MIDDLE),
    )


def _line(design: Design, *parts: Content) -> Markup:
    """Texts at both ends of a line, or one after the other."""
    if len(parts) > 1 and design.random.chance(0.6):
        css = "display: flex; justify-content: space-between; gap: .8em"
        return element("p", *map(span, parts), class_="plain", style=css)
    words: list[Content] = []
    for part in parts:
        words += [part, " "]
    return text.text_line(joined(*words[:-1]))


def _known(design: Design) -> Markup:
    """When, where and by whom."""
    random, texts = design.random, design.texts
    ways: list[Maker] = [
        lambda: _line(design, texts.date(), texts.time()),
        lambda: _line(design, texts.value("code"), texts.time()),
        lambda: _line(design, f"{texts.label('labels')}:", texts.value("code")),
        lambda: _line(design, f"{texts.label('labels')} {texts.value('integer')}"),
        lambda: facts.running_facts(design, 2, 4, "below"),
    ]
    return joined(*(make() for make in random.some(ways, 1, 4)))


def _goods(design: Design) -> Markup:
    """What was bought: a name and a price a line, at times the quantity below or before it."""
    random, texts = design.random, design.texts
    count = random.randint(1, 14)
    if random.chance(0.5):
        columns = random.one(
            [Column("item"), Column("price")],
            [Column("small"), Column("thing"), Column("price")],
            [Column("code"), Column("thing"), Column("price")],
        )
        second = random.one(0, 0, 0.4)
        options = TableOptions(has_heads=False, second=second, sums=0)
        return tables.table(design, columns, count, options, caption=False)
    way = random.one("below", "above", "none")
    rows = []
    for _ in range(count):
        name = texts.phrase(1, 4)
        if way == "none":
            rows.append(_line(design, name, texts.price(90)))
            continue
        amount = f"{random.randint(1, 12)} {random.one('x', 'X', '@', '*')} {texts.price(90)}"
        rows += [text.text_line(name), _line(design, amount, texts.price(90))]
    return joined(*rows)


def _sums(design: Design) -> Markup:
    """What it costs, the last line larger on some."""
    random, texts = design.random, design.texts
    rows = [
        _line(design, texts.label("totals"), texts.price(300))
        for _ in range(random.randint(1, 5))
    ]
    if random.chance(0.6):
        size, weight = random.one(1.2, 1.5, 2.0), random.one(400, 700)
        css = "display: flex; justify-content: space-between; gap: .4em; line-height: 1.15;"
        css += f"font-size: {size}em; font-weight: {weight}"
        total = [span(texts.label("totals")), span(texts.price(300))]
        rows.append(element("p", *total, class_="plain", style=css))
    return joined(*rows)


def _card(design: Design) -> Markup:
    """How it was paid."""
    texts = design.texts
    hidden = design.random.one("************", "xxxxxxxxxxxx", "**** **** ****")
    return joined(
        _line(design, texts.label("labels"), f"{hidden}{texts.value('integer')}"),
        facts.running_facts(design, 1, 4, "below"),
    )


def _end(design: Design) -> Markup:
    """Thanks, bars."""
    random, texts = design.random, design.texts
    words = [texts.sentence(2, 8) for _ in range(random.randint(1, 4))]
    if random.chance(0.4):
        words[0] = _decorated(design, texts.title(1, 3))
    bars = None
    if random.chance(0.35):
        inner = [pictures.barcode(design, random.randint(30, 60))]
        inner.append(text.text_line(texts.value("long code"), style=_MIDDLE))
        bars = div(*inner, style="padding: .3em 12%")
    lines = [text.text_line(line, style=_MIDDLE) for line in words]
    return joined(*lines, bars)


def till_slip(design: Design) -> list[Markup | None]:
    """A slip whose parts are parted by rows of signs, drawn rules or nothing."""
    random = design.random
    kind = random.weighted({"mono": 7, "sans": 3, "serif": 0.3})
    case = random.one("none", "none", "uppercase")
    leading, spacing = random.uniform(1.0, 1.45), random.one(0, 0, 0, 0.03, 0.08)
    design.added_css.append(
        f"body {{ font-family: {design.style.one_face(kind)}; line-height: {leading:.2f};"
        f" letter-spacing: {spacing}em; text-transform: {case}; color: #111;"
        f" text-align: left; padding: {random.randint(6, 40)}px {random.randint(4, 26)}px }}"
        f" body, main * {{ font-weight: {random.one('inherit', 'inherit', '700')} }}"
        " p { margin: 0 } p.plain { text-indent: 0 } .table0, .table1 { width: 100% }"
    )
    usual = random.weighted(_SEPARATORS)
    way = random.weighted({"signs": 6, "drawn": 2, "none": 1})

    def between() -> Content:
        if way == "none" or random.chance(0.1):
            return div(style="height: .6em")
        if way == "drawn":
            return _drawn_rule(design)
        sign = usual if random.chance(0.75) else random.weighted(_SEPARATORS)
        return separator(design, sign)

    makers: list[Maker] = [lambda: _known(design), lambda: _goods(design)]
    makers += [lambda: _sums(design)]
    if random.chance(0.5):
        makers.append(lambda: _card(design))
    parts: list[Content] = [_head(design)]
    for make in makers:
        parts += [between(), make()]
    return [main(*parts, between(), _end(design))]


FAMILIES = {"till slip": Family(till_slip, _SIZES, (10.5, 16))}
