"""What the page and Python share is the same, and functions that both have give the same."""

import random
import runpy
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from vit_str.characters.alphabets import ALPHABETS
from vit_str.characters.charset import Charset
from vit_str.decoding.ctc import best_alignments
from vit_str.decoding.look_alikes import LookAlikes
from vit_str.pages.arrange.layout import reading_order
from vit_str.pages.page import Word
from vit_str.pages.read.directions import Directions
from vit_str.pages.read.elisions import with_elisions
from vit_str.pages.read.quotes import with_low_quotes
from vit_str.scripts.one_script import one_script

SCRIPT = Path(__file__).parents[2] / "data" / "make_web_numbers.py"


def test_numbers_and_alphabets_of_the_page_are_those_of_python():
    names = runpy.run_path(str(SCRIPT))
    hint = "run python data/make_web_numbers.py"
    assert names["FILE"].read_text(encoding="utf-8") == names["source"](), hint


def _mixed_lines() -> Iterator[str]:
    """Letters of several alphabets at random, and what people write."""
    rng = random.Random(5)
    letters = "".join(ALPHABETS.values())
    letters += letters.upper() + "ABCEHIJKMOPTXY" * 8
    letters += "aceijopxy" * 8 + "kmtuvwn" + "  -" * 40
    for _ in range(300):
        yield "".join(rng.choices(letters, k=24))
    codes = "ABCEHXΧХКMМTоо0159.–- -  "
    for _ in range(50):
        code = "".join(rng.choices(codes, k=14))
        yield from (code, f"{code} на")
    yield from ("10 κΩ, 5 μΑ, 20 μPa", "A = π r", "в Х веке", "X. Иванов")
    yield from ("модель X5 и бумага А4", "язык С++ и С#.", "днём +25°С.")
    yield from ("COP на TOM", "Кока-COLA", "IT-компания в XX веке", "ja сам њен")
    yield from ("TO είναι NATO", "3-й и З-го")


def test_words_have_one_script(in_javascript):
    lines = list(_mixed_lines())
    asked = [(line, code) for line in lines for code in ("", "ru", "uk+en", "el")]
    expected = [one_script(line, language) for line, language in asked]
    assert in_javascript([("one_script", *each) for each in asked]) == expected
    assert expected != [line for line, _ in asked]


def _changed(
    change: Callable[[Sequence[Word]], list[Word]], texts: Sequence[str]
) -> list[str]:
    """What becomes of the words of a paragraph."""
    corners = (0, 0), (1, 0), (1, 1), (0, 1)
    return [word.text for word in change([Word(text, 1.0, corners) for text in texts])]


def test_articles_and_quotation_marks(in_javascript):
    paragraphs = [
        "I'été est l’ami de ľarbre d’hiver",
        "ľad bol ľahký",
        'Er sagte ,,Guten Tag" und ging',
        ",Nein' rief sie, und 1 ,000 kamen",
        "(,Wer\" ist da?' ,fragte",
    ]
    texts = [paragraph.split() for paragraph in paragraphs]
    cases = [("elisions", each) for each in texts] + [
        ("quotes", each) for each in texts
    ]
    expected = [_changed(with_elisions, each) for each in texts]
    expected += [_changed(with_low_quotes, each) for each in texts]
    assert in_javascript(cases) == expected
    assert expected[0][0] == "l'été"
    assert expected[len(texts) + 2][2:4] == ["„Guten", "Tag“"]


def _page_of_lines(rng: np.random.Generator) -> list[list[float]]:
    """Lines of a page with a heading, one to three columns, and a few that lie anywhere."""
    boxes = [[40.0, 10.0, 700.0, 42.0]]
    columns = rng.integers(1, 4)
    width = 720 / columns
    for column in range(columns):
        top = 60 + rng.uniform(0, 30)
        for _ in range(rng.integers(3, 12)):
            left = 40 + column * width + rng.choice([0, 0, 0, 20])
            length = rng.uniform(0.3, 0.95) * width
            boxes.append([left, top, left + length, top + 20])
            top += rng.choice([24, 26, 60])
    for _ in range(rng.integers(0, 3)):
        left, top = rng.uniform(0, 600, 2)
        boxes.append([left, top, left + rng.uniform(30, 500), top + 20])
    order = rng.permutation(len(boxes))
    return [list(map(float, boxes[place])) for place in order]


