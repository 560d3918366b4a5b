"""The page and Python tell the same features, and arrange pages in the same way."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont

from vit_str.pages.arrange.blocks import (
    ArrangedPage,
    Shapes,
    arrange_words,
)
from vit_str.pages.arrange.decoding import Scores
from vit_str.pages.arrange.features import Tokens
from vit_str.pages.arrange.network import ArrangerNetwork, open_bundled
from vit_str.pages.arrange.scores import RELATIONS
from vit_str.pages.find.grounds import find_grounds
from vit_str.pages.find.ink import ink_of, type_of
from vit_str.pages.page import Word

LETTER = 9.137  # so that no distance is at a threshold
TEXT = """
Der Fluss stieg über Nacht um zwei Meter: niemand schlief. Am Morgen zählte
man 14 Boote, 3 Kühe und einen Hut. (Prices in € and £ rose by 3.5%!) Łódź was dry;
the 2nd flood of MAY went on, and nobody's garden was spared
"""
ITEMS = ("• bread", "- two eggs", "3. salt & pepper", "☐ milk", "a) TEA")


class Listening:
    """The network of the package, which keeps what it was asked and has said."""

    def __init__(self, random: np.random.Generator, noise: float) -> None:
        self.network: ArrangerNetwork = open_bundled()
        self.random = random
        self.noise = noise
        self.tokens: Tokens
        self.said: Scores

    def scores(self, tokens: Tokens) -> Scores:
        """Its scores, and what is added to them at random."""
        found = self.network.scores(tokens)

        def noisy(values: np.ndarray) -> np.ndarray:
            return values + self.random.normal(0, self.noise, values.shape)

        self.tokens = tokens
        self.said = replace(
            found,
            roles=noisy(found.roles),
            levels=noisy(found.levels),
            relations=noisy(found.relations),
        )
        return self.said


def _line(text: str, left: float, top: float, size: float = 1.0) -> Iterator[list[Any]]:
    """Texts, corners, size and weight of the words of a line."""
    for word in text.split():
        right = left + LETTER * size * len(word)
        bottom = top + 18 * size
        box = [left, top], [right, top], [right, bottom], [left, bottom]
        yield [word, box, 10 * size, 2.0 if size == 1 else 3.1]
        left = right + 0.6 * LETTER * size


def _page(random: np.random.Generator) -> tuple[list[list[Any]], Shapes]:
    """A heading, columns, a list, a table with rules and grounds, and a stamp that runs up."""
    words = [*_line("Report of 2024", 60, 40, random.choice([1.0, 1.6]))]
    columns = int(random.integers(1, 4))
    width = 720 / columns
    for column in range(columns):
        top = 100 + random.uniform(0, 20)
        for _ in range(random.integers(3, 7)):
            start = int(random.integers(0, 20))
            count = int(random.integers(2, 2 + 12 // columns))
            text = " ".join(TEXT.split()[start : start + count])
            words += _line(text, 60 + column * width, top)
            top += random.choice([22, 22, 22, 48])
    for number in range(random.integers(0, 5)):
        words += _line(ITEMS[number], 70, 300 + 24 * number)
    rows = int(random.integers(2, 5))
    for row in range(rows):
        cells = ["Item", "Pieces", "Price"] if row == 0 else ["Tea", str(row), "2.50"]
        for column, cell in enumerate(cells):
            if random.random() < 0.9:
                words += _line(cell, 70 + 200 * column, 450 + 30 * row)
    rules = [(60, 445 + 30 * row, 660, 445 + 30 * row) for row in range(rows + 1)]
    if random.random() < 0.5:
        rules += [(x, 445, x, 445 + 30 * rows) for x in (60, 260, 460, 660)]
    grounds = [(55.0, 445.0, 665.0, 475.0, 220.0), (50.0, 90.0, 790.0, 700.0, 250.0)]
    words += _line("~ page 3", 400, 760)
    stamp = [[[850, 400], [850, 330], [868, 330], [868, 400]], 12.0, 2.0]
    words.append(["PAID", *stamp])
    kept = grounds[: int(random.integers(0, 3))]
    return words, Shapes(rules=rules, grounds=kept, quarters=0)


def _turned(
    words: Sequence[Any], shapes: Shapes, quarters: int, tilt: float
) -> tuple[list[Word], Shapes]:
    """A page that is turned to the right by quarters, and its words by a tilt more."""

    def moved(points: Any, angle: float) -> np.ndarray:
        cos, sin = np.cos(angle), np.sin(angle)
        return np.array(points, float) @ np.array([[cos, sin], [-sin, cos]])

    turn = quarters * np.pi / 2
    found = []
    for text, corners, size, weight in words:
        polygon: Any = tuple(map(tuple, moved(corners, turn + tilt).tolist()))
        found.append(Word(text, 1.0, polygon, size=size, weight=weight))
    rules = [
        moved(np.reshape(rule, (2, 2)), turn).ravel().tolist() for rule in shapes.rules
    ]
    grounds = []
    for *box, lightness in shapes.grounds:
        ends = moved(np.reshape(box, (2, 2)), turn)
        grounds.append([*ends.min(0), *ends.max(0), lightness])
    return found, Shapes(rules=rules, grounds=grounds, quarters=quarters)


def _case(words: Sequence[Word], shapes: Shapes) -> list[Any]:
    """A page as JavaScript takes it."""
    given = [
        {
            "text": word.text,
            "polygon": word.polygon,
            "size": word.size,
            "weight": word.weight,
        }
        for word in words
    ]
    rules = [np.reshape(rule, (2, 2)).tolist() for rule in shapes.rules]
    grounds = [list(map(float, ground)) for ground in shapes.grounds]
    return [given, {"rules": rules, "grounds": grounds, "quarters": shapes.quarters}]


def _scores(said: Scores) -> dict[str, Any]:
    return {
        "names": list(said.names),
        "roles": said.roles.tolist(),
        "levels": said.levels.tolist(),
        "relations": dict(zip(RELATIONS, said.relations.tolist(), strict=True)),
    }


def _blocks(page: ArrangedPage) -> list[dict[str, Any]]:
    """As `cases.mjs` tells them."""
    found = []
    for block, role in zip(page.blocks, page.roles, strict=True):
        cells = [[c.count, c.row, c.column, c.rows, c.columns] for c in role.cells]
        lines = [[word.text for word in line] for line in block]
        found.append(
            {"role": role.name, "level": role.level, "lines": lines, "cells": cells}
        )
    return found


@pytest.fixture(scope="module")
def arranged() -> list[tuple[list[Any], Listening, ArrangedPage]]:
    """Pages, what the network was asked and has said of each, and how it is arranged."""
    random = np.random.default_rng(6)
    found = []
    for number in range(12):
        words, shapes = _turned(
            *_page(random), number % 4, random.choice([0, 0.01, -0.02])
        )
        network = Listening(random, noise=3.0 if number % 3 == 2 else 0.0)
        page = arrange_words(network, words, shapes)  # type: ignore[arg-type]
        found.append((_case(words, shapes), network, page.with_cells_apart()))
    return found


def test_features_are_the_same(in_javascript, arranged):
    told = in_javascript([("tokens", *case) for case, _, _ in arranged])
    for rows, (_, network, _) in zip(told, arranged, strict=True):
        tokens = network.tokens
        assert [row["ngrams"] for row in rows] == tokens.ngrams.tolist()
        for name, expected in (
            ("features", tokens.features),
            ("places", tokens.places),
        ):
            np.testing.assert_allclose(
                [row[name] for row in rows], expected, rtol=1e-5, atol=1e-4
            )


def test_blocks_are_the_same(in_javascript, arranged):
    cases = [("arrange", *case, _scores(network.said)) for case, network, _ in arranged]
    expected = [_blocks(page) for _, _, page in arranged]
    assert in_javascript(cases) == expected
    roles = {block["role"] for page in expected for block in page}
    assert roles >= {"heading", "paragraph", "item", "table"}


def test_grounds_are_the_same(in_javascript):
    random = np.random.default_rng(1)
    pictures = []
    for width, height in ((500, 400), (1100, 900)):
        sheet = Image.new("RGB", (width, height), "white")
        pen = ImageDraw.Draw(sheet)
        for number in range(7):
            left, top = random.uniform(0, 0.8, 2) * (width, height)
            shade = int(random.integers(20, 250))
            box = (
                left,
                top,
                left + random.uniform(20, 200),
                top + random.uniform(8, 90),
            )
            pen.rectangle(box, (shade, shade, shade))
            pen.text((left + 4, top + 4), f"word {number}", "black")
        noise = random.normal(0, 1, (height, width, 1)).round()
        pictures.append((np.asarray(sheet) + noise).clip(0, 255).astype(np.uint8))
    given = [(pixels.ravel().tolist(), *pixels.shape[1::-1]) for pixels in pictures]
    told = in_javascript([("grounds", each) for each in given])
    for grounds, pixels in zip(told, pictures, strict=True):
        expected = find_grounds(Image.fromarray(pixels))
        assert len(expected) > 3
        np.testing.assert_allclose(grounds, expected)


def test_type_has_the_same_size_and_weight(in_javascript, matplotlib_fonts):
    cases = []
    expected = []
    for text, face, size in (
        ("small letters", "DejaVuSans.ttf", 24),
        ("1234 CAPITALS", "DejaVuSerif.ttf", 30),
        ("Mixed 12 Words", "DejaVuSans-Bold.ttf", 18),
    ):
        line = Image.new("RGB", (320, 48), "white")
        font = ImageFont.truetype(matplotlib_fonts / face, size)
        ImageDraw.Draw(line).text((8, 6), text, (40, 30, 90), font)
        spans = []
        left = 8.0
        for word in text.split():
            right = left + font.getlength(word)
            spans.append((word, (left, right)))
            left = right + font.getlength(" ")
        expected.append(list(type_of(ink_of(line), spans)))
        words = [{"text": word, "left": a, "right": b} for word, (a, b) in spans]
        pixels = np.asarray(line).ravel().tolist()
        cases.append(("type", [pixels, 320, 48], words))
    told = [[each["size"], each["weight"]] for each in in_javascript(cases)]
    np.testing.assert_allclose(told, expected, rtol=1e-5)
