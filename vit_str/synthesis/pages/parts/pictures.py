"""Pictures, charts with axes, drawings with letters, and their captions."""

from markupsafe import Markup

from vit_str.synthesis.pages.design import Design
from vit_str.synthesis.pages.html import Content, div, element, joined
from vit_str.synthesis.pages.parts.tables import caption_text
from vit_str.synthesis.pages.style import palette


def figure(
    design: Design, style: str = "", height: int = 0, caption: bool | None = None
) -> Markup:
    """A picture or chart, most with a caption."""
    random = design.random
    height = height or random.randint(70, 230)
    inner = random.one(picture, picture, bar_chart, line_chart, diagram)(design, height)
    has_caption = random.chance(0.8) if caption is None else caption
    if not has_caption:
        return element("figure", inner, style=style)
    text = element("figcaption", caption_text(design, "figure"))
    is_below = random.chance(0.85)
    return element(
        "figure", *((inner, text) if is_below else (text, inner)), style=style
    )


def picture(design: Design, height: int, width: str = "100%") -> Markup:
    """A stand-in for a photograph: soft shapes of several colors."""
    random = design.random
    colors = [*palette()["colors"], *palette()["grounds"], *palette()["darks"]]
    layers = [
        f"radial-gradient(circle at {random.randint(0, 100)}% {random.randint(0, 100)}%,"
        f" {random.choice(colors)} 0 {random.randint(5, 30)}%, "
        f"transparent {random.randint(31, 60)}%)"
        for _ in range(random.randint(2, 5))
    ]
    sky, earth = random.choice(colors), random.choice(colors)
    layers.append(f"linear-gradient({random.randint(0, 180)}deg, {sky}, {earth})")
    style = f"height: {height}px; width: {width}; background: {', '.join(layers)}"
    return div(data_picture="photo", style=style)


def icon(design: Design, size: int) -> Markup:
    """A small sign: no text."""
    random = design.random
    shape = random.one(
        element("circle", cx="8", cy="8", r="6", fill=design.style.color),
        element("rect", x="2", y="3", width="12", height="10", fill=design.style.color),
        element("path", d="M2 14 L8 2 L14 14 Z", fill=design.style.color),
        element(
            "path",
            d="M3 8 L7 12 L13 4",
            stroke=design.style.color,
            stroke_width="2",
            fill="none",
        ),
    )
    return element(
        "svg", shape, viewBox="0 0 16 16", width=size, height=size, aria_hidden="true"
    )


def logo(design: Design, size: int) -> Markup:
    """A sign, some with a name in it, which is text of a figure."""
    random = design.random
    if random.chance(0.5):
        return icon(design, size)
    css = (
        "display: inline-block; background: "
        f"{random.one(design.style.color, design.style.dark)};"
        " color: #fff; padding: .3em .6em; "
        f"font: 700 {size * 0.5:.0f}px / 1.1 {design.style.one_face('sans')};"
        f" border-radius: {random.one(0, 4, 30)}px"
    )
    name = design.texts.noun()[: random.one(2, 3, 9)]
    return div(name.upper(), role="img", style=css)


def barcode(design: Design, height: int) -> Markup:
    """Bars without their number."""
    random = design.random
    stops = []
    place = 0.0
    while place < 100:
        wide = random.uniform(0.5, 1.8)
        stops.append(
            f"#000 {place:.1f}% {place + wide:.1f}%, "
            f"#fff {place + wide:.1f}% {place + 2 * wide:.1f}%"
        )
        place += 2 * wide
    css = (
        f"height: {height}px; background: linear-gradient(90deg, {', '.join(stops)}); "
        "margin: .4em 0 .1em"
    )
    return div(data_picture="bars", style=css)


def bar_chart(design: Design, height: int) -> Markup:
    """Bars with names below them and numbers along an axis."""
    random = design.random
    count = random.randint(3, 8)
    names = _names(design, count)
    marks = _marks(design)
    bars = []
    for number, name in enumerate(names):
        left = 40 + number * 255 / count
        tall = random.uniform(15, 95)
        bars.append(
            _shape(
                "rect",
                x=f"{left:.0f}",
                y=f"{105 - tall:.0f}",
                width=f"{150 / count:.0f}",
                height=f"{tall:.0f}",
                fill=design.style.color,
            )
        )
        bars.append(_label(name, left + 75 / count, 117))
        if random.chance(0.3):
            bars.append(_label(str(round(tall)), left + 75 / count, 102 - tall))
    return _chart(height, *_axes(marks), *bars, *_title(design))


