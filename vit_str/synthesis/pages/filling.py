"""Pages of templates: HTML files with choices and repeats, whose texts are filled in."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from functools import cache
from importlib.resources import files
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from vit_str.seeds import place_of
from vit_str.synthesis.pages.choices import Choices
from vit_str.synthesis.pages.style import A4, A5, LETTER, SLIDE, Style
from vit_str.synthesis.pages.texts import Texts

ENDING = ".xhtml"
"""Of the files of templates."""

_SIZES = {
    "A4": A4,
    "letter": LETTER,
    "A5": A5,
    "slide": SLIDE,
}
_ACROSS = " across"
_CHOICE = re.compile(r"\[\[(.+?)\]\]", re.DOTALL)
_MARKED_UP = re.compile(
    r"\[\[((?:(?!\]\]|\[\[).)*?<(?:(?!\]\]|\[\[).)*)\]\]", re.DOTALL
)
_RANGE = re.compile(r"(-?\d+(?:\.\d+)?)\.\.(-?\d+(?:\.\d+)?)")
_COUNTS = re.compile(r"(\d+)(?:-(\d+))?")
_FIELD = re.compile(r"\{([A-Za-z][A-Za-z ]*)(?::([^{}]*))?\}")
_FACES = ("serif", "sans", "mono")
_COLORS = ("ink", "gray", "color", "ground", "dark", "paper")
_PARTS = ("body", "main", "div", "section", "article", "aside", "nav", "form")
_BASE = (
    "* {{ box-sizing: border-box; overflow-wrap: break-word }}"
    " html {{ background: {paper} }}"
    " body {{ margin: 0; width: {width}px; min-height: {height}px; position: relative;"
    " background: {paper} }}"
)
_ROMAN = ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", "xi", "xii")
_HELD_OUT = 0.05  # share of the templates that nothing is trained on
_TICKED = 0.3  # share of boxes to tick


@cache
def templates() -> Mapping[str, str]:
    """The templates of this package, by name."""
    folder = files("vit_str.synthesis.pages").joinpath("templates")
    found = [file for file in folder.iterdir() if file.name.endswith(ENDING)]
    return {
        file.name.removesuffix(ENDING): file.read_text("utf-8")
        for file in sorted(found, key=lambda file: file.name)
    }


def is_held_out(name: str) -> bool:
    """Whether nothing is trained on pages of this template, on every machine."""
    return place_of(name) < _HELD_OUT


@cache
def parsed(template: str) -> Element:
    """The elements of a template.

    Raises:
        ValueError: it is no well-formed XML.
    """
    try:
        # The files are the user's own, as what a browser then runs of them
        return ElementTree.fromstring(_MARKED_UP.sub(_as_elements, template))  # noqa: S314
    except ElementTree.ParseError as error:
        raise ValueError(f"a template must be well-formed XML: {error}") from error


def _as_elements(choice: re.Match[str]) -> str:
    """A choice between texts with tags as one between elements."""
    options = "".join(f"<span>{option}</span>" for option in choice[1].split("|"))
    return f'<span choose="">{options}</span>'


def size_of(template: str, random: Choices) -> tuple[int, int]:
    """One of the sizes that a template names, width and height in pixels of CSS.

    Raises:
        ValueError: it is neither a name nor two numbers.
    """
    named = random.choice(parsed(template).get("size", "A4").split("|")).strip()
    name = named.removesuffix(_ACROSS)
    if name in _SIZES:
        width, height = _SIZES[name]
        return (height, width) if name != named else (width, height)
    across, _, down = named.partition("x")
    if not (across.isdecimal() and down.isdecimal()):
        known = ", ".join(_SIZES)
        raise ValueError(
            f"size: expected WIDTHxHEIGHT or one of {known}, found {named!r}"
        )
    return int(across), int(down)


class Filler:
    """Makes pages of a template: decides what is open, and writes its texts.

    Args:
        random: decides.
        style: faces and colors of the page.
        texts: what is written on it.
    """

    def __init__(self, random: Choices, style: Style, texts: Texts) -> None:
        self.random = random
        self.style = style
        self.texts = texts
        self._counts: dict[str, int] = {}
        self._numbers: Counter[str] = Counter()

    def html(self, template: str, looks: str = "") -> str:
        """A page, see docs/your-pages.md for what templates may say.

        Args:
            template: the elements.
            looks: rules of CSS that come behind its own, with choices as it may have.

        Raises:
            ValueError: the template says something unknown.
        """
        page = deepcopy(parsed(template))
        page.attrib.pop("size", None)
        page.set("lang", self.texts.language)
        self._fill(page, 1)
        for element in page.iter():
            _prepare(element, self.random)
        _leave_to_fit(page)
        base = Element("style")
        style = self.style
        base.text = _BASE.format(
            paper=style.paper, width=style.width, height=style.height
        )
        page.insert(0, base)
        if looks:
            added = ElementTree.SubElement(page, "style")
            added.text = self._chosen(looks)
        text = ElementTree.tostring(page, encoding="unicode", method="html")
        return f"<!DOCTYPE html>{text}"

    def _fill(self, element: Element, place: int) -> None:
        """Decide all that is open in an element, the copy of a number from 1."""
        is_style = element.tag == "style"
        element.text = self._written(element.text, place, is_style=is_style)
        for name, value in element.attrib.items():
            element.set(name, self._chosen(value))
        children = self._kept(element)
        element[:] = []
        for child in children:
            tail, child.tail = child.tail, None
            element.extend(list(self._copies(child, place)))
            _add_text(element, self._written(tail, place))

    def _kept(self, element: Element) -> Sequence[Element]:
        children = list(element)
        if element.attrib.pop("choose", None) is not None and children:
            children = [self.random.choice(children)]
        if element.attrib.pop("shuffle", None) is not None:
            self.random.shuffle(children)
        return children

    def _copies(self, element: Element, place: int) -> Iterator[Element]:
        """The copies of an element, each filled in."""
        for name in ("maybe", "repeat"):
            if name in element.attrib:
                element.set(name, self._chosen(element.attrib[name]))
        if not self.random.chance(_share(element.attrib.pop("maybe", "1"))):
            return
        repeat = element.attrib.pop("repeat", None)
        if repeat is None:
            self._fill(element, place)
            yield element
            return
        count = self._count(repeat)
        for number in range(1, count + 1):
            copied = deepcopy(element)
            self._fill(copied, number)
            copied.tail = " " if number < count else None
            yield copied

    def _count(self, repeat: str) -> int:
        name, _, limits = repeat.rpartition("=")
        if limits in self._counts:
            return self._counts[limits]
        counts = _counts(limits)
        if counts is None:
            raise ValueError(f"repeat: expected 3-9 or c=3-9, found {repeat!r}")
        count = self.random.randint(*counts)
        if name:
            self._counts[name] = count
        return count

    def _written(
        self, text: str | None, place: int, *, is_style: bool = False
    ) -> str | None:
        if not text:
            return text
        chosen = self._chosen(text)
        if is_style:
            return chosen
        return _FIELD.sub(
            lambda found: self._field(found[1], found[2] or "", place), chosen
        )

    def _chosen(self, text: str) -> str:
        """A text with one of the choices in each pair of double brackets."""
        return _CHOICE.sub(
            lambda found: self._value(self.random.choice(found[1].split("|"))), text
        )

    def _value(self, choice: str) -> str:
        limits = _RANGE.fullmatch(choice)
        if limits:
            if "." in limits[1] + limits[2]:
                number = self.random.uniform(float(limits[1]), float(limits[2]))
                return f"{number:.2f}"
            return str(self.random.randint(int(limits[1]), int(limits[2])))
        if choice in _FACES:
            return self.style.one_face(choice)
        return str(getattr(self.style, choice)) if choice in _COLORS else choice

    def _field(self, kind: str, limits: str, place: int) -> str:
        numbered = self._number(kind, limits, place)
        if numbered is not None:
            return numbered
        texts = self.texts
        if kind == "label":
            return (
                texts.label(limits) if limits in texts.known_labels else texts.phrase()
            )
        if kind == "words":
            return _running(texts, self.random.randint(*_limits(limits, 20, 60)))
        if kind in ("title", "phrase"):
            make = texts.title if kind == "title" else texts.phrase
            return make(*_limits(limits, 1, 4))
        if kind in ("Word", "WORD"):
            return texts.filled("{" + kind + "}")
        if kind == "address":
            return f"{texts.value('street')}, {texts.value('city')}"
        if kind == "company":
            return texts.company()
        return texts.value(kind)

    def _number(self, kind: str, name: str, place: int) -> str | None:
        if kind == "n":
            return str(place)
        if kind == "a":
            return chr(ord("a") + (place - 1) % 26)
        if kind == "i":
            return _ROMAN[(place - 1) % len(_ROMAN)]
        if kind == "N":
            self._numbers[name] += 1
            return str(self._numbers[name])
        return None


def _add_text(element: Element, text: str | None) -> None:
    """Add text at the end of an element."""
    if not text:
        return
    if len(element):
        element[-1].tail = (element[-1].tail or "") + text
    else:
        element.text = (element.text or "") + text


def _counts(text: str) -> tuple[int, int] | None:
    """Two numbers of ``3-9`` or ``3``, of which the first is no larger; else None."""
    found = _COUNTS.fullmatch(text)
    if found is None:
        return None
    low = int(found[1])
    high = int(found[2] or low)
    return (low, high) if low <= high else None


def _limits(text: str, low: int, high: int) -> tuple[int, int]:
    """How many words ``3-9`` or ``3`` asks for; others if nothing is said.

    Raises:
        ValueError: it is something else.
    """
    if not text:
        return low, high
    counts = _counts(text)
    if counts is None:
        raise ValueError(f"expected a number of words such as 3-9, found {text!r}")
    return counts


def _share(text: str) -> float:
    """The share that ``maybe`` names.

    Raises:
        ValueError: it is no number.
    """
    try:
        return float(text)
    except ValueError:
        raise ValueError(
            f"maybe: expected a share such as 0.4, found {text!r}"
        ) from None


def _running(texts: Texts, count: int) -> str:
    """Sentences of so many words together."""
    words: list[str] = []
    while len(words) < count:
        words += texts.sentence().split()
    return " ".join(words[:count]).rstrip(".,;:?!") + "."


def _prepare(element: Element, random: Choices) -> None:
    """Say what boxes to tick and pictures are, as the labels of pages want to know it."""
    if element.get("class") == "box" and not "".join(element.itertext()).strip():
        element.set("role", "checkbox")
        element.set("aria-checked", "true" if random.chance(_TICKED) else "false")
    if element.tag != "figure":
        return
    for part in element.iter():
        if part is not element and not "".join(part.itertext()).strip():
            part.set("data-picture", "")


def _leave_to_fit(page: Element) -> None:
    """Say from the end of which elements something may be left out, so that the page is full."""
    facts = {part for parent in page.iter("dl") for part in parent}
    pictures = {part for parent in page.iter("figure") for part in parent.iter()}
    for element in page.iter():
        is_part = element.tag in _PARTS and element not in facts | pictures
        if is_part and not (element.text or "").strip() and len(element):
            names = f"{element.get('class', '')} flow beside"
            element.set("class", names.strip())
