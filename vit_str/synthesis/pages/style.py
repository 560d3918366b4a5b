"""How a drawn page looks: chosen at random, but alike all over the page."""

from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files

import yaml

from vit_str.synthesis.pages.choices import Choices
from vit_str.synthesis.pages.table_look import table_look

A4 = (794, 1123)
"""Pixels of a page at 96 dots per inch."""
LETTER = (816, 1056)
A5 = (559, 794)
SLIDE = (1123, 632)
DRAWN_MARKS = ("drawn disc", "drawn square", "drawn dash", "drawn number")
"""Marks that are no text: shapes, as files and scans have them; and a number on a ground."""


@cache
def palette() -> Mapping[str, Sequence[str]]:
    """Names of faces, colors and bullets, by kind."""
    source = files("vit_str.synthesis.pages").joinpath("style.yaml")
    return yaml.safe_load(source.read_text("utf-8"))


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
        self.tables = [
            table_look(random, self.color, self.ground, self.dark, self.gap)
            for _ in range(2)
        ]
        self.caption_is_above = random.chance(0.5)

    def one_face(self, kind: str) -> str:
        """Another face of a kind, as CSS has it."""
        return face(self.random, kind)

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


def face(random: Choices, kind: str) -> str:
    """A face of a kind and what to take without it, as CSS has it."""
    generic = {"serif": "serif", "sans": "sans-serif", "mono": "monospace"}[kind]
    name = random.choice(palette()[kind])
    return f"'{name}', {generic}"
