"""Shares, rounds and order of a mixture."""

import pickle
from collections import Counter

import pytest

from vit_str.datasets import LabeledWord, Mixture, WordSource


class Numbers(WordSource):
    """Words that are numbers."""

    format = "folder"

    def __init__(self, name: str, count: int) -> None:
        super().__init__(name)
        self.count = count

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, place: int) -> LabeledWord:
        return LabeledWord(b"", f"{self.path}{place}")


SOURCES = (Numbers("a", 700), Numbers("b", 30), Numbers("c", 1))


@pytest.mark.parametrize(
    "weights", [None, [1, 1, 1], [0.7, 0.2, 0.1], [1e-3, 5, 0.123]]
)
def test_every_word_comes_once_in_a_round(weights):
    mixture = Mixture(SOURCES, weights, seed=4)
    places: list[list[int]] = [[], [], []]
    for number in range(8192):
        source, place = mixture.picks(number)
        places[source].append(place)
    # The order within a block of 1,024 is shuffled, so rounds are found in whole blocks only.
    for found, source in zip(places, SOURCES, strict=True):
        counts = Counter(found)
        rounds = len(found) // source.count
        assert rounds == 0 or set(counts) == set(range(source.count))
        assert max(counts.values()) <= rounds + 1
        assert rounds == 0 or min(counts.values()) >= rounds


@pytest.mark.parametrize("weights", [None, [1, 1, 1], [0.7, 0.2, 0.1], [3, 0.5, 1 / 3]])
def test_shares_are_exact(weights):
    mixture = Mixture(SOURCES, weights)
    wanted = weights or [source.count for source in SOURCES]
    assert mixture.shares == pytest.approx([each / sum(wanted) for each in wanted])
    counts = [0, 0, 0]
    for number in range(4 * 1024):
        counts[mixture.picks(number)[0]] += 1
        if (number + 1) % 1024 == 0:
            for count, share in zip(counts, mixture.shares, strict=True):
                assert abs(count - share * (number + 1)) < 3


def test_any_division_gives_the_same_words():
    mixture = Mixture(SOURCES, [5, 3, 2], seed=9)
    whole = [mixture[number] for number in range(600)]
    for world in (2, 7):
        parts = []
        for rank in range(world):
            own = pickle.loads(pickle.dumps(mixture))  # noqa: S301 - our own
            parts.append([own[number] for number in range(rank, 600, world)])
        assert [
            parts[number % world][number // world] for number in range(600)
        ] == whole
    resumed = Mixture(SOURCES, [5, 3, 2], seed=9)
    assert [resumed[number] for number in range(599, 299, -1)] == whole[:299:-1]
    stream = iter(mixture)
    assert [next(stream) for _ in range(600)] == whole


def test_the_order_is_the_same_for_ever():
    """A run that is resumed with another version of this program or of a library goes on."""
    mixture = Mixture(SOURCES, [1, 2, 1], seed=1)
    picks = [mixture.picks(number) for number in (0, 1, 2, 3, 1_000_000)]
    assert picks == [(1, 28), (2, 0), (1, 13), (2, 0), (1, 15)]


def test_wrong_mixtures_are_refused():
    for sources, weights, what in (
        ([], None, "one source or more, found none"),
        ([SOURCES[0]], [1, 2], "each of its 1 sources"),
        (SOURCES, [1, 0, 1], "a weight above 0"),
        (SOURCES, [1, -1, 1], "a weight above 0"),
        (SOURCES, [1, float("nan"), 1], "a weight above 0"),
        (SOURCES, [1, float("inf"), 1], "a weight above 0"),
        ([Numbers("none", 0)], None, "none holds no words"),
    ):
        with pytest.raises(ValueError, match=what):
            Mixture(sources, weights)
    with pytest.raises(IndexError, match="numbered from 0 on"):
        Mixture(SOURCES)[-1]
