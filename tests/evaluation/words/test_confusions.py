from collections.abc import Iterator
from itertools import product

from vit_str.evaluation.words.confusions import Confusion, align, confusions
from vit_str.evaluation.words.results import ReadWords

Pairs = tuple[tuple[str, str], ...]


def every_alignment(label: str, text: str) -> Iterator[Pairs]:
    """All ways to pair two texts, order kept."""
    if not label and not text:
        yield ()
    if label and text:
        yield from (
            ((label[0], text[0]), *rest)
            for rest in every_alignment(label[1:], text[1:])
        )
    if label:
        yield from (
            ((label[0], ""), *rest) for rest in every_alignment(label[1:], text)
        )
    if text:
        yield from ((("", text[0]), *rest) for rest in every_alignment(label, text[1:]))


def differing(pairs: Pairs) -> int:
    return sum(written != read for written, read in pairs)


def test_alignment_against_all_there_are():
    texts = ["".join(each) for n in range(4) for each in product("ab", repeat=n)]
    for label, text in product(texts, texts):
        found = tuple(align(label, text))
        ways = list(every_alignment(label, text))
        assert found in ways
        assert differing(found) == min(map(differing, ways))


def test_alignment_by_hand():
    assert align("kitten", "sitting") == [
        *(
            ("k", "s"),
            ("i", "i"),
            ("t", "t"),
            ("t", "t"),
            ("e", "i"),
            ("n", "n"),
            ("", "g"),
        ),
    ]
    assert align("", "") == []


def test_common_confusions():
    labels = ["HOTEL", "HOTEL", "BOOK", "book", "ab", "x"]
    texts = ["H0TEL", "HOTEL", "B00K", "bookk", "wrong", "y"]
    found = confusions(ReadWords(labels, texts, [0.5] * 6))
    # Two of five O stay as they are... BOOK is half wrong, which is still counted.
    assert found == [Confusion("O", "0", 3, 4), Confusion("", "k", 1, 18)]


def test_dropped_characters_and_damaged_images():
    words = ReadWords(["cafés", "x"], ["cafs", ""], [0.5, None])
    assert confusions(words) == [Confusion("é", "", 1, 1)]
    assert confusions(ReadWords([], [], [])) == []
