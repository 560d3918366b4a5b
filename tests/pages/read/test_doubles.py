"""Ink that two lines claim."""

import math

import numpy as np
import pytest
from PIL import Image

from vit_str.decoding.readings import Character, Reading
from vit_str.pages.find.geometry import Strip, rectangle
from vit_str.pages.page import Word
from vit_str.pages.read.doubles import without_doubles
from vit_str.pages.read.pieces import Read, polygon_of, whole

PIECE = whole(Strip(Image.new("RGB", (40, 20), "white"), rectangle(0, 0, 40, 20)))


def word(
    text: str, confidence: float, *box: float, tilt: float = 0.0
) -> tuple[Read, Word]:
    """A word in a box that is turned about the origin, as it was read and on its page."""
    left, top, right, bottom = box
    level = [(left, top), (right, top), (right, bottom), (left, bottom)]
    turned = np.array(level) @ [
        [math.cos(tilt), math.sin(tilt)],
        [-math.sin(tilt), math.cos(tilt)],
    ]
    corners = polygon_of(turned)
    reading = Reading(text, confidence, (Character(text[0], confidence),))
    return (PIECE, reading), Word(text, confidence, corners)


def kept(*lines: list[tuple[Read, Word]]) -> list[list[str]]:
    """The texts that are left of lines."""
    read = [[reading for reading, _ in line] for line in lines]
    words = [[found for _, found in line] for line in lines]
    return [[each.text for each in line] for line in without_doubles(read, words)]


def test_a_stem_of_another_line_is_no_word():
    first = [word("had", 0.99, 398, 31, 429, 48)]
    second = [word("1", 0.6, 424, 30, 432, 47), word("At", 0.99, 465, 30, 485, 47)]
    assert kept(first, second) == [["had"], ["At"]]
    assert kept(second[:1], first) == [[], ["had"]]


def test_the_surer_of_two_that_are_one_is_kept():
    lines = [word("ha", 0.9, 0, 0, 30, 20)], [word("had", 0.99, 1, 0, 40, 20)]
    assert kept(*lines) == [[], ["had"]]


def test_words_of_one_line_and_small_words_on_a_large_one_stay():
    line = [word("a", 0.5, 0, 0, 30, 20), word("ab", 0.99, 0, 0, 40, 20)]
    assert kept(line) == [["a", "ab"]]
    stamp = [word("PAID", 0.99, 0, 0, 300, 90)]
    small = [word("total", 0.9, 40, 30, 90, 50)]
    assert kept(stamp, small) == [["PAID"], ["total"]]
    below = [word("b", 0.5, 0, 12, 30, 32)]
    assert kept(line, below) == [["a", "ab"], ["b"]]
    assert kept() == []


@pytest.mark.parametrize("tilt", [-0.4, 0.4, 1.2])
def test_tilted_lines_near_each_other_stay(tilt: float):
    first = [word("THE", 0.97, 0, 0, 27, 20, tilt=tilt)]
    second = [word("TRAIN", 0.98, 0, 18, 46, 38, tilt=tilt)]
    assert kept(first, second) == [["THE"], ["TRAIN"]]
    stem = [word("1", 0.6, 30, 19, 38, 37, tilt=tilt)]
    assert kept(stem, second) == [[], ["TRAIN"]]
