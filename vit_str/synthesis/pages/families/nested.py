"""Parts within parts: columns, grids, panels and bands to any depth, on no plan of a document."""

from collections.abc import Callable

from markupsafe import Markup

from vit_str.synthesis.pages.design import Design, flow, main
from vit_str.synthesis.pages.families.family import Family
from vit_str.synthesis.pages.families.mixed import any_part
from vit_str.synthesis.pages.html import Content, Maker, div, joined
from vit_str.synthesis.pages.parts import (
    boxes,
    facts,
    fronts,
    grids,
    layout,
    lists,
    pictures,
    running,
    tables,
    text,
)

_DEEPEST = 2
_WHOLE = "break-inside: avoid"


def _section_maker(design: Design, level: int, narrow: bool) -> Callable[[], Markup]:
    """Makes sections that are alike: a heading and what is below it."""
    random = design.random
    makers: dict[Maker, float] = {
        lambda: lists.any_list(design, 2, 6, short=True): 3,
        lambda: lists.checklist(design, 2, 6): 1.5,
        lambda: text.items(design, 2, 7, random.one(2, 4, 8), nested=0): 2,
        lambda: text.paragraph(design, 1, 3): 3,
        lambda: facts.running_facts(design, 2, 5, "below"): 1.5,
        lambda: tables.pairs(design): 1.5,
        lambda: facts.fields(design, random.randint(2, 5), 1): 1,
        lambda: text.address(design): 1,
        lambda: grids.sums_below(design, random.randint(2, 4)): 0.5,
        lambda: any_part(design, narrow): 1.5,
    }
    make = random.weighted(makers)
    second = random.weighted(makers) if random.chance(0.25) else None
    longest = random.one(1, 2, 4)
    is_headed = random.chance(0.9)

    def section() -> Markup:
        name = text.heading(design, level, design.texts.title(1, longest))
        inner: list[Content] = [make(), second() if second else None]
        return div(name if is_headed else None, *inner)

    return section


def _alike(design: Design, low: int, high: int, level: int) -> list[Markup]:
    """Sections that are alike in what is in them, but not in length."""
    make = _section_maker(design, level, narrow=True)
    return design.random.several(low, high, make)


def _in_columns(design: Design, level: int) -> Markup:
    """Sections down columns, each whole or going over to the next column."""
    random = design.random
    count = random.one(2, 2, 3, 3, 4)
    parts = _alike(design, count, 2 * count + 1, level)
    if random.chance(0.6):
        parts = [div(part, style=_WHOLE) for part in parts]
    return layout.columns(design, *parts, count=count)


def _in_grid(design: Design, level: int) -> Markup:
    """Sections in rows, framed or not, as high as the highest beside them or as they are."""
    random = design.random
    across = random.one(2, 2, 3, 3, 4)
    parts = _alike(design, across, across * random.one(1, 2, 2), level)
    look = random.one("", "", "card", "box", "ground", "top")
    css = {
        "ground": f"background: {design.style.ground}; padding: .8em",
        "top": f"border-top: 2px solid {design.style.color}; padding-top: .3em",
    }.get(look, "")
    class_ = look if look in ("card", "box") else ""
    cells = [div(part, class_=class_, style=css + "; min-width: 0") for part in parts]
    gap = f"{random.uniform(0.4, 2):.1f}em {random.uniform(0.7, 2.4):.1f}em"
    side = random.one("start", "start", "stretch")
    style = (
        f"display: grid; grid-template-columns: repeat({across}, minmax(0, 1fr)); "
        f"gap: {gap}; align-items: {side}; margin: .8em 0"
    )
    return flow(*cells, style=style)


def _beside(design: Design, depth: int, level: int) -> Markup:
    """Stacks of parts side by side, read one after the other."""
    random = design.random
    count = random.one(2, 2, 2, 3)
    stacks = [
        joined(*_stack(design, depth + 1, level, random.randint(1, 3)))
        for _ in range(count)
    ]
    if random.chance(0.3):
        place = random.randrange(count)
        stacks[place] = boxes.box(design, stacks[place])
    return layout.beside(design, *stacks)


