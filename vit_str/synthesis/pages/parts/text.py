"""Headings, paragraphs, items, code: what runs down a page."""

from markupsafe import Markup, escape

from vit_str.synthesis.pages.choices import Choices
from vit_str.synthesis.pages.design import Design
from vit_str.synthesis.pages.html import Content, element, joined, lines, span
from vit_str.synthesis.pages.style import DRAWN_MARKS, palette

_ROMAN = [
    "i",
    "ii",
    "iii",
    "iv",
    "v",
    "vi",
    "vii",
    "viii",
    "ix",
    "x",
    "xi",
    "xii",
    "xiii",
    "xiv",
    "xv",
    "xvi",
]
_SOFT_HYPHEN = "\u00ad"
_ROWS = {
    "-": (0.28, 0.08),
    "- ": (0.28, 0.08),
    "–": (0.28, 0.08),
    "=": (0.31, 0.26),
    "-=": (0.3, 0.2),
    "_": (-0.12, 0.06),
}
"""Signs whose rows are rules: their middle above the baseline and their height, over the size."""
_CUT = 0.25  # share of the long words of justified text that may be split


def heading(
    design: Design, level: int, text: Content = None, style: str = ""
) -> Markup:
    """A heading of a level from 1 to 4; with a number, if the page numbers its headings."""
    random = design.random
    if text is None:
        longest = random.one(2, 3, 5, 9) if level < 3 else random.one(2, 4, 6)
        is_known = level > 1 and random.chance(0.4)
        text = (
            design.texts.label("sections")
            if is_known
            else design.texts.title(1, longest)
        )
    if design.style.is_numbered and 2 <= level <= 4:
        dot = random.one("", "", ".")
        text = joined(f"{design.section(level - 1)}{dot} ", text)
    return element(f"h{level}", text, style=style)


def marked_up(design: Design, text: str) -> Markup:
    """Text with some bold or italic words, references and links; long words may be split."""
    random = design.random
    words: list[Content] = list(text.split(" "))
    if design.style.is_justified:
        for place, word in enumerate(words):
            if len(word or "") > 7 and random.chance(_CUT):
                middle = random.randint(3, len(word or "") - 3)
                words[place] = f"{str(word)[:middle]}{_SOFT_HYPHEN}{str(word)[middle:]}"
    for _ in range(random.one(0, 0, 0, 1, 2)):
        place = random.randrange(len(words))
        tag = random.weighted({"b": 3, "i": 3, "u": 0.5, "a": 1, "sup": 1})
        if tag == "sup":
            mark = element("sup", str(random.randint(1, 9)))
            words[place] = joined(words[place], mark)
        else:
            color = f"color: {design.style.color}" if tag == "a" else ""
            words[place] = element(tag, words[place], style=color)
    return Markup(" ").join(word or "" for word in words)


def sign_row(sign: str, count: int) -> Markup:
    """A row of one sign, which is no text: dashes and the like are a rule."""
    if sign not in _ROWS:
        return span(sign * count, aria_hidden="true")
    middle, high = _ROWS[sign]
    baseline = element("i", style="display: inline-block")
    return span(
        baseline, sign * count, aria_hidden="true", data_rule=f"{middle} {high}"
    )


def paragraph(
    design: Design, low: int = 1, high: int = 5, style: str = "", class_: str = ""
) -> Markup:
    """Running text of ``low`` to ``high`` sentences."""
    text = marked_up(design, design.texts.text(low, high))
    if design.random.chance(0.04):
        label = element(
            "b", design.texts.phrase(1, 3) + design.random.one(".", ":", " –")
        )
        text = joined(label, " ", text)
    return element("p", text, style=style, class_=class_)


def text_line(text: Content, class_: str = "plain", style: str = "") -> Markup:
    """A paragraph of one line, such as a date."""
    return element("p", text, class_=class_, style=style)


def address(
    design: Design, style: str = "", first_is_bold: bool | None = None
) -> Markup:
    """Lines of an address, with or without what to call."""
    random = design.random
    rows: list[Content] = list(design.texts.address())
    if random.chance(0.35):
        rows += random.some(
            [design.texts.value(k) for k in ("phone", "mail", "site")], 1, 2
        )
    is_bold = random.chance(0.3) if first_is_bold is None else first_is_bold
    if is_bold:
        rows[0] = element("b", rows[0])
    return element("p", lines(*rows), class_="plain", style=style)


def mark_of(kind: str, number: int) -> str:
    """The mark of an item: a bullet, or a number from 1 in one of several ways."""
    if kind == "01":
        return f"{number:02}"
    if "1" in kind:
        return kind.replace("1", str(number))
    if kind in ("i.", "(i)"):
        return kind.replace("i", _ROMAN[(number - 1) % len(_ROMAN)])
    letter = chr(ord("a") + (number - 1) % 26)
    if kind in ("a)", "a."):
        return kind.replace("a", letter)
    return kind.replace("A", letter.upper()) if kind == "A." else kind


