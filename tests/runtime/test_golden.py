import json
from typing import Any

import pytest
import torch

from vit_str.runtime.golden import MOST_BYTES, MOST_IMAGES, Golden

GOLDEN = Golden(
    (b"one", b"three"), ("1", ""), (0.5, 0.25), (((4.0, 1.5), (3.0, 2.0)), ((2.0, 1.0),))
)


def test_it_comes_back_from_a_file() -> None:
    assert Golden.from_file(*GOLDEN.to_file()) == GOLDEN


def test_the_margin_is_the_closest_call() -> None:
    assert GOLDEN.margin(0) == 1.0
    assert Golden((b"",), ("",), (1.0,), ((),)).margin(0) == float("inf")


def test_their_number_and_size_are_limited() -> None:
    for count in (0, MOST_IMAGES + 1):
        with pytest.raises(ValueError, match="1 to 16"):
            Golden((b"a",) * count, ("a",) * count, (1.0,) * count, ((),) * count)
    with pytest.raises(ValueError, match=r"100,001 bytes, at most 100,000; give fewer or smaller"):
        Golden((bytes(MOST_BYTES + 1),), ("a",), (1.0,), ((),))
    with pytest.raises(ValueError, match="one row of bytes"):
        Golden.from_file(GOLDEN.to_file()[0], torch.zeros(8))


@pytest.mark.parametrize(
    ("change", "trouble"),
    [
        ({"sizes": [3, 6]}, "8 bytes for images of"),
        ({"sizes": [9, -1]}, "8 bytes for images of"),
        ({"sizes": [8]}, "each with text, confidence and scores"),
        ({"texts": ["1"]}, "each with text"),
        ({"texts": None}, "not understood"),
        ({"confidences": [0.5, float("nan")]}, "not a number"),
        ({"confidences": ["sure", 1]}, "could not convert"),
        ({"scores": [[[1.0]], []]}, "not enough values"),
        ({"scores": [[[1.0, float("inf")]], []]}, "not a number"),
    ],
)
def test_damaged_descriptions(change: dict[str, Any], trouble: str) -> None:
    described, images = GOLDEN.to_file()
    with pytest.raises(ValueError, match=trouble):
        Golden.from_file(json.dumps(json.loads(described) | change), images)


@pytest.mark.parametrize("described", ["[]", "5", "{}", "{broken", "null"])
def test_descriptions_that_are_none(described: str) -> None:
    with pytest.raises(ValueError, match=r"golden images|Expecting"):
        Golden.from_file(described, GOLDEN.to_file()[1])
