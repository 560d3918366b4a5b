"""Shared state of the parts of one drawn page: choices, texts, a style, running numbers."""

from collections import Counter

from markupsafe import Markup

from vit_str.synthesis.pages.choices import Choices
from vit_str.synthesis.pages.html import Content, div, element, joined
from vit_str.synthesis.pages.style import Style
from vit_str.synthesis.pages.style_sheet import style_sheet
from vit_str.synthesis.pages.texts import Texts


class Design:
    """One page while it is designed.

    Args:
        random: decides about everything.
        style: its look; None for any.
        texts: what is written on it; None for any language.
    """

    def __init__(
        self, random: Choices, style: Style | None = None, texts: Texts | None = None
    ) -> None:
        self.random = random
        self.style = style or Style(random)
        self.texts = texts or Texts(random)
        self.numbers: Counter[str] = Counter()
        self.sections = [0, 0, 0, 0]
        self.added_css: list[str] = []

    def next_number(self, kind: str) -> int:
        """1, 2, 3 and so on for each kind of thing."""
        if not self.numbers[kind]:
            self.numbers[kind] = self.random.one(0, 0, 0, self.random.randint(1, 9))
        self.numbers[kind] += 1
        return self.numbers[kind]

    def section(self, level: int) -> str:
        """The number of the next section of a level from 1, such as 2.3."""
        self.sections[level - 1] += 1
        self.sections[level:] = [0] * (4 - level)
        return ".".join(str(max(1, number)) for number in self.sections[:level])

    def html(self, *parts: Markup | None, language: str | None = None) -> str:
        """The whole page."""
        css = "\n".join([style_sheet(self.style), *self.added_css])
        sheet = Markup(f"<style>{css}</style>")  # noqa: S704 - from this package alone
        body = element("body", joined(*parts))
        page = element("html", sheet, body, lang=language or self.texts.language)
        return f"<!DOCTYPE html>{page}"


def main(*parts: Content, **attributes: object) -> Markup:
    """The text of a page, as high as there is room; what does not fit is left out at its end."""
    return element("main", *parts, class_="flow", **attributes)


def flow(*parts: Content, **attributes: object) -> Markup:
    """A part of a page from whose end something may be left out."""
    return div(*parts, class_="flow", **attributes)
