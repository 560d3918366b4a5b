"""Seeds out of numbers, the same on every machine and with every library."""

import hashlib

_MASK = (1 << 64) - 1  # numbers of 64 bits
_ROUNDS = 6


def split_mix(number: int) -> int:
    """Spread neighboring numbers over all 64-bit ones: a step of SplitMix64.

    Steele, Lea and Flood (2014), figure 15.
    """
    number = (number + 0x9E3779B97F4A7C15) & _MASK
    number = (number ^ number >> 30) * 0xBF58476D1CE4E5B9 & _MASK
    number = (number ^ number >> 27) * 0x94D049BB133111EB & _MASK
    return number ^ number >> 31


def place_of(name: str) -> float:
    """A place between 0 and 1 that depends on nothing but the name."""
    digest = hashlib.blake2b(name.encode(), digest_size=8).digest()
    return float(int.from_bytes(digest, "big") / 2**64)


def shuffled(index: int, size: int, *keys: int) -> int:
    """Where a permutation of ``size`` indices takes one of them, computed without a table.

    A Feistel network over the next power of two, walked until it is back inside: a bijection
    for every key, at no cost in memory.

    Args:
        index: from 0 on, below ``size``.
        size: number of indices.
        keys: which permutation; any integers.
    """
    key = 0
    for part in keys:
        key = split_mix(key ^ part & _MASK)
    bits = max(2, (size - 1).bit_length())
    low = bits // 2
    masks = ((1 << bits - low) - 1, (1 << low) - 1)
    while True:
        left = index >> low
        right = index & masks[1]
        # An even number: the halves, of two widths, trade places
        for turn in range(_ROUNDS):
            mixed = split_mix(key + (turn << 56) + right) & masks[turn % 2]
            left, right = right, left ^ mixed
        index = left << low | right
        if index < size:
            return index