def test_lines_are_put_in_the_same_order(in_javascript):
    rng = np.random.default_rng(3)
    pages = [_page_of_lines(rng) for _ in range(60)]
    expected = [reading_order([np.array(box) for box in page]) for page in pages]
    assert in_javascript([("reading_order", page) for page in pages]) == expected


def _lines_of_a_page(rng: np.random.Generator) -> list[Any]:
    """Corners of lines, some of them upright or square, and readings of them in some directions."""
    corners = []
    readings = []
    for place in range(rng.integers(3, 9)):
        left, top = rng.uniform(0, 600, 2)
        width, height = rng.choice([20.0, 30.0, 300.0], 2, p=[0.4, 0.3, 0.3])
        right, bottom = left + width, top + height
        corners.append([(left, top), (right, top), (right, bottom), (left, bottom)])
        for quarters in rng.permutation(4)[: rng.integers(1, 4)].tolist():
            text = "x" * int(rng.integers(0, 9))
            readings.append((place, quarters, text, float(rng.uniform(0.01, 1))))
    return [np.array(corners).tolist(), readings]


def _directions(corners: Any, readings: Any) -> list[Any]:
    """As `cases.mjs` asks them."""
    found = Directions([np.array(each) for each in corners])
    places = range(len(corners))
    first = found.first_page()
    for place, quarters, text, confidence in readings:
        found.add(place, quarters, len(text), confidence)
    page = found.page(places)
    asked = found.asked_of_page(places, page)
    of_lines = [found.asked_of_line(place, page) for place in places]
    is_more = found.expect_more(places, page)
    lines = [found.line(place, page) for place in places]
    return [first, page, asked and list(asked), of_lines, is_more, lines]


def test_lines_run_in_the_same_directions(in_javascript):
    rng = np.random.default_rng(9)
    pages = [_lines_of_a_page(rng) for _ in range(80)]
    expected = [_directions(*page) for page in pages]
    assert in_javascript([("directions", *page) for page in pages]) == expected
    assert {page for _, page, *_ in expected} == {0, 1, 2, 3}


def test_signs_that_look_alike_are_told_apart(in_javascript):
    characters = "0123456789abcXYZ .,-–—O○ОΟo•●°º'’‘′\"“”″¢"
    charset = Charset(characters)
    rng = np.random.default_rng(4)
    texts = [
        "0",
        "-5",
        "a-b",
        "3-5-7",
        "00Z",
        "X0Z",
        "0 ab",
        "0.X",
        "10a",
        '"ab"',
        "b'",
    ]
    cases = []
    expected = []
    for text in texts * 6:
        place = next(k for k, sign in enumerate(text) if sign in "0-'\"")
        shares = rng.dirichlet(np.full(len(characters) + 1, 0.2))
        cases.append(("sign", characters, text, place, shares.tolist()))
        signs = LookAlikes(charset)
        members = signs.sum_up(shares.copy())
        id_, sure = signs.choose(charset.encode(text), place, members)
        expected.append((charset.decode([id_]), sure))
    for (sign, sure), (character, confidence) in zip(
        in_javascript(cases), expected, strict=True
    ):
        assert sign == character
        assert sure == pytest.approx(confidence)


def test_alignments_have_the_same_probabilities(in_javascript):
    scores = np.random.default_rng(1).normal(scale=3, size=(12, 9, 6))
    told = in_javascript([("best_alignment", rows.tolist(), 25) for rows in scores])
    for one, (other,) in zip(told, best_alignments(scores, 25), strict=True):
        assert tuple(one["ids"]) == other.ids
        assert one["confidence"] == pytest.approx(other.confidence, rel=1e-6)
        assert one["confidences"] == pytest.approx(other.confidences, rel=1e-6)


def test_pixels_are_those_of_pillow(in_javascript):
    rng = np.random.default_rng(2)
    for width, height, size in ((90, 31, (128, 32)), (300, 200, (64, 32))):
        pixels = rng.integers(0, 256, (height, width, 3), np.uint8)
        expected = Image.fromarray(pixels).resize(size, Image.Resampling.BICUBIC)
        given = [pixels.ravel().tolist(), width, height]
        (told,) = in_javascript([("resize", given, *size)])
        assert told == np.asarray(expected).ravel().tolist()
