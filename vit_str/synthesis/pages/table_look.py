"""How tables of a drawn page look: rules, grounds, room in cells."""

from dataclasses import dataclass

from vit_str.synthesis.pages.choices import Choices

_SECOND_LINES = (
    "font-size: .85em",
    "font-style: italic",
    "color: #666; font-size: .9em",
)
_GROUPS = (
    "font-weight: 700",
    "font-style: italic",
    "background: #eee",
    "font-weight: 700; padding-top: .7em",
    "font-weight: 700; text-align: center",
    "text-transform: uppercase; font-size: .82em; letter-spacing: .06em",
    "background: #444; color: #fff",
)
_SUMS = (
    "",
    "font-weight: 700",
    "border-top: 1px solid #333",
    "border-top: 1px solid #333; font-weight: 700",
)


@dataclass(frozen=True)
class TableLook:
    """How tables of a page look.

    Attributes:
        rules: ``none``, ``all``, ``rows``, ``head``, ``outer``, ``zebra``, ``levels``, ``columns``,
            ``groups``, ``sides`` or ``apart``.
        css: of everything in them.
        has_bold_labels: whether the first column is set apart, as head cells of rows.
        is_wide: over the whole width.
    """

    rules: str
    css: str
    has_bold_labels: bool
    is_wide: bool


_CELLS = "TABLE td, TABLE th, TABLE [role$=cell], TABLE [role$=header]"
_HEADS = "TABLE thead th, TABLE [role=columnheader]"
_LAST = "TABLE tr:last-child td, TABLE tr:last-child th"


def table_look(
    random: Choices, color: str, ground: str, dark: str, gap: float
) -> TableLook:
    """A look for tables; in its CSS, ``TABLE`` stands for their class.

    Args:
        random: decides.
        color: of the page, as CSS has it.
        ground: light, behind dark text.
        dark: behind light text.
        gap: between paragraphs, in em.
    """
    rules = random.weighted(
        {"none": 3, "all": 3, "rows": 3, "head": 2, "zebra": 2, "levels": 2}
        | {"outer": 0.7, "columns": 0.7, "groups": 0.7, "sides": 0.5, "apart": 0.5}
    )
    line = random.one(
        "1px solid #333",
        "1px solid #bbb",
        "0.6px solid #000",
        "1px solid #e2e2e2",
        "1px dotted #777",
    )
    thick = random.one("2px solid #222", f"1.5px solid {color}", "1px solid #000")
    css = _cells(random, color, ground, dark, gap)
    stripes = random.one("odd", "even")
    css.append(_ruled(rules, line, thick, ground, stripes))
    has_bold_labels = random.chance(0.22)
    if has_bold_labels:
        look = random.one(
            "font-weight: 700",
            f"background: {ground}",
            f"color: {color}; font-weight: 700",
        )
        css.append(f"TABLE tbody th, TABLE [role=rowheader] {{ {look} }}")
    return TableLook(rules, "\n".join(css), has_bold_labels, random.chance(0.6))


def _cells(
    random: Choices, color: str, ground: str, dark: str, gap: float
) -> list[str]:
    """Text in cells and the room around it."""
    across = random.uniform(0.2, 1.0) if random.chance(0.85) else random.one(1.5, 2)
    down = random.one(0.04, 0.12, 0.25, 0.4, 0.6, 0.9)
    valign = random.one("top", "top", "middle", "baseline")
    head = _head(random, color, ground, dark)
    css = [
        "TABLE "
        f"{{ border-collapse: collapse; border-spacing: 0; margin: {gap + 0.3:.2f}em 0"
        f" {gap + random.one(0.3, 0.8):.2f}em; "
        f"line-height: {random.uniform(1.1, 1.4):.2f};"
        f" font-size: {random.one(1, 1, 0.92, 0.85, 0.8)}em }}",
        f"{_CELLS} "
        f"{{ padding: {down}em {across:.2f}em; text-align: left; font-weight: 400;"
        f" vertical-align: {valign} }}",
        f"{_HEADS} {{ {head} vertical-align: {random.one('bottom', valign)} }}",
        "TABLE .right { text-align: right } TABLE .center { text-align: center }",
        f"TABLE .sub {{ {random.choice(_SECOND_LINES)} }}",
        f"TABLE .group {{ {random.choice(_GROUPS)} }}",
        f"TABLE .sum {{ {random.choice(_SUMS)} }}",
        "TABLE .exact { white-space: nowrap }",
        "TABLE td + td, TABLE th + th, TABLE th + td { width: var(--column) }",
    ]
    if not random.chance(0.4):
        css.append("TABLE tr > :first-child { padding-left: 0 }")
    return css


def _head(random: Choices, color: str, ground: str, dark: str) -> str:
    """Text and ground of head cells."""
    head = random.one("font-weight: 700;", "font-weight: 700;", "font-weight: 400;")
    head += random.one(
        "",
        "",
        f"background: {dark}; color: #fff;",
        f"background: {ground};",
    )
    head += random.one("", "", "", "text-transform: uppercase; font-size: .85em;")
    head += random.one("", "", "", "font-style: italic;", f"color: {color};")
    if "background" in head and "#fff" in head:
        head = head.replace(f"color: {color};", "")
    return head


def _ruled(rules: str, line: str, thick: str, ground: str, stripes: str) -> str:
    """Rules and stripes of a kind of table, see `TableLook`."""
    below = f"{{ border-bottom: {line} }}"
    by_kind = {
        "all": f"{_CELLS} {{ border: {line} }}",
        "rows": f"TABLE tr {below} TABLE [role=row] > * {below}",
        "head": f"{_HEADS} {{ border-bottom: {thick} }}",
        "zebra": f"TABLE tbody tr:nth-child({stripes}),"
        f" TABLE [role=row]:nth-child(even) > * {{ background: {ground} }}",
        "levels": f"TABLE {{ border-top: {thick}; border-bottom: {thick} }} {_HEADS} {below}",
        "outer": f"TABLE {{ border: {line} }}",
        "columns": "TABLE td + td, TABLE th + th, TABLE td + th"
        f" {{ border-left: {line} }} {_HEADS} {below}",
        "groups": f"TABLE .group {below} {_LAST} {{ border-bottom: {thick} }}",
        "apart": (
            "TABLE { border-collapse: separate; border-spacing: 0 .35em }"
            " TABLE td, TABLE tbody th, TABLE [role=cell], TABLE [role=rowheader]"
            f" {{ background: {ground} }}"
        ),
        "sides": f"TABLE tr > :first-child {{ border-right: {line} }} {_HEADS} {below}",
    }
    return by_kind.get(rules, "")
