"""Whole pages, columns, sidebars and cards; and notes below the text."""

from collections.abc import Callable

from markupsafe import Markup

from vit_str.synthesis.pages.design import Design, main
from vit_str.synthesis.pages.html import Content, div, element, joined
from vit_str.synthesis.pages.parts import running
from vit_str.synthesis.pages.parts.pictures import figure, icon, picture
from vit_str.synthesis.pages.parts.text import heading, paragraph, text_line


def beside(
    design: Design, *parts: Markup, shares: tuple[float, ...] = (), gap: float = 0
) -> Markup:
    """Parts side by side, read one after the other."""
    random = design.random
    shares = shares or tuple(random.one(1, 1, 1.5, 2) for _ in parts)
    gap = gap or random.uniform(1.0, 3.2)
    if random.chance(0.2):
        total = sum(shares)
        cells = [
            element(
                "td",
                part,
                class_="flow",
                style=(
                    f"vertical-align: top; width: {100 * share / total:.0f}%; "
                    f"padding: 0 {gap if n < len(parts) - 1 else 0:.1f}em 0 0"
                ),
            )
            for n, (part, share) in enumerate(zip(parts, shares, strict=True))
        ]
        row = element("tr", *cells, class_="flow beside")
        return element(
            "table",
            row,
            role="presentation",
            class_="flow",
            style="width: 100%; border-collapse: collapse",
        )
    line = random.one("", "", "", "border-left: 1px solid #999; padding-left: 1em;")
    found = []
    for number, (part, share) in enumerate(zip(parts, shares, strict=True)):
        css = f"flex: {share} 1 0; min-width: 0; {line if number else ''}"
        found.append(div(part, class_="flow", style=css))
    return div(*found, class_="flow beside", style=f"display: flex; gap: {gap:.1f}em")


def columns(design: Design, *parts: Content, count: int = 0, gap: float = 0) -> Markup:
    """Text in columns of one height."""
    random = design.random
    count = count or random.one(2, 2, 2, 3)
    gap = gap or random.uniform(0.9, 2.6)
    rule = random.one("", "", "", "column-rule: 1px solid #999;")
    style = f"column-count: {count}; column-gap: {gap:.1f}em; {rule}"
    return div(*parts, class_="flow", style=style)


def sidebar_page(
    design: Design, side: Markup, text: Markup, is_left: bool | None = None
) -> Markup:
    """The whole body of a page with a sidebar, on a ground of its own or behind a rule."""
    random = design.random
    is_left = random.chance(0.65) if is_left is None else is_left
    wide = random.uniform(24, 38)
    above, beside_ = design.style.margin
    look = random.weighted({"dark": 4, "color": 2, "light": 3, "rule": 2, "none": 1})
    grounds = {
        "dark": design.style.dark,
        "color": design.style.color,
        "light": design.style.ground,
    }
    css = (
        f"flex: 0 0 {wide:.0f}%; min-width: 0; "
        f"padding: {random.uniform(1, 2.4):.1f}em {random.uniform(0.9, 1.8):.1f}em;"
    )
    is_whole = look in grounds and random.chance(0.8)
    if look in grounds:
        ink = "color: #fff;" if look != "light" else ""
        css += f"background: {grounds[look]}; {ink}"
    elif look == "rule":
        css += f"border-{'right' if is_left else 'left'}: 1px solid #888;"
    if look in ("dark", "color"):
        design.added_css.append(
            ".side h1, .side h2, .side h3, .side h4 "
            "{ color: #fff; background: none; border-color: #fff }"
            " .side .muted, .side [style*=color] { color: #ddd !important }"
        )
    bar = element("section", side, class_="side flow", style=css)
    room = random.uniform(1.2, 2.6)
    body = element(
        "section",
        text,
        class_="flow",
        style=(
            f"flex: 1 1 0; min-width: 0; padding: {room if is_whole else 0:.1f}em "
            f"{room:.1f}em 0"
        ),
    )
    inner = (bar, body) if is_left else (body, bar)
    style = f"display: flex; min-height: {design.style.height - 2 * above:.0f}px;"
    if is_whole:
        style = (
            f"display: flex; min-height: {design.style.height}px; width: auto; "
            f"margin: {-above:.0f}px {-beside_:.0f}px;"
        )
    return element("main", *inner, class_="flow beside", style=style)


def cards(
    design: Design,
    make: Callable[[], Markup] | None = None,
    count: int = 0,
    across: int = 0,
) -> Markup:
    """Cards in a grid, read row by row."""
    random = design.random
    across = across or random.one(2, 2, 3, 3, 4)
    count = count or across * random.one(1, 1, 2)
    make = make or card_maker(design)
    found = [div(make(), class_="card") for _ in range(count)]
    style = (
        f"display: grid; grid-template-columns: repeat({across}, minmax(0, 1fr)); margin: .8em 0;"
        f" gap: {random.uniform(0.6, 1.8):.1f}em {random.uniform(0.8, 2):.1f}em"
    )
    return div(*found, class_="flow", style=style)


def card_maker(design: Design, level: int = 3) -> Callable[[], Markup]:
    """Makes cards that are alike: some with a picture, a price, a button."""
    random = design.random
    has_picture = random.chance(0.35)
    has_price = random.chance(0.35)
    texts = random.one((1, 1), (1, 2), (2, 4))
    height = random.randint(50, 110)

    def make() -> Markup:
        above = picture(design, height) if has_picture else None
        name = heading(
            design, level, design.texts.title(1, 3), style="margin-top: .2em"
        )
        text = paragraph(design, *texts)
        price = text_line(element("b", design.texts.price(300))) if has_price else None
        return joined(above, name, text, price)

    return make