def _panel(design: Design, depth: int, level: int) -> Markup:
    """Parts on a ground or in a frame, as wide as their room or as the page."""
    random = design.random
    parts = _stack(design, depth + 1, min(4, level + 1), random.randint(1, 3))
    if depth == 0 and random.chance(0.3):
        return boxes.whole_width(design, *parts)
    return boxes.box(design, *parts)


def _leaf(design: Design, depth: int, level: int) -> Markup:
    """A part with nothing but text in it."""
    random = design.random
    narrow = depth > 0
    makers: dict[Maker, float] = {
        _section_maker(design, level, narrow): 4,
        lambda: any_part(design, narrow): 4,
        lambda: text.paragraph(design, 1, 4): 2,
        lambda: boxes.steps(design): 0.7,
        lambda: boxes.timeline(design): 0.5,
        lambda: fronts.strip(design, design.texts.different("labels", 4)): 0.7,
        lambda: fronts.label_grid(design, design.texts.different("labels", 6)): 0.5,
        lambda: facts.figures_on_cards(design): 0.7,
        lambda: facts.total_line(design): 0.4,
        lambda: facts.contact(design): 0.5,
        lambda: facts.signatures(design): 0.4,
        lambda: text.button(design): 0.3,
        lambda: text.text_line(design.texts.phrase(1, 6), "plain muted"): 0.5,
        lambda: pictures.figure(design, height=random.randint(50, 140)): 0.7,
        lambda: layout.table_note(design): 0.0 if narrow else 0.3,
    }
    return random.weighted(makers)()


def _stack(design: Design, depth: int, level: int, count: int) -> list[Markup]:
    """Parts below each other, some of which have others side by side in them."""
    random = design.random
    ways: dict[Callable[[], Markup], float] = {lambda: _leaf(design, depth, level): 4}
    if depth < _DEEPEST:
        ways |= {
            lambda: _beside(design, depth, level): 2.0 - depth,
            lambda: _in_columns(design, level): 1.5 - depth,
            lambda: _in_grid(design, level): 1.5 - depth,
            lambda: _panel(design, depth, level): 1.0,
        }
    positive = {way: share for way, share in ways.items() if share > 0}
    return [random.weighted(positive)() for _ in range(count)]


def _top(design: Design) -> Markup | None:
    """How a page begins: a title, a letterhead, a title with a line about it."""
    random = design.random
    way = random.weighted({"title": 4, "front": 3, "line": 2, "none": 1})
    if way == "none":
        return None
    if way == "front":
        return fronts.front(design)
    title = text.heading(design, 1)
    if way == "title":
        return title
    said = design.texts.sentence(3, 12) if random.chance(0.6) else design.texts.date()
    about = text.text_line(said, random.one("plain", "plain muted"))
    return joined(title, about) if random.chance(0.7) else joined(about, title)


def nested(design: Design) -> list[Markup | None]:
    """Parts below and beside each other, and in each other."""
    random = design.random
    parts = _stack(design, 0, random.one(2, 2, 3), random.randint(3, 9))
    return [
        running.running_head(design, 0.5),
        main(_top(design), *parts),
        layout.notes(design) if random.chance(0.15) else None,
        running.running_foot(design, 0.75),
        layout.margin_mark(design, 0.08),
    ]


def columns_of_sections(design: Design) -> list[Markup | None]:
    """Short sections down columns, or in rows, that fill the page."""
    random = design.random
    make = random.one(_in_columns, _in_columns, _in_grid)
    above = text.paragraph(design, 1, 3) if random.chance(0.4) else None
    below = _leaf(design, 0, 2) if random.chance(0.4) else None
    return [
        running.running_head(design, 0.3),
        main(_top(design), above, make(design, random.one(2, 3)), below),
        running.running_foot(design, 0.75),
    ]


FAMILIES = {
    "nested": Family(nested),
    "columns of sections": Family(columns_of_sections),
}
