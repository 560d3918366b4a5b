import pytest

from vit_str.evaluation.kinds import RULES, case_of, is_tall, line_height
from vit_str.evaluation.words import ReadWords


@pytest.mark.parametrize(
    ("label", "kind"),
    [
        ("hotel", "lower case"),
        ("HOTEL", "upper case"),
        ("A", "upper case"),
        ("Hotel", "capitalized"),
        ("McDonald", "mixed case"),
        ("iPhone", "mixed case"),
        ("1984", "digits"),
        ("42nd", "letters and digits"),
        ("B2", "letters and digits"),
        ("$9.50", "with symbols or spaces"),
        ("a b", "with symbols or spaces"),
        ("한글", "letters without case"),
        ("서울24", "letters and digits"),
        ("École", "capitalized"),
        ("e\u0301te\u0301", "lower case"),
        ("हिन्दी", "letters without case"),
        ("Ошибка", "capitalized"),
    ],
)
def test_kinds_of_labels(label: str, kind: str) -> None:
    assert case_of(label) == kind


def kinds(dimension: str, words: ReadWords) -> list[str | None]:
    rule, order = RULES[dimension]
    found = list(rule(words))
    assert {kind for kind in found if kind is not None} <= set(order)
    return found


def test_lengths() -> None:
    labels = ["", "a", "한글", "x" * 8, "x" * 9, "x" * 10, "x" * 11, "x" * 15, "x" * 16, "x" * 99]
    words = ReadWords(labels, labels, [0.5] * len(labels))
    assert kinds("length", words) == [
        *(None, "1", "2", "8", "9 to 10", "9 to 10", "11 to 12", "13 to 15"),
        *("16 and more", "16 and more"),
    ]


def test_sizes() -> None:
    sizes = [None, (32, 128), (90, 40), (60, 40), (61, 40), (40, 40), (10, 20), (10, 21), (9, 99)]
    words = ReadWords(["x"] * 9, ["x"] * 9, [0.5] * 9, sizes=list(sizes))
    tall, wide = "tall: height over 1.5 times the width", "wide"
    assert kinds("orientation", words) == [None, wide, tall, wide, tall, wide, wide, wide, wide]
    two = "width up to 2 times the height"
    three, five = two.replace("2", "3"), two.replace("2", "5")
    square = "about square: up to as wide as high"
    assert kinds("aspect", words) == [None, five, tall, square, tall, square, two, three, "wider"]
    assert kinds("height", words) == [
        *(None, "32 to 47", "32 to 47", "48 to 63", "32 to 47", "32 to 47"),
        *("1 to 11", "1 to 11", "1 to 11"),
    ]


def test_the_height_of_a_line_that_runs_down_is_the_width_of_its_image() -> None:
    assert is_tall((31, 20))
    assert not is_tall((30, 20))
    assert line_height((100, 20)) == 20
    assert line_height((20, 100)) == 20


def test_confidences() -> None:
    sure = [None, 0.0, 0.05, 0.1, 0.100001, 0.5, 0.95, 1.0, 1.0000001]
    words = ReadWords(["x"] * 9, ["x"] * 9, sure)
    assert kinds("confidence", words) == [
        *(None, "0.0 to 0.1", "0.0 to 0.1", "0.0 to 0.1", "0.1 to 0.2", "0.4 to 0.5"),
        *("0.9 to 1.0", "0.9 to 1.0", "0.9 to 1.0"),
    ]
