"""Permutations without a table."""

from collections import Counter

import pytest

from vit_str.seeds import shuffled, split_mix


def test_split_mix_gives_the_published_numbers():
    """The first numbers of the reference implementation (Vigna) with seed 1234567."""
    states = [1234567 + turn * 0x9E3779B97F4A7C15 for turn in range(3)]
    numbers = [split_mix(state & (1 << 64) - 1) for state in states]
    assert numbers == [6457827717110365317, 3203168211198807973, 9817491932198370423]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 64, 100, 1000])
def test_every_index_comes_once(size):
    for key in range(3):
        assert sorted(shuffled(index, size, key) for index in range(size)) == [
            *range(size)
        ]


def test_all_orders_of_a_few_indices_are_as_frequent():
    orders = Counter(
        tuple(shuffled(index, 4, key, 1) for index in range(4)) for key in range(4800)
    )
    assert len(orders) == 24
    assert all(140 < count < 260 for count in orders.values())  # 200, and 4 deviations


def test_large_indices_need_no_table():
    size = 10**12
    assert len({shuffled(index, size, 5) for index in range(1000)}) == 1000
    assert all(0 <= shuffled(size - 1 - index, size, 5) < size for index in range(100))