def line_chart(design: Design, height: int) -> Markup:
    """One or several lines, with names below and numbers along an axis."""
    random = design.random
    count = random.randint(4, 8)
    names = _names(design, count)
    lines = []
    for color in random.sample(list(palette()["colors"]), random.randint(1, 3)):
        points = " ".join(
            f"{40 + n * 250 / (count - 1):.0f},{random.uniform(15, 100):.0f}"
            for n in range(count)
        )
        lines.append(
            _shape(
                "polyline", points=points, fill="none", stroke=color, stroke_width="1.5"
            )
        )
        if random.chance(0.5):
            lines.append(_label(design.texts.noun(), 265, random.uniform(15, 95)))
    labels = [
        _label(name, 40 + n * 250 / (count - 1), 117) for n, name in enumerate(names)
    ]
    return _chart(height, *_axes(_marks(design)), *lines, *labels, *_title(design))


def diagram(design: Design, height: int) -> Markup:
    """Boxes with words and lines between them."""
    random = design.random
    count = random.randint(2, 4)
    shapes: list[Content] = []
    for number in range(count):
        left = 8 + number * 290 / count
        top = random.uniform(10, 70)
        wide = 200 / count
        shapes.append(
            _shape(
                "rect",
                x=f"{left:.0f}",
                y=f"{top:.0f}",
                width=f"{wide:.0f}",
                height="30",
                fill="none",
                stroke="#333",
            )
        )
        shapes.append(_label(design.texts.noun()[:12], left + wide / 2, top + 18))
        if number < count - 1:
            end = f"{left + 290 / count:.0f}"
            shapes.append(
                _shape(
                    "line",
                    x1=f"{left + wide:.0f}",
                    y1=f"{top + 15:.0f}",
                    x2=end,
                    y2=f"{top + 15:.0f}",
                    stroke="#333",
                )
            )
    return _chart(height, *shapes)


def exploded(design: Design, height: int, count: int) -> Markup:
    """A drawing of parts taken apart along an axis, numbered from 1 at the ends of lines."""
    random = design.random
    shapes: list[Content] = []
    for number in range(1, count + 1):
        x = 20 + 260 * (number - 0.5) / count + random.uniform(-6, 6)
        y = 30 + 62 * (number - 0.5) / count + random.uniform(-8, 8)
        size = random.uniform(4, 9)
        look = {"fill": "none", "stroke": "#333", "stroke_width": "0.8"}
        at = {"cx": f"{x:.0f}", "cy": f"{y:.0f}"}
        if random.chance(0.5):
            high = f"{size * random.uniform(0.4, 1.4):.1f}"
            shapes.append(_shape("ellipse", rx=f"{size:.1f}", ry=high, **at, **look))
        else:
            corner = {"x": f"{x - size:.0f}", "y": f"{y - size / 2:.0f}"}
            wide = {"width": f"{2 * size:.0f}", "height": f"{size:.0f}"}
            shapes.append(_shape("rect", **corner, **wide, **look))
        end = 12 if number % 2 else 112
        path = f"{x:.0f},{y:.0f} {x:.0f},{end}"
        thin = {"fill": "none", "stroke": "#777", "stroke_width": "0.4"}
        shapes.append(_shape("polyline", points=path, **thin))
        shapes.append(_label(str(number), x, end - 2 if number % 2 else end + 8))
    return element("figure", _chart(height, *shapes))


def _names(design: Design, count: int) -> list[str]:
    if design.random.chance(0.5):
        first = design.texts.year - count
        return [str(first + number) for number in range(count)]
    return [design.texts.noun()[:8] for _ in range(count)]


def _marks(design: Design) -> list[str]:
    step = design.random.one(5, 10, 20, 25, 100, 250)
    return [design.texts.number(step * number) for number in range(5)]


def _axes(marks: list[str]) -> list[Markup]:
    labels = [_label(mark, 32, 108 - 24 * n, "end") for n, mark in enumerate(marks)]
    across = _shape("line", x1="36", y1="105", x2="296", y2="105", stroke="#333")
    up = _shape("line", x1="36", y1="6", x2="36", y2="105", stroke="#333")
    return [across, up, *labels]


def _title(design: Design) -> list[Markup]:
    if not design.random.chance(0.35):
        return []
    return [_label(design.texts.phrase(2, 4), 165, 9)]


def _shape(tag: str, **attributes: str) -> Markup:
    return element(tag, **attributes)


def _label(text: str, x: float, y: float, anchor: str = "middle") -> Markup:
    place = {"x": f"{x:.0f}", "y": f"{y:.0f}", "text_anchor": anchor}
    return element("text", text, font_size="8.5", fill="#222", **place)


def _chart(height: int, *shapes: Content) -> Markup:
    inner = joined(*shapes)
    size = {"height": max(height, 90), "style": "width: 100%; display: block"}
    return element("svg", inner, role="img", viewBox="0 0 300 122", **size)
