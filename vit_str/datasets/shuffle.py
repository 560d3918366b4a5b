"""Permutations without a table: where each place goes is computed, not stored."""

_WORD = (1 << 64) - 1
_ROUNDS = 6


def shuffled(place: int, size: int, *keys: int) -> int:
    """Where a permutation of ``size`` places takes one of them.

    A Feistel network over the next power of two, walked until it is back inside: a bijection
    for every key, at no cost in memory. The same on every machine and with every library.

    Args:
        place: from 0 on, below ``size``.
        size: number of places.
        keys: which permutation; any integers.
    """
    key = 0
    for each in keys:
        key = _mixed(key ^ each & _WORD)
    bits = max(2, (size - 1).bit_length())
    low = bits // 2
    high = bits - low
    masks = ((1 << high) - 1, (1 << low) - 1)
    while True:
        left, right = place >> low, place & masks[1]
        for turn in range(_ROUNDS):  # an even number: the halves, of two widths, trade places
            left, right = right, left ^ (_mixed(key + (turn << 56) + right) & masks[turn % 2])
        place = left << low | right
        if place < size:
            return place


def _mixed(value: int) -> int:
    """A step and the mixing of SplitMix64 (Steele, Lea and Flood, 2014)."""
    value = (value + 0x9E3779B97F4A7C15) & _WORD
    value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9 & _WORD
    value = (value ^ value >> 27) * 0x94D049BB133111EB & _WORD
    return value ^ value >> 31