def floating(design: Design) -> Markup:
    """A picture, a box or a quotation that text runs around; it is read before that text."""
    random = design.random
    side = random.one("left", "right", "right")
    other = "right" if side == "left" else "left"
    css = f"float: {side}; width: {random.randint(28, 45)}%; margin: .2em 0 .5em"
    css += f"; margin-{other}: 1.2em"
    way = random.one("figure", "figure", "box", "quotation")
    if way == "figure":
        return figure(design, css, random.randint(70, 140))
    inner = joined(heading(design, 4), paragraph(design, 1, 2))
    if way == "box":
        return div(div(inner, class_="box", style="margin: 0"), style=css)
    large = f"font-size: 1.25em; line-height: 1.2; color: {design.style.color}"
    return div(text_line(design.texts.sentence(5, 12), style=large), style=css)


def figures_beside(design: Design, count: int = 0) -> Markup:
    """Pictures with captions side by side."""
    random = design.random
    height = random.randint(70, 150)
    found = [
        figure(design, "flex: 1 1 0; min-width: 0", height, caption=True)
        for _ in range(count or random.one(2, 2, 3))
    ]
    return div(
        *found,
        style=f"display: flex; gap: {random.uniform(0.8, 2):.1f}em; align-items: flex-start",
    )


def page(
    design: Design,
    *parts: Content,
    head: float = 0,
    title: float = 0,
    foot: float = 0.7,
) -> list[Markup | None]:
    """A page between a running head and a running foot.

    Args:
        design: of the page.
        parts: of its text, from top to bottom.
        head: share of such pages with a running head.
        title: share of them with a heading above the parts.
        foot: share of them with a running foot.
    """
    above = running.running_head(design, head) if head else None
    has_title = title == 1 or (title and design.random.chance(title))
    first = heading(design, 1) if has_title else None
    return [above, main(first, *parts), running.running_foot(design, foot)]


def notes(design: Design, low: int = 1, high: int = 4) -> Markup:
    """Footnotes under a short rule."""
    random = design.random
    rule = element(
        "hr",
        style=(
            f"width: {random.one(20, 30, 100)}%; margin: 1em auto .4em 0; border: 0; "
            "border-top: 1px solid #555"
        ),
        aria_hidden="true",
    )
    found = []
    for number in range(1, random.randint(low, high) + 1):
        mark = random.one(
            element("sup", str(number)), joined(f"{number} "), joined(f"{number}. ")
        )
        text = design.texts.text(1, 2)
        found.append(element("p", mark, text, role="doc-footnote", class_="note"))
    return div(rule if random.chance(0.7) else None, *found)


def table_note(design: Design) -> Markup:
    """A note under a table."""
    text = f"{design.texts.exact('note')}: {design.texts.sentence(3, 12)}"
    mark = design.random.one("", "* ", "¹ ")
    return element("p", mark + text, role="doc-footnote", class_="note")


def margin_mark(design: Design, share: float = 0.12) -> Markup | None:
    """A stamp, an upright number at the edge, a mark across the page; on some pages."""
    random = design.random
    if not random.chance(share):
        return None
    way = random.one("upright", "upright", "stamp", "watermark")
    text = random.one(
        design.texts.filled(
            "{a}{a}{a}:{two}{two}.{three}{two}v{digit} [{a}{a}.{A}{A}] {day} {Month} {year}"
        ),
        f"{design.texts.noun()} {design.texts.value('code')} {design.texts.date()}",
        design.texts.value("long code"),
    )
    if way == "upright":
        side = random.one("left", "left", "right")
        size = random.uniform(0.6, 1.4)
        turn = random.one(270, 270, 90)
        flip = "transform: rotate(180deg);" if turn == 270 else ""
        css = (
            f"position: absolute; {side}: {random.randint(6, 22)}px; "
            f"top: {random.randint(15, 45)}%; writing-mode: vertical-rl; "
            f"{flip} font-size: {size:.2f}em; color: {random.one('#888', '#333', '#555')}; "
            "white-space: nowrap; line-height: 1"
        )
        return div(text, role="complementary", style=css)
    word = random.one(
        design.texts.noun(), design.texts.exact("totals"), design.texts.phrase(1, 2)
    ).upper()
    if way == "stamp":
        color = random.one("#a11", "#147", "#171")
        css = (
            f"position: absolute; right: {random.randint(4, 30)}%; "
            f"top: {random.randint(2, 9)}%; border: 2.5px solid {color}; color: {color}; "
            "padding: .1em .5em; font-weight: 700; "
            f"font-size: {random.uniform(1.2, 2):.1f}em; opacity: .75"
        )
        return div(word, role="complementary", style=css)
    css = (
        "position: absolute; left: 12%; top: 42%; font-size: 5em; color: #0001; "
        "font-weight: 700; transform: rotate(-35deg)"
    )
    return div(word, aria_hidden="true", style=css)


def icon_row(design: Design, *texts: Content) -> Markup:
    """A small sign before each of some texts."""
    found = [text_line(joined(icon(design, 12), " ", text)) for text in texts]
    return joined(*found)