def item(design: Design, number: int, level: int, *content: Content) -> Markup:
    """An item of a list, with the mark of its level from 0."""
    kind, way, _ = design.style.marks[level]
    space = "" if way == "hang" else " "
    return element(
        "li",
        span(mark_content(kind, number), class_="mark"),
        space,
        *content,
        class_=f"level{level}",
    )


def mark_content(kind: str, number: int) -> Content:
    """A mark as it is drawn: text, a number on a ground, or a shape, which is no text."""
    if kind == "drawn number":
        return span(str(number), class_="badge")
    if kind in DRAWN_MARKS:
        return span(class_=f"shape {kind.removeprefix('drawn ')}", aria_hidden="true")
    return mark_of(kind, number)


def items(
    design: Design,
    low: int = 2,
    high: int = 7,
    longest: int = 0,
    level: int = 0,
    nested: float = 0.12,
) -> Markup:
    """A list, some items with lists in them.

    Args:
        design: of the page.
        low: fewest items.
        high: most items.
        longest: words of an item; 0 for any.
        level: of the items, from 0 to 2.
        nested: share of the items that have items in them.
    """
    random = design.random
    most = longest or random.one(3, 6, 12, 25)
    is_sentence = most > 8 and random.chance(0.7)
    found = []
    start = random.one(1, 1, 1, 1, random.randint(2, 9)) if level == 0 else 1
    for number in range(start, start + random.randint(low, high)):
        text = design.texts.sentence(1 if most < 8 else 4, most)
        text = text if is_sentence else text[:-1]
        inner = None
        if level < 2 and random.chance(nested):
            inner = items(design, 2, 4, min(most, 10), level + 1)
        found.append(item(design, number, level, marked_up(design, text), inner))
    return element("ul", *found)


def sections(design: Design, low: int, high: int) -> Markup:
    """Headings with paragraphs or lists below them, as they come after tables."""
    random = design.random

    def section() -> Markup:
        said = items(design) if random.chance(0.3) else paragraph(design)
        return joined(heading(design, 2), said)

    return joined(*random.several(low, high, section))


def code(design: Design) -> Markup:
    """Some lines of a program, or commands."""
    random = design.random
    texts = design.texts
    rows = []
    for _ in range(random.randint(2, 9)):
        indent = "  " * random.choices((0, 1, 2), (4, 3, 1))[0]
        rows.append(indent + random.choice(_CODE)(texts))
    return element("pre", "\n".join(rows))


_CODE = (
    lambda t: f"{t.noun()}_{t.noun()} = {t.noun()}({t.value('small')})",
    lambda t: f"if {t.noun()} == {t.value('small')}:",
    lambda t: f'return {t.noun()}.{t.noun()}("{t.noun()}")',
    lambda t: f"$ {t.noun()} --{t.noun()} {t.noun()}.txt",
    lambda t: f"# {t.clause() if hasattr(t, 'clause') else t.sentence(3, 6)}",
    lambda t: f'"{t.noun()}": {t.value("integer")},',
    lambda t: f"for {t.noun()[:1]} in range({t.value('small')}):",
    lambda t: f'<{t.noun()} class="{t.noun()}">{t.noun()}</{t.noun()}>',
    lambda t: f"GET /{t.noun()}/{t.noun()}?{t.noun()}={t.value('small')}",
    lambda t: f"{t.noun()}: [{t.value('small')}, {t.value('small')}];",
)


def quotation(design: Design) -> Markup:
    """A paragraph set apart, some with who said it."""
    inner = paragraph(design, 1, 2)
    by = None
    if design.random.chance(0.4):
        by = text_line(design.random.one("— ", "– ", "") + design.texts.person())
    return element("blockquote", inner, by)


def button(design: Design) -> Markup:
    """A link that looks like a button: a paragraph of its own."""
    hollow = " hollow" if design.random.chance(0.25) else ""
    text = span(design.texts.label("buttons"), class_=f"button{hollow}")
    return text_line(text, style=design.random.one("", "text-align: center"))


def glossary(design: Design) -> Markup:
    """Terms and what they mean, in one paragraph each or below each other."""
    random = design.random
    is_below = random.chance(0.5)
    indent = random.one(0, 1.5, 2)
    found = []
    for _ in range(random.randint(2, 6)):
        term = element("b", design.texts.phrase(1, 3))
        text = design.texts.text(1, 2)
        if is_below:
            meaning = element("div", text, style=f"margin-left: {indent}em")
            found.append(
                element("div", element("div", term), meaning, style="margin: 0 0 .5em")
            )
        else:
            found.append(text_line(joined(term, random.one(" ", ": ", " – "), text)))
    return element("dl", *found, style="margin: .5em 0") if is_below else joined(*found)


def poem(design: Design) -> Markup:
    """Verses: lines that somebody ended."""
    count = design.random.randint(3, 6)
    verse = [design.texts.sentence(3, 7)[:-1] for _ in range(count)]
    return element("p", lines(*verse), class_="plain", style="margin-bottom: 1em")


def random_bullet(random: Choices) -> str:
    """A bullet."""
    return random.choice(palette()["bullets"])


def escaped_lines(text: str) -> Markup:
    """Text with its line breaks."""
    return lines(*map(escape, text.split("\n")))
