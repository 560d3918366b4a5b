"""How a drawn page looks: CSS of the wild, chosen at random but alike all over a page."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import yaml

from vit_str.synthesis.pages.choices import Choices

A4 = (794, 1123)
"""Pixels of a page at 96 dots per inch."""
LETTER = (816, 1056)
A5 = (559, 794)
SLIDE = (1123, 632)

_PLAIN = 1.15
"""Size over that of the text up to which a heading has to be bold, colored or the like."""


_SMALLER = 1.1
"""Size of a heading over that of the next level, at least."""
DRAWN_MARKS = ("drawn disc", "drawn square", "drawn dash", "drawn number")
"""Marks that are no text: shapes, as files and scans have them; and a number on a ground."""
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


@cache
def palette() -> Mapping[str, Sequence[str]]:
    """Names of faces, colors and bullets, by kind."""
    source = files("vit_str.synthesis.pages").joinpath("style.yaml")
    return yaml.safe_load(source.read_text("utf-8"))


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


class Style:
    """The look of one page.

    Args:
        random: decides.
        size: width and height in pixels; None for a sheet of paper.
        text: size of the text in pixels, from the least to the most.
    """

    def __init__(
        self,
        random: Choices,
        size: tuple[int, int] | None = None,
        text: tuple[float, float] = (10.5, 16.0),
    ) -> None:
        self.random = random
        usual = random.weighted({A4: 7, LETTER: 3, A5: 0.7, (A4[1], A4[0]): 0.4})
        self.width, self.height = size or usual
        scale = min(self.width, self.height) / 794 if size is None else 1.0
        self.text_size = random.uniform(*text) * max(0.75, min(1.0, scale))
        kind = random.weighted({"serif": 4, "sans": 5, "mono": 0.25})
        self.face = face(random, kind)
        self.head_face = self.face
        if random.chance(0.35):
            self.head_face = face(random, random.one("serif", "sans", "sans"))
        self.ink = random.choice(palette()["inks"])
        self.gray = random.choice(palette()["grays"])
        self.color = random.choice(palette()["colors"])
        self.ground = random.choice(palette()["grounds"])
        self.dark = random.choice(palette()["darks"])
        self.paper = random.choice(palette()["papers"])
        self.leading = random.uniform(1.12, 1.6)
        self.gap = random.one(0.0, 0.15, 0.35, 0.6, 0.8, 1.0)
        self.is_indented = self.gap < 0.2 and random.chance(0.8)
        self.is_justified = random.chance(0.4)
        self.margin = (
            self.height * random.uniform(0.035, 0.1),
            self.width * random.uniform(0.05, 0.14),
        )
        self.marks = [self._mark(level) for level in range(3)]
        self.is_numbered = random.chance(0.2)
        self.tables = [self._table_look() for _ in range(2)]
        self.caption_is_above = random.chance(0.5)

    def css(self) -> str:
        """The style sheet of the page."""
        above, beside = self.margin
        rules = [
            "* { box-sizing: border-box; overflow-wrap: break-word }",
            f"html {{ background: {self.paper} }}",
            f"body {{ margin: 0; width: {self.width}px; min-height: {self.height}px;"
            f" padding: {above:.0f}px {beside:.0f}px; display: flex; flex-direction: column;"
            f" position: relative; background: {self.paper}; color: {self.ink};"
            f" font: {self.text_size:.2f}px / {self.leading:.2f} {self.face} }}",
            "main { flex: 1 1 auto; min-width: 0; width: 100% } section { min-width: 0 }",
            self._paragraphs(),
            *self._headings(),
            *self._lists(),
            *self._notes_and_captions(),
            *self._furniture(),
            *(
                look.css.replace("TABLE", f".table{number}")
                for number, look in enumerate(self.tables)
            ),
        ]
        return "\n".join(rules)

    def one_face(self, kind: str) -> str:
        """Another face of a kind, as CSS has it."""
        return face(self.random, kind)

    def _paragraphs(self) -> str:
        align = "text-align: justify;" if self.is_justified else ""
        indent = "p + p { text-indent: 1.4em }" if self.is_indented else ""
        initial = ""
        if self.random.chance(0.06):
            initial = (
                "main > p:first-of-type:not(.plain, .lead, .fine)::first-letter"
                f" {{ float: left; font-size: {self.random.uniform(2, 3.2):.1f}em;"
                " line-height: .85; margin-right: .08em }"
            )
        return f"p {{ margin: 0 0 {self.gap}em; {align} }} {indent} {initial}"

    def _headings(self) -> list[str]:
        random = self.random
        sizes = [random.uniform(1.35, 2.7), random.uniform(1.1, 1.6)]
        sizes += [random.uniform(1.0, 1.25), random.uniform(0.94, 1.06)]
        sizes.sort(reverse=True)
        # Of two that look alike, nobody knows the level
        for level in range(1, len(sizes)):
            sizes[level] = min(sizes[level], sizes[level - 1] / _SMALLER)
        return [
            f"h{level} {{ {self._heading(level, size)} }}"
            for level, size in enumerate(sizes, 1)
        ]

    def _heading(self, level: int, size: float) -> str:
        """One that cannot be taken for text."""
        random = self.random
        is_bold = random.chance(0.97 if size < _PLAIN else 0.72)
        above = random.uniform(0.5, 1.5) if level > 1 else random.uniform(0, 0.6)
        css = (
            f"font-size: {size:.2f}em; line-height: {random.uniform(1.05, 1.3):.2f};"
            f" margin: {above:.2f}em 0 {random.uniform(0.1, 0.7):.2f}em;"
            f" font-weight: {700 if is_bold else 400}; font-family: {self.head_face};"
        )
        rule = random.one(
            "1px solid #333", f"2px solid {self.color}", "0.5px solid #999"
        )
        extras = {
            "text-transform: uppercase;": 0.15,
            "text-transform: uppercase; letter-spacing: .15em;": 0.05,
            "font-variant: small-caps;": 0.04,
            "text-align: center;": 0.15,
            f"color: {self.color};": 0.4,
            "font-style: italic;": 0.08,
            f"border-bottom: {rule}; padding-bottom: .12em;": 0.14,
            f"border-top: {rule}; padding-top: .2em;": 0.05,
            f"border-left: 4px solid {self.color}; padding-left: .4em;": 0.04,
            f"background: {self.dark}; color: #fff; padding: .15em .45em;": 0.06,
            f"background: {self.ground}; padding: .15em .45em;": 0.05,
        }
        chosen = [text for text, share in extras.items() if random.chance(share)]
        if any("#fff" in text for text in chosen):
            light = f"background: {self.ground}"
            chosen = [text for text in chosen if not text.startswith(light)]
        if not is_bold and size < _PLAIN and not chosen:
            chosen.append("font-style: italic;")
        return css + " ".join(chosen)

    def _mark(self, level: int) -> tuple[str, str, float]:
        """The mark of items of a level, how they hang, and their indent in em."""
        random = self.random
        numbers = (
            "1.",
            "1.",
            "1)",
            "(1)",
            "a)",
            "a.",
            "A.",
            "i.",
            "(i)",
            "01",
            "1",
            "§1",
        )
        is_number = random.chance(0.35)
        mark = (
            random.one(*numbers) if is_number else random.choice(palette()["bullets"])
        )
        if random.chance(0.15):
            mark = random.choice(DRAWN_MARKS)
        way = random.weighted({"hang": 5, "inline": 1, "block": 0.7})
        return mark, way, random.uniform(1.2, 2.6) + 0.1 * level

    def _lists(self) -> list[str]:
        random = self.random
        left = random.one(0.0, 0.0, random.uniform(0.6, 2.2))
        gap = random.one(0.0, 0.0, 0.1, 0.3, 0.6)
        rules = [
            f".shape {{ display: inline-block; background: {random.one(self.ink, self.color)};"
            f" vertical-align: .15em; width: {random.uniform(0.28, 0.45):.2f}em;"
            f" height: {random.uniform(0.28, 0.45):.2f}em }}",
            ".shape.disc { border-radius: 50% } .shape.dash { height: .1em; width: .6em }",
            f".badge {{ display: inline-block; background: {random.one(self.color, self.dark)};"
            " color: #fff; text-align: center; font-weight: 700; text-indent: 0;"
            f" min-width: 1.5em; line-height: 1.5; border-radius: {random.one(0, 3, 50)}px }}",
            f"ul {{ list-style: none; margin: 0 0 {max(self.gap, 0.3)}em;"
            f" padding: 0 0 0 {left}em }}",
            f"ul ul {{ margin: 0; padding-left: {random.uniform(0.9, 2.2):.2f}em }}",
            f"li {{ margin: 0 0 {gap}em }} li > ul {{ text-indent: 0 }}",
        ]
        for level, (_, way, room) in enumerate(self.marks):
            name = f"li.level{level}"
            if way == "hang":
                rules.append(
                    f"{name} {{ padding-left: {room:.2f}em; text-indent: -{room:.2f}em }}"
                    f" {name} > .mark {{ display: inline-block; width: {room:.2f}em;"
                    " text-indent: 0 }"
                )
            elif way == "block":
                rules.append(f"{name} {{ text-indent: {random.one(0, 1.4)}em }}")
        return rules

    def _notes_and_captions(self) -> list[str]:
        random = self.random
        size = random.uniform(0.72, 0.95)
        look = random.one("", "", "font-style: italic;", f"color: {self.gray};")
        align = random.one("left", "left", "center")
        return [
            f"caption, figcaption {{ font-size: {size:.2f}em; {look} text-align: {align};"
            f" line-height: 1.25; margin: .35em 0 .35em; padding: .2em 0 }}",
            f"caption {{ caption-side: {'top' if self.caption_is_above else 'bottom'} }}",
            f".note {{ font-size: {random.uniform(0.7, 0.88):.2f}em; line-height: 1.25;"
            " margin: 0 0 .25em; text-align: left; text-indent: 0 }",
            "figure { margin: .6em 0; break-inside: avoid }",
            "h1, h2, h3, h4 { break-after: avoid }",
            f".fine {{ font-size: {random.uniform(0.72, 0.9):.2f}em }}",
            f".muted {{ color: {self.gray} }}",
            f".lead {{ font-size: {random.uniform(1.08, 1.3):.2f}em; text-indent: 0 }}",
            ".plain { text-indent: 0; text-align: left }",
            "sup { line-height: 0; font-size: .7em }",
        ]

    def _furniture(self) -> list[str]:
        """Sidebars, cards, boxes, heads and feet, code."""
        random = self.random
        boxes = [
            "border: 1px solid #999;",
            f"background: {self.ground};",
            f"border: 1px solid {self.color}; border-radius: 6px;",
            f"border-top: 3px solid {self.color}; background: {self.ground};",
            "box-shadow: 0 1px 4px #0004;",
            f"border-left: 4px solid {self.color};",
        ]
        quiet = random.one(f"color: {self.gray};", "", "font-style: italic;")
        small = f"font-size: {random.uniform(0.7, 0.92):.2f}em; {quiet}"
        rule = random.one("", "", "1px solid #999", "0.5px solid #000")
        below = f"border-bottom: {rule}; padding-bottom: .3em;" if rule else ""
        over = f"border-top: {rule}; padding-top: .3em;" if rule else ""
        return [
            f".box {{ {random.choice(boxes)} padding: {random.uniform(0.4, 1.2):.2f}em;"
            " margin: .7em 0 }",
            (
                ".card "
                f"{{ {random.choice([*boxes, '', ''])} padding: {random.uniform(0.3, 1):.2f}em }}"
            ),
            f"header {{ {small} {below} display: flex; justify-content: space-between;"
            f" margin-bottom: {random.uniform(0.8, 2.4):.1f}em; gap: 1em }}",
            f"footer {{ {small} {over} display: flex; justify-content: space-between;"
            f" margin-top: {random.uniform(0.8, 2):.1f}em; gap: 1.5em }}",
            "footer.one { justify-content: center; text-align: center }",
            f"pre {{ font: {random.uniform(0.78, 0.95):.2f}em / 1.3 {self.one_face('mono')};"
            " margin: .6em 0; white-space: pre-wrap; overflow-wrap: anywhere;"
            + random.one(
                "background: #f3f3f3; padding: .6em",
                "border: 1px solid #ccc; padding: .5em",
                "margin-left: 1.5em",
                "background: #23272e; color: #eee; padding: .7em",
            )
            + " }",
            f".button {{ display: inline-block; background: {self.color}; color: #fff;"
            f" border-radius: {random.one(0, 3, 20)}px; padding: .45em 1.3em; "
            "margin: .3em 0 }}",
            f".button.hollow {{ background: none; color: {self.color};"
            f" border: 1.5px solid {self.color} }}",
            f"blockquote {{ margin: .7em 0 .7em {random.one(0, 1, 2)}em; "
            + random.one(
                f"border-left: 3px solid {self.color}; padding-left: .8em",
                "font-style: italic; padding-right: 1.5em",
                f"font-size: 1.35em; color: {self.color}; line-height: 1.2",
            )
            + " }",
            ".leader { flex: 1 1 1em; min-width: 1em; margin: 0 .35em .28em;"
            " border-bottom: "
            f"{random.one('1px dotted #555', '1px dashed #888', '1px solid #bbb')} }}",
            ".sign { float: left; margin-right: .5em }",
        ]

    def _table_look(self) -> TableLook:
        random = self.random
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
        thick = random.one(
            "2px solid #222", f"1.5px solid {self.color}", "1px solid #000"
        )
        across = random.uniform(0.2, 1.0) if random.chance(0.85) else random.one(1.5, 2)
        down = random.one(0.04, 0.12, 0.25, 0.4, 0.6, 0.9)
        valign = random.one("top", "top", "middle", "baseline")
        cells = "TABLE td, TABLE th, TABLE [role$=cell], TABLE [role$=header]"
        heads = "TABLE thead th, TABLE [role=columnheader]"
        last = "TABLE tr:last-child td, TABLE tr:last-child th"
        head = random.one("font-weight: 700;", "font-weight: 700;", "font-weight: 400;")
        head += random.one(
            "",
            "",
            f"background: {self.dark}; color: #fff;",
            f"background: {self.ground};",
        )
        head += random.one("", "", "", "text-transform: uppercase; font-size: .85em;")
        head += random.one("", "", "", "font-style: italic;", f"color: {self.color};")
        if "background" in head and "#fff" in head:
            head = head.replace(f"color: {self.color};", "")
        css = [
            "TABLE "
            f"{{ border-collapse: collapse; border-spacing: 0; margin: {self.gap + 0.3:.2f}em 0"
            f" {self.gap + random.one(0.3, 0.8):.2f}em; "
            f"line-height: {random.uniform(1.1, 1.4):.2f};"
            f" font-size: {random.one(1, 1, 0.92, 0.85, 0.8)}em }}",
            f"{cells} "
            f"{{ padding: {down}em {across:.2f}em; text-align: left; font-weight: 400;"
            f" vertical-align: {valign} }}",
            f"{heads} {{ {head} vertical-align: {random.one('bottom', valign)} }}",
            "TABLE .right { text-align: right } TABLE .center { text-align: center }",
            f"TABLE .sub {{ {random.choice(_SECOND_LINES)} }}",
            f"TABLE .group {{ {random.choice(_GROUPS)} }}",
            f"TABLE .sum {{ {random.choice(_SUMS)} }}",
            "TABLE .exact { white-space: nowrap }",
            "TABLE td + td, TABLE th + th, TABLE th + td { width: var(--column) }",
        ]
        if not random.chance(0.4):
            css.append("TABLE tr > :first-child { padding-left: 0 }")
        added = {
            "all": f"{cells} {{ border: {line} }}",
            "rows": (
                f"TABLE tr {{ border-bottom: {line} }} TABLE [role=row] > * "
                f"{{ border-bottom: {line} }}"
            ),
            "head": f"{heads} {{ border-bottom: {thick} }}",
            "zebra": f"TABLE tbody tr:nth-child({random.one('odd', 'even')}),"
            f" TABLE [role=row]:nth-child(even) > * {{ background: {self.ground} }}",
            "levels": (
                f"TABLE {{ border-top: {thick}; border-bottom: {thick} }} {heads} "
                f"{{ border-bottom: {line} }}"
            ),
            "outer": f"TABLE {{ border: {line} }}",
            "columns": (
                f"TABLE td + td, TABLE th + th, TABLE td + th {{ border-left: {line} }} {heads} "
                f"{{ border-bottom: {line} }}"
            ),
            "groups": (
                f"TABLE .group {{ border-bottom: {line} }}"
                f" {last} {{ border-bottom: {thick} }}"
            ),
            "apart": (
                "TABLE { border-collapse: separate; border-spacing: 0 .35em }"
                " TABLE td, TABLE tbody th, TABLE [role=cell], TABLE [role=rowheader]"
                f" {{ background: {self.ground} }}"
            ),
            "sides": (
                f"TABLE tr > :first-child {{ border-right: {line} }} {heads} "
                f"{{ border-bottom: {line} }}"
            ),
        }
        css.append(added.get(rules, ""))
        has_bold_labels = random.chance(0.22)
        if has_bold_labels:
            look = random.one(
                "font-weight: 700",
                f"background: {self.ground}",
                f"color: {self.color}; font-weight: 700",
            )
            css.append(f"TABLE tbody th, TABLE [role=rowheader] {{ {look} }}")
        return TableLook(rules, "\n".join(css), has_bold_labels, random.chance(0.6))


def face(random: Choices, kind: str) -> str:
    """A face of a kind and what to take without it, as CSS has it."""
    generic = {"serif": "serif", "sans": "sans-serif", "mono": "monospace"}[kind]
    name = random.choice(palette()[kind])
    return f"'{name}', {generic}"
